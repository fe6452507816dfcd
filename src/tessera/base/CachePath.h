// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cache of programs that were installed implicitly: by `run X.tsr` and by executables that carry their
// graphs. Its files are executed, so no other user may write there.
#pragma once

#include "tessera/base/Status.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tessera {

/// $TESSERA_CACHE, $XDG_CACHE_HOME/tessera or ~/.cache/tessera.
std::string cacheFolder();

/// Makes the folder, with its parents, unless it is there. Refuses one that others own or may write.
Status openCacheFolder(const std::string &path = cacheFolder());

/// True for a file that only this user (or root) can have made or changed.
bool isOwnFile(const std::string &path);

/// The installed program of a portable object on this machine. `key` identifies the object's content, the
/// machine, the mode and our version. The file's `meta` repeats it; a file with another key is another
/// program, whatever its name.
struct CacheEntry {
  std::string path, key;
};
CacheEntry cacheEntry(std::span<const std::byte> object, std::string_view mode);

} // namespace tessera
