#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random networks with open extents: ONNX Runtime, the oracle and the installed program must agree.

usage: run.py --runner build/default/bin/tessera-networks [--count N] [--seed FIRST] [--family NAME]... [--keep FOLDER]

A seed makes one network and a few launches of it with extents of their own; further launches are damaged on purpose. Where ONNX
Runtime answers, both of ours answer the same; where it raises, both refuse. A network that is refused when it is compiled counts as
not covered, by reason. A failure is reduced and kept in FOLDER/seed<N>: model.onnx, model.txt, in<i>.npz, report.txt.
"""
import argparse
import collections
import os
import shutil
import sys
import tempfile

import cases
import reduce


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runner", required=True, help="the program tessera-networks")
    parser.add_argument("--count", type=int, default=100, help="networks; default 100")
    parser.add_argument("--full", type=int, help="networks where TESSERA_FULL is set")
    parser.add_argument("--seed", type=int, default=1, help="the first seed; default 1")
    parser.add_argument("--family", action="append", help="only operators of these families")
    parser.add_argument("--op", action="append", help="only these functions of the families")
    parser.add_argument("--keep", default="build/networks", help="where failures go; default build/networks")
    parser.add_argument("--no-reduce", action="store_true", help="keep failures as they were made")
    parser.add_argument("--reasons", action="store_true", help="list why networks were refused")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    given = parser.parse_args()
    if given.full and os.environ.get("TESSERA_FULL"):
        given.count = given.full
    return given


def main():
    given = arguments()
    scratch = tempfile.mkdtemp(prefix="tessera-networks-")
    counts, reasons, failed = collections.Counter(), collections.Counter(), []
    try:
        for case in cases.run_all(range(given.seed, given.seed + given.count), given, scratch):
            counts[case.outcome] += 1
            if case.outcome == "refused":
                reasons[case.reason] += 1
            if case.outcome == "failed":
                kept = os.path.join(given.keep, f"seed{case.seed}")
                failed.append(case.seed)
                shown = reduce.keep(case, kept, given) if not given.no_reduce else reduce.write(case, kept)
                print(f"{getattr(case, 'title', f'seed {case.seed}')}: {case.failure}\n  {shown}\n  in {kept}", flush=True)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    total = sum(counts.values())
    print(f"{total} networks: {counts['agreed']} agreed, {counts['refused']} refused when compiled, {counts['none']} not judged by ONNX Runtime, "
          f"{counts['failed']} failed; {cases.launches_judged} launches compared, {cases.errors_judged} that must be refused")
    if given.reasons:
        for reason, count in reasons.most_common():
            print(f"{count:5d}  {reason}")
    if failed:
        print("failing seeds: " + " ".join(map(str, failed)) + "; repeat one with --seed N --count 1")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
