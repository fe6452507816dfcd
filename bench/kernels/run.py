#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Single layers (models.py) against ONNX Runtime and OpenVINO, interleaved, as ratios (above 1: we are faster).

Needs onnx, onnxruntime, openvino and numpy; run it with the Python of the benchmark's venv. A layer alone pays for layouts at both ends, in all
engines; `bench/run.py onnx-cpu` measures networks.

example: build/bench-venv/bin/python bench/kernels/run.py --threads 1 --batch 1 resnet
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import numpy as np
import onnx
import onnxruntime
import openvino

import models

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

def best(run, seconds):
    least, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        run()
        least = min(least, time.perf_counter() - start)
    return least


def measure(layer, options, folder):
    made, x, flops = models.make(layer, options.batch)
    path = folder / "layer.onnx"
    onnx.save(made, path)
    np.save(folder / "x.npy", x)
    tessera = str(options.tessera)
    subprocess.run([tessera, "compile", str(path), "-o", str(folder / "layer.tsr")], check=True)
    subprocess.run([tessera, "install", str(folder / "layer.tsr"), "-o", str(folder / "layer.tsx")], check=True)
    session = onnxruntime.SessionOptions()
    session.intra_op_num_threads = options.threads
    ort = onnxruntime.InferenceSession(str(path), session, providers=["CPUExecutionProvider"])
    core = openvino.Core()
    config = {"INFERENCE_NUM_THREADS": options.threads, "INFERENCE_PRECISION_HINT": "f32", "NUM_STREAMS": 1}
    request = core.compile_model(core.read_model(path), "CPU", config).create_infer_request()
    request.infer({0: x})
    want = ort.run(None, {"x": x})[0]
    subprocess.run([tessera, "run", str(folder / "layer.tsx"), "--threads", str(options.threads), "--input", f"x={folder / 'x.npy'}",
                    "--output", f"y={folder / 'y.npy'}"], check=True)
    error = np.abs(np.load(folder / "y.npy") - want).max() / np.abs(want).max()
    if not error <= 1e-3:
        raise SystemExit(f"error: {layer}: wrong by {error:.2g} of the largest number")
    ours = [tessera, "bench", str(folder / "layer.tsx"), "--threads", str(options.threads), "--input", f"x={folder / 'x.npy'}"]
    least = {"tessera": float("inf"), "onnxruntime": float("inf"), "openvino-f32": float("inf")}
    for _ in range(options.rounds):
        least["onnxruntime"] = min(least["onnxruntime"], best(lambda: ort.run(None, {"x": x}), 0.2))
        least["openvino-f32"] = min(least["openvino-f32"], best(request.infer, 0.2))
        text = subprocess.run(ours + ["--seconds", "0.2", "--json", "-"], check=True, capture_output=True, text=True).stdout
        least["tessera"] = min(least["tessera"], json.loads(text)["best_ms"] / 1e3)
    rate = {name: flops / seconds / 1e9 for name, seconds in least.items()}
    peer = min(least["onnxruntime"], least["openvino-f32"])
    print(f"{layer:20s} {options.batch:3d} images, {options.threads} threads: {peer / least['tessera']:5.2f}   " +
          ", ".join(f"{name} {least[name] * 1e6:.0f} us ({rate[name]:.0f} GFLOP/s)" for name in least), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="layers whose name contains one of these; default: all")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tessera", type=pathlib.Path, default=ROOT / "build/default/bin/tessera")
    options = parser.parse_args()
    options.tessera = options.tessera.resolve()
    with tempfile.TemporaryDirectory() as folder:
        for layer in models.LAYERS:
            if not options.names or any(name in layer for name in options.names):
                measure(layer, options, pathlib.Path(folder))


if __name__ == "__main__":
    main()
