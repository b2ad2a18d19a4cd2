# Two commands: `make up` runs a three-node cluster, `make test` proves the project. Each sets everything up.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# The official DAX clients for JavaScript, which the client tests drive where Node.js is installed.
JS := tests/clients/js
JS_INSTALLED := $(JS)/node_modules/.package-lock.json
NPM := $(shell command -v npm)
LIMIT := $(if $(shell command -v timeout),timeout 300)

.PHONY: up test test-slow bench lint demo clean

$(VENV)/.installed: pyproject.toml constraints.txt
	@echo "Setting up the Python environment in $(VENV) (once, about a minute) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -q -c constraints.txt -e ".[test]"
	@touch $@

ifdef NPM
$(JS_INSTALLED): $(JS)/package-lock.json
	@echo "Installing the DAX clients for JavaScript in $(JS) (once, half a minute) ..."
	@cd $(JS) && $(LIMIT) npm ci --ignore-scripts --no-audit --no-fund --silent && touch node_modules/.package-lock.json \
		|| echo "npm could not install them: the tests that drive them are skipped."
else
$(JS_INSTALLED):
	@echo "npm is not installed: the tests that drive the DAX clients for JavaScript are skipped."
endif

up: $(VENV)/.installed
	@$(BIN)/daxsim up --sample-data

demo: $(VENV)/.installed
	@$(BIN)/daxsim demo all

test: $(VENV)/.installed $(JS_INSTALLED)
	@$(BIN)/python -m pytest -n 2 -m "not slow"

test-slow: $(VENV)/.installed $(JS_INSTALLED)
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
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .bench benchmarks/node_modules $(JS)/node_modules
