# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: basis.py REPORT.html: fails where times of a tuned program contradict each other."""
import json
import sys

text = open(sys.argv[1], encoding="utf-8").read()
start = text.index("const curve=") + len("const curve=")
curve, _ = json.JSONDecoder().raw_decode(text[start:].replace("<\\/", "</"))
exact = curve["configurations"][0]["installed"]
for c in curve["configurations"]:
    if "installed" in c:
        own = c["installed"]
        assert abs(own["time_us"] * own["speedup"] - exact["time_us"]) < 1e-6 * exact["time_us"], c["name"]
        assert own["threads"] == exact["threads"], c["name"]
        assert 0 < sum(own["shares"].values()) <= 1.000001, c["name"]
