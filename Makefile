# Two commands do all the set-up: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Every worker takes tests that lie side by side, which share what was solved and compiled. What
# pytest makes of each file of tests is kept, which saves every worker some seconds.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --quiet --numprocesses auto --dist worksteal

# Files with tests of kernels. Reading all files takes longer than running these tests.
KERNELS = $(shell grep -l "mark.kernels" tests/test_*.py)

.PHONY: help demo test test-large lowest newest lock check types format docs site smoke wheel release gallery verified bench bench-check clean

help:
	@echo "make demo    install rollwise in $(VENV), and solve Pig"
	@echo "make test    set up, then run all tests: those of kernels compiled, and again with the JIT off"
	@echo "make test-large  find known answers of large games again: hours in all"
	@echo "make lowest, make newest  run the fast tests with the lowest and the newest versions allowed"
	@echo "make lock    write the versions and hashes of all dependencies to requirements/"
	@echo "make check   format, lint, types, fast tests: some minutes"
	@echo "make format  put the code in form"
	@echo "make docs    make the generated pages and figures of the documentation anew"
	@echo "make site    make the documentation, the API reference and the gallery as a site, in site/"
	@echo "make smoke   build the wheel and try it in an empty environment, and with each extra alone"
	@echo "make wheel   make a wheel with compiled kernels for this platform, in dist/"
	@echo "make release make and check the sdist and the wheel of a release, in dist/"
	@echo "make gallery  make a page of each game and a front page, in gallery/: two minutes"
	@echo "make verified  check the proof of the checker of certificates, and build it: verified/check"
	@echo "make bench   measure beside other tools, and write benchmarks/RESULTS.md: 50 minutes"
	@echo "make bench-check  say whether the newest run of it is slower than those before"

# Versions and hashes are those of requirements/. `main` has all that solving takes, `ready` all that
# tests and documents take.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
$(VENV)/main: pyproject.toml requirements/main.txt
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --require-hashes --requirement requirements/main.txt
	$(INSTALL) --no-deps --no-build-isolation --editable .
	touch $@

$(VENV)/ready: $(VENV)/main requirements/dev.txt
	$(INSTALL) --require-hashes --requirement requirements/dev.txt
	touch $@

# LOCK=--upgrade takes the newest versions that pyproject.toml allows; without it, pins that still fit stay.
COMPILE := $(BIN)/python -m uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--custom-compile-command "make lock" $(LOCK) pyproject.toml requirements/build.in
lock: $(VENV)/ready
	$(COMPILE) --extra dev --output-file requirements/dev.txt
	$(COMPILE) --constraint requirements/dev.txt --output-file requirements/main.txt

demo: $(VENV)/main
	$(BIN)/rollwise solve pig
	@echo
	@echo "Now play against it:  $(BIN)/rollwise play pig"

test: $(VENV)/ready
	-$(BIN)/python scripts/browser.py
	MALLOC_PERTURB_=1 $(PYTEST) -m "not kernels"
	MALLOC_PERTURB_=1 ROLLWISE_OFF=plain-kernels $(PYTEST) $(KERNELS) -m kernels
	MALLOC_PERTURB_=1 NUMBA_DISABLE_JIT=1 $(PYTEST) $(KERNELS) --hypothesis-profile=quick -m "kernels and not slow"

# The tests marked large, then the answers. LARGE="--only NAME,NAME" takes some of tests/large_answers.toml.
test-large: $(VENV)/ready
	$(PYTEST) --large -m large
	$(BIN)/python -m benchmarks.large $(LARGE)

# Words in PYTESTS go to pytest.
lowest newest:
	$(PYTHON) scripts/versions.py $@ $(PYTESTS)

check: $(VENV)/ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(PYTEST) --hypothesis-profile=quick -m "not slow"

types: $(VENV)/ready
	$(BIN)/mypy

format: $(VENV)/ready
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/ready
	$(BIN)/python docs/case-studies/make.py
	$(BIN)/python docs/learners/learners.py
	$(BIN)/python docs/generate

# GALLERY="pig threes" takes some games; all of them take two minutes.
site: $(VENV)/ready
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	$(BIN)/python scripts/gallery.py site/gallery $(GALLERY)

smoke: $(VENV)/ready
	$(BIN)/python scripts/smoke.py
	folder=$$(mktemp -d) && $(BIN)/python scripts/platform_wheel.py --quick $$folder; code=$$?; rm -rf $$folder; exit $$code

# With all kernels compiled: some minutes.
wheel: $(VENV)/ready
	$(BIN)/python scripts/platform_wheel.py

release: $(VENV)/ready
	$(BIN)/python scripts/release.py

# Pages that play, of all games that fit into one, and a front page with a puzzle of the day, in gallery/.
gallery: $(VENV)/ready
	$(BIN)/python scripts/gallery.py gallery

# Debian's packages coq, ocaml-nox, ocaml-findlib and libzarith-ocaml-dev. No other target needs them.
verified:
	cd verified && for part in Checker Soundness Extract; do coqc -Q . Rollwise $$part.v || exit 1; done
	cd verified && ocamlfind ocamlopt -w -a -package zarith -linkpkg checker.mli checker.ml main.ml -o check

# A tool that can't be installed here has a row that says so.
bench: $(VENV)/ready
	-$(BIN)/python -m pip install --quiet --editable ".[dev,peers]"
	$(BIN)/python -m benchmarks $(BENCH)

bench-check: $(VENV)/ready
	$(BIN)/python -m benchmarks.history

clean:
	rm -rf $(VENV) build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
