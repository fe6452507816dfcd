// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fuzzes the ONNX importer: whatever the reader accepts becomes a module or a list of problems.
#include "Fuzz.h"
#include "tessera/frontends/onnx/Import.h"
#include "tessera/frontends/onnx/reader/ProtoWriter.h"

using namespace tessera;
using namespace tessera::onnx::testing;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static MLIRContext context(MLIRContext::Threading::DISABLED);
  std::span<const std::byte> bytes(reinterpret_cast<const std::byte *>(data), size);
  auto model = onnx::parseModel(bytes, "fuzz", "");
  if (model.ok())
    (void)onnximport::importModel(*model, {}, &context);
  return 0;
}

// One node with the attributes that its family reads, over small tensors.
static std::string seed(const char *op, std::initializer_list<int64_t> shape, const Proto &attribute) {
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

std::vector<std::string> fuzzSeeds() {
  auto ints = [](const char *name) { return attributeProto(name, 7).packed(8, {1, 1}); };
  auto one = [](const char *name) { return attributeProto(name, 2).add(3, 1); };
  return {fullModel().bytes,
          seed("Conv", {1, 2, 4, 4}, ints("strides")),
          seed("MaxPool", {1, 2, 4, 4}, ints("kernel_shape")),
          seed("MatMul", {2, 2}, one("k")),
          seed("Softmax", {2, 3}, one("axis")),
          seed("Concat", {2, 2, 1, 1}, one("axis")),
          seed("ReduceSum", {2, 3}, ints("axes")),
          seed("Transpose", {2, 3}, ints("perm")),
          seed("Einsum", {2, 2}, attributeProto("equation", 3).add(4, "ij,jk->ik")),
          seed("Slice", {2, 3}, ints("starts")),
          seed("DepthToSpace", {1, 4, 2, 2}, one("blocksize")),
          seed("LSTM", {1, 2, 2}, one("hidden_size")),
          seed("Attention", {1, 2, 4, 4}, one("is_causal")),
          seed("Loop", {1}, attributeProto("body", 5).add(6, Proto().add(2, "b")))};
}
