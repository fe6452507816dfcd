// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CachePath.h.
#include "tessera/base/CachePath.h"

#include "tessera/base/CpuInfo.h"
#include "tessera/base/Sha256.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace tessera {

std::string cacheFolder() {
  if (const char *dir = std::getenv("TESSERA_CACHE"))
    return dir;
  if (const char *dir = std::getenv("XDG_CACHE_HOME"))
    return std::string(dir) + "/tessera";
  const char *home = std::getenv("HOME");
  return std::string(home ? home : "/tmp") + "/.cache/tessera";
}

static bool isTrusted(const struct stat &info) { return info.st_uid == geteuid() || info.st_uid == 0; }

Status openCacheFolder(const std::string &path) {
  for (size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    std::string part = path.substr(0, at);
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST && errno != EROFS)
      return fail(StatusCode::Io, "cannot create the cache folder '", path, "': ", std::strerror(errno),
                  "; set TESSERA_CACHE");
    if (at == std::string::npos)
      break;
  }
  struct stat info;
  int error = stat(path.c_str(), &info) != 0 ? errno : S_ISDIR(info.st_mode) ? 0 : ENOTDIR;
  if (error)
    return fail(StatusCode::Io, "cannot create the cache folder '", path, "': ", std::strerror(error),
                "; set TESSERA_CACHE");
  if (!isTrusted(info))
    return fail(StatusCode::Io, "the cache folder '", path,
                "' belongs to another user, who could put other programs into it; set TESSERA_CACHE to a "
                "folder of your own");
  if (info.st_mode & (S_IWGRP | S_IWOTH))
    return fail(StatusCode::Io, "others may write to the cache folder '", path,
                "' and could put other programs into it; forbid it ('chmod go-w ", path,
                "') or set TESSERA_CACHE to a folder of your own");
  return Status();
}

bool isOwnFile(const std::string &path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && isTrusted(info) &&
         !(info.st_mode & (S_IWGRP | S_IWOTH));
}

CacheEntry cacheEntry(std::span<const std::byte> object, std::string_view mode) {
  Sha256 hash;
  hash.update(object);
  std::string rest = "|" TESSERA_VERSION "|" + hostTriple() + cpuFeatureString() + "|" + std::string(mode);
  hash.update(std::as_bytes(std::span(rest)));
  std::string key = toHex(hash.finish());
  return {cacheFolder() + "/" + key.substr(0, 32) + ".tsx", key};
}

} // namespace tessera
