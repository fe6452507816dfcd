// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The container: round trips, and each kind of damage by its message.
#include "tessera/base/Container.h"
#include "tessera/base/File.h"
#include "tessera/base/Sha256.h"
#include "tessera/base/Testing.h"
#include "tessera/base/Trust.h"

#include <cstring>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace tessera;

static std::string sample() {
  ContainerWriter writer(ContainerKind::PortableObject, 22);
  writer.add("ir", std::string(5000, 'i'));
  writer.add("meta", "{}");
  return writer.bytes();
}

// Makes the table's checksum right again after it was changed.
static void resign(std::string &file) {
  auto digest = sha256(asBytes(file).subspan(64, 2 * 96));
  std::memcpy(file.data() + 32, digest.data(), 32);
}

static std::string containerError(const std::string &file) {
  auto container = Container::parse(asBytes(file), "a.tsr");
  EXPECT_FALSE(container.ok());
  return container.status().message();
}

TEST(Container, RoundTrip) {
  std::string path = ::testing::TempDir() + "tessera_container.tsr";
  ContainerWriter writer(ContainerKind::InstalledProgram);
  std::string big(10000, 'b');
  writer.add("plan", "{\"version\": 1}");
  writer.addReference("code", asBytes(big));
  ASSERT_TRUE(writer.write(path).ok());
  auto container = Container::open(path);
  ASSERT_TRUE(container.ok()) << container.status().message();
  EXPECT_EQ(container->kind(), ContainerKind::InstalledProgram);
  EXPECT_EQ(*container->text("plan"), "{\"version\": 1}");
  EXPECT_EQ(container->text("code")->size(), 10000u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(container->section("code")->data()) % 4096, 0u);
  EXPECT_EQ(container->section("none").status().message(), "'" + path + "': section 'none' is missing");
  auto again = Container::parse(asBytes(writer.bytes()), "again");
  EXPECT_TRUE(again.ok());
  unlink(path.c_str());
}

TEST(Container, Errors) {
  std::string good = sample();
  EXPECT_EQ(Container::parse(asBytes(good), "a.tsr")->section("code").status().message(),
            "'a.tsr': section 'code' is missing");
  ASSERT_TRUE(Container::parse(asBytes(good), "a.tsr").ok());
  EXPECT_EQ(containerError("ELF"),
            "'a.tsr': not a Tessera file (expected the magic number 'TESSERA' at its start)");
  EXPECT_EQ(containerError(good.substr(0, 20)),
            "'a.tsr': file is truncated: expected at least 64 bytes, but got 20");
  EXPECT_EQ(containerError(good.substr(0, 6000)),
            "'a.tsr': file is truncated: expected 12290 bytes, but got 6000");
  EXPECT_EQ(containerError(good + "x"), "'a.tsr': file is too long: expected 12290 bytes, but got 12291");
  std::string bad = good;
  bad[12] = 9;
  EXPECT_EQ(
      containerError(bad),
      "'a.tsr': container version 9 is not supported; this tessera reads version 1; use a newer tessera");
  bad = good, bad[8] = 7;
  EXPECT_EQ(containerError(bad), "'a.tsr': expected kind 1 (.tsr) or 2 (.tsx), but got 7");
  bad = good, bad[21] = 1;
  EXPECT_EQ(containerError(bad), "'a.tsr': table of 258 sections does not fit into the file");
  bad = good, bad[70] = 'x';
  EXPECT_EQ(containerError(bad),
            "'a.tsr': checksum of the section table does not match; the file is damaged");
  bad = good, bad[64] = 0, resign(bad);
  EXPECT_EQ(containerError(bad), "'a.tsr': section 0 has no valid name");
  bad = good, bad[64 + 40] = 1, resign(bad);
  EXPECT_EQ(containerError(bad), "'a.tsr': section 'ir' is not aligned to 4096");
  bad = good, bad[64 + 44] = 1, resign(bad);
  EXPECT_EQ(containerError(bad), "'a.tsr': section 'ir' lies outside the file");
  bad = good, bad[64 + 41] = 0, resign(bad);
  EXPECT_EQ(containerError(bad), "'a.tsr': section 'ir' overlaps the header");
  bad = good, std::memcpy(bad.data() + 64 + 96, "ir\0\0", 4), resign(bad);
  EXPECT_EQ(containerError(bad), "'a.tsr': section 'ir' occurs twice");
  bad = good, bad[4000] = 'x';
  EXPECT_EQ(containerError(bad), "'a.tsr': bytes between the sections are not zero; the file is damaged");
  bad = good + "x", bad[24] = 3;
  EXPECT_EQ(containerError(bad), "'a.tsr': bytes after the last section are not zero; the file is damaged");
  bad = good, bad[8] = 2;
  EXPECT_EQ(containerError(bad), "'a.tsr': expected no LLVM version in an installed program, but got 22");
  bad = good, bad[4096] = 'x';
  auto container = Container::parse(asBytes(bad), "a.tsr");
  ASSERT_TRUE(container.ok());
  EXPECT_EQ(container->section("ir").status().message(),
            "'a.tsr': checksum of section 'ir' does not match; the file is damaged");
  EXPECT_TRUE(container->section("meta").ok());
}

TEST(Container, SignaturesOfAnotherLength) {
  std::string keys = ::testing::TempDir() + "tessera_keys";
  ASSERT_TRUE(writeFile(keys, std::string_view("tessera-public-key " + std::string(64, '0') + "\n")).ok());
  ContainerWriter writer(ContainerKind::PortableObject, 22);
  writer.add(signatureSection, "short");
  std::string bytes = writer.bytes();
  setenv("TESSERA_TRUSTED_KEYS", keys.c_str(), 1);
  std::string message = checkTrust(*Container::parse(asBytes(bytes), "a.tsr")).message();
  unsetenv("TESSERA_TRUSTED_KEYS");
  unlink(keys.c_str());
  if (message.find("libsodium") != std::string::npos)
    GTEST_SKIP() << message;
  EXPECT_EQ(message, "'a.tsr' has a damaged signature");
}

TEST(Sha256, KnownAnswers) {
  EXPECT_EQ(toHex(sha256({})), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(toHex(sha256(asBytes("abc"))),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(toHex(sha256(asBytes(std::string(1000000, 'a')))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesAndImplementationsAgree) {
  std::string data(1000, '\0');
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<char>(i * 31);
  for (size_t n = 0; n < data.size(); n += 7) {
    Sha256 hash;
    hash.update(asBytes(data).subspan(0, n));
    hash.update(asBytes(data).subspan(n));
    ASSERT_EQ(hash.finish(), sha256(asBytes(data)));
  }
  // One padded block of "abc" through the portable function alone.
  uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  uint8_t block[64] = {'a', 'b', 'c', 0x80};
  block[63] = 24;
  detail::sha256BlocksPortable(state, block, 1);
  EXPECT_EQ(state[0], 0xba7816bfu);
  EXPECT_EQ(state[7], 0xf20015adu);
}
