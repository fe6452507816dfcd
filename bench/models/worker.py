# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One model in one process: compiled, installed, run on several launches beside ONNX Runtime, judged and timed.

Reads one job as JSON from standard input: {"model", "folder", "build", "launches", "seed", "threads": [1], "seconds",
"rounds", "limit", "memory"}. Writes one line of JSON to
standard output whenever a stage ends, so that what was reached is known when the process is killed:
{"stage": "compile" | "install", "seconds", "failed"?}, {"stage": "launch", "number", "failed"?}, {"stage": "times", …}.

A launch names each input and says what goes in: [2, 3] is noise of that shape; {"values": …} the values themselves; {"shape", "below"}
integers from 0 on.
"""
import json
import os
import resource
import subprocess
import sys
import time

import numpy as np

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # libraries print, too
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "networks"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
import judge
import onnxruntime

TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(double)": np.float64, "tensor(int64)": np.int64, "tensor(int32)": np.int32,
         "tensor(int16)": np.int16, "tensor(int8)": np.int8, "tensor(uint8)": np.uint8, "tensor(uint16)": np.uint16, "tensor(uint32)": np.uint32,
         "tensor(uint64)": np.uint64, "tensor(bool)": np.bool_}


def tell(**what):
    answers.write(json.dumps(what) + "\n")
    answers.flush()


def feeds_of(session, launch, random):
    feeds = {}
    for port in session.get_inputs():
        said, dtype = launch[port.name], TYPES[port.type]
        if isinstance(said, dict) and "values" in said:
            feeds[port.name] = np.array(said["values"], dtype)
        elif isinstance(said, dict):
            feeds[port.name] = random.integers(0, said["below"], said["shape"]).astype(dtype)
        elif np.issubdtype(dtype, np.floating):
            feeds[port.name] = random.standard_normal(said).astype(dtype) * dtype(launch.get("*", 1))
        else:
            feeds[port.name] = random.integers(0, 2, said).astype(dtype)
    return feeds


def session_of(model, threads, level):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.graph_optimization_level = level
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def disagreement(session, optimised, feeds, expected, ours):
    """The first difference that is more than a rounding of the inputs, or ONNX Runtime's optimiser, makes of its own answer; or ""."""
    wrong = {name: judge.difference(e, o) for name, e, o in zip((p.name for p in session.get_outputs()), expected, ours)}
    wrong = {name: text for name, text in wrong.items() if text}
    if not wrong:
        return ""
    moved = [np.zeros(e.shape) if np.issubdtype(e.dtype, np.floating) else None for e in expected]
    random = np.random.default_rng(1)
    for trial in range(6):
        rounded = {}
        for n, x in feeds.items():
            if trial and np.issubdtype(x.dtype, np.floating):
                x = (x * (1 + random.choice([-1, 0, 1], x.shape) * 4 * np.finfo(x.dtype).eps)).astype(x.dtype)
            rounded[n] = x
        for i, again in enumerate((session if trial else optimised).run(None, rounded)):
            if moved[i] is None or again.shape != moved[i].shape:
                continue
            with np.errstate(invalid="ignore"):
                moved[i] = np.fmax(moved[i], np.abs(again.astype(np.float64) - expected[i]))
    for i, port in enumerate(session.get_outputs()):
        if port.name in wrong and moved[i] is not None and expected[i].shape == ours[i].shape and expected[i].size:
            off = np.abs(expected[i].astype(np.float64) - ours[i])
            if np.isfinite(off).all() and off.max() <= 4 * moved[i].max():
                del wrong[port.name]
    return "; ".join(f"output '{name}': {text}" for name, text in wrong.items())


