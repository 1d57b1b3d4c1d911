# Every target sets up what it needs in .venv and reuses it.
#   make test PYTHON=python3.12      another interpreter for a new .venv
#   make test ARGS="-k stale -x"     arguments for pytest
#   make demo PIP_ARGS="..."         arguments for pip, such as an index with smaller builds of PyTorch

PYTHON ?= python3
JOBS ?= 2
LOOPS ?= 20000
KILLS ?= 50
FUZZ ?= 6000
BENCH ?= *
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
.PHONY: help demo test coverage mutants nightly bench lint format types imports docs docs-check site clean

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# A development environment can do all that the demo needs.
demo: $(if $(wildcard $(DEV)),$(DEV),$(DEMO)) ## Audit a script with the classic mistakes, then the corrected one
	@$(PY) -m gradledger demo

test: $(DEV) ## Run all tests (ARGS="..." goes to pytest, JOBS=n processes)
	@OMP_NUM_THREADS=1 $(PY) -m pytest -n $(JOBS) --dist worksteal $(ARGS)

# Those with random events or torch in them are not needed for it.
coverage: $(DEV) ## Check that the tests of audit, ledger and rules take every branch there
	@mkdir -p build
	@OMP_NUM_THREADS=1 $(PY) -m coverage run -m pytest -q tests/audit tests/ledger tests/rules \
		--ignore=tests/ledger/test_conservation.py --ignore=tests/rules/test_examples.py
	@$(PY) -m coverage report

mutants: $(DEV) ## Change the rules and accounts in every small way; some test must notice (ARGS="gradledger.rules.gl101*" for a part)
	@OMP_NUM_THREADS=1 $(PY) -m mutmut run --max-children $(JOBS) $(ARGS)
	@$(PY) -m mutmut results

nightly: $(DEV) ## 20,000 random loops on which text, run and arithmetic agree (LOOPS=n), dozens of kills (KILLS=n), bad input (FUZZ=n); run all notebooks and the heavy blocks of the pages
	@OMP_NUM_THREADS=1 GRADLEDGER_AGREEMENT=$(LOOPS) GRADLEDGER_KILLS=$(KILLS) $(PY) -m pytest -n $(JOBS) --dist worksteal -o faulthandler_timeout=0 tests/agreement tests/faults $(ARGS)
	@OMP_NUM_THREADS=1 GRADLEDGER_FUZZ=$(FUZZ) $(PY) -m pytest -n $(JOBS) --dist worksteal -o faulthandler_timeout=0 tests/hostile tests/static/test_fuzz.py $(ARGS)
	@OMP_NUM_THREADS=1 GRADLEDGER_NOTEBOOKS=all GRADLEDGER_HEAVY=1 $(PY) -m pytest tests/docs tests/packaging

bench: $(DEV) ## Run the benchmarks and write their tables into docs (BENCH=load: only that one; ARGS=--quick: a look)
	@set -e; for script in benchmarks/$(BENCH).py; do echo "==> $$script"; OMP_NUM_THREADS=1 $(PY) "$$script" $(ARGS); done

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

docs: $(DEV) ## Write the documentation that is derived from the rules and the lessons
	@$(PY) docs/build.py

docs-check: $(DEV) ## Check that the derived documentation is up to date
	@$(PY) docs/build.py --check

site: $(DEV) ## Build the documentation as a site in build/site; GRADLEDGER_SITE=quick leaves out the numbers of the course
	@NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --quiet
	@echo "wrote build/site/index.html"

clean: ## Remove what was built and cached; .venv stays
	@rm -rf build dist mutants .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .gradledger_cache
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
	@$(PIP) -e '.[learn]'
	@touch $@

$(DEV): $(INPUTS)
	$(install-torch)
	@echo "==> installing gradledger and its development tools"
	@$(PIP) -e '.[dev]'
	@touch $@
