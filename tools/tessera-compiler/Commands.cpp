// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compile, install and explain.
#include "Commands.h"
#include "KernelStore.h"

#include "InstallTuned.h"
#include "Tune.h"
#include "tessera/base/CachePath.h"
#include "tessera/base/Check.h"
#include "tessera/base/Diag.h"
#include "tessera/base/Json.h"
#include "tessera/base/Output.h"
#include "tessera/driver/Compiler.h"
#include "tessera/driver/Components.h"
#include "tessera/driver/Knobs.h"
#include "tessera/driver/TargetList.h"

#include "llvm/Support/raw_ostream.h"
#include <nlohmann/json.hpp>
#include <sys/stat.h>

using namespace tessera;
using namespace tessera::cli;

static int parseStop(const std::string &text, std::optional<Stage> &stage) {
  if (text.empty())
    return 0;
  stage = parseStage(text);
  if (stage)
    return 0;
  std::vector<std::string> names;
  for (const StageInfo &info : stageTable)
    names.push_back(info.name);
  return fail(unknownName("stage", text, "stages", names));
}

namespace {
struct CompileArgs {
  std::string in, out, stop, knobs;
  CompileOptions options;
  std::vector<std::string> frontendOptions;
};
struct InstallArgs {
  std::vector<std::string> in, names, without;
  std::string out, stop, knobs, mode = "fast";
  InstallOptions options;
  tune::Goal goal;
  std::string part;
  Sharing sharing;
  bool budgets = false, check = false;
};
} // namespace

static constexpr const char *knobsHelp =
    "knobs of operations and nodes: all=bf16 or "
    "conv1=int8,conv2=perforate-rows:1/2@0, a "
    "JSON file, or X.tsr:c3, a configuration of a tuned program; 'tessera explain X.tsr --knobs' lists them";

static int parseKnobs(const std::string &text, KnobMap &knobs) {
  if (text.empty())
    return 0;
  Result<KnobMap> map = readKnobs(text);
  if (!map.ok())
    return fail("--knobs: " + map.status().message());
  knobs = map.take();
  return 0;
}

static int runCompile(CompileArgs &args) {
  if (int status = parseStop(args.stop, args.options.stopAfter))
    return status;
  if (int status = parseKnobs(args.knobs, args.options.knobs))
    return status;
  for (const std::string &option : args.frontendOptions) {
    size_t equal = option.find('=');
    if (equal == std::string::npos)
      return fail("--frontend-option: expected name=value, but got '" + option + "'");
    args.options.frontend.push_back({option.substr(0, equal), option.substr(equal + 1)});
  }
  if (args.options.stopAfter && *args.options.stopAfter > Stage::Graph)
    return fail("'compile' ends with the stage 'graph'; give --stop-after=" + args.stop + " to 'install'");
  if (args.out.empty()) {
    args.out = args.in.substr(args.in.rfind('/') + 1);
    args.out = args.out.substr(0, args.out.rfind('.')) + ".tsr";
  }
  if (Status places = checkOutputs({args.in, args.options.schedulePath, args.knobs}, {args.out});
      !places.ok() && !args.options.stopAfter)
    return fail(places.message());
  return supervise(mayWrite({args.out, args.options.dumpDir}), [&] {
    Session session;
    FailureOr<Portable> program = failure();
    {
      TimeLimit limited(TimeLimit::Reading);
      program = compileFile(session, args.in, args.options);
    }
    if (failed(program))
      return fail("'" + args.in + "' was not compiled");
    if (args.options.stopAfter) {
      program->module->print(llvm::outs());
      llvm::outs() << "\n";
      return 0;
    }
    Status written = writePortable(*program, args.out);
    return written.ok() ? 0 : fail(written.message());
  });
}

