// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers of schedule operations: written down, or from a parameter, as a tuner's knob gives them. Numbers.td
// says how an operation holds them.
#pragma once

#include "tessera/ir/LLVM.h"

#include "mlir/Dialect/Transform/IR/TransformTypes.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/IR/OpImplementation.h"

namespace tessera::schedule {

/// !transform.param<i64>
bool isNumber(Type type);

LogicalResult verifyNumbers(Operation *op);
void addStepEffects(Operation *op, SmallVectorImpl<MemoryEffects::EffectInstance> &effects);

/// An operation whose numbers that come from parameters are as many as its parameters.
template <typename OpTy> class TakesNumbers : public OpTrait::TraitBase<OpTy, TakesNumbers> {
public:
  static LogicalResult verifyTrait(Operation *op) { return verifyNumbers(op); }
};

/// An operation that consumes its handles, reads its parameters and makes new handles.
template <typename OpTy> class ConsumesHandles : public OpTrait::TraitBase<OpTy, ConsumesHandles> {
public:
  void getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
    addStepEffects(this->getOperation(), effects);
  }
};

/// Reads the numbers of a step that runs, in the order in which it spells them.
class NumberReader {
public:
  NumberReader(Operation *op, const transform::TransformState &state, OperandRange params)
      : op(op), state(state), params(params) {}

  /// What was written down, or what the next parameter gives, at least `least`. After a failure, any number.
  int64_t read(StringRef name, int64_t written, int64_t least = std::numeric_limits<int64_t>::min());
  SmallVector<int64_t> read(StringRef name, ArrayRef<int64_t> written);
  /// What stood against it.
  DiagnosedSilenceableFailure take() { return std::move(result); }

private:
  Operation *op;
  const transform::TransformState &state;
  OperandRange params;
  unsigned next = 0;
  DiagnosedSilenceableFailure result = DiagnosedSilenceableFailure::success();
};

using ParsedParams = SmallVectorImpl<OpAsmParser::UnresolvedOperand>;

/// A number and the word in front of it; without a word it must be there.
struct SpelledNumber {
  StringRef word;
  IntegerAttr &number;
};
/// Numbers in this order. Those with a word may be missing; they stay null.
ParseResult parseNumbers(OpAsmParser &parser, ArrayRef<SpelledNumber> numbers, ParsedParams &params);
struct PrintedNumber {
  StringRef word;
  IntegerAttr number;
  std::optional<int64_t> usual = {}; ///< is not printed
};
void printNumbers(OpAsmPrinter &printer, ArrayRef<PrintedNumber> numbers, OperandRange params);

/// Directives of assembly formats: a number alone, a list in brackets, and a number with a dimension behind
/// it.
ParseResult parseOneNumber(OpAsmParser &parser, IntegerAttr &number, ParsedParams &params);
void printOneNumber(OpAsmPrinter &printer, Operation *op, IntegerAttr number, OperandRange params);
ParseResult parseNumberList(OpAsmParser &parser, DenseI64ArrayAttr &numbers, ParsedParams &params);
void printNumberList(OpAsmPrinter &printer, Operation *op, DenseI64ArrayAttr numbers, OperandRange params);
ParseResult parseNumberAndDim(OpAsmParser &parser, IntegerAttr &number, IntegerAttr &dim,
                              ParsedParams &params);
void printNumberAndDim(OpAsmPrinter &printer, Operation *op, IntegerAttr number, IntegerAttr dim,
                       OperandRange params);

} // namespace tessera::schedule
