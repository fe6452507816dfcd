#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What would the analog accelerator PROMISE give? Tunes networks over its swing levels (`tessera tune --portable --knobs 'promise:*'`: errors are computed,
not guessed) and says what a model of the accelerator makes of the configuration with the least energy within each loss, beside this CPU in f32.

    bench/approx/promise.py [--nets fc4,lenet] [--models DIR] [--data DIR] [--losses 1,2] [--threads 2] [--json F]

All figures of PROMISE are modelled: 256 banks that each finish a product of 128 elements in 14 ns and 10 ns to add up; 30.5 to 106.5 pJ for one by swing level;
leakage of 6 mW for each bank; 20 pJ for each bit of weights and results that crosses memory. The CPU's time is measured, its energy as its source says.
Operations that stay exact stay on the CPU, by their share of the arithmetic.
"""
import argparse
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import curve
import measure
import suite

BANKS, LENGTH, SECONDS, ADDING, LEAKAGE = 256, 128, 14e-9, 10e-9, 6e-3
JOULES = {level: 1e-12 * pj for level, pj in enumerate((30.544, 31.689, 35.042, 47.218, 52.680, 80.035, 106.549), 1)}
JOULES_PER_BYTE = 8 * 20e-12


def accelerator(flops, level, batch, moved):
    """Seconds and joules of one operation on a batch; `moved`: bytes between memory and the banks."""
    products = flops / 2 / LENGTH * batch
    seconds = products / BANKS * SECONDS + ADDING
    return seconds, products * JOULES[level] + seconds * BANKS * LEAKAGE + moved * JOULES_PER_BYTE


def elements(shape):
    """Of one sample's result: '?x64x32x32' or the like at the beginning of the operation's description."""
    sizes = [int(e) for e in shape.split()[0].split("x")[1:] if e.isdigit()]
    count = 1
    for size in sizes:
        count *= size
    return count


def judge(found, configuration, cpu_seconds, cpu_joules, batch):
    total = sum(op["flops"] for op in found["operations"]) or 1
    left, seconds, joules = 1.0, 0.0, 0.0
    for op in found["operations"]:
        knob = configuration["knobs"].get(op["name"], "")
        if knob.startswith("promise:"):
            s, j = accelerator(op["flops"], int(knob.split(":")[1]), batch, batch * elements(op["shape"]))
            left, seconds, joules = left - op["flops"] / total, seconds + s, joules + j
    return cpu_seconds / (left * cpu_seconds + seconds), cpu_joules / (left * cpu_joules + joules)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    suite.add_options(parser)
    parser.set_defaults(losses="1,2")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--build", default=os.path.join(os.path.dirname(os.path.dirname(HERE)), "build", "default"))
    parser.add_argument("--json", help="write the rows to this file")
    options = parser.parse_args()
    threads, options.threads = options.threads, [options.threads]
    run, rows = suite.Run(options), []
    for net in options.nets.split(",") if options.nets else suite.NETS:
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
                         "measured_loss": chosen["measured"]["loss"], "configuration": chosen["name"]})
            print(f"{net}, at most {loss} points: {speed:.2f} times the speed, {energy:.2f} times less energy (modelled), {chosen['measured']['loss']:.2f} lost", flush=True)
    for loss in options.losses.split(","):
        own = [r for r in rows if r["case"].endswith("loss " + loss)]
        print(f"at most {loss} points: {measure.geometric_mean([r['speed'] for r in own]):.2f} times the speed, "
              f"{measure.geometric_mean([r['energy'] for r in own]):.2f} times less energy over {len(own)} networks, modelled")
    if options.json:
        measure.write_json(options.json, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
