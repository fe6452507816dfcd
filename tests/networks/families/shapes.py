# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Extents that are computed: Shape, Gather, Concat and arithmetic, and the operators that take what comes out."""
import numpy as np

from net import TYPES, Reject

WEIGHT = 3


def shape_of(net, x):
    if net.opset >= 15 and net.chance(0.2):
        return net.node("Shape", [x], known=True, start=net.rng.randrange(x.rank), end=x.rank)
    return net.node("Shape", [x], known=True)


def extent_of(net, x, d, scalar=None):
    """Extent d of x as a vector with one element (or a scalar), in one of the ways that exporters write it."""
    scalar = net.chance(0.3) if scalar is None else scalar
    whole = net.node("Shape", [x], known=True)
    way = net.pick(["gather", "slice", "gather0", "part"])
    if way == "part" and net.opset >= 15:
        one = net.node("Shape", [x], known=True, start=d, end=d + 1)
    elif way == "slice":
        one = net.node("Slice", [whole, net.ints(d), net.ints(d + 1), net.ints(0)], known=True)
    elif way == "gather0":
        single = net.node("Gather", [whole, net.const(np.array(d, np.int64))], known=True)
        if scalar:
            return single
        one = net.node("Unsqueeze", [single, net.ints(0)], known=True)
    else:
        one = net.node("Gather", [whole, net.ints(d)], known=True)
    return net.node("Squeeze", [one, net.ints(0)], known=True) if scalar else one


def computed(net, x, d, scalar=False):
    """An extent after some arithmetic; what comes out is not negative."""
    value = extent_of(net, x, d, scalar)
    for _ in range(net.pick([0, 0, 1, 2])):
        op, number = net.pick([("Add", 1), ("Mul", 2), ("Sub", 1), ("Div", 2), ("Add", 3), ("Mul", 1)])
        if op == "Sub" and any((a < number).any() for a in value.arrays):
            continue
        value = net.node(op, [value, net.const(np.array(number if scalar else [number], np.int64))], known=True)
    if net.chance(0.15):  # as exporters do for sizes of images
        value = net.node("Cast", [value], known=True, to=TYPES["f32"][0])
        value = net.node("Mul", [value, net.const(np.array(net.pick([0.5, 2.0, 1.5]), np.float32))], known=True)
        value = net.node("Floor", [value], known=True)
        value = net.node("Cast", [value], known=True, to=TYPES["i64"][0])
    if any((a > 200).any() for a in value.arrays):
        raise Reject("too large")
    return value


def reshape(net):
    """Like a view in PyTorch: the batch from the tensor, parts merged or split, -1 for the rest."""
    x = net.tensor(ranks=(2, 4))
    parts = [extent_of(net, x, d, False) if net.chance(0.6) else net.ints(0) for d in range(x.rank)]
    way = net.pick(["tail", "head", "same", "split"])
    if way == "tail":
        parts = parts[:net.rng.randrange(1, x.rank)] + [net.ints(-1)]
    elif way == "head":
        parts = [net.ints(-1)] + [extent_of(net, x, d, False) for d in range(net.rng.randrange(1, x.rank), x.rank)]
    elif way == "split":
        at = net.rng.randrange(x.rank)
        count = net.pick([p for p in (1, 2, 3, 4) if all(n % p == 0 for n in x.dims[at])])
        rest = net.node("Div", [extent_of(net, x, at, False), net.ints(count)], known=True) if net.chance(0.6) else net.ints(-1)
        behind = [extent_of(net, x, d, False) for d in range(at + 1, x.rank)]
        parts = parts[:at] + net.pick([[net.ints(count), rest], [rest, net.ints(count)]]) + behind
    else:
        parts[net.rng.randrange(x.rank)] = net.ints(-1)
    target = net.node("Concat", parts, axis=0, known=True) if len(parts) > 1 or net.chance(0.5) else parts[0]
    net.node("Reshape", [x, target], exact=True)


def product(net):
    """Everything before a dimension as one, by ReduceProd or Mul of extents."""
    x = net.tensor(ranks=(2, 4))
    if net.chance(0.5):
        count = net.node("Mul", [extent_of(net, x, 0, False), extent_of(net, x, 1, False)], known=True)
        rest = [extent_of(net, x, d, False) for d in range(2, x.rank)]
    else:
        part = net.node("Slice", [net.node("Shape", [x], known=True), net.ints(0), net.ints(2)], known=True)
        if net.opset >= 18:
            count = net.node("ReduceProd", [part, net.ints(0)], keepdims=1, known=True)
        else:
            count = net.node("ReduceProd", [part], keepdims=1, axes=[0], known=True)
        rest = [net.ints(-1)] if x.rank > 2 else []
    net.node("Reshape", [x, net.node("Concat", [count, *rest], axis=0, known=True)], exact=True)


