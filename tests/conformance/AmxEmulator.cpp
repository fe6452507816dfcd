// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// x86's AMX on processors without it: a library to be preloaded. Its instructions raise SIGILL there; the
// handler carries them out on memory of the thread. Only what our kernels contain is known, and anything else
// stays an illegal instruction. On a processor with AMX nothing is raised, and the processor is what is
// tested.
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

namespace {

struct Tile {
  int rows, bytes; ///< of a row
  uint8_t at[16][64];
};
thread_local Tile tiles[8];
thread_local uint8_t shapes[64]; ///< what they were set up with

uint32_t word(const Tile &t, int row, int column) {
  uint32_t v;
  std::memcpy(&v, t.at[row] + 4 * column, 4);
  return v;
}
void setWord(Tile &t, int row, int column, uint32_t v) { std::memcpy(t.at[row] + 4 * column, &v, 4); }
float asFloat(uint32_t bits) {
  float v;
  std::memcpy(&v, &bits, 4);
  return v;
}

void configure(const uint8_t *config) {
  std::memcpy(shapes, config, sizeof shapes);
  for (int i = 0; i < 8; ++i) {
    std::memset(&tiles[i], 0, sizeof tiles[i]);
    tiles[i].rows = config[48 + i];
    tiles[i].bytes = config[16 + 2 * i];
    // A shape that the processor would refuse.
    if (config[0] != 1 || tiles[i].rows > 16 || tiles[i].bytes > 64 || tiles[i].bytes % 4)
      std::abort();
  }
}

// A row of words that the second and third operand agree on.
void check(const Tile &sum, const Tile &a, const Tile &b) {
  if (sum.rows != a.rows || sum.bytes != b.bytes || a.bytes != 4 * b.rows)
    std::abort();
}

void addBytes(Tile &sum, const Tile &a, const Tile &b) {
  check(sum, a, b);
  for (int m = 0; m < sum.rows; ++m)
    for (int n = 0; n < sum.bytes / 4; ++n) {
      uint32_t total = word(sum, m, n);
      for (int k = 0; k < a.bytes; ++k)
        total += static_cast<uint32_t>(a.at[m][k] * static_cast<int8_t>(b.at[k / 4][4 * n + k % 4]));
      setWord(sum, m, n, total);
    }
}

void addHalves(Tile &sum, const Tile &a, const Tile &b) {
  check(sum, a, b);
  for (int m = 0; m < sum.rows; ++m)
    for (int n = 0; n < sum.bytes / 4; ++n) {
      float total = asFloat(word(sum, m, n));
      for (int k = 0; k < a.bytes / 4; ++k) {
        uint32_t x = word(a, m, k), w = word(b, k, n);
        total += asFloat(x << 16) * asFloat(w << 16) + asFloat(x & 0xffff0000) * asFloat(w & 0xffff0000);
      }
      uint32_t bits;
      std::memcpy(&bits, &total, 4);
      setWord(sum, m, n, bits);
    }
}

/// One instruction: VEX with three bytes, opcode, ModRM, and perhaps SIB and a displacement.
struct Instruction {
  const uint8_t *code;
  const gregset_t &registers;
  bool r, x, b;
  int prefix, v, opcode, mod, reg, rm, length = 5;
  uint64_t base = 0, index = 0;

