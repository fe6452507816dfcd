# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A network that is being made at random, node by node.

Everything is concrete: a net has a few launches, and each value holds its array in each of them. An extent is a tuple with its size
in each launch; one that differs between launches is open in the model. A node is run by ONNX Runtime as it is added, in all
launches: that gives the shapes of what it makes, and a node that does not fit is not added. So the families need no shape inference.
"""
import random

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import judge
import limits

TYPES = {"f32": (TensorProto.FLOAT, np.float32), "f64": (TensorProto.DOUBLE, np.float64), "f16": (TensorProto.FLOAT16, np.float16),
         "i8": (TensorProto.INT8, np.int8), "u8": (TensorProto.UINT8, np.uint8), "i16": (TensorProto.INT16, np.int16),
         "u16": (TensorProto.UINT16, np.uint16), "i32": (TensorProto.INT32, np.int32), "u32": (TensorProto.UINT32, np.uint32),
         "i64": (TensorProto.INT64, np.int64), "u64": (TensorProto.UINT64, np.uint64), "bool": (TensorProto.BOOL, np.bool_),
         "bf16": (TensorProto.BFLOAT16, None)}
OF_ONNX = {code: name for name, (code, _) in TYPES.items()}
FLOATS, INTS = ("f32", "f64", "f16"), ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")
MAX_ELEMENTS = 12000
# The versions of the other domains.
VERSIONS = {"com.microsoft": 1, "ai.onnx.ml": 3}


class Reject(Exception):
    """What was tried does not fit; nothing was added."""


def type_of(array):
    return next(name for name, (_, kind) in TYPES.items() if kind is not None and np.dtype(kind) == array.dtype)


class Fixed(tuple):
    """An extent that the net's structure depends on (a window, a number of channels): seldom left open."""


class Value:
    """A tensor of the net. `known`: it follows from extents and constants alone, so that it may decide shapes. `exact`: no rounding
    has happened, so that a comparison, a rounding or a sort of it comes out the same everywhere."""

    def __init__(self, name, kind, arrays, source, known=False, exact=True, draw=None):
        self.name, self.kind, self.arrays, self.source = name, kind, arrays, source
        self.known, self.exact, self.draw = known, exact, draw
        self.used = 0

    @property
    def rank(self):
        return self.arrays[0].ndim

    @property
    def dims(self):
        return [tuple(a.shape[d] for a in self.arrays) for d in range(self.rank)]

    def fixed(self, d):
        return len(set(self.dims[d])) == 1

    @property
    def size(self):
        return max(a.size for a in self.arrays)

    @property
    def is_float(self):
        return self.kind in FLOATS


