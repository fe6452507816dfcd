# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""TensorFlow Lite through a converter: a network that is written here as a .tflite file, converted by tflite2onnx, and
compared with NumPy."""
import numpy as np
import pytest

import tessera

pytestmark = pytest.mark.tflite2onnx
RELU, RELU6 = 1, 3


class TfliteWriter:
    """A .tflite file with one graph: tensors and operators in the order they are given."""

    def __init__(self):
        import flatbuffers
        import tflite
        self.schema, self.builder = tflite, flatbuffers.Builder(1024)
        self.tensors, self.buffers, self.operators, self.codes = [], [self.table("Buffer")], [], []

    def table(self, kind, **fields):
        """A table of the schema; vectors and strings among its fields were written before."""
        getattr(self.schema, kind + "Start")(self.builder)
        for name, value in fields.items():
            getattr(self.schema, f"{kind}Add{name}")(self.builder, value)
        return getattr(self.schema, kind + "End")(self.builder)

    def tables(self, offsets):
        self.builder.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self.builder.PrependUOffsetTRelative(offset)
        return self.builder.EndVector()

    def numbers(self, values):
        return self.builder.CreateNumpyVector(np.asarray(values, np.int32))

    def tensor(self, name, shape, data=None):
        """A tensor of f32, or of what `data` holds; its number."""
        number = 0
        if data is not None:
            self.buffers.append(self.table("Buffer", Data=self.builder.CreateByteVector(data.tobytes())))
            number = len(self.buffers) - 1
        integer = data is not None and data.dtype == np.int32
        kind = self.schema.TensorType.INT32 if integer else self.schema.TensorType.FLOAT32
        fields = {"Shape": self.numbers(shape), "Name": self.builder.CreateString(name)}
        self.tensors.append(self.table("Tensor", Type=kind, Buffer=number, **fields))
        return len(self.tensors) - 1

    def operator(self, name, inputs, output, options, **fields):
        code = getattr(self.schema.BuiltinOperator, name)
        self.codes.append(self.table("OperatorCode", DeprecatedBuiltinCode=code, BuiltinCode=code, Version=1))
        made = self.table(options, **fields)
        ends = {"Inputs": self.numbers(inputs), "Outputs": self.numbers([output])}
        self.operators.append(self.table("Operator", OpcodeIndex=len(self.codes) - 1, BuiltinOptions=made,
                                         BuiltinOptionsType=getattr(self.schema.BuiltinOptions, options), **ends))

    def bytes(self, inputs, outputs):
        parts = {"Tensors": self.tables(self.tensors), "Operators": self.tables(self.operators),
                 "Inputs": self.numbers(inputs), "Outputs": self.numbers(outputs)}
        graph = self.tables([self.table("SubGraph", **parts)])
        fields = {"OperatorCodes": self.tables(self.codes), "Subgraphs": graph, "Buffers": self.tables(self.buffers)}
        self.builder.Finish(self.table("Model", Version=3, **fields), file_identifier=b"TFL3")
        return bytes(self.builder.Output())


def conv_same(x, w, b, stride):
    """NHWC with OHWI weights; padding "same" puts the larger half behind."""
    kernel, places = w.shape[1], -(-x.shape[1] // stride)
    pad = max((places - 1) * stride + kernel - x.shape[1], 0)
    x = np.pad(x, [(0, 0), (pad // 2, pad - pad // 2), (pad // 2, pad - pad // 2), (0, 0)])
    y = np.zeros((x.shape[0], places, places, w.shape[0]))
    for i in range(kernel):
        for j in range(kernel):
            y += x[:, i:i + stride * places:stride, j:j + stride * places:stride] @ w[:, i, j].T
    return y + b


def network():
    """A strided convolution with ReLU6, a depthwise one, a pool, a residual, classes; and what NumPy makes of an input."""
    random = np.random.default_rng(1)

    def weights(*shape):
        return random.normal(size=shape).astype(np.float32) / 3

    w1, b1, w2, b2, w3, b3 = weights(8, 3, 3, 3), weights(8), weights(1, 3, 3, 8), weights(8), weights(5, 72), weights(5)
    f = TfliteWriter()
    x, y1, y2 = f.tensor("image", [1, 13, 13, 3]), f.tensor("y1", [1, 7, 7, 8]), f.tensor("y2", [1, 7, 7, 8])
    y3, y4, y5 = f.tensor("y3", [1, 7, 7, 8]), f.tensor("y4", [1, 3, 3, 8]), f.tensor("y5", [1, 72])
    y6, y7 = f.tensor("y6", [1, 5]), f.tensor("classes", [1, 5])
    same, valid = f.schema.Padding.SAME, f.schema.Padding.VALID
    window = dict(DilationHFactor=1, DilationWFactor=1, Padding=same)
    f.operator("CONV_2D", [x, f.tensor("w1", w1.shape, w1), f.tensor("b1", b1.shape, b1)], y1, "Conv2DOptions", StrideH=2,
               StrideW=2, FusedActivationFunction=RELU6, **window)
    f.operator("DEPTHWISE_CONV_2D", [y1, f.tensor("w2", w2.shape, w2), f.tensor("b2", b2.shape, b2)], y2,
               "DepthwiseConv2DOptions", StrideH=1, StrideW=1, DepthMultiplier=1, **window)
    f.operator("ADD", [y1, y2], y3, "AddOptions", FusedActivationFunction=RELU)
    f.operator("MAX_POOL_2D", [y3], y4, "Pool2DOptions", FilterHeight=2, FilterWidth=2, StrideH=2, StrideW=2, Padding=valid)
    shape = np.int32([1, 72])
    f.operator("RESHAPE", [y4, f.tensor("shape", [2], shape)], y5, "ReshapeOptions", NewShape=f.numbers(shape))
    f.operator("FULLY_CONNECTED", [y5, f.tensor("w3", w3.shape, w3), f.tensor("b3", b3.shape, b3)], y6, "FullyConnectedOptions")
    f.operator("SOFTMAX", [y6], y7, "SoftmaxOptions", Beta=1.0)

    def expected(image):
        first = np.clip(conv_same(image, w1, b1, 2), 0, 6)
        each = np.stack([conv_same(first[..., c:c + 1], w2[..., c:c + 1], 0, 1)[..., 0] for c in range(8)], axis=-1) + b2
        both = np.maximum(first + each, 0)[:, :6, :6]
        scores = both.reshape(-1, 3, 2, 3, 2, 8).max(axis=(2, 4)).reshape(-1, 72) @ w3.T + b3
        e = np.exp(scores - scores.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    return f.bytes([x], [y7]), expected


def test_converted_network(tmp_path):
    import tflite2onnx
    data, expected = network()
    (tmp_path / "net.tflite").write_bytes(data)
    tflite2onnx.convert(str(tmp_path / "net.tflite"), str(tmp_path / "net.onnx"))
    program = tessera.compile(tmp_path / "net.onnx")
    image = np.random.default_rng(2).normal(size=(1, 13, 13, 3)).astype(np.float32)
    # The converter moves channels to the front.
    got = program.run(np.ascontiguousarray(image.transpose(0, 3, 1, 2)))
    np.testing.assert_allclose(got, expected(image), rtol=1e-3, atol=1e-5)
