// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The readers of labelled data, and where the data is looked for.
#include "tessera/base/Dataset.h"
#include "tessera/base/Diag.h"
#include "tessera/base/File.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>
#ifdef TESSERA_ZLIB
#include <zlib.h>
#endif

namespace tessera {

static bool isGzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte(0x1f) && bytes[1] == std::byte(0x8b);
}

#ifdef TESSERA_ZLIB

Result<NpyArray> gunzip(std::span<const std::byte> bytes, std::string_view name, uint64_t limit) {
  auto corrupt = [&](const auto &...parts) { return fail(StatusCode::Corrupt, "'", name, "': ", parts...); };
  z_stream stream = {};
  if (inflateInit2(&stream, MAX_WBITS + 16) != Z_OK)
    return fail(StatusCode::OutOfMemory, "'", name, "': zlib cannot start");
  auto out = std::make_shared<std::vector<std::byte>>();
  size_t in = 0;
  int result = Z_OK;
  while (true) {
    if (stream.avail_in == 0) {
      stream.next_in = const_cast<Bytef *>(reinterpret_cast<const Bytef *>(bytes.data() + in));
      stream.avail_in = static_cast<uInt>(std::min<size_t>(bytes.size() - in, 1 << 30));
      in += stream.avail_in;
    }
    size_t done = out->size();
    // Grows with what is really there: the size that a file claims may be a lie.
    size_t room = std::max<size_t>(1 << 16, done / 2);
    out->resize(done + room);
    stream.next_out = reinterpret_cast<Bytef *>(out->data() + done);
    stream.avail_out = static_cast<uInt>(std::min<size_t>(room, 1 << 30));
    const uInt before = stream.avail_out;
    result = inflate(&stream, Z_NO_FLUSH);
    out->resize(done + (before - stream.avail_out));
    if (out->size() > limit) {
      inflateEnd(&stream);
      return corrupt("unpacks to more than ", formatBytes(limit));
    }
    const bool more = stream.avail_in > 0 || in < bytes.size();
    if (result == Z_STREAM_END && !more)
      break;
    if (result == Z_STREAM_END)
      result = inflateReset(&stream); // Another member follows.
    if (result != Z_OK || (!more && stream.avail_out > 0))
      break;
  }
  inflateEnd(&stream);
  if (result != Z_STREAM_END)
    return corrupt("cannot be unpacked; the file is damaged or cut short");
  NpyArray array;
  array.type = NpyType::U1;
  array.shape = {static_cast<int64_t>(out->size())};
  array.data = *out;
  array.keepAlive = out;
  return array;
}

#else

Result<NpyArray> gunzip(std::span<const std::byte>, std::string_view name, uint64_t) {
  return fail(StatusCode::Unsupported, "'", name,
              "': this tessera was built without zlib; unpack the file with gunzip");
}

#endif

static uint32_t bigEndian(std::span<const std::byte> bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i)
    value = value << 8 | static_cast<uint32_t>(bytes[at + i]);
  return value;
}

Result<NpyArray> parseIdx(std::span<const std::byte> bytes, std::string_view name, uint64_t limit) {
  auto corrupt = [&](const auto &...parts) { return fail(StatusCode::Corrupt, "'", name, "': ", parts...); };
  NpyArray array;
  if (isGzip(bytes)) {
    TESSERA_ASSIGN(array, gunzip(bytes, name, limit));
    bytes = array.data;
  }
  if (bytes.size() < 4 || bytes[0] != std::byte(0) || bytes[1] != std::byte(0))
    return corrupt("not an idx file (expected two zero bytes at its start)");
  if (bytes[2] != std::byte(8))
    return fail(StatusCode::Unsupported, "'", name, "': expected elements of type 8 (bytes), but got type ",
                static_cast<int>(bytes[2]));
  const size_t rank = static_cast<size_t>(bytes[3]);
  if (rank == 0 || rank > 4 || bytes.size() - 4 < 4 * rank)
    return corrupt("header is cut short or has ", rank, " extents, expected 1 to 4");
  array.type = NpyType::U1;
  array.shape.clear();
  uint64_t count = 1;
  for (size_t d = 0; d < rank; ++d) {
    const uint64_t extent = bigEndian(bytes, 4 + 4 * d);
    array.shape.push_back(static_cast<int64_t>(extent));
    // Both factors are below 2^32 as long as the product fits the file.
    count = count > bytes.size() ? count : count * extent;
  }
  const size_t there = bytes.size() - 4 - 4 * rank;
  if (count != there)
    return corrupt("expected ", formatShape(array.shape), " bytes of data, but got ", there);
  array.data = bytes.subspan(4 + 4 * rank);
  return array;
}

static constexpr int64_t cifarPixels = 3 * 32 * 32;

Result<Dataset> parseCifar10(std::span<const std::byte> bytes, std::string_view name) {
  constexpr size_t record = 1 + cifarPixels;
  if (bytes.empty() || bytes.size() % record != 0)
    return fail(StatusCode::Corrupt, "'", name, "': expected a multiple of ", record,
                " bytes (a label and 32x32x3 pixels each), but got ", bytes.size());
  const size_t count = bytes.size() / record;
  Dataset data;
  data.name = "cifar10";
  std::byte *pixels = nullptr;
  data.x = NpyArray::allocate(NpyType::U1, {static_cast<int64_t>(count), 3, 32, 32}, &pixels);
  for (size_t i = 0; i < count; ++i) {
    const std::byte *from = bytes.data() + i * record;
    if (static_cast<int>(*from) > 9)
      return fail(StatusCode::Corrupt, "'", name, "': expected labels 0 to 9, but image ", i, " has ",
                  static_cast<int>(*from));
    data.label.push_back(static_cast<int64_t>(*from));
    std::memcpy(pixels + i * cifarPixels, from + 1, cifarPixels);
  }
  return data;
}

