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
    ("borders of computed amounts, which may cut off",
     """(float[2, n] x, float[m] k) => (float[?, ?] zeros, float[?, ?] edges, float[?, ?] mirror, float[?, ?] around)
          <int64[1] four = {4}, int64[1] none = {0}, int64[1] axis = {1}> {
          s = Shape(k)
          low = Sub(four, s)
          pads = Concat<axis = 0>(low, s)
          zeros = Pad<mode = "constant">(x, pads, , axis)
          more = Concat<axis = 0>(s, none)
          edges = Pad<mode = "edge">(x, more, , axis)
          mirror = Pad<mode = "reflect">(x, more, , axis)
          around = Pad<mode = "wrap">(x, more, , axis) }""",
     [{"x": (2, 5), "k": (2,)}, {"x": (2, 7), "k": (6,)}, {"x": (2, 3), "k": (1,)}]),
    ("slices backwards and in steps, with computed ends",
     """(float[n, 7] x, float[m] k) => (float[?, 7] all, float[?, 7] some, float[?, ?] third, float[?, ?] both)
          <int64[1] last = {-1}, int64[1] front = {-9223372036854775807}, int64[1] axis = {0}, int64[1] back = {-1}, int64[1] four = {4},
           int64[1] zero = {0}, int64[1] three = {3}, int64[2] starts = {-1, 1}, int64[2] ends = {-4, 6}, int64[2] axes = {0, 1},
           int64[2] steps = {-2, 3}> {
          all = Slice(x, last, front, axis, back)
          some = Slice(x, four, front, axis, back)
          s = Shape(k)
          third = Slice(x, zero, s, axis, three)
          both = Slice(x, starts, ends, axes, steps) }""",
     [{"x": (9, 7), "k": (5,)}, {"x": (3, 7), "k": (8,)}, {"x": (1, 7), "k": (1,)}]),
    ("as many copies, parts and largest ones as were computed",
     """(float[n, 6] x, float[m] k) => (float[?, ?] copies, float[?, 6] a, float[?, 6] b, float[?, 6] c, float[?, ?] largest, int64[?, ?] places)
          <int64[1] one = {1}> {
          s = Shape(k)
          repeats = Concat<axis = 0>(s, one)
          copies = Tile(x, repeats)
          a, b, c = Split<axis = 0, num_outputs = 3>(copies)
          largest, places = TopK<axis = 1>(x, s) }""",
     [{"x": (4, 6), "k": (2,)}, {"x": (1, 6), "k": (5,)}, {"x": (3, 6), "k": (6,)}, {"x": (1, 6), "k": (4,)}]),
    ("spectra of signals of any length",
     """(float[b, n] x, float[b, m, 1] k) => (float[?, ?, ?, 2] frames, float[?, ?, 2] whole, float[?, ?, 2] half, float[?, ?, 2] again, float[?, 16, 2] fixed)
          <int64 step = {5}, float[8] window = {0.5, 1, 1.5, 2, 2, 1.5, 1, 0.5}, int64 length = {16}> {
          frames = STFT(x, step, window)
          whole = DFT<axis = 1>(k)
          half = DFT<axis = 1, onesided = 1>(k)
          again = DFT<axis = 1, inverse = 1>(whole)
          fixed = DFT<axis = 1>(k, length) }""",
     [{"x": (1, 30), "k": (1, 12, 1)}, {"x": (2, 8), "k": (2, 1, 1)}, {"x": (3, 47), "k": (3, 33, 1)}]),
    ("heights and widths that are resized by scales",
     """(float[b, 2, h, w] x) => (float[?, ?, ?, ?] twice, float[?, ?, ?, ?] smooth, float[?, ?, ?, ?] corners, float[?, ?, ?, ?] cubic, float[?, ?, ?, ?] less)
          <float[4] two = {1, 1, 2, 2}, float[4] some = {1, 1, 1.5, 0.7}> {
          twice = Resize<mode = "nearest", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor">(x, , two)
          smooth = Resize<mode = "linear">(x, , some)
          corners = Resize<mode = "linear", coordinate_transformation_mode = "align_corners">(x, , two)
          cubic = Resize<mode = "cubic", exclude_outside = 1, cubic_coeff_a = -0.5>(x, , some)
          less = Resize<mode = "nearest", nearest_mode = "ceil">(x, , some) }""",
     [{"x": (1, 2, 4, 10)}, {"x": (2, 2, 7, 3)}, {"x": (1, 2, 1, 6)}]),
    ("heights and widths that are resized to those of another tensor",
     """(float[b, 2, h, w] x, float[1, 1, p, q] k) => (float[?, ?, ?, ?] near, float[?, ?, ?, ?] smooth, float[?, ?, ?, ?] torch)
          <int64[1] two = {2}, int64[1] four = {4}, int64[1] axis = {0}, int64[1] zero = {0}> {
          s = Shape(k)
          hw = Slice(s, two, four, axis)
          t = Shape(x)
          nc = Slice(t, zero, two, axis)
          sizes = Concat<axis = 0>(nc, hw)
          near = Resize<mode = "nearest">(x, , , sizes)
          smooth = Resize<mode = "linear", coordinate_transformation_mode = "half_pixel_symmetric">(x, , , sizes)
          torch = Resize<mode = "cubic", coordinate_transformation_mode = "pytorch_half_pixel">(x, , , sizes) }""",
     [{"x": (1, 2, 4, 5), "k": (1, 1, 8, 7)}, {"x": (2, 2, 3, 6), "k": (1, 1, 3, 4)}, {"x": (1, 2, 1, 2), "k": (1, 1, 5, 3)}]),
    ("extents that are halved as floats",
     """(float[h, w] x) => (float[?, ?] part, float[?] places, bool[?] more)
          <float half = {0.5}, float one = {1}, float zero = {0}, int64[1] axis = {0}, float far = {2.25}, int64[1] start = {0}> {
          s = Shape<start = 0, end = 1>(x)
          f = Cast<to = 1>(s)
          g = Mul(f, half)
          up = Ceil(g)
          n = Cast<to = 7>(up)
          part = Slice(x, start, n, axis)
          scalar = Squeeze(g)
          places = Range(zero, scalar, one)
          more = Greater(f, far) }""",
     [{"x": (5, 2)}, {"x": (2, 3)}, {"x": (1, 1)}]),
    ("branches of different ranks, of which extents leave one",
     """(float[n, 3, m] x, float[3, 4] w) => (float[?, 4] y) <int64 two = {2}, int64 one = {1}, int64[1] axis = {2}> {
          s = Shape(x)
          last = Gather(s, two)
          single = Equal(last, one)
          v = If (single) <
            then_branch = yes () => (float[?, 3] a) { a = Squeeze(x, axis) },
            else_branch = no () => (float[?, 3, ?] b) { b = Identity(x) }>
          y = Gemm(v, w) }""",
     [{"x": (2, 3, 1), "w": (3, 4)}, {"x": (5, 3, 1), "w": (3, 4)}, {"x": (2, 3, 2), "w": (3, 4)}]),
    ("a Squeeze without axes that must take an open extent away",
     "(float[n, m, 4] x, float[4, 3] w) => (float[3] y) { p = MatMul(x, w) q = Abs(p) y = Squeeze(q) }",
     [{"x": (1, 1, 4), "w": (4, 3)}]),
    ("a sequence that is made, changed and looked into",
     """(float[n, 3] x, float[m, 3] z) => (float[?, ?] y, float[?, ?] last, int64 count)
          <int64 one = {1}, int64 minus = {-1}, int64 zero = {0}> {
          s = SequenceConstruct(x, z)
          w = Neg(x)
          t = SequenceInsert(s, w, one)
          u = SequenceErase(t, zero)
          v = SequenceInsert(u, x)
          y = ConcatFromSequence<axis = 0>(v)
          last = SequenceAt(v, minus)
          count = SequenceLength(v) }""",
     [{"x": (2, 3), "z": (1, 3)}, {"x": (1, 3), "z": (4, 3)}]),
    ("a sequence of parts, stacked again",
     """(float[3, n] x) => (float[?, ?, ?] y, float[?, ?] z) <int64[2] sizes = {1, 2}> {
          s = SplitToSequence<axis = 0, keepdims = 0>(x)
          y = ConcatFromSequence<axis = 1, new_axis = 1>(s)
          t = SplitToSequence<axis = 0>(x, sizes)
          z = ConcatFromSequence<axis = 0>(t) }""",
     [{"x": (3, 2)}, {"x": (3, 5)}]),
    ("an optional that is there",
     """(float[n] x) => (float[?] y, bool has) { o = Optional(x) has = OptionalHasElement(o) y = OptionalGetElement(o) }""",
     [{"x": (2,)}, {"x": (5,)}]),
    ("a scan over sequences of any length",
     """(float[2, n, 3] x, float[2, 3] s) => (float[2, 3] last, float[?, ?, ?] sums, float[?, ?, ?] back) {
          last, sums, back = Scan<num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [1, 0], scan_output_directions = [0, 1],
            body = step (float[2, 3] state, float[2, 3] one) => (float[2, 3] next, float[2, 3] y, float[2, 3] z) {
              next = Add(state, one)
              y = Identity(next)
              z = Neg(one) }>(s, x) }""",
     [{"x": (2, 5, 3), "s": (2, 3)}, {"x": (2, 1, 3), "s": (2, 3)}, {"x": (2, 9, 3), "s": (2, 3)}]),
    ("a loop that collects until its own condition ends it",
     """(float[n, 2] x) => (float[n, 2] last, float[?, ?, 2] all) <int64 first = {0}, bool yes = {1}> {
          s = Shape<end = 1>(x)
          t = Squeeze(s)
          c, last, all = Loop(, yes, first, x) <
            body = step (int64 i, bool going, int64 c, float[n, 2] a) => (bool more, int64 d, float[n, 2] b, float[n, 2] e) {
              one = Constant<value = int64 {1}>()
              d = Add(c, one)
              more = Less(d, t)
              b = Add(a, x)
              e = Neg(a) }> }""",
     [{"x": (4, 2)}, {"x": (1, 2)}, {"x": (3, 2)}]),
    ("a loop that collects as often as an extent says",
     """(float[n, 2] x) => (float[n, 2] last, float[?, ?, 2] all) {
          s = Shape<end = 1>(x)
          t = Squeeze(s)
          last, all = Loop(t, , x) <
            body = step (int64 i, bool going, float[n, 2] a) => (bool more, float[n, 2] b, float[n, 2] e) {
              more = Identity(going)
              b = Add(a, x)
              e = Neg(a) }> }""",
     [{"x": (4, 2)}, {"x": (1, 2)}, {"x": (3, 2)}]),
    ("Squeeze without axes of open extents",
     "(float[n, 1, m] x) => (float[?, ?] y) { a = Abs(x) b = Squeeze(a) y = Exp(b) }",
     [{"x": (3, 1, 4)}, {"x": (1, 1, 4)}, {"x": (3, 1, 1)}, {"x": (0, 1, 3)}]),
    ("a computed 0 copies the first extent",
     "(float[n, m] x, float[k] t) => (float[?, ?] y) <int64[1] rest = {-1}> { s = Shape(t) to = Concat<axis = 0>(s, rest) y = Reshape(x, to) }",
     [{"x": (4, 6), "t": (2,)}, {"x": (4, 6), "t": (0,)}, {"x": (4, 6), "t": (8,)}, {"x": (4, 6), "t": (5,)}, {"x": (4, 0), "t": (0,)}]),
    ("a computed 0 copies the second extent",
     "(float[n, m] x, float[k] t) => (float[?, ?] y) <int64[1] rest = {-1}> { s = Shape(t) to = Concat<axis = 0>(rest, s) y = Reshape(x, to) }",
     [{"x": (4, 6), "t": (2,)}, {"x": (4, 6), "t": (0,)}, {"x": (4, 6), "t": (5,)}]),
    ("a computed 0 that has nothing to copy",
     """(float[n, m] x, float[k] t) => (float[?, ?, ?] y) <int64[2] head = {-1, 2}> {
          s = Shape(t) to = Concat<axis = 0>(head, s) y = Reshape(x, to) }""",
     [{"x": (4, 6), "t": (2,)}, {"x": (4, 6), "t": (0,)}, {"x": (4, 6), "t": (1,)}]),
    ("a computed 0 that is allowed",
     "(float[n, m] x, float[k] t) => (float[?, 3] y) <int64[1] three = {3}> { s = Shape(t) to = Concat<axis = 0>(s, three) y = Reshape<allowzero = 1>(x, to) }",
     [{"x": (4, 6), "t": (8,)}, {"x": (0, 6), "t": (0,)}, {"x": (4, 6), "t": (0,)}]),
    ("a view of all rows, and back",
     """(float[b, s, 8] x, float[8, 8] w) => (float[?, ?, 8] y) <int64[2] flat = {-1, 8}, int64[1] width = {8}, int64[1] from = {0}, int64[1] two = {2}> {
          shape = Shape(x) rows = Slice(shape, from, two) f = Reshape(x, flat) g = MatMul(f, w)
          to = Concat<axis = 0>(rows, width) r = Reshape(g, to) y = Add(r, x) }""",
     [{"x": (2, 3, 8), "w": (8, 8)}, {"x": (1, 1, 8), "w": (8, 8)}, {"x": (0, 3, 8), "w": (8, 8)}, {"x": (3, 0, 8), "w": (8, 8)}]),
    ("Expand to what need not fit",
     "(float[n, m] x, float[k, l] t) => (float[?, ?] y) { s = Shape(t) y = Expand(x, s) }",
     [{"x": (3, 4), "t": (3, 4)}, {"x": (1, 4), "t": (3, 1)}, {"x": (1, 1), "t": (0, 2)}, {"x": (3, 4), "t": (0, 1)}, {"x": (3, 4), "t": (2, 4)}]),
    ("sizes that do not add up to an open extent",
     "(float[n, 6] x) => (float[?, 6] a, float[?, 6] b) <int64[2] s = {2, 0}> { a, b = Split<axis = 0>(x, s) }",
     [{"x": (2, 6)}, {"x": (3, 6)}, {"x": (0, 6)}]),
    ("the largest of no elements",
     "(float[n, m] x) => (int64[?, 1] y) { y = ArgMax<axis = 1>(x) }",
     [{"x": (2, 3)}, {"x": (0, 3)}, {"x": (3, 0)}]),
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
