# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The one way we measure: us and a peer in alternating rounds, summarised alike for every suite.

A driver does the rounds, in one process, and reports all times; this module turns them into rows
{suite, case, config, peer, ours_ms, peer_ms, ratio} with ratio = peer_ms / ours_ms, so above 1 we are ahead. The times of a row
are the best of all rounds, which other load on the machine disturbs least; the medians and an interval for the ratio stand beside them.
"""
import datetime
import json
import math
import os
import platform
import random
import subprocess
import sys


def median(values):
    ordered = sorted(values)
    n = len(ordered)
    return ordered[n // 2] if n % 2 else (ordered[n // 2 - 1] + ordered[n // 2]) / 2


def interval(ours, peer, repeats=400):
    """The middle 95 % of the ratio of medians when rounds are drawn again; rounds are drawn as pairs."""
    draw = random.Random(1)
    n = min(len(ours), len(peer))
    ratios = []
    for _ in range(repeats):
        picks = [draw.randrange(n) for _ in range(n)]
        ratios.append(median([peer[i] for i in picks]) / median([ours[i] for i in picks]))
    ratios.sort()
    return ratios[int(0.025 * repeats)], ratios[int(0.975 * repeats) - 1]


def row(suite, report):
    """A row from what a driver printed: case, config, peer, and the lists ours and peer_times in milliseconds, one time a round.
    A round of many runs gives its median there, and the best of all runs as ours_best and peer_best. `more` is added to the row."""
    ours, peer = report["ours"], report["peer_times"]
    ours_best, peer_best = report.get("ours_best", min(ours)), report.get("peer_best", min(peer))
    low, high = interval(ours, peer)
    result = {
        "suite": suite,
        "case": report["case"],
        "config": report["config"],
        "peer": report["peer"],
        "ours_ms": ours_best,
        "peer_ms": peer_best,
        "ratio": peer_best / ours_best,
        "ours_median_ms": median(ours),
        "peer_median_ms": median(peer),
        "ratio_low": low,
        "ratio_high": high,
        "rounds": len(ours),
    }
    if "note" in report:
        result["note"] = report["note"]
    return {**result, **report.get("more", {})}


def words(text, all_of):
    """What an option with words separated by commas chose: all of them when it is empty."""
    chosen = [w for w in text.split(",") if w] or list(all_of)
    for word in chosen:
        if word not in all_of:
            sys.exit(f"error: unknown '{word}'; there are: {', '.join(all_of)}")
    return chosen


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def run_driver(command, timeout=600, env=None):
    """The reports that a driver printed, one JSON object a line. A failure is shown and gives none."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env={**os.environ, **(env or {})})
    except subprocess.TimeoutExpired:
        print(f"error: '{' '.join(command)}' did not end in {timeout} s", file=sys.stderr)
        return []
    if done.returncode:
        print(f"error: '{' '.join(command)}' failed with status {done.returncode}: {done.stderr.strip()}", file=sys.stderr)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def print_table(rows, out=sys.stdout):
    head = ("case", "config", "peer", "ours ms", "peer ms", "ratio", "95 % interval")
    lines = [
        (r["case"], r["config"], r["peer"], f"{r['ours_ms']:.4g}", f"{r['peer_ms']:.4g}", f"{r['ratio']:.2f}",
         f"{r['ratio_low']:.2f} – {r['ratio_high']:.2f}")
        for r in rows
    ]
    widths = [max(len(line[i]) for line in [head, *lines]) for i in range(len(head))]
    for line in [head, tuple("-" * w for w in widths), *lines]:
        cells = [c.ljust(w) if i < 3 else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths))]
        print("  ".join(cells).rstrip(), file=out)
    print("\ngeometric mean of the ratios (above 1: we are ahead)", file=out)
    # Peers of different kinds are not averaged: a large lead over one would hide a loss against another.
    for family in dict.fromkeys(r["peer"].split()[0] for r in rows):
        ratios = [r["ratio"] for r in rows if r["peer"].split()[0] == family]
        print(f"  {family}: {geometric_mean(ratios):.3f} over {len(ratios)} rows, worst {min(ratios):.2f}", file=out)


def cpu_name():
    try:
        with open("/proc/cpuinfo") as f:
            for line in f:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def machine():
    try:
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    except OSError:
        commit = ""
    return {
        "cpu": cpu_name(),
        "threads": len(os.sched_getaffinity(0)),
        "host": platform.node(),
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "commit": commit,
    }


def write_json(path, value):
    """Beside, then renamed: a reader never sees half a file."""
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path + ".part", "w") as f:
        json.dump(value, f, indent=1)
        f.write("\n")
    os.replace(path + ".part", path)


def record(path, rows):
    """Puts rows into a file of results, with the machine's description. They replace those of the same suite, case, config and peer; the others stay."""
    key = lambda r: (r["suite"], r["case"], r["config"], r["peer"])
    new, old = {key(r) for r in rows}, []
    if os.path.exists(path):
        with open(path) as f:
            old = [r for r in json.load(f)["rows"] if key(r) not in new]
    write_json(path, {"machine": machine(), "rows": old + rows})
