// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The image loader and modules: what is refused, and how.
#include "tessera/runtime/program/Image.h"
#include "tessera/base/CpuInfo.h"
#include "tessera/base/Testing.h"
#include "tessera/runtime/Testing.h"

#include <cstring>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace tessera;
using namespace tessera::testing;

static std::string errorOf(const std::string &image) {
  auto loaded = Image::load(std::as_bytes(std::span(image)));
  EXPECT_FALSE(loaded.ok());
  return loaded.status().message();
}

// Calls change(entry) for each dynamic entry of the image.
template <typename F> static std::string withDynamic(std::string image, F change) {
  Elf64_Ehdr header;
  std::memcpy(&header, image.data(), sizeof header);
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, image.data() + header.e_phoff + static_cast<size_t>(i) * sizeof segment,
                sizeof segment);
    if (segment.p_type != PT_DYNAMIC)
      continue;
    for (uint64_t o = 0; o < segment.p_filesz; o += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry;
      std::memcpy(&entry, image.data() + segment.p_offset + o, sizeof entry);
      change(entry);
      std::memcpy(image.data() + segment.p_offset + o, &entry, sizeof entry);
    }
  }
  return image;
}

TEST(Image, FindsSymbols) {
  std::string bytes = kernelImage();
  auto image = Image::load(std::as_bytes(std::span(bytes)));
  ASSERT_TRUE(image.ok()) << image.status().message();
  EXPECT_NE((*image)->find("k_add1"), nullptr);
  EXPECT_EQ((*image)->find("k_add"), (*image)->find("k_add"));
  EXPECT_EQ((*image)->find("k_"), nullptr);
  EXPECT_EQ((*image)->find(""), nullptr);
  // A table of addresses is defined, but cannot be called.
  EXPECT_EQ((*image)->find("k_table"), nullptr);
}

// A segment's header of the image with `type`, for change(header).
template <typename F> static std::string withSegment(std::string image, uint32_t type, F change) {
  Elf64_Ehdr header;
  std::memcpy(&header, image.data(), sizeof header);
  for (size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    char *at = image.data() + header.e_phoff + i * sizeof segment;
    std::memcpy(&segment, at, sizeof segment);
    if (segment.p_type == type)
      change(segment);
    std::memcpy(at, &segment, sizeof segment);
  }
  return image;
}

TEST(Image, CodeStaysExecutable) {
  const std::string good = kernelImage();
  uint64_t code = 0;
  std::string bad = withSegment(good, PT_LOAD, [&](Elf64_Phdr &segment) {
    if (segment.p_flags & PF_X)
      code = segment.p_vaddr;
  });
  EXPECT_EQ(bad, good);
  bad = withSegment(good, PT_GNU_RELRO, [&](Elf64_Phdr &segment) { segment.p_vaddr = code; });
  EXPECT_EQ(errorOf(bad), "code image: read-only part covers code");
  // Without any executable segment no kernel is found.
  bad = withSegment(good, PT_LOAD, [](Elf64_Phdr &segment) { segment.p_flags &= ~uint32_t(PF_X); });
  auto loaded = Image::load(std::as_bytes(std::span(bad)));
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_EQ((*loaded)->find("k_add1"), nullptr);
}

TEST(Image, Errors) {
  std::string good = kernelImage();
  EXPECT_EQ(errorOf(""), "code image: file is truncated");
  EXPECT_EQ(errorOf(std::string(100, 'x')), "code image: expected a 64-bit little-endian shared ELF image");
  std::string bad = good;
  bad[18] = static_cast<char>(EM_SPARCV9);
  EXPECT_NE(errorOf(bad).find("code image: made for machine 43, but this machine is "), std::string::npos);
  bad = good;
  bad[33] = 0x7f;
  EXPECT_EQ(errorOf(bad), "code image: program headers lie outside the file");
  EXPECT_EQ(errorOf(good.substr(0, 700)), "code image: segment lies outside the file");
  auto rename = [&](int64_t from, int64_t to) {
    return withDynamic(good, [&](Elf64_Dyn &entry) {
      if (entry.d_tag == from)
        entry.d_tag = to;
    });
  };
  EXPECT_EQ(errorOf(rename(DT_STRSZ, DT_NEEDED)),
            "code image: needs another library; expected a fully linked image");
  EXPECT_EQ(errorOf(rename(DT_STRSZ, DT_TEXTREL)),
            "code image: relocates its text; compile with position-independent code");
  EXPECT_EQ(errorOf(rename(DT_STRSZ, DT_INIT)),
            "code image: has initialisers or relocations that are not supported");
  EXPECT_EQ(errorOf(rename(DT_STRSZ, DT_INIT_ARRAYSZ)),
            "code image: has initialisers; kernels must not need any");
  EXPECT_EQ(errorOf(rename(DT_STRSZ, DT_PLTRELSZ)),
            "code image: calls functions through a procedure linkage table; link with -Bsymbolic");
  EXPECT_EQ(errorOf(withDynamic(good,
                                [](Elf64_Dyn &entry) {
                                  if (entry.d_tag == DT_SYMTAB)
                                    entry.d_un.d_ptr = 1 << 29;
                                })),
            "code image: symbol table lies outside the image");
}

