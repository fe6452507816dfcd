// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The container of `.tsr` and `.tsx` files: a header, a table and checksummed,
// page-aligned sections (docs/formats.md). The reader trusts nothing it reads.
#pragma once

#include "tessera/base/File.h"
#include "tessera/base/Sha256.h"
#include "tessera/base/Status.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

enum class ContainerKind : uint32_t { PortableObject = 1, InstalledProgram = 2 };

/// Version of the container format this code reads and writes.
inline constexpr uint32_t containerVersion = 1;
/// Every section starts at a multiple of this.
inline constexpr size_t containerAlignment = 4096;

/// A container opened for reading. Copies share the file.
class Container {
public:
  struct Section {
    std::string name;
    uint64_t offset, size;
    Sha256Digest digest;
  };

  /// Opens `path` and checks header, table and bounds; sections are checked when asked for.
  static Result<Container> open(const std::string &path);
  /// The same for bytes in memory, which must outlive the container; `name` is for messages.
  static Result<Container> parse(std::span<const std::byte> bytes, std::string name);
  /// True when `bytes` start with our magic number, whatever follows.
  static bool hasMagic(std::span<const std::byte> bytes);

  ContainerKind kind() const { return containerKind; }
  uint32_t llvmMajor() const { return llvm; }
  const std::string &name() const { return fileName; }
  const std::vector<Section> &sections() const { return table; }
  bool has(std::string_view section) const;
  /// The content of a section, after its checksum was verified (once; not thread-safe).
  Result<std::span<const std::byte>> section(std::string_view name) const;
  /// The same as text.
  Result<std::string_view> text(std::string_view name) const;
  /// Keeps the bytes alive; null for parse().
  std::shared_ptr<const MappedFile> file() const { return mapped; }

private:
  std::string fileName;
  std::shared_ptr<const MappedFile> mapped;
  std::span<const std::byte> bytes;
  ContainerKind containerKind = ContainerKind::PortableObject;
  uint32_t llvm = 0;
  std::vector<Section> table;
  mutable std::vector<bool> verified;
};

/// Collects sections and writes them as one container.
class ContainerWriter {
public:
  explicit ContainerWriter(ContainerKind kind, uint32_t llvmMajor = 0) : kind(kind), llvmMajor(llvmMajor) {}

  /// Adds a section (name of 1 to 39 bytes, unique); the writer owns `data`.
  void add(std::string name, std::string data);
  /// Adds a section without copying; `data` must live until the writer is done.
  void addReference(std::string name, std::span<const std::byte> data);

  /// Writes beside `path`, then renames.
  Status write(const std::string &path) const;
  /// The whole container in memory.
  std::string bytes() const;

private:
  struct Item {
    std::string name;
    std::string owned;
    std::span<const std::byte> reference;
    std::span<const std::byte> data() const {
      return reference.data() ? reference : std::as_bytes(std::span(owned.data(), owned.size()));
    }
  };
  std::string header() const;

  ContainerKind kind;
  uint32_t llvmMajor;
  std::vector<Item> items;
};

} // namespace tessera
