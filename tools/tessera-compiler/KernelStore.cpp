// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See KernelStore.h.
#include "KernelStore.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace tessera;

static Result<uint64_t> readLimit() {
  constexpr uint64_t defaultMiB = 512, mostMiB = uint64_t(1) << 24;
  const char *text = std::getenv("TESSERA_STORE");
  if (!text)
    return defaultMiB << 20;
  uint64_t mib = 0;
  const char *end = text + std::strlen(text);
  auto [rest, error] = std::from_chars(text, end, mib);
  if (error != std::errc() || rest != end || mib > mostMiB)
    return fail(StatusCode::InvalidArgument, "TESSERA_STORE: expected a number of MiB, 0 to ", mostMiB,
                ", but got '", text, "'");
  return mib << 20;
}

Result<Store *> cli::openKernelStore() {
  TESSERA_ASSIGN(uint64_t limit, readLimit());
  static Store store("kernels", limit);
  if (Status opened = store.open(); !opened.ok())
    std::fprintf(stderr, "warning: compiled kernels are not kept: %s\n", opened.message().c_str());
  return &store;
}
