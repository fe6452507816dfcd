# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the small ONNX models that fuzzing starts from: one for each family of operators, extents open.

Usage: make_models.py FOLDER    (needs onnx and NumPy from PyPI)
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper

RANDOM = np.random.default_rng(1)


def weights(name, *shape):
    return numpy_helper.from_array(RANDOM.standard_normal(shape).astype(np.float32), name)


def ints(name, *values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


def model(nodes, inputs, outputs, constants=(), functions=(), opset=18):
    graph = h.make_graph(
        nodes,
        "g",
        [h.make_tensor_value_info(n, t, s) for n, t, s in inputs],
        [h.make_tensor_value_info(n, t, s) for n, t, s in outputs],
        list(constants),
    )
    imports = [h.make_opsetid("", opset)] + [h.make_opsetid("own", 1)] * bool(functions)
    made = h.make_model(graph, opset_imports=imports, functions=list(functions), ir_version=8)
    return made


def n(op, inputs, outputs, **attributes):
    return h.make_node(op, inputs.split(" "), outputs.split(" "), **attributes)


def body(nodes, inputs, outputs, constants=()):
    return h.make_graph(
        nodes,
        "body",
        [h.make_tensor_value_info(*i) for i in inputs],
        [h.make_tensor_value_info(*o) for o in outputs],
        list(constants),
    )


F, I, B = T.FLOAT, T.INT64, T.BOOL
MODELS = {
    "conv": lambda: model(
        [
            n("Conv", "x w b", "c", pads=[1, 1, 1, 1], strides=[2, 2]),
            n("Relu", "c", "r"),
            n("MaxPool", "r", "p", kernel_shape=[2, 2], ceil_mode=1),
            n("GlobalAveragePool", "p", "y"),
        ],
        [("x", F, ["N", 3, "H", "W"])],
        [("y", F, ["N", 4, 1, 1])],
        [weights("w", 4, 3, 3, 3), weights("b", 4)],
    ),
    "depthwise": lambda: model(
        [
            n("Conv", "x w", "c", group=4, auto_pad="SAME_UPPER"),
            n("Clip", "c lo hi", "r"),
            n("ConvTranspose", "r v", "y", strides=[2, 2], output_padding=[1, 1]),
        ],
        [("x", F, [1, 4, 6, 6])],
        [("y", F, None)],
        [
            weights("w", 4, 1, 3, 3),
            weights("v", 4, 2, 2, 2),
            numpy_helper.from_array(np.float32(0), "lo"),
            numpy_helper.from_array(np.float32(6), "hi"),
        ],
    ),
    "gemm": lambda: model(
        [n("Flatten", "x", "f"), n("Gemm", "f w b", "g", transB=1, alpha=0.5), n("Softmax", "g", "y")],
        [("x", F, ["N", 2, 3])],
        [("y", F, ["N", 5])],
        [weights("w", 5, 6), weights("b", 5)],
    ),
    "attention": lambda: model(
        [
            n("MatMul", "x w", "q"),
            n("Transpose", "q", "t", perm=[0, 2, 1]),
            n("MatMul", "q t", "s"),
            n("Softmax", "s", "p", axis=-1),
            n("MatMul", "p q", "o"),
            n("LayerNormalization", "o g", "y", axis=-1),
        ],
        [("x", F, ["N", "T", 4])],
        [("y", F, ["N", "T", 4])],
        [weights("w", 4, 4), weights("g", 4)],
    ),
    "shapes": lambda: model(
        [
            n("Shape", "x", "s"),
            n("Gather", "s zero", "b"),
            n("Unsqueeze", "b axis", "u"),
            n("Concat", "u rest", "t", axis=0),
            n("Reshape", "x t", "r"),
            n("Expand", "r wide", "y"),
        ],
        [("x", F, ["N", "M"])],
        [("y", F, None)],
        [ints("rest", -1, 1), ints("axis", 0), ints("wide", 1, 1, 3), numpy_helper.from_array(np.int64(0), "zero")],
    ),
    "move": lambda: model(
        [
            n("Slice", "x from to axes steps", "s"),
            n("Pad", "s pads", "p", mode="reflect"),
            n("Split", "p", "a b", axis=1, num_outputs=2),
            n("Concat", "b a", "c", axis=1),
            n("Tile", "c times", "y"),
        ],
        [("x", F, ["N", 6])],
        [("y", F, None)],
        [ints("from", -1), ints("to", -7), ints("axes", 1), ints("steps", -1), ints("pads", 0, 1, 0, 1), ints("times", 1, 2)],
    ),
    "index": lambda: model(
        [
            n("Gather", "x i", "g", axis=1),
            n("GatherElements", "x j", "e", axis=1),
            n("ScatterElements", "x j e", "s", axis=1, reduction="add"),
            n("OneHot", "i depth values", "o"),
            n("TopK", "s k", "v w"),
        ],
        [("x", F, ["N", 4]), ("i", I, [3]), ("j", I, ["N", 2])],
        [("v", F, None), ("w", I, None), ("o", F, None)],
        [numpy_helper.from_array(np.int64(5), "depth"), weights("values", 2), ints("k", 2)],
    ),
    "reduce": lambda: model(
        [
            n("ReduceMean", "x a", "m", keepdims=1),
            n("Sub", "x m", "d"),
            n("ReduceSumSquare", "d", "v", keepdims=0),
            n("ArgMax", "x", "i", axis=-1),
            n("CumSum", "x axis", "y"),
        ],
        [("x", F, ["N", "M", 3])],
        [("v", F, None), ("i", I, None), ("y", F, ["N", "M", 3])],
        [ints("a", 1, -1), numpy_helper.from_array(np.int64(1), "axis")],
    ),
    "if": lambda: model(
        [
            n("ReduceSum", "x", "s", keepdims=0),
            n("Greater", "s zero", "c"),
            n(
                "If",
                "c",
                "y",
                then_branch=body([n("Neg", "x", "t")], [], [("t", F, ["N"])]),
                else_branch=body([n("Exp", "x", "e")], [], [("e", F, ["N"])]),
            ),
        ],
        [("x", F, ["N"])],
        [("y", F, ["N"])],
        [numpy_helper.from_array(np.float32(0), "zero")],
    ),
    "loop": lambda: model(
        [
            n(
                "Loop",
                "trip go x",
                "y scan",
                body=body(
                    [n("Identity", "c", "d"), n("Mul", "v half", "w"), n("Add", "w v", "o")],
                    [("k", I, []), ("c", B, []), ("v", F, ["N"])],
                    [("d", B, []), ("w", F, ["N"]), ("o", F, ["N"])],
                ),
            )
        ],
        [("x", F, ["N"])],
        [("y", F, ["N"]), ("scan", F, None)],
        [
            numpy_helper.from_array(np.int64(3), "trip"),
            numpy_helper.from_array(np.array(True), "go"),
            numpy_helper.from_array(np.float32(0.5), "half"),
        ],
    ),
    "recurrent": lambda: model(
        [n("LSTM", "x w r", "y h c", hidden_size=2, direction="bidirectional"), n("GRU", "x v q", "z", hidden_size=2)],
        [("x", F, ["T", 1, 3])],
        [("h", F, None), ("z", F, None)],
        [weights("w", 2, 8, 3), weights("r", 2, 8, 2), weights("v", 1, 6, 3), weights("q", 1, 6, 2)],
    ),
    "open-weights": lambda: model(
        [n("LSTM", "x x r", "y h c", hidden_size=2, direction="bidirectional")],
        [("x", F, ["T", "N", 3])],
        [("h", F, None)],
        [weights("r", 2, 8, 2)],
    ),
    "quantised": lambda: model(
        [
            n("QuantizeLinear", "x s z", "q"),
            n("DequantizeLinear", "q s z", "d"),
            n("DequantizeLinear", "w t", "v", axis=0),
            n("MatMul", "d v", "y"),
        ],
        [("x", F, ["N", 4])],
        [("y", F, ["N", 3])],
        [
            numpy_helper.from_array(np.float32(0.1), "s"),
            numpy_helper.from_array(np.uint8(128), "z"),
            numpy_helper.from_array(np.arange(-6, 6, dtype=np.int8).reshape(4, 3), "w"),
            numpy_helper.from_array(np.full(4, 0.2, np.float32), "t"),
        ],
    ),
    "resize": lambda: model(
        [n("Resize", "x  scales", "r", mode="linear"), n("GridSample", "r grid", "y")],
        [("x", F, [1, 2, 4, 4]), ("grid", F, [1, "H", "W", 2])],
        [("y", F, None)],
        [numpy_helper.from_array(np.array([1, 1, 2, 2], np.float32), "scales")],
        opset=19,
    ),
    "integers": lambda: model(
        [
            n("Div", "a b", "d"),
            n("Mod", "a b", "m"),
            n("Cast", "d", "f", to=F),
            n("Less", "d m", "l"),
            n("Where", "l d m", "w"),
            n("BitShift", "u s", "v", direction="LEFT"),
        ],
        [("a", I, ["N", 1]), ("b", I, ["M"]), ("u", T.UINT8, ["K"]), ("s", T.UINT8, ["K"])],
        [("f", F, None), ("w", I, None), ("v", T.UINT8, ["K"])],
    ),
    "function": lambda: model(
        [h.make_node("Swish", ["x"], ["s"], domain="own", k=2.0), h.make_node("Swish", ["s"], ["y"], domain="own")],
        [("x", F, ["N"])],
        [("y", F, ["N"])],
        functions=[
            h.make_function(
                "own",
                "Swish",
                ["a"],
                ["b"],
                [n("Sigmoid", "a", "g"), n("Mul", "a g", "b")],
                [h.make_opsetid("", 18)],
                ["k"],
            )
        ],
    ),
    "einsum": lambda: model(
        [n("Einsum", "x y", "z", equation="bij,bjk->bik"), n("DepthToSpace", "w", "v", blocksize=2)],
        [("x", F, ["B", "I", "J"]), ("y", F, ["B", "J", "K"]), ("w", F, [1, 4, "H", "W"])],
        [("z", F, None), ("v", F, None)],
    ),
}

for name, make in MODELS.items():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    folder.joinpath(name + ".onnx").write_bytes(make().SerializeToString())
