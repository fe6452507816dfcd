// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Compile.h. Clang's driver plans the jobs; compilations run in this process with our consumer beside
// Clang's code generator, everything else (assembling, linking, preprocessing alone) as the driver says.
#include "tessera/frontends/heterocpp/Compile.h"

#include "tessera/frontends/heterocpp/Crash.h"
#include "tessera/frontends/heterocpp/Source.h"
#include "tessera/ir/dfg/Dfg.h"

#include "clang/Basic/DiagnosticOptions.h"
#include "clang/CodeGen/CodeGenAction.h"
#include "clang/CodeGen/ModuleBuilder.h"
#include "clang/Driver/Compilation.h"
#include "clang/Driver/Driver.h"
#include "clang/Driver/Job.h"
#include "clang/Driver/Tool.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "clang/Frontend/Utils.h"
#include "clang/FrontendTool/Utils.h"
#include "clang/Options/Options.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/TimeProfiler.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/TargetParser/Host.h"

using namespace tessera;
using namespace tessera::heterocpp;

namespace {

/// The graphs of a file and their portable object, as soon as Clang has all declarations.
class GraphConsumer : public SourceUnit {
public:
  GraphConsumer(const CompileSetup &setup, clang::DiagnosticsEngine &engine, llvm::StringRef file)
      : SourceUnit(setup.context, setup.targets, engine), setup(setup), engine(engine), file(file) {}

  void HandleTranslationUnit(clang::ASTContext &ast) override {
    std::shared_ptr<void> limit = setup.limit ? setup.limit() : nullptr;
    SourceUnit::HandleTranslationUnit(ast);
    setCrashPlace({});
    if (engine.hasErrorOccurred() || !setup.makeObject || launches.empty())
      return;
    if (setup.checks)
      dfg::Notes::checkAccesses.set(*module);
    // Checking alone makes the object, too: races are found on the way.
    if (std::optional<std::string> made = setup.makeObject(*module, file))
      object = std::move(*made);
    else
      engine.Report(engine.getDiagnosticIDs()->getCustomDiagID(clang::DiagnosticIDs::Error,
                                                               "the graphs of this file were not compiled"));
  }

  std::string object;

private:
  const CompileSetup &setup;
  clang::DiagnosticsEngine &engine;
  std::string file;
};

/// One of Clang's own actions, for which our consumer sees the AST first. Where it makes code, the module is
/// rewritten just before Clang's passes.
template <typename Base> class WithGraphs : public Base {
public:
  explicit WithGraphs(const CompileSetup &setup) : setup(setup) {}

  OwningOpRef<ModuleOp> graphs; ///< when only they were asked for

protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance &ci,
                                                        llvm::StringRef file) override {
    auto own = std::make_unique<GraphConsumer>(setup, ci.getDiagnostics(), file);
    unit = own.get();
    std::vector<std::unique_ptr<clang::ASTConsumer>> consumers;
    consumers.push_back(std::move(own));
    consumers.push_back(Base::CreateASTConsumer(ci, file));
    if (!consumers.back())
      return nullptr;
    if constexpr (std::is_base_of_v<clang::CodeGenAction, Base>)
      ci.getCodeGenOpts().PassBuilderCallbacks.push_back([this](llvm::PassBuilder &) { rewrite(); });
    return std::make_unique<clang::MultiplexConsumer>(std::move(consumers));
  }

  void EndSourceFileAction() override {
    graphs = std::move(unit->module);
    Base::EndSourceFileAction();
  }

private:
  void rewrite() {
    clang::DiagnosticsEngine &engine = this->getCompilerInstance().getDiagnostics();
    unsigned id = engine.getDiagnosticIDs()->getCustomDiagID(clang::DiagnosticIDs::Error, "%0");
    auto report = [&](std::optional<unsigned> number, const llvm::Function *function,
                      const llvm::Twine &text) {
      clang::SourceLocation at;
      if (number)
        at = unit->getPlace(*number);
      std::string where = number || !function ? "" : " (in '" + llvm::demangle(function->getName()) + "')";
      engine.Report(at, id) << (text + where).str();
    };
    rewriteHost(*this->getCodeGenerator()->GetModule(), unit->host, unit->object, setup.installer,
                setup.checks, report);
  }

