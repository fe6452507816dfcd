// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See ScheduleOps.h. Each operation calls one rewrite of packed/.
#include "tessera/targets/cpu/ScheduleOps.h"

#include "tessera/targets/cpu/packed/Packed.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace tessera;
using namespace tessera::cpu;

using schedule::NumberReader;
using schedule::ParsedParams;
using ParsedHandle = OpAsmParser::UnresolvedOperand;

//===----------------------------------------------------------------------===//
// Spelling
//===----------------------------------------------------------------------===//

static ParseResult parseTiles(OpAsmParser &parser, ParsedHandle &target, IntegerAttr &rows,
                              IntegerAttr &columns, IntegerAttr &blocks, IntegerAttr &unroll,
                              IntegerAttr &task, IntegerAttr &split, ParsedParams &params) {
  return failure(parser.parseOperand(target) || schedule::parseNumbers(parser,
                                                                       {{"rows", rows},
                                                                        {"columns", columns},
                                                                        {"blocks", blocks},
                                                                        {"unroll", unroll},
                                                                        {"task", task},
                                                                        {"split", split}},
                                                                       params));
}

static void printTiles(OpAsmPrinter &printer, Operation *, Value target, IntegerAttr rows,
                       IntegerAttr columns, IntegerAttr blocks, IntegerAttr unroll, IntegerAttr task,
                       IntegerAttr split, OperandRange params) {
  printer << target;
  schedule::printNumbers(printer,
                         {{"rows", rows, 0},
                          {"columns", columns, 0},
                          {"blocks", blocks, 0},
                          {"unroll", unroll, 0},
                          {"task", task, 0},
                          {"split", split, 0}},
                         params);
}

static ParseResult parsePlaces(OpAsmParser &parser, ParsedHandle &target, IntegerAttr &rows,
                               IntegerAttr &columns, ParsedParams &params) {
  return failure(parser.parseOperand(target) ||
                 schedule::parseNumbers(parser, {{"rows", rows}, {"columns", columns}}, params));
}

static void printPlaces(OpAsmPrinter &printer, Operation *, Value target, IntegerAttr rows,
                        IntegerAttr columns, OperandRange params) {
  printer << target;
  schedule::printNumbers(printer, {{"rows", rows, 0}, {"columns", columns, 0}}, params);
}

static ParseResult parseStripTiles(OpAsmParser &parser, ParsedHandle &target, IntegerAttr &rows,
                                   IntegerAttr &columns, IntegerAttr &blocks, IntegerAttr &unroll,
                                   IntegerAttr &task, ParsedParams &params) {
  return failure(
      parser.parseOperand(target) ||
      schedule::parseNumbers(
          parser,
          {{"rows", rows}, {"columns", columns}, {"blocks", blocks}, {"unroll", unroll}, {"task", task}},
          params));
}

static void printStripTiles(OpAsmPrinter &printer, Operation *op, Value target, IntegerAttr rows,
                            IntegerAttr columns, IntegerAttr blocks, IntegerAttr unroll, IntegerAttr task,
                            OperandRange params) {
  printTiles(printer, op, target, rows, columns, blocks, unroll, task, IntegerAttr(), params);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "tessera/targets/cpu/ScheduleOps.cpp.inc"

namespace {
class CpuScheduleExtension : public transform::TransformDialectExtension<CpuScheduleExtension> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CpuScheduleExtension)
  using Base::Base;

  void init() {
    declareGeneratedDialect<memref::MemRefDialect>();
    declareGeneratedDialect<scf::SCFDialect>();
    declareGeneratedDialect<vector::VectorDialect>();
    registerTransformOps<
#define GET_OP_LIST
#include "tessera/targets/cpu/ScheduleOps.cpp.inc"
        >();
  }
};
} // namespace

void cpu::registerScheduleOps(DialectRegistry &registry) { registry.addExtensions<CpuScheduleExtension>(); }

DiagnosedSilenceableFailure LowerPackedOp::apply(transform::TransformRewriter &rewriter,
                                                 transform::TransformResults &,
                                                 transform::TransformState &state) {
  NumberReader numbers(*this, state, getParams());
  cpu::packed::Numbers given{numbers.read("rows", getRows()),     numbers.read("columns", getColumns()),
                             numbers.read("blocks", getBlocks()), numbers.read("unroll", getUnroll()),
                             numbers.read("task", getTask()),     numbers.read("split", getSplit())};
  if (auto diag = numbers.take(); !diag.succeeded())
    return diag;
  std::optional<cpu::packed::Dot> dot = cpu::packed::parseDot(getDot());
  if (!dot)
    return emitDefiniteFailure()
           << "unknown instruction '" << getDot()
           << "'; expected plain, vnni, bf16, madd, maddubs, usdot, amx-int8 or amx-bf16";
  given.dot = *dot;
  for (Operation *payload : llvm::to_vector(state.getPayloadOps(getTarget()))) {
    Location loc = payload->getLoc();
    std::string why;
    if (failed(cpu::packed::lower(rewriter, payload, cpu::packed::tilesFor(payload, given), why))) {
      auto diag = emitSilenceableError() << "cannot lower the layer: " << why;
      diag.attachNote(loc) << "payload op";
      return diag;
    }
  }
  return DiagnosedSilenceableFailure::success();
}

DiagnosedSilenceableFailure LowerSeparableOp::apply(transform::TransformRewriter &rewriter,
                                                    transform::TransformResults &,
                                                    transform::TransformState &state) {
  NumberReader firstNumbers(*this, state, getFirstParams()), numbers(*this, state, getParams());
  cpu::packed::DepthwiseTiles first{firstNumbers.read("rows", getFirstRows()),
                                    firstNumbers.read("columns", getFirstColumns())};
  cpu::packed::ConvTiles second{numbers.read("rows", getRows()), numbers.read("columns", getColumns()),
                                numbers.read("blocks", getBlocks()), numbers.read("unroll", getUnroll()),
                                numbers.read("task", getTask())};
  if (auto diag = firstNumbers.take(); !diag.succeeded())
    return diag;
  if (auto diag = numbers.take(); !diag.succeeded())
    return diag;
  SmallVector<Operation *> ones = llvm::to_vector(state.getPayloadOps(getFirst())),
                           others = llvm::to_vector(state.getPayloadOps(getSecond()));
  auto depthwise = ones.size() == 1 ? dyn_cast<cpu::PackedDepthwiseOp>(ones[0]) : cpu::PackedDepthwiseOp();
  auto conv = others.size() == 1 ? dyn_cast<cpu::PackedConvOp>(others[0]) : cpu::PackedConvOp();
  if (!depthwise || !conv)
    return emitSilenceableError() << "expected handles of one depthwise layer and one convolution";
  Location loc = depthwise.getLoc();
  std::string why;
  if (failed(cpu::packed::lowerSeparable(rewriter, depthwise, first, conv, second, why))) {
    auto diag = emitSilenceableError() << "cannot lower the layers: " << why;
    diag.attachNote(loc) << "payload op";
    return diag;
  }
  return DiagnosedSilenceableFailure::success();
}
