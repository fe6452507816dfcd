# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `tessera verify` finds of a tuned and installed file: each configuration's quality, loss, speed and energy beside what was claimed."""
import json
import os
import subprocess


def verify(tessera, installed, threads, *words):
    """By the configuration's name; asked once of an installed file."""
    kept = installed + ".claims.json"
    if not os.path.exists(kept) or os.path.getmtime(kept) < os.path.getmtime(installed):
        if os.path.exists(kept):
            os.remove(kept)
        done = subprocess.run([tessera, "verify", installed, "--threads", str(threads), "--json", kept, *words], capture_output=True, text=True)
        # A claim that is broken is a failure too, and is what one wants to know.
        if not os.path.exists(kept):
            raise RuntimeError("'tessera verify': " + (done.stderr.strip().splitlines() or ["no message"])[-1])
    with open(kept, encoding="utf-8") as file:
        return {c["name"]: c for c in json.load(file)["configurations"]}


def verdicts(found):
    """For a row: how many claims there are, and which do not hold."""
    all_of = [(name, figure, entry) for name, c in found.items() for figure, entry in c.items() if isinstance(entry, dict)]
    return {"claims": len(all_of), "claims_in_doubt": sum(e["verdict"] == "in doubt" for _, _, e in all_of),
            "claims_broken": [f"{figure} of {name}" for name, figure, e in all_of if e["verdict"] == "broken"]}


def summary(rows):
    """One line over the files that rows come from; several rows of a case and a configuration have the same claims."""
    own = {(r["case"].rsplit(" ", 1)[0], r.get("psnr_bound", r.get("error_bound"))): r for r in rows if "claims" in r}
    broken = [f"{case[0]}: {what}" for case, r in own.items() for what in r["claims_broken"]]
    if own:
        print(f"claims (quality, loss, speed, energy of each shipped configuration): {sum(r['claims'] for r in own.values())} verified, "
              f"{sum(r['claims_in_doubt'] for r in own.values())} in doubt, {len(broken)} broken" + (": " + ", ".join(broken) if broken else ""))
