# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elements move, none is computed."""
import numpy as np

from net import Reject

WEIGHT = 3
ANY = ("f32", "f32", "f16", "f64", "i32", "i64", "bool", "u8", "i8")


def kinds(net):
    return (net.default,) if net.chance(0.7) else ANY


def transpose(net):
    x = net.tensor(kinds(net))
    order = list(range(x.rank))
    net.rng.shuffle(order)
    net.node("Transpose", [x], perm=order if order and net.chance(0.85) else None, exact=True)


def reshape(net):
    """Two neighbours become one, one is split, or everything is flattened; with 0, -1 and fixed extents."""
    x = net.tensor(kinds(net), ranks=(1, 5))
    target = [0 if net.chance(0.6) else x.dims[d][0] if x.fixed(d) else 0 for d in range(x.rank)]
    way = net.pick(["merge", "flat", "split", "all", "keep"])
    if way == "merge" and x.rank >= 2:
        at = net.rng.randrange(x.rank - 1)
        target[at:at + 2] = [-1]
        # What stands behind has another place now: 0 would take a wrong extent.
        for d in range(at + 1, len(target)):
            if not x.fixed(d + 1):
                raise Reject("an open extent behind")
            target[d] = x.dims[d + 1][0]
    elif way == "flat":
        target = [-1]
    elif way == "split":
        at = net.rng.randrange(x.rank)
        parts = [p for p in (1, 2, 3, 4) if all(n % p == 0 for n in x.dims[at])]
        behind = target[at + 1:]
        for d in range(at + 1, x.rank):
            if not x.fixed(d):
                raise Reject("an open extent behind")
            behind[d - at - 1] = x.dims[d][0]
        target = target[:at] + net.pick([[-1, net.pick(parts)], [net.pick(parts), -1]]) + behind
    elif way == "all":
        target = net.pick([[-1, 1], [1, -1], [1, 1, -1], [0, -1]])
    net.node("Reshape", [x, net.ints(*target)], exact=True)


def flatten(net):
    x = net.tensor(kinds(net))
    net.node("Flatten", [x], axis=net.pick([None, net.rng.randrange(-x.rank, x.rank + 1)]), exact=True)


def squeeze(net):
    x = net.tensor(kinds(net), want=lambda v: any(set(d) == {1} for d in v.dims))
    ones = [d - (x.rank if net.chance(0.3) else 0) for d in range(x.rank) if set(x.dims[d]) == {1} and net.chance(0.7)]
    net.node("Squeeze", [x, net.ints(*ones)] if ones or net.chance(0.3) else [x], exact=True)


def unsqueeze(net):
    x = net.tensor(kinds(net), ranks=(0, 4))
    count = net.pick([1, 1, 2])
    axes = net.rng.sample(range(x.rank + count), count)
    net.node("Unsqueeze", [x, net.ints(*[a - (x.rank + count if net.chance(0.3) else 0) for a in axes])], exact=True)


def concat(net):
    x = net.tensor(kinds(net), ranks=(1, 5))
    axis = net.rng.randrange(x.rank)
    parts = [x]
    for _ in range(net.pick([0, 1, 1, 2, 3])):
        def fits(v):
            return v.kind == x.kind and v.rank == x.rank and all(a == b for d, (a, b) in enumerate(zip(v.dims, x.dims)) if d != axis)
        parts.append(net.find(fits, lambda: net.fresh(x.kind, [net.extent(True) if d == axis else n for d, n in enumerate(x.dims)]), 0.6))
    net.rng.shuffle(parts)
    net.node("Concat", parts, axis=axis - (x.rank if net.chance(0.3) else 0), exact=True)


def split(net):
    x = net.tensor(kinds(net), ranks=(1, 5))
    axis = net.rng.randrange(x.rank)
    sizes = x.dims[axis]
    parts = net.pick([1, 2, 3])
    if x.fixed(axis) and net.chance(0.7):
        cuts = sorted(net.rng.randrange(sizes[0] + 1) for _ in range(parts - 1))
        lengths = [b - a for a, b in zip([0, *cuts], [*cuts, sizes[0]])]
        net.node("Split", [x, net.ints(*lengths)], outputs=parts, axis=axis, exact=True)
    elif net.opset >= 18:
        net.node("Split", [x], outputs=parts, axis=axis, num_outputs=parts, exact=True)
    else:
        net.node("Split", [x], outputs=parts, axis=axis, exact=True)


