#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does the controller hold its goal on a machine that is taken away? Runs `tessera eval --goal` on a tuned program while a trace of quotas and of
competing load is replayed, and says for each part of the trace how many batches were in time and what accuracy they lost.

    bench/approx/throttle.py net.tsx --data cifar10:DIR [--deadline 12] --trace 0:2,4:1 [--load 0:0,4:2] [--threads 2] [--batch 16] [--json F]

A trace is SECONDS:VALUE,…: processors that the program may use (a control group's quota, of version 1 or 2; needs the right to make one), and
processes that compete with it. The quota's period is a fifth of the fastest configuration's batch at the trace's smallest quota, so that a batch feels
the share and not the gaps; where a fifth is less than the kernel handles well, batches are doubled. The data is repeated until --after seconds have
passed since the last change.

The default deadline is one that the exact program keeps on the whole machine and misses on the trace's smallest part of it, while the fastest
configuration keeps it there: the geometric mean of what the two need there, the fastest with 30 % to spare for the gaps; and at least 1.3 times the
exact program's time on the whole machine.

Losses are those of the part's own samples against the exact program's answers to the same samples, in points, and the mean of what the curve says.
"""
import argparse
import datetime
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import numpy

import curve

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import measure

SETTLE = 1.0  # seconds after a change that do not count
LEAST_PERIOD = 1000  # microseconds, the kernel's, for the quota too
GOOD_PERIOD = 4000  # below, a group may get half of its share (seen with 2 ms, one thread and one processor)


class Group:
    """A control group of our own with a quota of processor time."""

    def __init__(self, period):
        self.period = max(LEAST_PERIOD, int(period))
        first, second = pathlib.Path("/sys/fs/cgroup/cpu"), pathlib.Path("/sys/fs/cgroup")
        self.second = not (first / "cpu.cfs_period_us").exists()
        self.folder = (second if self.second else first) / f"tessera-throttle-{os.getpid()}"
        if self.second and "cpu" not in (second / "cgroup.subtree_control").read_text().split():
            (second / "cgroup.subtree_control").write_text("+cpu")
        self.folder.mkdir()

    def allow(self, processors):
        quota = int(processors * self.period)
        if self.second:
            (self.folder / "cpu.max").write_text(f"{quota} {self.period}")
        else:
            (self.folder / "cpu.cfs_period_us").write_text(str(self.period))
            (self.folder / "cpu.cfs_quota_us").write_text(str(quota))

    def add(self, process):
        (self.folder / "cgroup.procs").write_text(str(process))

    def remove(self):
        # A group that has just lost its last process may be busy for a moment.
        for _ in range(50):
            try:
                self.folder.rmdir()
                return
            except OSError:
                time.sleep(0.02)


class Load:
    """Processes that do nothing but run."""

    def __init__(self):
        self.processes = []

    def set(self, count):
        while len(self.processes) < count:
            self.processes.append(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
        while len(self.processes) > count:
            process = self.processes.pop()
            process.kill()
            process.wait()


def parse_trace(text, kind):
    points = sorted((float(a), kind(b)) for a, b in (item.split(":") for item in text.split(",")))
    if not points or points[0][0] != 0:
        sys.exit(f"the trace '{text}' does not begin at 0 seconds")
    return points


def new_lines(file, rest):
    """Whole lines that have been written since the last call."""
    text = rest[0] + file.read()
    *lines, rest[0] = text.split("\n")
    return [json.loads(line) for line in lines if line]


def choose_deadline(exact, fastest, share):
    """Milliseconds, from what two configurations take on the whole machine."""
    return max(math.sqrt(1.3 * fastest / share * exact / share), 1.3 * exact)


def judge(batches, changes, options, losses, answers):
    """Batches of each part of the trace, without the first second after its beginning. `answers`: of the run and of the exact program, sample by sample."""
    ours, exact = answers
    exact = exact[:len(exact) // options.batch * options.batch]  # eval repeats whole batches
    parts = []
    for i, (start, what) in enumerate(changes):
        end = changes[i + 1][0] if i + 1 < len(changes) else float("inf")
        own = [b for b in batches if start + SETTLE <= b["at"] < end]
        part = {"from_s": start, **what, "batches": len(own)}
        parts.append(part)
        if not own:
            continue
        ms = sorted(b["ms"] for b in own)
        samples = numpy.concatenate([numpy.arange(b["batch"] * options.batch, (b["batch"] + 1) * options.batch) for b in own])
        used = {}
        for batch in own:
            used[batch["configuration"]] = used.get(batch["configuration"], 0) + 1
        part.update(within=sum(t <= options.deadline for t in ms) / len(ms), median_ms=ms[len(ms) // 2], p95_ms=ms[int(0.95 * (len(ms) - 1))],
                    loss=100 * float(numpy.mean(exact[samples % len(exact)].astype(int) - ours[samples].astype(int))),
                    loss_by_curve=sum(losses[name] * n for name, n in used.items()) / len(own), configurations=used)
    return parts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--data", required=True)
    parser.add_argument("--deadline", type=float, help="milliseconds a batch; default: see above")
    parser.add_argument("--trace", default=f"0:{os.cpu_count()}", help="processors allowed")
    parser.add_argument("--load", default="0:0", help="competing processes")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--batch", type=int, help="default: as installed, or more, see above")
    parser.add_argument("--after", type=float, default=9, help="seconds to run after the last change")
    parser.add_argument("--case", help="what to call this in the results; default: the file's name")
    parser.add_argument("--build", default="build/default")
    parser.add_argument("--json", help="add the result to the rows of this file")
    options = parser.parse_args()
    tessera = os.path.join(options.build, "bin", "tessera")
    found = [c for c in curve.read(tessera, options.program)["configurations"] if c["shipped"] and "installed" in c]
    losses = {c["name"]: c["measured"]["loss"] for c in found}
    quotas, loads = parse_trace(options.trace, float), parse_trace(options.load, int)
    changes = []
    for at in sorted({t for t, _ in quotas} | {t for t, _ in loads}):
        value = {"processors": [v for t, v in quotas if t <= at][-1], "competitors": [v for t, v in loads if t <= at][-1]}
        changes.append((at, value))

    smallest = min(value["processors"] for _, value in changes)
    times = [c["installed"]["time_us"] / 1000 / c["installed"]["batch"] for c in found]
    fixed, options.batch = options.batch, options.batch or found[0]["installed"]["batch"]
    wanted = lambda: options.deadline or round(choose_deadline(times[0] * options.batch, min(times) * options.batch, smallest / options.threads), 2)
    fastest = lambda: 1000 * min(times) * options.batch * options.threads / smallest
    while not fixed and fastest() / 5 < GOOD_PERIOD / min(1, smallest):
        options.batch *= 2
    options.deadline = wanted()
    period = fastest() / 5
    if smallest * period < LEAST_PERIOD:
        sys.exit(f"error: --batch: a group gets no less than a millisecond in a period, so that {smallest:g} processors need batches of at least "
                 f"{5 * LEAST_PERIOD / smallest / 1000:g} ms")
    seconds = changes[-1][0] + options.after
    evaluate = [tessera, "eval", options.program, "--data", options.data, "--batch", str(options.batch), "--threads", str(options.threads)]
    group, load = Group(period), Load()
    child, batches, rest = None, [], [""]
    try:
        with tempfile.TemporaryDirectory() as folder:
            log, ours, exact = (os.path.join(folder, name) for name in ("log", "ours.npy", "exact.npy"))
            open(log, "w").close()
            group.allow(changes[0][1]["processors"])
            child = subprocess.Popen(
                [*evaluate, "--goal", f"deadline:{options.deadline}ms", "--log", log, "--seconds", str(seconds + 0.2), "--correct", ours],
                preexec_fn=lambda: group.add(os.getpid()))
            with open(log) as file:
                begin, ahead = None, list(changes)
                while child.poll() is None:
                    now = time.monotonic()
                    for line in new_lines(file, rest):
                        # The trace begins with the first batch: loading and opening are not part of it.
                        begin = begin or now
                        batches.append({**line, "at": now - begin})
                    while begin and ahead and now - begin >= ahead[0][0]:
                        group.allow(ahead[0][1]["processors"])
                        load.set(ahead.pop(0)[1]["competitors"])
                    # Then eval compares with the exact program, which need not wait.
                    if begin and now - begin > seconds + 1:
                        group.allow(os.cpu_count())
                        load.set(0)
                    time.sleep(0.002)
                batches += [{**line, "at": time.monotonic() - (begin or 0)} for line in new_lines(file, rest)]
            if child.returncode:
                return child.returncode
            subprocess.run([*evaluate, "--configuration", "baseline", "--limit", str(len(numpy.load(ours))), "--correct", exact], check=True, stdout=subprocess.DEVNULL)
            answers = numpy.load(ours), numpy.load(exact)
    finally:
        load.set(0)
        if child and child.poll() is None:
            child.send_signal(signal.SIGTERM)
            child.wait()
        group.remove()
    case = options.case or pathlib.Path(options.program).stem
    config = f"{options.deadline:g} ms, batch {options.batch}, {options.threads} threads, quota {options.trace}, load {options.load}"
    result = {"suite": "throttle", "case": case, "config": config, "peer": "", "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
              "deadline_ms": options.deadline, "period_us": group.period, "parts": judge(batches, changes, options, losses, answers),
              "adaptations": [{"at_s": round(b["at"], 3), "to": b["configuration"], "cause": b["cause"]} for b in batches if "cause" in b]}
    print(f"{case}: {config}")
    for part in result["parts"]:
        share = "no batches" if not part["batches"] else (
            f"{100 * part['within']:.1f} % of {part['batches']} batches within {options.deadline:g} ms, loss {part['loss']:.2f} points "
            f"(by the curve {part['loss_by_curve']:.2f})")
        print(f"from {part['from_s']:g} s, {part['processors']:g} processors, {part['competitors']} competitors: {share}")
    for change in result["adaptations"]:
        print(f"  {change['at_s']:8.3f} s → {change['to']}: {change['cause']}")
    if options.json:
        # All runs stay, the bad ones too: what is repeated until it is good says nothing.
        rows = json.loads(pathlib.Path(options.json).read_text())["rows"] if os.path.exists(options.json) else []
        measure.write_json(options.json, {"machine": measure.machine(), "rows": [*rows, result]})
    return 0


if __name__ == "__main__":
    sys.exit(main())
