// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tessera cc`: a C++ compiler whose marked tasks and loops become graphs. Unknown flags are Clang's.
#include "Commands.h"

#include "tessera/driver/Compiler.h"
#include "tessera/driver/Components.h"
#include "tessera/driver/Knobs.h"
#include "tessera/frontends/heterocpp/Compile.h"
#include "tessera/transforms/graph/Rewrites.h"

#include "llvm/Support/Path.h"

using namespace tessera;
using namespace tessera::cli;

// Takes -fknobs=… out of the arguments.
static Result<KnobMap> takeKnobs(std::vector<std::string> &args) {
  constexpr std::string_view flag = "-fknobs=";
  KnobMap knobs;
  for (const std::string &arg : args)
    if (arg.starts_with(flag)) {
      Result<KnobMap> own = readKnobs(arg.substr(flag.size()));
      if (!own.ok())
        return own.status().withContext("-fknobs");
      knobs.insert(own->begin(), own->end());
    }
  std::erase_if(args, [&](const std::string &arg) { return arg.starts_with(flag); });
  return knobs;
}

static int compile(std::vector<std::string> args) {
  Result<KnobMap> knobs = takeKnobs(args);
  if (!knobs.ok())
    return fail(knobs.status().message());
  bool remarks = std::erase(args, "-fremarks") != 0;
  Session session(remarks);
  heterocpp::CompileSetup setup;
  setup.context = &session.context();
  setup.headers = heterocpp::getHeaders();
  setup.library = executableFolder() + "/../lib";
  setup.targets = knownTargetNames();
  setup.installer = executableFolder() + "/tessera";
  setup.limit = [] { return std::make_shared<TimeLimit>(TimeLimit::Reading); };
  setup.makeObject = [&](ModuleOp graphs, const std::string &source) -> std::optional<std::string> {
    Portable program;
    program.module = OwningOpRef<ModuleOp>(cast<ModuleOp>(graphs->clone()));
    program.source = llvm::sys::path::filename(source).str();
    if (failed(runGraphStage(*program.module)))
      return std::nullopt;
    // What other files hold is theirs.
    Result<KnobMap> others = graph::setNodeKnobs(*program.module, *knobs);
    if (!others.ok()) {
      fail(others.status().message());
      return std::nullopt;
    }
    for (auto &[name, knob] : *others)
      std::fprintf(stderr, "note: -fknobs: '%s' has no loop '%s' with the knob '%s'\n",
                   program.source.c_str(), name.c_str(), knob.c_str());
    Result<std::string> bytes = portableBytes(program);
    if (!bytes.ok()) {
      fail(bytes.status().message());
      return std::nullopt;
    }
    return bytes.take();
  };
  return heterocpp::runDriver(std::move(args), setup);
}

int cli::runCc(std::vector<std::string> args) {
  std::optional<std::vector<std::string>> words = heterocpp::expandArguments(args);
  if (!words)
    return 1;
  if (words->empty())
    return fail("'tessera cc' expects files, as a C++ compiler does; example: tessera cc app.cpp -O2 -o app");
  // It starts linkers, and its flags name more outputs than anyone can list.
  Confinement allowed;
  allowed.anyFile = allowed.programs = true;
  return supervise(allowed, [&] { return compile(*words); });
}
