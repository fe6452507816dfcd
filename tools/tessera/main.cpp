// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tessera`: one name for two programs. What runs installed programs is here and links
// no LLVM; everything else is handed to tessera-compiler beside it.
#include "Tool.h"
#include "tessera/base/Diag.h"
#include "tessera/base/Output.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace tessera;
using namespace tessera::tool;

static const std::vector<std::string> nativeCommands = {
    "run", "bench", "eval", "compare", "verify", "explain", "targets", "doctor", "report", "keygen", "sign"};
static const std::vector<std::string> compilerCommands = {
    "compile", "calibrate", "install", "tune", "cc", "explore", "worker", "records", "sim", "asm", "disasm"};

// True when a command that is native by name was given a file only the compiler understands.
static bool needsCompiler(int argc, char **argv) {
  for (int i = 2; i < argc; ++i) {
    std::string_view word = argv[i];
    for (std::string_view suffix : {".tsr", ".mlir", ".onnx"})
      if (!word.starts_with("-") && word.ends_with(suffix))
        return true;
  }
  return false;
}

// --trusted-keys KEYS, which every command but `cc` takes, goes into the environment: programs are opened in
// many places, some of them in other processes. Returns false when the word behind it is missing.
static bool takeTrustedKeys(int &argc, char **argv) {
  const std::string_view flag = "--trusted-keys";
  if (argc > 1 && std::strcmp(argv[1], "cc") == 0)
    return true;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    if (word.starts_with(flag) && word.substr(flag.size()).starts_with('=')) {
      setenv("TESSERA_TRUSTED_KEYS", argv[i] + flag.size() + 1, 1);
    } else if (word == flag) {
      if (++i == argc)
        return false;
      setenv("TESSERA_TRUSTED_KEYS", argv[i], 1);
    } else {
      argv[kept++] = argv[i];
    }
  }
  argv[argc = kept] = nullptr;
  return true;
}

int main(int argc, char **argv) {
  if (!takeTrustedKeys(argc, argv))
    return finish(Status::error(StatusCode::InvalidArgument,
                                "--trusted-keys: expected a file or a folder of public keys"));
  std::string command;
  for (int i = 1; i < argc && command.empty(); ++i)
    if (argv[i][0] != '-')
      command = argv[i];
  auto isOne = [&](const std::vector<std::string> &list) {
    return std::find(list.begin(), list.end(), command) != list.end();
  };
  const bool readsOnly = command == "report" || command == "compare" || command == "verify" ||
                         command == "keygen" || command == "sign";
  if (isOne(compilerCommands) || (isOne(nativeCommands) && !readsOnly && needsCompiler(argc, argv)))
    return finish(forwardToCompiler(argc, argv));
  if (!command.empty() && !isOne(nativeCommands) && argv[1] == command) {
    std::vector<std::string> all = nativeCommands;
    all.insert(all.end(), compilerCommands.begin(), compilerCommands.end());
    return finish(
        Status::error(StatusCode::InvalidArgument, unknownName("command", command, "commands", all)));
  }

  CLI::App app("Tessera: a retargetable, accuracy-aware compiler and runtime", "tessera");
  app.set_version_flag("--version", "tessera " TESSERA_VERSION);
  app.footer(
      "With the compiler (tessera-compiler beside this program):\n"
      "  compile                     compile a source file into a portable object (.tsr)\n"
      "  cc                          compile C++ with marked loops and tasks; takes Clang's flags\n"
      "  calibrate                   measure the ranges that int8 needs, on samples\n"
      "  tune                        measure the trade-off between accuracy and speed, and store the curve\n"
      "  install                     specialise portable objects for a machine (.tsx)\n"
      "and run, bench, eval and explain take portable objects too.\n\n"
      "Every command but cc takes --trusted-keys KEYS, a file or folder of public keys: it opens only "
      "programs that are\n"
      "signed with one of them (SECURITY.md; $TESSERA_TRUSTED_KEYS is the same).\n\n"
      "'tessera COMMAND --help' shows each with an example.\n"
      "example: tessera run edges.tsx --input image=photo.npy --output edges=out.npy");
  app.require_subcommand(1);
  Action action;
  addRun(app, action);
  addBench(app, action);
  addEval(app, action);
  addCompare(app, action);
  addVerify(app, action);
  addExplain(app, action);
  addReport(app, action);
  addMachine(app, action);
  addSign(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    // Help and version are "errors" of status 0; a user's mistake is always 1.
    if (error.get_exit_code() == 0) {
      app.exit(error);
      return finish(flushStandardOutput());
    }
    std::string text = error.what();
    std::fprintf(stderr, "error: %s\nrun 'tessera %s--help' for the options\n", text.c_str(),
                 command.empty() ? "" : (command + " ").c_str());
    return 1;
  }
  try {
    Status status = action();
    // A failure of its own is said before that of printing.
    if (Status printed = flushStandardOutput(); status.ok())
      status = std::move(printed);
    return finish(status);
  } catch (const std::bad_alloc &) {
    return finish(fail(StatusCode::OutOfMemory, "host: out of memory"));
  }
}
