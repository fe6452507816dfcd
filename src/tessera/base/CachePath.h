// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where installed programs are kept that nobody asked to keep: those of `run X.tsr` and of executables that
// carry their graphs.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tessera {

/// $TESSERA_CACHE, $XDG_CACHE_HOME/tessera or ~/.cache/tessera.
std::string cacheFolder();

/// The file for a portable object on this machine: one name for a content, a machine, a mode and a version.
std::string cachePath(std::span<const std::byte> object, std::string_view mode);

} // namespace tessera
