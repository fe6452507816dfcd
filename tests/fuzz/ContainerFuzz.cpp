// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fuzzes the container reader and what Module does with the sections. Checksums would
// stop nearly every mutation, so those of the table and sections are made right first.
#include "Fuzz.h"
#include "tessera/base/Container.h"
#include "tessera/runtime/program/Module.h"

#include <cstring>

using namespace tessera;

static void repairChecksums(std::string &file) {
  if (file.size() < 64)
    return;
  uint32_t count;
  std::memcpy(&count, file.data() + 20, 4);
  uint64_t size = file.size();
  std::memcpy(file.data() + 24, &size, 8);
  if (count > 64 || 64 + count * 96 > file.size())
    return;
  auto bytes = std::as_bytes(std::span(file));
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t offset, length;
    std::memcpy(&offset, file.data() + 64 + i * 96 + 40, 8);
    std::memcpy(&length, file.data() + 64 + i * 96 + 48, 8);
    if (offset <= file.size() && length <= file.size() - offset) {
      auto digest = sha256(bytes.subspan(offset, length));
      std::memcpy(file.data() + 64 + i * 96 + 56, digest.data(), 32);
    }
  }
  auto digest = sha256(bytes.subspan(64, count * 96));
  std::memcpy(file.data() + 32, digest.data(), 32);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  for (bool repair : {false, true}) {
    std::string file(reinterpret_cast<const char *>(data), size);
    if (repair)
      repairChecksums(file);
    auto container = Container::parse(std::as_bytes(std::span(file)), "fuzz");
    if (!container.ok())
      continue;
    for (const auto &section : container->sections())
      (void)container->section(section.name);
    (void)Module::load(container.take());
  }
  return 0;
}

std::vector<std::string> fuzzSeeds() {
  ContainerWriter installed(ContainerKind::InstalledProgram);
  installed.add("plan", fuzzPlan);
  installed.add("code", readWholeFile(TESSERA_TEST_KERNELS));
  installed.add("const", std::string(64, 'c'));
  installed.add("meta", "{\"triple\": \"x86_64-linux\", \"features\": [\"avx2\"]}");
  ContainerWriter small(ContainerKind::PortableObject, 22);
  small.add("ir", "bytecode");
  small.add("meta", "{}");
  return {installed.bytes(), small.bytes()};
}
