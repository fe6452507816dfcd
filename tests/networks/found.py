# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small networks that failed once, in ONNX's own text; the random ones found them. They run before those, judged alike.

A launch gives for each input a shape, which is filled with numbers at random, or an array.
"""
import numpy as np
import onnx.parser

import cases
import judge

HEAD = '<ir_version: 8, opset_import: ["": 18]> net '

# title, text without its head, launches
FOUND = [
    ("tile by zero beside an open extent",
     "(float[4, n, 4] x) => (float[?, ?, ?] y) <int64[3] r = {2, 0, 3}> { y = Tile(x, r) }",
     [{"x": (4, 5, 4)}, {"x": (4, 1, 4)}]),
    ("prefix sums from behind beside an open extent",
     "(double[n, 3, 3] x) => (double[?, ?, ?] y) <int32 axis = {-2}> { y = CumSum<reverse = 1>(x, axis) }",
     [{"x": np.arange(36.0).reshape(4, 3, 3)}, {"x": np.arange(9.0).reshape(1, 3, 3)}]),
    ("a slice of the last ones, as many as were computed",
     """(float[n, 5] x, float[m] k) => (float[?, ?] y) <int64[1] far = {9223372036854775807}, int64[1] axis = {0}> {
          s = Shape(k)
          from = Neg(s)
          y = Slice(x, from, far, axis) }""",
     [{"x": (4, 5), "k": (2,)}, {"x": (3, 5), "k": (7,)}, {"x": (1, 5), "k": (1,)}]),
    ("a difference of extents that is negative",
     """(float[n] x, float[m] k) => (bool[?] less, int64[?] half, int64[?] rest, float[?] part)
          <int64[1] minus = {-1}, int64[1] two = {2}, int64[1] three = {3}, int64[1] zero = {0}> {
          s = Shape(x)
          t = Shape(k)
          d = Sub(s, t)
          less = Less(d, minus)
          half = Div(d, two)
          rest = Mod(d, three)
          least = Min(s, two)
          part = Slice(x, zero, least, zero) }""",
     [{"x": (4,), "k": (1,)}, {"x": (1,), "k": (4,)}, {"x": (3,), "k": (3,)}]),
    ("branches that flatten what they take",
     """(bool c, float[2, n] x) => (float[?] y) {
          y = If (c) <
            then_branch = yes () => (float[?] a) { p = Abs(x) flat = Constant<value = int64[1] {-1}>() a = Reshape(p, flat) },
            else_branch = no () => (float[?] b) { q = Neg(x) flat2 = Constant<value = int64[1] {-1}>() b = Reshape(q, flat2) }> }""",
     [{"c": np.array(True), "x": (2, 3)}, {"c": np.array(False), "x": (2, 1)}]),
    ("branches that flatten three dimensions",
     """(bool c, float[3, 7, n] x) => (float[?] y) {
          y = If (c) <
            then_branch = yes () => (float[?] a) { p = Abs(x) q = Relu(p) flat = Constant<value = int64[1] {-1}>() a = Reshape(q, flat) },
            else_branch = no () => (float[?] b) { r = Neg(x) flat2 = Constant<value = int64[1] {-1}>() b = Reshape(r, flat2) }> }""",
     [{"c": np.array(True), "x": (3, 7, 2)}, {"c": np.array(False), "x": (3, 7, 5)}]),
    ("samples of an image without rows",
     "(float[2, 3, h, 4] x, float[2, 1, 5, 2] g) => (float[?, ?, ?, ?] y) { y = GridSample<padding_mode = \"border\">(x, g) }",
     [{"x": (2, 3, 3, 4), "g": (2, 1, 5, 2)}, {"x": (2, 3, 0, 4), "g": (2, 1, 5, 2)}]),
    ("a diagonal of what need not be square",
     "(float[n, m] x) => (float[?] y) { y = Einsum<equation = \"ii->i\">(x) }",
     [{"x": (3, 3)}, {"x": (6, 1)}, {"x": (1, 6)}, {"x": (1, 1)}]),
]


def all_cases():
    """The networks as cases, with negative seeds."""
    for number, (title, text, launches) in enumerate(FOUND):
        model = onnx.parser.parse_model(HEAD + text)
        rng = np.random.default_rng(number)
        kinds = {i.name: onnx.helper.tensor_dtype_to_np_dtype(i.type.tensor_type.elem_type) for i in model.graph.input}
        filled = [{name: (rng.integers(-12, 13, v) / 4).astype(kinds[name]) if isinstance(v, tuple) else np.asarray(v, kinds[name])
                   for name, v in launch.items()} for launch in launches]
        expected = judge.run_model(model, filled)
        if isinstance(expected, str):
            raise SystemExit(f"'{title}' is refused by ONNX Runtime: {expected}")
        case = cases.Case(-1 - number, model, filled, expected)
        case.title = title
        yield case
