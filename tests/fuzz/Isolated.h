// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs one input in a process of its own, as the command line does: its memory and its time are limited, and
// a limit that is reached is an answer. A crash, or work that does not end, is what the fuzzer looks for.
#pragma once

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tessera::fuzz {

/// Aborts when `work` crashed or took longer than `seconds`.
inline void isolated(const std::function<void()> &work, unsigned seconds = 20) {
  pid_t pid = fork();
  if (pid == 0) {
    for (int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL})
      std::signal(signal, SIG_DFL);
#if !__has_feature(address_sanitizer)
    rlimit memory{uint64_t(4) << 30, uint64_t(4) << 30};
    setrlimit(RLIMIT_AS, &memory);
#endif
    rlimit time{seconds, seconds + 1}, core{0, 0};
    setrlimit(RLIMIT_CPU, &time);
    setrlimit(RLIMIT_CORE, &core);
    // Messages are the expected answer; thousands of them hide the one that matters.
    if (!std::getenv("TESSERA_FUZZ_VERBOSE"))
      if (!std::freopen("/dev/null", "w", stderr))
        _exit(97);
    // An allocation that the limit refuses ends the process in C++ and in LLVM; the command line reports it.
    std::set_new_handler([] { _exit(96); });
    work();
    _exit(0);
  }
  int status = 0;
  if (pid < 0 || waitpid(pid, &status, 0) != pid) {
    std::perror("fuzz: cannot run an input apart");
    std::abort();
  }
  if (WIFSIGNALED(status)) {
    std::fprintf(stderr, "fuzz: the input ended by signal %d%s\n", WTERMSIG(status),
                 WTERMSIG(status) == SIGXCPU ? ", since it took too long" : "");
    std::abort();
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 96) {
    std::fprintf(stderr, "fuzz: the input ended with exit status %d\n", WEXITSTATUS(status));
    std::abort();
  }
}

} // namespace tessera::fuzz
