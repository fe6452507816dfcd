// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ELF loader for x86-64, aarch64 and riscv64. See Image.h.
#include "tessera/runtime/program/Image.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace tessera {

#if defined(__x86_64__)
static constexpr uint16_t hostMachine = EM_X86_64;
static constexpr uint32_t relativeType = R_X86_64_RELATIVE;
#elif defined(__aarch64__)
static constexpr uint16_t hostMachine = EM_AARCH64;
static constexpr uint32_t relativeType = R_AARCH64_RELATIVE;
#elif defined(__riscv)
static constexpr uint16_t hostMachine = EM_RISCV;
static constexpr uint32_t relativeType = R_RISCV_RELATIVE;
#else
static constexpr uint16_t hostMachine = EM_NONE;
static constexpr uint32_t relativeType = 0;
#endif

static constexpr uint64_t maxSpan = uint64_t(1) << 30;

template <typename... Ts> static Status badImage(const Ts &...parts) {
  return fail(StatusCode::Corrupt, "code image: ", parts...);
}

static std::string machineName(unsigned machine) {
  switch (machine) {
  case EM_X86_64:
    return "x86_64";
  case EM_AARCH64:
    return "aarch64";
  case EM_RISCV:
    return "riscv64";
  default:
    return concat("machine ", machine);
  }
}

Result<std::unique_ptr<Image>> Image::load(std::span<const std::byte> bytes) {
  std::unique_ptr<Image> image(new Image);
  TESSERA_TRY(image->map(bytes));
  return image;
}

Image::~Image() {
  if (base)
    munmap(base, span);
}

const std::byte *Image::at(uint64_t address, uint64_t size) const {
  if (address < firstAddress || address - firstAddress > span || size > span - (address - firstAddress))
    return nullptr;
  return base + (address - firstAddress);
}

Status Image::map(std::span<const std::byte> bytes) {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof header)
    return badImage("file is truncated");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_DYN)
    return badImage("expected a 64-bit little-endian shared ELF image");
  if (header.e_machine != hostMachine)
    return fail(StatusCode::Unsupported, "code image: made for ", machineName(header.e_machine),
                ", but this machine is ", machineName(hostMachine), "; install the program on this machine");
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0 || header.e_phnum > 64 ||
      header.e_phoff > bytes.size() || header.e_phnum * sizeof(Elf64_Phdr) > bytes.size() - header.e_phoff)
    return badImage("program headers lie outside the file");
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  std::memcpy(segments.data(), bytes.data() + header.e_phoff, segments.size() * sizeof(Elf64_Phdr));

  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  uint64_t low = UINT64_MAX, high = 0;
  for (const Elf64_Phdr &s : segments) {
    if (s.p_type == PT_TLS || s.p_type == PT_INTERP)
      return badImage("thread-local storage and interpreters are not supported");
    if (s.p_type == PT_DYNAMIC) {
      dynamic = s.p_vaddr;
      dynamicSize = s.p_memsz;
    }
    if (s.p_type != PT_LOAD)
      continue;
    if (s.p_filesz > s.p_memsz || s.p_offset > bytes.size() || s.p_filesz > bytes.size() - s.p_offset)
      return badImage("segment lies outside the file");
    if (s.p_vaddr > maxSpan || s.p_memsz > maxSpan)
      return badImage("segment at ", s.p_vaddr, " of ", s.p_memsz, " bytes is too large");
    if ((s.p_flags & PF_W) && (s.p_flags & PF_X))
      return badImage("segment is both writable and executable");
    if (s.p_flags & PF_X)
      executable.emplace_back(s.p_vaddr, s.p_memsz);
    low = std::min<uint64_t>(low, s.p_vaddr / page * page);
    high = std::max<uint64_t>(high, (s.p_vaddr + s.p_memsz + page - 1) / page * page);
  }
  if (low >= high)
    return badImage("nothing to load");
  // Two segments on one page could not have different rights.
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const Elf64_Phdr &s : segments)
    if (s.p_type == PT_LOAD && s.p_memsz)
      ranges.emplace_back(s.p_vaddr / page * page, (s.p_vaddr + s.p_memsz + page - 1) / page * page);
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].first < ranges[i - 1].second)
      return badImage("segments overlap on a page; link with -z max-page-size of at least ", page);

  void *memory = mmap(nullptr, high - low, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return fail(StatusCode::OutOfMemory, "code image: cannot map ", high - low, " bytes");
  base = static_cast<std::byte *>(memory);
  span = high - low;
  firstAddress = low;
  for (const Elf64_Phdr &s : segments)
    if (s.p_type == PT_LOAD && s.p_filesz)
      std::memcpy(base + (s.p_vaddr - low), bytes.data() + s.p_offset, s.p_filesz);
  TESSERA_TRY(relocate());

  __builtin___clear_cache(reinterpret_cast<char *>(base), reinterpret_cast<char *>(base) + span);
  if (mprotect(base, span, PROT_NONE) != 0)
    return fail(StatusCode::Io, "code image: cannot protect memory");
  for (const Elf64_Phdr &s : segments) {
    bool load = s.p_type == PT_LOAD && s.p_memsz;
    bool relro = s.p_type == PT_GNU_RELRO && s.p_memsz;
    if (!load && !relro)
      continue;
    if (relro && !at(s.p_vaddr, s.p_memsz))
      return badImage("read-only part lies outside the image");
    for (auto [address, size] : executable)
      if (relro && s.p_vaddr < address + size && address < s.p_vaddr + s.p_memsz)
        return badImage("read-only part covers code");
    uint64_t begin = s.p_vaddr / page * page;
    // Only whole pages may be taken back from the writable segment.
    uint64_t end =
        relro ? (s.p_vaddr + s.p_memsz) / page * page : (s.p_vaddr + s.p_memsz + page - 1) / page * page;
    if (begin >= end)
      continue;
    int rights = relro ? PROT_READ
                       : ((s.p_flags & PF_R) ? PROT_READ : 0) | ((s.p_flags & PF_W) ? PROT_WRITE : 0) |
                             ((s.p_flags & PF_X) ? PROT_EXEC | PROT_READ : 0);
    if (mprotect(base + (begin - low), end - begin, rights) != 0)
      return fail(StatusCode::Io, "code image: the operating system refuses executable memory");
  }
  // Symbol lookup reads the table later: it must lie in memory that stays readable.
  auto readable = [&](uint64_t address, uint64_t size) {
    for (const Elf64_Phdr &s : segments)
      if (s.p_type == PT_LOAD && (s.p_flags & (PF_R | PF_X)) && address >= s.p_vaddr &&
          address - s.p_vaddr <= s.p_memsz && size <= s.p_memsz - (address - s.p_vaddr))
        return true;
    return false;
  };
  if (symbolCount && (!readable(symbols, symbolCount * sizeof(Elf64_Sym)) || !readable(strings, stringsSize)))
    return badImage("symbol table is not readable");
  return Status();
}