  uint64_t value(int number) const {
    static const int order[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    return static_cast<uint64_t>(registers[order[number]]);
  }
  Instruction(const uint8_t *at, const gregset_t &known) : code(at), registers(known) {
    r = !(at[1] & 0x80), x = !(at[1] & 0x40), b = !(at[1] & 0x20);
    prefix = at[2] & 3, v = ~(at[2] >> 3) & 15, opcode = at[3];
    mod = at[4] >> 6, reg = at[4] >> 3 & 7, rm = at[4] & 7;
    if (mod != 3)
      readAddress();
  }
  void readAddress() {
    bool relative = false, none = false;
    if (rm == 4) {
      int sib = code[length++], number = (sib >> 3 & 7) | (x ? 8 : 0);
      if (number != 4)
        index = value(number) << (sib >> 6);
      none = (sib & 7) == 5 && mod == 0;
      if (!none)
        base = value((sib & 7) | (b ? 8 : 0));
    } else if (rm == 5 && mod == 0) {
      relative = true;
    } else {
      base = value(rm | (b ? 8 : 0));
    }
    if (mod == 1) {
      base += static_cast<uint64_t>(static_cast<int64_t>(static_cast<int8_t>(code[length])));
      length += 1;
    } else if (mod == 2 || relative || none) {
      int32_t distance;
      std::memcpy(&distance, code + length, 4);
      base += static_cast<uint64_t>(static_cast<int64_t>(distance));
      length += 4;
    }
    if (relative)
      base += reinterpret_cast<uint64_t>(code) + static_cast<uint64_t>(length);
  }
};

enum { none = 0, p66 = 1, pF3 = 2, pF2 = 3 };

bool execute(const Instruction &i) {
  Tile &t = tiles[i.reg];
  auto address = [&](int row) {
    return reinterpret_cast<uint8_t *>(i.base + i.index * static_cast<uint64_t>(row));
  };
  if (i.opcode == 0x49 && i.prefix == none && i.mod == 3) {
    std::memset(tiles, 0, sizeof tiles);
    std::memset(shapes, 0, sizeof shapes);
  } else if (i.opcode == 0x49 && i.prefix == none) {
    configure(reinterpret_cast<const uint8_t *>(i.base + i.index));
  } else if (i.opcode == 0x49 && i.prefix == p66 && i.mod != 3) {
    std::memcpy(reinterpret_cast<uint8_t *>(i.base + i.index), shapes, sizeof shapes);
  } else if (i.opcode == 0x49 && i.prefix == pF2 && i.mod == 3) {
    std::memset(t.at, 0, sizeof t.at);
  } else if (i.opcode == 0x4b && i.prefix == pF2 && i.rm == 4) {
    std::memset(t.at, 0, sizeof t.at);
    for (int row = 0; row < t.rows; ++row)
      std::memcpy(t.at[row], address(row), static_cast<size_t>(t.bytes));
  } else if (i.opcode == 0x4b && i.prefix == pF3 && i.rm == 4) {
    for (int row = 0; row < t.rows; ++row)
      std::memcpy(address(row), t.at[row], static_cast<size_t>(t.bytes));
  } else if (i.opcode == 0x5e && i.prefix == p66 && i.mod == 3) {
    addBytes(t, tiles[i.rm], tiles[i.v]);
  } else if (i.opcode == 0x5c && i.prefix == pF3 && i.mod == 3) {
    addHalves(t, tiles[i.rm], tiles[i.v]);
  } else {
    return false;
  }
  return true;
}

void onIllegal(int, siginfo_t *, void *context) {
  gregset_t &registers = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
  auto *code = reinterpret_cast<const uint8_t *>(registers[REG_RIP]);
  bool known = code[0] == 0xc4 && (code[1] & 0x1f) == 2 && !(code[2] & 0x80);
  if (known) {
    Instruction instruction(code, registers);
    if (execute(instruction)) {
      registers[REG_RIP] += instruction.length;
      return;
    }
  }
  std::signal(SIGILL, SIG_DFL);
}

void start() {
  struct sigaction action = {};
  action.sa_sigaction = onIllegal;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGILL, &action, nullptr);
}

} // namespace

// The request for tile registers, which Linux would refuse, is granted here. It comes late enough that nobody
// else handles SIGILL afterwards.
extern "C" long syscall(long number, ...) {
  __builtin_va_list list;
  __builtin_va_start(list, number);
  long a[6];
  for (long &v : a)
    v = __builtin_va_arg(list, long);
  __builtin_va_end(list);
  using Function = long (*)(long, ...);
  static auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "syscall"));
  long result = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (number != SYS_arch_prctl || a[0] != 0x1023 || a[1] != 18)
    return result;
  start();
  return 0;
}
