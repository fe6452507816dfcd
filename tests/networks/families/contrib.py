# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX Runtime's own operators, as its optimiser and its quantiser write them. The family stands apart (`--family contrib`)."""
import numpy as np

from families.quantised import scale
from net import TYPES, Reject

WEIGHT = 0
HERE = "com.microsoft"


def zero(net, kind, axis_length=None):
    """Even: ONNX Runtime adds some zero points before it rounds, and others after it, which differs for ties."""
    shape = () if axis_length is None else (axis_length,)
    return net.const((2 * net.numbers.integers(0, 3, shape)).astype(TYPES[kind][1]), kind)


def own(net, op, inputs, outputs=1, **attributes):
    return net.node(op, inputs, outputs=outputs, domain=HERE, **attributes)


def fused_matmul(net):
    x = net.tensor(("f32",), ranks=(2, 4))
    way = net.pick(["plain", "transB", "transA", "both", "batch"])
    if way == "batch" and x.rank < 3:
        raise Reject("no batch")
    inner = x.dims[-2] if way in ("transA", "both") else x.dims[-1]
    columns = net.extent(True)
    lead = [] if net.chance(0.5) else [d if net.chance(0.7) else net.const_extent(1) for d in x.dims[:-2]]
    if way == "batch":
        lead = x.dims[:-2]
        y = net.fresh("f32", [lead[0], *lead[1:], inner, columns])
        z = net.node("Transpose", [x], perm=[x.rank - 2, *range(x.rank - 2), x.rank - 1], exact=True)
        own(net, "FusedMatMul", [z, y], transBatchA=1, alpha=0.5)
        return
    y = net.fresh("f32", lead + ([columns, inner] if way in ("transB", "both") else [inner, columns]))
    own(net, "FusedMatMul", [x, y], alpha=net.pick([None, 0.25]), transA=int(way in ("transA", "both")), transB=int(way in ("transB", "both")))


def fused_gemm(net):
    x = net.tensor(("f32",), ranks=(2, 2))
    y = net.fresh("f32", [x.dims[1], net.extent(True)])
    bias = [net.fresh("f32", [y.dims[1]])] if net.chance(0.6) else []
    activation, more = net.pick([("Relu", {}), ("LeakyRelu", {"activation_alpha": 0.2}), ("Sigmoid", {}), ("Tanh", {}), (None, {})])
    own(net, "FusedGemm", [x, y, *bias], activation=activation, alpha=net.pick([None, 0.5]), **more)


def fused_conv(net):
    channels = net.pick([1, 3, 4])
    x = net.input("f32", [net.extent(True), net.const_extent(channels), net.extent(True), net.extent(True)])
    w = net.const(net.draw("f32", (net.pick([2, 4, 8]), channels, 3, 3)))
    bias = net.const(net.draw("f32", (w.dims[0][0],))) if net.chance(0.6) else None
    activation, more = net.pick([("Relu", None), ("LeakyRelu", [0.2]), ("Clip", [0.0, 6.0]), ("HardSigmoid", [0.2, 0.5]), ("Sigmoid", None), ("Tanh", None)])
    inputs = [x, w, bias]
    if net.chance(0.4):
        inputs.append(net.fresh("f32", [x.dims[0], w.dims[0], x.dims[2], x.dims[3]]))
    own(net, "FusedConv", inputs, activation=activation, activation_params=more, pads=[1, 1, 1, 1], kernel_shape=[3, 3])


def gelus(net):
    x = net.tensor(("f32",), ranks=(1, 4), want=lambda v: all(a.size for a in v.arrays))
    op = net.pick(["Gelu", "BiasGelu", "FastGelu", "QuickGelu"])
    bias = [net.fresh("f32", [x.dims[-1]])] if op == "BiasGelu" or op == "FastGelu" and net.chance(0.5) else []
    own(net, op, [x, *bias], alpha=1.5 if op == "QuickGelu" and net.chance(0.5) else None)


