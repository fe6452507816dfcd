// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reader and writer of the container; layout in docs/formats.md.
#include "tessera/base/Container.h"
#include "tessera/base/Check.h"

#include <algorithm>
#include <cstring>

namespace tessera {

static constexpr char magic[8] = {'T', 'E', 'S', 'S', 'E', 'R', 'A', '\x01'};
static constexpr size_t headerSize = 64, entrySize = 96, nameSize = 40;
static constexpr uint32_t maxSections = 4096;

template <typename T> static T load(const std::byte *p) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    value |= static_cast<T>(static_cast<uint8_t>(p[i])) << (8 * i);
  return value;
}

template <typename T> static void store(std::string &out, size_t at, T value) {
  for (size_t i = 0; i < sizeof(T); ++i)
    out[at + i] = static_cast<char>(value >> (8 * i));
}

bool Container::hasMagic(std::span<const std::byte> bytes) {
  return bytes.size() >= sizeof magic && std::memcmp(bytes.data(), magic, sizeof magic) == 0;
}

Result<Container> Container::open(const std::string &path) {
  auto file = MappedFile::open(path);
  if (!file.ok())
    return file.status();
  auto container = parse((*file)->bytes(), path);
  if (container.ok())
    container->mapped = file.take();
  return container;
}

Result<Container> Container::parse(std::span<const std::byte> bytes, std::string name) {
  auto corrupt = [&](const auto &...parts) { return fail(StatusCode::Corrupt, "'", name, "': ", parts...); };
  if (!hasMagic(bytes))
    return corrupt("not a Tessera file (expected the magic number 'TESSERA' at its start)");
  if (bytes.size() < headerSize)
    return corrupt("file is truncated: expected at least ", headerSize, " bytes, but got ", bytes.size());
  const std::byte *p = bytes.data();
  uint32_t kind = load<uint32_t>(p + 8), version = load<uint32_t>(p + 12), count = load<uint32_t>(p + 20);
  uint64_t total = load<uint64_t>(p + 24);
  if (version != containerVersion)
    return fail(StatusCode::Unsupported, "'", name, "': container version ", version,
                " is not supported; this tessera reads version ", containerVersion,
                version > containerVersion ? "; use a newer tessera" : "; write the file again");
  if (kind != 1 && kind != 2)
    return corrupt("expected kind 1 (.tsr) or 2 (.tsx), but got ", kind);
  if (total != bytes.size())
    return corrupt("file is ", total > bytes.size() ? "truncated" : "too long", ": expected ", total,
                   " bytes, but got ", bytes.size());
  if (count > maxSections || count * entrySize > bytes.size() - headerSize)
    return corrupt("table of ", count, " sections does not fit into the file");
  std::span<const std::byte> tableBytes = bytes.subspan(headerSize, count * entrySize);
  Sha256Digest digest = sha256(tableBytes);
  if (std::memcmp(digest.data(), p + 32, digest.size()) != 0)
    return corrupt("checksum of the section table does not match; the file is damaged");

  Container container;
  container.fileName = name;
  container.bytes = bytes;
  container.containerKind = static_cast<ContainerKind>(kind);
  container.llvm = load<uint32_t>(p + 16);
  for (uint32_t i = 0; i < count; ++i) {
    const std::byte *entry = tableBytes.data() + i * entrySize;
    const char *text = reinterpret_cast<const char *>(entry);
    size_t length = strnlen(text, nameSize);
    Section section{std::string(text, length), load<uint64_t>(entry + 40), load<uint64_t>(entry + 48), {}};
    if (length == 0 || length == nameSize)
      return corrupt("section ", i, " has no valid name");
    if (section.offset % containerAlignment != 0)
      return corrupt("section '", section.name, "' is not aligned to ", containerAlignment);
    if (section.offset > bytes.size() || section.size > bytes.size() - section.offset)
      return corrupt("section '", section.name, "' lies outside the file");
    if (section.offset < headerSize + tableBytes.size())
      return corrupt("section '", section.name, "' overlaps the header");
    if (container.has(section.name))
      return corrupt("section '", section.name, "' occurs twice");
    std::memcpy(section.digest.data(), entry + 56, 32);
    container.table.push_back(std::move(section));
  }
  container.verified.resize(count);
  // No byte is outside of the checksums: what lies between the sections is zero.
  std::vector<std::pair<uint64_t, uint64_t>> used = {{0, headerSize + tableBytes.size()}};
  for (const Section &section : container.table)
    used.push_back({section.offset, section.offset + section.size});
  std::sort(used.begin(), used.end());
  uint64_t end = 0;
  auto isZero = [&](uint64_t from, uint64_t to) {
    return std::all_of(p + from, p + to, [](std::byte b) { return b == std::byte(0); });
  };
  for (auto [from, to] : used) {
    if (from > end && !isZero(end, from))
      return corrupt("bytes between the sections are not zero; the file is damaged");
    end = std::max(end, to);
  }
  if (!isZero(end, bytes.size()))
    return corrupt("bytes after the last section are not zero; the file is damaged");
  if (container.containerKind == ContainerKind::InstalledProgram && container.llvm != 0)
    return corrupt("expected no LLVM version in an installed program, but got ", container.llvm);
  return container;
}

