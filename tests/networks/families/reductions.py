# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums and the like along axes, and what is built on them."""
import numpy as np

WEIGHT = 2


def axes_of(net, x, at_least=0):
    axes = [d - (x.rank if net.chance(0.3) else 0) for d in range(x.rank) if net.chance(0.5)]
    return axes if len(axes) >= at_least else [net.rng.randrange(x.rank)] if x.rank else []


def reduce(net):
    op = net.pick(["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp"],
                  [5, 5, 4, 3, 1, 1, 2, 1, 1])
    kinds = (net.default, net.default, net.default, "i32", "i64") if op in ("ReduceSum", "ReduceMax", "ReduceMin") else (net.default,)
    # ONNX Runtime sums integers that overflow in its own way.
    x = net.tensor(kinds, want=lambda v: v.kind == net.default or all((np.abs(a.astype(np.float64)) < 1e6).all() for a in v.arrays))
    keep = net.pick([None, 0, 1])
    exact = op in ("ReduceSum", "ReduceMax", "ReduceMin", "ReduceL1")
    axes = axes_of(net, x)
    if net.opset >= 18 or op == "ReduceSum":
        given = net.ints(*axes) if axes or net.chance(0.5) else None
        noop = net.pick([None, 0, 1]) if not axes else None
        net.node(op, [x, given] if given else [x], keepdims=keep, noop_with_empty_axes=noop, exact=exact)
    else:
        net.node(op, [x], keepdims=keep, axes=axes or None, exact=exact)


def arg(net):
    x = net.tensor((net.default, "i32"), ranks=(1, 5), exact=True)
    net.node(net.pick(["ArgMax", "ArgMin"]), [x], axis=net.rng.randrange(-x.rank, x.rank), keepdims=net.pick([None, 0, 1]),
             select_last_index=net.pick([None, 0, 1]))


def cumulative(net):
    x = net.tensor((net.default, "i32", "i64"), ranks=(1, 5))
    kind = net.pick(["i32", "i64"])
    axis = net.const(np.array(net.rng.randrange(-x.rank, x.rank), np.int32 if kind == "i32" else np.int64))
    net.node("CumSum", [x, axis], exclusive=net.pick([None, 0, 1]), reverse=net.pick([None, 0, 1]), exact=True)


def softmax(net):
    op = net.pick(["Softmax", "LogSoftmax", "Hardmax"], [5, 2, 1])
    x = net.tensor(ranks=(1, 5), exact=op == "Hardmax")
    net.node(op, [x], axis=net.pick([None, net.rng.randrange(-x.rank, x.rank)]))


def normal(net):
    x = net.tensor(ranks=(1, 4))
    net.node("LpNormalization", [x], axis=net.rng.randrange(-x.rank, x.rank), p=net.pick([1, 2]))


def mean_variance(net):
    x = net.tensor(ranks=(4, 4))
    net.node("MeanVarianceNormalization", [x], axes=net.pick([None, [0, 2, 3], [1], [2, 3]]))


OPS = {"reduce": (6, reduce), "arg": (1, arg), "cumulative": (1, cumulative), "softmax": (3, softmax), "normal": (1, normal),
       "mean_variance": (1, mean_variance)}
