# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One engine in one process. Commands come as lines of JSON on standard input, answers go to standard output.

{"do": "prepare", …}            makes a file that an engine needs (see engines.py)
{"do": "load", "engine", "model", "batch", "threads", "shape", "seed"}  → {"seconds"}
{"do": "check", "with": file}   writes the answer there, or compares with it → {"error": max over rows of max|a-b| / max|row|}
{"do": "round", "ms": 20, "least": 3, "most": 1000, "warm": true, "clock": "wall"}→ {"times": [ms…]}
{"do": "memory"}                → {"running_mb", "whole_mb"}: peak beyond Python, NumPy and the input; since loading, and in all
"""
import json
import os
import sys
import time

import numpy as np

# Libraries print to standard output; the answers have a descriptor of their own.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
import engines


def status_kb(field):
    with open("/proc/self/status") as f:
        for line in f:
            if line.startswith(field + ":"):
                return int(line.split()[1])
    return 0


class Worker:
    engine = None

    def prepare(self, kind, model, target, **more):
        getattr(engines, "prepare_" + kind)(model, target, **more)
        return {}

    def load(self, engine, model, batch, threads, shape, seed=1):
        x = np.random.default_rng(seed).random((batch, *shape), dtype=np.float32)
        # Aligned as every engine likes it.
        raw = np.empty(x.nbytes + 64, np.uint8)
        start = -raw.ctypes.data % 64
        self.x = raw[start:start + x.nbytes].view(np.float32).reshape(x.shape)
        self.x[...] = x
        del x
        self.base = status_kb("VmRSS")
        begin = time.perf_counter()
        self.engine = engines.ENGINES[engine](model, batch, threads, self.x)
        seconds = time.perf_counter() - begin
        self.engine.call()
        self.whole = status_kb("VmHWM")
        try:
            with open("/proc/self/clear_refs", "w") as f:
                f.write("5")  # Forgets the peak so far.
        except OSError:
            pass
        self.engine.call()
        return {"seconds": seconds}

    def check(self, **options):
        y = self.engine.output().reshape(self.x.shape[0], -1)
        path = options["with"]
        if not os.path.exists(path):
            np.save(path, y)
            return {"error": 0.0}
        want = np.load(path)
        if want.shape != y.shape:
            return {"error": 1e9, "why": f"shape {y.shape}, expected {want.shape}"}
        return {"error": float(np.max(np.max(np.abs(want - y), axis=1) / np.max(np.abs(want), axis=1)))}

    def round(self, ms=20, least=3, most=1000, warm=True, clock="wall"):
        call, times = self.engine.call, []
        clock = time.process_time_ns if clock == "cpu" else time.perf_counter_ns
        if warm:
            call()  # The engines before it have used the caches and woken up other threads.
        end = clock() + int(ms * 1e6)
        while True:
            begin = clock()
            call()
            now = clock()
            times.append((now - begin) / 1e6)
            if (now >= end and len(times) >= least) or len(times) >= most:
                return {"times": times}

    def memory(self):
        peak = status_kb("VmHWM")
        return {"running_mb": (peak - self.base) / 1024, "whole_mb": (max(peak, self.whole) - self.base) / 1024}


def main():
    worker = Worker()
    for line in sys.stdin:
        command = json.loads(line)
        try:
            answer = getattr(worker, command.pop("do"))(**command)
        except Exception as error:  # An engine that fails is a row that is missing, not the end of the run.
            answer = {"failed": f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


main()
