# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: claims.py FILE.json holds|same: no claim of the file that `tessera verify` wrote is broken; with "same", qualities and losses
are found exactly as they were claimed."""
import json
import sys

claims = json.load(open(sys.argv[1]))
assert len(claims["configurations"]) > 1, "nothing but the exact program was verified"
for configuration in claims["configurations"]:
    for figure in ("quality", "loss", "speedup", "energy"):
        entry = configuration[figure]
        assert entry["verdict"] == "holds", (configuration["name"], figure, entry)
        for value in (entry["claimed"], entry["found"]):
            assert value["lo"] <= value["value"] <= value["hi"], (configuration["name"], figure, value)
        if sys.argv[2] == "same" and figure in ("quality", "loss"):
            for end in ("value", "lo", "hi"):
                assert abs(entry["claimed"][end] - entry["found"][end]) < 1e-6, (configuration["name"], figure, entry)
