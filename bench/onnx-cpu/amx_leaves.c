// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Some virtual machines have AMX but hide the leaves 0x1d and 0x1e of cpuid that describe its tiles;
// libraries that ask for them then set up no tiles at all and end with an illegal instruction. Loaded in
// front of such a library (LD_PRELOAD), this answers for the two leaves as every processor with AMX does so
// far. cpuid is made to trap (Linux, processors with CPUID faulting), and the trap's handler executes it in
// its place.
#define _GNU_SOURCE
#include <cpuid.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { setCpuid = 0x1012, tileLeaf = 0x1d, productLeaf = 0x1e, tileBit = 1 << 24 };

static void trapCpuid(int on) { syscall(SYS_arch_prctl, setCpuid, on ? 0 : 1); }

static void answer(int number, siginfo_t *info, void *context) {
  (void)info;
  greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  const unsigned char *code = (const unsigned char *)registers[REG_RIP];
  if (code[0] != 0x0f || code[1] != 0xa2) { // not cpuid: an error of the program's own
    signal(number, SIG_DFL);
    return;
  }
  unsigned leaf = (unsigned)registers[REG_RAX], part = (unsigned)registers[REG_RCX], a, b, c, d;
  trapCpuid(0);
  __cpuid_count(leaf, part, a, b, c, d);
  trapCpuid(1);
  if (leaf == 0 && a < productLeaf)
    a = productLeaf;
  if (leaf == tileLeaf) {
    a = part == 0 ? 1 : part == 1 ? 8192 | 1024u << 16 : 0; // one palette: 8 KB in tiles of 1 KB
    b = part == 1 ? 64 | 8u << 16 : 0;                      // rows of 64 bytes, eight tiles
    c = part == 1 ? 16 : 0;                                 // of 16 rows
    d = 0;
  }
  if (leaf == productLeaf) {
    a = c = d = 0;
    b = part == 0 ? 16 | 64u << 8 : 0;
  }
  registers[REG_RAX] = a;
  registers[REG_RBX] = b;
  registers[REG_RCX] = c;
  registers[REG_RDX] = d;
  registers[REG_RIP] += 2;
}

__attribute__((constructor)) static void begin(void) {
  unsigned a, b, c, d, most = __get_cpuid_max(0, 0);
  if (most >= productLeaf || !__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d & tileBit))
    return;
  struct sigaction action = {.sa_sigaction = answer, .sa_flags = SA_SIGINFO | SA_NODEFER};
  sigaction(SIGSEGV, &action, 0);
  trapCpuid(1);
}
