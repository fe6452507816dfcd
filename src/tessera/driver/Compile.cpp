// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a source file to a portable object: the stages import and graph, and the file itself.
#include "tessera/driver/Compiler.h"

#include "tessera/base/Container.h"
#include "tessera/base/Diag.h"
#include "tessera/base/File.h"
#include "tessera/base/Json.h"
#include "tessera/base/Progress.h"
#include "tessera/base/Trust.h"
#include "tessera/driver/Components.h"
#include "tessera/driver/Knobs.h"
#include "tessera/driver/Registry.h"
#include "tessera/driver/Schedule.h"
#include "tessera/ir/fault/Fault.h"
#include "tessera/transforms/check/Passes.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <nlohmann/json.hpp>

using namespace tessera;

// A pass that is at work, and on what.
static void noteAction(const tracing::Action &action) {
  auto *pass = dyn_cast<PassExecutionAction>(&action);
  if (!pass)
    return;
  auto name = pass->getOp()->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
  notePlace(("pass '" + pass->getPass().getName() + (name ? "' on" : "'")).str(),
            name ? name.getValue() : StringRef());
}

Session::Session(bool verbose) : sourceMgr(std::make_shared<llvm::SourceMgr>()) {
  DialectRegistry registry;
  registerDialects(registry);
  ctx = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  // The place and the message are for the author; the operation in generic form would be for us.
  ctx->printOpOnDiagnostic(false);
  // What the stages build without going through a pass, which would load it.
  ctx->loadDialect<dfg::DfgDialect, affine::AffineDialect, arith::ArithDialect,
                   bufferization::BufferizationDialect, fault::FaultDialect, func::FuncDialect,
                   linalg::LinalgDialect, LLVM::LLVMDialect, memref::MemRefDialect, scf::SCFDialect,
                   tensor::TensorDialect, transform::TransformDialect, vector::VectorDialect>();
  for (const std::string &name : getTargetNames()) {
    DialectRegistry own;
    findTarget(name)->registerDialects(own);
    for (StringRef dialect : own.getDialectNames())
      ctx->getOrLoadDialect(dialect);
  }
  handler = std::make_unique<SourceMgrDiagnosticHandler>(*sourceMgr, ctx.get());
  // A message about a whole file or option has no place to show; "<unknown>:0" in front of it would help
  // nobody.
  ctx->getDiagEngine().registerHandler([](Diagnostic &d) {
    if (!isa<UnknownLoc>(d.getLocation()) || d.getSeverity() != DiagnosticSeverity::Error ||
        !d.getNotes().empty())
      return failure();
    llvm::errs() << "error: " << d.str() << "\n";
    return success();
  });
  // The node of a model has a name, but no line.
  ctx->getDiagEngine().registerHandler([](Diagnostic &d) {
    auto name = dyn_cast<NameLoc>(d.getLocation());
    auto file = name ? dyn_cast<FileLineColLoc>(name.getChildLoc()) : FileLineColLoc();
    if (!file || file.getLine() != 0 || d.getSeverity() != DiagnosticSeverity::Error)
      return failure();
    llvm::errs() << "error: " << file.getFilename().getValue() << ": node '" << name.getName().getValue()
                 << "': " << d.str() << "\n";
    return success();
  });
  ctx->registerActionHandler([](function_ref<void()> run, const tracing::Action &action) {
    noteAction(action);
    run();
  });
  // Remarks say what could not be decided or was not done; they are for those who ask.
  if (!verbose)
    ctx->getDiagEngine().registerHandler(
        [](Diagnostic &d) { return success(d.getSeverity() == DiagnosticSeverity::Remark); });
}

Session::~Session() { handler.reset(); }

std::string tessera::printStage(ArrayRef<Operation *> ops) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (Operation *op : ops) {
    op->print(os, OpPrintingFlags().elideLargeElementsAttrs());
    os << "\n";
  }
  return text;
}

Status tessera::dumpStage(ArrayRef<Operation *> ops, Stage stage, const std::string &dir) {
  if (dir.empty() || ops.empty())
    return Status::success();
  if (std::error_code ec = llvm::sys::fs::create_directories(dir))
    return Status::error(StatusCode::Io, "cannot create folder '" + dir + "': " + ec.message());
  const int number = int(stage) + 1;
  return writeFile(dir + "/" + (number < 10 ? "0" : "") + std::to_string(number) + "-" + getInfo(stage).name +
                       ".mlir",
                   printStage(ops));
}

