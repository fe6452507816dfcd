# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Normalisations."""
import numpy as np

from net import Reject

WEIGHT = 1


def positive(net, kind):
    return lambda shape, i: net.draw(kind, shape, 1, 3)


def batch(net):
    x = net.tensor(ranks=(2, 5))
    channel = [x.dims[1]]
    parts = [net.fresh(x.kind, channel, constant=0.8) for _ in range(3)] + [net.fresh(x.kind, channel, positive(net, x.kind), constant=0.8)]
    net.node("BatchNormalization", [x, *parts], epsilon=net.pick([None, 1e-3]))


def instance(net):
    x = net.tensor(ranks=(3, 5), small=True)
    net.node("InstanceNormalization", [x, net.fresh(x.kind, [x.dims[1]], constant=0.8), net.fresh(x.kind, [x.dims[1]], constant=0.8)], epsilon=1e-2)


def layer(net):
    if net.opset < 17:
        raise Reject("opset")
    x = net.tensor(ranks=(1, 4))
    axis = net.rng.randrange(x.rank)
    parts = [net.fresh(x.kind, x.dims[axis:], constant=0.7) for _ in range(net.pick([1, 2]))]
    outputs = net.pick([1, 1, 3]) if x.kind == "f32" else 1
    net.node("LayerNormalization", [x, *parts], outputs=outputs, axis=axis - (x.rank if net.chance(0.5) else 0), epsilon=1e-2)


def group(net):
    x = net.tensor(ranks=(3, 4), small=True, want=lambda v: v.fixed(1) and v.dims[1][0])
    channels = x.dims[1][0]
    groups = net.pick([g for g in range(1, channels + 1) if channels % g == 0])
    length = channels if net.opset >= 21 else groups
    net.node("GroupNormalization", [x, *(net.const(net.draw(x.kind, (length,)), x.kind) for _ in range(2))], num_groups=groups, epsilon=1e-2)


def root(net):
    if net.opset < 23:
        raise Reject("opset")
    x = net.tensor(ranks=(1, 4))
    axis = net.rng.randrange(x.rank)
    net.node("RMSNormalization", [x, net.fresh(x.kind, x.dims[axis:], constant=0.7)], axis=axis - (x.rank if net.chance(0.5) else 0), epsilon=1e-2)


OPS = {"batch": (2, batch), "instance": (1, instance), "layer": (2, layer), "group": (1, group), "root": (1, root)}