def skip_norm(net):
    n = net.pick([1, 3, 4, 8])
    x = net.input("f32", [net.extent(True), net.extent(True), net.const_extent(n)])
    skip = net.input("f32", x.dims)
    vector = lambda: net.const(net.draw("f32", (n,)))
    simple = net.chance(0.5)
    inputs = [x, skip, vector()] + ([] if simple else [vector() if net.chance(0.8) else None]) + ([vector()] if net.chance(0.4) else [])
    while inputs[-1] is None:
        inputs.pop()
    if net.chance(0.5):
        name = "SkipSimplifiedLayerNormalization" if simple else "SkipLayerNormalization"
        own(net, name, inputs, epsilon=0.01)
    else:
        y = net.node("SkipSimplifiedLayerNormalization" if simple else "SkipLayerNormalization", inputs, outputs=4, domain=HERE, epsilon=0.01,
                     left_out=(1, 2))
        net.node("Add", y)


def embed(net):
    n, words = net.pick([2, 4, 8]), 11
    ids = net.input("i32", [net.extent(True), net.extent(True)], lambda shape, launch: net.numbers.integers(0, words, shape).astype(np.int32))
    if max(ids.dims[1]) > 9:
        raise Reject("more positions than rows")
    segments = net.input("i32", ids.dims, lambda shape, launch: net.numbers.integers(0, 2, shape).astype(np.int32)) if net.chance(0.6) else None
    table = lambda rows: net.const(net.draw("f32", (rows, n)))
    mask = net.input("i32", ids.dims, lambda shape, launch: net.numbers.integers(0, 2, shape).astype(np.int32)) if net.chance(0.6) else None
    inputs = [ids, segments, table(words), table(9), table(2) if segments else None, net.const(net.draw("f32", (n,))), net.const(net.draw("f32", (n,)))]
    own(net, "EmbedLayerNormalization", inputs + ([mask] if mask else []), outputs=2, epsilon=0.01)


def simplified(net):
    n = net.pick([1, 3, 8])
    x = net.input("f32", [net.extent(True), net.extent(True), net.const_extent(n)])
    net.node("SimplifiedLayerNormalization", [x, net.const(net.draw("f32", (n,)))], axis=-1, epsilon=0.01)


def nonzero(net):
    """An extent that no launch leaves empty."""
    return tuple(n or 1 for n in net.extent(True))


def mask_of(net, way, batch, rows, keys):
    def lengths(shape, launch):
        return net.numbers.integers(1, keys[launch] + 1, shape).astype(np.int32)
    def bits(shape, launch):
        made = net.numbers.integers(0, 2, shape).astype(np.int32)
        made[..., 0] = 1
        return made
    if way == "lengths":
        return net.input("i32", [batch], lengths)
    return net.input("i32", [batch, keys] if way == "rows" else [batch, rows, keys], bits)


def total_of(a, b):
    return tuple(x + y for x, y in zip(a, b))


def attention(net):
    heads, size = net.pick([1, 2, 3]), net.pick([2, 4])
    batch, rows, wide = nonzero(net), nonzero(net), heads * size
    x = net.input("f32", [batch, rows, net.const_extent(6)])
    w, b = net.const(net.draw("f32", (6, 3 * wide), -1, 1)), net.const(net.draw("f32", (3 * wide,)))
    past = before = None
    if net.chance(0.4):
        before = net.extent(True)
        past = net.input("f32", [net.const_extent(2), batch, net.const_extent(heads), before, net.const_extent(size)])
    keys = total_of(before, rows) if past else rows
    way = net.pick([None, "lengths", "rows", "full"])
    mask = mask_of(net, way, batch, rows, keys) if way else None
    extra = net.input("f32", [batch, net.const_extent(heads), rows, keys]) if net.chance(0.3) else None
    inputs = [x, w, b, mask, past, extra]
    while inputs[-1] is None:
        inputs.pop()
    own(net, "Attention", inputs, outputs=2 if past or net.chance(0.3) else 1, num_heads=heads, unidirectional=net.pick([None, 1]),
        scale=net.pick([None, 0.3]))


