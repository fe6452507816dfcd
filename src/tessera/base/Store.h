// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What was made once and is kept for the next time, in a folder of the user's cache: bytes by key, a file
// each, bounded in size. What cannot be read, is damaged or belongs to another key is as good as not there.
#pragma once

#include "tessera/base/Status.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tessera {

class Store {
public:
  /// Keeps in `folder` of the user's cache, at most `limit` bytes in all; 0 keeps and finds nothing.
  Store(std::string_view folder, uint64_t limit);

  /// Makes the folder. Without it, or when others could write there, nothing is kept and nothing is found.
  Status open();
  /// The folder; empty when nothing is kept.
  std::string folder() const { return limit ? path : ""; }

  std::optional<std::string> find(std::string_view key) const;
  /// Others may keep the same at the same time: all write the same. A disk that is full only means that
  /// nothing is kept. Any thread may call it.
  void keep(std::string_view key, std::string_view bytes);

  uint64_t found() const { return hits; }

private:
  std::string pathOf(std::string_view key) const;
  void makeRoom();

  std::string path;
  uint64_t limit;
  bool isOpen = false;
  std::atomic<int64_t> room = -1; ///< bytes that may still be written before the folder is looked at again
  mutable std::atomic<uint64_t> hits = 0;
};

} // namespace tessera
