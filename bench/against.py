#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures two builds of Tessera against each other: what a change has cost or gained.

usage: bench/against.py OTHER_BUILD SUITE [--times N] [--json F] [options of the suite and of bench/run.py]

Runs the suite with this build and with the other one by turns, N times each, and compares our own times: a ratio above 1 says
that this build is the faster one. OTHER_BUILD is the build folder of another checkout, in which the same targets were built.
"""
import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import measure
import suites


def parse():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][7:], description=__doc__.split("\n\n")[0])
    parser.add_argument("other")
    suite = suites.add_options(parser)
    parser.add_argument("--times", type=int, default=3, help="how often each build runs the suite")
    parser.add_argument("--name", default="other", help="what to call the other build in the rows")
    options = parser.parse_args()
    suites.check(options)
    options.other = os.path.abspath(options.other)
    return suite, options


def collect(suite, options):
    """(case, config) → a list of times a round for each of the two builds, and their best."""
    builds, found, failures = (options.build, options.other), {}, []
    for turn in range(options.times):
        for index in (0, 1) if turn % 2 == 0 else (1, 0):
            options.build = builds[index]
            reports, failed = suite.reports(options)
            failures += [f"{builds[index]}: {failure}" for failure in failed]
            for report in {(r["case"], r["config"]): r for r in reports}.values():
                sides = found.setdefault((report["case"], report["config"]), ([], []))
                sides[index].append((report["ours"], report.get("ours_best", min(report["ours"]))))
    options.build = builds[0]
    return found, failures


def main():
    suite, options = parse()
    found, failures = collect(suite, options)
    rows = []
    for (case, config), sides in found.items():
        if not all(sides):
            failures.append(f"{case}, {config}: one of the builds gave no times")
            continue
        times = [[time for rounds, _ in side for time in rounds] for side in sides]
        best = [min(best for _, best in side) for side in sides]
        rows.append(measure.row(options.suite, {"case": case, "config": config, "peer": f"build {options.name}", "ours": times[0],
                                                "peer_times": times[1], "ours_best": best[0], "peer_best": best[1]}))
    if not rows:
        sys.exit("error: nothing was measured; " + ("; ".join(failures) or "no case matches"))
    measure.print_table(rows)
    for failure in failures:
        print(f"not measured: {failure}")
    if options.json:
        measure.record(options.json, rows)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
