# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One element at a time, with broadcasting: also along extents that happen to be 1 in some launches."""
import numpy as np

from net import FLOATS, INTS, Reject

WEIGHT = 3
# Domains that ask for care: the input is first made to lie in them.
PLAIN = {"Abs": 1, "Neg": 1, "Relu": 1, "Sigmoid": 0, "Tanh": 0, "Erf": 0, "Sin": 0, "Cos": 0, "Atan": 0, "Sinh": 0, "Cosh": 0, "Asinh": 0,
         "Exp": 0, "Softplus": 0, "Softsign": 0, "HardSwish": 0, "Identity": 1, "Sign": 1, "Floor": 1, "Ceil": 1, "Round": 1, "Tan": 0}
JUMPS = {"Sign", "Floor", "Ceil", "Round", "IsInf"}


def plain(net):
    op = net.pick(PLAIN)
    x = net.tensor(exact=op in JUMPS)
    net.node(op, [x], exact=PLAIN[op])


def tuned(net):
    x = net.tensor()
    op = net.pick(["LeakyRelu", "Elu", "Selu", "Celu", "HardSigmoid", "ThresholdedRelu", "Shrink", "Gelu", "Mish", "Swish"])
    if op in ("ThresholdedRelu", "Shrink") and not x.exact:
        raise Reject("jumps")
    attributes = {"LeakyRelu": {"alpha": 0.25}, "Elu": {"alpha": 0.5}, "Celu": {"alpha": 2.0}, "HardSigmoid": {"alpha": 0.3, "beta": 0.4},
                  "ThresholdedRelu": {"alpha": 0.75}, "Shrink": {"lambd": 0.5, "bias": 0.25}}.get(op, {})
    if op == "Gelu" and net.chance(0.5):
        attributes = {"approximate": "tanh"}
    net.node(op, [x], **(attributes if net.chance(0.7) else {}))


def positive(net):
    """Functions that want positive numbers, of x*x + 1/2 or of |x| + 1/2."""
    x = net.tensor()
    square = net.node("Mul", [x, x], exact=True) if net.chance(0.5) else net.node("Abs", [x], exact=True)
    y = net.node("Add", [square, net.const(np.array(0.5, x.arrays[0].dtype), x.kind)], exact=True)
    net.node(net.pick(["Log", "Sqrt", "Reciprocal"]), [y])


def binary(net):
    op = net.pick(["Add", "Sub", "Mul", "Add", "Mul"])
    x = net.tensor((net.default,) * 6 + ("i32", "i64") if net.chance(0.85) else INTS + FLOATS)
    y = net.partner(x)
    net.node(op, [x, y] if net.chance(0.7) else [y, x], exact=True)


def divide(net):
    x = net.tensor()
    y = net.partner(x, draw=lambda shape, i: net.draw(x.kind, shape, 1, 3))
    net.node("Div", [x, y])


def whole_divide(net):
    kind = net.pick(INTS)
    x = net.tensor((kind,))
    y = net.partner(x, draw=lambda shape, i: net.draw(kind, shape, 1, 5))
    if net.chance(0.5):
        net.node("Div", [x, y])
    else:
        net.node("Mod", [x, y], fmod=net.pick([None, 0, 1]))


def float_mod(net):
    x = net.tensor(exact=True)
    y = net.partner(x, draw=lambda shape, i: net.draw(x.kind, shape, 1, 3))
    net.node("Mod", [x, y], fmod=1, exact=True)


def power(net):
    x = net.tensor()
    kind = net.pick([x.kind, x.kind, "f32", "i32", "i64"])
    y = net.partner(x, kind, draw=lambda shape, i: net.numbers.integers(0, 4, shape).astype({"i32": np.int32, "i64": np.int64}.get(kind, x.arrays[0].dtype if kind == x.kind else np.float32)))
    net.node("Pow", [x, y])


def many(net):
    x = net.tensor()
    operands = [x] + [net.partner(x) for _ in range(net.pick([0, 1, 2, 3]))]
    op = net.pick(["Sum", "Mean", "Max", "Min"])
    net.node(op, operands, exact=op != "Mean")


def extreme_ints(net):
    x = net.tensor(net.pick([("i32",), ("i64",), ("u8",), ("i8",), ("u32",), ("u64",)]))
    net.node(net.pick(["Max", "Min"]), [x, net.partner(x)])


