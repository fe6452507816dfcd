// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the importer says about nodes that it cannot convert: a table of models of one node, and models of
// several nodes, functions and graphs below it. Each case is one message.
#include "tessera/frontends/onnx/ImportErrors.h"

using namespace tessera;
using namespace tessera::onnximport::testing;

TEST(OnnxImportErrors, AttributesAndInputs) {
  expectProblems({
      {"Identity", "-", "", "input 0 is missing"},
      {"Shape", "-", "", "input 0 is missing"},
      {"Size", "-", "", "input 0 is missing"},
      {"Swish@21", "f2", "", "the operator is supported from opset 24, but the model imports 21"},
      {"Tile", "f2 f[1]", "", "repeats (input 1): expected integers"},
      {"Tile", "f2x3 l[2]", "", "expected 2 repeats, but got 1"},
      {"Squeeze", "f2 shape(?)", "", "axes (input 1) depends on an extent that is not known when compiling"},
      {"Slice", "f4 l[0] l[2] l[0] shape(?)", "", "axes and steps must be known when compiling"},
      {"Compress", "f2 shape(?)", "",
       "condition (input 1) depends on an extent that is not known when compiling"},
      {"CumSum", "f2x3 l[0,1]", "", "axis (input 1): expected one element, but got 2"},
      {"OneHot", "l2 f[1.0,2.0] f[0,1]", "", "depth (input 1): expected one element, but got 2"},
      {"InstanceNormalization", "f2 f2 f2", "", "expected a tensor with more than 1 dimensions, but got 1"},
      {"GatherND", "f2x3 l4x?", "",
       "a dynamic extent 1 is not supported here: the number of coordinates depends on it"},
      {"Expand", "f1 l[1073741824,1073741824]", "", "a tensor has too many elements"},
      {"Col2Im", "f1x5x4 l[4,4] l[4294967296,4294967296]", "", "a tensor has too many elements"},
      {"Reshape", "f6 l[-2,3]", "", "an extent is negative: -2"},
      {"Tile", "f2x3 l[4611686018427387904,4]", "", "a tensor has too many elements"},
      {"Pad", "f2x3 l[4611686018427387904,0,4611686018427387904,0]", "", "a tensor has too many elements"},
      {"Squeeze", "f2x3 l[0]", "", "cannot squeeze dimension 0 of extent 2"},
      {"TensorScatter", "f2x3x4 f2x1x4 l2x2", "", "expected a vector, but got 2 dimensions"},
  });
}

TEST(OnnxImportErrors, Elementwise) {
  expectProblems({
      {"Add", "f2 l2", "", "its operands have different element types, f32 and i64"},
      {"Add@6", "f2x3 f4x5", "broadcast=1 axis=1", "its second operand does not fit at axis 1"},
      {"Where", "b2 f2 l2", "", "its two values have different element types"},
      {"Cast", "f2", "to=99", "attribute 'to' names no element type: 99"},
      {"Cast", "f2", "to=8", "casts to string are not supported"},
      {"BitCast", "f2", "to=0", "attribute 'to' names no element type: 0"},
      {"BitCast", "f2", "to=7", "expected types of equal width"},
      {"Dropout", "f2 f=0.5 b=1", "", "drops elements at random, which is not supported"},
      {"Hardmax", "f2x?", "", "a dynamic extent along the axis is not supported"},
      {"QuantizeLinear", "f2 f u", "output_dtype=8", "its result type is not supported"},
      {"DequantizeLinear", "u2 f u", "output_dtype=7", "its result type is not supported"},
  });
}

