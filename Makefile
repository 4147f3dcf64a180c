# The commands of the project; `make help` lists them. All of them work in a fresh clone, as root, on
# Debian 12 or 13, and install what is missing. A second run does only what has changed.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory

JOBS ?= $(shell nproc)
PYTHON ?= /usr/bin/python3
FUZZ_SECONDS ?= 20
NOISE ?=
AGAINST ?=
LADDER := tools/test_ladder.py $(if $(NOISE),--noise $(NOISE))

BIN := .venv/bin
INSTALLED := .venv/.installed
DEVELOPMENT := .venv/.development
TOOLS := .venv/.tools
DOCS := .venv/.docs
REPORT := .venv/.report
PIP := $(BIN)/pip --quiet --disable-pip-version-check
# With the versions of the lock file; pyproject.toml has the ranges that a user may have.
PINNED := $(PIP) install --constraint requirements.lock
REQUIREMENTS := $(PYTHON) tools/requirements.py

CPP := $(shell find engine gateway plumbing -name '*.cpp' -o -name '*.hpp')
INSTALLED_FROM := pyproject.toml CMakeLists.txt $(CPP) \
  $(shell find engine gateway plumbing -name CMakeLists.txt -o -name '*.cmake') \
  $(shell find natxy -name '*.py' -o -name '*.pyi')

.PHONY: help demo install wheel deb image sdist release rebuild check test test-long unit planted hardware mutants bench report fuzz tidy format format-check lint types reference man docs docs-serve \
  cpp-dev cpp-asan-ubsan cpp-tsan cpp-dev-build cpp-asan-ubsan-build cpp-tsan-build cpp-optimised optimised-build records schemas samples lock clean packages-python packages-demo packages-test packages-guest packages-long

# Lists the groups (##@) and the targets that have a description (##).
help: ## Show this list.
	@awk -F ':.*## ' '/^##@ / {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' Makefile

##@ Use
demo: report ## Measure real gateways in network namespaces, and write an HTML report.
	@$(BIN)/natxy demo --output build/demo

install: $(INSTALLED) ## Install the package, the engine and the gateway in .venv.

report: $(INSTALLED) $(REPORT) ## Install what the HTML report and the Parquet files need.

records: $(INSTALLED) ## Install numpy and pyarrow, which the option --records needs.
	@$(PINNED) $$($(REQUIREMENTS) records)

##@ Test
check: $(DEVELOPMENT) packages-test ## Before each commit: format, lint, types, Python unit tests (minutes).
	@tools/test_ladder.py check

# Some tests wait, so there is one process more than processors.
unit: $(DEVELOPMENT) packages-test ## Run the Python unit tests.
	@$(BIN)/pytest -q -n $$(($(JOBS) + 1)) -m "not long" tests/unit

test: $(DEVELOPMENT) packages-test packages-guest ## Run all tests of CI; NOISE=5% also takes that share of each core.
	@$(LADDER) test

test-long: $(DEVELOPMENT) packages-test packages-guest packages-long ## Run test, clang-tidy, long accuracy tests, Debian 12, 13, sid.
	@$(LADDER) test test-long

hardware: $(DEVELOPMENT) packages-test packages-guest packages-long ## Run the tester in a guest with NICs, two nodes and 1 GB pages (15 minutes).
	@$(BIN)/pytest -q --durations=40 -m long tests/hardware

planted: $(DEVELOPMENT) packages-test ## Plant the defects of tests/planted; a test must catch each (minutes).
	@$(BIN)/python tools/planted.py --jobs $(JOBS)

mutants: $(DEVELOPMENT) ## Change one small thing at a time; count what no unit test notices (an hour).
	@$(BIN)/python tools/mutants.py --jobs $(JOBS)

bench: packages-test ## Measure cycles per frame against testpmd; AGAINST=NATXY-BENCH: another build.
	@cmake --preset bench >/dev/null && cmake --build --preset bench -j$(JOBS)
	@$(PYTHON) $(if $(AGAINST),tools/bench_against.py $(AGAINST),tools/bench.py)

fuzz: packages-test ## Fuzz the frame parser and the spec reader; FUZZ_SECONDS=20 each.
	@cmake --preset asan-ubsan >/dev/null
	@cmake --build --preset asan-ubsan --target fuzzers -j$(JOBS)
	@tools/fuzz $(FUZZ_SECONDS)

tidy: $(DEVELOPMENT) packages-test ## Run clang-tidy over all C++ sources (minutes).
	@cmake --preset dev >/dev/null && $(BIN)/python tools/tidy.py --jobs $(JOBS)

##@ Package
# Times of files are those of the commit, so that two builds are equal.
release deb image sdist wheel rebuild: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || stat -c %Y pyproject.toml)
wheel: .venv/.requirements ## Build a wheel for other machines, with the programs (build/dist).
	@CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) packaging/wheel

deb: wheel ## Build a Debian package of the wheel (build/dist).
	@packaging/deb

image: deb ## Build an image of the Debian package with podman (natxy; packaging/in-image runs it).
	@podman build --quiet --file packaging/Containerfile --tag natxy .