  const CompileSetup &setup;
  GraphConsumer *unit = nullptr;
};

} // namespace

// What -fplugin= and -mllvm ask for, before an action. For its own actions, Clang does the same itself.
static bool prepare(clang::CompilerInstance &ci) {
  ci.LoadRequestedPlugins();
  std::vector<const char *> words = {"tessera cc (-mllvm)"};
  for (const std::string &word : ci.getFrontendOpts().LLVMArgs)
    words.push_back(word.c_str());
  llvm::cl::ResetAllOptionOccurrences();
  if (words.size() > 1)
    llvm::cl::ParseCommandLineOptions(words.size(), words.data());
  return !ci.getDiagnostics().hasErrorOccurred();
}

// Runs an action and returns whether it went well.
template <typename Base>
static bool runAction(clang::CompilerInstance &ci, const CompileSetup &setup,
                      OwningOpRef<ModuleOp> *graphs = nullptr) {
  WithGraphs<Base> action(setup);
  CrashPlace place(ci);
  bool good = prepare(ci) && ci.ExecuteAction(action);
  if (graphs)
    *graphs = std::move(action.graphs);
  return good;
}

// Actions that see no launches are Clang's own.
static bool runAction(clang::CompilerInstance &ci, const CompileSetup &setup, OwningOpRef<ModuleOp> *graphs) {
  const clang::FrontendOptions &options = ci.getFrontendOpts();
  clang::Language language =
      options.Inputs.empty() ? clang::Language::Unknown : options.Inputs[0].getKind().getLanguage();
  if (graphs)
    return runAction<clang::SyntaxOnlyAction>(ci, setup, graphs);
  if (language == clang::Language::LLVM_IR || language == clang::Language::Asm)
    return clang::ExecuteCompilerInvocation(&ci);
  switch (options.ProgramAction) {
  case clang::frontend::EmitObj:
    return runAction<clang::EmitObjAction>(ci, setup);
  case clang::frontend::EmitAssembly:
    return runAction<clang::EmitAssemblyAction>(ci, setup);
  case clang::frontend::EmitBC:
    return runAction<clang::EmitBCAction>(ci, setup);
  case clang::frontend::EmitLLVM:
    return runAction<clang::EmitLLVMAction>(ci, setup);
  case clang::frontend::EmitLLVMOnly:
    return runAction<clang::EmitLLVMOnlyAction>(ci, setup);
  case clang::frontend::EmitCodeGenOnly:
    return runAction<clang::EmitCodeGenOnlyAction>(ci, setup);
  case clang::frontend::ParseSyntaxOnly:
    return runAction<clang::SyntaxOnlyAction>(ci, setup);
  default:
    return clang::ExecuteCompilerInvocation(&ci);
  }
}

// One -cc1 job. `graphs` gets the graphs where no code is wanted.
static bool compile(llvm::ArrayRef<const char *> args, const char *program, const CompileSetup &setup,
                    OwningOpRef<ModuleOp> *graphs) {
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  clang::DiagnosticOptions options;
  auto *buffer = new clang::TextDiagnosticPrinter(llvm::errs(), options);
  clang::DiagnosticsEngine engine(clang::DiagnosticIDs::create(), options, buffer);
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, args, engine, program))
    return false;
  clang::CompilerInstance ci(invocation);
  ci.createVirtualFileSystem();
  ci.createDiagnostics();
  const clang::FrontendOptions &frontend = ci.getFrontendOpts();
  if (frontend.TimeTracePath.empty())
    return runAction(ci, setup, graphs);
  llvm::timeTraceProfilerInitialize(frontend.TimeTraceGranularity, program, frontend.TimeTraceVerbose);
  bool good = runAction(ci, setup, graphs);
  std::error_code error;
  llvm::raw_fd_ostream trace(frontend.TimeTracePath, error);
  if (!error)
    llvm::timeTraceProfilerWrite(trace);
  llvm::timeTraceProfilerCleanup();
  return good;
}