// The i-th number of an array of integers; -1 for what is no class.
static int64_t labelAt(const NpyArray &array, size_t i) {
  const std::byte *from = array.data.data() + i * npySize(array.type);
  auto read = [&]<typename T>(T value) {
    std::memcpy(&value, from, sizeof value);
    return std::in_range<int32_t>(value) ? static_cast<int64_t>(value) : int64_t(-1);
  };
  switch (array.type) {
  case NpyType::I1:
    return read(int8_t());
  case NpyType::U1:
    return read(uint8_t());
  case NpyType::I2:
    return read(int16_t());
  case NpyType::U2:
    return read(uint16_t());
  case NpyType::I4:
    return read(int32_t());
  case NpyType::U4:
    return read(uint32_t());
  case NpyType::I8:
    return read(int64_t());
  default:
    return read(uint64_t());
  }
}

Result<Dataset> parseLabelled(const NpzEntries &entries, std::string_view name) {
  const NpyArray *x = nullptr, *y = nullptr;
  for (const auto &[key, array] : entries) {
    if (key == "x")
      x = &array;
    if (key == "y")
      y = &array;
  }
  if (!x || !y)
    return fail(StatusCode::InvalidArgument, "'", name,
                "': expected arrays 'x' (samples) and 'y' (classes), but '", x ? "y" : "x",
                "' is missing; write them with numpy.savez(file, x=…, y=…)");
  const bool integers =
      y->type != NpyType::B1 && y->type != NpyType::F2 && y->type != NpyType::F4 && y->type != NpyType::F8;
  if (!integers || y->shape.size() != 1)
    return fail(StatusCode::InvalidArgument, "'", name, "': expected 'y' to be integers of rank 1, but got ",
                y->describe());
  if (x->shape.empty() || x->shape[0] != y->shape[0])
    return fail(StatusCode::InvalidArgument, "'", name, "': expected as many samples as labels, but 'x' is ",
                x->describe(), " and 'y' ", y->describe());
  Dataset data;
  data.name = std::string(name);
  data.x = *x;
  for (int64_t i = 0; i < y->shape[0]; ++i) {
    data.label.push_back(labelAt(*y, static_cast<size_t>(i)));
    if (data.label.back() < 0)
      return fail(StatusCode::InvalidArgument, "'", name, "': y[", i, "] is no class");
  }
  return data;
}

// The first of these that exists in `folder`; the first when none does, for the message.
static std::string pick(const std::string &folder, std::initializer_list<const char *> names) {
  for (const char *name : names)
    if (fileExists(folder + "/" + name))
      return folder + "/" + name;
  return folder + "/" + *names.begin();
}

static Result<Dataset> readMnist(const std::string &folder) {
  auto read = [&](const std::string &path) -> Result<NpyArray> {
    auto file = MappedFile::open(path);
    if (!file.ok())
      return file.status();
    auto array = parseIdx((*file)->bytes(), path);
    if (array.ok() && !array->keepAlive)
      array->keepAlive = *file;
    return array;
  };
  const std::string imagePath =
      pick(folder, {"t10k-images-idx3-ubyte.gz", "t10k-images-idx3-ubyte", "t10k-images.idx3-ubyte"});
  const std::string labelPath =
      pick(folder, {"t10k-labels-idx1-ubyte.gz", "t10k-labels-idx1-ubyte", "t10k-labels.idx1-ubyte"});
  TESSERA_ASSIGN(NpyArray images, read(imagePath));
  TESSERA_ASSIGN(NpyArray labels, read(labelPath));
  if (images.shape.size() != 3 || labels.shape.size() != 1 || images.shape[0] != labels.shape[0])
    return fail(StatusCode::Corrupt, "'", folder, "': expected as many images as labels, but got ",
                formatShape(images.shape), " and ", formatShape(labels.shape));
  Dataset data;
  data.name = "mnist";
  for (std::byte label : labels.data) {
    data.label.push_back(static_cast<int64_t>(label));
    if (data.label.back() > 9)
      return fail(StatusCode::Corrupt, "'", labelPath, "': expected labels 0 to 9, but got ",
                  data.label.back());
  }
  images.shape.insert(images.shape.begin() + 1, 1);
  data.x = images;
  return data;
}

static Result<Dataset> readCifar10(const std::string &place) {
  const std::string path = place.ends_with(".bin") ? place : place + "/test_batch.bin";
  auto file = MappedFile::open(path);
  if (!file.ok())
    return file.status();
  return parseCifar10((*file)->bytes(), path);
}

Result<Dataset> readDataset(const std::string &spec) {
  if (spec.ends_with(".npz")) {
    TESSERA_ASSIGN(NpzEntries entries, readNpz(spec));
    return parseLabelled(entries, spec);
  }
  const std::string kind = spec.substr(0, spec.find(':'));
  if (kind != "mnist" && kind != "cifar10")
    return fail(StatusCode::InvalidArgument,
                "data: expected mnist:DIR, cifar10:DIR or a .npz file, but got '", spec, "'");
  std::string folder = kind.size() < spec.size() ? spec.substr(kind.size() + 1) : "";
  if (folder.empty()) {
    const char *all = std::getenv("TESSERA_DATA");
    if (!all || !*all)
      return fail(StatusCode::InvalidArgument, "data: '", spec, "' names no folder; give ", kind,
                  ":DIR or set TESSERA_DATA to the folder that holds '", kind, "'");
    folder = std::string(all) + "/" + kind;
  }
  auto data = kind == "mnist" ? readMnist(folder) : readCifar10(folder);
  if (data.ok() && data->size() == 0)
    return fail(StatusCode::Corrupt, "'", folder, "': holds no images");
  return data;
}

} // namespace tessera