TEST(OnnxImportErrors, Products) {
  std::string open = "f1";
  for (int i = 1; i < 60; ++i)
    open += "x1";
  expectProblems({
      {"MatMul", "f f", "", "expected operands of at least one dimension"},
      {"MatMul", "f2x3 d3x2", "", "its operands have different element types"},
      {"Gemm", "f2 f2x3", "", "expected matrices, but got 1 and 2 dimensions"},
      {"Einsum", "f2x2", "equation='ij,jk->ik'",
       "the equation 'ij,jk->ik' has 2 terms, but there are 1 inputs"},
      {"Einsum", "f2x2", "equation='i->i'", "the term 'i' does not fit an input of 2 dimensions"},
      {"Einsum", open.c_str(), "equation='...->'", "the equation needs more letters than there are"},
      {"MaxPool", "f2x3", "kernel_shape=[2]",
       "expected an operand with spatial dimensions, but got 2 dimensions"},
      {"Conv", "f1x1x4x4 f1x1x3x3", "strides=[1]",
       "the lengths of kernel_shape, strides, dilations or pads do not fit 2 spatial dimensions"},
      {"Conv", "f1x1x4x4 f1x1x3x3", "strides=[0,1]",
       "kernel_shape, strides, dilations or pads are out of range"},
      {"Conv", "f1x1x4x? f1x1x3x3", "strides=[2,2] auto_pad='SAME_UPPER'",
       "auto_pad 'SAME_UPPER' with a dynamic extent and a stride is not supported"},
      {"Conv", "f1x1x4 f1x1x3x3", "",
       "expected weights of as many dimensions as the operand, at least three, but got 4 and 3"},
      {"Conv", "f1x1x4x4 f1x1x3x3", "kernel_shape=[2,2]", "kernel_shape differs from the weights' extents"},
      {"ConvTranspose", "f1x1x4x4 f1x1x3x3", "output_padding=[1]",
       "the lengths of strides, dilations, pads, output_padding or output_shape do not fit 2 spatial "
       "dimensions"},
      {"ConvTranspose", "f1x1x4x? f1x1x3x3", "output_shape=[8,8]",
       "output_shape or auto_pad with a dynamic extent is not supported"},
      {"CausalConvWithState", "f1x4 f4x1x3", "", "expected an operand and weights of three dimensions"},
      {"CausalConvWithState", "f1x?x8 f4x1x3", "", "dynamic channels or weights are not supported"},
      {"CausalConvWithState", "f1x4x? f4x1x3", "", "a state of a sequence of dynamic length is not supported",
       2},
  });
}

TEST(OnnxImportErrors, AttentionOfShapesThatDoNotFit) {
  expectProblems({
      {"Attention", "f1x2 f1x2 f1x2", "", "expected query, key and value of three or of four dimensions"},
      {"Attention", "f1x2x8 f1x2x8 f1x2x8", "q_num_heads=3 kv_num_heads=2",
       "the number of heads does not divide the last dimension"},
      {"Attention", "f1x3x2x4 f1x2x2x4 f1x2x2x4", "",
       "expected the heads of keys to divide those of queries"},
      {"RotaryEmbedding", "f1x2 f4x2 f4x2", "", "expected an operand of three or four dimensions"},
      {"RotaryEmbedding", "f1x2x8 f1x2x2 f1x2x2", "num_heads=3",
       "'num_heads' does not divide the last dimension"},
      {"RotaryEmbedding", "f1x2x2x5 f1x2x2 f1x2x2", "",
       "expected an even number of rotated elements, at most the head's"},
      {"RotaryEmbedding", "f1x2x2x4 f2x2 f2x2", "", "expected angles for each position of each item"},
      {"RotaryEmbedding", "f1x2x2x4 f1x2x1 f1x2x1", "", "a slice reaches beyond its tensor"},
      {"LinearAttention", "f1x2x8 f1x2x8 f1x2x8", "q_num_heads=3 kv_num_heads=2",
       "expected packed operands and 'q_num_heads' to be a multiple of 'kv_num_heads'"},
      {"LinearAttention", "f1x2x8 f1x2x8 f1x2x9", "q_num_heads=2 kv_num_heads=2",
       "the number of heads does not divide the last dimension"},
      {"LinearAttention", "f1x?x8 f1x?x8 f1x?x8", "q_num_heads=2 kv_num_heads=2 update_rule='linear'",
       "expected a static number of tokens, at most 4096"},
      // The first tokens of the longer ones were taken.
      {"LinearAttention", "f1x2x8 f1x3x8 f1x2x8", "q_num_heads=2 kv_num_heads=2 update_rule='linear'",
       "expected as many tokens of key and value as of query, 2"},
      {"LinearAttention", "f1x2x8 f1x2x8 f1x2x8 - f1x2x3", "q_num_heads=2 kv_num_heads=2 update_rule='gated'",
       "the decay does not fit the tokens and heads"},
      {"LinearAttention", "f1x2x8 f1x2x8 f1x2x8 - - f1x2x3",
       "q_num_heads=2 kv_num_heads=2 update_rule='delta'",
       "the update rate does not fit the tokens and heads"},
      {"LinearAttention", "f1x0x8 f1x0x8 f1x0x8", "q_num_heads=2 kv_num_heads=2 update_rule='linear'",
       "expected at least one token"},
  });
}

