# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The suite knobs: one layer of a network under each of its knobs, against the same layer in f32, fast and strict; and a node of a graph likewise.

Each row's ratio is what the knob gains on that layer (peer_ms / ours_ms). Programs are measured in turn, a short run of each in a round. Knobs that
only serve to study errors (docs/knobs.md) are shown with the rest: their ratio is about 1 or below. A sum of two layers has its knob alone, while the layers
are f32, and throughout, against the same narrow layers with a sum in f32 (`f32-sum`).
"""
import array
import json
import math
import os
import random
import subprocess

import measure

HERE = os.path.dirname(os.path.abspath(__file__))

# name: (kind, input, weights, strides, pad). 3x3 and 1x1 layers of the size that residual networks have, a depthwise one, a product, a pool, a mean,
# and sums of two layers' results: the sum's knob says how the result waits that was computed first.
LAYERS = {
    "conv3x3-64-32x32": ("conv", "?x64x32x32", "64x64x3x3", 1, 1),
    "conv3x3-256-8x8": ("conv", "?x256x8x8", "256x256x3x3", 1, 1),
    "conv1x1-256-16x16": ("conv", "?x256x16x16", "256x256x1x1", 1, 0),
    "conv5x5-32-32x32": ("conv", "?x32x32x32", "64x32x5x5", 1, 2),
    "depthwise-256-16x16": ("depthwise", "?x256x16x16", "256x1x3x3", 1, 1),
    "product-1024": ("matmul", "?x1024", "1024x1024", 1, 0),
    "pool2x2-64-32x32": ("pool", "?x64x32x32", "2x2", 2, 0),
    "mean-256-16x16": ("reduce", "?x256x16x16", "", 1, 0),
    "sum-64-32x32": ("sum", "?x64x32x32", "64x64x1x1", 1, 0),
    "sum-256-56x56": ("sum", "?x64x56x56", "256x64x1x1", 1, 0),
}
BATCHES = {"sum-256-56x56": 16}  # so large that what waits for the sum leaves the caches; the others take --batch
# name: body of an instance, how results are collected.
BLUR = """    %one = arith.constant 1 : index
    %zero = arith.constant 0 : index
    %last = arith.constant 1023 : index
    %third = arith.constant 0.333333 : f32
    %i0 = arith.subi %i, %one : index
    %above = arith.maxsi %i0, %zero : index
    %i1 = arith.addi %i, %one : index
    %below = arith.minsi %i1, %last : index
    %p = tensor.extract %a[%above, %j] : tensor<1024x1024xf32>
    %q = tensor.extract %a[%i, %j] : tensor<1024x1024xf32>
    %r = tensor.extract %a[%below, %j] : tensor<1024x1024xf32>
    %s = arith.addf %p, %q : f32
    %t = arith.addf %s, %r : f32
    %m = arith.mulf %t, %third : f32
    %v = math.exp %m : f32"""
# Of a window of 7 x 7 elements; its versions are a sum over rows behind one over columns, and every second element.
WINDOW = """    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %seven = arith.constant 7 : index
    %last = arith.constant 1023 : index
    %none = arith.constant 0.0 : f32
    %v = scf.for %r = %zero to %{rows} step %{step} iter_args(%s = %none) -> (f32) {{
      %w = scf.for %c = %zero to %{columns} step %{step} iter_args(%t = %s) -> (f32) {{
        %i0 = arith.addi %i, %r : index
        %row = arith.minsi %i0, %last : index
        %j0 = arith.addi %j, %c : index
        %column = arith.minsi %j0, %last : index
        %p = tensor.extract %a[%row, %column] : tensor<1024x1024xf32>
        %u = arith.addf %t, %p : f32
        scf.yield %u : f32
      }}
      scf.yield %w : f32
    }}"""
NODES = {"node-blur-1024x1024": (BLUR, "tensor<1024x1024xf32>"), "node-sum-1024x1024": (BLUR, "f32 reduce<addf>"),
         "node-window-1024x1024": (WINDOW.format(rows="seven", columns="seven", step="one"), "tensor<1024x1024xf32>")}
# The same window with a weight between others, as in a chain of filters: what it makes is stored, and read by a window.
WEIGHTED = WINDOW.replace("    %none", "    %weight = arith.constant 0.0204 : f32\n    %none").replace(
    "        %u = arith.addf %t, %p : f32", "        %m = arith.mulf %p, %weight : f32\n        %u = arith.addf %t, %m : f32")
FILTERS = f"""dfg.graph @layer(%x: tensor<1024x1024xf32>) -> (y: tensor<1024x1024xf32>) {{
  %n = arith.constant 1024 : index
  %y = dfg.node @layer grid(%i = %n, %j = %n) (%a = %x : tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {{
{WEIGHTED.format(rows="seven", columns="seven", step="one")}
    dfg.yield %v : f32
  }}
  %z = dfg.node @after grid(%i = %n, %j = %n) (%a = %y : tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {{
{WINDOW.format(rows="one", columns="seven", step="one")}
    dfg.yield %v : f32
  }}
  dfg.return %z : tensor<1024x1024xf32>
}}
"""
# A frame is exposed by its own brightness, or by that of the frame before; one frame at a time.
EXPOSURE = """dfg.graph @layer(%x: tensor<1024x1024xf32>) -> (y: tensor<1024x1024xf32>) {
  %n = arith.constant 1024 : index
  %m = dfg.node @layer grid(%i = %n, %j = %n) (each %e = %x : tensor<1024x1024xf32>) -> f32 reduce<addf> attributes {dfg.approximate, dfg.first = [5.0e5 : f32]} {
    dfg.yield %e : f32
  }
  %y = dfg.node @expose grid(%i = %n, %j = %n) (each %e = %x : tensor<1024x1024xf32>, %level = %m : f32) -> tensor<1024x1024xf32> {
    %v = arith.divf %e, %level : f32
    dfg.yield %v : f32
  }
  dfg.return %y : tensor<1024x1024xf32>
}
"""
STORES = "node-store-1024x1024"  # the first of them, which stores what it computes as a loop of C++ does
PEERS = {"f32-fast": [], "f32-strict": ["--mode", "strict"]}
KNOBS = ["f16", "f16-math", "f16-math+perforate-rows:3/4@0", "bf16", "int8", "int7", "int4", "perforate-rows:1/2@0", "perforate-rows:1/3@0", "perforate-rows:1/4@0", "perforate-cols:1/2@0", "perforate-both:1/2@0",
         "bf16+perforate-rows:1/2@0", "int8+perforate-rows:1/2@0", "int8+perforate-both:1/2@0", "sample-filter:1/2@0", "sample:1/2@0", "sample:1/4@0", "prune:2/4", "prune-blocks:0.5",
         "perforate-rows:3/4@0", "perforate-rows:7/8@0", "cubic-rows:1/2@0", "cubic-rows:3/4@0", "cubic-rows:7/8@0",
         "direct", "winograd:2", "winograd:4", "split", "promise:3", "version:1", "version:2", "stale:1", "bit-errors:1e-06"]


def add_options(parser):
    parser.add_argument("--batch", type=int, default=1, help="images; on a machine that others use, runs longer than a time slice look slower than they are")
    parser.add_argument("--knobs", default="", help="knobs, separated by commas; default: one of each kind")
    parser.add_argument("--cpu", default="", help="install for this CPU of LLVM's instead of the machine's own, e.g. haswell for AVX2 alone")
    parser.add_argument("--layers", dest="nets", default="", help="layers, separated by commas; default: all. Their rows are recorded, those of the others stay")


def graph(x, result, text):
    """A network of one layer, %1, and a relu behind it."""
    return f"""dfg.graph @layer(%x: tensor<{x}xf32>) -> (y: {result}) {{
  %y = dfg.node @net (%a = %x : tensor<{x}xf32>) -> {result} {{
    {text}
    %2 = nn.unary relu %1 : {result} -> {result}
    dfg.yield %2 : {result}
  }}
  dfg.return %y : {result}
}}
"""


def pool(sizes, window, stride):
    result = f"tensor<{sizes[0]}x{sizes[1]}x{int(sizes[2]) // stride}x{int(sizes[3]) // stride}xf32>"
    return result, (f'%1 = nn.pool max %a {{kernel = array<i64: {window[0]}, {window[1]}>, strides = array<i64: {stride}, {stride}>, '
                    f'pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, nn.name = "layer"}} : tensor<{"x".join(sizes)}xf32> -> {result}')


def mean(sizes):
    result = f"tensor<{sizes[0]}x{sizes[1]}xf32>"
    return result, f'%1 = nn.reduce mean %a {{axes = array<i64: 2, 3>, nn.name = "layer"}} : tensor<{"x".join(sizes)}xf32> -> {result}'


def version(name, *bodies):
    """A graph of nodes that stand for one."""
    text = f"""dfg.graph private @{name}(%x0: tensor<1024x1024xf32>) -> (y: tensor<1024x1024xf32>) {{
  %n = arith.constant 1024 : index
"""
    for number, body in enumerate(bodies):
        text += f"""  %x{number + 1} = dfg.node @{name}{number} grid(%i = %n, %j = %n) (%a = %x{number} : tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {{
{body}
    dfg.yield %v : f32
  }}
"""
    return text + f"  dfg.return %x{len(bodies)} : tensor<1024x1024xf32>\n}}\n"


def store(body):
    return f"""dfg.graph @layer(%x: memref<1024x1024xf32>, %y: memref<1024x1024xf32>) -> (y: memref<1024x1024xf32>) {{
  %n = arith.constant 1024 : index
  %z = dfg.node @layer grid(%i = %n, %j = %n) (in %a = %x : memref<1024x1024xf32>, out %b = %y : memref<1024x1024xf32>) {{
{body.replace("tensor.extract", "memref.load").replace("tensor<", "memref<")}
    memref.store %v, %b[%i, %j] : memref<1024x1024xf32>
  }}
  dfg.return %z : memref<1024x1024xf32>
}}
"""


def node(body, result):
    """A node of a graph, and one that reads its result, so that it may be stored otherwise."""
    is_sum = not result.startswith("tensor")
    versions, hint = "", "dfg.approximate"
    if body != BLUR:
        versions = version("separable", WINDOW.format(rows="one", columns="seven", step="one"), WINDOW.format(rows="seven", columns="one", step="one"))
        versions += version("sparse", WINDOW.format(rows="seven", columns="seven", step="two").replace("%seven =", "%two = arith.constant 2 : index\n    %seven ="))
        hint += ", dfg.versions = [@separable, @sparse]"
    after = "" if is_sum else """  %z = dfg.node @after grid(%i = %n, %j = %n) (each %e = %y : tensor<1024x1024xf32>) -> f32 reduce<maximumf> {
    dfg.yield %e : f32
  }
"""
    return versions + f"""dfg.graph @layer(%x: tensor<1024x1024xf32>) -> (y: f32) {{
  %n = arith.constant 1024 : index
  %y = dfg.node @layer grid(%i = %n, %j = %n) (%a = %x : tensor<1024x1024xf32>) -> {result} attributes {{{hint}}} {{
{body}
    dfg.yield %v : f32
  }}
{after}  dfg.return %{"y" if is_sum else "z"} : f32
}}
"""


def program(kind, x, w, stride, pad):
    """The layer as a graph, with weights that look random."""
    shape = [int(e) for e in w.split("x")] if w else []
    out = x.split("x")
    attributes = ['nn.name = "layer"', "nn.range = array<f32: 0.0, 1.0>"]
    if kind in ("pool", "reduce"):
        return graph(x, *pool(out, shape, stride) if kind == "pool" else mean(out))
    if kind == "matmul":
        out[1] = str(shape[1])
    else:
        out[1] = str(shape[0])
        for d in (2, 3):
            out[d] = str((int(out[d]) + 2 * pad - shape[d]) // stride + 1)
        attributes += [f"strides = array<i64: {stride}, {stride}>", f"pads = array<i64: {pad}, {pad}, {pad}, {pad}>", "dilations = array<i64: 1, 1>"]
        if kind == "depthwise":
            attributes.append(f"groups = {shape[0]} : i64")
    types = [f"tensor<{s}xf32>" for s in (x, w, "x".join(out))]
    operands = f"{types[0]}, {types[1]}" if kind == "matmul" else f"({types[0]}, {types[1]})"
    mnemonic = "matmul" if kind == "matmul" else "conv"
    draw = random.Random(1)
    numbers = lambda: array.array("f", (draw.uniform(-0.1, 0.1) for _ in range(math.prod(shape)))).tobytes().hex().upper()
    if kind == "sum":
        return graph(x, types[2], "\n    ".join(f"""%w{name} = arith.constant dense<"0x{numbers()}"> : {types[1]}
    %{name} = nn.conv %a, %w{name} {{{", ".join([f'nn.name = "{name}"', *attributes[1:]])}}} : {operands} -> {types[2]}""" for name in ("first", "second")) + f"""
    %1 = nn.binary add %first, %second {{{", ".join(attributes[:2])}}} : {types[2]}, {types[2]} -> {types[2]}""")
    return graph(x, types[2], f"""%w = arith.constant dense<"0x{numbers()}"> : {types[1]}
    %1 = nn.{mnemonic} %a, %w {{{", ".join(attributes)}}} : {operands} -> {types[2]}""")


def call(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["no message"])[0])
    return done.stdout


def reports(options):
    tessera = os.path.join(options.build, "bin", "tessera")
    work = os.path.join(options.build, "bench", "knobs")
    os.makedirs(work, exist_ok=True)
    found, failures = [], []
    wanted = [k for k in options.knobs.split(",") if k] or KNOBS
    texts = {name: program(*layer) for name, layer in LAYERS.items()} | {name: node(*parts) for name, parts in NODES.items()} | {STORES: store(BLUR), "node-filters-1024x1024": FILTERS, "node-exposure-1024x1024": EXPOSURE}
    layers = measure.words(options.nets, texts)
    for name, text in texts.items():
        if options.only not in name or name not in layers:
            continue
        base = os.path.join(work, name)
        with open(base + ".mlir", "w", encoding="utf-8") as file:
            file.write(text)
        programs = dict(PEERS)
        try:
            call([tessera, "compile", base + ".mlir", "-o", base + ".tsr"])
            operation = next(op for op in json.loads(call([tessera, "explain", base + ".tsr", "--knobs", "--json"])) if op["name"] == "layer")
            has = operation["knobs"]
            ranks = [k for k in has if k.startswith("low-rank")]
            programs.update({knob: ["--knobs", "layer=" + knob] for knob in wanted + (ranks if not options.knobs else []) if knob in has})
            pairs = [(knob, knob, peer, peer) for knob in programs for peer in PEERS if knob not in PEERS]
            for knob in [k for k in programs if name.startswith("sum-") and k not in PEERS]:
                layers_alone = f"first={knob},second={knob}"
                programs.update({knob + "-layers": ["--knobs", layers_alone], knob + "-throughout": ["--knobs", f"{layers_alone},layer={knob}"]})
                pairs.append((knob + "-throughout", knob + " throughout", knob + "-layers", "f32-sum"))
            for knob, flags in programs.items():
                call([tessera, "install", base + ".tsr", "-o", f"{base}-{knob.replace('/', '_')}.tsx", *flags, *(["--cpu", options.cpu] if options.cpu else [])])
        except RuntimeError as error:
            failures.append(f"{name}: {error}")
            continue
        batch = BATCHES.get(name, options.batch)
        for threads in options.threads:
            times = {knob: [] for knob in programs}
            for _ in range(options.rounds):
                for knob in programs:
                    answer = call([tessera, "bench", f"{base}-{knob.replace('/', '_')}.tsx", "--threads", str(threads), "--seconds", "0.1", "--json", "-",
                                   *([] if name.startswith("node-") else ["--batch", str(batch)])])
                    times[knob].append(json.loads(answer)["best_ms"])
            for knob, config, other, peer in pairs:
                found.append({"case": name, "config": f"{config}, batch {batch}, {threads} thread{'s' if threads > 1 else ''}" + (f", {options.cpu}" if options.cpu else ""),
                              "peer": peer, "ours": times[knob], "peer_times": times[other]})
    return found, failures
