// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fuzzes the ONNX importer: whatever the reader accepts becomes a module or a list of problems.
#include "OnnxSeeds.h"
#include "tessera/frontends/onnx/Import.h"

using namespace tessera;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static MLIRContext context(MLIRContext::Threading::DISABLED);
  std::span<const std::byte> bytes(reinterpret_cast<const std::byte *>(data), size);
  auto model = onnx::parseModel(bytes, "fuzz", "");
  if (model.ok())
    (void)onnximport::importModel(*model, {}, &context);
  return 0;
}

std::vector<std::string> fuzzSeeds() { return onnxSeeds(); }