void cli::addCompile(CLI::App &app, Action &action) {
  CLI::App *sub = app.add_subcommand("compile", "compile a source file into a portable object (.tsr)");
  auto args = std::make_shared<CompileArgs>();
  sub->add_option("input", args->in, "source file: .mlir, .onnx, .cpp")->required();
  sub->add_option("-o,--output", args->out, "the portable object; default: the input's name with .tsr");
  sub->add_option("--schedule", args->options.schedulePath,
                  "schedule scripts (a transform-dialect module) to store with the program");
  sub->add_option("--knobs", args->knobs, knobsHelp);
  sub->add_option("--stop-after", args->stop, "stop after a stage and print the IR: import, graph");
  sub->add_option("--dump-stages", args->options.dumpDir, "write the IR after each stage into this folder");
  sub->add_option("--frontend-option", args->frontendOptions, "name=value, for the front end of the input");
  sub->footer("example: tessera compile examples/edge/edge.mlir -o edge.tsr");
  sub->callback([args, &action] { action = [args] { return runCompile(*args); }; });
}

// Gives the graph of a program the name that the user wants for it.
static Status renameProgram(Portable &program, const std::string &path, const std::string &name) {
  std::vector<dfg::GraphOp> graphs;
  for (auto graph : program.module->getOps<dfg::GraphOp>())
    if (graph.getSymVisibility() != "private")
      graphs.push_back(graph);
  if (graphs.size() != 1)
    return Status::error(StatusCode::InvalidArgument, "--as: expected one graph in '" + path + "', but got " +
                                                          std::to_string(graphs.size()));
  if (graphs[0].getSymName() == name)
    return Status();
  if (name.empty() || program.module->lookupSymbol(name))
    return Status::error(StatusCode::InvalidArgument,
                         "--as: '" + name + "' cannot be a name in '" + path + "'");
  TESSERA_CHECK(succeeded(SymbolTable::replaceAllSymbolUses(
      graphs[0], StringAttr::get(graphs[0].getContext(), name), *program.module)))
      << "all operations of a program are known, and so are its uses of symbols";
  graphs[0].setSymName(name);
  return Status();
}

// "2/3"
static bool parsePart(StringRef text, Sharing &sharing) {
  auto [part, parts] = text.split('/');
  return !part.getAsInteger(10, sharing.part) && !parts.getAsInteger(10, sharing.parts) &&
         sharing.part >= 1 && sharing.part <= sharing.parts && sharing.parts <= 1000;
}

