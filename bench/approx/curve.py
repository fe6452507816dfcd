# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The trade-off curve of a tuned file (docs/formats.md), by way of the page that `tessera report` writes."""
import json
import os
import subprocess
import tempfile


def read(tessera, path):
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, "page.html")
        done = subprocess.run([tessera, "report", path, "-o", page], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        with open(page, encoding="utf-8") as file:
            text = file.read()
    begin = text.index("const curve=") + len("const curve=")
    return json.JSONDecoder().raw_decode(text[begin:])[0]


def chosen(curve, loss):
    """Of the shipped configurations the fastest that `install --loss` would take: they are ordered by loss, and each is faster than those before."""
    within = [c for c in curve["configurations"] if c["shipped"] and (not c["knobs"] or c["measured"]["loss_hi"] <= loss)]
    return max(within, key=lambda c: c["installed"]["speedup"])
