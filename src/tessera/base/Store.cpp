// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Store.h. A file is the SHA-256 of all behind it, the key's SHA-256, and the bytes.
#include "tessera/base/Store.h"

#include "tessera/base/CachePath.h"
#include "tessera/base/File.h"
#include "tessera/base/Sha256.h"

#include <algorithm>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace tessera {

namespace {
constexpr size_t digestSize = sizeof(Sha256Digest);

std::string digestOf(std::string_view text) {
  Sha256Digest digest = sha256(std::as_bytes(std::span(text)));
  return {reinterpret_cast<const char *>(digest.data()), digestSize};
}

bool writeAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t done = write(fd, bytes.data(), bytes.size());
    if (done <= 0)
      return false;
    bytes.remove_prefix(static_cast<size_t>(done));
  }
  return true;
}
} // namespace

Store::Store(std::string_view folder, uint64_t limit)
    : path(cacheFolder() + "/" + std::string(folder)), limit(limit) {}

Status Store::open() {
  if (!limit)
    return Status();
  TESSERA_TRY(openCacheFolder());
  TESSERA_TRY(openCacheFolder(path));
  isOpen = true;
  return Status();
}

std::string Store::pathOf(std::string_view key) const {
  return path + "/" + toHex(sha256(std::as_bytes(std::span(key)))).substr(0, 40);
}

std::optional<std::string> Store::find(std::string_view key) const {
  if (!isOpen)
    return std::nullopt;
  const std::string name = pathOf(key);
  auto file = isOwnFile(name) ? MappedFile::open(name) : fail(StatusCode::NotFound, name);
  if (!file.ok())
    return std::nullopt;
  std::span<const std::byte> bytes = (*file)->bytes();
  std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  if (text.size() < 2 * digestSize || text.substr(0, digestSize) != digestOf(text.substr(digestSize)) ||
      text.substr(digestSize, digestSize) != digestOf(key))
    return std::nullopt;
  // What is used stays when room is made.
  utimensat(AT_FDCWD, name.c_str(), nullptr, 0);
  ++hits;
  return std::string(text.substr(2 * digestSize));
}

void Store::keep(std::string_view key, std::string_view bytes) {
  if (!isOpen || bytes.size() > limit / 4)
    return;
  const auto size = static_cast<int64_t>(bytes.size() + 2 * digestSize);
  if (room.fetch_sub(size) - size < 0)
    makeRoom();
  std::string rest = digestOf(key);
  rest += bytes;
  std::string name = path + "/.new-XXXXXX";
  int fd = mkstemp(name.data());
  if (fd < 0)
    return;
  // Not flushed to the disk: after a crash the checksum says what arrived.
  bool written = writeAll(fd, digestOf(rest)) && writeAll(fd, rest);
  close(fd);
  if (!written || rename(name.c_str(), pathOf(key).c_str()) != 0)
    unlink(name.c_str());
}

// What was not used for the longest time goes first, until a quarter of the limit is free.
void Store::makeRoom() {
  namespace fs = std::filesystem;
  struct Entry {
    fs::path path;
    fs::file_time_type used;
    uint64_t bytes;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code ec;
  for (fs::directory_iterator it(path, ec), end; !ec && it != end; it.increment(ec)) {
    std::error_code gone; // another process may make room, too
    uint64_t bytes = it->file_size(gone);
    fs::file_time_type used = it->last_write_time(gone);
    if (gone)
      continue;
    total += bytes;
    entries.push_back({it->path(), used, bytes});
  }
  if (total > limit) {
    std::ranges::sort(entries, {}, &Entry::used);
    for (const Entry &entry : entries) {
      if (total <= limit - limit / 4)
        break;
      std::error_code gone;
      fs::remove(entry.path, gone);
      total -= entry.bytes;
    }
  }
  // Looked at again when as much as was free may have been written, or at the latest after an eighth.
  room = static_cast<int64_t>(std::min(limit / 8, limit > total ? limit - total : 0));
}

} // namespace tessera
