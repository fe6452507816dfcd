#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes installed programs by hand, to measure the runtime without the compiler.

usage: handmade.py CLANG KERNELS.c OUT_DIR

layers.tsx: 100 layers of 10 nodes that only count, each after two of the layer before. six.tsx: six in a row.
stream_empty.tsx: four stages that do next to nothing; stream.tsx and stream_long.tsx: four on 2048 and 32768 floats. The container and
the plan are those of docs/formats.md.
"""
import hashlib
import json
import os
import platform
import struct
import subprocess
import sys

PAGE = 4096


def container(sections):
    table, at, bodies = b"", PAGE, b""
    assert 64 + 96 * len(sections) <= PAGE
    for name, data in sections:
        table += struct.pack("<40sQQ32sQ", name.encode(), at, len(data), hashlib.sha256(data).digest(), 0)
        padded = data + b"\0" * (-len(data) % PAGE)
        bodies += padded
        at += len(padded)
    # The last section ends the file; only the others are filled up to a page.
    total = at - (-len(sections[-1][1]) % PAGE)
    header = b"TESSERA\x01" + struct.pack("<IIIIQ", 2, 1, 0, len(sections), total) + hashlib.sha256(table).digest()
    head = header + table
    return (head + b"\0" * (PAGE - len(head)) + bodies)[:total]


def node(index, kernel, args, after, reads, writes):
    step = {"kernel": kernel, "args": args, "grid": [0, 0, 0], "scratch": 1, "chain": False, "flops": 1, "bytes": 1}
    return {
        "name": f"n{index}", "loc": "handmade", "after": after, "reads": reads, "writes": writes, "depth": 2, "criticality": 0, "cost": 0.0,
        "versions": [{"target": "cpu", "steps": [step], "temps": [], "note": ""}],
    }


def layers(count, width):
    """exprs 0 and 1 are the numbers one and zero; value 0 is the input, value 1 + i what node i writes."""
    values = [{"kind": "input", "type": "i64", "shape": []}]
    nodes = []
    for layer in range(count):
        for j in range(width):
            index = layer * width + j
            values.append({"kind": "temp", "type": "i64", "shape": []})
            above = [] if layer == 0 else sorted({(layer - 1) * width + j, (layer - 1) * width + (j + 1) % width})
            reads = [1 + a for a in above] or [0]
            args = [["value", v] for v in [1 + index, *reads]]
            nodes.append(node(index, "depth", args, above, reads, [1 + index]))
    return {"name": "layers", "inputs": [{"name": "x", "value": 0}], "outputs": [{"name": "y", "value": len(nodes)}],
            "exprs": [["const", 1], ["const", 0]], "values": values, "nodes": nodes}


def stream(stages, kernel, length):
    values = [{"kind": "input", "type": "f32", "shape": [length]}] + [{"kind": "temp", "type": "f32", "shape": [2]}] * stages
    nodes = [node(i, kernel, [["value", i], ["value", i + 1], ["expr", 2]], [i - 1] if i else [], [i], [i + 1]) for i in range(stages)]
    return {"name": "stream", "inputs": [{"name": "x", "value": 0}], "outputs": [{"name": "y", "value": stages}],
            "exprs": [["const", 1], ["const", 0], ["const", length]], "values": values, "nodes": nodes}


def main():
    clang, kernels, out = sys.argv[1:]
    image = os.path.join(out, "handmade.so")
    subprocess.run([clang, "-O3", "-march=native", "-ffreestanding", "-shared", "-fPIC", "-nostdlib", "-fuse-ld=lld", "-Wl,-Bsymbolic",
                    "-Wl,--no-undefined", "-Wl,-z,max-page-size=4096", "-w", kernels, "-o", image], check=True)
    with open(image, "rb") as f:
        code = f.read()
    meta = {"triple": f"{platform.machine()}-unknown-linux-gnu", "cpu": "", "features": [], "source": "handmade.py"}
    for name, program in [("layers", layers(100, 10)), ("six", layers(6, 1)), ("stream_empty", stream(4, "step", 8)),
                          ("stream", stream(4, "stage", 2048)), ("stream_long", stream(4, "stage", 32768))]:
        plan = json.dumps({"version": 1, "abi": 1, "programs": [program]}).encode()
        data = container([("plan", plan), ("code", code), ("meta", json.dumps(meta).encode())])
        path = os.path.join(out, name + ".tsx")
        with open(path + ".part", "wb") as f:
            f.write(data)
        os.replace(path + ".part", path)


main()