TEST(OnnxImportErrors, Movement) {
  expectProblems({
      {"Reshape", "f0x3 l[-1,0]", "allowzero=1", "cannot work out -1 beside an extent of 0"},
      {"Reshape", "f6 l[-1,4]", "", "cannot reshape: its elements do not divide by 4"},
      {"Reshape", "f6 l[-1,-1]", "", "expected at most one -1 in the shape"},
      {"Unsqueeze", "f6", "", "axes are missing"},
      {"Transpose", "f2x3", "perm=[0]", "'perm' is not a permutation of 2 dimensions"},
      {"Concat", "f2 l2", "axis=0", "its inputs have different element types"},
      {"Split", "f6 l[-2,8]", "", "expected sizes that are the parts of an extent, but got -2", 2},
      {"Slice", "f6 l[0]", "", "starts or ends are missing"},
      {"Slice", "f6 l[0] l[4,5]", "", "starts, ends, axes and steps differ in length"},
      {"Slice", "f6 l[0] l[4] l[0] l[0]", "", "a step of 0 is not allowed"},
      {"Pad", "f2x3 l[1,1]", "", "expected 4 pads, but got 2"},
      {"Expand", "f2x3 l[2,4]", "", "cannot expand an extent of 3 to 4"},
      {"DepthToSpace", "f1x3x2x2", "blocksize=2",
       "expected four dimensions and channels that 'blocksize' squared divides"},
      {"SpaceToDepth", "f1x3x2x2", "", "expected four dimensions and a positive 'blocksize'"},
      {"CenterCropPad", "f2x3 l[1]", "", "expected as many extents as axes"},
      {"CenterCropPad", "f2x? l[1,1]", "", "a dynamic extent is not supported"},
      {"TensorScatter", "f2x3x4 f2x3", "", "the update does not fit the cache"},
      {"TensorScatter", "f2x?x4 f2x1x4 l2", "mode='circular'",
       "a circular cache of dynamic extent is not supported"},
      {"NonZero", "shape(?)", "", "its operand depends on an extent that is not known when compiling"},
      {"Compress", "f2 b[0,1,1]", "", "the condition is longer than the operand"},
      {"Unique", "shape(?)", "", "its operand must be known when compiling"},
      {"NonMaxSuppression", "f[1,2] f[1,2]", "", "expected boxes N x M x 4 and scores N x classes x M"},
  });
}

TEST(OnnxImportErrors, NormsAndPools) {
  expectProblems({
      {"BatchNormalization", "f2 f2 f2 f2 f2", "", "expected an operand with channels, but got 1 dimensions"},
      {"BatchNormalization@8", "f1x2 f2 f2 f2 f2", "spatial=0", "spatial = 0 is not supported"},
      {"InstanceNormalization", "f1x?x4 f? f?", "", "a dynamic number of channels is not supported"},
      {"GroupNormalization", "f1x4x4 f4 f4", "num_groups=3",
       "expected 'num_groups' to divide the number of channels"},
      {"LpNormalization", "f2x3", "p=3", "expected p to be 1 or 2, but got 3"},
      {"MaxPool", "f1x1x4", "", "attribute 'kernel_shape' is missing"},
      {"GlobalMaxPool", "f1x1", "", "expected an operand with spatial dimensions, but got 2 dimensions"},
      {"GlobalLpPool", "f1x1", "", "expected an operand with spatial dimensions, but got 2 dimensions"},
      {"MaxUnpool", "f1x1x? l1x1x?", "kernel_shape=[2]", "dynamic extents are not supported"},
      {"Col2Im", "f1x5x4 l[4,4] l[2,2]", "", "its shapes do not fit together"},
      {"LSTM", "f1x1x1 f1x4x1 f1x4x1", "activations=['Tanh']", "expected 3 activations, but got 1"},
      {"NegativeLogLikelihoodLoss", "f2x3 l2x3", "", "expected a target of 1 dimensions, but got 2"},
  });
}

