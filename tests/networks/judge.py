# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What ONNX Runtime says: of a node while a net is made, of a whole model, and whether our answer is the same."""
import numpy as np
import onnxruntime
from onnx import helper, numpy_helper

import net as nets

onnxruntime.set_default_logger_severity(4)


def session(model):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # As the model says it: no fusions, which round otherwise.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def first_line(error):
    return " ".join(str(error).split())[:600] or type(error).__name__


def run_node(proto, values, opset, launches):
    """The results of one node in each launch, or why there are none."""
    unique = {v.name: v for v in values}.values()
    feeds = [v for v in unique if v.source != "const"]
    inputs = [helper.make_tensor_value_info(v.name, nets.TYPES[v.kind][0], [None] * v.rank) for v in feeds]
    outputs = [helper.make_empty_tensor_value_info(name) for name in proto.output if name]
    constants = [numpy_helper.from_array(v.arrays[0], v.name) for v in unique if v.source == "const"]
    try:
        made = session(nets.make_model([proto], inputs, outputs, constants, opset))
        return [made.run(None, {v.name: v.arrays[i] for v in feeds}) for i in range(launches)]
    except Exception as error:  # ONNX Runtime's exceptions have no common class.
        return first_line(error)


def run_model(model, launches):
    """For each launch the outputs, or the error as text; one text where the model itself is refused."""
    try:
        made = session(model)
    except Exception as error:
        return first_line(error)
    results = []
    for feeds in launches:
        try:
            results.append(made.run(None, feeds))
        except Exception as error:
            results.append(first_line(error))
    return results


TOLERANCE = {np.dtype(np.float32): 2e-4, np.dtype(np.float64): 2e-4, np.dtype(np.float16): 3e-2}


def difference(expected, ours, scale=1.0):
    """The first difference, or "". Integers agree exactly; floats within a share of the largest of the tensor, NaN with NaN."""
    if expected.shape != ours.shape:
        return f"shape {list(ours.shape)}, expected {list(expected.shape)}"
    if expected.size == 0:
        return ""
    if expected.dtype not in TOLERANCE:
        same = expected.view(np.uint8).reshape(-1) == ours.view(np.uint8).reshape(-1) if expected.dtype == np.bool_ else \
            expected.reshape(-1) == ours.reshape(-1).view(expected.dtype)
    else:
        a, b = ours.astype(np.float64).reshape(-1), expected.astype(np.float64).reshape(-1)
        finite = np.abs(b[np.isfinite(b)])
        limit = TOLERANCE[expected.dtype] * scale * (np.abs(b) + (finite.max() if finite.size else 0) * 0.1 + 1e-3)
        with np.errstate(invalid="ignore"):
            same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= limit)
    wrong = np.flatnonzero(~same)
    if not wrong.size:
        return ""
    at = wrong[0]
    return (f"element {list(map(int, np.unravel_index(at, expected.shape)))} is {ours.reshape(-1)[at]}, expected "
            f"{expected.reshape(-1)[at]} ({wrong.size} of {expected.size} differ)")
