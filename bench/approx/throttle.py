#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does the controller hold its goal on a machine that is taken away? Runs `tessera eval --goal` on a tuned program while a trace of quotas and of
competing load is replayed, and says for each part of the trace how many batches were in time.

    bench/approx/throttle.py net.tsx --data cifar10:DIR [--deadline 12] --trace 0:2,4:1 [--load 0:0,4:2] [--threads 2] [--batch 16] [--json F]

A trace is SECONDS:VALUE,…: processors that the program may use (a control group's quota, of version 1 or 2; needs the right to make one), and
processes that compete with it. The quota's period is at most a fifth of the deadline, so that a batch feels the share and not the gaps.
"""
import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import curve

SETTLE = 1.0  # seconds after a change that do not count
LEAST_PERIOD = 1000  # microseconds, the kernel's


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


def judge(batches, changes, deadline):
    """Batches of each part of the trace, without the first second after its beginning."""
    parts = []
    for i, (start, what) in enumerate(changes):
        end = changes[i + 1][0] if i + 1 < len(changes) else float("inf")
        own = [b for b in batches if start + SETTLE <= b["at"] < end]
        within = sum(b["ms"] <= deadline for b in own)
        parts.append({"from_s": start, **what, "batches": len(own), "within": within / len(own) if own else None,
                      "median_ms": sorted(b["ms"] for b in own)[len(own) // 2] if own else None,
                      "configurations": sorted({b["configuration"] for b in own})})
    return parts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--data", required=True)
    parser.add_argument("--deadline", type=float, help="milliseconds a batch; default: 1.3 times what the exact program took at installation")
    parser.add_argument("--trace", default=f"0:{os.cpu_count()}", help="processors allowed")
    parser.add_argument("--load", default="0:0", help="competing processes")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--build", default="build/default")
    parser.add_argument("--json", help="write the result to this file")
    options = parser.parse_args()
    if options.deadline is None:
        found = curve.read(os.path.join(options.build, "bin", "tessera"), options.program)
        options.deadline = round(1.3e-3 * found["configurations"][0]["installed"]["time_us"], 2)
    quotas, loads = parse_trace(options.trace, float), parse_trace(options.load, int)
    changes = []
    for at in sorted({t for t, _ in quotas} | {t for t, _ in loads}):
        value = {"processors": [v for t, v in quotas if t <= at][-1], "competitors": [v for t, v in loads if t <= at][-1]}
        changes.append((at, value))

    period, smallest = options.deadline * 1000 / 5, min(value["processors"] for _, value in changes)
    if smallest * period < LEAST_PERIOD:
        sys.exit(f"error: --deadline: a group gets no less than a millisecond in a period, so that {smallest:g} processors need a deadline of at least "
                 f"{5 * LEAST_PERIOD / smallest / 1000:g} ms")
    group, load = Group(period), Load()
    child, batches, rest = None, [], [""]
    try:
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "log")
            open(log, "w").close()
            group.allow(changes[0][1]["processors"])
            child = subprocess.Popen(
                [os.path.join(options.build, "bin", "tessera"), "eval", options.program, "--data", options.data, "--batch", str(options.batch),
                 "--threads", str(options.threads), "--goal", f"deadline:{options.deadline}ms", "--log", log],
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
                    time.sleep(0.002)
                for line in new_lines(file, rest):
                    batches.append({**line, "at": time.monotonic() - (begin or 0)})
    finally:
        load.set(0)
        if child and child.poll() is None:
            child.send_signal(signal.SIGTERM)
            child.wait()
        group.remove()
    if child.returncode:
        return child.returncode
    result = {"program": options.program, "deadline_ms": options.deadline, "period_us": group.period, "threads": options.threads,
              "batch": options.batch, "parts": judge(batches, changes, options.deadline),
              "adaptations": [{"at_s": round(b["at"], 3), "to": b["configuration"], "cause": b["cause"]} for b in batches if "cause" in b]}
    for part in result["parts"]:
        share = "no batches" if part["within"] is None else f"{100 * part['within']:.1f} % of {part['batches']} batches within {options.deadline:g} ms"
        print(f"from {part['from_s']:g} s, {part['processors']:g} processors, {part['competitors']} competitors: {share}")
    for change in result["adaptations"]:
        print(f"  {change['at_s']:8.3f} s → {change['to']}: {change['cause']}")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
