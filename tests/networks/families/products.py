# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix products of all kinds, with every extent open."""
import numpy as np

WEIGHT = 2


def matmul(net):
    x = net.tensor((net.default,) * 8 + ("i32", "i64") if net.chance(0.3) else (net.default,), ranks=(1, 4))
    inner = x.dims[-1]
    if net.chance(0.15):
        dims = [inner]
    else:
        dims = [inner, net.extent()]
        for d in reversed(x.dims[:-2]):
            if net.chance(0.4):
                break
            dims.insert(0, d if net.chance(0.6) else net.const_extent(1) if net.chance(0.7) else tuple(1 if net.chance(0.5) else n for n in d))
        if x.rank <= 2 and net.chance(0.2):
            dims.insert(0, net.extent(True))
    y = net.find(lambda v: v.kind == x.kind and v.rank >= 2 and v.dims[-2] == inner, lambda: net.fresh(x.kind, dims), 0.3)
    net.node("MatMul", [x, y], exact=True)


def gemm(net):
    a, b = net.pick([None, 0, 1]), net.pick([None, 0, 1])
    x = net.tensor(ranks=(2, 2))
    inner, rows, columns = x.dims[0 if a else 1], x.dims[1 if a else 0], net.extent()
    y = net.fresh(x.kind, [columns, inner] if b else [inner, columns], constant=0.6)
    way = net.rng.random()
    bias = None
    if way < 0.7:
        dims = net.pick([[columns], [rows, columns], [net.const_extent(1), columns], [rows, net.const_extent(1)], [], [net.const_extent(1)]])
        bias = net.fresh(x.kind, dims, constant=0.6)
    net.node("Gemm", [x, y, bias] if bias else [x, y], transA=a, transB=b, alpha=net.pick([None, 0.5, 2.0]), beta=net.pick([None, 0.25, 1.0]),
             exact=True)


EINSUM = ["ij,jk->ik", "ij,kj->ik", "bij,bjk->bik", "ij->ji", "ij->", "ij->i", "ii->i", "i,j->ij", "bhid,bhjd->bhij", "...ij,...jk->...ik", "ij,ij->",
          "ijk,k->ij", "bij,jk->bik", "ij,jk,kl->il", "abc->cb", "ij,j->i", "ij,i->j"]


def einsum(net):
    equation = net.pick(EINSUM)
    sizes, operands = {}, []
    for term in equation.split("->")[0].split(","):
        dims = []
        if term.startswith("..."):
            dims = [sizes.setdefault(".", net.extent(True))] if net.chance(0.8) else []
            term = term[3:]
        for letter in term:
            if letter not in sizes:
                sizes[letter] = net.extent(True)
            dims.append(sizes[letter])
        wanted = list(dims)
        operands.append(net.find(lambda v: v.kind == net.default and v.dims == wanted, lambda: net.fresh(net.default, wanted, constant=0.2), 0.5))
    net.node("Einsum", operands, equation=equation, exact=True)


def integers(net):
    x = net.tensor(("u8", "i8"), ranks=(2, 3))
    y = net.fresh(net.pick(["u8", "i8"]), [x.dims[-1], net.extent()])
    zero_x = net.const(np.array(net.pick([0, 1, 3]), x.arrays[0].dtype)) if net.chance(0.6) else None
    zero_y = net.const(np.array(net.pick([0, 1, 2]), y.arrays[0].dtype)) if net.chance(0.5) else None
    net.node("MatMulInteger", [x, y, zero_x, zero_y] if zero_y else [x, y, zero_x] if zero_x else [x, y])


def dense(net):
    """A layer with its activation, as most networks have it."""
    x = net.tensor(ranks=(2, 3))
    y = net.node("MatMul", [x, net.fresh(x.kind, [x.dims[-1], net.extent()], constant=0.8)], exact=True)
    z = net.node("Add", [y, net.fresh(x.kind, [y.dims[-1]], constant=0.8)], exact=True)
    net.node(net.pick(["Relu", "Tanh", "Sigmoid"]), [z])


OPS = {"matmul": (4, matmul), "gemm": (3, gemm), "einsum": (2, einsum), "integers": (1, integers), "dense": (2, dense)}
