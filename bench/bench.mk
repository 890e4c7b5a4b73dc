# docs/benchmarks.md says what they mean. ARGS are passed on: make bench-search ARGS="--messages 20000"
# make bench                 insert, start, search, embed and patches, one after the other
# make bench-retrieval DATA=locomo10.json
# make bench-llm [GGUF=file] how often a model's answers can be used; needs `make setup-local`
# make bench-activation      folding 10 and 20 million traces, and computing from them; ten minutes
# make bench-capture         how soon capture stores, what it costs at rest, how fast a backfill is; four minutes
# make bench-contradictions  precision and recall of the rules on labelled pairs; nothing is timed
# make bench-daemon          what the daemon costs around a model, and the pace of the rules
# make bench-forgetting      a year of searches over drifting topics, with and without forgetting; three minutes
# make bench-grounding       which derived sentences the rules refuse, on labelled pairs; nothing is timed
# make bench-redaction       recall, false alarms and pace of the rules for secrets, on a labelled set
# make bench-survival        4 agents x 3 clients write for two minutes while everything is killed again and again
# make bench-takeover        how long no daemon leads after the leader was killed, froze, or was cut off
# make bench-use             which uses the rule infers from replies, on a labelled set; nothing is timed
# make bench-week            100 days of a daemon in some minutes: what grows, and what must not

BENCHES := activation capture contradictions daemon embed forgetting grounding insert patches redaction \
	search survival takeover use week

.PHONY: bench bench-llm bench-retrieval bench-start $(BENCHES:%=bench-%)

bench: bench-insert bench-start bench-search bench-embed bench-patches

$(BENCHES:%=bench-%): bench-%: $(STAMP)
	@nice $(BIN)/python -m bench.$* $(ARGS)

# What users install, without our tools beside it.
PRODUCT := .venv/product

bench-start: $(STAMP)
	@"$(PYTHON)" -m venv $(PRODUCT)
	@$(PRODUCT)/bin/python -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps .
	@$(PRODUCT)/bin/python -m pip install --quiet --disable-pip-version-check .
	@nice $(BIN)/python -m bench.start --python $(CURDIR)/$(PRODUCT)/bin/python $(ARGS)

bench-retrieval: $(STAMP)
	@test -n "$(DATA)" || { echo "DATA=FILE is needed, in LoCoMo's layout" >&2; exit 1; }
	@nice $(BIN)/python -m bench.retrieval "$(DATA)" $(ARGS)

bench-llm: $(LOCAL_STAMP)
	@nice $(BIN)/python -m bench.llm_quality $(if $(GGUF),--gguf "$(GGUF)") $(ARGS)
