// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files: reading by mapping, and writing so that no reader ever sees half a file
// (written beside the destination, flushed, renamed; removed on failure or signal).
#pragma once

#include "tessera/base/Status.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace tessera {

/// A whole file in memory, read-only. The base address is a page multiple.
class MappedFile {
public:
  /// Maps `path`; fails for a missing file, a directory, or one that may not be read.
  static Result<std::shared_ptr<const MappedFile>> open(const std::string &path);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  std::span<const std::byte> bytes() const { return {base, size}; }
  const std::string &path() const { return name; }

private:
  MappedFile() = default;
  std::string name;
  const std::byte *base = nullptr;
  size_t size = 0;
};

/// A file under construction. Nothing appears at `path` until commit(); without it,
/// and on SIGINT or SIGTERM, the temporary file is removed.
class AtomicFile {
public:
  static Result<AtomicFile> create(const std::string &path);
  AtomicFile(AtomicFile &&other) noexcept;
  AtomicFile &operator=(AtomicFile &&) = delete;
  ~AtomicFile();

  Status write(std::span<const std::byte> data);
  /// Zero bytes up to the next multiple of `alignment`.
  Status padTo(size_t alignment);
  /// Overwrites bytes already written, for headers known last.
  Status writeAt(uint64_t offset, std::span<const std::byte> data);
  uint64_t offset() const { return position; }
  /// Flushes to disk and renames into place.
  Status commit();

private:
  AtomicFile() = default;
  std::string target, temporary;
  int fd = -1;
  int slot = -1;
  uint64_t position = 0;
};

/// Sees to it that unfinished files are removed when SIGINT, SIGTERM or SIGHUP ends the process. The first
/// AtomicFile does so; a program whose libraries install handlers of their own, which pass the signal on,
/// does it before them.
void removeUnfinishedFilesOnSignals();

/// Writes `data` to `path` through an AtomicFile.
Status writeFile(const std::string &path, std::span<const std::byte> data);
Status writeFile(const std::string &path, std::string_view text);

/// True when something exists at `path`.
bool fileExists(const std::string &path);

} // namespace tessera
