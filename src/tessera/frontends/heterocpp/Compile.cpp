// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Compile.h. Clang's driver plans the jobs; compilations run in this process with our consumer beside
// Clang's code generator, everything else (assembling, linking, preprocessing alone) as the driver says.
#include "tessera/frontends/heterocpp/Compile.h"

#include "tessera/frontends/heterocpp/Source.h"

#include "clang/AST/GlobalDecl.h"
#include "clang/Basic/DiagnosticOptions.h"
#include "clang/Basic/TargetInfo.h"
#include "clang/CodeGen/BackendUtil.h"
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
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/TargetParser/Host.h"

using namespace tessera;
using namespace tessera::heterocpp;

namespace {

/// Parses once: our consumer sees the AST, then Clang's code generator makes the host module.
class HeteroAction : public clang::ASTFrontendAction {
public:
  HeteroAction(const CompileSetup &setup, std::optional<clang::BackendAction> backend)
      : setup(setup), backend(backend) {}

  OwningOpRef<ModuleOp> graphs; ///< when only they were asked for

protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance &ci,
                                                        llvm::StringRef file) override {
    source = file.str();
    std::vector<std::unique_ptr<clang::ASTConsumer>> consumers;
    auto own = std::make_unique<SourceUnit>(setup.context, setup.targets, ci.getDiagnostics());
    unit = own.get();
    consumers.push_back(std::move(own));
    if (backend) {
      output = ci.createDefaultOutputFile(
          *backend != clang::Backend_EmitAssembly && *backend != clang::Backend_EmitLL, file, extension());
      if (!output)
        return nullptr;
      // Launches are found again in the module by their places.
      clang::CodeGenOptions &options = ci.getCodeGenOpts();
      if (options.getDebugInfo() == llvm::codegenoptions::NoDebugInfo)
        options.setDebugInfo(llvm::codegenoptions::LocTrackingOnly);
      options.DebugColumnInfo = true;
      auto generator = clang::CreateLLVMCodeGen(ci, file, context);
      codegen = generator.get();
      consumers.push_back(std::move(generator));
    }
    return std::make_unique<clang::MultiplexConsumer>(std::move(consumers));
  }

  void ExecuteAction() override {
    ASTFrontendAction::ExecuteAction();
    clang::CompilerInstance &ci = getCompilerInstance();
    if (ci.getDiagnostics().hasErrorOccurred())
      return;
    // Checking alone makes the object, too: races are found on the way.
    std::optional<std::string> object = "";
    if (setup.makeObject && !unit->launches.empty())
      object = setup.makeObject(*unit->module, source);
    if (!object) {
      ci.getDiagnostics().Report(ci.getDiagnostics().getDiagnosticIDs()->getCustomDiagID(
          clang::DiagnosticIDs::Error, "the graphs of this file were not compiled"));
      return;
    }
    if (!backend) {
      graphs = std::move(unit->module);
      return;
    }
    if (!codegen->GetModule())
      return;
    auto mangle = [&](const clang::FunctionDecl *function) {
      if (const auto *made = dyn_cast<clang::CXXConstructorDecl>(function))
        return codegen->GetMangledName(clang::GlobalDecl(made, clang::Ctor_Base)).str();
      if (const auto *made = dyn_cast<clang::CXXDestructorDecl>(function))
        return codegen->GetMangledName(clang::GlobalDecl(made, clang::Dtor_Base)).str();
      return codegen->GetMangledName(clang::GlobalDecl(function)).str();
    };
    std::vector<HostLaunch> launches = unit->describeLaunches(mangle);
    std::vector<HostPush> pushes = unit->describePushes(mangle);
    std::unique_ptr<llvm::Module> module = codegen->ReleaseModule();
    rewriteHost(*module, launches, pushes, *object, setup.installer, setup.checks);
    clang::emitBackendOutput(ci, ci.getCodeGenOpts(), ci.getTarget().getDataLayoutString(), module.get(),
                             *backend, ci.getFileManager().getVirtualFileSystemPtr(), std::move(output));
  }

private:
  llvm::StringRef extension() const {
    switch (*backend) {
    case clang::Backend_EmitAssembly:
      return "s";
    case clang::Backend_EmitLL:
      return "ll";
    case clang::Backend_EmitBC:
      return "bc";
    default:
      return "o";
    }
  }

  const CompileSetup &setup;
  std::optional<clang::BackendAction> backend;
  llvm::LLVMContext context;
  SourceUnit *unit = nullptr;
  clang::CodeGenerator *codegen = nullptr;
  std::unique_ptr<llvm::raw_pwrite_stream> output;
  std::string source;
};

} // namespace

