# Headwater. `make demo` shows it, `make test` proves it, `make help` lists the rest.
# Everything is installed into .venv by the first command that needs it; a second call is instant.
.DEFAULT_GOAL := help
.PHONY: help setup demo test lint fmt golden bench docs serve build clean

# The newest Python on the PATH that is new enough; PYTHON=… overrides.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { command -v $$p; break; }; done)
UV := $(shell command -v uv 2>/dev/null)
BIN := .venv/bin
PY := $(BIN)/python

help: ## List the verbs
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.venv/.installed: pyproject.toml
	@test -n "$(PYTHON)" || { echo "Headwater needs Python 3.11 or later; none was found. Name one with PYTHON=/path/to/python3" >&2; exit 2; }
	@echo "installing into .venv (once; about 1.3 GB, most of it Spark and Arrow) …" >&2
ifneq ($(UV),)
	@test -x $(PY) || uv venv --quiet --python "$(PYTHON)" .venv
	@uv pip install --quiet --python $(PY) --editable '.[dev]'
else
	@test -x $(PY) || "$(PYTHON)" -m venv .venv
	@$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
endif
	@touch $@

setup: .venv/.installed ## Install everything into .venv, once

demo: setup ## Show what Headwater does, end to end
	@$(BIN)/headwater doctor

test: setup ## Run all tests
	@$(PY) -m pytest

lint: setup ## Check style, types and the import rule
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

fmt: setup ## Format the code and mend what can be mended
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

golden: setup ## Write the golden expectations anew; read the diff before committing it
	@$(PY) -m pytest -m golden --golden

bench: .venv/.bench ## Run the quick benchmarks against their peers
	@for f in benchmarks/*.py; do echo "== $$f"; $(PY) $$f --quick || exit 1; done

.venv/.bench: .venv/.installed
ifneq ($(UV),)
	@uv pip install --quiet --python $(PY) --editable '.[bench]'
else
	@$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
endif
	@touch $@

docs: setup ## Write the generated reference pages and build the site
	@$(PY) docs/generate.py
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "site/index.html"

serve: setup ## Serve the documentation on this machine
	@$(BIN)/mkdocs serve

build: setup ## Make the sdist and the wheel
	@$(PY) -m build --outdir dist

clean: ## Remove everything that was made here
	@rm -rf .venv build dist site demo .mypy_cache .ruff_cache .pytest_cache .hypothesis
