// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What several tests of this half need.
#pragma once

#include "tessera/base/Status.h"

#include <cerrno>
#include <cstddef>
#include <functional>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <span>
#include <string>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

inline std::span<const std::byte> asBytes(const std::string &text) { return std::as_bytes(std::span(text)); }

/// What `work` says in a process whose kernel refuses one system call when the low half of an argument of it
/// has this value; "no filter" where the kernel cannot do that.
inline std::string messageWithout(long call, unsigned argument, uint32_t value,
                                  const std::function<tessera::Status()> &work) {
  int out[2];
  if (pipe(out) != 0)
    return "no pipe";
  pid_t pid = fork();
  if (pid == 0) {
    const unsigned low = static_cast<unsigned>(offsetof(seccomp_data, args)) + 8 * argument;
    sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 3),
                          BPF_STMT(BPF_LD | BPF_W | BPF_ABS, low),
                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    sock_fprog filter{6, code};
    std::string said = "no filter";
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0)
      said = work().message();
    _exit(write(out[1], said.data(), said.size()) < 0);
  }
  close(out[1]);
  std::string said(1000, '\0');
  ssize_t size = read(out[0], said.data(), said.size());
  close(out[0]);
  waitpid(pid, nullptr, 0);
  said.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return said;
}
