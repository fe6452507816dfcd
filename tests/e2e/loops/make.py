# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes sum.onnx, grow.onnx and cell.onnx, loops over a batch of any size whose number of steps depends on data.

usage: make.py FOLDER    (needs onnx; the files beside this one were made so)

A step of `sum` adds x to what the loop started with, x too, and hands on what it was given as `was`, which starts as zeros. There are at most n
steps, and none after the elements add up to 10. A step of `grow` appends x instead. Steps of `cell` are those of a small
recurrent cell, whose two states are inputs of their own.
"""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def tensor(name, *shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def save(name, step, before, starts, results, inputs=()):
    """`starts`: what the loop carries and what that starts as; `results`: what it has become after a step, and at the end."""
    nodes = step + [helper.make_node("ReduceSum", [results[0][0]], ["total"], keepdims=0), helper.make_node("Less", ["total", "most"], ["again"])]
    body = helper.make_graph(nodes, "step", [tensor("i", kind=TensorProto.INT64), tensor("going", kind=TensorProto.BOOL)] +
                             [tensor(inside, None, 4) for inside, _ in starts],
                             [tensor("again", kind=TensorProto.BOOL)] + [tensor(inside, None, 4) for inside, _ in results])
    loop = helper.make_node("Loop", ["n", "yes"] + [start for _, start in starts], [end for _, end in results], name="loop", body=body)
    constants = [numpy_helper.from_array(np.array(True), "yes"), numpy_helper.from_array(np.array(10, np.float32), "most")]
    graph = helper.make_graph(before + [loop], name, [tensor("x", "N", 4)] + [tensor(other, "N", 4) for other in inputs] + [tensor("n", kind=TensorProto.INT64)],
                              [tensor(end, None, 4) for _, end in results], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, os.path.join(sys.argv[1], name + ".onnx"))


save("sum", [helper.make_node("Add", ["v", "x"], ["next"]), helper.make_node("Identity", ["v"], ["given"])],
     [helper.make_node("Shape", ["x"], ["shape"]), helper.make_node("ConstantOfShape", ["shape"], ["zeros"])],
     [("v", "x"), ("old", "zeros")], [("next", "y"), ("given", "was")])
save("grow", [helper.make_node("Concat", ["v", "x"], ["next"], axis=0)], [], [("v", "x")], [("next", "y")])
save("cell", [helper.make_node("Add", ["x", "h"], ["both"]), helper.make_node("Sigmoid", ["both"], ["gate"]), helper.make_node("Mul", ["gate", "c"], ["kept"]),
              helper.make_node("Add", ["kept", "x"], ["next_c"]), helper.make_node("Tanh", ["next_c"], ["bounded"]),
              helper.make_node("Mul", ["gate", "bounded"], ["next_h"])],
     [], [("h", "h0"), ("c", "c0")], [("next_h", "y"), ("next_c", "state")], ["h0", "c0"])
