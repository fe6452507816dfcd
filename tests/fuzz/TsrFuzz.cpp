// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fuzzes portable objects whose programs break no rule: an input is a program as text, whose operations are
// changed, exchanged, doubled and dropped as long as the verifier agrees. It is written as a portable object,
// read again and installed, or refused with a message. Forged bytecode is no aim: its reader is not ours, and
// runs in a child process.
#include "Fuzz.h"
#include "Isolated.h"
#include "tessera/driver/Compiler.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

using namespace tessera;
using Random = std::mt19937_64;

static Session &session() {
  static Session *session = new Session;
  return *session;
}

static OwningOpRef<ModuleOp> parse(const std::string &text) {
  // What is wrong with a mutated program is of no interest here.
  ScopedDiagnosticHandler silent(&session().context(), [](Diagnostic &) { return success(); });
  return parseSourceString<ModuleOp>(text, ParserConfig(&session().context()));
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  OwningOpRef<ModuleOp> module = parse(std::string(reinterpret_cast<const char *>(data), size));
  if (!module || module->getOps<dfg::GraphOp>().empty())
    return 0;
  fuzz::isolated([&] {
    Portable program;
    program.module = std::move(module);
    program.source = "fuzz";
    if (failed(runGraphStage(*program.module)))
      return;
    std::string path = "fuzz-" + std::to_string(getpid()) + ".tsr";
    if (!writePortable(program, path).ok())
      std::abort();
    Result<Portable> again = readPortable(session(), path);
    unlink(path.c_str());
    if (!again.ok())
      std::abort();
    std::vector<Portable> programs;
    programs.push_back(again.take());
    (void)install(session(), programs, {});
  });
  return 0;
}

//===---------------------------------------------------------------------------------------------------------------===//
// Mutations
//===---------------------------------------------------------------------------------------------------------------===//

static std::vector<Operation *> operationsOf(ModuleOp module) {
  std::vector<Operation *> all;
  module.walk([&](Operation *op) {
    if (op != module)
      all.push_back(op);
  });
  return all;
}

// Installing several graphs for each input would only take longer.
static void keepOneGraph(ModuleOp module, Random &random) {
  std::vector<dfg::GraphOp> open;
  for (auto graph : module.getOps<dfg::GraphOp>())
    if (graph.getSymVisibility() != "private")
      open.push_back(graph);
  if (open.size() < 2)
    return;
  dfg::GraphOp kept = open[random() % open.size()];
  for (dfg::GraphOp graph : open)
    if (graph != kept && SymbolTable::symbolKnownUseEmpty(graph, module))
      graph->erase();
}

static int64_t anyNumber(int64_t old, Random &random) {
  static const int64_t numbers[] = {0,  1,   2,  3,  4,         7,         8,       16,       17,
                                    64, 100, -1, -2, INT64_MAX, INT64_MIN, 1 << 20, 1LL << 33};
  switch (random() % 4) {
  case 0:
    return static_cast<int64_t>(uint64_t(old) + 1);
  case 1:
    return static_cast<int64_t>(uint64_t(old) - 1);
  default:
    return numbers[random() % std::size(numbers)];
  }
}

static Attribute changed(Attribute attr, Random &random) {
  MLIRContext *ctx = attr.getContext();
  if (auto number = dyn_cast<IntegerAttr>(attr)) {
    unsigned width = number.getType().isIndex() ? 64 : number.getType().getIntOrFloatBitWidth();
    APInt value = number.getValue();
    if (width == 64)
      return IntegerAttr::get(number.getType(), anyNumber(value.getSExtValue(), random));
    return IntegerAttr::get(number.getType(), APInt(width, random(), false, /*implicitTrunc=*/true));
  }
  if (auto number = dyn_cast<FloatAttr>(attr)) {
    static const double numbers[] = {0, -0.0, 1, -1, 1e30, 1e-30, INFINITY, NAN};
    return FloatAttr::get(number.getType(), numbers[random() % std::size(numbers)]);
  }
  if (auto list = dyn_cast<DenseI64ArrayAttr>(attr)) {
    SmallVector<int64_t> values(list.asArrayRef());
    if (values.empty() || random() % 8 == 0)
      values.push_back(anyNumber(0, random));
    else if (random() % 8 == 0)
      values.pop_back();
    else {
      int64_t &value = values[random() % values.size()];
      value = anyNumber(value, random);
    }
    return DenseI64ArrayAttr::get(ctx, values);
  }
  if (auto list = dyn_cast<ArrayAttr>(attr); list && !list.empty()) {
    SmallVector<Attribute> values(list.begin(), list.end());
    Attribute &value = values[random() % values.size()];
    value = changed(value, random);
    return ArrayAttr::get(ctx, values);
  }
  if (auto flag = dyn_cast<BoolAttr>(attr))
    return BoolAttr::get(ctx, !flag.getValue());
  return attr;
}