TEST(OnnxImportErrors, Grids) {
  expectProblems({
      {"Resize", "f1x1x4 - f[1,1,0]", "", "expected positive scales"},
      {"Resize", "f1x1x4 - f[1]", "", "expected 3 scales"},
      {"Resize", "f1x1x4 - - l[1]", "", "expected 3 sizes"},
      {"Resize", "f1x1x4 f[1] f[1,1,2]", "coordinate_transformation_mode='tf_crop_and_resize'",
       "expected a region of 6 elements"},
      {"Upsample@9", "f1x1x4 f[1,1,-2]", "", "expected positive scales"},
      {"Upsample@9", "f1x1x4 f[1,1,1e30]", "",
       "expected scales and a region that give extents from 0 to 1099511627776"},
      {"Resize", "f1x1x4 f[0,0,0,1,1,1e30] f[1,1,2]", "coordinate_transformation_mode='tf_crop_and_resize'",
       "expected scales and a region that give extents from 0 to 1099511627776"},
      {"AffineGrid", "f1x2x3 l[1,1,4]", "",
       "expected a size of four or five extents, and a matrix for each item"},
      {"AffineGrid", "f1x2x3 l[1,1,0,4]", "", "its grid is empty or too large"},
  });
}

TEST(OnnxImportErrors, ConstantsAndSignals) {
  expectProblems({
      {"Constant", "", "", "has no value that is supported"},
      {"Range", "l=0 shape(?x?) l=1", "", "its operands must be scalars, with a delta other than 0"},
      {"EyeLike", "f2", "", "expected a matrix, but got 1 dimensions"},
      {"EyeLike", "f2x2", "dtype=99", "attribute 'dtype' names no element type: 99"},
      {"DFT", "f1x4x1 l=100000", "", "the transform is empty or too long"},
      {"DFT", "f1x4x3", "", "expected real or complex numbers in the last dimension"},
      {"DFT", "f1x4x1 l[4,4]", "", "dft_length (input 1): expected one element, but got 2"},
      {"DFT", "f1x?x2", "inverse=1 onesided=1",
       "half a spectrum needs a length that is known when compiling; give dft_length, or export the model "
       "with "
       "a fixed extent along the axis"},
      {"DFT", "f1x4x1 l=0", "", "expected a positive length, but got 0"},
      {"STFT", "f1x8x1 l=1 f9", "", "expected a signal, and frames of the window's length that fit it"},
      {"Resize", "f1x1x?x4 - f[1,1,0.00000001,1]", "",
       "along a dynamic extent is not supported; expected one between 1e-4 and 1e6"},
      {"Resize", "f1x1x?x4 - f[1,1,2,1]", "mode='linear' coordinate_transformation_mode='odd'",
       "coordinates 'odd' along a dynamic extent are not supported; export the model with fixed heights and "
       "widths"},
      {"Resize", "l1x1x?x4 - f[1,1,2,1]", "mode='linear'",
       "only floats can be interpolated along a dynamic extent; put a Cast in front"},
      {"Resize", "d1x1x?x4 - f[1,1,2,1]", "mode='linear'",
       "f64 cannot be interpolated along a dynamic extent; put a Cast in front"},
      {"STFT", "f1x100000x1 l=1 f50000", "", "there are too many frames"},
      {"HannWindow", "l=-1", "", "its size or type is not supported"},
      {"MelWeightMatrix", "l=0 l=8 l=8 f=0 f=4", "", "its sizes, edges or type are not supported"},
      // Edges this far apart were counted through one by one.
      {"MelWeightMatrix", "l=2 l=8 l=8 f=1e30 f=4", "", "its sizes, edges or type are not supported"},
      {"Det", "f2x3", "", "only square matrices of up to 5 x 5 are supported"},
  });
}

TEST(OnnxImportErrors, CountsOfWords) {
  expectProblems({
      {"TfIdfVectorizer", "l2x3x4", "", "only integers in one or two dimensions are supported"},
      {"TfIdfVectorizer", "l?", "ngram_counts=[0] ngram_indexes=[0] pool_int64s=[1]",
       "its pool or lengths are not supported"},
      {"TfIdfVectorizer", "l3", "ngram_counts=[2] ngram_indexes=[0] pool_int64s=[1]",
       "its pool does not fit 'ngram_counts'"},
      {"TfIdfVectorizer", "l3", "ngram_counts=[0] ngram_indexes=[0] pool_int64s=[1,2]",
       "its pool does not fit 'ngram_indexes' or 'weights'"},
      {"TfIdfVectorizer", "l3", "ngram_counts=[0] ngram_indexes=[-1,0] pool_int64s=[1,2]",
       "an index is negative"},
  });
}

//===----------------------------------------------------------------------===//
// Inputs and outputs of the model
//===----------------------------------------------------------------------===//

