// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fuzzes the ONNX reader, as a model and as a tensor, sequence or optional. Without a folder, so that no
// input opens a file.
#include "Fuzz.h"
#include "tessera/frontends/onnx/reader/ProtoWriter.h"
#include "tessera/frontends/onnx/reader/Reader.h"

using namespace tessera;
using namespace tessera::onnx;
using namespace tessera::onnx::testing;

// Reads every element, as an importer does after the reader said yes.
static void touch(const Tensor &tensor) {
  for (int64_t i = 0, n = tensor.type == DataType::String ? 0 : tensor.count(); i < n; ++i)
    (void)numberAt(tensor, i);
  (void)integerValues(tensor);
  (void)unpackSubByte(tensor);
}

static void touch(const Graph &graph) {
  for (const Tensor &tensor : graph.initializers)
    touch(tensor);
  for (const Node &node : graph.nodes)
    for (const Attribute &attribute : node.attributes) {
      for (const Tensor &tensor : attribute.tensors)
        touch(tensor);
      for (const Graph &nested : attribute.graphs)
        touch(nested);
    }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::span<const std::byte> bytes(reinterpret_cast<const std::byte *>(data), size);
  if (auto model = parseModel(bytes, "fuzz", ""); model.ok())
    touch(model->graph);
  if (auto tensor = parseTensor(bytes, "fuzz", ""); tensor.ok())
    touch(*tensor);
  (void)parseSequence(bytes, "fuzz", "");
  (void)parseOptional(bytes, "fuzz", "");
  return 0;
}

std::vector<std::string> fuzzSeeds() {
  Proto tensor = tensorProto("t", 1, {2, 2}).add(9, std::string(16, 'x'));
  Proto cycle = Proto().add(1, nodeProto("A", "a", {"y"}, {"x"})).add(1, nodeProto("B", "b", {"x"}, {"y"}));
  return {fullModel().bytes,
          modelProto(cycle).bytes,
          tensor.bytes,
          tensorProto("i", 22, {5}).packed(5, {1, 2, 3}).bytes,
          tensorProto("s", 8, {2}).add(6, "a").add(6, "b").bytes,
          tensorProto("e", 1, {2}).add(14, 1).add(13, Proto().add(1, "location").add(2, "w.bin")).bytes,
          Proto().add(1, "seq").add(2, 1).add(3, tensor).add(5, Proto().add(3, tensor)).bytes};
}
