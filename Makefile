# Two commands do all the set-up: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo test check fast format bench docs clean

help:
	@echo "make demo    set up, then solve Pig and Super Six"
	@echo "make test    set up, then run all tests, and the fast ones again with the JIT off"
	@echo "make check   format, lint, types, fast tests: about a minute"
	@echo "make format  put the code in form"
	@echo "make bench   measure, and write benchmarks/RESULTS.md"
	@echo "make docs    compute the case studies, and write their pages and figures"

$(VENV)/ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@

demo: $(VENV)/ready
	$(BIN)/rollwise solve pig
	$(BIN)/rollwise table pig --limit 10
	$(BIN)/rollwise solve super-six sticks=40
	$(BIN)/rollwise table super-six sticks=40 --where "lid >= 4 and forced == 0" --limit 10

test: $(VENV)/ready
	$(BIN)/python -m pytest --numprocesses auto
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest --numprocesses auto -m "not slow"

check: $(VENV)/ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest --quiet --numprocesses auto -m "not slow"

format: $(VENV)/ready
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/ready
	$(BIN)/python benchmarks/core.py

docs: $(VENV)/ready
	$(BIN)/python docs/case-studies/make.py

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