sdist: .venv/.requirements ## Build the source distribution (build/dist).
	@mkdir -p build/dist && rm -f build/dist/*.tar.gz
	@ls -sh build/dist/$$($(BIN)/python -c 'import scikit_build_core.build as b; print(b.build_sdist("build/dist"))' | tail -1)

release: wheel sdist deb ## Build all packages, with a bill of materials and checksums.
	@$(PYTHON) packaging/sbom.py build/wheel build/deb/usr/lib/natxy >build/dist/natxy.cdx.json
	@cd build/dist && rm -f SHA256SUMS && sha256sum natxy* >SHA256SUMS && cat SHA256SUMS

rebuild: wheel sdist ## Build the wheel again from the source distribution; fails if it differs.
	@CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) packaging/rebuild

##@ Maintain
format: $(DEVELOPMENT) ## Format all sources and fix what the linter can fix.
	@$(BIN)/clang-format -i $(CPP)
	@$(BIN)/ruff format -q . && $(BIN)/ruff check -q --fix .

schemas: $(DEVELOPMENT) ## Write schemas/ from the Python models.
	@$(BIN)/python -m natxy.model.schemas
	@$(BIN)/python -m natxy.report.results_schema

# mkdocs-material is kept up until May 2027; its successor reads the same mkdocs.yml.
docs docs-serve: export NO_MKDOCS_2_WARNING = 1
docs: $(DOCS) ## Build the documentation as a site (build/site/index.html).
	@$(BIN)/mkdocs build --quiet

docs-serve: $(DOCS) ## Show the documentation on http://127.0.0.1:8000 while it is edited.
	@$(BIN)/mkdocs serve --dev-addr 127.0.0.1:8000

reference: $(DEVELOPMENT) ## Write the generated pages of docs/reference.
	@$(BIN)/python tools/reference.py

man: $(INSTALLED) ## Write the man pages (build/man/natxy.1 and one for each command).
	@$(BIN)/python tools/man.py

lock: .venv/bin/pip ## Take the newest Python packages within the ranges of pyproject.toml.
	@$(BIN)/python tools/requirements.py --lock

samples: $(DEVELOPMENT) packages-test ## Measure the documentation's examples again; write their output and plots (minutes).
	@$(BIN)/python tools/samples.py

clean: ## Remove all that was built, with the journals and results under build/.
	@rm -rf build .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis

# The rungs of tools/rungs.py; each can be run by itself.
format-check: $(DEVELOPMENT)
	@$(BIN)/clang-format --dry-run -Werror $(CPP)
	@$(BIN)/ruff format --check -q .

lint: $(DEVELOPMENT)
	@$(BIN)/ruff check -q .

types: $(DEVELOPMENT)
	@$(BIN)/mypy && MYPYPATH=tools $(BIN)/mypy tools

cpp-dev-build cpp-asan-ubsan-build cpp-tsan-build: cpp-%-build: packages-test
	@cmake --preset $* >/dev/null && cmake --build --preset $* -j$(JOBS)

cpp-dev cpp-asan-ubsan cpp-tsan: cpp-%: cpp-%-build
	@ctest --preset $* -j$(JOBS)

# Uses the build tree of `make install`, because tests of time need the programs' code as delivered.
optimised-build: $(INSTALLED) packages-test
	@cmake -D NATXY_OPTIMISED_TESTS=ON build/install >/dev/null
	@cmake --build build/install --target optimised_tests -j$(JOBS)

cpp-optimised: optimised-build
	@ctest --test-dir build/install --output-on-failure --no-tests=error

# Packages are checked each time (0.1 s). They are order-only prerequisites, so that the check makes
# nothing out of date.
packages-python:
	@tools/install python
packages-demo: packages-python
	@tools/install build run
packages-test packages-guest packages-long: packages-%: packages-demo
	@tools/install $*

.venv/bin/pip: | packages-python
	@$(PYTHON) -m venv .venv

.venv/.requirements: pyproject.toml requirements.lock tools/requirements.py .venv/bin/pip | packages-demo
	@echo "Installing the Python packages"
	@$(PINNED) $$($(REQUIREMENTS) build run)
	@touch $@

$(REPORT): pyproject.toml .venv/.requirements
	@echo "Installing what the HTML report needs"
	@$(PINNED) $$($(REQUIREMENTS) report)
	@touch $@

$(INSTALLED): .venv/.requirements $(INSTALLED_FROM) | packages-demo
	@echo "Building the engine and the gateway (6 minutes on 2 cores)"
	@CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) $(PYTHON) tools/building.py flock .venv $(PIP) -vv install --no-deps --no-build-isolation \
	  --config-settings build-dir=build/install --editable .
	@touch $@

# The download of the tools runs beside the compilers.
$(DEVELOPMENT): pyproject.toml .venv/.requirements $(INSTALLED_FROM) | packages-demo
	@$(MAKE) -j2 $(INSTALLED) $(TOOLS)
	@touch $@

$(TOOLS): pyproject.toml .venv/.requirements
	@$(PINNED) --no-compile $$($(REQUIREMENTS) dev docs records report notebook distributed ssh)
	@touch $@

# The site needs neither the package nor the engine: its reference is read from the source.
$(DOCS): pyproject.toml requirements.lock .venv/bin/pip
	@$(PINNED) $$($(REQUIREMENTS) docs)
	@touch $@