def back(net):
    """Reshaped, something computed, and reshaped to where it was."""
    x = net.tensor(ranks=(2, 4))
    flat = net.node("Reshape", [x, net.ints(-1, x.dims[-1][0]) if x.fixed(x.rank - 1) else net.ints(-1)], exact=True)
    y = net.node(net.pick(["Relu", "Neg", "Abs"]), [flat], exact=True)
    net.node("Reshape", [y, net.node("Shape", [x], known=True)], exact=True)


def expand(net):
    x = net.tensor(ranks=(0, 3))
    other = net.tensor(ranks=(1, 3))
    if net.chance(0.5):
        net.node("Expand", [x, net.node("Shape", [other], known=True)], exact=True)
    else:
        lead = computed(net, other, net.rng.randrange(other.rank))
        parts = [lead] + [net.pick([extent_of(net, x, d, False), net.ints(1)]) for d in range(x.rank)]
        net.node("Expand", [x, net.node("Concat", parts, axis=0, known=True)], exact=True)


def expand_minus_one(net):
    """As PyTorch exports expand(-1, n): -1 is replaced by 1 where it stands."""
    x = net.tensor(ranks=(1, 3))
    other = net.tensor(ranks=(1, 3))
    wanted = net.node("Concat", [net.ints(-1) if net.chance(0.5) else extent_of(net, x, d, False) for d in range(x.rank)], axis=0, known=True)
    wanted = net.node("Concat", [extent_of(net, other, 0, False), wanted], axis=0, known=True)
    minus = net.node("Mul", [net.node("ConstantOfShape", [net.ints(x.rank + 1)], known=True, value=one(1, np.int64)), net.const(np.array(-1, np.int64))], known=True)
    ones = net.node("ConstantOfShape", [net.ints(x.rank + 1)], known=True, value=one(1, np.int64))
    net.node("Expand", [x, net.node("Where", [net.node("Equal", [wanted, minus], known=True), ones, wanted], known=True)], exact=True)


def one(value, dtype):
    from onnx import numpy_helper
    return numpy_helper.from_array(np.array([value], dtype))


def filled(net):
    x = net.tensor(ranks=(1, 4))
    number = net.pick([None, one(1.5, np.float32), one(3, np.int64), one(True, np.bool_), one(-2, np.int32)])
    if net.chance(0.5):
        wanted = net.node("Shape", [x], known=True)
    else:
        wanted = net.node("Concat", [computed(net, x, net.rng.randrange(x.rank)) for _ in range(net.pick([1, 2]))], axis=0, known=True)
    net.node("ConstantOfShape", [wanted], value=number, exact=True)


def counted(net):
    x = net.tensor(ranks=(1, 4))
    limit = computed(net, x, net.rng.randrange(x.rank), scalar=True)
    start, step = net.pick([(0, 1), (1, 1), (0, 2), (2, 3)])
    if net.chance(0.2):
        limit = net.node("Cast", [limit], known=True, to=TYPES["f32"][0])
        numbers = net.node("Range", [net.const(np.array(start, np.float32)), limit, net.const(np.array(step, np.float32))], exact=True)
    else:
        numbers = net.node("Range", [net.const(np.array(start, np.int64)), limit, net.const(np.array(step, np.int64))], exact=True)
    if net.chance(0.5):
        net.node("Less", [net.node("Unsqueeze", [numbers, net.ints(0)], exact=True), net.node("Unsqueeze", [numbers, net.ints(1)], exact=True)])


def part(net):
    """A slice whose ends are computed."""
    x = net.tensor(ranks=(1, 4))
    other = net.tensor(ranks=(1, 4)) if net.chance(0.4) else x
    d = net.rng.randrange(x.rank)
    bound = computed(net, other, net.rng.randrange(other.rank))
    way = net.pick(["to", "from", "half", "last"])
    if way == "half":
        bound = net.node("Div", [extent_of(net, x, d, False), net.ints(2)], known=True)
        way = net.pick(["to", "from"])
    if way == "last":
        bound, way = net.node("Neg", [bound], known=True), "from"
    start, end = (net.ints(0), bound) if way == "to" else (bound, net.ints(net.pick([2**63 - 1, 2**31 - 1])))
    net.node("Slice", [x, start, end, net.ints(d)], exact=True)