static void initializeTargets() {
  static bool done = false;
  if (done)
    return;
  done = true;
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllAsmPrinters();
  llvm::InitializeAllAsmParsers();
}

// Beside the program where it is installed, otherwise where it was built.
std::string heterocpp::getHeaders() {
  std::string program = llvm::sys::fs::getMainExecutable(nullptr, nullptr);
  llvm::SmallString<256> folder(llvm::sys::path::parent_path(llvm::sys::path::parent_path(program)));
  llvm::sys::path::append(folder, "include");
  if (llvm::sys::fs::exists(folder + "/tessera/hetero.h"))
    return std::string(folder);
  return TESSERA_HEADERS;
}

static std::string getClang() {
  if (const char *named = std::getenv("TESSERA_CLANG"))
    return named;
  return TESSERA_CLANG;
}

namespace {
/// Clang's driver and what it needs.
struct DriverRun {
  std::string program = getClang();
  std::vector<std::string> words;
  std::vector<const char *> argv = {program.c_str()};
  std::unique_ptr<clang::DiagnosticOptions> options;
  std::unique_ptr<clang::TextDiagnosticPrinter> printer;
  std::unique_ptr<clang::DiagnosticsEngine> engine;
  std::unique_ptr<clang::driver::Driver> driver;
  std::unique_ptr<clang::driver::Compilation> compilation;

  explicit DriverRun(std::vector<std::string> args) : words(std::move(args)) {
    for (const std::string &word : words)
      argv.push_back(word.c_str());
    auto files = llvm::vfs::getRealFileSystem();
    // -w, -Werror and the like hold for the driver's own warnings as well.
    options = clang::CreateAndPopulateDiagOpts(argv);
    printer = std::make_unique<clang::TextDiagnosticPrinter>(llvm::errs(), *options);
    engine =
        std::make_unique<clang::DiagnosticsEngine>(clang::DiagnosticIDs::create(), *options, printer.get(),
                                                   /*ShouldOwnClient=*/false);
    clang::ProcessWarningOptions(*engine, *options, *files, /*ReportDiags=*/false);
    driver = std::make_unique<clang::driver::Driver>(program, llvm::sys::getDefaultTargetTriple(), *engine,
                                                     "tessera cc", files);
  }

  bool plan() {
    driver->setProbePrecompiled(false);
    compilation.reset(driver->BuildCompilation(argv));
    return compilation && !engine->hasErrorOccurred();
  }
};
} // namespace

static bool isCompilation(const clang::driver::Command &job) {
  return !job.getArguments().empty() && llvm::StringRef(job.getArguments()[0]) == "-cc1";
}

static bool isStatic(const clang::driver::Compilation &c) {
  return c.getArgs().hasArg(clang::options::OPT_static, clang::options::OPT_static_pie);
}

// Programs and libraries are linked with the runtime, unless no library is wanted. It is a shared library:
// what is linked statically has no graphs.
static void linkRuntime(clang::driver::Compilation &c, const std::string &library) {
  namespace options = clang::options;
  const llvm::opt::DerivedArgList &args = c.getArgs();
  if (isStatic(c) || args.hasArg(options::OPT_nostdlib, options::OPT_nodefaultlibs, options::OPT_r))
    return;
  for (clang::driver::Command &job : c.getJobs()) {
    if (job.getSource().getKind() != clang::driver::Action::LinkJobClass)
      continue;
    llvm::opt::ArgStringList words = job.getArguments();
    for (const std::string &word : {"-L" + library, std::string("-rpath"), library, std::string("-ltessera")})
      words.push_back(args.MakeArgString(word));
    job.replaceArguments(words);
  }
}