static int runInstall(InstallArgs &args) {
  if (int status = parseStop(args.stop, args.options.stopAfter))
    return status;
  if (int status = parseKnobs(args.knobs, args.options.knobs))
    return status;
  if (args.options.stopAfter && *args.options.stopAfter < firstInstallStage)
    return fail("'install' begins with the stage '" + std::string(getInfo(firstInstallStage).name) +
                "'; give --stop-after=" + args.stop + " to 'compile'");
  if (Status mode = parseMode(args.mode, args.check, args.options.target); !mode.ok())
    return fail(mode.message());
  for (const std::string &part : args.without) {
    if (part == "fusion")
      args.options.fusion = false;
    else if (part == "layout")
      args.options.layout = false;
    else if (part == "memory-plan")
      args.options.memoryPlan = false;
    else
      return fail(unknownName("part", part, "parts that can be left out",
                              std::vector<std::string>{"fusion", "layout", "memory-plan"}));
  }
  for (const std::string &target : args.options.targets)
    if (std::string name = splitTarget(target).first; !findTarget(name)) {
      std::vector<std::string> names(getTargetNames());
      return fail(unknownName("target", name, "built targets", names));
    }
  if (isExecutable(args.in.front())) {
    if (args.in.size() > 1 || !args.out.empty())
      return fail("'" + args.in.front() +
                  "' is an executable: its graphs go into the cache, where it looks for them; give it alone, "
                  "without -o");
    return installExecutable(args.in.front());
  }
  if (!args.names.empty() && args.names.size() != args.in.size())
    return fail("--as: expected " + std::to_string(args.in.size()) + " names, one for each input, but got " +
                std::to_string(args.names.size()));
  const bool hasGoal = args.goal.loss || args.goal.minQuality;
  if (!args.part.empty() && (!hasGoal || !parsePart(args.part, args.sharing)))
    return fail(
        "--part: expected a part and their number, for example 2/3, with --loss or --min-quality, but got '" +
        args.part + "'");
  if (!args.sharing.files.empty() && (!hasGoal || args.sharing.parts))
    return fail("--measured goes with --loss or --min-quality, and without --part");
  if (args.out.empty()) {
    args.out = args.in.front().substr(args.in.front().rfind('/') + 1);
    args.out = args.out.substr(0, args.out.rfind('.')) + (args.sharing.parts ? ".json" : ".tsx");
  }
  std::vector<std::string> read(args.in);
  read.insert(read.end(), args.sharing.files.begin(), args.sharing.files.end());
  read.push_back(args.knobs);
  if (Status places = checkOutputs(read, {args.out}); !places.ok() && !args.options.stopAfter)
    return fail(places.message());
  // Times that were measured are kept in the cache. It is made before the child is confined to it.
  std::string cache = hasGoal || args.options.portfolio || args.budgets ? cacheFolder() : "";
  if (!cache.empty())
    (void)openCacheFolder(); // its user reports what is wrong with it
  Result<Store *> store = openKernelStore();
  if (!store.ok())
    return fail(store.status().message());
  args.options.target.store = *store;
  const std::string kernels = (*store)->folder();
  if (args.goal.loss || args.goal.minQuality) {
    if (args.in.size() > 1 || !args.names.empty() || args.options.stopAfter)
      return fail("--loss and --min-quality take one portable object, without --as and --stop-after");
    return supervise(mayWrite({args.out, cache, kernels}), [&] {
      Status status = installTuned(args.in.front(), args.out, args.options, args.goal, args.sharing);
      return status.ok() ? 0 : fail(status.message());
    });
  }
  return supervise(mayWrite({args.out, args.options.dumpDir, cache, kernels}), [&] {
    if (!args.options.cacheKey.empty())
      umask(0077); // Entries of the cache that others may write are not taken.
    Session session;
    std::vector<Portable> programs;
    for (const std::string &path : args.in) {
      TimeLimit limited(TimeLimit::Reading);
      Result<Portable> program = readPortable(session, path);
      if (!program.ok())
        return fail(program.status().message());
      programs.push_back(program.take());
      if (!args.options.knobs.empty())
        if (Status ranges = setTunedRanges(programs.back(), path); !ranges.ok())
          return fail(ranges.message());
      if (args.budgets) {
        Result<KnobMap> chosen = chooseByDemands(session, programs.back(), path, args.options.target);
        if (!chosen.ok())
          return fail(chosen.status().message());
        if (Status applied = applyKnobMap(*programs.back().module, *chosen); !applied.ok())
          return fail(applied.message());
      }
      if (args.names.empty())
        continue;
      Status renamed = renameProgram(programs.back(), path, args.names[programs.size() - 1]);
      if (!renamed.ok())
        return fail(renamed.message());
    }
    FailureOr<Installed> installed = failure();
    {
      TimeLimit limited(TimeLimit::Installing);
      installed = install(session, programs, args.options);
    }
    if (failed(installed))
      return fail("nothing was installed");
    if (args.options.stopAfter && *args.options.stopAfter != Stage::Link) {
      llvm::outs() << installed->ir;
      return 0;
    }
    Status written = writeInstalled(*installed, args.out);
    if (!written.ok())
      return fail(written.message());
    if (args.in.size() > 1)
      std::printf("%s: %zu programs, %s and %u kernels shared\n", args.out.c_str(), args.in.size(),
                  formatBytes(installed->savedBytes).c_str(), installed->savedKernels);
    return 0;
  });
}

static std::string installStages() {
  std::vector<std::string> names;
  for (const StageInfo &info : stageTable)
    if (info.stage >= firstInstallStage)
      names.push_back(info.name);
  return joinNames(names);
}

