# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# One lit suite over the whole tree: the tests beside the sources (src/**/test), whole programs (tests/e2e) and the
# examples. The root is the repository, so a test's name is its path. Outside things are features; the tests they
# switch off are counted at the end of each run. (Not named lit.cfg.py: lit would take tests/ for a second suite.)

import os
import platform
import sys

config.name = "tessera"
config.suffixes = [".mlir", ".test"]
config.test_source_root = config.tessera_source
config.test_exec_root = os.path.join(config.tessera_build, "lit")
config.available_features.update(config.tessera_features)
config.available_features.add(platform.machine())
if os.path.exists("/dev/full"):
    config.available_features.add("dev-full")
if os.path.exists("/proc/cpuinfo"):
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        words = set(file.read().split())
    # As src/tessera/targets/cpu/Figures.cpp has it: products of vectors of bf16 on AMD's processors only.
    if {"avx512_bf16", "amx_bf16"} <= words or {"avx512_bf16", "AuthenticAMD"} <= words:
        config.available_features.add("cpu-bf16")

# Only these folders are searched; everything else at the root belongs to other tools.
config.excludes = {name for name in os.listdir(config.tessera_source) if name not in ("src", "tests", "examples")}
config.excludes |= {"Inputs", "conformance", "fuzz", "python", "rtl", "unit"}

path = [config.tessera_bin, config.llvm_bin, os.environ.get("PATH", "")]
config.environment["PATH"] = os.pathsep.join(path)
for name in ("HOME", "TMPDIR", "CUDA_VISIBLE_DEVICES", "OCL_ICD_VENDORS", "LD_LIBRARY_PATH", "TESSERA_FULL"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
# Nothing a test does may read or leave behind a user's cache.
config.environment["TESSERA_CACHE"] = os.path.join(config.test_exec_root, "cache")

# Metrics in Python need NumPy.
config.environment["TESSERA_PYTHON"] = config.python

config.substitutions.append(("%tessera_src", config.tessera_source))
config.substitutions.append(("%tessera_build", config.tessera_build))
config.substitutions.append(("%tessera_lib", config.tessera_lib))
config.substitutions.append(("%python", config.python))
config.substitutions.append(("%cxx", config.cxx))
config.substitutions.append(("%cmake", config.cmake))

# lit hands the format to its worker processes, so it lives in a module of its own.
sys.path.insert(0, os.path.join(config.tessera_source, "tests"))
from lit_format import CountedTests

config.test_format = CountedTests()
