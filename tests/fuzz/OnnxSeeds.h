// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small models to start from: one node with the attributes that its family reads, over small tensors.
#pragma once

#include "Fuzz.h"
#include "tessera/frontends/onnx/reader/ProtoWriter.h"

inline std::string onnxSeed(const char *op, std::initializer_list<int64_t> shape,
                            const tessera::onnx::testing::Proto &attribute) {
  using namespace tessera::onnx::testing;
  Proto graph = Proto()
                    .add(11, valueProto("x", shape))
                    .add(5, tensorProto("w", 1, {2, 2, 1, 1}).add(4, Proto::raw({1.0f, 2.0f, 3.0f, 4.0f})))
                    .add(5, tensorProto("i", 7, {2}).packed(7, {0, 1}))
                    .add(1, nodeProto(op, "n", {"x", "w"}, {"y"}).add(5, attribute))
                    .add(1, nodeProto("Reshape", "r", {"x", "i"}, {"z"}))
                    .add(1, nodeProto("Gather", "g", {"x", "i"}, {"u"}))
                    .add(12, valueProto("y", {1}))
                    .add(12, valueProto("z", {1}))
                    .add(12, valueProto("u", {1}));
  return modelProto(graph).bytes;
}

inline std::vector<std::string> onnxSeeds() {
  using namespace tessera::onnx::testing;
  auto ints = [](const char *name) { return attributeProto(name, 7).packed(8, {1, 1}); };
  auto one = [](const char *name) { return attributeProto(name, 2).add(3, 1); };
  return {fullModel().bytes,
          onnxSeed("Conv", {1, 2, 4, 4}, ints("strides")),
          onnxSeed("MaxPool", {1, 2, 4, 4}, ints("kernel_shape")),
          onnxSeed("MatMul", {2, 2}, one("k")),
          onnxSeed("Softmax", {2, 3}, one("axis")),
          onnxSeed("Concat", {2, 2, 1, 1}, one("axis")),
          onnxSeed("ReduceSum", {2, 3}, ints("axes")),
          onnxSeed("Transpose", {2, 3}, ints("perm")),
          onnxSeed("Einsum", {2, 2}, attributeProto("equation", 3).add(4, "ij,jk->ik")),
          onnxSeed("Slice", {2, 3}, ints("starts")),
          onnxSeed("DepthToSpace", {1, 4, 2, 2}, one("blocksize")),
          onnxSeed("LSTM", {1, 2, 2}, one("hidden_size")),
          onnxSeed("Attention", {1, 2, 4, 4}, one("is_causal")),
          onnxSeed("Loop", {1}, attributeProto("body", 5).add(6, Proto().add(2, "b")))};
}
