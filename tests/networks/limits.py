# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is refused on purpose, and what ONNX Runtime alone refuses. Every line here is a promise that the documents make or a
difference that someone looked at."""
import re

# Messages of the compiler that say clearly that something is not supported. They are counted, not failed.
REFUSALS = (
    r"not supported",
    r"must be known when compiling",
    r"depends on an extent that is not known when compiling",
    r"needs a known number of steps",
    r"dynamic (or empty )?extent",
    r"a dynamic height or width cannot be resized",
    r"a dynamic head size needs a scale",
    r"expected sequences of one static length",
    r"a loop without steps needs the types of its outputs",
    r"expected a window that fits",
)
# Launches that are refused though ONNX Runtime answers: limits that the documents name, and the operators that have them.
WINDOWS = {"Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool", "GlobalAveragePool", "GlobalMaxPool"}
AT_RUN = (
    # x[-n:] and x[:, i] keep their extent: a shorter tensor is refused.
    (r"takes the slice .* which leaves the extents|expected offset in dimension \d of slice", {"Slice", "Split"}),
    (r"expected extent \d of operand 0 of (slice|extract_slice) to be", {"Slice", "Split"}),
    # A window that is wider than what it looks at; ONNX Runtime rounds the number of windows towards zero.
    (r"of (max_pool_indices|pool|conv) to be|an extent is -\d+ for these inputs|expected a window that fits|has a window of", WINDOWS),
    # What a loop carries keeps its extents, and nothing is broadcast along them (docs/onnx.md).
    (r"of (binary|select) to be", {"Loop"}),
    # ONNX Runtime lets the batches of GatherND differ, and reads somewhere.
    (r"gather_nd", {"GatherND"}),
)
# What ONNX Runtime refuses though the standard gives it a meaning.
ONNX_RUNTIME_ALONE = (
    r"running Conv node.*Invalid input shape: \{[\d,]*\b0\b",  # a convolution of no elements
    r"sequence length must be great",  # Attention of no rows
    r"The output OrtValue provided",  # a state of Scan that grows by broadcasting
)

# Operators that ONNX Runtime does not carry out on tensors without elements: it leaves the result as it found it, or gives it a
# shape that is not the standard's. ReverseSequence looks at its lengths there; we look at none that nothing is reversed by.
NOT_ON_NOTHING = {"QLinearMatMul", "DynamicQuantizeLinear", "ReduceMax", "ReduceMin", "ReduceMean", "ReduceSum", "ReduceProd", "ReduceL1",
                  "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp", "ArgMax", "ArgMin", "ReverseSequence"}


def is_judged(case, launch):
    ops = {node.op_type for node in case.model.graph.node}
    expected = case.expected[launch]
    arrays = [*case.launches[launch].values(), *([] if isinstance(expected, str) else expected)]
    return not ops & NOT_ON_NOTHING or all(a.size for a in arrays)


def is_refusal(text):
    return any(re.search(pattern, text) for pattern in REFUSALS)


def reason(text):
    """The message without what differs from net to net."""
    text = text.removeprefix("import: ").split("; node")[0]
    text = re.sub(r"node '[^']*' \((\w+)\)", r"\1", text)
    text = re.sub(r"node '[^']*'", "node", text)
    text = re.sub(r"but depends on .*", "but depends on an input", text)
    return re.sub(r"-?\d+", "N", text)[:160]


def known_at_run(text, case):
    ops = {node.op_type for node in case.model.graph.node}
    return any(ops & having and re.search(pattern, text) for pattern, having in AT_RUN)


def only_onnx_runtime(text, case, launch):
    return any(re.search(pattern, text) for pattern in ONNX_RUNTIME_ALONE)
