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
    r"expected four dimensions and channels that 'blocksize' squared divides",  # or whose number is open
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
    # ONNX Runtime takes items of a skip in turn, and leaves operands without elements out of a concatenation.
    (r"extents do not fit|expected extent \d of operand", {"SkipLayerNormalization", "SkipSimplifiedLayerNormalization", "QLinearConcat"}),
    # Of branches whose ranks differ the program has one; a launch that would take the other is refused.
    (r"that this program was compiled for", {"If"}),
    # Which extents are 1 decides the rank, so an open one must not be.
    (r"which Squeeze without axes would take away", {"Squeeze"}),
    # Without elements any shape with a 0 would do; which one ONNX Runtime gives is nobody's intention.
    (r"which a computed 0 in the shape copies", {"Reshape"}),
    # The standard's condition is no longer than the axis; ONNX Runtime takes of it what there is.
    (r"gather", {"Compress"}),
)
# What ONNX Runtime refuses though the standard gives it a meaning.
ONNX_RUNTIME_ALONE = (
    r"running Conv node.*Invalid input shape: \{[\d,]*\b0\b",  # a convolution of no elements
    r"sequence length must be great",  # Attention of no rows
    r"The output OrtValue provided",  # a state of Scan that grows by broadcasting
    # Broadcasting of what is 1: a mask of one row, positions and angles for all rows or batches.
    r"running Attention node.*attention_helper.h:98",
    r"running RotaryEmbedding node.*(expected to have the same shape|should be of size|should match)",
    # The same in its own domain, where operators say that shapes are equal.
    r"running (Skip|Embed)\w+ node.*(same (size|shape)|same as input|shall have)",
    r"running GroupQueryAttention node.*total_sequence_length must equal",
    r"running (BiasGelu|FastGelu|\w*Attention) node.*(shall|should) (have|be)|shape is not expected",
)
# The same, of tensors without elements: they are broadcast as others are, have a shape and a mean (NaN).
ALONE_ON_NOTHING = (
    r"running MatMul node.*cannot broadcast on dim",
    r"running Attention node",
    r"running Global\w+Pool node.*Only N can be zero",
    r"running RMSNormalization node.*must be at least 1",
    # Beside an extent of 0 any -1 would do: ours is the product of the others.
    r"running Reshape node.*reshape_helper",
)
# What nobody reads is not computed, and not looked at: only the shape of it is asked for, or other parts of it.
WITHOUT_VALUES = {"Shape", "Size"}
PARTS = {"Compress", "Slice", "Split", "Gather", "GatherElements", "GatherND", "TopK"}
FAILING_NODE = r"running \w+ node. Name:'([^']+)'"

# Operators that ONNX Runtime does not carry out on tensors without elements: it leaves the result as it found it, or gives it a
# shape that is not the standard's. ReverseSequence and recurrent layers look at lengths there; we look at none that nothing is done by.
# Without a step it also gives zeros as the last state, not the first one.
NOT_ON_NOTHING = {"QLinearMatMul", "DynamicQuantizeLinear", "ReduceMax", "ReduceMin", "ReduceMean", "ReduceSum", "ReduceProd", "ReduceL1",
                  "DynamicQuantizeMatMul", "MatMulIntegerToFloat", "QGemm", "QAttention", "Attention", "MultiHeadAttention", "MatMulNBits",
                  "FusedMatMul", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp", "ReverseSequence", "RNN", "GRU", "LSTM"}


def is_judged(case, launch):
    ops = {node.op_type for node in case.model.graph.node}
    if decides_rank(case.model.graph):
        return False
    expected = case.expected[launch]
    arrays = [*case.launches[launch].values(), *([] if isinstance(expected, str) else expected)]
    return not ops & NOT_ON_NOTHING or all(a.size for a in arrays)


def decides_rank(graph):
    """Squeeze with an empty list of axes takes nothing away, as the standard's shape inference and its reference say. ONNX Runtime takes
    away every extent of 1."""
    empty = {c.name for c in graph.initializer if list(c.dims) == [0]}
    return any(node.op_type == "Squeeze" and len(node.input) > 1 and node.input[1] in empty for node in graph.node)


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
    if any(re.search(pattern, text) for pattern in ONNX_RUNTIME_ALONE):
        return True
    if any(re.search(pattern, text) for pattern in ALONE_ON_NOTHING) and \
            ("{0" in text or ",0" in text or any(a.size == 0 for a in case.launches[launch].values())):
        return True
    failing = re.search(FAILING_NODE, text)
    return bool(failing) and not is_read(case.model.graph, failing.group(1))


def is_read(graph, name):
    """Whether all values of a node reach an output."""
    wanted, seen = [o.name for o in graph.output], set()
    makers = {output: node for node in graph.node for output in node.output}
    while wanted:
        node = makers.get(wanted.pop())
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        if node.name == name:
            return True
        if node.op_type not in WITHOUT_VALUES | PARTS:
            wanted += node.input
        elif node.op_type in PARTS:
            wanted += node.input[1:]
    return False
