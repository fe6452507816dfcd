// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Numbers.h.
#include "tessera/transforms/schedule/Numbers.h"

#include "mlir/Dialect/Transform/IR/TransformTypes.h"

using namespace tessera;
using namespace tessera::schedule;

bool schedule::isNumber(Type type) {
  auto param = dyn_cast<transform::ParamType>(type);
  return param && param.getType().isInteger(64);
}

LogicalResult schedule::verifyNumbers(Operation *op) {
  size_t open = 0;
  for (NamedAttribute attribute : op->getAttrDictionary()) {
    if (auto number = dyn_cast<IntegerAttr>(attribute.getValue()))
      open += number.getType().isInteger(64) && ShapedType::isDynamic(number.getInt());
    else if (auto list = dyn_cast<DenseI64ArrayAttr>(attribute.getValue()))
      open += llvm::count_if(list.asArrayRef(), ShapedType::isDynamic);
  }
  size_t params = llvm::count_if(op->getOperandTypes(), isNumber);
  if (open != params)
    return op->emitOpError() << "expected " << open << " parameters for its numbers, but got " << params;
  return success();
}

void schedule::addStepEffects(Operation *op, SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpOperand &operand : op->getOpOperands())
    if (isa<transform::TransformParamTypeInterface>(operand.get().getType()))
      transform::onlyReadsHandle(operand, effects);
    else
      transform::consumesHandle(operand, effects);
  transform::producesHandle(op->getOpResults(), effects);
  transform::modifiesPayload(effects);
}

int64_t NumberReader::read(StringRef name, int64_t written, int64_t least) {
  if (!ShapedType::isDynamic(written) || !result.succeeded())
    return written;
  ArrayRef<Attribute> given = state.getParams(params[next++]);
  auto number = given.size() == 1 ? dyn_cast<IntegerAttr>(given.front()) : IntegerAttr();
  auto step = cast<transform::TransformOpInterface>(op);
  if (!number) {
    result = step.emitSilenceableError()
             << "expected a parameter of one number for '" << name << "', but got " << given.size();
    return written;
  }
  if (number.getInt() < least)
    result = step.emitSilenceableError() << "expected a parameter of at least " << least << " for '" << name
                                         << "', but got " << number.getInt();
  return number.getInt();
}

SmallVector<int64_t> NumberReader::read(StringRef name, ArrayRef<int64_t> written) {
  SmallVector<int64_t> numbers;
  for (int64_t number : written)
    numbers.push_back(read(name, number));
  return numbers;
}

//===----------------------------------------------------------------------===//
// Spelling
//===----------------------------------------------------------------------===//

ParseResult schedule::parseNumbers(OpAsmParser &parser, ArrayRef<SpelledNumber> numbers,
                                   ParsedParams &params) {
  Builder &b = parser.getBuilder();
  for (const SpelledNumber &spelled : numbers) {
    if (!spelled.word.empty() && failed(parser.parseOptionalKeyword(spelled.word)))
      continue;
    OpAsmParser::UnresolvedOperand param;
    int64_t number = ShapedType::kDynamic;
    if (OptionalParseResult is = parser.parseOptionalOperand(param); is.has_value()) {
      if (failed(*is))
        return failure();
      params.push_back(param);
    } else if (parser.parseInteger(number)) {
      return failure();
    }
    spelled.number = b.getI64IntegerAttr(number);
  }
  return success();
}

void schedule::printNumbers(OpAsmPrinter &printer, ArrayRef<PrintedNumber> numbers, OperandRange params) {
  unsigned next = 0;
  for (const PrintedNumber &printed : numbers) {
    if (!printed.number || printed.number.getInt() == printed.usual)
      continue;
    if (!printed.word.empty())
      printer << " " << printed.word << " ";
    if (ShapedType::isDynamic(printed.number.getInt()))
      printer << params[next++];
    else
      printer << printed.number.getInt();
  }
}

ParseResult schedule::parseOneNumber(OpAsmParser &parser, IntegerAttr &number, ParsedParams &params) {
  return parseNumbers(parser, {{"", number}}, params);
}

void schedule::printOneNumber(OpAsmPrinter &printer, Operation *, IntegerAttr number, OperandRange params) {
  printNumbers(printer, {{"", number}}, params);
}

ParseResult schedule::parseNumberList(OpAsmParser &parser, DenseI64ArrayAttr &numbers, ParsedParams &params) {
  SmallVector<int64_t> list;
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, [&] {
        IntegerAttr number;
        if (parseOneNumber(parser, number, params))
          return failure();
        list.push_back(number.getInt());
        return success();
      }))
    return failure();
  numbers = parser.getBuilder().getDenseI64ArrayAttr(list);
  return success();
}

void schedule::printNumberList(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr numbers,
                               OperandRange params) {
  unsigned next = 0;
  printer << "[";
  llvm::interleaveComma(numbers.asArrayRef(), printer, [&](int64_t number) {
    if (ShapedType::isDynamic(number))
      printer << params[next++];
    else
      printer << number;
  });
  printer << "]";
}

ParseResult schedule::parseNumberAndDim(OpAsmParser &parser, IntegerAttr &number, IntegerAttr &dim,
                                        ParsedParams &params) {
  return parseNumbers(parser, {{"", number}, {"dim", dim}}, params);
}

void schedule::printNumberAndDim(OpAsmPrinter &printer, Operation *, IntegerAttr number, IntegerAttr dim,
                                 OperandRange params) {
  printNumbers(printer, {{"", number}, {"dim", dim, 0}}, params);
}