TEST(OnnxImportErrors, InputsOfTheModel) {
  auto relu = [](const Proto &type) {
    return modelProto(Proto()
                          .add(11, Proto().add(1, "x").add(2, type))
                          .add(1, nodeProto("Relu", "layer", {"x"}, {"y"}))
                          .add(12, input("y", 1, "2")));
  };
  expectProblem(
      relu(Proto().add(4, Proto().add(1, Proto().add(1, Proto().add(1, 7))))),
      "input 'x': sequences, maps and sparse tensors are not supported as inputs; expected a tensor, "
      "or tensors that the model joins itself");
  expectProblem(relu(Proto().add(1, Proto().add(1, 1))),
                "input 'x': its rank is not known; expected a shape");
  onnximport::ImportOptions options;
  ox::Tensor tensor;
  tensor.type = ox::DataType::F64;
  options.bound["x"] = tensor;
  expectProblem(oneNode("Relu", "f2", ""), "the model has no input 'x' to bind", options);
  options.bound["x0"] = tensor;
  expectProblem(oneNode("Relu", "f2", ""), "input 'x0': what is bound to it has another type or shape",
                options);
}

TEST(OnnxImportErrors, SparseTensorsThatAreTooLarge) {
  Proto sparse = Proto().add(1, tensorProto("w", 1, {1}).add(4, 5.0f));
  sparse.add(2, tensorProto("", 7, {1}).packed(7, {4})).add(3, int64_t(1) << 33);
  expectProblem(modelProto(Proto()
                               .add(15, sparse)
                               .add(1, nodeProto("Relu", "layer", {"w"}, {"y"}))
                               .add(12, input("y", 1, "2"))),
                "initializer 'w': a sparse tensor of this type or size is not supported");
}

TEST(OnnxImportErrors, ModelsWithoutOutputs) {
  expectProblem(
      modelProto(Proto().add(11, input("x", 1, "2")).add(1, nodeProto("Relu", "layer", {"x"}, {"y"}))),
      "the model has no outputs");
}

// f0 calls f1, f1 calls f2, and so on.
TEST(OnnxImportErrors, CallsThatAreNestedTooDeeply) {
  Proto model = modelProto(Proto()
                               .add(11, input("x", 1, "2"))
                               .add(1, nodeProto("f0", "call", {"x"}, {"y"}).add(7, "local"))
                               .add(12, input("y", 1, "2")));
  for (int i = 0; i < 220; ++i) {
    Proto node = nodeProto(i == 219 ? "Neg" : "f" + std::to_string(i + 1), "inner", {"a"}, {"b"});
    model.add(25, Proto()
                      .add(1, "f" + std::to_string(i))
                      .add(4, "a")
                      .add(5, "b")
                      .add(7, i == 219 ? node : node.add(7, "local"))
                      .add(9, opsetProto(21))
                      .add(9, opsetProto(1, "local"))
                      .add(10, "local"));
  }
  expectProblem(model.add(8, opsetProto(1, "local")), "calls are nested more than 200 deep");
}

//===----------------------------------------------------------------------===//
// Branches and loops
//===----------------------------------------------------------------------===//

/// A graph with one node for each of its outputs but the first, which is the input 'going'.
static Proto loopBody(ArrayRef<const char *> inputs, ArrayRef<Proto> nodes, ArrayRef<const char *> outputs) {
  Proto graph = Proto().add(2, "body");
  for (const char *name : inputs)
    graph.add(11, Proto().add(1, name));
  for (const Proto &node : nodes)
    graph.add(1, node);
  for (const char *name : outputs)
    graph.add(12, Proto().add(1, name));
  return graph;
}

static Proto withBody(const Proto &graph, const Proto &node, const Proto &body, int64_t opset = 21) {
  return Proto()
      .add(1, 10)
      .add(8, opsetProto(opset))
      .add(7, Proto(graph)
                  .add(1, Proto(node).add(5, attributeProto("body", 5).add(6, body)))
                  .add(12, input("y", 1, "")));
}

TEST(OnnxImportErrors, Branches) {
  expectProblems({{"If", "b", "", "attribute 'then_branch' is missing or no graph"}});
  auto side = [](const char *out) {
    return Proto().add(2, out).add(1, nodeProto("Relu", "", {"x"}, {out})).add(12, input(out, 1, "2"));
  };
  expectProblem(modelProto(Proto()
                               .add(11, input("x", 1, "2"))
                               .add(1, nodeProto("If", "choose", {"x"}, {"y"})
                                           .add(5, attributeProto("then_branch", 5).add(6, side("a")))
                                           .add(5, attributeProto("else_branch", 5).add(6, side("b"))))
                               .add(12, input("y", 1, "2"))),
                "expected a bool as condition");
}

