#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures a suite: us and our peers side by side.

usage: bench/run.py SUITE [--json F] [--rounds N] [--threads 1,2] [--only WORD] [--build DIR] [options of the suite: bench/run.py SUITE --help]

Prints a table and the geometric mean of its ratios (above 1: we are ahead). Rows go to F, and with the machine's description to
bench/results/<date>-<host>.json, unless --only left some out (--nets records its networks and keeps the rows of the others). Build the programs first: make bench, or the CMake target bench_<suite>.
"""
import argparse
import datetime
import json
import os
import platform
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import measure
import suites


def results_path(date):
    """The day's file of this machine; another machine of the same name has one of its own."""
    number = 1
    while True:
        path = os.path.join(HERE, "results", f"{date}-{platform.node()}{f'-{number}' if number > 1 else ''}.json")
        if not os.path.exists(path):
            return path
        with open(path) as f:
            if json.load(f)["machine"]["cpu"] == measure.machine()["cpu"]:
                return path
        number += 1


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][7:], description=__doc__.split("\n\n")[0])
    suite = suites.add_options(parser)
    options = parser.parse_args()
    suites.check(options)

    reports, failures = suite.reports(options)
    rows = [measure.row(options.suite, r) for r in reports]
    if not rows:
        sys.exit("error: nothing was measured; " + ("; ".join(failures) or "no case matches"))
    measure.print_table(rows)
    if hasattr(suite, "summary"):
        suite.summary(rows)
    for failure in failures:
        print(f"not measured: {failure}")
    if options.json:
        measure.write_json(options.json, rows)
    left_out = (options.only, *(getattr(options, name, None) for name in ("quick", "peers", "keep", "builds")))
    part = any(left_out) or getattr(options, "clock", "wall") != "wall" or getattr(options, "batches", "1,16") != "1,16" or options.threads != [1, 2]
    if part:  # part of a suite is for looking at, not for the record
        return 1 if failures else 0
    path = results_path(datetime.date.today().isoformat())
    if getattr(options, "cpu", ""):  # beside the machine's own rows
        measure.record(path, rows)
        return 1 if failures else 0
    # Several suites of one day share a file; a suite measured again replaces its rows. Networks may be measured a few
    # at a time: then the rows of the others stay.
    old, cases = [], {r["case"] for r in rows}
    if os.path.exists(path):
        with open(path) as f:
            old = [r for r in json.load(f)["rows"]
                   if r["suite"] != options.suite or (getattr(options, "nets", "") and r["case"] not in cases)]
    measure.write_json(path, {"machine": measure.machine(), "rows": old + rows})
    return 1 if failures else 0


sys.exit(main())
