// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fuzzes installation with ONNX models: what the importer accepts is installed or refused with a message.
#include "Isolated.h"
#include "OnnxSeeds.h"
#include "tessera/driver/Compiler.h"
#include "tessera/frontends/onnx/Import.h"

using namespace tessera;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static Session session;
  std::span<const std::byte> bytes(reinterpret_cast<const std::byte *>(data), size);
  auto model = onnx::parseModel(bytes, "fuzz", "");
  if (!model.ok())
    return 0;
  fuzz::isolated([&] {
    std::vector<Portable> programs(1);
    programs[0].module = onnximport::importModel(*model, {}, &session.context()).module;
    programs[0].source = "fuzz";
    if (programs[0].module && succeeded(runGraphStage(*programs[0].module)))
      (void)install(session, programs, {});
  });
  return 0;
}

std::vector<std::string> fuzzSeeds() { return onnxSeeds(); }
