# Every target needs python3 and make alone; the first one run makes the virtual environment.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help setup demo test test-nojit lint bench tuning clean

help:  ## this list
	@grep -E '^[a-z-]+:.*##' Makefile | sed 's/:.*##/\t/'

setup: $(READY)  ## a virtual environment in .venv with everything installed

$(READY): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "hsb needs Python 3.11 or later; this is " + sys.version)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $(READY)

demo: $(READY)  ## the stationary problem of Section VI-A: HSB, S-EXP3 and EXP3, printed and drawn
	$(BIN)/python examples/demo.py

test: $(READY) lint  ## the whole suite, compiled, then a selection with compilation switched off
	$(BIN)/python -m pytest -n 2
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n 2 -m nojit

lint: $(READY)  ## style, types, and which module may import which
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: $(READY)  ## speed and memory, each against a reference in the same run
	$(BIN)/python benchmarks/bench.py

tuning: $(READY)  ## the default against its rivals on eighteen problems, and against adversaries (docs/tuning.md)
	$(BIN)/python benchmarks/default.py

clean:  ## remove everything that was made
	rm -rf .venv build dist out benchmarks/out .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
