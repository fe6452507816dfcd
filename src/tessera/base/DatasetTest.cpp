// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Labelled data: each form, and each message.
#include "tessera/base/Dataset.h"
#include "tessera/base/File.h"
#include "tessera/base/Testing.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

using namespace tessera;

// An idx file of bytes with these extents.
static std::string idx(std::vector<uint32_t> shape, const std::string &data, char type = 8) {
  std::string out = {0, 0, type, static_cast<char>(shape.size())};
  for (uint32_t extent : shape)
    for (int shift : {24, 16, 8, 0})
      out += static_cast<char>(extent >> shift & 255);
  return out + data;
}

static std::string gzip(const std::string &content) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(content.size() + 1000, '\0');
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef *>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

namespace {
class Folder : public ::testing::Test {
protected:
  std::string dir = ::testing::TempDir() + "tessera_dataset_" + std::to_string(getpid());
  Folder() { std::filesystem::create_directories(dir); }
  ~Folder() override { std::filesystem::remove_all(dir); }
  void put(const std::string &name, const std::string &content) {
    ASSERT_TRUE(writeFile(dir + "/" + name, std::string_view(content)).ok());
  }
  std::string error(const std::string &spec) {
    auto data = readDataset(spec);
    EXPECT_FALSE(data.ok());
    std::string text = data.status().message();
    for (size_t at; (at = text.find(dir)) != std::string::npos;)
      text.replace(at, dir.size(), "D");
    return text;
  }
};
} // namespace

using DatasetFiles = Folder;