def compare(net):
    op = net.pick(["Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"])
    x = net.tensor((net.default, "i32", "i64"), exact=True)
    net.node(op, [x, net.partner(x, exact=True)])


def logic(net):
    x = net.tensor(("bool",), exact=True)
    op = net.pick(["And", "Or", "Xor", "Not"])
    net.node(op, [x] if op == "Not" else [x, net.partner(x)])


def where(net):
    x = net.tensor((net.default, "i64", "i32", "bool", "u8"))
    c = net.partner(x, "bool")
    net.node("Where", [c, x, net.partner(x)] if net.chance(0.5) else [c, net.partner(x), x], exact=True)


def clip(net):
    x = net.tensor((net.default, net.default, "i32", "i64", "i8", "u8"))
    low = net.const(np.array(net.pick([0, 1, -1]) if not x.kind.startswith("u") else 1).astype(x.arrays[0].dtype), x.kind)
    high = net.const(np.array(net.pick([2, 4])).astype(x.arrays[0].dtype), x.kind)
    if net.chance(0.3):
        high = net.input(x.kind, [], lambda shape, i: net.draw(x.kind, shape, 2, 3))
    net.node("Clip", [x, low if net.chance(0.7) else None, high if net.chance(0.7) else None], exact=True)


def prelu(net):
    x = net.tensor((net.default,), ranks=(1, 5))
    dims = [d if net.chance(0.5) else net.const_extent(1) for d in x.dims]
    dims = dims[net.rng.randrange(len(dims)):]
    net.node("PRelu", [x, net.fresh(x.kind, dims)], exact=True)


def bits(net):
    kind = net.pick(["u8", "u16", "u32", "u64"])
    x = net.tensor((kind,), exact=True)
    if net.chance(0.5):
        y = net.partner(x, draw=lambda shape, i: net.draw(kind, shape, 0, 7))
        net.node("BitShift", [x, y], direction=net.pick(["LEFT", "RIGHT"]))
    elif net.chance(0.3):
        net.node("BitwiseNot", [x])
    else:
        net.node(net.pick(["BitwiseAnd", "BitwiseOr", "BitwiseXor"]), [x, net.partner(x)])


def tests(net):
    x = net.tensor((net.default,))
    if net.chance(0.5):
        x = net.input(net.default, x.dims, lambda shape, i: np.asarray(net.numbers.choice([0.0, np.inf, -np.inf, np.nan, 1.0], shape)).astype(x.arrays[0].dtype))
    op = net.pick(["IsNaN", "IsInf"])
    net.node(op, [x], **({"detect_negative": net.pick([0, 1])} if op == "IsInf" and net.chance(0.5) else {}))


def int_unary(net):
    x = net.tensor(("i8", "i32", "i64", "i16"))
    net.node(net.pick(["Abs", "Neg", "Sign", "Relu"]), [x])


def cast(net):
    to = net.pick(["f32", "f64", "f16", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "bool"], [4, 1, 2, 1, 1, 1, 1, 3, 1, 3, 1, 2])
    from net import TYPES
    x = net.tensor(FLOATS + INTS + ("bool",), exact=to not in FLOATS)
    if x.kind in FLOATS and to not in FLOATS + ("bool",):
        low, high = (0, 255) if to.startswith("u") else (-128, 127)
        if not all(((a >= low) & (a <= high)).all() for a in x.arrays):
            raise Reject("out of range: no meaning")
    if net.chance(0.2) and net.opset >= 15:
        y = net.tensor((to,))
        net.node("CastLike", [x, y], exact=True)
    else:
        net.node("Cast", [x], to=TYPES[to][0], exact=True)


OPS = {"plain": (5, plain), "tuned": (3, tuned), "positive": (2, positive), "binary": (8, binary), "divide": (2, divide),
       "whole_divide": (1, whole_divide), "float_mod": (1, float_mod), "power": (1, power), "many": (2, many), "extreme_ints": (1, extreme_ints),
       "compare": (2, compare), "logic": (1, logic), "where": (3, where), "clip": (2, clip), "prelu": (1, prelu), "bits": (1, bits),
       "tests": (1, tests), "int_unary": (1, int_unary), "cast": (3, cast)}
