# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elements that are chosen by numbers, which may be out of range: ONNX Runtime raises then. And what sorts and counts."""
import numpy as np

from net import TYPES, Reject

WEIGHT = 2
ANY = ("f32", "i64", "f16", "i32", "bool", "u8")


def kinds(net):
    return (net.default,) if net.chance(0.7) else ANY


def numbers(net, dims, sizes, kind=None, constant=0.4):
    """Indices into an extent of these sizes, negative ones too."""
    if not all(sizes):
        raise Reject("nothing to choose from")
    kind = kind or net.pick(["i64", "i64", "i32"])
    def draw(shape, launch):
        return net.numbers.integers(-sizes[launch] if net.rng.random() < 0.5 else 0, sizes[launch], shape).astype(TYPES[kind][1])
    if len(set(sizes)) > 1:
        constant = 0
    value = net.fresh(kind, dims, draw, constant)
    if value.source == "input":
        value.index = lambda launch: [sizes[launch], -sizes[launch] - 1, 1000, -2**31]
    return value


def gather(net):
    x = net.tensor(kinds(net), ranks=(1, 4))
    axis = net.rng.randrange(x.rank)
    dims = net.pick([[], [net.extent(True)], [net.extent(True), net.extent(True)]], [2, 5, 2])
    net.node("Gather", [x, numbers(net, dims, x.dims[axis])], axis=axis - (x.rank if net.chance(0.3) else 0), exact=True)


def embedding(net):
    size = net.const_extent(net.pick([5, 10, 20]))
    table = net.const(net.draw(net.default, (size[0], net.pick([2, 4, 8]))), net.default)
    net.node("Gather", [table, numbers(net, net.pick([[net.extent()], [net.extent(True), net.extent()]]), size, constant=0)], exact=True)


def gather_elements(net):
    x = net.tensor(kinds(net), ranks=(1, 4))
    axis = net.rng.randrange(x.rank)
    dims = [net.extent(True) if d == axis else n if net.chance(0.7) else net.const_extent(min(n) and 1) for d, n in enumerate(x.dims)]
    net.node("GatherElements", [x, numbers(net, dims, x.dims[axis])], axis=axis, exact=True)


def gather_nd(net):
    x = net.tensor(kinds(net), ranks=(1, 4))
    batch = net.pick([0, 0, 1]) if x.rank > 1 else 0
    depth = net.rng.randrange(1, x.rank - batch + 1)
    least = tuple(min(x.dims[d][i] for d in range(batch, batch + depth)) for i in range(net.launches))
    dims = [x.dims[d] for d in range(batch)] + [net.extent(True) for _ in range(net.pick([0, 1, 2]))] + [net.const_extent(depth)]
    net.node("GatherND", [x, numbers(net, dims, least, "i64")], batch_dims=batch or None, exact=True)


def unlike(net, x, depth):
    """Places in x that differ, so that their order does not matter."""
    def draw(shape, launch):
        sizes = [x.dims[d][launch] for d in range(depth)]
        total, wanted = int(np.prod(sizes)), int(np.prod(shape[:-1]))
        if wanted > total:
            return np.stack(np.unravel_index(net.numbers.integers(0, max(total, 1), shape[:-1]), sizes), -1).astype(np.int64)
        flat = net.numbers.permutation(total)[:wanted].reshape(shape[:-1])
        return np.stack(np.unravel_index(flat, sizes), -1).reshape(shape).astype(np.int64)
    return draw


