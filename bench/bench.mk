# make bench-insert | bench-search | bench-start | bench-embed | bench-patches; docs/benchmarks.md says what they mean
# make bench-retrieval DATA=locomo10.json
# make bench  the first five, one after the other; ARGS are passed on: make bench-search ARGS="--messages 20000"

# make bench-contradictions  precision and recall of the rules on labelled pairs; nothing is timed

.PHONY: bench bench-contradictions bench-insert bench-search bench-start bench-embed bench-patches bench-retrieval

bench: bench-insert bench-start bench-search bench-embed bench-patches

bench-contradictions bench-insert bench-search bench-start bench-embed bench-patches: bench-%: $(STAMP)
	@nice $(BIN)/python -m bench.$* $(ARGS)

bench-retrieval: $(STAMP)
	@test -n "$(DATA)" || { echo "DATA=FILE is needed, in LoCoMo's layout" >&2; exit 1; }
	@nice $(BIN)/python -m bench.retrieval "$(DATA)" $(ARGS)