def multi_head(net):
    heads, size = net.pick([1, 2, 3]), net.pick([2, 4])
    batch, rows, wide = nonzero(net), nonzero(net), heads * size
    way = net.pick(["self", "cross", "packed", "packed keys", "heads"])
    keys = rows if way in ("self", "packed") else nonzero(net)
    h, d, n = net.const_extent(heads), net.const_extent(size), net.const_extent(wide)
    if way == "packed":
        inputs = [net.input("f32", [batch, rows, h, net.const_extent(3), d]), None, None]
    elif way == "packed keys":
        inputs = [net.input("f32", [batch, rows, n]), net.input("f32", [batch, keys, h, net.const_extent(2), d]), None]
    elif way == "heads":
        inputs = [net.input("f32", [batch, rows, n])] + [net.input("f32", [batch, h, keys, d]) for _ in range(2)]
    else:
        inputs = [net.input("f32", [batch, rows, n])] + [net.input("f32", [batch, keys, n]) for _ in range(2)]
    plain = way in ("self", "cross")
    inputs.append(net.const(net.draw("f32", (3 * wide,))) if plain and net.chance(0.4) else None)
    past = []
    if way == "self" and net.chance(0.4):
        before = net.extent(True)
        past = [net.input("f32", [batch, h, before, d]) for _ in range(2)]
        keys = total_of(before, rows)
    mask = net.pick([None, "rows", "full"])
    inputs.append(mask_of(net, mask, batch, rows, keys) if mask else None)
    inputs.append(net.input("f32", [net.pick([batch, net.const_extent(1)]), h, rows, keys]) if net.chance(0.3) else None)
    inputs += past
    while inputs[-1] is None:
        inputs.pop()
    own(net, "MultiHeadAttention", inputs, outputs=3 if past or plain and net.chance(0.3) else 1, num_heads=heads,
        unidirectional=1 if way == "self" and net.chance(0.3) else None, scale=net.pick([None, 0.3]))