TEST(Idx, PlainAndGzipped) {
  const std::string file = idx({2, 3}, "abcdef");
  for (const std::string &bytes : {file, gzip(file)}) {
    auto array = parseIdx(asBytes(bytes), "f");
    ASSERT_TRUE(array.ok()) << array.status().message();
    EXPECT_EQ(array->shape, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(std::memcmp(array->data.data(), "abcdef", 6), 0);
  }
}

TEST(Idx, SeveralGzipMembersAreOneFile) {
  const std::string large(300000, 'x'), file = idx({300000}, large);
  auto array = parseIdx(asBytes(gzip(file.substr(0, 1000)) + gzip(file.substr(1000))), "f");
  ASSERT_FALSE(parseIdx(asBytes(gzip(file.substr(0, 1000))), "f").ok());
  ASSERT_TRUE(array.ok()) << array.status().message();
  EXPECT_EQ(array->shape[0], 300000);
  EXPECT_EQ(static_cast<char>(array->data.back()), 'x');
}

TEST(Idx, Errors) {
  auto error = [](const std::string &bytes, uint64_t limit = gunzipLimit) {
    auto array = parseIdx(asBytes(bytes), "f", limit);
    EXPECT_FALSE(array.ok());
    return array.status().message();
  };
  EXPECT_EQ(error("hello"), "'f': not an idx file (expected two zero bytes at its start)");
  EXPECT_EQ(error(""), "'f': not an idx file (expected two zero bytes at its start)");
  EXPECT_EQ(error(idx({1}, "abcd", 13)), "'f': expected elements of type 8 (bytes), but got type 13");
  EXPECT_EQ(error(idx({}, "")), "'f': header is cut short or has 0 extents, expected 1 to 4");
  EXPECT_EQ(error(idx({2, 3}, "abcdef").substr(0, 8)),
            "'f': header is cut short or has 2 extents, expected 1 to 4");
  EXPECT_EQ(error(idx({2, 3}, "abcde")), "'f': expected 2x3 bytes of data, but got 5");
  EXPECT_EQ(error(idx({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, "")),
            "'f': expected 4294967295x4294967295x4294967295x4294967295 bytes of data, but got 0");
  const std::string packed = gzip(idx({100000}, std::string(100000, 'a')));
  EXPECT_EQ(error(packed.substr(0, packed.size() / 2)),
            "'f': cannot be unpacked; the file is damaged or cut short");
  EXPECT_EQ(error(packed + "rubbish"), "'f': cannot be unpacked; the file is damaged or cut short");
  EXPECT_EQ(error(packed, 1000), "'f': unpacks to more than 1000 B");
}

TEST(Cifar10, ReadsAndRefuses) {
  std::string file;
  for (char label : {3, 9})
    file += label + std::string(3072, static_cast<char>(label + 1));
  auto data = parseCifar10(asBytes(file), "f");
  ASSERT_TRUE(data.ok());
  EXPECT_EQ(data->x.shape, (std::vector<int64_t>{2, 3, 32, 32}));
  EXPECT_EQ(data->label, (std::vector<int64_t>{3, 9}));
  EXPECT_EQ(static_cast<int>(data->x.data[3072]), 10);
  EXPECT_EQ(parseCifar10(asBytes(file.substr(1)), "f").status().message(),
            "'f': expected a multiple of 3073 bytes (a label and 32x32x3 pixels each), but got 6145");
  file[3073] = 10;
  EXPECT_EQ(parseCifar10(asBytes(file), "f").status().message(),
            "'f': expected labels 0 to 9, but image 1 has 10");
}

TEST(Labelled, Errors) {
  std::byte *memory;
  NpyArray x = NpyArray::allocate(NpyType::F4, {2, 3}, &memory);
  NpyArray labels = NpyArray::allocate(NpyType::I4, {2}, &memory);
  auto error = [](const NpzEntries &entries) { return parseLabelled(entries, "f").status().message(); };
  EXPECT_EQ(error({{"x", x}}), "'f': expected arrays 'x' (samples) and 'y' (classes), but 'y' is missing; "
                               "write them with numpy.savez(file, x=…, y=…)");
  EXPECT_EQ(error({{"x", x}, {"y", x}}),
            "'f': expected 'y' to be integers of rank 1, but got f32 of shape 2x3");
  NpyArray three = NpyArray::allocate(NpyType::U8, {3}, &memory);
  EXPECT_EQ(error({{"x", x}, {"y", three}}),
            "'f': expected as many samples as labels, but 'x' is f32 of shape 2x3 and 'y' u64 of shape 3");
  EXPECT_TRUE(parseLabelled({{"y", labels}, {"z", x}, {"x", x}}, "f").ok());
  for (NpyType type : {NpyType::I1, NpyType::U1, NpyType::I2, NpyType::U2, NpyType::I4, NpyType::U4,
                       NpyType::I8, NpyType::U8}) {
    NpyArray y = NpyArray::allocate(type, {2}, &memory);
    memory[npySize(type)] = std::byte(7);
    auto data = parseLabelled({{"x", x}, {"y", y}}, "f");
    ASSERT_TRUE(data.ok()) << data.status().message();
    EXPECT_EQ(data->label, (std::vector<int64_t>{0, 7}));
    if (npySize(type) < 4)
      continue;
    memory[2 * npySize(type) - 1] = std::byte(0xff);
    EXPECT_EQ(error({{"x", x}, {"y", y}}), "'f': y[1] is no class");
  }
}

TEST_F(DatasetFiles, MnistFromAFolder) {
  put("t10k-images-idx3-ubyte.gz", gzip(idx({2, 2, 2}, "abcdefgh")));
  put("t10k-labels-idx1-ubyte", idx({2}, std::string("\1\2")));
  auto data = readDataset("mnist:" + dir);
  ASSERT_TRUE(data.ok()) << data.status().message();
  EXPECT_EQ(data->x.shape, (std::vector<int64_t>{2, 1, 2, 2}));
  EXPECT_EQ(data->label, (std::vector<int64_t>{1, 2}));
  put("t10k-labels-idx1-ubyte", idx({3}, std::string("\1\2\3")));
  EXPECT_EQ(error("mnist:" + dir), "'D': expected as many images as labels, but got 2x2x2 and 3");
  put("t10k-labels-idx1-ubyte", idx({2}, std::string("\1\x0b")));
  EXPECT_EQ(error("mnist:" + dir), "'D/t10k-labels-idx1-ubyte': expected labels 0 to 9, but got 11");
  put("t10k-images-idx3-ubyte.gz", idx({0, 2, 2}, ""));
  put("t10k-labels-idx1-ubyte", idx({0}, ""));
  EXPECT_EQ(error("mnist:" + dir), "'D': holds no images");
}

TEST_F(DatasetFiles, FoldersByOptionAndEnvironment) {
  std::filesystem::create_directories(dir + "/cifar10");
  put("cifar10/test_batch.bin", '\4' + std::string(3072, 'p'));
  EXPECT_TRUE(readDataset("cifar10:" + dir + "/cifar10").ok());
  EXPECT_TRUE(readDataset("cifar10:" + dir + "/cifar10/test_batch.bin").ok());
  unsetenv("TESSERA_DATA");
  EXPECT_EQ(error("cifar10"), "data: 'cifar10' names no folder; give cifar10:DIR or set TESSERA_DATA to the "
                              "folder that holds 'cifar10'");
  setenv("TESSERA_DATA", dir.c_str(), 1);
  EXPECT_TRUE(readDataset("cifar10").ok());
  unsetenv("TESSERA_DATA");
  EXPECT_NE(error("mnist:" + dir + "/none").find("cannot open 'D/none/t10k-images-idx3-ubyte.gz'"),
            std::string::npos);
  EXPECT_EQ(error("svhn:x"), "data: expected mnist:DIR, cifar10:DIR or a .npz file, but got 'svhn:x'");
  EXPECT_NE(error("none.npz").find("cannot open 'none.npz'"), std::string::npos);
}
