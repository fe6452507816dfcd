# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# lit's shell tests, with two habits of ours: a file without a RUN line is an input, not a test, and tests that are
# skipped because something is not installed are counted aloud, by what they miss.

import atexit
import os
import re

import lit.formats

skipped = {}
main_process = os.getpid()


def report():
    if os.getpid() != main_process:
        return
    for word, count in sorted(skipped.items()):
        print(f"lit: {count} test(s) SKIPPED: they need '{word}', which was not found at configure time")


atexit.register(report)


class CountedTests(lit.formats.ShTest):
    def __init__(self):
        super().__init__(execute_external=False)

    def getTestsInDirectory(self, testSuite, path_in_suite, litConfig, localConfig):
        for test in super().getTestsInDirectory(testSuite, path_in_suite, litConfig, localConfig):
            with open(test.getSourcePath(), encoding="utf-8", errors="replace") as file:
                text = file.read()
            if not re.search(r"\bRUN:", text):
                continue
            needs = re.findall(r"\bREQUIRES:\s*(.*)", text)
            for word in {w for line in needs for w in re.findall(r"[\w-]+", line)}:
                if word not in localConfig.available_features:
                    skipped[word] = skipped.get(word, 0) + 1
            yield test