def causal(net):
    """A triangle for as many rows as there are, cut out of a constant one."""
    x = net.tensor(ranks=(2, 4), want=lambda v: max(v.dims[-1]) <= 40 and max(v.dims[-2]) <= 40)
    whole = net.const(np.tril(np.ones((40, 40), np.float32)).astype(x.arrays[0].dtype), x.kind)
    rows = net.node("Slice", [whole, net.ints(0), extent_of(net, x, x.rank - 2, False), net.ints(0)], exact=True)
    mask = net.node("Slice", [rows, net.ints(0), extent_of(net, x, x.rank - 1, False), net.ints(1)], exact=True)
    net.node("Mul", [x, mask], exact=True)


def pad(net):
    """Padded to a multiple, or by an amount that is computed."""
    x = net.tensor(ranks=(1, 4), small=True)
    d = net.rng.randrange(x.rank)
    size = extent_of(net, x, d, False)
    if net.chance(0.5):
        amount = net.node("Mod", [net.node("Neg", [size], known=True), net.ints(net.pick([2, 4]))], known=True)
    else:
        amount = computed(net, x, d)
    parts = [net.ints(*[0] * (x.rank + d)), amount, net.ints(*[0] * (x.rank - 1 - d))]
    net.node("Pad", [x, net.node("Concat", [p for p in parts if p.size], axis=0, known=True)], exact=True)


def tile(net):
    x = net.tensor(ranks=(1, 3))
    other = net.tensor(ranks=(1, 4))
    parts = [net.ints(1) for _ in range(x.rank)]
    parts[net.rng.randrange(x.rank)] = extent_of(net, other, net.rng.randrange(other.rank), False)
    net.node("Tile", [x, net.node("Concat", parts, axis=0, known=True)], exact=True)


def resize(net):
    x = net.tensor(ranks=(4, 4), small=True)
    if net.chance(0.5):
        other = net.tensor(ranks=(4, 4), small=True)
    else:
        other = x
    sizes = [extent_of(net, x, 0, False), extent_of(net, x, 1, False), computed(net, other, 2), computed(net, other, 3)]
    mode = net.pick(["nearest", "linear"])
    net.node("Resize", [x, None, None, net.node("Concat", sizes, axis=0, known=True)], mode=mode,
             coordinate_transformation_mode=net.pick([None, "asymmetric", "align_corners"]), nearest_mode="floor" if mode == "nearest" else None,
             exact=mode == "nearest")


def split(net):
    x = net.tensor(ranks=(1, 4))
    d = net.rng.randrange(x.rank)
    size = extent_of(net, x, d, False)
    half = net.node("Div", [size, net.ints(2)], known=True)
    sizes = net.node("Concat", [half, net.node("Sub", [size, half], known=True)], axis=0, known=True)
    net.node("Split", [x, sizes], outputs=2, axis=d, exact=True)


def top(net):
    x = net.tensor(ranks=(1, 3), exact=True)
    d = net.rng.randrange(x.rank)
    if net.chance(0.5):
        k = extent_of(net, x, d, False)
    else:
        k = net.node("Min", [extent_of(net, x, d, False), net.ints(net.pick([1, 2, 5]))], known=True)
    net.node("TopK", [x, k], outputs=2, axis=d, exact=True)


def numbers(net):
    """An extent as a number that is computed with."""
    x = net.tensor(ranks=(1, 4))
    size = net.node("Size", [x], known=True) if net.chance(0.3) else extent_of(net, x, net.rng.randrange(x.rank), True)
    scale = net.node("Cast", [size], known=True, to=TYPES[x.kind][0])
    scale = net.node("Add", [scale, net.const(np.array(1, x.arrays[0].dtype), x.kind)], known=True)
    if net.chance(0.5):
        scale = net.node("Sqrt", [scale], known=True)
    net.node("Div", [x, scale])


def shape(net):
    """A shape as an output."""
    shape_of(net, net.tensor(ranks=(1, 4)))


OPS = {"reshape": (6, reshape), "product": (2, product), "back": (2, back), "expand": (3, expand), "expand_minus_one": (1, expand_minus_one),
       "filled": (2, filled), "counted": (2, counted), "part": (3, part), "causal": (1, causal), "pad": (2, pad), "tile": (1, tile),
       "resize": (1, resize), "split": (2, split), "top": (1, top), "numbers": (2, numbers), "shape": (1, shape)}
