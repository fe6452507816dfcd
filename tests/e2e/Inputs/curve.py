# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: curve.py REPORT.html…: the curves in pages of `tessera report`. One page: prints what of the curve does not depend on the clock; two: they must
have the same operations and configurations."""
import json
import sys


def curve(path):
    text = open(path).read()
    start = text.index("const curve=") + len("const curve=")
    found, _ = json.JSONDecoder().raw_decode(text[start:].replace("<\\/", "</"))
    return {"operations": found["operations"], "configurations": found["configurations"], "baseline": found["baseline"]}


curves = [curve(path) for path in sys.argv[1:]]
if len(curves) == 2 and curves[0] != curves[1]:
    sys.exit("the curves differ")
for c in curves[0]["configurations"]:
    print(c["name"], " ".join(f"{op}={knob}" for op, knob in c["knobs"].items()), "shipped" if c["shipped"] else "")
