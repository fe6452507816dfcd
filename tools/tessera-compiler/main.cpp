// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The half of `tessera` that links LLVM. The other half starts it when a subcommand needs the compiler.
#include "Commands.h"

#include "tessera/base/Diag.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tessera;
using namespace tessera::cli;

int cli::fail(const std::string &text) {
  std::fflush(stdout);
  std::fprintf(stderr, "tessera: error: %s\n", text.c_str());
  return 1;
}

std::string cli::executableFolder() {
  char path[4096];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  std::string text(path, n > 0 ? n : 0);
  return text.substr(0, text.rfind('/'));
}

// Address space a compilation may take, unless TESSERA_MEMORY says otherwise. Generous: it only has to end a parser
// that a hostile file drives into endless growth before the machine suffers.
static rlim_t memoryLimit() {
  uint64_t bytes = uint64_t(16) << 30;
  if (const char *text = std::getenv("TESSERA_MEMORY"))
    parseBytes(text, bytes);
  return bytes;
}

int cli::supervise(const std::function<int()> &work) {
  std::fflush(stdout);
  std::fflush(stderr);
  pid_t child = fork();
  if (child < 0)
    return work();
  if (child == 0) {
    rlimit memory{memoryLimit(), memoryLimit()};
    setrlimit(RLIMIT_AS, &memory);
    rlimit core{0, 0};
    setrlimit(RLIMIT_CORE, &core);
    int status = work();
    std::fflush(stdout);
    std::fflush(stderr);
    _exit(status);
  }
  // An interrupt goes to the whole group: the child removes what it had begun, and we report its end.
  std::signal(SIGINT, SIG_IGN);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  if (WIFEXITED(status))
    return WEXITSTATUS(status);
  int number = WTERMSIG(status);
  if (number == SIGINT || number == SIGTERM)
    return fail("interrupted; nothing was written");
  return fail(std::string("the compiler stopped on signal ") + std::to_string(number) + " (" + strsignal(number) +
              "); the input is damaged, needs more memory than the limit (set TESSERA_MEMORY, now " +
              formatBytes(memoryLimit()) + "), or has met a bug; nothing was written");
}

int main(int argc, char **argv) {
  CLI::App app{"Tessera: one program for any mix of hardware", "tessera"};
  app.require_subcommand(1);
  Action action;
  addCompile(app, action);
  addInstall(app, action);
  addRun(app, action);
  addExplain(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp &e) {
    return app.exit(e);
  } catch (const CLI::ParseError &e) {
    return fail(std::string(e.what()) + "; see 'tessera --help'");
  }
  return action ? action() : 1;
}