void cli::addInstall(CLI::App &app, Action &action) {
  CLI::App *sub = app.add_subcommand("install", "specialise portable objects for a machine (.tsx)");
  auto args = std::make_shared<InstallArgs>();
  sub->add_option(
         "input", args->in,
         "portable objects (.tsr); several are installed into one file. Or an executable that carries graphs "
         "('tessera cc'): they go into the cache")
      ->required();
  sub->add_option("-o,--output", args->out,
                  "the installed program; default: the first input's name with .tsx");
  sub->add_option("--target", args->options.targets,
                  "targets in order of preference, each by its name; a machine may stand behind a colon")
      ->delimiter(',');
  sub->add_option("--as", args->names, "names for the programs, separated by commas; one for each input")
      ->delimiter(',');
  sub->add_option("--loss", args->goal.loss,
                  "for a tuned program: install the fastest configurations that lose at most N, in the unit "
                  "of its metric");
  sub->add_option("--min-quality", args->goal.minQuality,
                  "the same, with a lower limit on the metric itself, for example 90 for top-1");
  sub->add_option(
      "--part", args->part,
      "with --loss or --min-quality: split the measurements across identical machines; --part 2/3 measures "
      "the second third of the configurations and writes the times (-o, .json) for --measured");
  sub->add_option("--measured", args->sharing.files,
                  "with --loss or --min-quality: files with times that other machines measured with --part, "
                  "separated by commas; what is missing there is measured here")
      ->delimiter(',');
  sub->add_flag(
      "--budgets", args->budgets,
      "choose, for each operation, the fastest knob here whose error is within the operation's error budget "
      "('tessera tune --budgets' finds the budgets); needs no data");
  sub->add_option("--mode", args->mode, modeHelp);
  sub->add_flag("--check", args->check, checkHelp);
  sub->add_flag(
      "--portfolio", args->options.portfolio,
      "measure candidates for each layer of a network here and take the best; times are kept in the "
      "cache ('tessera explain' shows them)");
  sub->add_option("--without", args->without,
                  "turn off fusion, layout or memory-plan for networks, to measure what each gains")
      ->delimiter(',');
  sub->add_option("--knobs", args->knobs, knobsHelp);
  sub->add_option("--triple", args->options.target.triple,
                  "install for another machine, e.g. aarch64-unknown-linux-gnu");
  sub->add_option("--cpu", args->options.target.cpu,
                  "LLVM's name of the CPU; default: this machine's, or generic");
  sub->add_option("--features", args->options.target.features,
                  "CPU features by LLVM's names, each behind a + or a -, with commas between");
  // For executables that carry graphs: what the installed program has to be known by in the cache.
  sub->add_option("--cache-key", args->options.cacheKey)->group("");
  sub->add_option("--stop-after", args->stop, "stop after a stage and print the IR: " + installStages());
  sub->add_option("--dump-stages", args->options.dumpDir, "write the IR after each stage into this folder");
  sub->footer("example: tessera install edge.tsr -o edge.tsx");
  sub->callback([args, &action] { action = [args] { return runInstall(*args); }; });
}

void cli::addExplain(CLI::App &app, Action &action) {
  CLI::App *sub = app.add_subcommand("explain", "print the graphs of a portable object");
  struct Args {
    std::string in;
    bool knobs = false, json = false;
  };
  auto args = std::make_shared<Args>();
  sub->add_option("input", args->in, "portable object (.tsr)")->required();
  sub->add_flag("--knobs", args->knobs, "list the operations of networks that can be tuned, and their knobs");
  sub->add_flag("--json", args->json, "with --knobs: as JSON");
  sub->footer("example: tessera explain edge.tsr");
  sub->callback([args, &action] {
    action = [args] {
      if (args->json && !args->knobs)
        return fail("--json: a portable object is only listed as JSON with --knobs");
      return supervise({}, [&] {
        // Printing is limited too: a small file can describe a type that is endless in print.
        TimeLimit limited(TimeLimit::Reading);
        Session session;
        Result<Portable> program = readPortable(session, args->in);
        if (!program.ok())
          return fail(program.status().message());
        if (args->knobs) {
          llvm::outs() << (args->json ? dumpJson(listTunable(*program->module), 1) + "\n"
                                      : explainKnobs(*program->module));
          return 0;
        }
        program->module->print(llvm::outs(), OpPrintingFlags().elideLargeElementsAttrs());
        llvm::outs() << "\n";
        if (program->scripts) {
          llvm::outs() << "// schedule scripts\n";
          program->scripts->print(llvm::outs());
        }
        return 0;
      });
    };
  });
}
