# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The front door. Every goal first installs missing packages (scripts/bootstrap), then calls the CMake presets; daily
# work may use the presets directly.
.PHONY: help bootstrap build demo test test-full bench check sanitizers clean
.NOTPARALLEL:

JOBS ?= $(shell nproc)
# ccache may share the precompiled header, whose time stamp is left out of it.
export CCACHE_SLOPPINESS = pch_defines,time_macros

help:
	@echo "make build      install what is missing and build"
	@echo "make demo       compile a network, check its accuracy; find the edges in a photograph; spend two points of accuracy"
	@echo "make test       all tests, reduced counts (about 25 minutes from nothing on two cores)"
	@echo "make test-full  all tests, full counts"
	@echo "make bench      measure against hand-written OpenMP and oneTBB, ONNX Runtime, OpenVINO, …"
	@echo "make clean      remove build/"

bootstrap:
	@scripts/bootstrap

build/%/build.ninja: CMakePresets.json
	cmake --preset $*

build: bootstrap build/default/build.ninja
	cmake --build --preset default -j $(JOBS)

demo: build
	@scripts/demo

check:
	@if [ -x scripts/check ]; then scripts/check; fi

# The half without LLVM under the sanitizers.
sanitizers: build/asan/build.ninja build/tsan/build.ninja
	cmake --build --preset asan -j $(JOBS)
	ctest --preset asan
	cmake --build --preset tsan -j $(JOBS)
	ctest --preset tsan

test: build
	ctest --preset default
	@$(MAKE) --no-print-directory check sanitizers

test-full: export TESSERA_FULL = 1
test-full: test

bench: build
	cmake --build --preset default -j $(JOBS) --target bench_core
	python3 bench/run.py core
	@if python3 bench/onnx-cpu/environment.py; then python3 bench/run.py onnx-cpu; \
	 else echo "bench: onnx-cpu SKIPPED: its peers do not install here"; fi

clean:
	rm -rf build
