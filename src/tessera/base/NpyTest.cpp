// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// .npy and .npz: round trips, other orders, and each message.
#include "tessera/base/Npy.h"
#include "tessera/base/File.h"
#include "tessera/base/Testing.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <iterator>
#include <unistd.h>

using namespace tessera;

// A .npy file with this header dict and data.
static std::string npy(std::string dict, std::string data, char version = 1) {
  dict += '\n';
  std::string out("\x93NUMPY", 6);
  out += version;
  out += '\0';
  out += static_cast<char>(dict.size() & 255);
  out += static_cast<char>(dict.size() >> 8);
  if (version > 1)
    out += std::string(2, '\0');
  return out + dict + data;
}

static std::string npyError(const std::string &file) {
  auto array = parseNpy(asBytes(file), "f.npy");
  EXPECT_FALSE(array.ok());
  return array.status().message();
}

TEST(Npy, RoundTripOfAllTypes) {
  std::string path = ::testing::TempDir() + "tessera_roundtrip.npy";
  for (int t = 0; t <= static_cast<int>(NpyType::F8); ++t)
    for (std::vector<int64_t> shape : {std::vector<int64_t>{}, {3}, {2, 3}, {0, 4}, {1, 1, 2}}) {
      std::byte *memory;
      NpyArray array = NpyArray::allocate(static_cast<NpyType>(t), shape, &memory);
      for (size_t i = 0; i < array.data.size(); ++i)
        memory[i] = static_cast<std::byte>(i * 7);
      ASSERT_TRUE(writeNpy(path, array).ok());
      auto read = readNpy(path);
      ASSERT_TRUE(read.ok()) << read.status().message();
      EXPECT_EQ(read->type, array.type);
      EXPECT_EQ(read->shape, shape);
      ASSERT_EQ(read->data.size(), array.data.size());
      EXPECT_TRUE(array.data.empty() ||
                  !std::memcmp(read->data.data(), array.data.data(), array.data.size()));
    }
  unlink(path.c_str());
}

TEST(Npy, StringsAreCodePointsOfOneWidth) {
  const std::string path = testing::TempDir() + "/words.npy";
  const std::vector<std::string> words = {"a", "gr\xc3\xb6\xc3\x9f", "\xf0\x9f\x98\x80!", "\xff"};
  const std::vector<int64_t> shape = {2, 2}, places = {1, 0, 2, 3};
  ASSERT_TRUE(writeNpyWords(path, shape, places, words).ok());
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  EXPECT_NE(bytes.find("'descr': '<U4'"), std::string::npos);
  ASSERT_GE(bytes.size(), 64U);
  std::vector<uint32_t> points(16);
  std::memcpy(points.data(), bytes.data() + bytes.size() - 64, 64);
  EXPECT_EQ(points,
            (std::vector<uint32_t>{'g', 'r', 0xf6, 0xdf, 'a', 0, 0, 0, 0x1f600, '!', 0, 0, 0xfffd, 0, 0, 0}));
  EXPECT_EQ(writeNpyWords(path, shape, std::vector<int64_t>{0, 1, 2, 4}, words).message(),
            "an element stands for string 4 of 4");
}

TEST(Npy, FortranOrderAndBigEndianAreConverted) {
  std::string data;
  for (char c : {1, 4, 2, 5, 3, 6}) {
    data += '\0';
    data += c;
  }
  auto array =
      parseNpy(asBytes(npy("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }", data)), "f");
  ASSERT_TRUE(array.ok()) << array.status().message();
  const int16_t expected[] = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(std::memcmp(array->data.data(), expected, sizeof expected), 0);
}

TEST(Npy, LaterVersionsAndOldLongsAreRead) {
  EXPECT_TRUE(
      parseNpy(asBytes(npy("{'shape': (1L,), 'fortran_order': False, 'descr': '|u1'}", "x", 2)), "f").ok());
  EXPECT_TRUE(
      parseNpy(asBytes(npy("{'shape': (), 'fortran_order': False, 'descr': '|b1'}", "x", 3)), "f").ok());
}

