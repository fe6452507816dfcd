# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the ImageNet-sized networks with random weights: resnet18, resnet50, mobilenet v1 at 224x224, and the last with 85 % of its 1x1 weights zero.

usage: networks.py FOLDER [NAME...]    (in the benchmark's environment; needs the onnx package)

The structures are those of the papers (He 2015, with the stride on the 3x3 of a bottleneck as all engines' models have it; Howard 2017).
BatchNormalization stays a node of its own: folding it is an engine's job. The batch is symbolic, `N`. Weights come from a fixed seed,
scaled so that activations neither vanish nor overflow.
"""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Builder:
    def __init__(self, seed, keep=1.0):
        self.nodes, self.weights = [], []
        self.keep = keep  # of the weights of 1x1 layers, in runs of 16 results; the rest is zero
        self.random = np.random.default_rng(seed)
        self.count = 0

    def weight(self, name, array):
        self.weights.append(numpy_helper.from_array(array.astype(np.float32), name))
        return name

    def op(self, kind, inputs, name=None, **attributes):
        self.count += 1
        name = name or f"{kind.lower()}_{self.count}"
        self.nodes.append(helper.make_node(kind, inputs, [name + ":0"], name=name, **attributes))
        return name + ":0"

    def conv_bn(self, x, cin, cout, kernel, stride, name, groups=1, act="Relu"):
        fan_in = cin // groups * kernel * kernel
        gain = 2.0 if act else 1.0
        w = self.random.standard_normal((cout, cin // groups, kernel, kernel)) * np.sqrt(gain / fan_in)
        if kernel == 1 and self.keep < 1:
            mask = self.random.random((-(-cout // 16), cin // groups)) < self.keep
            w = w * np.repeat(mask, 16, axis=0)[:cout, :, None, None] / np.sqrt(self.keep)
        pad = kernel // 2
        y = self.op("Conv", [x, self.weight(name + ".weight", w)], name, kernel_shape=[kernel, kernel], strides=[stride, stride],
                    pads=[pad, pad, pad, pad], group=groups)
        bn = name + ".bn"
        terms = [
            self.weight(bn + ".scale", self.random.uniform(0.9, 1.1, cout)),
            self.weight(bn + ".bias", self.random.normal(0, 0.05, cout)),
            self.weight(bn + ".mean", self.random.normal(0, 0.05, cout)),
            self.weight(bn + ".var", self.random.uniform(0.9, 1.1, cout)),
        ]
        y = self.op("BatchNormalization", [y, *terms], bn, epsilon=1e-5)
        return self.op("Relu", [y], name + ".relu") if act else y

    def head(self, x, channels, classes=1000):
        x = self.op("GlobalAveragePool", [x], "pool")
        x = self.op("Flatten", [x], "flatten", axis=1)
        w = self.random.standard_normal((classes, channels)) * np.sqrt(1.0 / channels)
        return self.op("Gemm", [x, self.weight("fc.weight", w), self.weight("fc.bias", np.zeros(classes))], "fc", transB=1)

    def save(self, path, name, out, size=224, classes=1000):
        self.nodes.append(helper.make_node("Identity", [out], ["logits"], name="logits"))
        graph = helper.make_graph(
            self.nodes, name, [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", 3, size, size])],
            [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["N", classes])], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model)
        onnx.save(model, path + ".part")
        os.replace(path + ".part", path)


def resnet(path, name, blocks, bottleneck, seed):
    b = Builder(seed)
    x = b.conv_bn("image", 3, 64, 7, 2, "stem")
    x = b.op("MaxPool", [x], "stem.pool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    cin = 64
    for stage, count in enumerate(blocks):
        width = 64 << stage
        cout = width * 4 if bottleneck else width
        for i in range(count):
            stride = 2 if stage > 0 and i == 0 else 1
            at = f"layer{stage + 1}.{i}"
            if bottleneck:
                y = b.conv_bn(x, cin, width, 1, 1, at + ".conv1")
                y = b.conv_bn(y, width, width, 3, stride, at + ".conv2")
                y = b.conv_bn(y, width, cout, 1, 1, at + ".conv3", act=None)
            else:
                y = b.conv_bn(x, cin, cout, 3, stride, at + ".conv1")
                y = b.conv_bn(y, cout, cout, 3, 1, at + ".conv2", act=None)
            skip = x if stride == 1 and cin == cout else b.conv_bn(x, cin, cout, 1, stride, at + ".skip", act=None)
            x = b.op("Relu", [b.op("Add", [y, skip], at + ".add")], at + ".relu")
            cin = cout
    b.save(path, name, b.head(x, cin))


def mobilenet(path, name, seed, keep=1.0):
    b = Builder(seed, keep)
    x = b.conv_bn("image", 3, 32, 3, 2, "stem")
    cin = 32
    plan = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + [(512, 1)] * 5 + [(1024, 2), (1024, 1)]
    for i, (cout, stride) in enumerate(plan):
        x = b.conv_bn(x, cin, cin, 3, stride, f"block{i}.depthwise", groups=cin)
        x = b.conv_bn(x, cin, cout, 1, 1, f"block{i}.pointwise")
        cin = cout
    b.save(path, name, b.head(x, cin))


NETWORKS = {
    "resnet18_224": lambda path: resnet(path, "resnet18", [2, 2, 2, 2], False, 18),
    "resnet50_224": lambda path: resnet(path, "resnet50", [3, 4, 6, 3], True, 50),
    "mobilenet_224": lambda path: mobilenet(path, "mobilenet", 1),
    "mobilenet_sparse_224": lambda path: mobilenet(path, "mobilenet_sparse", 1, keep=0.15),
}

if __name__ == "__main__":
    for wanted in sys.argv[2:] or NETWORKS:
        NETWORKS[wanted](os.path.join(sys.argv[1], wanted + ".onnx"))
