# Two commands carry everything: `make up` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Two workers, a file at a time: a file's tests may build on each other's server, and hubs need room.
PYTEST_ARGS ?= -n 2 --dist loadfile

.PHONY: up test test-ui check hooks clean help

help:            ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/ —/'

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info < (3, 14) else "argus: Python 3.11 to 3.13 is needed, this is %s; set PYTHON=python3.12, for instance" % sys.version.split()[0])'
	$(PYTHON) -m venv $(VENV)
	@echo "argus: installing what is pinned into $(VENV): about 1.3 GB, some minutes"
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

up: $(STAMP)     ## install what is pinned and start everything; Ctrl+C stops all of it
	@exec $(BIN)/argus up

test: $(STAMP)   ## the whole test suite, on a real Postgres
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest $(PYTEST_ARGS)

test-ui: $(STAMP) ## the pages in a real browser: needs Chromium (`apt-get install -y chromium`)
	$(BIN)/python -m pytest tests/ui

check: $(STAMP)  ## lint and types only
	$(BIN)/ruff check .
	$(BIN)/mypy

hooks: $(STAMP)  ## rebuild the single-file hooks from their parts
	$(BIN)/python -m argus_api.hooks.build

clean:           ## remove the virtual environment
	rm -rf $(VENV)