// Both modules of a portable object in one, so that one section holds them.
static constexpr StringLiteral scriptsName = "tessera_scripts";

static FailureOr<OwningOpRef<ModuleOp>> readScripts(Session &session, const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return emitError(UnknownLoc::get(&session.context()), "cannot read schedule '")
               << path << "': " << buffer.getError().message(),
           failure();
  auto own = std::make_shared<llvm::SourceMgr>();
  own->AddNewSourceBuffer(std::move(*buffer), SMLoc());
  OwningOpRef<ModuleOp> scripts = parseSourceFile<ModuleOp>(own, ParserConfig(&session.context()));
  if (!scripts)
    return failure();
  return scripts;
}

FailureOr<Portable> tessera::compileFile(Session &session, const std::string &path,
                                         const CompileOptions &options) {
  MLIRContext *ctx = &session.context();
  auto fail = [&](const Twine &text) -> FailureOr<Portable> {
    emitError(UnknownLoc::get(ctx)) << text;
    return failure();
  };
  const Frontend *frontend = findFrontend(path);
  if (!frontend) {
    std::vector<std::string> endings;
    for (auto &f : getFrontends())
      llvm::append_range(endings, f->extensions());
    return fail("no front end reads '" + llvm::sys::path::filename(path) +
                "'; known endings: " + joinNames(endings));
  }
  std::vector<std::string> known;
  for (auto &[name, help] : frontend->optionHelp())
    known.push_back(name);
  for (auto &[name, value] : options.frontend)
    if (!llvm::is_contained(known, name))
      return fail(
          known.empty()
              ? "the front end '" + frontend->name() + "' has no options, but got '" + name + "'"
              : unknownName("option", name, "options of the front end '" + frontend->name() + "'", known));
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/true);
  if (!buffer)
    return fail("cannot read '" + path + "': " + buffer.getError().message());
  session.sources()->AddNewSourceBuffer(std::move(*buffer), SMLoc());
  noteStage(getInfo(Stage::Import).name);
  Portable program;
  program.source = llvm::sys::path::filename(path).str();
  program.module = frontend->import(session.sources(), options.frontend, ctx);
  if (!program.module)
    return failure();
  if (program.module->getOps<dfg::GraphOp>().empty())
    return fail("'" + path + "' holds no graph; expected at least one 'dfg.graph'");
  if (Status s = dumpStage(program.module->getOperation(), Stage::Import, options.dumpDir); !s.ok())
    return fail(s.message());
  if (!options.schedulePath.empty()) {
    auto scripts = readScripts(session, options.schedulePath);
    if (failed(scripts))
      return failure();
    program.scripts = std::move(*scripts);
  }
  if (options.stopAfter == Stage::Import)
    return program;
  noteStage(getInfo(Stage::Graph).name);
  if (failed(adoptScripts(*program.module, program.scripts.get())))
    return failure();
  if (failed(runGraphStage(*program.module)))
    return failure();
  if (Status s = applyKnobMap(*program.module, options.knobs); !s.ok())
    return fail(s.message());
  if (Status s = dumpStage(program.module->getOperation(), Stage::Graph, options.dumpDir); !s.ok())
    return fail(s.message());
  return program;
}

static nlohmann::json describeGraphs(ModuleOp module) {
  nlohmann::json graphs = nlohmann::json::array();
  for (auto graph : module.getOps<dfg::GraphOp>()) {
    auto list = [](ArrayAttr names, ArrayRef<Type> types) {
      nlohmann::json ports = nlohmann::json::array();
      for (auto [name, type] : llvm::zip(names, types)) {
        std::string text;
        llvm::raw_string_ostream(text) << type;
        ports.push_back({{"name", cast<StringAttr>(name).str()}, {"type", text}});
      }
      return ports;
    };
    graphs.push_back({{"name", graph.getSymName().str()},
                      {"inputs", list(graph.getArgNames(), graph.getArgumentTypes())},
                      {"outputs", list(graph.getResultNames(), graph.getResultTypes())}});
  }
  return graphs;
}

