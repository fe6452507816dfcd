# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is missing is said aloud at the end of a run: an optional part that is not installed skips its tests."""
import importlib.util

import pytest

OPTIONAL = {"torch": "PyTorch", "keras": "Keras 3", "onnx": "the onnx package", "tflite2onnx": "the converter tflite2onnx"}


def pytest_configure(config):
    for name in OPTIONAL:
        config.addinivalue_line("markers", f"{name}: needs {OPTIONAL[name]}")


def pytest_collection_modifyitems(config, items):
    counts = config.stash.setdefault(SKIPPED, {})
    for item in items:
        for name, words in OPTIONAL.items():
            if item.get_closest_marker(name) and importlib.util.find_spec(name) is None:
                item.add_marker(pytest.mark.skip(reason=f"{words} is not installed"))
                counts[words] = counts.get(words, 0) + 1


def pytest_terminal_summary(terminalreporter, config):
    for words, count in sorted(config.stash.get(SKIPPED, {}).items()):
        terminalreporter.write_line(f"{count} test(s) SKIPPED: {words} is not installed")


SKIPPED = pytest.StashKey[dict]()