def scatter_nd(net):
    x = net.tensor(kinds(net), ranks=(1, 4), want=lambda v: all(a.size for a in v.arrays))
    depth = net.rng.randrange(1, x.rank + 1)
    places = min(int(np.prod(a.shape[:depth])) for a in x.arrays)
    count = net.const_extent(net.rng.randrange(1, min(places, 6) + 1))
    indices = net.fresh("i64", [count, net.const_extent(depth)], unlike(net, x, depth), 0.3 if all(x.fixed(d) for d in range(depth)) else 0)
    if indices.source == "input":
        indices.index = lambda launch: [max(x.dims[d][launch] for d in range(depth)), -max(x.dims[d][launch] for d in range(depth)) - 1, 1000]
    updates = net.fresh(x.kind, [count, *x.dims[depth:]])
    reduction = net.pick([None, "add", "mul", "max"]) if net.opset >= 18 and x.kind in ("f32", "i64") else None
    net.node("ScatterND", [x, indices, updates], reduction=reduction, exact=True)


def scatter_elements(net):
    x = net.tensor(kinds(net), ranks=(1, 3), want=lambda v: all(a.size for a in v.arrays))
    axis = net.rng.randrange(x.rank)
    reduction = net.pick([None, "add", "mul", "max"]) if net.opset >= 18 and x.kind in ("f32", "i64") else None
    sizes = x.dims[axis]
    count = net.const_extent(net.rng.randrange(1, min(sizes) + 1))
    dims = [count if d == axis else n for d, n in enumerate(x.dims)]
    def draw(shape, launch):
        rows = np.apply_along_axis(lambda _: net.numbers.permutation(max(sizes[launch], shape[axis]))[:shape[axis]] % max(sizes[launch], 1), axis,
                                   np.zeros(shape))
        return rows.astype(np.int64)
    indices = net.fresh("i64", dims, draw, 0 if len(set(sizes)) > 1 else 0.3)
    if indices.source == "input":
        indices.index = lambda launch: [sizes[launch], -sizes[launch] - 1, 1000]
    net.node("ScatterElements", [x, indices, net.fresh(x.kind, dims)], axis=axis, reduction=reduction, exact=True)


def one_hot(net):
    depth = net.pick([1, 3, 5])
    indices = numbers(net, [net.extent(True) for _ in range(net.pick([0, 1, 2]))], net.const_extent(depth), net.pick(["i64", "i32"]))
    if indices.source == "input":
        indices.index = lambda launch: [depth, -depth - 1, 100]
    values = net.const(np.array(net.pick([[0, 1], [2, 5]]), TYPES[net.pick(["f32", "i64", "f32"])][1]))
    net.node("OneHot", [indices, net.const(np.array(depth, np.int64)), values], axis=net.rng.randrange(-1, indices.rank + 1), exact=True)


def top(net):
    x = net.tensor((net.default, net.default, "i64", "i32"), ranks=(1, 4), exact=True)
    axis = net.rng.randrange(x.rank)
    k = net.rng.randrange(0, min(x.dims[axis]) + 1)
    # Ties are resolved by the lower index.
    net.node("TopK", [x, net.ints(k)], outputs=2, axis=axis - (x.rank if net.chance(0.5) else 0), largest=net.pick([None, 0, 1]), exact=True)


def compress(net):
    x = net.tensor(kinds(net), ranks=(1, 3))
    axis = net.pick([None, net.rng.randrange(x.rank)])
    length = min(x.dims[axis]) if axis is not None else min(a.size for a in x.arrays)
    if not length:
        raise Reject("nothing to choose from")
    net.node("Compress", [x, net.const(net.draw("bool", (min(length, 10),)))], axis=axis, exact=True)


def places(net):
    x = net.const(net.draw(net.pick(["f32", "bool", "i64"]), tuple(net.pick([1, 2, 3, 5]) for _ in range(net.pick([1, 2])))))
    y = net.node("NonZero", [x], known=True)
    if net.chance(0.6):
        net.node("Transpose", [y])


OPS = {"gather": (4, gather), "embedding": (2, embedding), "gather_elements": (2, gather_elements), "gather_nd": (2, gather_nd),
       "scatter_nd": (2, scatter_nd), "scatter_elements": (2, scatter_elements), "one_hot": (1, one_hot), "top": (2, top), "compress": (1, compress),
       "places": (1, places)}
