# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# One lit suite over the whole tree: the tests beside the sources (src/**/test), whole programs (tests/e2e) and the
# examples. The root is the repository, so a test's name is its path. Outside things are features; the tests they
# switch off are counted at the start of each run.

import atexit
import os
import re

import lit.formats

config.name = "tessera"
config.suffixes = [".mlir", ".test"]
config.test_source_root = config.tessera_source
config.test_exec_root = os.path.join(config.tessera_build, "lit")
config.available_features.update(config.tessera_features)

# Only these folders are searched; everything else at the root belongs to other tools.
config.excludes = {name for name in os.listdir(config.tessera_source) if name not in ("src", "tests", "examples")}
config.excludes |= {"Inputs", "conformance", "fuzz", "python", "rtl", "unit"}

path = [config.tessera_bin, config.llvm_bin, os.environ.get("PATH", "")]
config.environment["PATH"] = os.pathsep.join(path)
for name in ("HOME", "TMPDIR", "CUDA_VISIBLE_DEVICES", "OCL_ICD_VENDORS", "LD_LIBRARY_PATH"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
# Nothing a test does may read or leave behind a user's cache.
config.environment["TESSERA_CACHE_DIR"] = os.path.join(config.test_exec_root, "cache")

config.substitutions.append(("%tessera_src", config.tessera_source))
config.substitutions.append(("%tessera_build", config.tessera_build))
config.substitutions.append(("%python", config.python))


class Counted(lit.formats.ShTest):
    """ShTest that takes a file without a RUN line for what it is: an input, not a test."""

    def getTestsInDirectory(self, testSuite, path_in_suite, litConfig, localConfig):
        for test in super().getTestsInDirectory(testSuite, path_in_suite, litConfig, localConfig):
            with open(test.getSourcePath(), encoding="utf-8", errors="replace") as file:
                text = file.read()
            if not re.search(r"\bRUN:", text):
                continue
            needs = re.findall(r"\bREQUIRES:\s*(.*)", text)
            for word in sorted({w for line in needs for w in re.findall(r"[\w-]+", line)}):
                if word not in testSuite.config.available_features:
                    skipped[word] = skipped.get(word, 0) + 1
            yield test


skipped = {}
config.test_format = Counted(execute_external=False)


def report():
    for word, count in sorted(skipped.items()):
        print(f"lit: {count} test(s) SKIPPED: they need '{word}', which was not found at configure time")


lit_pid = os.getpid()
atexit.register(lambda: report() if os.getpid() == lit_pid else None)