static void changeAttribute(Operation *op, ArrayRef<Operation *> all, Random &random) {
  SmallVector<NamedAttribute> attrs(op->getAttrs());
  if (attrs.empty() || random() % 8 == 0) {
    // A note that another operation carries.
    SmallVector<NamedAttribute> notes(all[random() % all.size()]->getDiscardableAttrs());
    if (!notes.empty()) {
      NamedAttribute note = notes[random() % notes.size()];
      if (!op->getInherentAttr(note.getName()))
        op->setDiscardableAttr(note.getName(), note.getValue());
    }
    return;
  }
  NamedAttribute attr = attrs[random() % attrs.size()];
  if (!op->getInherentAttr(attr.getName()) && random() % 4 == 0) {
    op->removeDiscardableAttr(attr.getName());
    return;
  }
  op->setAttr(attr.getName(), changed(attr.getValue(), random));
  // A property takes no value of another kind and would stay empty, which no file can say.
  if (!op->getAttr(attr.getName()))
    op->setAttr(attr.getName(), attr.getValue());
}

static void changeOperand(Operation *op, ArrayRef<Operation *> all, Random &random) {
  if (op->getNumOperands() == 0)
    return;
  OpOperand &operand = op->getOpOperand(static_cast<unsigned>(random() % op->getNumOperands()));
  SmallVector<Value> values;
  for (Operation *other : all) {
    for (Value result : other->getResults())
      values.push_back(result);
    for (Region &region : other->getRegions())
      for (Block &block : region)
        llvm::append_range(values, block.getArguments());
  }
  llvm::erase_if(values, [&](Value value) { return value.getType() != operand.get().getType(); });
  if (!values.empty())
    operand.set(values[random() % values.size()]);
}

// Its users take the first value of the same type that is an operand.
static void drop(Operation *op) {
  for (Value result : op->getResults()) {
    auto same = llvm::find_if(op->getOperands(), [&](Value v) { return v.getType() == result.getType(); });
    if (same != op->operand_end())
      result.replaceAllUsesWith(*same);
  }
  if (op->use_empty() && !op->hasTrait<OpTrait::IsTerminator>())
    op->erase();
}

// A type with one extent changed, everywhere it stands.
static void changeExtent(ModuleOp module, ArrayRef<Operation *> all, Random &random) {
  SmallVector<RankedTensorType> types;
  for (Operation *op : all)
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && tensor.getRank())
        types.push_back(tensor);
  if (types.empty())
    return;
  RankedTensorType old = types[random() % types.size()];
  SmallVector<int64_t> shape(old.getShape());
  int64_t &extent = shape[random() % shape.size()];
  static const int64_t extents[] = {ShapedType::kDynamic, 0, 1, 2, 3, 5, 17, 1 << 20};
  extent = extents[random() % std::size(extents)];
  AttrTypeReplacer replacer;
  RankedTensorType fresh = old.clone(shape);
  replacer.addReplacement([&](Type type) -> std::optional<Type> {
    if (type == old)
      return fresh;
    return std::nullopt;
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

static void mutateOnce(ModuleOp module, Random &random) {
  std::vector<Operation *> all = operationsOf(module);
  if (all.empty())
    return;
  Operation *op = all[random() % all.size()];
  switch (random() % 8) {
  case 0:
  case 1:
  case 2:
    return changeAttribute(op, all, random);
  case 3:
  case 4:
    return changeOperand(op, all, random);
  case 5:
    return changeExtent(module, all, random);
  case 6:
    return drop(op);
  default:
    if (!op->hasTrait<OpTrait::IsTerminator>() && !isa<SymbolOpInterface>(op))
      op->getBlock()->getOperations().insert(std::next(op->getIterator()), op->clone());
  }
}

void fuzzMutate(std::string &input, const std::string &other, std::mt19937_64 &random) {
  OwningOpRef<ModuleOp> module = parse(input);
  if (!module)
    return;
  ScopedDiagnosticHandler silent(&session().context(), [](Diagnostic &) { return success(); });
  keepOneGraph(*module, random);
  // A change that the verifier refuses is taken back.
  for (uint64_t wanted = 1 + random() % 4, tries = 0; wanted && tries < 40; ++tries) {
    OwningOpRef<ModuleOp> candidate = cast<ModuleOp>(module->getOperation()->clone());
    mutateOnce(*candidate, random);
    if (failed(verify(*candidate)))
      continue;
    module = std::move(candidate);
    --wanted;
  }
  input.clear();
  llvm::raw_string_ostream(input) << *module;
}

std::vector<std::string> fuzzSeeds() {
  return {R"(dfg.graph @saxpy(%a: f32, %x: tensor<?xf32>, %y: tensor<?xf32>) -> (z: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %z = dfg.node @axpy grid(%i = %n) (%s = %a : f32, each %p = %x : tensor<?xf32>, each %q = %y : tensor<?xf32>) -> tensor<?xf32> {
    %t = arith.mulf %s, %p : f32
    %r = arith.addf %t, %q : f32
    dfg.yield %r : f32
  }
  dfg.return %z : tensor<?xf32>
})"};
}
