# make bench-insert | bench-search | bench-start | bench-embed | bench-patches; docs/benchmarks.md says what they mean
# make bench-retrieval DATA=locomo10.json
# make bench-llm [GGUF=file]  how often a model's answers can be used; needs `make setup-local`
# make bench-daemon  what the daemon costs around a model, and the pace of the rules
# make bench  the first five, one after the other; ARGS are passed on: make bench-search ARGS="--messages 20000"

# make bench-activation  folding 10 and 20 million traces, and what computing from them takes; ten minutes
# make bench-takeover  how long no daemon leads after the leader was killed or froze
# make bench-contradictions  precision and recall of the rules on labelled pairs; nothing is timed

# make bench-week  100 days of a daemon in some minutes: what grows, and what must not

.PHONY: bench bench-week bench-contradictions bench-daemon bench-insert bench-llm bench-search bench-start bench-embed bench-patches bench-retrieval bench-takeover

bench: bench-insert bench-start bench-search bench-embed bench-patches

bench-contradictions bench-daemon bench-insert bench-search bench-start bench-embed bench-patches bench-takeover: bench-%: $(STAMP)
	@nice $(BIN)/python -m bench.$* $(ARGS)

bench-retrieval: $(STAMP)
	@test -n "$(DATA)" || { echo "DATA=FILE is needed, in LoCoMo's layout" >&2; exit 1; }
	@nice $(BIN)/python -m bench.retrieval "$(DATA)" $(ARGS)

bench-llm: $(LOCAL_STAMP)
	@nice $(BIN)/python -m bench.llm_quality $(if $(GGUF),--gguf "$(GGUF)") $(ARGS)
