// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The half of `tessera` that links LLVM. The other half starts it when a subcommand needs the compiler.
#include "Commands.h"

#include "tessera/base/Diag.h"
#include "tessera/base/File.h"
#include "tessera/base/Output.h"
#include "tessera/base/Progress.h"
#include "tessera/base/TempFolder.h"

#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tessera;
using namespace tessera::cli;

int cli::fail(const std::string &text) {
  std::fflush(stdout);
  std::fprintf(stderr, "error: %s\n", text.c_str());
  return 1;
}

std::string cli::executableFolder() {
  char path[4096];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  std::string text(path, n > 0 ? n : 0);
  return text.substr(0, text.rfind('/'));
}

namespace {

/// What a child may use. Generous: the limits only have to end a reader that a hostile file drives into
/// endless growth or endless work before the machine suffers.
struct Limits {
  uint64_t memory = uint64_t(16) << 30; ///< bytes of address space; TESSERA_MEMORY
  /// Of processor time; TESSERA_TIME_LIMIT sets both, 0: none. Only what is read comes from strangers.
  double readSeconds = 300, installSeconds = 0;
};

} // namespace

static Limits limits;

static int readLimits() {
  if (const char *text = std::getenv("TESSERA_MEMORY"))
    if (!parseBytes(text, limits.memory) || limits.memory == 0)
      return cli::fail(std::string("TESSERA_MEMORY: expected a size such as 512M or 4G, but got '") + text +
                       "'");
  if (const char *text = std::getenv("TESSERA_TIME_LIMIT")) {
    char *end = nullptr;
    limits.readSeconds = limits.installSeconds = std::strtod(text, &end);
    if (end == text || *end || !(limits.readSeconds >= 0 && limits.readSeconds < 1e9))
      return cli::fail(std::string("TESSERA_TIME_LIMIT: expected a number of seconds, but got '") + text +
                       "'");
  }
  return 0;
}

// The kernel's timer of processor time: it stops the process by SIGPROF, whatever that is doing.
static void setTimer(double seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec =
      static_cast<suseconds_t>((seconds - static_cast<double>(timer.it_value.tv_sec)) * 1e6);
  setitimer(ITIMER_PROF, &timer, nullptr);
}

TimeLimit::TimeLimit(Of of) { setTimer(of == Reading ? limits.readSeconds : limits.installSeconds); }
TimeLimit::~TimeLimit() { setTimer(0); }

// Memory for the child's notes that we read when it is dead; null when there is none.
static Progress *shareProgress() {
  void *page = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return page == MAP_FAILED ? nullptr : static_cast<Progress *>(page);
}

// A note as text. The child may have been anywhere, and may have read anything: nothing in it can be relied
// on.
template <size_t N> static std::string readNote(const char (&note)[N]) {
  std::string text(note, strnlen(note, N));
  std::replace_if(text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 127; }, ' ');
  return text;
}

static std::string describeTimeout(const Progress *progress) {
  std::string stage = progress ? readNote(progress->stage) : "",
              place = progress ? readNote(progress->place) : "";
  std::string where = stage.empty() ? "while reading the input" : "in the stage '" + stage + "'";
  if (!stage.empty() && !place.empty())
    where += ", at " + place;
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%g", limits.readSeconds);
  return std::string("expected at most ") + seconds + " s of processor time, but got no end, " + where +
         "; set TESSERA_TIME_LIMIT to allow more; nothing was written";
}

static std::atomic<pid_t> child;

// A signal sent to us alone goes to the child, which removes what it had begun; one from the terminal reaches
// both.
extern "C" void tesseraForwardSignal(int signal) {
  if (pid_t pid = child.load())
    kill(pid, signal);
}

Confinement cli::mayWrite(std::vector<std::string> files) {
  std::erase(files, "");
  return {std::move(files)};
}