def arbitrate(model, names, feeds, ours):
    """What is left of a disagreement when ONNX's own evaluator, in NumPy, is asked: its transforms are more exact than ONNX Runtime's."""
    try:
        from onnx.reference import ReferenceEvaluator
        from onnx.reference.op_run import OpRun

        class STFT(OpRun):  # its own fails on signals without a dimension for real and imaginary parts
            def _run(self, signal, step, window=None, length=None, onesided=1):
                size = int(length) if length is not None else len(window)
                real = signal.reshape(signal.shape[:2]).astype(np.float64)
                frames = np.lib.stride_tricks.sliding_window_view(real, size, axis=1)[:, ::int(step)]
                spectrum = (np.fft.rfft if onesided else np.fft.fft)(frames if window is None else frames * window)
                return (np.stack([spectrum.real, spectrum.imag], -1).astype(signal.dtype),)

        exact = ReferenceEvaluator(model, new_ops=[STFT]).run(None, feeds)
    except Exception as error:  # it does not know all operators
        return f"ONNX's evaluator: {judge.first_line(error)[:100]}"
    wrong = {name: judge.difference(np.asarray(e), o) for name, e, o in zip(names, exact, ours)}
    return "; ".join(f"output '{name}' by ONNX's evaluator: {text}" for name, text in wrong.items() if text)


def best(call, seconds):
    times, end = [], time.perf_counter() + seconds
    while not times or (time.perf_counter() < end and len(times) < 1000):
        begin = time.perf_counter()
        call()
        times.append((time.perf_counter() - begin) * 1e3)
    return times


def tool(stage, words, limit):
    begin = time.perf_counter()
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=limit)
        failed = "" if not done.returncode else (done.stderr.strip() or f"status {done.returncode}")[:2000]
    except subprocess.TimeoutExpired:
        failed = f"did not end in {limit} s"
    tell(stage=stage, seconds=time.perf_counter() - begin, **({"failed": failed} if failed else {}))
    return not failed


def main():
    job = json.load(sys.stdin)
    if job.get("memory"):
        resource.setrlimit(resource.RLIMIT_AS, (job["memory"], job["memory"]))
    os.environ["TESSERA_HOME"] = job["build"]
    tessera = os.path.join(job["build"], "bin", "tessera")
    portable, installed = (os.path.join(job["folder"], "model" + end) for end in (".tsr", ".tsx"))
    exact = session_of(job["model"], 1, onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)
    optimised = session_of(job["model"], 1, onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL)
    launches = []
    for number, launch in enumerate(job["launches"]):
        feeds = feeds_of(exact, launch, np.random.default_rng(job["seed"] + number))
        try:
            launches.append((feeds, exact.run(None, feeds)))
        except Exception as error:
            tell(stage="reference", number=number, failed=judge.first_line(error))
    if not launches:
        return
    if not tool("compile", [tessera, "compile", job["model"], "-o", portable], job["limit"]) or \
            not tool("install", [tessera, "install", portable, "-o", installed], job["limit"]):
        return
    import tessera as package
    program = package.load(installed, threads=1)
    names = [port.name for port in program.outputs]
    right = []
    for number, (feeds, expected) in enumerate(launches):
        tell(stage="begin", number=number)
        try:
            ours = program.run({port.name: feeds[port.name] for port in program.inputs})
            ours = [ours[p.name] for p in exact.get_outputs()] if isinstance(ours, dict) else [ours]
            wrong = disagreement(exact, optimised, feeds, expected, ours)
            if wrong and os.path.getsize(job["model"]) < 1 << 20 and all(e.shape == o.shape for e, o in zip(expected, ours)):
                other = arbitrate(job["model"], [p.name for p in exact.get_outputs()], feeds, ours)
                wrong = f"{wrong}; {other}" if other else ""
        except package.TesseraError as error:
            wrong = str(error)
        if not wrong:
            right.append(feeds)
        tell(stage="launch", number=number, shapes={n: list(x.shape) for n, x in feeds.items()}, **({"failed": wrong} if wrong else {}))
    if not right:
        return
    for threads in job["threads"]:
        program = package.load(installed, threads=threads)
        peer = session_of(job["model"], threads, onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL)
        feeds = right[0]
        mine = {port.name: feeds[port.name] for port in program.inputs}
        calls = {"ours": lambda: program.run(mine), "peer": lambda: peer.run(None, feeds)}
        medians, bests = {"ours": [], "peer": []}, {"ours": float("inf"), "peer": float("inf")}
        for call in calls.values():
            call()
        share = job["seconds"] / (2 * job["rounds"])
        for r in range(job["rounds"]):
            for name in (list(calls) if r % 2 else reversed(list(calls))):
                times = best(calls[name], share)
                medians[name].append(float(np.median(times)))
                bests[name] = min(bests[name], *times)
        tell(stage="times", threads=threads, rounds=medians, best=bests)


main()
