# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the graphs of two modules: the same operations on the same values, whatever graphs, inputs and values are called
and in which order a node takes its inputs.
usage: same_graphs.py ONE.mlir OTHER.mlir"""
import re
import sys

VALUE = r"%[\w.]+"


def graphs(path):
    with open(path) as file:
        text = file.read()
    result = []
    for graph in re.split(r"(?=  dfg\.graph @)", text)[1:]:
        graph = re.sub(r"@[\w.]+", "@g", graph).rstrip("} \n")
        head, body = graph.split("\n", 1)
        ports, results = head.split(" -> ", 1)
        head = ports + " -> " + re.sub(r"([(,] ?)[\w.]+: ", r"\1r: ", results)
        order = {name: k for k, name in enumerate(re.findall(VALUE, head))}

        def sort(match):
            ports = match.group(2).split(", ")
            ports.sort(key=lambda port: order.get(re.search(rf"= ({VALUE})", port).group(1), len(order)))
            return f"{match.group(1)}({', '.join(ports)})"

        body = re.sub(r"(dfg\.node @g (?:grid\([^)]*\) )?)\(([^()]*)\)", sort, body)
        names, count = {}, 0

        # A name may be taken again in another region.
        def number(match):
            nonlocal count
            if match.group(2) or match.group(1) not in names:
                names[match.group(1)] = f"%{count}"
                count += 1
            return names[match.group(1)] + (match.group(2) or "")

        result.append(re.sub(rf"({VALUE})( =)?", number, head + "\n" + body))
    return sorted(result)


one, other = graphs(sys.argv[1]), graphs(sys.argv[2])
missing = [g for g in one if g not in other]
print(f"{len(one)} graphs, {len(missing)} without a counterpart")
if missing:
    print("\n".join(missing), "\n-- others --\n", "\n".join(other))
sys.exit(1 if missing or not one else 0)
