# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a failing case small: fewer outputs, fewer launches, and values in the middle that become inputs of the graph."""
import copy
import os
import re
import shutil
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper

import cases
import judge
import net as nets


def kind_of(failure):
    """Two failures are the same when this is."""
    text = re.sub(r"'[^']*'|launch \d+|[-\d.e+]+|\[[^\]]*\]|\bnan\b|\binf\b", "", failure)
    return text[:60]


def pruned(model):
    """Without nodes, inputs and constants that no output needs."""
    model = copy.deepcopy(model)
    graph = model.graph
    needed = {o.name for o in graph.output}
    kept = []
    for node in reversed(graph.node):
        if any(o in needed for o in node.output):
            kept.append(node)
            needed |= nets.names_in(node)
    del graph.node[:]
    graph.node.extend(reversed(kept))
    for items in (graph.input, graph.initializer):
        used = [i for i in items if i.name in needed]
        del items[:]
        items.extend(used)
    return model


def variant(case, model, launches):
    names = {i.name for i in model.graph.input}
    launches = [{n: a for n, a in feeds.items() if n in names} for feeds in launches]
    expected = judge.run_model(model, launches)
    if isinstance(expected, str):
        return None
    made = cases.Case(case.seed, model, launches, expected, case.mode, case.threads, [b for b in case.bind if b in names])
    return made


def fewer_outputs(case):
    for output in case.model.graph.output if len(case.model.graph.output) > 1 else ():
        model = copy.deepcopy(case.model)
        kept = [o for o in model.graph.output if o.name == output.name]
        del model.graph.output[:]
        model.graph.output.extend(kept)
        yield pruned(model), case.launches


def fewer_launches(case):
    if len(case.launches) > 1:
        for feeds in case.launches:
            yield case.model, [feeds]
        for i in range(len(case.launches)):
            yield case.model, case.launches[:i] + case.launches[i + 1:]


def earlier_outputs(case):
    """The result of a node in the middle instead of the outputs."""
    for node in case.model.graph.node:
        for name in node.output:
            if name and [o.name for o in case.model.graph.output] != [name]:
                model = copy.deepcopy(case.model)
                del model.graph.output[:]
                model.graph.output.append(helper.make_empty_tensor_value_info(name))
                try:
                    shaped = onnx.shape_inference.infer_shapes(model)
                except Exception:
                    continue
                info = [v for v in shaped.graph.value_info if v.name == name]
                if info:
                    del model.graph.output[:]
                    model.graph.output.extend(info)
                    yield pruned(model), case.launches


def cut_values(case):
    """A value becomes an input, fed with what it was."""
    model = case.model
    made = [name for node in model.graph.node for name in node.output if name]
    probe = copy.deepcopy(model)
    del probe.graph.output[:]
    probe.graph.output.extend(helper.make_empty_tensor_value_info(n) for n in made)
    results = judge.run_model(probe, case.launches)
    if isinstance(results, str) or any(isinstance(r, str) for r in results):
        return
    for position, name in reversed(list(enumerate(made))):
        arrays = [r[position] for r in results]
        cut = copy.deepcopy(model)
        for node in cut.graph.node:
            for i, output in enumerate(node.output):
                if output == name:
                    node.output[i] = name + "_cut" if len(node.output) > 1 else ""
        if any(o.name == name for o in cut.graph.output):
            continue
        kind = nets.TYPES[nets.type_of(arrays[0])][0]
        cut.graph.input.append(helper.make_tensor_value_info(name, kind, [f"{name}_{d}" for d in range(arrays[0].ndim)]))
        yield pruned(cut), [{**feeds, name: a} for feeds, a in zip(case.launches, arrays)]


def fixed_extents(case):
    """Extents that are the same in all launches are told."""
    for i, value in enumerate(case.model.graph.input):
        for d, dim in enumerate(value.type.tensor_type.shape.dim):
            sizes = {feeds[value.name].shape[d] for feeds in case.launches}
            if not dim.HasField("dim_value") and len(sizes) == 1:
                model = copy.deepcopy(case.model)
                model.graph.input[i].type.tensor_type.shape.dim[d].dim_value = sizes.pop()
                yield model, case.launches


def constants(case):
    """An input that is the same in all launches becomes a constant."""
    for i, value in enumerate(case.model.graph.input):
        arrays = [feeds[value.name] for feeds in case.launches]
        if all(a.shape == arrays[0].shape and np.array_equal(a, arrays[0]) for a in arrays) and len(case.model.graph.input) > 1:
            model = copy.deepcopy(case.model)
            del model.graph.input[i]
            model.graph.initializer.append(numpy_helper.from_array(arrays[0], value.name))
            yield model, case.launches


def reduced(case, given, limit=120):
    wanted, folder, tried = kind_of(case.failure), tempfile.mkdtemp(prefix="tessera-reduce-"), 0
    try:
        progress = True
        while progress and tried < limit:
            progress = False
            for step in (fewer_launches, fewer_outputs, earlier_outputs, cut_values, fixed_extents):
                for model, launches in step(case):
                    tried += 1
                    smaller = variant(case, model, launches)
                    if smaller is None or tried > limit:
                        continue
                    cases.run_one(smaller, given, folder)
                    if smaller.outcome == "failed" and kind_of(smaller.failure) == wanted:
                        case, progress = smaller, True
                        break
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return case


def keep(case, folder, given):
    return write(reduced(case, given), folder)


def write(case, folder):
    shutil.rmtree(folder, ignore_errors=True)
    case.write(folder)
    lines = [f"seed {case.seed}: {case.failure}", f"mode {case.mode}, {case.threads} thread(s)"]
    for i, feeds in enumerate(case.launches):
        lines.append(f"launch {i}: " + ", ".join(f"{n}: {a.dtype}{list(a.shape)}" for n, a in feeds.items()))
        expected = case.expected[i]
        lines.append("  ONNX Runtime: " + (expected if isinstance(expected, str) else ", ".join(f"{e.dtype}{list(e.shape)}" for e in expected)))
    lines.append(onnx.printer.to_text(case.model))
    with open(os.path.join(folder, "report.txt"), "w") as f:
        f.write("\n".join(lines) + "\n")
    return "reduced to " + ", ".join(f"{n.op_type}" for n in case.model.graph.node) + f": {case.failure}"
