# Every target needs python3 and make alone; the first one run makes the virtual environment.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help setup engine demo test test-unit test-long test-attack test-engines test-serve test-peers lint bench tuning coverage peers bakeoff docs dist clean

help:  ## this list
	@grep -E '^[a-z-]+:.*##' Makefile | sed 's/:.*##/\t/'

setup: engine  ## a virtual environment in .venv with everything installed

$(READY): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "hsb needs Python 3.11 or later; this is " + sys.version)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $(READY)

engine: $(READY)  ## the kernels as one library, unless there is one of these sources; if no C compiler can be had, Numba compiles them when first used
	@command -v cc >/dev/null || command -v gcc >/dev/null || command -v clang >/dev/null || $(BIN)/python -c "import ziglang" 2>/dev/null \
	|| $(BIN)/python -m pip install --quiet ziglang || true
	@$(BIN)/python -m hsb.engine.native.build --if-stale

demo: engine  ## the paper's Section VI again, at full size: figures, claims, a report in out/reproduce
	$(BIN)/hsb reproduce all --out out/reproduce

test: engine lint  ## style, types, and the tests of every module, promise and theorem: what to run before a commit (CONTRIBUTING.md has the tiers)
	$(BIN)/python -m pytest -n 2 -m 'not long'

test-unit: engine  ## of these, the tests that start no process and no server
	$(BIN)/python -m pytest -n 2 -m 'not long and not system'

test-long: engine  ## what make test leaves out: full products, interrupts everywhere, pages, notebooks, pictures, comparisons, faults, no compiled code
	$(BIN)/python -m pytest -n 2 -m long
	HSB_ENGINE=python $(BIN)/python -m pytest -n 2 -m nojit

COUNT ?= 2000
SECONDS ?= 5
CHECKED := HSB_ENGINE=numba NUMBA_CACHE_DIR=out/checked NUMBA_BOUNDSCHECK=1

test-attack: engine  ## forged files, storms, threads, interrupts, wrong calls, bombs, for long (docs/reliability.md); COUNT=, SECONDS=
	HSB_ATTACK=$(COUNT) HSB_SECONDS=$(SECONDS) $(BIN)/python -m pytest -s tests/attack tests/policy/test_transaction.py tests/policy/test_interrupt_storms.py
	$(CHECKED) HSB_ATTACK=$(COUNT) HSB_ATTACK_SEED=1 $(BIN)/python -m pytest -s tests/attack/test_attack_files.py

test-engines: engine  ## parts on Dask and Ray, each a cluster of two workers on this machine
	@for pair in dask:distributed ray:ray; do \
	  $(BIN)/python -c "import $${pair#*:}" 2>/dev/null || $(BIN)/python -m pip install --quiet --editable ".[$${pair%:*}]" \
	  || echo "test-engines: the extra '$${pair%:*}' cannot be installed here; its tests are skipped"; \
	done
	$$(command -v timeout >/dev/null && echo timeout 300) $(BIN)/python -m pytest -rs tests/engines

PICK ?=
FIGURES := out/serve/figures.jsonl

test-serve: engine  ## the service: simulated worlds, power cuts, real processes under faults, requests from its description, a browser (docs/serving.md); FULL=1
	@for name in apsw schemathesis playwright; do \
	  $(BIN)/python -c "import $$name" 2>/dev/null || $(BIN)/python -m pip install --quiet $$name 2>/dev/null \
	  || echo "test-serve: $$name cannot be installed here; what needs it is skipped"; \
	done
	@$(BIN)/python .ci/chromium.py
	@mkdir -p $(dir $(FIGURES)) && rm -f $(FIGURES)
	HSB_SERVE=$(if $(FULL),full,quick) HSB_FIGURES=$(FIGURES) $(BIN)/python -m pytest -n 2 -rs $(PICK) tests/serve
	@cat $(FIGURES)

lint: $(READY)  ## style, types, which module may import which, the shape of the package and of its tests against their limits, and turns of phrase
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python .ci/private_reaches.py 50
	$(BIN)/python .ci/private_reaches.py 5 --kernels
	$(BIN)/python .ci/shape.py
	$(BIN)/python .ci/test_layout.py 95
	$(BIN)/python .ci/phrases.py 0 README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md VISION.md docs src
	$(BIN)/python .ci/names.py

bench: engine  ## speed and memory, each against a reference in the same run
	$(BIN)/python benchmarks/bench.py

tuning: engine  ## the default against its rivals on nineteen problems, and against adversaries (docs/tuning.md)
	$(BIN)/python benchmarks/default.py

coverage: engine  ## how often off-policy intervals hold, and how often they warn (docs/off_policy.md)
	$(BIN)/python benchmarks/off_policy_coverage.py --jobs 2

peers: engine  ## hsb beside the libraries people use, under 30 minutes (docs/peers.md); goes on if stopped; ARGS=--quick
	cd benchmarks && ../$(BIN)/python -m peers $(if $(ARGS),$(ARGS),--publish)

bakeoff: engine  ## hsb and others on 43 real tables as bandit problems (docs/bakeoff.md); goes on if stopped; ARGS=--quick
	cd benchmarks && ../$(BIN)/python -m bakeoff $(if $(ARGS),$(ARGS),--publish)

test-peers: engine  ## the adapters and the quick comparison with every library that can be installed, OBP's own loop among them
	cd benchmarks && ../$(BIN)/python -m peers.environments
	$(BIN)/python -m pytest -rs tests/benchmarks/test_peers*.py tests/interop
	@if test -x out/peers/environments/obp/bin/python; then \
	  out/peers/environments/obp/bin/python -m pip install --quiet --editable . pytest hypothesis && \
	  out/peers/environments/obp/bin/python -m pytest -p no:cacheprovider tests/interop/test_obp.py; \
	else echo "test-peers: OBP cannot be installed here; its own loop is not tried"; fi

.venv/.docs: $(READY)
	$(BIN)/python -m pip install --quiet --editable '.[dev,docs]'
	@touch .venv/.docs

docs: .venv/.docs  ## the documentation, in out/docs/index.html; fails on a broken link, a page or a public name that is missing, a snippet that does not run
	$(BIN)/python -m pytest tests/docs/test_docs.py
	rm -rf out/docs
	$(BIN)/python -m sphinx -b html -W --keep-going -d out/docs-cache docs out/docs
	$(BIN)/python docs/_tools/site.py out/docs

dist: $(READY)  ## sdist and wheel, each checked, installed into an empty environment and tried there; wheels for other systems, not tried
	@$(BIN)/python -c "import build, twine, abi3audit, ziglang" 2>/dev/null || $(BIN)/python -m pip install --quiet build twine abi3audit ziglang
	$(BIN)/python .ci/dist.py

clean:  ## remove everything that was made
	rm -rf .venv build dist out docs/_made benchmarks/out .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
