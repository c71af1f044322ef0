# Needs python3 (3.11 or newer) and make, nothing else.
#
#   make serve     start a server on the embedded model
#   make test      unit tests
#   make check     lint, types, layers
#   make bench     measure; NAME=… picks one bench, ARGS=… passes options
#   make test-all  slow tests too
#   make clean     remove .venv and caches
#
# TORCH_INDEX=<index URL> takes torch from there, e.g. a CPU-only build.

PYTHON ?= python3
TORCH_INDEX ?=
NAME ?=
ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# Each worker loads torch and the embedded models: more than four take memory and save little.
WORKERS := -n auto --maxprocesses=4
PINS := -c constraints.txt

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help serve test check bench test-all clean

help:
	@sed -n 's/^#  *make/  make/p' Makefile

serve: $(VENV)/.serve
	$(BIN)/unmask serve $(ARGS)

test: $(VENV)/.dev
	$(BIN)/python -m pytest $(WORKERS) $(ARGS)

check: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.serve
	$(BIN)/unmask bench $(NAME) $(ARGS)

test-all: $(VENV)/.dev
	$(BIN)/python -m pytest -m "" $(WORKERS) $(ARGS)

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .mypy_cache .import_linter_cache .hypothesis .coverage dist build
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamps: what is newer than its stamp is installed again, the rest is left alone.
$(VENV)/.venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "unmask needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>/dev/null || echo not there)." >&2; \
	  echo "Name another one, e.g.: make $(or $(MAKECMDGOALS),test) PYTHON=python3.12" >&2; \
	  exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

# Torch goes first and alone: with TORCH_INDEX only torch is taken from there, never what it depends on.
$(VENV)/.torch: constraints.txt | $(VENV)/.venv
	$(PIP) install $(PINS) $(if $(TORCH_INDEX),--no-deps --index-url $(TORCH_INDEX)) torch
	@touch $@

$(VENV)/.serve: pyproject.toml constraints.txt $(VENV)/.torch
	$(PIP) install $(PINS) -e '.[engine,charts,knowledge]'
	@touch $@

# What `dev` installs holds all that `serve` needs, so both stamps are set.
$(VENV)/.dev: pyproject.toml constraints.txt $(VENV)/.torch
	$(PIP) install $(PINS) -e '.[engine,charts,knowledge,dev]'
	@touch $(VENV)/.serve $@
