# Two commands: `make up` runs a three-node cluster, `make test` proves the project. Each sets everything up.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: up test test-slow bench lint demo clean

$(VENV)/.installed: pyproject.toml constraints.txt
	@echo "Setting up the Python environment in $(VENV) (once, about a minute) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -q -c constraints.txt -e ".[test]"
	@touch $@

up: $(VENV)/.installed
	@$(BIN)/daxsim up --sample-data

demo: $(VENV)/.installed
	@$(BIN)/daxsim demo all

test: $(VENV)/.installed
	@$(BIN)/python -m pytest -n 2 -m "not slow"

test-slow: $(VENV)/.installed
	@$(BIN)/python -m pytest -n 2

lint: $(VENV)/.installed
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: $(VENV)/.installed
	@$(BIN)/python -m pip install -q -c constraints.txt -e ".[bench]"
	@$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .bench benchmarks/node_modules
