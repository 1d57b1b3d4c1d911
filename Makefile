# Every target sets up what it needs in .venv and reuses it.
#   make test PYTHON=python3.12      another interpreter for a new .venv
#   make test ARGS="-k stale -x"     arguments for pytest
#   make demo PIP_ARGS="..."         arguments for pip, such as an index with smaller builds of PyTorch

PYTHON ?= python3
JOBS ?= 2
LOOPS ?= 5000
ARGS ?=
PIP_ARGS ?=

VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip install -qq --disable-pip-version-check $(PIP_ARGS) -c constraints.txt
DEV := $(VENV)/.installed-dev
DEMO := $(VENV)/.installed-demo
INPUTS := pyproject.toml constraints.txt

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo test nightly bench lint format types imports docs docs-check clean

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# A development environment can do all that the demo needs.
demo: $(if $(wildcard $(DEV)),$(DEV),$(DEMO)) ## Audit a script with the classic mistakes, then the corrected one
	@$(PY) -m gradledger demo

test: $(DEV) ## Run all tests (ARGS="..." goes to pytest, JOBS=n processes)
	@OMP_NUM_THREADS=1 $(PY) -m pytest -n $(JOBS) --dist worksteal $(ARGS)

nightly: $(DEV) ## Let text, run and arithmetic agree on thousands of random loops (LOOPS=n)
	@OMP_NUM_THREADS=1 GRADLEDGER_AGREEMENT=$(LOOPS) $(PY) -m pytest -n $(JOBS) --dist worksteal -o faulthandler_timeout=0 tests/agreement $(ARGS)

bench: $(DEV) ## Run the benchmarks, one after the other
	@set -e; for script in benchmarks/[a-z]*.py; do echo "==> $$script"; $(PY) "$$script"; done

lint: $(DEV) ## Check style and formatting
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .

format: $(DEV) ## Put style and formatting right where that is safe
	@$(PY) -m ruff check --fix .
	@$(PY) -m ruff format .

types: $(DEV) ## Check the types
	@$(PY) -m mypy

imports: $(DEV) ## Check which package imports which
	@$(VENV)/bin/lint-imports --no-logo

docs: $(DEV) ## Write the documentation that is derived from the rules
	@$(PY) docs/build.py

docs-check: $(DEV) ## Check that the derived documentation is up to date
	@$(PY) docs/build.py --check

clean: ## Remove what was built and cached; .venv stays
	@rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .gradledger_cache
	@find src tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

define install-torch
@$(PYTHON) -c 'import sys; sys.exit("gradledger needs Python 3.10 or newer: make PYTHON=..." if sys.version_info < (3, 10) else 0)'
@$(PY) -m pip --version >/dev/null 2>&1 || { echo "==> creating $(VENV)"; $(PYTHON) -m venv $(VENV); }
@echo "==> updating pip"
@$(PIP) --upgrade pip
@echo "==> installing PyTorch (the largest part, this can take minutes)"
@$(PIP) torch
endef

$(DEMO): $(INPUTS)
	$(install-torch)
	@echo "==> installing gradledger"
	@$(PIP) numpy -e .
	@touch $@

$(DEV): $(INPUTS)
	$(install-torch)
	@echo "==> installing gradledger and its development tools"
	@$(PIP) -e '.[dev]'
	@touch $@