TEST(Npy, Errors) {
  EXPECT_EQ(npyError("hello, this is text"), "'f.npy': not a .npy file (expected '\\x93NUMPY' at its start)");
  EXPECT_EQ(npyError(npy("{}", "", 9)), "'f.npy': .npy version 9 is not supported; versions 1 to 3 are");
  EXPECT_EQ(npyError(npy("{'descr': '<f4'", "")),
            "'f.npy': malformed header; write the array again with numpy.save");
  EXPECT_EQ(
      npyError(npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "")),
      "'f.npy': element type '|O' is not supported; convert the array to a bool, integer or float type");
  EXPECT_EQ(npyError(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", "1234")),
            "'f.npy': expected 12 bytes of data for f32 of shape 3, but got 4");
  EXPECT_EQ(npyError(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}", "")),
            "'f.npy': shape 4611686018427387904x4 is too large");
  std::string cut = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", "").substr(0, 30);
  EXPECT_EQ(npyError(cut), "'f.npy': header is truncated");
  EXPECT_NE(readNpy("/nonexistent/x.npy").status().message().find("cannot open '/nonexistent/x.npy'"),
            std::string::npos);
}

TEST(Npz, RoundTripStoredAndDeflated) {
  std::string path = ::testing::TempDir() + "tessera_roundtrip.npz";
  for (bool compress : {false, true}) {
    NpzEntries entries;
    for (const char *name : {"x", "label"}) {
      std::byte *memory;
      NpyArray array = NpyArray::allocate(NpyType::I4, {100, 3}, &memory);
      for (size_t i = 0; i < 1200; ++i)
        memory[i] = static_cast<std::byte>(i / 5);
      entries.emplace_back(name, array);
    }
    ASSERT_TRUE(writeNpz(path, entries, compress).ok());
    auto read = readNpz(path);
    ASSERT_TRUE(read.ok()) << read.status().message();
    ASSERT_EQ(read->size(), 2u);
    EXPECT_EQ((*read)[1].first, "label");
    EXPECT_EQ(std::memcmp((*read)[1].second.data.data(), entries[1].second.data.data(), 1200), 0);
    // A flipped bit in the data is found by the checksum or the unpacker.
    auto file = MappedFile::open(path);
    std::string bytes(reinterpret_cast<const char *>((*file)->bytes().data()), (*file)->bytes().size());
    bytes[200] ^= 1;
    EXPECT_FALSE(parseNpz(asBytes(bytes), "x.npz").ok());
    EXPECT_EQ(parseNpz(asBytes(bytes.substr(0, 50)), "x.npz").status().message(),
              "'x.npz': not a .npz file (no zip directory found)");
  }
  unlink(path.c_str());
}

// What is wrong in the directory of a zip file: its entry, with sizes of 64 bits behind the name, and the
// record at the end.
TEST(Npz, Errors) {
  std::string path = ::testing::TempDir() + "tessera_errors.npz";
  std::byte *memory = nullptr;
  NpzEntries entries = {{"x", NpyArray::allocate(NpyType::I4, {4}, &memory)}};
  auto refused = [&](bool compress, const std::function<void(std::string &, size_t, size_t)> &change,
                     const std::string &message) {
    ASSERT_TRUE(writeNpz(path, entries, compress).ok());
    auto file = MappedFile::open(path);
    std::string bytes(reinterpret_cast<const char *>((*file)->bytes().data()), (*file)->bytes().size());
    change(bytes, bytes.find("PK\1\2"), bytes.find("PK\6\6"));
    EXPECT_EQ(parseNpz(asBytes(bytes), "x.npz").status().message(), "'x.npz': " + message);
  };
  refused(
      false, [](std::string &b, size_t, size_t end) { b[end + 33] = 100; },
      "zip directory of 25601 files does not fit into the file");
  refused(false, [](std::string &b, size_t entry, size_t) { b[entry] = 'Q'; }, "zip directory is damaged");
  refused(false, [](std::string &b, size_t entry, size_t) { b[entry + 8] |= 1; }, "'x.npy' is encrypted");
  refused(
      true, [](std::string &b, size_t entry, size_t) { b[entry + 57] = 127; },
      "'x.npy' claims to unpack to 8323216 bytes");
  refused(
      false, [](std::string &b, size_t entry, size_t) { b[entry + 55] += 1; },
      "'x.npy' has two different sizes");
  refused(
      false, [](std::string &b, size_t entry, size_t) { b[entry + 10] = 99; },
      "'x.npy' uses zip method 99; write it with numpy.savez or savez_compressed");
  unlink(path.c_str());
}
