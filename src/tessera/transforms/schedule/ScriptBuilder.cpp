// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See ScriptBuilder.h.
#include "tessera/transforms/schedule/ScriptBuilder.h"

#include "tessera/base/Check.h"
#include "tessera/ir/note/Notes.h"

#include "mlir/Dialect/Linalg/TransformOps/LinalgTransformOps.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/LoopExtension/LoopExtensionOps.h"
#include "mlir/Dialect/Transform/TuneExtension/TuneExtensionOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Verifier.h"

using namespace tessera;
using namespace tessera::schedule;

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Location Steps::locate(StringRef name) const {
  Location unknown = UnknownLoc::get(b.getContext());
  return name.empty() ? unknown : NameLoc::get(StringAttr::get(b.getContext(), name), unknown);
}

Value Steps::match(StringRef name, AnyHandle in, StringRef kind, Type type,
                   std::optional<NamedAttribute> attribute) {
  auto attributes = attribute ? DictionaryAttr::get(b.getContext(), *attribute) : DictionaryAttr();
  return add<transform::MatchOp>(name, type, in.value(), b.getStrArrayAttr(kind),
                                 transform::MatchInterfaceEnumAttr(), attributes, TypeAttr(), ArrayAttr())
      ->getResult(0);
}

AnyHandle Steps::producerOf(StringRef name, AnyHandle op, unsigned operand) {
  return AnyHandle(add<transform::GetProducerOfOperand>(name, AnyHandle::type(b.getContext()), op.value(),
                                                        uint64_t(operand))
                       ->getResult(0));
}

Param Steps::knob(StringRef name, int64_t chosen, ArrayRef<int64_t> options) {
  SmallVector<Attribute> all;
  for (int64_t option : options)
    all.push_back(b.getI64IntegerAttr(option));
  return Param(add<transform::tune::KnobOp>(name, transform::ParamType::get(b.getContext(), b.getI64Type()),
                                            b.getStringAttr(name), b.getArrayAttr(all),
                                            b.getI64IntegerAttr(chosen))
                   .getResult());
}

std::pair<Value, Value> Steps::tileForall(Value op, Type type, ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> params;
  SmallVector<int64_t> numbers;
  dispatchIndexOpFoldResults(sizes, params, numbers);
  auto tiled = add<transform::TileUsingForallOp>("", type, Handle<scf::ForallOp>::type(b.getContext()), op,
                                                 ValueRange(), params, Value(), Value(), ArrayRef<int64_t>(),
                                                 numbers, ArrayAttr());
  return {tiled->getResult(0), tiled->getResult(1)};
}

std::pair<Value, Value> Steps::tileFor(Value op, Type type, ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> params;
  SmallVector<int64_t> numbers;
  dispatchIndexOpFoldResults(sizes, params, numbers);
  TESSERA_CHECK(llvm::count_if(numbers, [](int64_t size) { return size != 0; }) == 1);
  SmallVector<bool> scalable(sizes.size(), false);
  auto tiled =
      add<transform::TileUsingForOp>("", type, TypeRange(Handle<scf::ForOp>::type(b.getContext())), op,
                                     params, numbers, ArrayRef<int64_t>(), ArrayRef<bool>(scalable));
  return {tiled->getResult(0), tiled->getResult(1)};
}

Tiled<Operation, scf::ForallOp> Steps::fuseInto(AnyHandle producer, Handle<scf::ForallOp> tasks) {
  MLIRContext *context = b.getContext();
  auto fused = add<transform::FuseIntoContainingOp>(
      "", AnyHandle::type(context), Handle<scf::ForallOp>::type(context), producer.value(), tasks.value());
  return {AnyHandle(fused->getResult(0)), Handle<scf::ForallOp>(fused->getResult(1))};
}

void Steps::interchange(AnyHandle op, ArrayRef<int64_t> order) {
  add<transform::InterchangeOp>("turned", AnyHandle::type(b.getContext()), op.value(), order);
}

void Steps::vectorize(AnyHandle op) {
  add<transform::VectorizeOp>("", op.value(), ValueRange(), DenseI64ArrayAttr(), UnitAttr(), UnitAttr(),
                              UnitAttr(), DenseBoolArrayAttr());
}

