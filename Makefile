# What a person types; `make help` lists it. Everything works from a fresh clone, as root, on a
# bare Debian 12 or 13, and installs what is missing. A second run does only what has changed.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory

JOBS ?= $(shell nproc)
PYTHON ?= /usr/bin/python3
FUZZ_SECONDS ?= 20
NOISE ?=
LADDER := tools/test_ladder.py $(if $(NOISE),--noise $(NOISE))

BIN := .venv/bin
INSTALLED := .venv/.installed
DEVELOPMENT := .venv/.development
PIP := $(BIN)/pip --quiet --disable-pip-version-check
REQUIREMENTS := $(PYTHON) tools/requirements.py

CPP := $(shell find engine gateway -name '*.cpp' -o -name '*.hpp')
INSTALLED_FROM := pyproject.toml CMakeLists.txt $(CPP) \
  $(shell find engine gateway -name CMakeLists.txt -o -name '*.cmake') $(shell find natxy -name '*.py')

.PHONY: help demo install check test test-long unit bench fuzz tidy format format-check lint types \
  cpp-dev cpp-asan-ubsan cpp-tsan cpp-optimised records schemas clean packages-demo packages-test packages-long

help: ## what there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

demo: install ## real gateways in network namespaces: their throughput, in tables
	@mkdir -p build/demo
	@$(BIN)/natxy demo --output build/demo/results.json

install: $(INSTALLED) ## the package, engine and gateway in .venv/bin

check: $(DEVELOPMENT) ## before every commit, a minute: format, lint, types, unit tests
	@tools/test_ladder.py check

test: $(DEVELOPMENT) packages-test ## all that CI runs; NOISE=5% takes so much of each core away
	@$(LADDER) test

test-long: $(DEVELOPMENT) packages-test packages-long ## test, clang-tidy, long accuracy runs, Debian 13
	@$(LADDER) test test-long

bench: packages-test ## cycles a frame beside dpdk-testpmd, into build/bench/bench.json
	@cmake --preset bench >/dev/null && cmake --build --preset bench -j$(JOBS)
	@$(PYTHON) tools/bench.py

fuzz: packages-test ## the frame parser and the spec reader, FUZZ_SECONDS=20 each
	@cmake --preset asan-ubsan >/dev/null
	@cmake --build --preset asan-ubsan --target fuzzers -j$(JOBS)
	@tools/fuzz $(FUZZ_SECONDS)

tidy: $(DEVELOPMENT) packages-test ## clang-tidy over all C++ (minutes)
	@cmake --preset dev >/dev/null && $(BIN)/python tools/tidy.py --jobs $(JOBS)

format: $(DEVELOPMENT) ## rewrites the sources in the project's format
	@$(BIN)/clang-format -i $(CPP)
	@$(BIN)/ruff format -q . && $(BIN)/ruff check -q --fix .

records: $(INSTALLED) ## what --records needs: numpy and pyarrow
	@$(PIP) install $$($(REQUIREMENTS) records)

schemas: $(DEVELOPMENT) ## writes schemas/ anew from the Python models
	@$(BIN)/python -m natxy.model.schemas

clean: ## removes what was built; the journals and results under build/ too
	@rm -rf build .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis

# The rungs that tools/test_ladder.py climbs; each can be made by itself.
format-check: $(DEVELOPMENT)
	@$(BIN)/clang-format --dry-run -Werror $(CPP)
	@$(BIN)/ruff format --check -q .

lint: $(DEVELOPMENT)
	@$(BIN)/ruff check -q .

types: $(DEVELOPMENT)
	@$(BIN)/mypy && MYPYPATH=tools $(BIN)/mypy tools

unit: $(DEVELOPMENT) ## the Python unit tests
	@$(BIN)/pytest -q -n $(JOBS) tests/unit

cpp-dev cpp-asan-ubsan cpp-tsan: cpp-%: packages-test
	@cmake --preset $* >/dev/null && cmake --build --preset $* -j$(JOBS)
	@ctest --preset $* -j$(JOBS)

# In the tree of `make install`: what tells the time is the programs' code as it is delivered.
cpp-optimised: $(INSTALLED) packages-test
	@cmake -D NATXY_OPTIMISED_TESTS=ON build/install >/dev/null
	@cmake --build build/install --target optimised_tests -j$(JOBS)
	@ctest --test-dir build/install --output-on-failure --no-tests=error

# Packages are looked up each time (a tenth of a second). They stand behind a bar: that they are
# there makes nothing out of date.
packages-demo:
	@tools/install build run
packages-test packages-long: packages-%: packages-demo
	@tools/install $*

.venv/bin/pip: | packages-demo
	@$(PYTHON) -m venv .venv

.venv/.requirements: pyproject.toml tools/requirements.py .venv/bin/pip | packages-demo
	@echo "Installing the Python packages"
	@$(PIP) install $$($(REQUIREMENTS) build run)
	@touch $@

$(INSTALLED): .venv/.requirements $(INSTALLED_FROM) | packages-demo
	@echo "Building the engine and the gateway"
	@CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) $(PIP) install --no-deps --no-build-isolation \
	  --config-settings build-dir=build/install --editable .
	@touch $@

$(DEVELOPMENT): pyproject.toml $(INSTALLED)
	@$(PIP) install $$($(REQUIREMENTS) dev records)
	@touch $@