def grouped(net):
    """A step of a decoder, or its first: lengths of each item, and the total by the shape of a mask."""
    groups, size = net.pick([1, 2]), net.pick([4, 8])
    heads = groups * net.pick([1, 2, 3])
    batch, before = nonzero(net), net.extent(True)
    first = net.chance(0.4)
    rows = nonzero(net) if first else net.const_extent(1) if net.chance(0.7) else nonzero(net)
    if first:
        before = (0,) * net.launches
    total = total_of(before, rows)
    same = rows != net.const_extent(1) and not first
    queries = heads + 2 * groups if net.chance(0.3) else heads
    q = net.input("f32", [batch, rows, net.const_extent(queries * size)])
    rest = [None, None] if queries != heads else [net.input("f32", [batch, rows, net.const_extent(groups * size)]) for _ in range(2)]
    past = [net.input("f32", [batch, net.const_extent(groups), before, net.const_extent(size)]) for _ in range(2)]
    def lengths(shape, launch):
        if same or first:
            return np.full(shape, total[launch] - 1, np.int32)
        return net.numbers.integers(0, total[launch], shape).astype(np.int32)
    seqlens = net.input("i32", [batch], lengths)
    mask = net.input("f32", [batch, total])
    length = net.node("Cast", [net.node("Gather", [net.node("Shape", [mask], known=True), net.const(np.array(1, np.int64))], known=True)],
                      known=True, to=6)
    rotary = net.chance(0.6)
    tables = [net.const(net.draw("f32", (40, size // 2), -1, 1)) for _ in range(2)] if rotary else []
    own(net, "GroupQueryAttention", [q, *rest, *past, seqlens, length, *tables], outputs=3, num_heads=heads, kv_num_heads=groups,
        do_rotary=int(rotary), rotary_interleaved=net.pick([0, 1]) if rotary else None, scale=net.pick([None, 0.3]),
        softcap=net.pick([None, None, 2.0]), local_window_size=net.pick([None, None, 2]), smooth_softmax=net.pick([None, None, 1]))


def rotary(net):
    heads, size = net.pick([1, 2]), net.pick([4, 8])
    batch, rows = nonzero(net), nonzero(net)
    if net.chance(0.5):
        x = net.input("f32", [batch, rows, net.const_extent(heads * size)])
    else:
        x = net.input("f32", [batch, net.const_extent(heads), rows, net.const_extent(size)])
    part = net.pick([size, size // 2])
    one = net.chance(0.4)
    positions = net.input("i64", [net.const_extent(1)] if one else [batch, rows], lambda shape, launch: net.numbers.integers(0, 5, shape))
    tables = [net.const(net.draw("f32", (40, part // 2), -1, 1)) for _ in range(2)]
    own(net, "RotaryEmbedding", [x, positions, *tables], interleaved=net.pick([0, 1]), num_heads=heads if part < size else None,
        rotary_embedding_dim=part if part < size else None)


def bits(net):
    """Weights of a few bits in blocks."""
    width = net.pick([4, 4, 8])
    block, k, n = 16, net.pick([16, 32, 40]), net.pick([1, 3, 8])
    blocks = -(-k // block)
    x = net.input("f32", [net.extent(True), net.extent(True), net.const_extent(k)][net.pick([0, 1]):])
    w = net.const(net.numbers.integers(0, 256, (n, blocks, block * width // 8)).astype(np.uint8))
    scales = net.const((2.0 ** net.numbers.integers(-4, 0, n * blocks)).astype(np.float32))
    zeros = [net.const(net.numbers.integers(0, 256, n * -(-blocks * width // 8)).astype(np.uint8))] if net.chance(0.5) else []
    own(net, "MatMulNBits", [x, w, scales, *zeros], K=k, N=n, bits=width, block_size=block)


def q_binary(net):
    kind = net.pick(["u8", "i8"])
    x = net.tensor((kind,), ranks=(1, 4))
    y = net.partner(x)
    own(net, net.pick(["QLinearAdd", "QLinearMul"]), [x, scale(net), zero(net, kind), y, scale(net), zero(net, kind), scale(net), zero(net, kind)])


def q_unary(net):
    kind = net.pick(["u8", "i8"])
    x = net.tensor((kind,), ranks=(1, 4))
    op = net.pick(["QLinearLeakyRelu"])
    own(net, op, [x, scale(net), zero(net, kind), scale(net), zero(net, kind)], alpha=0.25)


def q_concat(net):
    x = net.tensor(("u8",), ranks=(2, 4))
    axis = net.rng.randrange(x.rank)
    inputs = [scale(net), zero(net, "u8")]
    for part in range(net.pick([1, 2, 3])):
        y = x if part == 0 else net.input("u8", x.dims[:axis] + [net.extent(True)] + x.dims[axis + 1:])
        inputs += [y, scale(net), zero(net, "u8")]
    own(net, "QLinearConcat", inputs, axis=axis)


def q_pool(net):
    last = net.chance(0.4)
    spatial, channels = [nonzero(net), nonzero(net)], net.const_extent(net.pick([1, 3]))
    kind = net.pick(["u8", "i8"])
    x = net.input(kind, [nonzero(net), *spatial, channels] if last else [nonzero(net), channels, *spatial])
    edges = [scale(net), zero(net, kind), scale(net), zero(net, kind)]
    way = net.pick(["average", "global", "max"])
    if way == "global":
        own(net, "QLinearGlobalAveragePool", [x, *edges], channels_last=int(last))
    elif way == "average":
        own(net, "QLinearAveragePool", [x, *edges], kernel_shape=[2, 2], pads=[1, 1, 1, 1], strides=net.pick([[1, 1], [2, 2]]), channels_last=int(last),
            count_include_pad=net.pick([0, 1]))
    elif last:
        own(net, "NhwcMaxPool", [x], kernel_shape=[2, 2], pads=[1, 1, 1, 1], strides=net.pick([[1, 1], [2, 2]]))
    else:
        raise Reject("channels first")


def q_matmul(net):
    kind = "u8"
    k, n = net.pick([1, 4, 9]), net.pick([1, 3, 8])
    weights = net.const(net.numbers.integers(-20, 21, (k, n)).astype(np.int8))
    each = net.chance(0.4)
    points = net.const(np.zeros(n if each else (), np.int8))
    way = net.pick(["float", "dynamic", "gemm"])
    lead = [net.extent(True), net.extent(True)][net.pick([0, 1]):]
    bias = [net.const(net.draw("f32", (n,)))] if net.chance(0.5) else []
    w_scale = scale(net, n if each else None)
    if way == "dynamic":
        x = net.input("f32", [tuple(e or 1 for e in d) for d in lead] + [net.const_extent(k)])
        own(net, "DynamicQuantizeMatMul", [x, weights, w_scale, points, *bias])
    elif way == "float":
        x = net.input(kind, lead + [net.const_extent(k)])
        own(net, "MatMulIntegerToFloat", [x, weights, scale(net), w_scale, zero(net, kind), points, *bias])
    else:
        x = net.input(kind, lead[:1] + [net.const_extent(k)])
        c = net.const(net.numbers.integers(-90, 90, (n,)).astype(np.int32)) if bias else None
        out = [scale(net), zero(net, kind)] if net.chance(0.7) else []
        own(net, "QGemm", [x, scale(net), zero(net, kind), weights, w_scale, points, c, *out])


def q_attention(net):
    heads, size = net.pick([1, 2]), net.pick([2, 4])
    wide = heads * size
    x = net.input("u8", [nonzero(net), nonzero(net), net.const_extent(6)])
    w = net.const(net.numbers.integers(-20, 21, (6, 3 * wide)).astype(np.int8))
    own(net, "QAttention", [x, w, net.const(net.draw("f32", (3 * wide,))), net.const(np.array(0.0625, np.float32)), net.const(np.array(0.0625, np.float32)), None, zero(net, "u8"),
                            net.const(np.array(0, np.int8))], num_heads=heads, unidirectional=net.pick([None, 1]))


def others(net):
    way = net.pick(["distance", "trilu", "dims"])
    if way == "distance":
        x = net.tensor(("f32",), ranks=(2, 2), want=lambda v: all(a.size for a in v.arrays))
        own(net, "CDist", [x, net.fresh("f32", [nonzero(net), x.dims[1]])], metric=net.pick(["sqeuclidean", "euclidean"]))
    elif way == "trilu":
        own(net, "Trilu", [net.tensor(("f32",), ranks=(2, 4))], upper=net.pick([0, 1]))
    else:
        x = net.tensor(("f32",), ranks=(1, 3))
        own(net, "ExpandDims", [x, net.const(np.array(net.rng.randrange(-x.rank, x.rank + 1), np.int32))])


OPS = {"fused_matmul": (2, fused_matmul), "fused_gemm": (1, fused_gemm), "fused_conv": (2, fused_conv), "gelus": (2, gelus), "skip_norm": (2, skip_norm),
       "embed": (1, embed), "simplified": (1, simplified), "attention": (3, attention), "multi_head": (3, multi_head), "grouped": (3, grouped),
       "rotary": (2, rotary), "bits": (2, bits), "q_binary": (1, q_binary), "q_unary": (1, q_unary), "q_concat": (1, q_concat), "q_pool": (2, q_pool),
       "q_matmul": (2, q_matmul), "q_attention": (1, q_attention), "others": (1, others)}