int cli::supervise(const Confinement &allowed, const std::function<int()> &work,
                   const std::string &interrupted) {
  if (int status = readLimits())
    return status;
  std::fflush(stdout);
  std::fflush(stderr);
  // Linkers and LLVM want temporary files. The child gets a folder of its own for them, which its parent
  // removes however the child ended; without one they go where they go.
  TempFolder temporary;
  if (Result<TempFolder> made = TempFolder::create(); made.ok())
    temporary = made.take();
  const std::string folder = temporary.path();
  sigset_t signals, before;
  sigemptyset(&signals);
  for (int signal : {SIGINT, SIGTERM, SIGHUP})
    sigaddset(&signals, signal);
  sigprocmask(SIG_BLOCK, &signals, &before);
  Progress *progress = shareProgress();
  pid_t pid = fork();
  if (pid == 0) {
    setProgress(progress);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    if (!folder.empty())
      setenv("TMPDIR", folder.c_str(), 1);
    rlimit memory{limits.memory, limits.memory}, core{0, 0};
    setrlimit(RLIMIT_AS, &memory);
    setrlimit(RLIMIT_CORE, &core);
    removeUnfinishedFilesOnSignals();
    Confinement own = allowed;
    own.writable.push_back(folder.empty() ? "/tmp" : folder);
    if (Status confined = confine(own); !confined.ok())
      _exit(cli::fail(confined.message()));
    int status = work();
    // Nothing is destroyed at the end, so what LLVM's stream still holds is written here.
    llvm::outs().flush();
    if (llvm::outs().has_error()) {
      std::string reason = llvm::outs().error().message();
      llvm::outs().clear_error();
      status = cli::fail("cannot write to standard output: " + reason);
    }
    if (Status printed = flushStandardOutput(); !printed.ok() && status == 0)
      status = cli::fail(printed.message());
    std::fflush(stderr);
    _exit(status);
  }
  child = pid;
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    // What was ignored (a job in the background, nohup) stays so.
    struct sigaction old;
    if (sigaction(signal, nullptr, &old) == 0 && old.sa_handler != SIG_IGN)
      std::signal(signal, tesseraForwardSignal);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  int status = 0;
  if (pid > 0)
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
      ;
  child = 0;
  temporary = TempFolder();
  if (pid < 0)
    return cli::fail(std::string("cannot start a process: ") + strerror(errno));
  if (WIFEXITED(status))
    return WEXITSTATUS(status);
  int number = WTERMSIG(status);
  if (number == SIGINT || number == SIGTERM || number == SIGHUP)
    return cli::fail(interrupted);
  if (number == SIGPROF)
    return cli::fail(describeTimeout(progress));
  return cli::fail(std::string("the compiler stopped on signal ") + std::to_string(number) + " (" +
                   strsignal(number) +
                   "); the input is damaged, needs more memory than the limit (set TESSERA_MEMORY, now " +
                   formatBytes(limits.memory) + "), or has met a bug; nothing was written");
}

int main(int argc, char **argv) {
  // A compiler's flags are not ours to parse.
  if (argc > 1 && std::strcmp(argv[1], "cc") == 0)
    return runCc(std::vector<std::string>(argv + 2, argv + argc));
  CLI::App app{"Tessera: one program for any mix of hardware", "tessera"};
  app.require_subcommand(1);
  Action action;
  addCompile(app, action);
  addCalibrate(app, action);
  addInstall(app, action);
  addRun(app, action);
  addExplain(app, action);
  addTune(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp &e) {
    app.exit(e);
    Status printed = flushStandardOutput();
    return printed.ok() ? 0 : fail(printed.message());
  } catch (const CLI::ParseError &e) {
    bool known = argc < 2 || argv[1][0] == '-';
    for (const CLI::App *sub : app.get_subcommands([](const CLI::App *) { return true; }))
      known = known || sub->get_name() == argv[1];
    if (!known)
      return fail(
          std::string("'tessera ") + argv[1] +
          "' is not part of this version; commands: compile, calibrate, tune, install, run, bench, eval, "
          "explain, targets, doctor");
    std::string command;
    for (CLI::App *sub : app.get_subcommands())
      command = sub->get_name() + " ";
    return fail(std::string(e.what()) + "; see 'tessera " + command + "--help'");
  }
  int status = action ? action() : 1;
  if (Status printed = flushStandardOutput(); !printed.ok() && status == 0)
    status = fail(printed.message());
  return status;
}
