#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Are our answers ONNX Runtime's? Compares them on test images, |a-b| <= 1e-3 max|row|, and top-1 with what is documented.

usage: bench/onnx-cpu/agree.py [--models DIR] [--data DIR] [--images 1000] [--all-images] [--nets a,b] [--mode fast|strict] [--build DIR]

DIR of --models (default $TESSERA_MODELS, then examples/models) holds the networks; DIR of --data (default $TESSERA_DATA) holds mnist/ and
cifar10/, without it the 500 images of examples/data are used. Runs in build/bench-venv. Exit status 1 when a network disagrees, is missing
or cannot be compiled; --allow-missing leaves out networks that are not there.
"""
import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import environment

# network → data, documented top-1 in percent on the 10,000 test images, normalisation
NETS = {"fc4": ("mnist", 98.59, ""), "lenet": ("mnist", 99.38, ""), "alexnet": ("cifar10", 81.75, ""), "alexnet2": ("cifar10", 84.42, ""),
        "vgg16_half": ("cifar10", 91.71, ""), "resnet18": ("cifar10", 93.78, ""), "mobilenet": ("cifar10", 91.14, ""),
        "mobilenet_shallow": ("cifar10", 91.20, ""), "resnet20": ("cifar10", 91.73, "imagenet"), "lstm": ("mnist", 99.19, "")}


def parse():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][7:], description=__doc__.split("\n\n")[0])
    parser.add_argument("--models", default=os.environ.get("TESSERA_MODELS", ""))
    parser.add_argument("--data", default=os.environ.get("TESSERA_DATA", ""))
    parser.add_argument("--images", type=int, default=1000)
    parser.add_argument("--all-images", action="store_true", help="top-1 on all test images, not only on those that are compared")
    parser.add_argument("--nets", default=",".join(NETS))
    parser.add_argument("--mode", default="fast")
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "default"))
    parser.add_argument("--allow-missing", action="store_true")
    return parser.parse_args()


def images(kind, folder, count):
    """The first `count` test images as numbers from 0 to 1."""
    import numpy as np
    if not folder:
        x = np.load(os.path.join(ROOT, "examples", "data", f"{kind}-500.npz"))["x"][:count]
    elif kind == "mnist":
        with gzip.open(os.path.join(folder, "mnist", "t10k-images-idx3-ubyte.gz")) as f:
            x = np.frombuffer(f.read(), np.uint8, offset=16)[:count * 784].reshape(-1, 1, 28, 28)
    else:
        x = np.fromfile(os.path.join(folder, "cifar10", "test_batch.bin"), np.uint8).reshape(-1, 3073)[:count, 1:].reshape(-1, 3, 32, 32)
    return x.astype(np.float32) / np.float32(255)


def check(net, options, folder):
    """A row of the table, and whether all is well."""
    import numpy as np
    import onnxruntime
    kind, documented, norm = NETS[net]
    places = [os.path.join(d, net + ".onnx") for d in (options.models, os.path.join(ROOT, "examples", "models")) if d]
    model = next((p for p in places if os.path.exists(p)), None)
    if not model:
        return [net, kind, "not there", "", "", ""], options.allow_missing
    x = images(kind, options.data, options.images)
    if norm:
        mean, deviation = (np.float32(v).reshape(3, 1, 1) for v in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
        x = (x - mean) / deviation
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    want = np.concatenate([session.run(None, {name: x[i:i + 100]})[0] for i in range(0, len(x), 100)])

    def tessera(*words):
        done = subprocess.run([os.path.join(options.build, "bin", "tessera"), *words], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError((done.stderr.strip().splitlines() or ["no message"])[0])
        return done.stdout

    try:
        base = os.path.join(folder, net)
        tessera("compile", model, "-o", base + ".tsr")
        tessera("install", base + ".tsr", "-o", base + ".tsx", "--mode", options.mode)
        np.save(base + ".npy", x)
        output = session.get_outputs()[0].name
        tessera("run", base + ".tsx", "--input", f"{name}={base}.npy", "--output", f"{output}={base}-out.npy")
        got = np.load(base + "-out.npy")
        data = f"{kind}:{os.path.join(options.data, kind)}" if options.data else os.path.join(ROOT, "examples", "data", f"{kind}-500.npz")
        words = ["eval", base + ".tsx", "--data", data, "--json"] + (["--normalise", norm] if norm else [])
        words += [] if options.all_images else ["--limit", str(options.images)]
        top = json.loads(tessera(*words))
    except RuntimeError as why:
        return [net, kind, str(why)[:80], "", "", ""], False
    worst = float(np.max(np.max(np.abs(want - got), axis=1) / np.max(np.abs(want), axis=1)))
    same = int(np.sum(want.argmax(1) == got.argmax(1)))
    agrees = want.shape == got.shape and worst <= 1e-3
    within = top["low"] <= documented <= top["high"] or top["count"] < 10000 and abs(top["percent"] - documented) < 5
    if top["count"] == 10000:
        within = abs(top["percent"] - documented) <= 0.05
    cells = [net, kind, f"{worst:.1e}", f"{same} of {len(x)}", f"{top['percent']:.2f} ({top['low']:.2f} – {top['high']:.2f}), n = {top['count']}",
             f"{documented:.2f}"]
    return cells, agrees and within


def main():
    options = parse()
    why = environment.make()
    if why:
        sys.exit(f"error: {why}")
    if os.path.realpath(sys.prefix) != os.path.realpath(environment.DEFAULT):
        os.execv(environment.python(), [environment.python(), os.path.abspath(__file__), *sys.argv[1:]])
    print("| network | data | largest error / largest of the row | same class | top-1 %, 95 % interval | documented | |")
    print("|---|---|--:|--:|--:|--:|---|")
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for net in options.nets.split(","):
            cells, well = check(net, options, folder)
            print("| " + " | ".join([*cells, "ok" if well else "**no**"]) + " |", flush=True)
            good = good and well
    return 0 if good else 1


sys.exit(main())
