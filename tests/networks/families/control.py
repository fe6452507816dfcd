# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Branches and loops, whose graphs use values from outside."""
import numpy as np
from onnx import helper, numpy_helper

from net import TYPES, Reject

WEIGHT = 1


def graph(name, nodes, outputs, inputs=()):
    return helper.make_graph(nodes, name, list(inputs), [helper.make_empty_tensor_value_info(o) if isinstance(o, str) else o for o in outputs])


def info(name, kind, rank=None):
    return helper.make_tensor_value_info(name, TYPES[kind][0], None if rank is None else [None] * rank)


def unary_chain(net, x, stem):
    """One to three nodes that keep x's shape, inside a body."""
    nodes, last = [], x
    for i in range(net.pick([1, 2, 3])):
        name = net.name(stem)
        op = net.pick(["Neg", "Abs", "Relu", "Identity", "Add"])
        nodes.append(helper.make_node(op, [last, last] if op == "Add" else [last], [name], name=net.name("n_" + op)))
        last = name
    return nodes, last


def condition(net):
    way = net.pick(["input", "constant", "shape", "value"], [5, 1, 2, 3])
    if way == "input":
        shape = net.pick([[], [net.const_extent(1)]])
        return net.input("bool", shape)
    if way == "constant":
        return net.const(np.array(net.chance(0.5)))
    x = net.tensor(ranks=(1, 3), exact=True)
    if way == "shape":
        size = net.node("Gather", [net.node("Shape", [x], known=True), net.const(np.array(0, np.int64))], known=True)
        return net.node("Greater", [size, net.const(np.array(3, np.int64))])
    total = net.node("ReduceSum", [x], keepdims=0, exact=True)
    return net.node("Greater", [total, net.const(np.array(0, x.arrays[0].dtype), x.kind)])


def branch(net):
    c = condition(net)
    x = net.tensor(ranks=(0, 3))
    captured, sides = [c, x], []
    change = net.pick(["none", "unsqueeze", "transpose", "flat", "slice", "reduce"], [5, 2, 2, 1, 2, 1])
    for side in ("then", "else"):
        nodes, last = unary_chain(net, x.name, "b")
        def more(op, *constants, **attributes):
            nonlocal last
            names = []
            for array in constants:
                names.append(net.name("bc"))
                nodes.append(helper.make_node("Constant", [], [names[-1]], value=numpy_helper.from_array(array)))
            made = net.name("b")
            nodes.append(helper.make_node(op, [last, *names], [made], name=net.name("n_" + op), **attributes))
            last = made
        if change == "unsqueeze":
            more("Unsqueeze", np.array([min(1, x.rank)], np.int64))
            more(net.pick(["Neg", "Exp", "Abs"]))
        elif change == "transpose" and x.rank == 2 and side == "then":
            more("Transpose", perm=[1, 0])
        elif change == "flat":
            more("Reshape", np.array([-1], np.int64))
        elif change == "slice" and x.rank and side == "then":
            more("Slice", np.array([0], np.int64), np.array([2], np.int64))
        elif change == "reduce" and x.rank:
            more("ReduceMax", keepdims=1)
        elif change == "none" and net.chance(0.4):
            y = net.partner(x, ones=False)
            captured.append(y)
            made = net.name("b")
            nodes.append(helper.make_node("Add", [last, y.name], [made], name=net.name("n_Add")))
            last = made
        sides.append(graph(side, nodes, [last]))
    net.node("If", [c], captured=captured[1:], then_branch=sides[0], else_branch=sides[1])


def loop(net):
    """Carries a tensor, sometimes collects; the number of steps is a constant, an extent, or an input."""
    x = net.tensor(ranks=(0, 3))
    way = net.pick(["constant", "input", "shape"], [4, 3, 2])
    if way == "constant":
        steps = net.const(np.array(net.pick([0, 1, 2, 3]), np.int64))
    elif way == "input":
        steps = net.input("i64", [], lambda shape, i: np.array(net.rng.randrange(0, 4), np.int64))
    else:
        y = net.tensor(ranks=(1, 3), want=lambda v: max(v.dims[0]) <= 6)
        steps = net.node("Gather", [net.node("Shape", [y], known=True), net.const(np.array(0, np.int64))], known=True)
    names = [net.name("l") for _ in range(4)]
    nodes, last = unary_chain(net, names[2], "l")
    captured = []
    if net.chance(0.5):
        y = net.partner(x, ones=False)
        captured.append(y)
        made = net.name("l")
        nodes.append(helper.make_node(net.pick(["Add", "Sub", "Max"]), [last, y.name], [made], name=net.name("n_in")))
        last = made
    half = net.name("l")
    nodes.append(helper.make_node("Constant", [], [half + "c"], value=numpy_helper.from_array(np.array(0.5, x.arrays[0].dtype))))
    nodes.append(helper.make_node("Mul", [last, half + "c"], [half], name=net.name("n_Mul")))
    go = net.name("l")
    nodes.append(helper.make_node("Identity", [names[1]], [go]))
    outputs = [go, half]
    if net.chance(0.4):
        outputs.append(net.name("l"))
        nodes.append(helper.make_node("Neg", [half], [outputs[-1]], name=net.name("n_Neg")))
    kinds = ["bool", x.kind, x.kind]
    body = graph("body", nodes, [info(o, k, x.rank if i else 0) for i, (o, k) in enumerate(zip(outputs, kinds))],
                 [info(names[0], "i64", 0), info(names[1], "bool", 0), info(names[2], x.kind, x.rank)])
    start = net.const(np.array(True)) if net.chance(0.5) else None
    net.node("Loop", [steps, start, x], outputs=len(outputs) - 1, captured=captured, body=body)


def scan(net):
    x = net.tensor(ranks=(2, 3))
    state = net.fresh(x.kind, x.dims[1:], constant=0.5)
    names = [net.name("s") for _ in range(2)]
    total, out = net.name("s"), net.name("s")
    nodes = [helper.make_node("Add", names, [total], name=net.name("n_Add")), helper.make_node("Relu", [total], [out], name=net.name("n_Relu"))]
    body = graph("body", nodes, [info(total, x.kind, x.rank - 1), info(out, x.kind, x.rank - 1)], [info(n, x.kind, x.rank - 1) for n in names])
    net.node("Scan", [state, x], outputs=2, num_scan_inputs=1, body=body, scan_input_directions=net.pick([None, [0], [1]]),
             scan_output_directions=net.pick([None, [0], [1]]), exact=True)


OPS = {"branch": (4, branch), "loop": (3, loop), "scan": (1, scan)}
