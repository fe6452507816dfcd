// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See MeasureCache.h.
#include "tessera/driver/MeasureCache.h"

#include "tessera/base/CachePath.h"
#include "tessera/base/File.h"
#include "tessera/base/Json.h"
#include "tessera/base/Sha256.h"

#include "llvm/Support/raw_ostream.h"

using namespace tessera;

static std::string hashOf(const std::string &text) {
  return toHex(sha256(std::as_bytes(std::span(text)))).substr(0, 32);
}

static std::string folder() { return cacheFolder() + "/measured"; }

// What is kept decides which code is taken, so it is held as safe as the code.
static bool openFolder() {
  static const bool warned = [] {
    Status status = openCacheFolder();
    if (!status.ok())
      llvm::errs() << "warning: measurements are not kept: " << status.message() << "\n";
    return !status.ok();
  }();
  return !warned && openCacheFolder(folder()).ok();
}

MeasureCache::MeasureCache(const Target &target, const TargetOptions &options)
    : machine("tessera " TESSERA_VERSION "\n" + target.machineKey(options) + "\n" + spellMode(options) +
              "\n") {}

std::string MeasureCache::pathOf(const std::string &key) const {
  return folder() + "/" + hashOf(machine + key) + ".json";
}

std::optional<nlohmann::json> MeasureCache::find(const std::string &key) const {
  if (!openFolder())
    return std::nullopt;
  auto file = MappedFile::open(pathOf(key));
  if (!file.ok())
    return std::nullopt;
  std::span<const std::byte> bytes = (*file)->bytes();
  nlohmann::json entry = parseJson({reinterpret_cast<const char *>(bytes.data()), bytes.size()});
  if (!entry.is_object() || !entry.contains("value") || entry.value("key", "") != machine + key ||
      entry.value("sha256", "") != hashOf(dumpJson(entry["value"])))
    return std::nullopt;
  return entry["value"];
}

void MeasureCache::keep(const std::string &key, const nlohmann::json &value) const {
  if (!openFolder())
    return;
  nlohmann::json entry = {{"key", machine + key}, {"value", value}, {"sha256", hashOf(dumpJson(value))}};
  (void)writeFile(pathOf(key), std::string_view(dumpJson(entry, 1)));
}