TEST(OnnxImportErrors, Loops) {
  Proto x = Proto().add(11, input("x", 1, "2"));
  Proto keep = loopBody({"i", "going", "a"}, {nodeProto("Relu", "", {"a"}, {"b"})}, {"going", "b"});
  expectProblem(withBody(x, nodeProto("Loop", "loop", {"", "", "x"}, {"y"}), keep),
                "runs for more than 1024 steps that must be written out");
  expectProblem(
      withBody(Proto(x).add(11, input("n", 6, "")), nodeProto("Loop", "loop", {"n", "", "x"}, {"y"}), keep),
      "expected an i64 as number of steps and a bool as condition");
  expectProblem(withBody(x, nodeProto("Loop", "loop", {"", "", "x", "x"}, {"y"}), keep),
                "its body does not take and give what the loop carries");
  Proto n = Proto(x).add(11, input("n", 7, ""));
  Proto grow =
      loopBody({"i", "going", "a"},
               {nodeProto("Concat", "", {"a", "a"}, {"b"}).add(5, attributeProto("axis", 2).add(3, 0))},
               {"going", "b"});
  expectProblem(withBody(n, nodeProto("Loop", "loop", {"n", "", "x"}, {"y"}), grow),
                "a value that the loop carries changes its type, which needs a known number of steps");
  // It collects what a window makes of an open extent.
  Proto pool =
      nodeProto("MaxPool", "", {"u"}, {"part"}).add(5, attributeProto("kernel_shape", 7).packed(8, {2}));
  Proto collect = loopBody({"i", "going", "a"}, {pool}, {"going", "a", "part"});
  expectProblem(withBody(Proto(n).add(11, input("u", 1, "1x1x?")),
                         nodeProto("Loop", "loop", {"n", "", "x"}, {"y", "z"}), collect),
                "what the loop collects has an extent that is only known in its steps");
}

TEST(OnnxImportErrors, Scans) {
  auto scan = [](const char *extents, int64_t sequences, const Proto &body, int64_t opset = 21,
                 std::initializer_list<const char *> inputs = {"x"}) {
    return withBody(Proto().add(11, input("x", 1, extents)).add(11, input("n", 7, "1")),
                    nodeProto("Scan", "scan", inputs, {"y"})
                        .add(5, attributeProto("num_scan_inputs", 2).add(3, sequences)),
                    body, opset);
  };
  Proto one = loopBody({"a"}, {nodeProto("Relu", "", {"a"}, {"b"})}, {"b"});
  Proto both = loopBody({"a", "c"}, {nodeProto("Relu", "", {"a"}, {"b"})}, {"b"});
  expectProblem(scan("2x2", 2, both, 21, {"x", "n"}), "expected sequences of one length, but got 2 and 1");
  expectProblem(scan("0x2", 1, one), "expected sequences that are not empty");
  expectProblem(scan("2x2", 2, one), "'num_scan_inputs' does not fit its inputs");
  expectProblem(scan("2x2", 1, loopBody({"s", "a"}, {}, {}), 21, {"x", "x"}),
                "its body does not give what the scan carries");
  expectProblem(scan("1x2x2", 1, one, 8, {"n", "x"}), "lengths of sequences are not supported");
  expectProblem(scan("?x2x2", 1, one, 8, {"", "x"}), "expected a static batch");
}

//===----------------------------------------------------------------------===//
// What the context of a node promises
//===----------------------------------------------------------------------===//

// Neither is known to happen: every builder that gives null has said why.
TEST(OnnxImportErrors, NullsWithoutAReasonAreProblems) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  ox::Model model;
  onnximport::ImportOptions options;
  onnximport::Importer importer(model, options, &context);
  onnximport::Scope scope;
  ox::Node node;
  node.opType = "Relu";
  Location loc = NameLoc::get(StringAttr::get(&context, "layer"));
  onnximport::NodeContext(importer, node, scope, 21, loc).failInference();
  onnximport::NodeContext(importer, node, scope, 21, loc).set(0, Value(), ox::DataType::F32);
  EXPECT_EQ(importer.result.problems,
            (std::vector<std::string>{
                "node 'layer' (Relu of ai.onnx, opset 21): the types of its operands do not fit together",
                "node 'layer' (Relu of ai.onnx, opset 21): cannot be converted"}));
}