TEST(Module, RefusesOtherMachines) {
  PlanBuilder b;
  int x = b.input("x", {-1});
  int n = b.dim(x, 0), out = b.temp({n});
  b.simple("n0", "k_add1", {x}, {out}, {{"value", x}, {"value", out}}, n);
  b.output("out", out);
  EXPECT_TRUE(loadModule(b.plan(), "", {{"triple", hostTriple()}}).ok());
  auto other = loadModule(b.plan(), "", {{"triple", "sparc64-unknown-linux"}});
  EXPECT_NE(other.status().message().find(
                "'test.tsx' was installed for sparc64-unknown-linux, but this machine is "),
            std::string::npos);
  auto features = loadModule(b.plan(), "", {{"features", {"+frobnicate", "quux"}}});
  EXPECT_EQ(features.status().message(),
            "'test.tsx' needs CPU features this machine lacks: frobnicate, quux; run "
            "'tessera install' on this machine");
  EXPECT_FALSE(loadModule(b.plan(), "", {{"features", "+a,+b"}}).ok());
  EXPECT_EQ(loadModule(b.plan(), "", Json::array()).status().message(),
            "'test.tsx': meta: not a JSON object");
  b.nodes[0]["versions"][0]["steps"][0]["kernel"] = "k_table";
  EXPECT_EQ(loadModule(b.plan()).status().message(),
            "'test.tsx': kernel 'k_table' of node 'n0' is not in the code image");
  b.nodes[0]["versions"][0]["steps"][0]["kernel"] = "k_none";
  EXPECT_EQ(loadModule(b.plan()).status().message(),
            "'test.tsx': kernel 'k_none' of node 'n0' is not in the code image");
}

TEST(Module, RefusesPortableObjects) {
  ContainerWriter writer(ContainerKind::PortableObject, 22);
  writer.add("ir", "x");
  std::string bytes = writer.bytes();
  auto container = Container::parse(std::as_bytes(std::span(bytes)), "a.tsr");
  EXPECT_EQ(Module::load(container.take()).status().message(),
            "'a.tsr': expected an installed program (.tsx), but got a portable object (.tsr); run 'tessera "
            "install'");
}

// A system that gives no memory, or none that may be run.
TEST(Image, MemoryThatTheSystemRefuses) {
  std::string bytes = kernelImage();
  auto refused = [&](long call, unsigned argument, uint32_t value) {
    return messageWithout(call, argument, value,
                          [&] { return Image::load(std::as_bytes(std::span(bytes))).status(); });
  };
  if (refused(SYS_mprotect, 2, 99) == "no filter")
    GTEST_SKIP() << "the kernel has no seccomp";
  EXPECT_EQ(refused(SYS_mprotect, 2, PROT_NONE), "code image: cannot protect memory");
  EXPECT_EQ(refused(SYS_mprotect, 2, PROT_READ | PROT_EXEC),
            "code image: the operating system refuses executable memory");
  // Other mappings of the process, which its own allocations need, are longer or shorter.
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  uint64_t end = 0;
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, bytes.data() + header.e_phoff + static_cast<size_t>(i) * sizeof segment,
                sizeof segment);
    if (segment.p_type == PT_LOAD)
      end = std::max(end, (segment.p_vaddr + segment.p_memsz + page - 1) / page * page);
  }
  EXPECT_EQ(refused(SYS_mmap, 1, static_cast<uint32_t>(end)),
            "code image: cannot map " + std::to_string(end) + " bytes");
}
