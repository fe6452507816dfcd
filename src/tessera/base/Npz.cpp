// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `.npz`: a zip archive of `.npy` files, read through its central directory, with
// zip64 and the methods stored and deflate; checksums are verified. Without zlib, each
// function says so.
#include "tessera/base/File.h"
#include "tessera/base/Npy.h"

#ifndef TESSERA_ZLIB

namespace tessera {

static Status needsZlib(std::string_view name) {
  return fail(StatusCode::Unsupported, "'", name,
              "': this tessera was built without zlib and knows no .npz; use .npy files");
}

Result<NpzEntries> parseNpz(std::span<const std::byte>, std::string_view name, uint64_t) {
  return needsZlib(name);
}
Result<NpzEntries> readNpz(const std::string &path) { return needsZlib(path); }
Status writeNpz(const std::string &path, const NpzEntries &, bool) { return needsZlib(path); }

} // namespace tessera

#else

#include <algorithm>
#include <cstring>
#include <zlib.h>

namespace tessera {

template <typename T> static T get(std::span<const std::byte> bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

namespace {
struct ZipEntry {
  std::string name;
  uint16_t flags = 0, method = 0;
  uint32_t crc = 0;
  uint64_t packed = 0, unpacked = 0, offset = 0;
};
} // namespace

// Where the central directory lies: from the end record, or its zip64 form.
static bool findDirectory(std::span<const std::byte> bytes, uint64_t &offset, uint64_t &count) {
  if (bytes.size() < 22)
    return false;
  size_t lowest = bytes.size() > 65557 ? bytes.size() - 65557 : 0;
  for (size_t at = bytes.size() - 22;; --at) {
    if (get<uint32_t>(bytes, at) == 0x06054b50) {
      count = get<uint16_t>(bytes, at + 10);
      offset = get<uint32_t>(bytes, at + 16);
      if ((count == 0xffff || offset == 0xffffffff) && at >= 20 &&
          get<uint32_t>(bytes, at - 20) == 0x07064b50) {
        uint64_t record = get<uint64_t>(bytes, at - 12);
        if (bytes.size() < 56 || record > bytes.size() - 56 || get<uint32_t>(bytes, record) != 0x06064b50)
          return false;
        count = get<uint64_t>(bytes, record + 32);
        offset = get<uint64_t>(bytes, record + 48);
      }
      return true;
    }
    if (at == lowest)
      return false;
  }
}

static bool readEntry(std::span<const std::byte> bytes, uint64_t &at, ZipEntry &entry) {
  if (at > bytes.size() || bytes.size() - at < 46 || get<uint32_t>(bytes, at) != 0x02014b50)
    return false;
  entry.flags = get<uint16_t>(bytes, at + 8);
  entry.method = get<uint16_t>(bytes, at + 10);
  entry.crc = get<uint32_t>(bytes, at + 16);
  entry.packed = get<uint32_t>(bytes, at + 20);
  entry.unpacked = get<uint32_t>(bytes, at + 24);
  size_t nameLength = get<uint16_t>(bytes, at + 28), extraLength = get<uint16_t>(bytes, at + 30);
  size_t commentLength = get<uint16_t>(bytes, at + 32);
  entry.offset = get<uint32_t>(bytes, at + 42);
  if (nameLength + extraLength + commentLength > bytes.size() - at - 46)
    return false;
  entry.name.assign(reinterpret_cast<const char *>(bytes.data()) + at + 46, nameLength);
  std::span<const std::byte> extra = bytes.subspan(at + 46 + nameLength, extraLength);
  at += 46 + nameLength + extraLength + commentLength;
  while (extra.size() >= 4) {
    size_t id = get<uint16_t>(extra, 0), size = get<uint16_t>(extra, 2);
    if (size > extra.size() - 4)
      return false;
    if (id == 1) {
      // zip64: 8-byte fields stand here for each 4-byte field that is all ones.
      std::span<const std::byte> field = extra.subspan(4, size);
      for (uint64_t *value : {&entry.unpacked, &entry.packed, &entry.offset})
        if (*value == 0xffffffff) {
          if (field.size() < 8)
            return false;
          *value = get<uint64_t>(field, 0);
          field = field.subspan(8);
        }
    }
    extra = extra.subspan(4 + size);
  }
  return true;
}

static bool inflateInto(std::span<const std::byte> packed, std::byte *to, uint64_t size) {
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return false;
  size_t in = 0;
  uint64_t out = 0;
  int result = Z_OK;
  Bytef spare;
  while (result == Z_OK) {
    if (stream.avail_in == 0 && in < packed.size()) {
      stream.next_in = const_cast<Bytef *>(reinterpret_cast<const Bytef *>(packed.data() + in));
      stream.avail_in = static_cast<uInt>(std::min<size_t>(packed.size() - in, 1 << 30));
      in += stream.avail_in;
    }
    uint64_t room = std::min<uint64_t>(size - out, 1 << 30);
    stream.next_out = room ? reinterpret_cast<Bytef *>(to + out) : &spare;
    stream.avail_out = room ? static_cast<uInt>(room) : 1;
    result = inflate(&stream, Z_NO_FLUSH);
    if (!room && stream.avail_out == 0) {
      result = Z_DATA_ERROR; // More data than the directory promised.
      break;
    }
    if (room)
      out += room - stream.avail_out;
  }
  inflateEnd(&stream);
  return result == Z_STREAM_END && out == size;
}

Result<NpzEntries> parseNpz(std::span<const std::byte> bytes, std::string_view name, uint64_t unpackLimit) {
  auto corrupt = [&](const auto &...parts) { return fail(StatusCode::Corrupt, "'", name, "': ", parts...); };
  uint64_t at = 0, count = 0;
  if (!findDirectory(bytes, at, count))
    return corrupt("not a .npz file (no zip directory found)");
  if (count > bytes.size() / 46)
    return corrupt("zip directory of ", count, " files does not fit into the file");
  NpzEntries entries;
  uint64_t unpackedTotal = 0;
  for (uint64_t i = 0; i < count; ++i) {
    ZipEntry entry;
    if (!readEntry(bytes, at, entry))
      return corrupt("zip directory is damaged");
    if (!entry.name.ends_with(".npy"))
      continue;
    if (entry.flags & 1)
      return fail(StatusCode::Unsupported, "'", name, "': '", entry.name, "' is encrypted");
    if (entry.offset > bytes.size() || bytes.size() - entry.offset < 30 ||
        get<uint32_t>(bytes, entry.offset) != 0x04034b50)
      return corrupt("'", entry.name, "' lies outside the file");
    uint64_t start =
        entry.offset + 30 + get<uint16_t>(bytes, entry.offset + 26) + get<uint16_t>(bytes, entry.offset + 28);
    if (start > bytes.size() || entry.packed > bytes.size() - start)
      return corrupt("'", entry.name, "' lies outside the file");
    std::span<const std::byte> packed = bytes.subspan(start, entry.packed);
    // Deflate cannot pack by more than 1:1032, so a larger claim is a lie.
    if (entry.unpacked > unpackLimit - unpackedTotal ||
        (entry.method == 8 && entry.unpacked / 1040 > entry.packed))
      return corrupt("'", entry.name, "' claims to unpack to ", entry.unpacked, " bytes");
    unpackedTotal += entry.unpacked;
    std::byte *storage = nullptr;
    NpyArray file = NpyArray::allocate(NpyType::U1, {}, &storage);
    if (entry.method == 0) {
      if (entry.packed != entry.unpacked)
        return corrupt("'", entry.name, "' has two different sizes");
      file = NpyArray::allocate(NpyType::U1, {static_cast<int64_t>(entry.packed)}, &storage);
      if (!packed.empty())
        std::memcpy(storage, packed.data(), packed.size());
    } else if (entry.method == 8) {
      file = NpyArray::allocate(NpyType::U1, {static_cast<int64_t>(entry.unpacked)}, &storage);
      if (!inflateInto(packed, storage, entry.unpacked))
        return corrupt("'", entry.name, "' cannot be unpacked; the file is damaged");
    } else {
      return fail(StatusCode::Unsupported, "'", name, "': '", entry.name, "' uses zip method ", entry.method,
                  "; write it with numpy.savez or savez_compressed");
    }
    uLong crc = crc32(0, nullptr, 0);
    for (size_t done = 0; done < file.data.size();) {
      size_t step = std::min<size_t>(file.data.size() - done, 1 << 30);
      crc = crc32(crc, reinterpret_cast<const Bytef *>(file.data.data() + done), static_cast<uInt>(step));
      done += step;
    }
    if (crc != entry.crc)
      return corrupt("checksum of '", entry.name, "' does not match; the file is damaged");
    auto array = parseNpy(file.data, concat(name, ":", entry.name), file.keepAlive);
    if (!array.ok())
      return array.status();
    entries.emplace_back(entry.name.substr(0, entry.name.size() - 4), array.take());
  }
  return entries;
}

Result<NpzEntries> readNpz(const std::string &path) {
  auto file = MappedFile::open(path);
  if (!file.ok())
    return file.status();
  return parseNpz((*file)->bytes(), path);
}

template <typename T> static void put(std::string &out, T value) {
  out.append(reinterpret_cast<const char *>(&value), sizeof value);
}

static Status deflateBytes(const std::string &content, std::string &packed) {
  z_stream stream = {};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return fail(StatusCode::OutOfMemory, "zlib cannot start");
  size_t in = 0;
  std::vector<char> block(1 << 18);
  int result = Z_OK;
  while (result != Z_STREAM_END) {
    if (stream.avail_in == 0 && in < content.size()) {
      stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(content.data() + in));
      stream.avail_in = static_cast<uInt>(std::min<size_t>(content.size() - in, 1 << 30));
      in += stream.avail_in;
    }
    stream.next_out = reinterpret_cast<Bytef *>(block.data());
    stream.avail_out = static_cast<uInt>(block.size());
    result = deflate(&stream, in == content.size() ? Z_FINISH : Z_NO_FLUSH);
    packed.append(block.data(), block.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  return Status();
}

Status writeNpz(const std::string &path, const NpzEntries &entries, bool compress) {
  auto file = AtomicFile::create(path);
  if (!file.ok())
    return file.status();
  std::string directory;
  for (const auto &[name, array] : entries) {
    std::string content = npyHeader(array.type, array.shape);
    content.append(reinterpret_cast<const char *>(array.data.data()), array.data.size());
    uLong crc = crc32(0, nullptr, 0);
    for (size_t done = 0; done < content.size();) {
      size_t step = std::min<size_t>(content.size() - done, 1 << 30);
      crc = crc32(crc, reinterpret_cast<const Bytef *>(content.data() + done), static_cast<uInt>(step));
      done += step;
    }
    std::string packed;
    if (compress)
      TESSERA_TRY(deflateBytes(content, packed));
    const std::string &stored = compress ? packed : content;
    std::string member = name + ".npy";
    uint64_t offset = file->offset();
    // Always zip64 with version 4.5: one form for all sizes.
    auto common = [&](std::string &out) {
      put<uint16_t>(out, 45);
      put<uint16_t>(out, 0x800);
      put<uint16_t>(out, compress ? 8 : 0);
      put<uint32_t>(out, 0x00210000); // 1980-01-01: the same bytes for the same content.
      put<uint32_t>(out, static_cast<uint32_t>(crc));
      put<uint32_t>(out, 0xffffffff);
      put<uint32_t>(out, 0xffffffff);
      put<uint16_t>(out, static_cast<uint16_t>(member.size()));
    };
    std::string local;
    put<uint32_t>(local, 0x04034b50);
    common(local);
    put<uint16_t>(local, 20);
    local += member;
    put<uint16_t>(local, 1);
    put<uint16_t>(local, 16);
    put<uint64_t>(local, content.size());
    put<uint64_t>(local, stored.size());
    TESSERA_TRY(file->write(std::as_bytes(std::span(local.data(), local.size()))));
    TESSERA_TRY(file->write(std::as_bytes(std::span(stored.data(), stored.size()))));

    put<uint32_t>(directory, 0x02014b50);
    put<uint16_t>(directory, 45);
    common(directory);
    put<uint16_t>(directory, 28);
    put<uint16_t>(directory, 0);
    put<uint16_t>(directory, 0);
    put<uint16_t>(directory, 0);
    put<uint32_t>(directory, 0);
    put<uint32_t>(directory, 0xffffffff);
    directory += member;
    put<uint16_t>(directory, 1);
    put<uint16_t>(directory, 24);
    put<uint64_t>(directory, content.size());
    put<uint64_t>(directory, stored.size());
    put<uint64_t>(directory, offset);
  }
  uint64_t start = file->offset();
  std::string end = std::move(directory);
  uint64_t directorySize = end.size();
  put<uint32_t>(end, 0x06064b50);
  put<uint64_t>(end, 44);
  put<uint16_t>(end, 45);
  put<uint16_t>(end, 45);
  put<uint32_t>(end, 0);
  put<uint32_t>(end, 0);
  put<uint64_t>(end, entries.size());
  put<uint64_t>(end, entries.size());
  put<uint64_t>(end, directorySize);
  put<uint64_t>(end, start);
  put<uint32_t>(end, 0x07064b50);
  put<uint32_t>(end, 0);
  put<uint64_t>(end, start + directorySize);
  put<uint32_t>(end, 1);
  put<uint32_t>(end, 0x06054b50);
  put<uint16_t>(end, 0);
  put<uint16_t>(end, 0);
  put<uint16_t>(end, static_cast<uint16_t>(std::min<size_t>(entries.size(), 0xffff)));
  put<uint16_t>(end, static_cast<uint16_t>(std::min<size_t>(entries.size(), 0xffff)));
  put<uint32_t>(end, static_cast<uint32_t>(std::min<uint64_t>(directorySize, 0xffffffff)));
  put<uint32_t>(end, 0xffffffff);
  put<uint16_t>(end, 0);
  TESSERA_TRY(file->write(std::as_bytes(std::span(end.data(), end.size()))));
  return file->commit();
}

} // namespace tessera

#endif // TESSERA_ZLIB