bool Container::has(std::string_view section) const {
  return std::any_of(table.begin(), table.end(), [&](const Section &s) { return s.name == section; });
}

Result<std::span<const std::byte>> Container::section(std::string_view wanted) const {
  for (size_t i = 0; i < table.size(); ++i) {
    const Section &s = table[i];
    if (s.name != wanted)
      continue;
    std::span<const std::byte> content = bytes.subspan(s.offset, s.size);
    if (!verified[i]) {
      if (sha256(content) != s.digest)
        return fail(StatusCode::Corrupt, "'", fileName, "': checksum of section '", s.name,
                    "' does not match; the file is damaged");
      verified[i] = true;
    }
    return content;
  }
  return fail(StatusCode::Corrupt, "'", fileName, "': section '", wanted, "' is missing");
}

Result<std::string_view> Container::text(std::string_view wanted) const {
  auto content = section(wanted);
  if (!content.ok())
    return content.status();
  return std::string_view(reinterpret_cast<const char *>(content->data()), content->size());
}

void ContainerWriter::add(std::string name, std::string data) {
  TESSERA_CHECK(!name.empty() && name.size() < nameSize) << "section name '" << name << "'";
  items.push_back({std::move(name), std::move(data), {}});
}

void ContainerWriter::addReference(std::string name, std::span<const std::byte> data) {
  TESSERA_CHECK(!name.empty() && name.size() < nameSize) << "section name '" << name << "'";
  items.push_back({std::move(name), {}, data});
}

static uint64_t alignUp(uint64_t value) {
  return (value + containerAlignment - 1) / containerAlignment * containerAlignment;
}

std::string ContainerWriter::header() const {
  std::string out(headerSize + items.size() * entrySize, '\0');
  std::memcpy(out.data(), magic, sizeof magic);
  store<uint32_t>(out, 8, static_cast<uint32_t>(kind));
  store<uint32_t>(out, 12, containerVersion);
  store<uint32_t>(out, 16, llvmMajor);
  store<uint32_t>(out, 20, static_cast<uint32_t>(items.size()));
  uint64_t end = out.size();
  for (size_t i = 0; i < items.size(); ++i) {
    size_t at = headerSize + i * entrySize;
    std::memcpy(out.data() + at, items[i].name.data(), items[i].name.size());
    uint64_t offset = alignUp(end);
    store<uint64_t>(out, at + 40, offset);
    store<uint64_t>(out, at + 48, items[i].data().size());
    Sha256Digest digest = sha256(items[i].data());
    std::memcpy(out.data() + at + 56, digest.data(), digest.size());
    end = offset + items[i].data().size();
  }
  store<uint64_t>(out, 24, end);
  Sha256Digest digest = sha256(std::as_bytes(std::span(out.data() + headerSize, out.size() - headerSize)));
  std::memcpy(out.data() + 32, digest.data(), digest.size());
  return out;
}

Status ContainerWriter::write(const std::string &path) const {
  auto file = AtomicFile::create(path);
  if (!file.ok())
    return file.status();
  std::string head = header();
  TESSERA_TRY(file->write(std::as_bytes(std::span(head.data(), head.size()))));
  for (const Item &item : items) {
    TESSERA_TRY(file->padTo(containerAlignment));
    TESSERA_TRY(file->write(item.data()));
  }
  return file->commit();
}

std::string ContainerWriter::bytes() const {
  std::string out = header();
  for (const Item &item : items) {
    out.resize(alignUp(out.size()));
    out.append(reinterpret_cast<const char *>(item.data().data()), item.data().size());
  }
  return out;
}

} // namespace tessera
