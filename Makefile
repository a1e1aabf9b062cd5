# Headwater. `make demo` shows it, `make test` proves it, `make help` lists the rest.
# Everything is installed into .venv by the first command that needs it; a second call is instant.
.DEFAULT_GOAL := help
# Tests and Spark start many Pythons, and each would compile all it imports again.
unexport PYTHONDONTWRITEBYTECODE
.PHONY: help setup demo test test-all test-spark coverage lint fmt golden bench soak fuzz proof mutations latest constraints audit docs serve build clean

# The newest Python on the PATH that is new enough; PYTHON=… overrides.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { command -v $$p; break; }; done)
UV := $(shell command -v uv 2>/dev/null)
BIN := .venv/bin
PY := $(BIN)/python

help: ## List the verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# $(call install,VENV,EXTRA,MORE): make a virtual environment with Headwater in it, by uv if there is one.
define install
	@test -n "$(PYTHON)" || { echo "Headwater needs Python 3.11 or later; none was found. Name one with PYTHON=/path/to/python3" >&2; exit 2; }
	@echo "installing into $(1) (once; about 1.3 GB, most of it Spark and Arrow) …" >&2
	$(if $(UV),\
	  @test -x $(1)/bin/python || $(UV) venv --quiet --python "$(PYTHON)" $(1); $(UV) pip install --quiet --python $(1)/bin/python $(3) --editable '.[$(2)]',\
	  @test -x $(1)/bin/python || "$(PYTHON)" -m venv $(1); $(1)/bin/python -m pip install --quiet --disable-pip-version-check --use-pep517 $(3) --editable '.[$(2)]')
	@touch $(1)/.installed
endef

.venv/.installed: pyproject.toml constraints.txt
	$(call install,.venv,dev,--constraint constraints.txt)

# Some peers pin versions that we do not want to develop against, hence a second environment.
.venv-bench/.installed: pyproject.toml
	$(call install,.venv-bench,bench)

# So does pypaimon, against which published tables are tested.
.venv-paimon/.installed:
	$(if $(UV),\
	  @$(UV) venv --quiet --python "$(PYTHON)" .venv-paimon && $(UV) pip install --quiet --python .venv-paimon/bin/python 'pypaimon>=2',\
	  @"$(PYTHON)" -m venv .venv-paimon && .venv-paimon/bin/python -m pip install --quiet --disable-pip-version-check 'pypaimon>=2')
	@touch $@

# The agent works on older Sparks than the lake tables do: an environment for each of them.
SPARKS ?= 3.5 4.0 4.1 4.2
.venv-spark-%/.installed: pyproject.toml constraints.txt
	@mkdir -p build && sed '/^py\(spark\|4j\)==/d' constraints.txt >build/constraints-spark.txt
	$(call install,.venv-spark-$*,dev,'pyspark==$*.*' --constraint build/constraints-spark.txt)

# ZetaSQL compiled and Spark's Java classes archived, in the user's cache.
.venv/.warm: .venv/.installed
	@$(BIN)/headwater warmup
	@touch $@

setup: .venv/.warm ## Install everything into .venv, once

demo: setup ## Show what Headwater does, end to end
	@$(BIN)/headwater demo

# Three parts of about the same CPU time side by side, on two cores: what runs Spark, what serves the page (it waits for a
# browser often; last, since the browser's loop runs from then on) after some packages, and the rest. None leaves a file in
# the tree.
OF_SPARK := tests/spark tests/jobs
OF_PAGE := tests/cli tests/review tests/mcp tests/provenance tests/proof tests/server
MARK ?= not slow
PYTEST ?= $(PY) -m pytest
test: setup .venv-paimon/.installed ## Run the tests, but the slow ones; ONLY=lake: those of one package
ifdef ONLY
	@$(PYTEST) -m "$(MARK)" tests/$(ONLY)
else
	@echo "tests of Spark and of the page run beside the others; their report comes at the end" >&2
	@$(PY) tests/tree.py note .venv/tree.before; \
	$(PYTEST) -m "$(MARK)" $(OF_SPARK) >.venv/spark.log 2>&1 & spark=$$!; \
	$(PYTEST) -m "$(MARK)" $(OF_PAGE) >.venv/page.log 2>&1 & page=$$!; \
	$(PYTEST) -m "$(MARK)" $(OF_SPARK:%=--ignore=%) $(OF_PAGE:%=--ignore=%); failed=$$?; \
	wait $$page || failed=1; cat .venv/page.log; wait $$spark || failed=1; cat .venv/spark.log; \
	$(PY) tests/tree.py compare .venv/tree.before || failed=1; exit $$failed
endif

test-all: ## Run all tests, with all the examples of every property
	@THOROUGH=1 $(MAKE) --no-print-directory test MARK="slow or not slow"

