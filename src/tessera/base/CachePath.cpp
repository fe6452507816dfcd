// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CachePath.h.
#include "tessera/base/CachePath.h"

#include "tessera/base/CpuInfo.h"
#include "tessera/base/Sha256.h"

#include <cstdlib>

namespace tessera {

std::string cacheFolder() {
  if (const char *dir = std::getenv("TESSERA_CACHE"))
    return dir;
  if (const char *dir = std::getenv("XDG_CACHE_HOME"))
    return std::string(dir) + "/tessera";
  const char *home = std::getenv("HOME");
  return std::string(home ? home : "/tmp") + "/.cache/tessera";
}

std::string cachePath(std::span<const std::byte> object, std::string_view mode) {
  Sha256 hash;
  hash.update(object);
  std::string rest = "|" TESSERA_VERSION "|" + hostTriple() + cpuFeatureString() + "|" + std::string(mode);
  hash.update(std::as_bytes(std::span(rest)));
  return cacheFolder() + "/" + toHex(hash.finish()).substr(0, 32) + ".tsx";
}

} // namespace tessera