Status Image::relocate() {
  uint64_t rela = 0, relaSize = 0, relr = 0, relrSize = 0, pltSize = 0, hash = 0, gnuHash = 0;
  if (dynamicSize == 0 || dynamicSize > (1 << 20) || !at(dynamic, dynamicSize))
    return badImage("no dynamic section");
  for (uint64_t offset = 0; offset + sizeof(Elf64_Dyn) <= dynamicSize; offset += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    std::memcpy(&entry, at(dynamic + offset, sizeof entry), sizeof entry);
    if (entry.d_tag == DT_NULL)
      break;
    switch (entry.d_tag) {
    case DT_NEEDED:
      return badImage("needs another library; expected a fully linked image");
    case DT_TEXTREL:
      return badImage("relocates its text; compile with position-independent code");
    case DT_REL:
    case DT_INIT:
    case DT_FINI:
      return badImage("has initialisers or relocations that are not supported");
    case DT_INIT_ARRAYSZ:
    case DT_FINI_ARRAYSZ:
      if (entry.d_un.d_val)
        return badImage("has initialisers; kernels must not need any");
      break;
    case DT_RELA:
      rela = entry.d_un.d_ptr;
      break;
    case DT_RELASZ:
      relaSize = entry.d_un.d_val;
      break;
    case DT_RELAENT:
      if (entry.d_un.d_val != sizeof(Elf64_Rela))
        return badImage("relocations of an unknown size");
      break;
    case 36: // DT_RELR
      relr = entry.d_un.d_ptr;
      break;
    case 35: // DT_RELRSZ
      relrSize = entry.d_un.d_val;
      break;
    case DT_PLTRELSZ:
      pltSize = entry.d_un.d_val;
      break;
    case DT_SYMTAB:
      symbols = entry.d_un.d_ptr;
      break;
    case DT_STRTAB:
      strings = entry.d_un.d_ptr;
      break;
    case DT_STRSZ:
      stringsSize = entry.d_un.d_val;
      break;
    case DT_HASH:
      hash = entry.d_un.d_ptr;
      break;
    case DT_GNU_HASH:
      gnuHash = entry.d_un.d_ptr;
      break;
    default:
      break;
    }
  }
  if (pltSize)
    return badImage("calls functions through a procedure linkage table; link with -Bsymbolic");

  auto addBase = [&](uint64_t where, uint64_t addend) {
    const std::byte *place = at(where, 8);
    if (!place)
      return false;
    uint64_t value = reinterpret_cast<uint64_t>(base) - firstAddress + addend;
    std::memcpy(const_cast<std::byte *>(place), &value, 8);
    return true;
  };
  if (relaSize % sizeof(Elf64_Rela) != 0 || (relaSize && !at(rela, relaSize)))
    return badImage("relocations lie outside the image");
  for (uint64_t offset = 0; offset < relaSize; offset += sizeof(Elf64_Rela)) {
    Elf64_Rela entry;
    std::memcpy(&entry, at(rela + offset, sizeof entry), sizeof entry);
    uint32_t type = ELF64_R_TYPE(entry.r_info);
    if (type == 0) // R_*_NONE
      continue;
    if (type != relativeType)
      return badImage("relocation of type ", type, " is not supported; expected a fully linked image");
    if (!at(static_cast<uint64_t>(entry.r_addend), 0))
      return badImage("relocation points outside the image");
    if (!addBase(entry.r_offset, static_cast<uint64_t>(entry.r_addend)))
      return badImage("relocation lies outside the image");
  }
  if (relrSize % 8 != 0 || (relrSize && !at(relr, relrSize)))
    return badImage("packed relocations lie outside the image");
  uint64_t where = 0;
  auto relocateWord = [&](uint64_t address) {
    const std::byte *place = at(address, 8);
    uint64_t addend;
    if (!place)
      return false;
    std::memcpy(&addend, place, 8);
    return addBase(address, addend);
  };
  for (uint64_t offset = 0; offset < relrSize; offset += 8) {
    uint64_t word;
    std::memcpy(&word, at(relr + offset, 8), 8);
    if (!(word & 1)) {
      if (!relocateWord(word))
        return badImage("packed relocation lies outside the image");
      where = word + 8;
      continue;
    }
    for (int bit = 1; bit < 64; ++bit)
      if ((word >> bit) & 1)
        if (!relocateWord(where + 8 * static_cast<uint64_t>(bit - 1)))
          return badImage("packed relocation lies outside the image");
    where += 8 * 63;
  }

  // The number of symbols is written only in the hash tables.
  if (hash) {
    uint32_t counts[2];
    if (!at(hash, sizeof counts))
      return badImage("hash table lies outside the image");
    std::memcpy(counts, at(hash, sizeof counts), sizeof counts);
    symbolCount = counts[1];
  } else if (gnuHash) {
    uint32_t fields[4];
    if (!at(gnuHash, sizeof fields))
      return badImage("hash table lies outside the image");
    std::memcpy(fields, at(gnuHash, sizeof fields), sizeof fields);
    uint64_t buckets = gnuHash + 16 + uint64_t(fields[2]) * 8, last = 0;
    uint64_t chains = buckets + uint64_t(fields[0]) * 4;
    const std::byte *table = at(buckets, uint64_t(fields[0]) * 4);
    if (!table)
      return badImage("hash table lies outside the image");
    for (uint32_t i = 0; i < fields[0]; ++i) {
      uint32_t bucket;
      std::memcpy(&bucket, table + uint64_t(i) * 4, 4);
      last = std::max<uint64_t>(last, bucket);
    }
    symbolCount = fields[1];
    if (last >= fields[1] && last != 0) {
      for (;; ++last) {
        const std::byte *chain = at(chains + (last - fields[1]) * 4, 4);
        if (!chain)
          return badImage("hash table lies outside the image");
        uint32_t word;
        std::memcpy(&word, chain, 4);
        if (word & 1)
          break;
      }
      symbolCount = last + 1;
    }
  }
  if (symbolCount > maxSpan / sizeof(Elf64_Sym) ||
      (symbolCount && !at(symbols, symbolCount * sizeof(Elf64_Sym))) ||
      (symbolCount && !at(strings, stringsSize)))
    return badImage("symbol table lies outside the image");
  for (uint64_t i = 1; i < symbolCount; ++i) {
    Elf64_Sym symbol;
    std::memcpy(&symbol, at(symbols + i * sizeof symbol, sizeof symbol), sizeof symbol);
    if (symbol.st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol.st_info) != STB_WEAK &&
        symbol.st_name < stringsSize) {
      const char *text = reinterpret_cast<const char *>(at(strings, stringsSize)) + symbol.st_name;
      return badImage("symbol '",
                      std::string(text, strnlen(text, std::min<uint64_t>(stringsSize - symbol.st_name, 256))),
                      "' is not defined; kernels must call nothing outside the image");
    }
  }
  return Status();
}

void *Image::find(std::string_view name) const {
  const char *table = reinterpret_cast<const char *>(at(strings, stringsSize));
  for (uint64_t i = 1; table && i < symbolCount; ++i) {
    Elf64_Sym symbol;
    std::memcpy(&symbol, at(symbols + i * sizeof symbol, sizeof symbol), sizeof symbol);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= stringsSize ||
        stringsSize - symbol.st_name <= name.size())
      continue;
    if (std::memcmp(table + symbol.st_name, name.data(), name.size()) != 0 ||
        table[symbol.st_name + name.size()] != '\0')
      continue;
    for (auto [address, size] : executable)
      if (symbol.st_value >= address && symbol.st_value - address < size)
        return const_cast<std::byte *>(at(symbol.st_value, 1));
    return nullptr;
  }
  return nullptr;
}

} // namespace tessera