static bool isAfter(const clang::driver::Action &action,
                    const std::set<const clang::driver::Action *> &failed) {
  return failed.count(&action) || llvm::any_of(action.inputs(), [&](const clang::driver::Action *input) {
           return isAfter(*input, failed);
         });
}

static bool runJob(const clang::driver::Command &job, const char *program, const CompileSetup &setup) {
  if (isCompilation(job))
    return compile(llvm::ArrayRef(job.getArguments()).drop_front(), program, setup, nullptr);
  std::string error;
  bool failed = false;
  int status = job.Execute({}, &error, &failed);
  if (!error.empty())
    llvm::errs() << "error: " << error << "\n";
  return status == 0;
}

int heterocpp::runDriver(std::vector<std::string> args, CompileSetup setup) {
  initializeTargets();
  for (const std::string &arg : args)
    setup.checks = arg == "-fcheck" || (setup.checks && arg != "-fno-check");
  llvm::erase_if(args, [](const std::string &arg) { return arg == "-fcheck" || arg == "-fno-check"; });
  std::vector<std::string> words = {"--driver-mode=g++",
                                    "--start-no-unused-arguments",
                                    "-isystem",
                                    setup.headers,
                                    "-isystem",
                                    setup.headers + "/tessera/compat",
                                    "--end-no-unused-arguments"};
  words.insert(words.end(), args.begin(), args.end());
  DriverRun run(std::move(words));
  if (!run.plan())
    return 1;
  clang::driver::Compilation &c = *run.compilation;
  linkRuntime(c, setup.library);
  if (c.getArgs().hasArg(clang::options::OPT__HASH_HASH_HASH)) {
    llvm::SmallVector<std::pair<int, const clang::driver::Command *>> failing;
    return run.driver->ExecuteCompilation(c, failing);
  }
  // As Clang's driver does: a file that fails takes only what is made of it along.
  std::set<const clang::driver::Action *> failed;
  for (const clang::driver::Command &job : c.getJobs()) {
    if (isAfter(job.getSource(), failed))
      continue;
    if (c.getArgs().hasArg(clang::options::OPT_v))
      job.Print(llvm::errs(), "\n", true);
    if (runJob(job, run.program.c_str(), setup))
      continue;
    failed.insert(&job.getSource());
    if (isStatic(c) && job.getSource().getKind() == clang::driver::Action::LinkJobClass)
      llvm::errs() << "note: the runtime of graphs is a shared library; link programs with markers without "
                      "'-static'\n";
    if (!run.driver->isSaveTempsEnabled())
      c.CleanupFileMap(c.getResultFiles(), cast<clang::driver::JobAction>(&job.getSource()));
  }
  c.CleanupFileList(c.getTempFiles());
  return failed.empty() ? 0 : 1;
}

OwningOpRef<ModuleOp> heterocpp::importFile(const std::string &path, const std::vector<std::string> &flags,
                                            const std::string &headers, const TargetNames &targets,
                                            MLIRContext *context) {
  CompileSetup setup;
  setup.context = context;
  setup.targets = targets;
  std::vector<std::string> words = {"--driver-mode=g++",         "-isystem",      headers, "-isystem",
                                    headers + "/tessera/compat", "-fsyntax-only", path};
  words.insert(words.end(), flags.begin(), flags.end());
  DriverRun run(std::move(words));
  if (!run.plan())
    return nullptr;
  OwningOpRef<ModuleOp> graphs;
  for (const clang::driver::Command &job : run.compilation->getJobs())
    if (isCompilation(job) &&
        !compile(llvm::ArrayRef(job.getArguments()).drop_front(), run.program.c_str(), setup, &graphs))
      return nullptr;
  return graphs;
}