coverage: setup ## Measure the part of the code that the tests reach, and write docs/coverage.md
	@rm -rf .venv/coverage && mkdir .venv/coverage
	@COVERAGE_PROCESS_START=$(CURDIR)/pyproject.toml COVERAGE_FILE=$(CURDIR)/.venv/coverage/data \
	  $(MAKE) --no-print-directory test PYTEST="$(CURDIR)/$(PY) -m coverage run -m pytest"
	@cd .venv/coverage && COVERAGE_FILE=data ../bin/coverage combine --quiet --keep --rcfile=../../pyproject.toml; \
	  COVERAGE_FILE=data ../bin/coverage json --quiet --rcfile=../../pyproject.toml -o report.json
	@$(PY) docs/coverage.py .venv/coverage/report.json && cat docs/coverage.md

OF_AGENT := tests/spark/agent tests/spark/test_sql_cases.py tests/spark/test_frames.py tests/spark/test_explain.py
test-spark: $(SPARKS:%=.venv-spark-%/.installed) ## Run the tests of the agent on other releases of Spark (SPARKS="3.5 4.2")
	@for spark in $(SPARKS); do echo "Spark $$spark" >&2; \
	  .venv-spark-$$spark/bin/python -m pytest -m "$(MARK)" $(OF_AGENT) || failed="$$failed $$spark"; done; \
	test -z "$$failed" || { echo "failed on Spark$$failed" >&2; exit 1; }

lint: setup ## Check style, types and the import rule
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@if npx --yes --package typescript@7 tsc --version >/dev/null 2>&1; then npx --yes --package typescript@7 tsc -p jsconfig.json; \
	  else echo "no node: the types of the page's scripts were not checked" >&2; fi

fmt: setup ## Format the code and mend what can be mended
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

golden: setup ## Write the golden expectations anew; read the diff before committing it
	@$(PY) -m pytest -m golden --golden

bench: .venv-bench/.installed ## Run the quick benchmarks against their peers; FULL=1 the long ones, KEEP=1 keeps the results
	@.venv-bench/bin/python benchmarks/run.py $(if $(FULL),--full) $(if $(KEEP),--keep) $(ONLY)

SECONDS ?= 600
SEED ?= $(shell date +%s)
soak: setup ## Run everything at once and kill it at random (SECONDS=600 SEED=…)
	@PYTHONPATH=. $(PY) -m tests.soak --seconds $(SECONDS) --seed $(SEED)

INPUTS ?= 1000000
fuzz: setup ## Feed bad inputs to everything that reads (INPUTS=1000000 SEED=… TARGETS="sst wal")
	@PYTHONPATH=. $(PY) -m tests.fuzz $(TARGETS) --inputs $(INPUTS) --seed $(SEED)

GENERATED ?= 2000
JOBS ?= 1
ENGINE ?= duckdb
proof: setup ## Prove lineage by running queries on changed inputs (QUERIES=FOLDER SCHEMA=FILE, or GENERATED=2000 SEED=… JOBS=2 ENGINE=sqlite)
	@PYTHONPATH=. $(PY) -m tests.proof $(if $(QUERIES),--queries $(QUERIES)) $(if $(SCHEMA),--schema $(SCHEMA)) $(if $(ONLY),--only $(ONLY)) --generated $(GENERATED) --seed $(SEED) --jobs $(JOBS) --engine $(ENGINE)

mutations: setup ## Break each promise once, and see its test fail
	@PYTHONPATH=. $(PY) -m tests.mutations

# Libraries whose internals we drive have upper bounds; this tries them, and all others, without.
DRIVEN := pyspark duckdb wasmtime zetasql sqlglot[c]
latest: ## Try the newest dependencies in .venv-latest, whatever the bounds say
	$(call install,.venv-latest,dev,--upgrade)
	@.venv-latest/bin/python -m pip install --quiet --upgrade $(DRIVEN) || true
	@.venv-latest/bin/python -m pip list | grep -E '^(pyspark|duckdb|wasmtime|zetasql|sqlglot) '
	@.venv-latest/bin/python -m pytest tests/sql tests/lineage tests/zetasql tests/query tests/lake tests/spark/test_sql_cases.py

constraints: setup ## Write down the versions that are installed now
	@{ head -1 constraints.txt; $(PY) -m pip freeze --exclude-editable | grep -v '^-e\|@' | sort -f; } >.venv/constraints.txt
	@mv .venv/constraints.txt constraints.txt

audit: setup ## Look for known vulnerabilities in what Headwater runs on
	@$(PY) docs/supply.py audit

docs: setup ## Write the generated reference pages and build the site
	@$(PY) docs/generate.py
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "site/index.html"

serve: setup ## Serve the documentation on this machine
	@$(BIN)/mkdocs serve

build: setup ## Make the sdist and the wheel, and say what they run on (SBOM)
	@$(PY) -m build --no-isolation --outdir dist
	@$(PY) docs/supply.py sbom dist

clean: ## Remove everything that was made here
	@rm -rf .venv .venv-* build dist site demo .mypy_cache .ruff_cache .pytest_cache .hypothesis