void Steps::forEach(AnyHandle ops, StringRef name, function_ref<void(Steps &)> body) {
  auto loop = add<transform::ForeachOp>("", TypeRange(), ops.value(), /*with_zip_shortest=*/false);
  OpBuilder inner(b.getContext());
  Block *block = inner.createBlock(&loop.getBody(), {}, ops.value().getType(), locate(name));
  transform::YieldOp::create(inner, inner.getUnknownLoc());
  inner.setInsertionPointToStart(block);
  Steps steps(inner, AnyHandle(block->getArgument(0)));
  body(steps);
}

OpBuilder Steps::beginPatterns(AnyHandle target) {
  auto apply = add<transform::ApplyPatternsOp>("", target.value());
  Region &patterns = apply.getPatterns();
  return patterns.empty() ? OpBuilder::atBlockEnd(&patterns.emplaceBlock())
                          : OpBuilder::atBlockEnd(&patterns.front());
}

void Steps::applyCse(AnyHandle target) {
  add<transform::ApplyCommonSubexpressionEliminationOp>("", target.value());
}

void Steps::hoistSubsets(Handle<scf::ForOp> loops) {
  add<transform::HoistLoopInvariantSubsetsOp>("", loops.value());
}

//===----------------------------------------------------------------------===//
// Scripts
//===----------------------------------------------------------------------===//

ScriptBuilder::ScriptBuilder(MLIRContext *context) {
  script.module = ModuleOp::create(UnknownLoc::get(context));
  ModuleOp module = *script.module;
  module->setAttr(transform::TransformDialect::kWithNamedSequenceAttrName, UnitAttr::get(context));
  SharedNotes::version.set(module, scriptVersion);
}

Steps ScriptBuilder::addSequence(StringRef name, Phase phase, StringRef argument) {
  OpBuilder b = OpBuilder::atBlockEnd(script.module->getBody());
  Type any = AnyHandle::type(b.getContext());
  auto sequence = transform::NamedSequenceOp::create(b, b.getUnknownLoc(), name,
                                                     TypeAttr::get(b.getFunctionType(any, {})), StringAttr(),
                                                     ArrayAttr(), ArrayAttr());
  SharedNotes::phase.set(sequence, stringify(phase));
  Location named = NameLoc::get(b.getStringAttr(argument), b.getUnknownLoc());
  Block *block = b.createBlock(&sequence.getBody(), {}, any, named);
  transform::YieldOp::create(b, b.getUnknownLoc());
  b.setInsertionPointToStart(block);
  return Steps(b, AnyHandle(block->getArgument(0)));
}

Script ScriptBuilder::finish() {
  TESSERA_CHECK(succeeded(verify(*script.module)));
  return std::move(script);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

// The lines of a printed script with its comments between them. `places`, which says at which line of
// `plain` an operation stands, is changed to lines of the result.
static std::string addComments(StringRef plain, const Script &script, AsmState::LocationMap &places) {
  std::map<unsigned, StringRef> before; // by line of the plain text
  for (auto &[step, comment] : script.comments)
    before[places.lookup(step).first] = comment;
  std::string text;
  llvm::raw_string_ostream os(text);
  unsigned line = 0, added = 0;
  if (!script.note.empty()) {
    os << "// " << script.note << "\n";
    ++added;
  }
  std::vector<unsigned> moved = {0}; // lines of the plain text → lines of this one
  for (StringRef rest = plain; !rest.empty();) {
    auto [now, then] = rest.split('\n');
    if (auto it = before.find(++line); it != before.end()) {
      os.indent(now.size() - now.ltrim().size()) << "// " << it->second << "\n";
      ++added;
    }
    moved.push_back(line + added);
    os << now.rtrim() << "\n";
    rest = then;
  }
  for (auto &[op, place] : places)
    if (place.first < moved.size())
      place.first = moved[place.first];
  return text;
}

std::string schedule::printScript(const Script &script, StringRef file) {
  ModuleOp module = *script.module;
  AsmState::LocationMap places;
  AsmState state(module, OpPrintingFlags().printNameLocAsPrefix(), &places);
  std::string plain;
  llvm::raw_string_ostream os(plain);
  module->print(os, state);
  std::string text = addComments(plain, script, places);
  StringAttr name = StringAttr::get(module.getContext(), file);
  for (auto &[op, place] : places) {
    Location at = FileLineColLoc::get(name, place.first, place.second);
    auto named = dyn_cast<NameLoc>(op->getLoc());
    op->setLoc(named ? Location(NameLoc::get(named.getName(), at)) : at);
  }
  return text;
}