static Status fillContainer(Portable &program, ContainerWriter &writer) {
  OwningOpRef<ModuleOp> whole = cast<ModuleOp>(program.module->getOperation()->clone());
  if (program.scripts) {
    OpBuilder b = OpBuilder::atBlockEnd(whole->getBody());
    auto scripts = cast<ModuleOp>(b.clone(*program.scripts->getOperation()));
    scripts.setSymName(scriptsName);
  }
  std::string bytecode;
  llvm::raw_string_ostream os(bytecode);
  BytecodeWriterConfig config("tessera " TESSERA_VERSION);
  if (failed(writeBytecodeToFile(*whole, os, config)))
    return Status::error(StatusCode::Internal, "the program cannot be written as bytecode");
  nlohmann::json meta = {
      {"tessera", TESSERA_VERSION}, {"source", program.source}, {"graphs", describeGraphs(*program.module)}};
  writer.add("ir", std::move(bytecode));
  writer.add("meta", dumpJson(meta));
  return Status::success();
}

Status tessera::writePortable(Portable &program, const std::string &path) {
  ContainerWriter writer(ContainerKind::PortableObject, LLVM_VERSION_MAJOR);
  TESSERA_TRY(fillContainer(program, writer));
  return writer.write(path);
}

Result<std::string> tessera::portableBytes(Portable &program) {
  ContainerWriter writer(ContainerKind::PortableObject, LLVM_VERSION_MAJOR);
  TESSERA_TRY(fillContainer(program, writer));
  return writer.bytes();
}

Result<Portable> tessera::readPortable(Session &session, const std::string &path) {
  Result<Container> file = Container::open(path);
  if (!file.ok())
    return file.status();
  if (Status trust = checkTrust(*file); !trust.ok())
    return trust;
  if (file->kind() != ContainerKind::PortableObject)
    return Status::error(StatusCode::InvalidArgument,
                         "'" + path + "' is an installed program (.tsx); expected a portable object (.tsr)");
  if (file->llvmMajor() != LLVM_VERSION_MAJOR)
    return Status::error(StatusCode::Unsupported,
                         "'" + path + "' was written with LLVM " + std::to_string(file->llvmMajor()) +
                             ", but this tessera reads LLVM " + std::to_string(LLVM_VERSION_MAJOR) +
                             "; compile the program again");
  auto ir = file->section("ir");
  if (!ir.ok())
    return ir.status();
  // The bytecode starts at a page multiple of the mapping, so large constants are read in place.
  auto buffer =
      llvm::MemoryBuffer::getMemBuffer(StringRef(reinterpret_cast<const char *>(ir->data()), ir->size()),
                                       path, /*RequiresNullTerminator=*/false);
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(buffer), SMLoc());
  Block block;
  ParserConfig config(&session.context());
  if (failed(readBytecodeFile(sources, &block, config)))
    return Status::error(StatusCode::Corrupt, "'" + path + "' holds bytecode that cannot be read");
  auto module = block.empty() ? ModuleOp() : dyn_cast<ModuleOp>(block.front());
  if (!module)
    return Status::error(StatusCode::Corrupt, "'" + path + "' holds no module");
  module->remove();
  Portable program;
  program.module = module;
  for (ModuleOp inner : llvm::make_early_inc_range(module.getOps<ModuleOp>()))
    if (inner.getSymName() == scriptsName) {
      inner->remove();
      program.scripts = inner;
    }
  PassManager rules(&session.context());
  rules.addPass(createCheckDimsPass());
  if (failed(verify(*program.module)) || failed(rules.run(*program.module)))
    return Status::error(StatusCode::Corrupt, "'" + path + "' holds a program that breaks the rules");
  auto meta = file->text("meta");
  if (!meta.ok())
    return meta.status();
  if (auto json = parseJson(*meta); json.is_object())
    if (auto source = json.find("source"); source != json.end() && source->is_string())
      program.source = source->get<std::string>();
  // The mapping must live as long as constants point into it.
  static std::vector<std::shared_ptr<const MappedFile>> mappings;
  mappings.push_back(file->file());
  return program;
}
