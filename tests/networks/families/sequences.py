# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recurrent layers with open length and batch, and attention."""
import numpy as np

from net import TYPES, Reject

WEIGHT = 1


def recurrent(net):
    op = net.pick(["LSTM", "GRU", "RNN"])
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[op]
    x = net.find(lambda v: v.kind == "f32" and v.rank == 3 and v.fixed(2) and 0 < v.dims[2][0] <= 8 and max(v.dims[0]) <= 6,
                 lambda: net.input("f32", [net.extent(True), net.extent(True), net.const_extent(net.pick([1, 2, 3, 4]))]), 0.5)
    hidden, features = net.pick([1, 2, 3, 4]), x.dims[2][0]
    direction = net.pick([None, "forward", "reverse", "bidirectional"])
    ways = 2 if direction == "bidirectional" else 1
    def weights(*shape):
        return net.const((net.numbers.integers(-4, 5, shape) / 8).astype(np.float32))
    inputs = [x, weights(ways, gates * hidden, features), weights(ways, gates * hidden, hidden),
              weights(ways, 2 * gates * hidden) if net.chance(0.6) else None]
    lengths = None
    if net.chance(0.25):
        def draw(shape, launch):
            return net.numbers.integers(1 if x.dims[0][launch] else 0, x.dims[0][launch] + 1, shape).astype(np.int32)
        lengths = net.input("i32", [x.dims[1]], draw)
        lengths.index = lambda launch: [x.dims[0][launch] + 1, -1]
    state = [net.const_extent(ways), x.dims[1], net.const_extent(hidden)]
    inputs += [lengths, net.fresh("f32", state) if net.chance(0.4) else None]
    if op == "LSTM":
        inputs += [net.fresh("f32", state) if inputs[-1] and net.chance(0.7) else None, weights(ways, 3 * hidden) if net.chance(0.2) else None]
    while inputs[-1] is None:
        inputs.pop()
    net.node(op, inputs, outputs=net.pick([1, 2, 3]) if op == "LSTM" else net.pick([1, 2]), hidden_size=hidden, direction=direction,
             linear_before_reset=net.pick([None, 1]) if op == "GRU" else None)


def attention_parts(net):
    """softmax(Q K^T / sqrt(d) + mask) V out of single operators."""
    batch, heads, queries, keys, width = net.extent(True), net.extent(True), net.extent(), net.extent(), net.const_extent(net.pick([2, 4, 8]))
    kind = net.default
    q = net.input(kind, [batch, heads, queries, width])
    k, v = net.input(kind, [batch, heads, keys, width]), net.input(kind, [batch, heads, keys, width])
    scores = net.node("MatMul", [q, net.node("Transpose", [k], perm=[0, 1, 3, 2], exact=True)], exact=True)
    scores = net.node("Div", [scores, net.const(np.array(width[0]**0.5, q.arrays[0].dtype), kind)])
    if net.chance(0.5):
        mask = net.fresh("bool", [net.pick([batch, net.const_extent(1)]), net.const_extent(1), net.pick([queries, net.const_extent(1)]), keys])
        scores = net.node("Where", [mask, scores, net.const(np.array(-100.0, q.arrays[0].dtype), kind)])
    net.node("MatMul", [net.node("Softmax", [scores], axis=-1), v])


def heads(net):
    """A projection that is cut into heads and put together again, by computed shapes."""
    x = net.find(lambda v: v.kind == net.default and v.rank == 3 and v.fixed(2) and v.dims[2][0] in (4, 8),
                 lambda: net.input(net.default, [net.extent(True), net.extent(), net.const_extent(net.pick([4, 8]))]), 0.5)
    width, parts = x.dims[2][0], net.pick([1, 2, 4])
    import families.shapes as shapes
    target = net.node("Concat", [shapes.extent_of(net, x, 0, False), shapes.extent_of(net, x, 1, False), net.ints(parts, width // parts)], axis=0, known=True)
    def project():
        y = net.node("MatMul", [x, net.const(net.draw(x.kind, (width, width)), x.kind)], exact=True)
        return net.node("Transpose", [net.node("Reshape", [y, target], exact=True)], perm=[0, 2, 1, 3], exact=True)
    q, k, v = project(), project(), project()
    scores = net.node("MatMul", [q, net.node("Transpose", [k], perm=[0, 1, 3, 2], exact=True)], exact=True)
    soft = net.node("Softmax", [net.node("Mul", [scores, net.const(np.array(0.125, x.arrays[0].dtype), x.kind)], exact=True)], axis=-1)
    y = net.node("Transpose", [net.node("MatMul", [soft, v])], perm=[0, 2, 1, 3])
    net.node("Reshape", [y, net.node("Shape", [x], known=True)])


def attention(net):
    if net.opset < 23:
        net.opset = 23 if not net.nodes else net.opset
    if net.opset < 23:
        raise Reject("opset")
    batch, queries, keys, width = net.extent(True), net.extent(True), net.extent(True), net.const_extent(net.pick([2, 4]))
    many = net.pick([1, 2, 4])
    few = net.pick([n for n in (1, 2, 4) if many % n == 0])
    attributes = {"is_causal": net.pick([None, 0, 1]), "scale": net.pick([None, 0.5]), "softcap": net.pick([None, None, 4.0])}
    if net.chance(0.5):
        q = net.input("f32", [batch, net.const_extent(many), queries, width])
        k, v = (net.input("f32", [batch, net.const_extent(few), keys, width]) for _ in range(2))
    else:
        q = net.input("f32", [batch, queries, net.const_extent(many * width[0])])
        k, v = (net.input("f32", [batch, keys, net.const_extent(few * width[0])]) for _ in range(2))
        attributes |= {"q_num_heads": many, "kv_num_heads": few}
    mask = []
    if net.chance(0.4):
        mask = [net.fresh(net.pick(["f32", "bool"]), [queries, keys])]
    net.node("Attention", [q, k, v, *mask], **attributes)


def rotary(net):
    if net.opset < 23:
        raise Reject("opset")
    batch, length, heads_, width = net.extent(True), net.extent(True), net.const_extent(net.pick([1, 2])), net.const_extent(net.pick([2, 4, 8]))
    x = net.input("f32", [batch, heads_, length, width])
    half = net.const_extent(width[0] // 2)
    if net.chance(0.5):
        caches = [net.fresh("f32", [batch, length, half]) for _ in range(2)]
        net.node("RotaryEmbedding", [x, *caches], interleaved=net.pick([None, 1]))
    else:
        from families.indices import numbers
        caches = [net.const(net.draw("f32", (40, half[0])), "f32") for _ in range(2)]
        places = net.input("i64", [batch, length], lambda shape, i: net.numbers.integers(0, 40, shape).astype(np.int64))
        places.index = lambda launch: [40, 1000]
        net.node("RotaryEmbedding", [x, *caches, places], interleaved=net.pick([None, 1]))


OPS = {"recurrent": (4, recurrent), "attention_parts": (2, attention_parts), "heads": (2, heads), "attention": (2, attention), "rotary": (1, rotary)}
