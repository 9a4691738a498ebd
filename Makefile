# Every target makes what it needs: `make report` or `make test` is the only command on a fresh clone.
PYTHON ?= python3
BIN := .venv/bin
JOBS ?= -1
REPORT := $(BIN)/dicelab report --jobs $(JOBS) $(if $(GAMES),--games $(GAMES)) $(if $(SEED),--seed $(SEED))
NOTEBOOKS := $(wildcard notebooks/*.ipynb)
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: help install check format test test-pure report scorecard notebooks lab bench lock clean

help: ## Show the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

install: .venv/run ## Install what the report and the command need
	@echo "Installed. Try: $(BIN)/dicelab --help"

.venv/run: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "dicelab needs Python 3.11 or later")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-build-isolation --no-deps --editable .
	touch $@

.venv/dev: .venv/run requirements-dev.lock
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements-dev.lock
	touch $@

check: .venv/dev ## Formatter, linter, types, dependency rule, clean notebooks
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/nbstripout --verify $(NOTEBOOKS)

format: .venv/dev ## Format code and strip notebooks
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/nbstripout $(NOTEBOOKS)

test: .venv/dev ## The tests, compiled, on all cores
	$(BIN)/python -m pytest -m "not long" --numprocesses auto --dist loadfile

test-long: .venv/dev ## The tests that solve whole games: minutes more
	$(BIN)/python -m pytest -m long

test-pure: .venv/dev ## The tests in plain Python, with coverage
	NUMBA_DISABLE_JIT=1 $(BIN)/coverage run -m pytest -m "not slow and not long" --numprocesses auto --dist loadfile
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

report: .venv/run ## Play what is missing and write reports/build/index.html (GAMES=, JOBS=, SEED=)
	$(REPORT)

scorecard: .venv/run ## Measure the balance of all games anew, for the report's front page and the README
	$(BIN)/dicelab scorecard --jobs $(JOBS) $(if $(GAMES),--games $(GAMES)) $(if $(SEED),--seed $(SEED))

notebooks: .venv/dev ## Execute the notebooks (GAMES= for small or large)
	printf '%s\n' $(NOTEBOOKS) | $(if $(GAMES),DICELAB_GAMES=$(GAMES)) xargs -n 1 -P 2 $(BIN)/jupyter execute

lab: .venv/dev ## Open the notebooks
	$(BIN)/jupyter lab notebooks

bench: .venv/dev ## Rates as ratios to a C loop in the same run
	$(BIN)/python tests/bench/bench.py

lock: ## Resolve the dependencies anew
	$(PYTHON) -m venv build/uv && build/uv/bin/pip install --quiet uv
	build/uv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --extra build \
		--custom-compile-command "make lock" pyproject.toml -o requirements.lock
	build/uv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --all-extras -c requirements.lock \
		--custom-compile-command "make lock" pyproject.toml -o requirements-dev.lock

clean: ## Remove the environment and everything built
	rm -rf .venv build reports/build *.egg-info .coverage* .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
