# Two commands do all the set-up: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Every worker takes tests that lie side by side, which share what was solved and compiled. What
# pytest makes of each file of tests is kept, which saves every worker some seconds.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --quiet --numprocesses auto --dist worksteal

.PHONY: help demo test test-large lowest check fast format docs site smoke bench bench-check clean

help:
	@echo "make demo    set up, then solve Pig and Super Six"
	@echo "make test    set up, then run all tests, and those of kernels again compiled and with the JIT off"
	@echo "make test-large  find known answers of large games again: hours in all"
	@echo "make lowest  run the fast tests with the lowest versions that are declared, in a fresh environment"
	@echo "make check   format, lint, types, fast tests: two minutes on two cores"
	@echo "make format  put the code in form"
	@echo "make docs    make the generated pages and figures of the documentation anew"
	@echo "make site    make the documentation and the API reference as a site, in site/"
	@echo "make smoke   build the wheel and try it in an empty environment, and with each extra alone"
	@echo "make bench   measure beside other tools, and write benchmarks/RESULTS.md: 20 minutes"
	@echo "make bench-check  say whether the newest run of it is slower than those before"

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
	-$(BIN)/python scripts/browser.py
	MALLOC_PERTURB_=1 $(PYTEST)
	MALLOC_PERTURB_=1 ROLLWISE_OFF=plain-kernels $(PYTEST) --hypothesis-profile=quick -m "kernels and not slow"
	MALLOC_PERTURB_=1 NUMBA_DISABLE_JIT=1 $(PYTEST) --hypothesis-profile=quick -m "kernels and not slow"

# The tests marked large, then the answers. LARGE="--only NAME,NAME" takes some of tests/large_answers.toml.
test-large: $(VENV)/ready
	$(PYTEST) --large -m large
	$(BIN)/python -m benchmarks.large $(LARGE)

# LOWEST="--newest" takes the newest versions instead; other words go to pytest.
lowest:
	$(PYTHON) scripts/lowest.py $(LOWEST)

check: $(VENV)/ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(PYTEST) --hypothesis-profile=quick -m "not slow"

format: $(VENV)/ready
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/ready
	$(BIN)/python docs/case-studies/make.py
	$(BIN)/python docs/learners/learners.py
	$(BIN)/python docs/generate

site: $(VENV)/ready
	$(BIN)/python -m pip install --quiet --editable ".[site]"
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

smoke: $(VENV)/ready
	$(BIN)/python scripts/smoke.py

# A tool that can't be installed here has a row that says so.
bench: $(VENV)/ready
	-$(BIN)/python -m pip install --quiet --editable ".[dev,peers]"
	$(BIN)/python -m benchmarks $(BENCH)

bench-check: $(VENV)/ready
	$(BIN)/python -m benchmarks.history

clean:
	rm -rf $(VENV) build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
