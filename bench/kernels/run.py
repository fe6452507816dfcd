#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Single layers against ONNX Runtime and OpenVINO, interleaved, as ratios (above 1: we are faster).

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
from onnx import helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# name: channels, filters, extent, window, stride, groups
LAYERS = {
    "resnet18-32-stem": (3, 64, 32, 3, 1, 1),
    "resnet18-32-1": (64, 64, 32, 3, 1, 1),
    "resnet18-32-2": (128, 128, 16, 3, 1, 1),
    "resnet18-32-2s": (64, 128, 32, 3, 2, 1),
    "resnet18-32-3": (256, 256, 8, 3, 1, 1),
    "resnet18-32-4": (512, 512, 4, 3, 1, 1),
    "resnet18-224-stem": (3, 64, 224, 7, 2, 1),
    "resnet18-224-1": (64, 64, 56, 3, 1, 1),
    "resnet18-224-3": (256, 256, 14, 3, 1, 1),
    "resnet50-224-a": (256, 64, 56, 1, 1, 1),
    "resnet50-224-b": (256, 1024, 14, 1, 1, 1),
    "resnet50-224-c": (2048, 512, 7, 1, 1, 1),
    "alexnet-1": (3, 64, 32, 11, 1, 1),
    "alexnet-2": (64, 192, 16, 5, 1, 1),
    "mobilenet-32-dw": (64, 64, 32, 3, 1, 64),
    "mobilenet-32-dws": (128, 128, 32, 3, 2, 128),
    "mobilenet-32-pw": (64, 128, 32, 1, 1, 1),
    "mobilenet-224-dw": (64, 64, 112, 3, 1, 64),
}


def model(layer, batch):
    c, f, extent, k, stride, groups = LAYERS[layer]
    random = np.random.default_rng(0)
    w = (random.standard_normal((f, c // groups, k, k)) * np.sqrt(2 / (c // groups * k * k))).astype(np.float32)
    b = random.standard_normal(f).astype(np.float32)
    x = helper.make_tensor_value_info("x", 1, [batch, c, extent, extent])
    y = helper.make_tensor_value_info("y", 1, None)
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], strides=[stride] * 2, pads=[k // 2] * 4, group=groups),
        helper.make_node("Relu", ["c"], ["y"]),
    ]
    weights = [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")]
    made = helper.make_model(helper.make_graph(nodes, "layer", [x], [y], weights), opset_imports=[helper.make_opsetid("", 17)])
    made.ir_version = 8
    places = ((extent + 2 * (k // 2) - k) // stride + 1) ** 2
    return made, random.random((batch, c, extent, extent), np.float32), 2 * batch * f * places * (c // groups) * k * k


def best(run, seconds):
    least, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        run()
        least = min(least, time.perf_counter() - start)
    return least


def measure(layer, options, folder):
    made, x, flops = model(layer, options.batch)
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
        for layer in LAYERS:
            if not options.names or any(name in layer for name in options.names):
                measure(layer, options, pathlib.Path(folder))


if __name__ == "__main__":
    main()
