#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains the LSTM of examples/models, which reads a digit of MNIST row by row, 28 pixels a step, and writes it as ONNX.

    tests/lstm/train.py DIR lstm.onnx        DIR: the four files of MNIST; needs NumPy alone; some minutes on one core

Backpropagation through time by hand, Adam, one cycle of learning rates. Seeds are fixed; the last bits depend on NumPy's BLAS, so the file in the
repository was made once.
"""
import gzip
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python" / "tessera"))
import onnx_write  # noqa: E402

HIDDEN, EPOCHS, BATCH, PEAK = 64, 12, 128, 6e-3


def read(folder, part):
    def raw(kind, skip):
        with gzip.open(pathlib.Path(folder) / f"{part}-{kind}-ubyte.gz") as file:
            return np.frombuffer(file.read()[skip:], np.uint8)
    return raw("images-idx3", 16).reshape(-1, 28, 28).astype(np.float32) / 255, raw("labels-idx1", 8).astype(np.int64)


def initial(random):
    def uniform(*shape):
        return random.uniform(-1, 1, shape).astype(np.float32) / np.sqrt(HIDDEN, dtype=np.float32)
    # Gates as in ONNX: input, output, forget, cell. A forget gate that begins open learns faster.
    parameters = {"W": uniform(4 * HIDDEN, 28), "R": uniform(4 * HIDDEN, HIDDEN), "b": np.zeros(4 * HIDDEN, np.float32),
                  "V": uniform(10, HIDDEN), "c": np.zeros(10, np.float32)}
    parameters["b"][2 * HIDDEN:3 * HIDDEN] = 1
    return parameters


def forward(p, images, keep=None):
    """Scores of N x 28 x 28 images; `keep` collects what the way back needs."""
    h = np.zeros((len(images), HIDDEN), np.float32)
    cell = np.zeros_like(h)
    from_input = images @ p["W"].T + p["b"]  # of all steps at once
    for t in range(28):
        z = from_input[:, t] + h @ p["R"].T
        gates = 0.5 * np.tanh(0.5 * z[:, :3 * HIDDEN]) + 0.5
        i, o, f = np.split(gates, 3, axis=1)
        g = np.tanh(z[:, 3 * HIDDEN:])
        before, hidden = cell, h
        cell = f * cell + i * g
        squashed = np.tanh(cell)
        h = o * squashed
        if keep is not None:
            keep.append((i, o, f, g, before, squashed, hidden))
    return h @ p["V"].T + p["c"], h


def gradients(p, images, labels):
    steps = []
    scores, h = forward(p, images, steps)
    scores -= scores.max(1, keepdims=True)
    odds = np.exp(scores)
    odds /= odds.sum(1, keepdims=True)
    rows = np.arange(len(labels))
    loss = -np.log(odds[rows, labels] + 1e-12).mean()
    odds[rows, labels] -= 1
    odds /= len(labels)
    grads = {"V": odds.T @ h, "c": odds.sum(0), "R": np.zeros_like(p["R"])}
    dh, dcell = odds @ p["V"], np.zeros_like(h)
    dz = np.empty((28, len(labels), 4 * HIDDEN), np.float32)
    for t in reversed(range(28)):
        i, o, f, g, before, squashed, hidden = steps[t]
        dcell += dh * o * (1 - squashed * squashed)
        dz[t] = np.concatenate([dcell * g * i * (1 - i), dh * squashed * o * (1 - o), dcell * before * f * (1 - f), dcell * i * (1 - g * g)], axis=1)
        grads["R"] += dz[t].T @ hidden
        dh = dz[t] @ p["R"]
        dcell *= f
    flat = dz.reshape(-1, 4 * HIDDEN)
    grads["W"] = flat.T @ images.transpose(1, 0, 2).reshape(-1, 28)
    grads["b"] = flat.sum(0)
    return loss, grads


def shifted(images, random):
    """A batch moved by up to two pixels, so that the network does not learn places by heart."""
    return np.roll(images, tuple(random.integers(-2, 3, 2)), axis=(1, 2))


def train(folder):
    random = np.random.default_rng(1)
    images, labels = read(folder, "train")
    p = initial(random)
    mean, square = ({k: np.zeros_like(v) for k, v in p.items()} for _ in range(2))
    step, steps = 0, EPOCHS * (len(images) // BATCH)
    for epoch in range(EPOCHS):
        order, total = random.permutation(len(images)), 0.0
        for at in range(0, len(images) - BATCH + 1, BATCH):
            chosen = order[at:at + BATCH]
            loss, grads = gradients(p, shifted(images[chosen], random), labels[chosen])
            total += loss
            step += 1
            rate = PEAK * min(step / (0.3 * steps), (1 + np.cos(np.pi * max(0.0, step / steps - 0.3) / 0.7)) / 2)
            norm = np.sqrt(sum(float((g * g).sum()) for g in grads.values()))
            for k, g in grads.items():
                g *= min(1.0, 1.0 / norm)
                mean[k] += 0.1 * (g - mean[k])
                square[k] += 0.001 * (g * g - square[k])
                p[k] -= np.float32(rate / (1 - 0.9 ** step)) * mean[k] / (np.sqrt(square[k] / (1 - 0.999 ** step)) + 1e-8)
        print(f"epoch {epoch + 1}: loss {total * BATCH / len(images):.4f}", flush=True)
    return p


def export(p, path):
    model = onnx_write.ModelWriter("lstm", 17)
    model.inputs.append(onnx_write.value_info("image", onnx_write.FLOAT, ["N", 1, 28, 28]))
    model.outputs.append(onnx_write.value_info("logits", onnx_write.FLOAT, ["N", 10]))
    weights = {"W": p["W"][None], "R": p["R"][None], "B": np.concatenate([p["b"], np.zeros_like(p["b"])])[None],
               "classify.weight": p["V"], "classify.bias": p["c"], "one": np.array([1]), "zero": np.array([0])}
    model.weights = [onnx_write.tensor(name, value) for name, value in weights.items()]
    for kind, inputs, outputs, attributes in [
            ("Squeeze", ["image", "one"], ["rows"], {}),
            ("Transpose", ["rows"], ["steps"], {"perm": [1, 0, 2]}),
            ("LSTM", ["steps", "W", "R", "B"], ["", "last"], {"hidden_size": HIDDEN}),
            ("Squeeze", ["last", "zero"], ["state"], {}),
            ("Gemm", ["state", "classify.weight", "classify.bias"], ["logits"], {"transB": 1})]:
        model.nodes.append(onnx_write.node(kind, inputs, outputs, outputs[-1], attributes))
    pathlib.Path(path).write_bytes(model.bytes())


if __name__ == "__main__":
    trained = train(sys.argv[1])
    export(trained, sys.argv[2])
    # The test images are looked at once, at the end.
    images, labels = read(sys.argv[1], "t10k")
    print(f"test accuracy {(forward(trained, images)[0].argmax(1) == labels).mean():.4f}")
