#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What does it cost to tune without the machine? Tunes networks by arithmetic alone (`tessera tune --portable`) and by times measured here, installs both
for the same loss, where installation measures what tuning proposed, and compares the times of what is chosen, in turns.

    bench/approx/portable.py [--nets fc4,lenet] [--models DIR] [--data DIR] [--loss 1] [--threads 2] [--rounds 20] [--json F]

A ratio of 0.95 says that the configuration found without the machine takes 1 / 0.95 of the other one's time. Tuned files are those of the suite approx
(`bench/run.py approx`) or are made, and kept beside them.
"""
import argparse
import json
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import measure
import suite


def measure_times(run, files, rounds, threads):
    """The times of each file's chosen configuration in milliseconds, the best of each round, measured in turns."""
    times = {name: [] for name in files}
    for _ in range(rounds):
        for name, path in files.items():
            answer = json.loads(run.call("bench", path, "--batch", str(suite.BATCH), "--threads", str(threads), "--seconds", "0.2", "--json", "-"))
            times[name].append(answer["best_ms"])
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    suite.add_options(parser)
    parser.add_argument("--loss", default="1")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--build", default=os.path.join(os.path.dirname(os.path.dirname(HERE)), "build", "default"))
    parser.add_argument("--json", help="record the rows in this file; those of other cases stay")
    options = parser.parse_args()
    threads, options.threads = options.threads, [options.threads]
    run = suite.Run(options)
    ratios, rows = [], []
    for net in run.nets if options.nets else suite.NETS:
        model = run.model(net)
        files = {}
        for kind, tuned in (("here", run.tune(net, model)), ("portable", run.tune(net, model, "portable", ["--portable"]))):
            files[kind] = run.install(run.path(net, f"{kind}-{options.loss}.tsx"), tuned, "--loss", options.loss)
        times = measure_times(run, files, options.rounds, threads)
        best = {kind: 1000 * min(times[kind]) for kind in files}
        ratios.append(best["here"] / best["portable"])
        print(f"{net}: {best['here']:.1f} us tuned here, {best['portable']:.1f} us tuned by arithmetic: {ratios[-1]:.3f}", flush=True)
        rows.append(measure.row("portable", {"case": f"{net} loss {options.loss}", "config": f"batch {suite.BATCH}, {threads} threads", "peer": "tuned-here",
                                             "ours": times["portable"], "peer_times": times["here"]}))
    print(f"geometric mean {statistics.geometric_mean(ratios):.3f}, worst {min(ratios):.3f}")
    if options.json:
        measure.record(options.json, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
