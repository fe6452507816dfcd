// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cases in processes of their own: a crash, an endless loop or a demand for all memory ends one case only.
#include "Suite.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tessera;
using namespace tessera::suite;

namespace {

struct Child {
  pid_t pid = -1;
  size_t index = 0;
  int results = -1, messages = -1;
};

std::string readAll(int fd) {
  std::string text;
  char buffer[4096];
  lseek(fd, 0, SEEK_SET);
  for (ssize_t n; (n = read(fd, buffer, sizeof buffer)) > 0;)
    text.append(buffer, size_t(n));
  return text;
}

int temporaryFile() {
  char path[] = "/tmp/tessera-onnx-XXXXXX";
  int fd = mkstemp(path);
  if (fd >= 0)
    unlink(path);
  return fd;
}

[[noreturn]] void inChild(const Case &test, const ParallelOptions &options, const Child &child) {
  rlimit memory{options.megabytes << 20, options.megabytes << 20};
  setrlimit(RLIMIT_AS, &memory);
  rlimit core{0, 0};
  setrlimit(RLIMIT_CORE, &core);
  // Time of the processor, since the machine may be busy with other things; whole networks take theirs.
  unsigned seconds = test.kind == "light" ? 5 * options.seconds : options.seconds;
  rlimit time{seconds, seconds + 5};
  setrlimit(RLIMIT_CPU, &time);
  alarm(20 * seconds);
  dup2(child.messages, 2);
  dup2(child.messages, 1);
  Verdict v = runCase(test, options.run);
  nlohmann::json json = {
      {"outcome", int(v.outcome)}, {"reason", v.reason}, {"bound", v.bound}, {"operators", v.operators}};
  std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (write(child.results, text.data(), text.size()) != ssize_t(text.size()))
    _exit(3);
  // Destructors of a process that may be damaged are of no use.
  _exit(0);
}

std::string lastLine(const std::string &text) {
  size_t end = text.find_last_not_of("\n ");
  if (end == std::string::npos)
    return "";
  size_t start = text.rfind('\n', end);
  return text.substr(start == std::string::npos ? 0 : start + 1, std::min<size_t>(end - start, 200));
}

Verdict finish(Child &child, int status, bool verbose, const Case &test) {
  Verdict v;
  auto json = nlohmann::json::parse(readAll(child.results), nullptr, /*allow_exceptions=*/false);
  std::string messages = readAll(child.messages);
  if (json.is_object()) {
    v.outcome = static_cast<Outcome>(json["outcome"].get<int>());
    v.reason = json["reason"].get<std::string>();
    v.bound = json["bound"].get<std::vector<std::string>>();
    v.operators = json["operators"].get<std::vector<std::string>>();
    // The runtime speaks on the error stream.
    if (v.outcome == Outcome::Failed && v.reason == "run: ")
      v.reason += lastLine(messages);
  } else if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGXCPU)) {
    v.reason = "takes too long";
  } else if (WIFSIGNALED(status)) {
    v.reason = std::string("crashes: ") + strsignal(WTERMSIG(status)) + " " + lastLine(messages);
  } else {
    v.reason = "ends without a result: " + lastLine(messages);
  }
  if (verbose && v.outcome == Outcome::Failed) {
    std::printf("%s: %s\n", test.title().c_str(), v.reason.c_str());
    std::fflush(stdout);
  }
  close(child.results);
  close(child.messages);
  return v;
}

} // namespace

std::vector<Verdict> suite::runCases(const std::vector<Case> &cases, const ParallelOptions &options) {
  std::vector<Verdict> verdicts(cases.size());
  std::vector<Child> running;
  size_t next = 0, done = 0;
  std::fflush(stdout);
  while (done < cases.size()) {
    while (next < cases.size() && running.size() < std::max(1u, options.jobs)) {
      Child child;
      child.index = next;
      child.results = temporaryFile();
      child.messages = temporaryFile();
      child.pid = child.results < 0 || child.messages < 0 ? -1 : fork();
      if (child.pid == 0)
        inChild(cases[next], options, child);
      if (child.pid < 0) {
        verdicts[next++].reason = "no process could be started";
        ++done;
        continue;
      }
      running.push_back(child);
      ++next;
    }
    int status = 0;
    pid_t pid = waitpid(-1, &status, 0);
    for (size_t i = 0; i < running.size(); ++i)
      if (running[i].pid == pid) {
        verdicts[running[i].index] = finish(running[i], status, options.verbose, cases[running[i].index]);
        running.erase(running.begin() + long(i));
        ++done;
        break;
      }
  }
  return verdicts;
}