class Net:
    def __init__(self, seed, launches=3):
        self.seed, self.rng, self.launches = seed, random.Random(seed), launches
        self.numbers = np.random.default_rng(seed)
        self.opset = self.rng.choice([13, 15, 17, 18, 19, 20, 21, 22, 23])
        self.values, self.nodes, self.inputs, self.initializers, self.declared = [], [], [], [], {}
        self.count = 0
        self.extents = []
        self.strange = self.rng.random() < 0.05  # names that are no identifiers
        self.default = self.rng.choices(["f32", "f64", "f16"], [80, 10, 10])[0]

    # -- chance ---------------------------------------------------------------------------------------------------------------------
    def chance(self, p):
        return self.rng.random() < p

    def pick(self, items, weights=None):
        return self.rng.choices(list(items), weights)[0]

    def name(self, stem):
        self.count += 1
        if self.strange and self.chance(0.5):
            return self.pick(["größe", "a b", "x/y:0", "名前", "%x", "a\"b", "-", "1st", "a.b@c", "\t"]) + str(self.count)
        return f"{stem}{self.count}"

    # -- extents --------------------------------------------------------------------------------------------------------------------
    def size(self, small=False):
        if small:
            return self.pick([1, 2, 3, 4, 5, 6], [15, 25, 25, 20, 10, 5])
        return self.pick([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 33], [1, 10, 14, 14, 14, 10, 6, 6, 8, 6, 4, 3, 3, 1])

    def extent(self, small=False, fixed=None):
        """The sizes of an extent in each launch: one that is there already, a new one, or the same everywhere."""
        if fixed is None:
            fixed = self.chance(0.4)
        if not fixed and self.extents and self.chance(0.5):
            return self.pick(self.extents)
        if fixed:
            return (self.size(small) or 1,) * self.launches
        made = tuple(self.size(small) for _ in range(self.launches))
        self.extents.append(made)
        return made

    def const_extent(self, n):
        return Fixed((n,) * self.launches)

    def shape(self, rank=None, small=None):
        if rank is None:
            rank = self.pick([0, 1, 2, 3, 4, 5], [4, 18, 30, 28, 17, 3])
        small = rank > 2 if small is None else small
        return [self.extent(small) for _ in range(rank)]

    # -- values ---------------------------------------------------------------------------------------------------------------------
    def draw(self, kind, shape, low=None, high=None):
        """Numbers that sums and products keep exact: multiples of a quarter; small integers, sometimes extreme ones."""
        g = self.numbers
        if kind == "bool":
            return g.random(shape) < 0.5
        dtype = TYPES[kind][1]
        if kind in FLOATS:
            low, high = (-3 if low is None else low), (3 if high is None else high)
            return np.asarray(g.integers(int(np.ceil(low * 4)), int(np.floor(high * 4)) + 1, shape) / 4).astype(dtype)
        if low is None and high is None and self.chance(0.1):
            info = np.iinfo(dtype)
            return np.asarray(g.choice(np.array([info.min, info.max, 0, 1, 2], dtype), shape))
        low = (0 if kind.startswith("u") else -5) if low is None else low
        return np.asarray(g.integers(low, (9 if high is None else high) + 1, shape)).astype(dtype)

    def dims_at(self, dims, launch):
        return tuple(d[launch] for d in dims)

    def check_size(self, dims):
        if max((int(np.prod(self.dims_at(dims, i), dtype=np.int64)) for i in range(self.launches)), default=0) > MAX_ELEMENTS:
            raise Reject("too large")

    def input(self, kind, dims, draw=None):
        """A new input of the graph; its open extents are named after what they are, by a name of their own, or not at all."""
        self.check_size(dims)
        draw = draw or (lambda shape, launch: self.draw(kind, shape))
        value = Value(self.name("in"), kind, [np.asarray(draw(self.dims_at(dims, i), i)) for i in range(self.launches)], "input", draw=draw)
        spelled = []
        for d, sizes in enumerate(dims):
            if len(set(sizes)) == 1 and not self.chance(0.03 if isinstance(sizes, Fixed) else 0.3):
                spelled.append(sizes[0])
            else:
                word = "d" + "_".join(map(str, sizes))
                spelled.append(self.pick([word, f"{value.name}_{d}", None], [60, 25, 15]))
        self.declared[value.name] = spelled
        self.inputs.append(value)
        self.values.append(value)
        return value

    def const(self, array, kind=None):
        array = np.asarray(array)
        kind = kind or type_of(array)
        value = Value(self.name("c"), kind, [array] * self.launches, "const", known=True)
        self.initializers.append(value)
        self.values.append(value)
        return value

    def ints(self, *numbers, kind="i64"):
        return self.const(np.array(numbers, TYPES[kind][1]))

    def fresh(self, kind, dims, draw=None, constant=0.4):
        """A new input, or a constant where no extent is open."""
        draw = draw or (lambda shape, launch: self.draw(kind, shape))
        if all(len(set(d)) == 1 for d in dims) and self.chance(constant):
            self.check_size(dims)
            return self.const(draw(self.dims_at(dims, 0), 0), kind)
        return self.input(kind, dims, draw)

    def find(self, want, new=None, keep=0.75):
        """A value that is there and fits, rather a late one that nothing uses; or what `new` makes."""
        fitting = [v for v in self.values if want(v) and v.source != "const"]
        if fitting and (new is None or self.chance(keep)):
            weights = [(3 if v.source == "node" else 1) * (3 if not v.used else 1) for v in fitting]
            return self.pick(fitting, weights)
        if new is None:
            raise Reject("nothing fits")
        return new()

    def tensor(self, kinds=None, ranks=(0, 5), exact=False, want=None, small=None, keep=0.75):
        """A tensor of one of these kinds (the net's own float by default) and ranks."""
        kinds = (self.default,) if kinds is None else kinds
        def fits(v):
            return v.kind in kinds and ranks[0] <= v.rank <= ranks[1] and (v.exact or not exact) and (want is None or want(v))
        def new():
            rank = self.pick(range(ranks[0], ranks[1] + 1), [{0: 1, 1: 3, 2: 6, 3: 6, 4: 4, 5: 1}.get(r, 1) for r in range(ranks[0], ranks[1] + 1)])
            value = self.input(self.pick(kinds), self.shape(rank, small))
            if want is not None and not want(value):
                raise Reject("a new one does not fit")
            return value
        return self.find(fits, new, keep)

    def partner(self, value, kind=None, exact=False, draw=None, ones=True):
        """Another operand that broadcasts with `value`: one that is there, or a new one with some extents 1, always or in some launches."""
        kind = kind or value.kind
        def fits(v):
            if v.kind != kind or v is value or (exact and not v.exact) or draw:
                return False
            try:
                return all(np.prod(np.broadcast_shapes(a.shape, b.shape)) <= MAX_ELEMENTS for a, b in zip(v.arrays, value.arrays))
            except ValueError:
                return False
        def new():
            dims = []
            for sizes in value.dims:
                way = self.rng.random()
                if not ones or way < 0.65:
                    dims.append(sizes)
                elif way < 0.85:
                    dims.append(self.const_extent(1))
                else:  # open, and 1 in some launches
                    dims.append(tuple(1 if self.chance(0.5) else n for n in sizes))
            if ones and self.chance(0.25):
                dims = dims[self.rng.randrange(len(dims) + 1):]
            return self.fresh(kind, dims, draw)
        return self.find(fits, new, 0.5)

    # -- nodes ----------------------------------------------------------------------------------------------------------------------
    def node(self, op, inputs, outputs=1, exact=False, known=None, domain="", captured=(), extremes=False, left_out=(), **attributes):
        """Adds a node and returns its outputs (one, or a list). `captured`: values that its graphs use. Inputs may be None.
        `left_out`: positions of outputs without a name."""
        attributes = {k: v for k, v in attributes.items() if v is not None}
        names = ["" if i in left_out else self.name("v") for i in range(outputs)]
        proto = helper.make_node(op, [i.name if i else "" for i in inputs], names, name=self.name("n_" + op + "_"), domain=domain, **attributes)
        given = [i for i in [*inputs, *captured] if i is not None]
        if op in limits.NOT_ON_NOTHING and not all(a.size for i in given for a in i.arrays):
            raise Reject("nothing to work on")
        results = judge.run_node(proto, given, self.opset, self.launches)
        if isinstance(results, str):
            raise Reject(results)
        made = []
        names = [name for name in names if name]
        for position, name in enumerate(names):
            arrays = [r[position] for r in results]
            if max(a.size for a in arrays) > MAX_ELEMENTS:
                raise Reject("too large")
            kind = type_of(arrays[0])
            if kind in FLOATS and not extremes:
                limit = 500 if kind == "f16" else 1e5
                if any(a.size and not (np.abs(a.astype(np.float64)) < limit).all() for a in arrays) and not self.chance(0.05):
                    raise Reject("numbers too large, or none")
            value = Value(name, kind, arrays, "node")
            value.exact = kind not in FLOATS or bool(exact) and all(v.exact for v in given) and all(self.coarse(a) for a in arrays)
            if kind not in FLOATS and not all(v.exact for v in given if v.kind in FLOATS) and op not in ("Shape", "Size"):
                value.exact = False
            value.known = bool(known) if known is not None else False
            made.append(value)
        for i in given:
            i.used += 1
        self.nodes.append(proto)
        self.values += made
        return made[0] if outputs == 1 else made

    @staticmethod
    def coarse(array):
        if array.size == 0:
            return True
        wide = array.astype(np.float64)
        scale, limit = (2.0**3, 2.0**7) if array.dtype == np.float16 else (2.0**8, 2.0**14)
        return bool(np.isfinite(wide).all() and (np.abs(wide) < limit).all() and (wide * scale == np.round(wide * scale)).all())

    def attempt(self, add):
        """Runs a family's function; what it began is taken back when it does not fit."""
        marks = [len(x) for x in (self.values, self.nodes, self.inputs, self.initializers)]
        used = [(v, v.used) for v in self.values]
        try:
            add(self)
            return True
        except Reject:
            for items, mark in zip((self.values, self.nodes, self.inputs, self.initializers), marks):
                del items[mark:]
            for value, count in used:
                value.used = count
            return False

    # -- the model ------------------------------------------------------------------------------------------------------------------
    def outputs(self):
        made = [v for v in self.values if v.source == "node"]
        chosen = [v for v in made if not v.used or self.chance(0.15)]
        return chosen or made[-1:]

    def model(self, outputs=None):
        outputs = outputs or self.outputs()
        used = {name for node in self.nodes for name in names_in(node)} | {o.name for o in outputs}
        inputs = [helper.make_tensor_value_info(v.name, TYPES[v.kind][0], self.declared[v.name]) for v in self.inputs if v.name in used]
        results = [helper.make_tensor_value_info(v.name, TYPES[v.kind][0], [None] * v.rank) for v in outputs]
        constants = [numpy_helper.from_array(v.arrays[0], v.name) for v in self.initializers if v.name in used]
        return make_model(self.nodes, inputs, results, constants, self.opset, f"seed{self.seed}")


def names_in(node):
    """The names that a node and the graphs below it take."""
    names = set(node.input)
    for attribute in node.attribute:
        for graph in [attribute.g] if attribute.type == onnx.AttributeProto.GRAPH else attribute.graphs:
            for inner in graph.node:
                names |= names_in(inner)
            names |= {o.name for o in graph.output}
    return names


def make_model(nodes, inputs, outputs, constants, opset, name="net"):
    graph = helper.make_graph(nodes, name, inputs, outputs, constants)
    imports = [helper.make_opsetid("", opset)]
    imports += [helper.make_opsetid(domain, VERSIONS[domain]) for domain in sorted({node.domain for node in nodes} - {""})]
    return helper.make_model(graph, opset_imports=imports, ir_version=10 if opset > 20 else 8)