def slice_(net):
    x = net.tensor(kinds(net), ranks=(1, 5))
    axes = [d for d in range(x.rank) if net.chance(0.6)] or [0]
    starts, ends, steps = [], [], []
    for d in axes:
        size = min(x.dims[d])
        way = net.pick(["prefix", "suffix", "middle", "last", "reverse", "stride", "clamped"])
        start, end, step = {"prefix": (0, net.rng.randrange(size + 1), 1), "suffix": (net.rng.randrange(size + 1), 2**31 - 1, 1),
                            "middle": (1, -1, 1), "last": (-1, 2**63 - 1, 1), "reverse": (-1, -2**63 + 1, -1),
                            "stride": (net.pick([0, 1]), 2**62, 2), "clamped": (-50, 40, net.pick([1, 1, 2]))}[way]
        starts.append(start), ends.append(end), steps.append(step)
    kind = "i64"
    inputs = [x, net.ints(*starts, kind=kind), net.ints(*ends, kind=kind), net.ints(*[a - (x.rank if net.chance(0.3) else 0) for a in axes], kind=kind)]
    if any(s != 1 for s in steps) or net.chance(0.3):
        inputs.append(net.ints(*steps, kind=kind))
    net.node("Slice", inputs, exact=True)


def pad(net):
    x = net.tensor(kinds(net), ranks=(1, 5))
    mode = net.pick(["constant", "reflect", "edge"], [6, 2, 2])
    least = [min(d) for d in x.dims]
    def amount(d):
        n = net.pick([0, 0, 1, 2, 3, -1])
        return min(n, least[d] - 1) if mode == "reflect" else max(n, -(least[d] // 2)) if n < 0 else n
    pads = [max(amount(d), -1) for d in list(range(x.rank)) * 2]
    value = None
    if mode == "constant" and net.chance(0.5):
        value = net.const(net.draw(x.kind, ()), x.kind)
    inputs = [x, net.ints(*pads), value] if value else [x, net.ints(*pads)]
    net.node("Pad", inputs, mode=net.pick([mode, None]) if mode == "constant" else mode, exact=True)


def tile(net):
    x = net.tensor(kinds(net), ranks=(1, 4))
    net.node("Tile", [x, net.ints(*[net.pick([1, 1, 2, 3, 0], [4, 4, 4, 2, 1]) for _ in range(x.rank)])], exact=True)


def expand(net):
    x = net.tensor(kinds(net), ranks=(0, 4))
    target = [n[0] if len(set(n)) == 1 and n[0] != 1 and net.chance(0.5) else 1 if not set(n) == {1} else net.pick([1, 2, 5]) for n in x.dims]
    if net.chance(0.4):
        target = [net.pick([1, 2, 3])] + target
    elif net.chance(0.3):
        target = target[net.rng.randrange(len(target) + 1):]
    net.node("Expand", [x, net.ints(*target)], exact=True)


def space(net):
    x = net.tensor(ranks=(4, 4))
    if net.chance(0.5):
        net.node("SpaceToDepth", [x], blocksize=2, exact=True)
    else:
        x = net.input(net.default, [net.extent(True), net.const_extent(net.pick([4, 8])), net.extent(True), net.extent(True)])
        net.node("DepthToSpace", [x], blocksize=2, mode=net.pick([None, "DCR", "CRD"]), exact=True)


def trilu(net):
    x = net.tensor((net.default, "i64", "bool"), ranks=(2, 4))
    k = [net.const(np.array(net.pick([-2, -1, 0, 1, 3]), np.int64))] if net.chance(0.6) else []
    net.node("Trilu", [x, *k], upper=net.pick([None, 0, 1]), exact=True)


def eye(net):
    x = net.tensor(("f32", "i32", "i64"), ranks=(2, 2))
    net.node("EyeLike", [x], k=net.pick([None, -1, 0, 1]), dtype=net.pick([None, 1, 6]), exact=True)


def crop(net):
    x = net.tensor(ranks=(1, 4))
    axes = [d for d in range(x.rank) if net.chance(0.6)] or [0]
    net.node("CenterCropPad", [x, net.ints(*[net.pick([1, 2, 3, 4, 5, 6]) for _ in axes])], axes=axes, exact=True)


def reverse(net):
    x = net.tensor(ranks=(2, 4))
    batch = net.pick([0, 1])
    time = 1 - batch
    def lengths(shape, launch):
        return net.numbers.integers(1 if x.dims[time][launch] else 0, x.dims[time][launch] + 1, shape).astype(np.int64)
    given = net.fresh("i64", [x.dims[batch]], lengths, constant=0.3)
    given.index = lambda i: [x.dims[time][i] + 1, -1]
    net.node("ReverseSequence", [x, given], batch_axis=batch, time_axis=time, exact=True)


OPS = {"transpose": (4, transpose), "reshape": (5, reshape), "flatten": (2, flatten), "squeeze": (2, squeeze), "unsqueeze": (2, unsqueeze),
       "concat": (4, concat), "split": (3, split), "slice": (4, slice_), "pad": (3, pad), "tile": (2, tile), "expand": (2, expand),
       "space": (1, space), "trilu": (1, trilu), "eye": (1, eye), "crop": (1, crop), "reverse": (1, reverse)}
