#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does a promise of quality hold? Takes tuned networks, asks each configuration of their curves once for its answers on all test images, and then plays
`install --loss` many times: each time with a goal of its own and a split of its own, the configuration is chosen on one part and judged on the other.

    bench/approx/goals.py tuned.tsr=cifar10:DIR … [--goals 200] [--confidence 0.95] [--skip N] [--json F]

A goal is broken when the paired loss on the part that the choice did not see is above it. What is printed is how often, and how much of the goals
was spent. Answers are kept beside the tuned file and made once. --skip 5000 leaves the images out that the suite approx tunes on; what is left is split.
"""
import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import curve
import measure


def read_flags(path):
    """The elements of a .npy file of bytes."""
    with open(path, "rb") as file:
        data = file.read()
    length = int.from_bytes(data[8:10], "little")
    return data[10 + length:]


def call(tessera, *words):
    done = subprocess.run([tessera, *words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"error: 'tessera {words[0]} {words[1]}': " + (done.stderr.strip().splitlines() or ["no message"])[-1])
    return done.stdout


def answers(tessera, tuned, data):
    """For each configuration its cost and, for each image, whether the answer is right."""
    folder = tuned + ".answers"
    os.makedirs(folder, exist_ok=True)
    installed = os.path.join(folder, "all.tsx")
    found_curve = curve.read(tessera, tuned)
    found = []
    for configuration in found_curve["configurations"]:
        name = configuration["name"]
        path = os.path.join(folder, name + ".npy")
        if not os.path.exists(path):
            knobs = os.path.join(folder, "knobs.json")
            with open(knobs, "w", encoding="utf-8") as file:
                json.dump(configuration["knobs"], file)
            call(tessera, "install", tuned, "-o", installed, *(["--knobs", knobs] if configuration["knobs"] else []))
            call(tessera, "eval", installed, "--data", data, "--batch", "16", "--correct", path)
        found.append((configuration["predicted"]["cost"], read_flags(path)))
    return found


def upper_bound(lost, won, count, z):
    """As `install` counts on it: src/tessera/tune/metrics/Statistics.h, PairedLoss::upperBound."""
    n, b, c = count + 2, lost + 0.5, won + 0.5
    return (b - c) / n + z * math.sqrt(max(0.0, b + c - (b - c) ** 2 / n)) / n


def play(networks, goals, confidence, seed, skip):
    """One row for each goal."""
    draw, z, rows = random.Random(seed), statistics.NormalDist().inv_cdf(confidence), []
    for _ in range(goals):
        name, configurations = draw.choice(networks)
        goal = draw.uniform(0.3, 3.0)
        exact = configurations[0][1]
        order = list(range(skip, len(exact)))
        draw.shuffle(order)
        parts = order[: len(order) // 2], order[len(order) // 2:]

        def paired(flags, part):
            lost = sum(exact[i] > flags[i] for i in part)
            won = sum(exact[i] < flags[i] for i in part)
            return lost, won

        kept = [(cost, flags) for cost, flags in configurations
                if flags is exact or 100 * upper_bound(*paired(flags, parts[0]), len(parts[0]), z) <= goal]
        cost, flags = min(kept, key=lambda c: c[0])
        lost, won = paired(flags, parts[1])
        rows.append({"network": name, "goal": goal, "cost": cost, "loss": 100 * (lost - won) / len(parts[1])})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="+", metavar="tuned.tsr=DATA")
    parser.add_argument("--goals", type=int, default=200)
    parser.add_argument("--confidence", type=float, default=0.95)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--skip", type=int, default=0, help="leave out the first N images")
    parser.add_argument("--build", default=os.path.join(os.path.dirname(os.path.dirname(HERE)), "build", "default"))
    parser.add_argument("--json", help="write the goals to this file")
    options = parser.parse_args()
    tessera = os.path.join(options.build, "bin", "tessera")
    networks = []
    for item in options.networks:
        tuned, data = item.split("=", 1)
        networks.append((os.path.basename(tuned), answers(tessera, tuned, data)))
    rows = play(networks, options.goals, options.confidence, options.seed, options.skip)
    broken = [r for r in rows if r["loss"] > r["goal"]]
    print(f"{len(broken)} of {len(rows)} goals broken ({100 * len(broken) / len(rows):.1f} %); "
          f"of a goal of {statistics.mean(r['goal'] for r in rows):.2f} points {statistics.mean(r['loss'] for r in rows):.2f} were spent, "
          f"mean cost {statistics.mean(r['cost'] for r in rows):.3f} of exact")
    for row in broken:
        print(f"  {row['network']}: goal {row['goal']:.2f}, lost {row['loss']:.2f}")
    if options.json:
        measure.write_json(options.json, {"machine": measure.machine(), "goals": len(rows), "broken": len(broken), "confidence": options.confidence, "seed": options.seed,
                                          "skip": options.skip, "rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