static std::optional<clang::BackendAction> getBackend(clang::frontend::ActionKind kind) {
  switch (kind) {
  case clang::frontend::EmitObj:
    return clang::Backend_EmitObj;
  case clang::frontend::EmitAssembly:
    return clang::Backend_EmitAssembly;
  case clang::frontend::EmitBC:
    return clang::Backend_EmitBC;
  case clang::frontend::EmitLLVM:
    return clang::Backend_EmitLL;
  default:
    return std::nullopt;
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
  std::optional<clang::BackendAction> backend = getBackend(invocation->getFrontendOpts().ProgramAction);
  clang::CompilerInstance ci(invocation);
  ci.createVirtualFileSystem();
  ci.createDiagnostics();
  bool isSource =
      !invocation->getFrontendOpts().Inputs.empty() &&
      invocation->getFrontendOpts().Inputs[0].getKind().getLanguage() != clang::Language::LLVM_IR &&
      invocation->getFrontendOpts().Inputs[0].getKind().getLanguage() != clang::Language::Asm;
  // Checking alone checks graphs, too.
  bool checks = invocation->getFrontendOpts().ProgramAction == clang::frontend::ParseSyntaxOnly;
  if (!graphs && ((!backend && !checks) || !isSource))
    return clang::ExecuteCompilerInvocation(&ci);
  HeteroAction action(setup, graphs ? std::nullopt : backend);
  bool good = ci.ExecuteAction(action);
  if (graphs)
    *graphs = std::move(action.graphs);
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
  clang::DiagnosticOptions options;
  clang::TextDiagnosticPrinter printer{llvm::errs(), options};
  clang::DiagnosticsEngine engine{clang::DiagnosticIDs::create(), options, &printer,
                                  /*ShouldOwnClient=*/false};
  std::string program = getClang();
  clang::driver::Driver driver{program, llvm::sys::getDefaultTargetTriple(), engine, "tessera cc",
                               llvm::vfs::getRealFileSystem()};
  std::vector<std::string> words;
  std::unique_ptr<clang::driver::Compilation> compilation;

  bool plan(std::vector<std::string> args) {
    words = std::move(args);
    std::vector<const char *> argv = {program.c_str()};
    for (const std::string &word : words)
      argv.push_back(word.c_str());
    driver.setProbePrecompiled(false);
    compilation.reset(driver.BuildCompilation(argv));
    return compilation && !engine.hasErrorOccurred();
  }
};
} // namespace

static bool isCompilation(const clang::driver::Command &job) {
  return !job.getArguments().empty() && llvm::StringRef(job.getArguments()[0]) == "-cc1";
}

int heterocpp::runDriver(std::vector<std::string> args, CompileSetup setup) {
  initializeTargets();
  for (const std::string &arg : args)
    setup.checks = arg == "-fcheck" || (setup.checks && arg != "-fno-check");
  llvm::erase_if(args, [](const std::string &arg) { return arg == "-fcheck" || arg == "-fno-check"; });
  std::vector<std::string> words = {"--driver-mode=g++", "-isystem", setup.headers, "-isystem",
                                    setup.headers + "/tessera/compat"};
  words.insert(words.end(), args.begin(), args.end());
  auto given = [&](std::initializer_list<llvm::StringRef> flags) {
    return llvm::any_of(args, [&](const std::string &arg) { return llvm::is_contained(flags, arg); });
  };
  if (!given({"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--version", "-nostdlib", "-shared-libgcc"}))
    words.insert(words.end(), {"-L" + setup.library, "-Wl,-rpath," + setup.library, "-ltessera"});
  DriverRun run;
  if (!run.plan(words))
    return 1;
  clang::driver::Compilation &c = *run.compilation;
  if (given({"-###"})) {
    llvm::SmallVector<std::pair<int, const clang::driver::Command *>> failing;
    return run.driver.ExecuteCompilation(c, failing);
  }
  int status = 0;
  for (const clang::driver::Command &job : c.getJobs()) {
    if (given({"-v"}))
      job.Print(llvm::errs(), "\n", true);
    if (isCompilation(job)) {
      llvm::ArrayRef<const char *> own = llvm::ArrayRef(job.getArguments()).drop_front();
      status = compile(own, run.program.c_str(), setup, nullptr) ? 0 : 1;
    } else {
      std::string error;
      bool failed = false;
      status = job.Execute({}, &error, &failed);
      if (!error.empty())
        llvm::errs() << "error: " << error << "\n";
      status = status ? 1 : 0;
    }
    if (status)
      break;
  }
  if (status)
    c.CleanupFileMap(c.getResultFiles(), nullptr);
  c.CleanupFileList(c.getTempFiles());
  return status;
}

OwningOpRef<ModuleOp> heterocpp::importFile(const std::string &path, const std::vector<std::string> &flags,
                                            const std::string &headers, MLIRContext *context) {
  CompileSetup setup;
  setup.context = context;
  std::vector<std::string> words = {"--driver-mode=g++",         "-isystem",      headers, "-isystem",
                                    headers + "/tessera/compat", "-fsyntax-only", path};
  words.insert(words.end(), flags.begin(), flags.end());
  DriverRun run;
  if (!run.plan(words))
    return nullptr;
  OwningOpRef<ModuleOp> graphs;
  for (const clang::driver::Command &job : run.compilation->getJobs())
    if (isCompilation(job) &&
        !compile(llvm::ArrayRef(job.getArguments()).drop_front(), run.program.c_str(), setup, &graphs))
      return nullptr;
  return graphs;
}
