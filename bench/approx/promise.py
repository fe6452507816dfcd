#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What would the analog accelerator PROMISE give? Tunes networks over its swing levels (`tessera tune --portable --knobs 'promise:*'`: errors are computed,
not guessed) and says what a model of the accelerator makes of the configuration with the least energy within each loss, beside this CPU in f32.

    bench/approx/promise.py [--nets fc4,lenet] [--models DIR] [--data DIR] [--losses 1,2] [--threads 2] [--json F]

All figures of PROMISE are modelled, after HPVM's simulator: 256 banks of 128x128 bytes; a bank makes products of 128 elements, one in 14 ns, and adds up in 10 ns;
30.5 to 106.5 pJ for a product, by swing level; 6 mW of leakage for each bank in use. Of the operands of a matrix product the one with more columns is held in the banks
and crosses memory once; the rows of the other cross it each time they go by, results once; an element is a byte. A transfer takes 100 ns and the time that 30 GB/s need,
during which nothing is computed, and 20 pJ for each bit. Activations and pools behind an operation are free. The CPU's time is measured, its energy as its source says.
Operations that stay exact stay on the CPU, by their share of the arithmetic.
"""
import argparse
import json
import math
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import curve
import measure
import suite

BANKS, LENGTH, SECONDS, ADDING, LEAKAGE = 256, 128, 14e-9, 10e-9, 6e-3
JOULES = {level: 1e-12 * pj for level, pj in enumerate((30.544, 31.689, 35.042, 47.218, 52.680, 80.035, 106.549), 1)}
MEMORY_LATENCY, MEMORY_RATE, MEMORY_JOULES, BANK_JOULES = 100e-9, 30e9, 8 * 20e-12, 0.1875e-12  # joules for a byte


def product(rows, depth, columns, level, held):
    """Seconds and joules of a product of matrices, rows x depth by depth x columns; the second one lies in the banks, for which `held` bytes cross memory."""
    high, wide = math.ceil(depth / LENGTH), math.ceil(columns / LENGTH)  # banks for one column; blocks of columns
    at_once = min(wide, BANKS // high)
    passes = math.ceil(wide / at_once)
    abreast = min(rows, max(1, BANKS // (high * wide)))  # rows that have copies of the second operand to themselves
    turns = passes * math.ceil(rows / abreast)
    seconds = turns * (min(columns, LENGTH) * SECONDS + ADDING)
    moved = held + passes * rows * depth + rows * columns
    seconds += (passes + passes * rows + turns) * MEMORY_LATENCY + moved / MEMORY_RATE
    joules = rows * high * wide * min(columns, LENGTH) * JOULES[level] + moved * MEMORY_JOULES + held * BANK_JOULES
    return seconds, joules + seconds * high * at_once * abreast * LEAKAGE


def operation(op, level, batch):
    """Seconds and joules of an operation of a curve on a batch."""
    sizes = [[int(e) for e in text.split("x") if e.isdigit()] for text in re.findall(r"tensor<([^>]*)xf32>", op["shape"])]
    x, w = math.prod(sizes[0]), math.prod(sizes[1])
    is_product = op["kind"] == "matmul"
    depth = sizes[1][1 if "transpose_b" in op["shape"] else 0] if is_product else w // sizes[1][0]
    groups = int(re.search(r"groups=(\d+)|$", op["shape"]).group(1) or 1)
    rows, columns = round(batch * op["flops"] / 2 / w) * groups, w // depth // groups
    # What has more columns is held; the activations are, turned round, of most convolutions.
    return product(columns, depth, rows, level, batch * x) if rows > columns else product(rows, depth, columns, level, w)


def judge(found, configuration, cpu_seconds, cpu_joules, batch):
    """How many times faster than the CPU, and with how many times less energy."""
    total = sum(op["flops"] for op in found["operations"]) or 1
    left, seconds, joules = 1.0, 0.0, 0.0
    for op in found["operations"]:
        knob = configuration["knobs"].get(op["name"], "")
        if knob.startswith("promise:"):
            s, j = operation(op, int(knob.split(":")[1]), batch)
            left, seconds, joules = left - op["flops"] / total, seconds + s, joules + j
    return cpu_seconds / (left * cpu_seconds + seconds), cpu_joules / (left * cpu_joules + joules)


def conclude(rows, bound, words, what, path):
    """Prints the means for each value of the field `bound`, and records the rows where a file is named."""
    for value in dict.fromkeys(r[bound] for r in rows):
        own = [r for r in rows if r[bound] == value]
        print(f"{words.format(value)}: {measure.geometric_mean([r['speed'] for r in own]):.2f} times the speed, "
              f"{measure.geometric_mean([r['energy'] for r in own]):.2f} times less energy over {len(own)} {what}, modelled")
    if path:
        measure.record(path, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    suite.add_options(parser)
    parser.set_defaults(losses="1,2")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--build", default=os.path.join(os.path.dirname(os.path.dirname(HERE)), "build", "default"))
    parser.add_argument("--json", help="record the rows in this file; those of other cases stay")
    options = parser.parse_args()
    threads, options.threads = options.threads, [options.threads]
    run, rows = suite.Run(options), []
    for net in run.nets if options.nets else suite.NETS:
        tuned = run.tune(net, run.model(net), "promise", ["--portable", "--knobs", "promise:*"])
        exact = run.install(run.path(net, "f32.tsx"), tuned, "--mode", "strict")
        cpu = json.loads(run.call("bench", exact, "--batch", str(suite.BATCH), "--threads", str(threads), "--seconds", "1", "--json", "-"))
        found = curve.read(run.tessera, tuned)
        for loss in options.losses.split(","):
            within = [c for c in found["configurations"] if not c["knobs"] or c["measured"]["loss_hi"] <= float(loss)]
            judged = [(*judge(found, c, cpu["best_ms"] / 1e3, cpu["joules"], suite.BATCH), c) for c in within]
            speed, energy, chosen = max(judged, key=lambda j: j[1])
            rows.append({"suite": "promise", "case": f"{net} loss {loss}", "config": f"batch {suite.BATCH}, {threads} threads", "peer": "tessera-f32",
                         "speed": speed, "energy": energy, "source": "modelled", "cpu_energy_source": cpu["energy_source"],
                         "cpu_ms": cpu["best_ms"], "cpu_energy_j": cpu["joules"], "loss": float(loss), "measured_loss": chosen["measured"]["loss"],
                         "loss_hi": chosen["measured"]["loss_hi"], "validated_on": chosen["measured"]["n"], "configuration": chosen["name"], "knobs": chosen["knobs"]})
            print(f"{net}, at most {loss} points: {speed:.2f} times the speed, {energy:.2f} times less energy (modelled), {chosen['measured']['loss']:.2f} lost", flush=True)
    conclude(rows, "loss", "at most {:g} points", "networks", options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
