# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs and networks of any number of layers, nodes or loops, for what counts how the compiler's work grows.

usage: inputs.py FAMILY COUNT FILE    (inputs.py --list names the families; needs nothing but Python)

ONNX files are written byte by byte: the format is fields of a number and a value.
"""
import struct
import sys

FLOAT, INT64, BOOL = 1, 7, 9


def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytearray([n]))


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def fields(*pairs):
    return b"".join(field(number, value) for number, value in pairs)


def tensor(name, shape, kind, raw):
    return fields(*((1, d) for d in shape), (2, kind), (8, name), (9, raw))


def port(name, shape, kind=FLOAT):
    dims = b"".join(field(1, fields((2, d) if isinstance(d, str) else (1, d))) for d in shape)
    return fields((1, name), (2, field(1, fields((1, kind), (2, dims)))))


def attribute(name, value):
    if isinstance(value, list):
        return fields((1, name), *((8, v) for v in value), (20, 7))
    if isinstance(value, bytes):
        return fields((1, name), (6, value), (20, 5))
    return fields((1, name), (2 if isinstance(value, float) else 3, value), (20, 1 if isinstance(value, float) else 2))


class Network:
    def __init__(self):
        self.nodes, self.constants, self.known, self.functions = [], [], set(), []

    def op(self, kind, inputs, domain="", results=1, **attributes):
        name = f"{kind.lower()}{len(self.nodes)}"
        outs = [name] if results == 1 else [f"{name}.{i}" for i in range(results)]
        self.nodes.append(fields(*((1, i) for i in inputs), *((2, o) for o in outs), (3, name), (4, kind),
                                 *((5, attribute(k, v)) for k, v in attributes.items()), *([(7, domain)] if domain else [])))
        return outs[0] if results == 1 else outs

    def weight(self, *shape):
        name, count = "w" + "x".join(map(str, shape)), 1
        for d in shape:
            count *= d
        if name not in self.known:
            self.known.add(name)
            raw = struct.pack(f"<{count}f", *((i * 7 % 13 - 6) / 64 for i in range(count)))
            self.constants.append(tensor(name, shape, FLOAT, raw))
        return name

    def ints(self, *values):
        name = "i" + "_".join(map(str, values))
        if name not in self.known:
            self.known.add(name)
            self.constants.append(tensor(name, [len(values)], INT64, struct.pack(f"<{len(values)}q", *values)))
        return name

    def scalar(self, name, kind, raw):
        if name not in self.known:
            self.known.add(name)
            self.constants.append(tensor(name, [], kind, raw))
        return name

    def graph(self, inputs, outputs, name="net"):
        return fields(*((1, n) for n in self.nodes), (2, name), *((5, c) for c in self.constants), *((11, i) for i in inputs),
                      *((12, o) for o in outputs))

    def save(self, path, inputs, result, rank):
        model = fields((1, 8), (7, self.graph(inputs, [port(result, [f"d{i}" for i in range(rank)])])), (8, field(2, 17)),
                       (8, fields((1, "local"), (2, 1))), *((25, f) for f in self.functions))
        with open(path, "wb") as file:
            file.write(model)


def elementwise(n, path, shape=(4, 8)):
    """A chain of cheap operations, which becomes one node."""
    net, v = Network(), "x"
    for i in range(n):
        v = net.op(("Neg", "Exp")[i % 2], [v])
    net.save(path, [port("x", shape)], v, len(shape))


def chain(n, path, shape=(1, 8, 8, 8)):
    """Convolutions, one after the other."""
    net, v = Network(), "x"
    for _ in range(n):
        v = net.op("Relu", [net.op("Conv", [v, net.weight(8, 8, 3, 3)], pads=[1, 1, 1, 1])])
    net.save(path, [port("x", shape)], v, 4)


def residual(n, path, shape=(1, 8, 8, 8)):
    """Convolutions with a way around each."""
    net, v = Network(), "x"
    for _ in range(n):
        v = net.op("Relu", [net.op("Add", [net.op("Conv", [v, net.weight(8, 8, 3, 3)], pads=[1, 1, 1, 1]), v])])
    net.save(path, [port("x", shape)], v, 4)


def dense(n, path, shape=(1, 16, 14, 14)):
    """Blocks of eight layers, of which each reads all before it in its block."""
    net, v = Network(), "x"
    for i in range(0, n, 8):
        seen, channels = [v], 16
        for _ in range(min(8, n - i)):
            both = seen[0] if len(seen) == 1 else net.op("Concat", seen, axis=1)
            seen.append(net.op("Relu", [net.op("Conv", [both, net.weight(16, channels, 1, 1)])]))
            channels += 16
        v = seen[-1]
    net.save(path, [port("x", shape)], v, 4)


def swish(n, path, shape=(1, 8, 8, 8)):
    """x * sigmoid(x) behind each convolution: ways part and join at every layer."""
    net, v = Network(), "x"
    for _ in range(n):
        v = net.op("Conv", [v, net.weight(8, 8, 1, 1)])
        v = net.op("Mul", [v, net.op("Sigmoid", [v])])
    # The batch is asked for behind all of them.
    first = net.op("Gather", [net.op("Shape", [v]), net.ints(0)], axis=0)
    v = net.op("Reshape", [v, net.op("Concat", [first, net.ints(-1)], axis=0)])
    net.save(path, [port("x", shape)], v, 2)


def products(n, path, rows=16):
    """Matrix products with a norm before and a way around each, as in a transformer."""
    net, v = Network(), "x"
    for _ in range(n):
        own = net.op("LayerNormalization", [v, net.weight(16)], axis=-1)
        v = net.op("Add", [v, net.op("MatMul", [own, net.weight(16, 16)])])
    net.save(path, [port("x", [2, rows, 16])], v, 3)


def shapes(n, path):
    """Shapes that are computed: as exporters write a flatten of an open batch."""
    net, v = Network(), "x"
    for i in range(n):
        first = net.op("Gather", [net.op("Shape", [v]), net.ints(0)], axis=0)
        v = net.op("Reshape", [net.op("Exp", [v]), net.op("Concat", [first, net.ints(-1) if i % 2 else net.ints(4, 8)], axis=0)])
    net.save(path, [port("x", ["N", 32])], v, 3 if n % 2 else 2)


def join(n, path):
    """One tensor of `n` pieces."""
    net = Network()
    v = net.op("Concat", [f"x{i}" for i in range(n)], axis=0)
    net.save(path, [port(f"x{i}", [1, 8]) for i in range(n)], v, 2)


def steps(n, path):
    """One loop of `n` steps, a number that is known."""
    body = Network()
    y = body.op("Add", ["v", body.op("Exp", ["v"])])
    body.nodes.append(fields((1, "going"), (2, "on"), (4, "Identity")))
    inner = body.graph([port("i", [], INT64), port("going", [], BOOL), port("v", [4, 8])], [port("on", [], BOOL), port(y, [4, 8])], "step")
    net = Network()
    v = net.op("Loop", [net.scalar("count", INT64, struct.pack("<q", n)), "", "x"], body=inner)
    net.save(path, [port("x", [4, 8])], v, 2)


def loops(n, path):
    """Loops of three steps, one after the other."""
    body = Network()
    y = body.op("Add", ["v", body.op("Exp", ["v"])])
    body.nodes.append(fields((1, "going"), (2, "on"), (4, "Identity")))
    inner = body.graph([port("i", [], INT64), port("going", [], BOOL), port("v", [4, 8])], [port("on", [], BOOL), port(y, [4, 8])], "step")
    net, v = Network(), "x"
    for _ in range(n):
        v = net.op("Loop", [net.scalar("count", INT64, struct.pack("<q", 3)), "", v], body=inner)
    net.save(path, [port("x", [4, 8])], v, 2)


def graph(n, path, fused=False):
    """A graph of `n` nodes, each a loop over its instances; all become one where each reads its own element alone."""
    with open(path, "w") as file:
        file.write("dfg.graph @many(%v0: tensor<?xf32>) -> (y: tensor<?xf32>) {\n"
                   "  %c0 = arith.constant 0 : index\n  %n = tensor.dim %v0, %c0 : tensor<?xf32>\n")
        for i in range(n):
            file.write(f"  %v{i + 1} = dfg.node @step{i} grid(%i = %n) (each %e = %v{i} : tensor<?xf32>, %all = %v{i} : tensor<?xf32>) -> tensor<?xf32> {{\n"
                       f"    %k = arith.constant {i}.5 : f32\n    %0 = arith.addf %e, %k : f32\n    %c = arith.constant 0 : index\n"
                       f"    %f = tensor.extract %all[%c] : tensor<?xf32>\n    %1 = arith.mulf %0, %{'e' if fused else 'f'} : f32\n    dfg.yield %1 : f32\n  }}\n")
        file.write(f"  dfg.return %v{n} : tensor<?xf32>\n}}\n")


def maps(n, path):
    """A graph of `n` nodes, each of which adds a number to a whole tensor."""
    with open(path, "w") as file:
        file.write("dfg.graph @maps(%v0: tensor<64xf32>) -> (y: tensor<64xf32>) {\n")
        for i in range(n):
            file.write(f"  %v{i + 1} = dfg.node @step{i} (%a = %v{i} : tensor<64xf32>) -> tensor<64xf32> {{\n"
                       f"    %k = arith.constant {i}.5 : f32\n    %e = tensor.empty() : tensor<64xf32>\n"
                       "    %r = linalg.map ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) (%i: f32, %o: f32) {\n"
                       "      %s = arith.addf %i, %k : f32\n      linalg.yield %s : f32\n    }\n    dfg.yield %r : tensor<64xf32>\n  }\n")
        file.write(f"  dfg.return %v{n} : tensor<64xf32>\n}}\n")


def wide(n, path):
    """One node that computes with vectors of 2048 `n` numbers, and carries one through a loop."""
    width = 2048 * n
    memory, vector = f"memref<{width}xf32>", f"vector<{width}xf32>"
    with open(path, "w") as file:
        file.write(f"dfg.graph @wide(%x: {memory}) -> (y: {memory}) {{\n  %o = dfg.buffer() : {memory}\n"
                   f"  %y = dfg.node @w (in %a = %x : {memory}, out %c = %o : {memory}) {{\n"
                   "    %z = arith.constant 0 : index\n    %one = arith.constant 1 : index\n    %four = arith.constant 4 : index\n"
                   f"    %k = arith.constant dense<1.5> : {vector}\n    %v = vector.load %a[%z] : {memory}, {vector}\n"
                   f"    %l = scf.for %i = %z to %four step %one iter_args(%s = %v) -> ({vector}) {{\n"
                   f"      %p = arith.mulf %s, %k : {vector}\n      %e = math.exp %p : {vector}\n      %t = arith.addf %e, %s : {vector}\n"
                   f"      scf.yield %t : {vector}\n    }}\n"
                   f"    %r = vector.reduction <add>, %l : {vector} into f32\n    %b = vector.broadcast %r : f32 to {vector}\n"
                   f"    %q = arith.subf %l, %b : {vector}\n    vector.store %q, %c[%z] : {memory}, {vector}\n  }}\n"
                   f"  dfg.return %y : {memory}\n}}\n")


def cpp(n, path):
    """Marked C++: a section of `n` loops over two arrays."""
    with open(path, "w") as file:
        file.write("#include <cstddef>\n#include <tessera/hetero.h>\n"
                   "void many(float *a, size_t an, float *b, size_t bn, int n) {\n  void *section = __hetero_section_begin();\n")
        for i in range(n):
            x, y = ("a", "b") if i % 2 == 0 else ("b", "a")
            file.write(f"  for (int i = 0; i < n; ++i) {{\n    __hetero_parallel_loop(1, 3, {x}, {x}n, {y}, {y}n, n, 1, {y}, {y}n, \"step{i}\");\n"
                       f"    {y}[i] = {x}[i] * 2.0f + {i}.5f;\n  }}\n")
        file.write("  __hetero_section_end(section);\n}\n"
                   "int main() {\n  float a[8] = {}, b[8] = {};\n"
                   "  void *run = __hetero_launch((void *)many, 3, a, sizeof a, b, sizeof b, 8, 2, a, sizeof a, b, sizeof b);\n"
                   "  __hetero_wait(run);\n  return 0;\n}\n")


def launches(n, path):
    """Marked C++: `n` functions with a loop each, and a launch of each."""
    with open(path, "w") as file:
        file.write("#include <cstddef>\n#include <tessera/hetero.h>\n")
        for i in range(n):
            file.write(f"static void step{i}(float *a, size_t an, int n) {{\n  void *section = __hetero_section_begin();\n"
                       f"  for (int i = 0; i < n; ++i) {{\n    __hetero_parallel_loop(1, 2, a, an, n, 1, a, an, \"step{i}\");\n"
                       f"    a[i] = a[i] * 2.0f + {i}.5f;\n  }}\n  __hetero_section_end(section);\n}}\n")
        file.write("int main() {\n  float a[8] = {};\n")
        for i in range(n):
            file.write(f"  __hetero_wait(__hetero_launch((void *)step{i}, 2, a, sizeof a, 8, 1, a, sizeof a));\n")
        file.write("  return 0;\n}\n")


FAMILIES = {
    "elementwise": elementwise,
    "elementwise-open": lambda n, path: elementwise(n, path, ("N", "M")),
    "elementwise-large": lambda n, path: elementwise(n, path, (64, 1000)),
    "chain": chain,
    "chain-batch": lambda n, path: chain(n, path, ("N", 8, 8, 8)),
    "chain-open": lambda n, path: chain(n, path, ("N", 8, "H", "W")),
    "residual": residual,
    "residual-batch": lambda n, path: residual(n, path, ("N", 8, 8, 8)),
    "residual-open": lambda n, path: residual(n, path, ("N", 8, "H", "W")),
    "dense": dense,
    "dense-open": lambda n, path: dense(n, path, ("N", 16, "H", "W")),
    "swish-batch": lambda n, path: swish(n, path, ("N", 8, 8, 8)),
    "swish-open": lambda n, path: swish(n, path, ("N", 8, "H", "W")),
    "products": products,
    "products-open": lambda n, path: products(n, path, "T"),
    "shapes": shapes,
    "join": join,
    "maps": maps, "wide": wide,
    "steps": steps,
    "loops": loops,
    "graph": graph,
    "graph-fused": lambda n, path: graph(n, path, True),
    "cpp": cpp,
    "launches": launches,
}

if __name__ == "__main__":
    if sys.argv[1] == "--list":
        print("\n".join(FAMILIES))
    else:
        FAMILIES[sys.argv[1]](int(sys.argv[2]), sys.argv[3])
