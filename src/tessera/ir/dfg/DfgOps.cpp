// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operations' syntax and accessors. What is allowed is in DfgVerify*.cpp.
#include "tessera/ir/dfg/Dfg.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Regex.h"

using namespace tessera;
using namespace tessera::dfg;

#define GET_OP_CLASSES
#include "tessera/ir/dfg/Dfg.cpp.inc"

//===----------------------------------------------------------------------===//
// dfg.graph
//===----------------------------------------------------------------------===//

// The attributes in braces. Those that the syntax itself spells may not be given a second time.
static ParseResult parseAttributes(OpAsmParser &parser, ArrayRef<StringRef> spelled,
                                   NamedAttrList &attributes) {
  NamedAttrList given;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDictWithKeyword(given))
    return failure();
  for (NamedAttribute attr : given) {
    if (llvm::is_contained(spelled, attr.getName().getValue()) || attributes.get(attr.getName()))
      return parser.emitError(loc) << "expected '" << attr.getName().getValue()
                                   << "' to be written in the operation's syntax, but got it as an attribute";
    attributes.push_back(attr);
  }
  return success();
}

// One result: `[name :] type`.
static ParseResult parseGraphResult(OpAsmParser &parser, SmallVectorImpl<Type> &types,
                                    SmallVectorImpl<Attribute> &names) {
  std::string name = "result" + std::to_string(types.size());
  Type type;
  OptionalParseResult asType = parser.parseOptionalType(type);
  if (asType.has_value()) {
    if (failed(*asType))
      return failure();
  } else if (parser.parseKeywordOrString(&name) || parser.parseColonType(type)) {
    return failure();
  }
  types.push_back(type);
  names.push_back(parser.getBuilder().getStringAttr(name));
  return success();
}

ParseResult GraphOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  SmallVector<OpAsmParser::Argument> args;
  SmallVector<Type> resultTypes;
  SmallVector<Attribute> argNames, resultNames;
  Builder &b = parser.getBuilder();
  if (succeeded(parser.parseOptionalKeyword("private")))
    result.addAttribute("sym_visibility", b.getStringAttr("private"));
  if (parser.parseSymbolName(name, "sym_name", result.attributes) ||
      parser.parseArgumentList(args, AsmParser::Delimiter::Paren, /*allowType=*/true))
    return failure();
  if (succeeded(parser.parseOptionalArrow())) {
    if (succeeded(parser.parseOptionalLParen())) {
      if (failed(parser.parseOptionalRParen()) && (parser.parseCommaSeparatedList([&] {
            return parseGraphResult(parser, resultTypes, resultNames);
          }) || parser.parseRParen()))
        return failure();
    } else if (parseGraphResult(parser, resultTypes, resultNames)) {
      return failure();
    }
  }
  if (parseAttributes(parser, {"sym_name", "function_type", "result_names"}, result.attributes))
    return failure();
  SmallVector<Type> argTypes;
  for (auto &arg : args) {
    argTypes.push_back(arg.type);
    argNames.push_back(b.getStringAttr(arg.ssaName.name.drop_front()));
  }
  result.addAttribute("function_type", TypeAttr::get(b.getFunctionType(argTypes, resultTypes)));
  // Names that were given explicitly (a name that is no valid SSA name) win over the SSA names.
  if (!result.attributes.get("arg_names"))
    result.addAttribute("arg_names", b.getArrayAttr(argNames));
  result.addAttribute("result_names", b.getArrayAttr(resultNames));
  return parser.parseRegion(*result.addRegion(), args);
}

// The names as the printer will show them; the attribute is printed only when they would be lost.
static bool namesSurvive(GraphOp graph, OpAsmPrinter &p) {
  for (auto [arg, name] : llvm::zip(graph.getBodyBlock()->getArguments(), graph.getArgNames())) {
    std::string printed;
    llvm::raw_string_ostream os(printed);
    p.printOperand(arg, os);
    if (StringRef(printed).drop_front() != cast<StringAttr>(name).getValue())
      return false;
  }
  return true;
}

// A bare word that the parser would take for the beginning of a type.
static bool startsLikeType(StringRef word) {
  static const llvm::Regex types(
      "^([su]?i[0-9]+|t?b?f[0-9]+.*|index|none|tensor|memref|vector|complex|tuple)$");
  return types.match(word);
}

void GraphOp::print(OpAsmPrinter &p) {
  p << " ";
  if (getSymVisibility() == "private")
    p << "private ";
  p.printSymbolName(getSymName());
  p << "(";
  llvm::interleaveComma(getBodyBlock()->getArguments(), p,
                        [&](BlockArgument arg) { p.printRegionArgument(arg); });
  p << ")";
  if (!getResultTypes().empty()) {
    p << " -> (";
    llvm::interleaveComma(llvm::zip(getResultNames(), getResultTypes()), p, [&](auto pair) {
      StringRef name = cast<StringAttr>(std::get<0>(pair)).getValue();
      if (startsLikeType(name))
        p.printString(name);
      else
        p.printKeywordOrString(name);
      p << ": " << std::get<1>(pair);
    });
    p << ")";
  }
  SmallVector<StringRef> elided = {"sym_name", "function_type", "result_names"};
  if (getSymVisibility() == "private")
    elided.push_back("sym_visibility");
  if (namesSurvive(*this, p))
    elided.push_back("arg_names");
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs(), elided);
  p << " ";
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/true);
}

void GraphOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  if (region.empty() || getArgNames().size() != region.getNumArguments())
    return;
  for (auto [arg, name] : llvm::zip(region.getArguments(), getArgNames()))
    setName(arg, cast<StringAttr>(name).getValue());
}

//===----------------------------------------------------------------------===//
// dfg.combiner
//===----------------------------------------------------------------------===//

ParseResult CombinerOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  SmallVector<OpAsmParser::Argument> args;
  TypedAttr identity;
  if (parser.parseSymbolName(name, "sym_name", result.attributes) ||
      parser.parseArgumentList(args, AsmParser::Delimiter::Paren, /*allowType=*/true) ||
      parser.parseKeyword("identity") || parser.parseAttribute(identity, "identity", result.attributes) ||
      parseAttributes(parser, {"sym_name", "identity"}, result.attributes))
    return failure();
  return parser.parseRegion(*result.addRegion(), args);
}

void CombinerOp::print(OpAsmPrinter &p) {
  p << " ";
  p.printSymbolName(getSymName());
  p << "(";
  llvm::interleaveComma(getBody().getArguments(), p, [&](BlockArgument arg) { p.printRegionArgument(arg); });
  p << ") identity " << getIdentity();
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"sym_name", "identity"});
  p << " ";
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// dfg.node: syntax
//===----------------------------------------------------------------------===//

namespace {
struct ParsedNode {
  SmallVector<OpAsmParser::Argument> ids, args;
  SmallVector<OpAsmParser::UnresolvedOperand> grid, inputs;
  SmallVector<Type> inputTypes, resultTypes;
  SmallVector<Attribute> ports, yields;
};
} // namespace

static ParseResult parseReduction(OpAsmParser &parser, ReductionAttr &reduction) {
  Attribute attr = ReductionAttr::parse(parser, Type());
  reduction = dyn_cast_if_present<ReductionAttr>(attr);
  return success(reduction != nullptr);
}

// `[each | in | out | inout | acc<…>] %arg = %operand : type`
static ParseResult parsePort(OpAsmParser &parser, ParsedNode &node) {
  PortMode mode = PortMode::Whole;
  ReductionAttr reduction;
  StringRef keyword;
  if (succeeded(parser.parseOptionalKeyword(&keyword, {"whole", "each", "in", "out", "inout", "acc"})))
    mode = *symbolizePortMode(keyword);
  if (mode == PortMode::Acc && parseReduction(parser, reduction))
    return failure();
  Type type;
  if (parser.parseArgument(node.args.emplace_back()) || parser.parseEqual() ||
      parser.parseOperand(node.inputs.emplace_back()) || parser.parseColonType(type))
    return failure();
  node.inputTypes.push_back(type);
  node.ports.push_back(PortAttr::get(parser.getContext(), mode, reduction));
  return success();
}

// `type [tile | reduce<kind> [dims] | fold<kind> [dims]]`
static ParseResult parseYieldedResult(OpAsmParser &parser, ParsedNode &node) {
  if (parser.parseType(node.resultTypes.emplace_back()))
    return failure();
  ResultMode mode = ResultMode::Gather;
  ReductionAttr reduction;
  SmallVector<int64_t> dims;
  StringRef keyword;
  if (succeeded(parser.parseOptionalKeyword(&keyword, {"gather", "tile", "reduce", "fold"})))
    mode = *symbolizeResultMode(keyword);
  if (mode >= ResultMode::Reduce) {
    if (parseReduction(parser, reduction))
      return failure();
    if (succeeded(parser.parseOptionalKeyword("over")) &&
        parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                       [&] { return parser.parseInteger(dims.emplace_back()); }))
      return failure();
  }
  node.yields.push_back(ResultAttr::get(parser.getContext(), mode, reduction, dims));
  return success();
}

ParseResult NodeOp::parse(OpAsmParser &parser, OperationState &result) {
  ParsedNode node;
  Builder &b = parser.getBuilder();
  StringAttr name;
  if (parser.parseSymbolName(name, "name", result.attributes))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("grid")) &&
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
        node.ids.emplace_back().type = b.getIndexType();
        return failure(parser.parseArgument(node.ids.back()) || parser.parseEqual() ||
                       parser.parseOperand(node.grid.emplace_back()));
      }))
    return failure();
  for (auto &id : node.ids)
    id.type = b.getIndexType();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] { return parsePort(parser, node); }))
    return failure();
  if (succeeded(parser.parseOptionalArrow())) {
    auto one = [&] { return parseYieldedResult(parser, node); };
    if (succeeded(parser.parseOptionalLParen())) {
      if (parser.parseCommaSeparatedList(one) || parser.parseRParen())
        return failure();
    } else if (one()) {
      return failure();
    }
  }
  if (parseAttributes(parser, {"name", "ports", "yields", "operandSegmentSizes"}, result.attributes) ||
      parser.resolveOperands(node.grid, b.getIndexType(), result.operands) ||
      parser.resolveOperands(node.inputs, node.inputTypes, parser.getCurrentLocation(), result.operands))
    return failure();
  SmallVector<OpAsmParser::Argument> args = node.ids;
  for (auto [arg, type, port] : llvm::zip(node.args, node.inputTypes, node.ports)) {
    arg.type = getArgType(type, cast<PortAttr>(port), node.ids.size());
    args.push_back(arg);
  }
  result.addTypes(node.resultTypes);
  for (auto [type, port] : llvm::zip(node.inputTypes, node.ports))
    if (cast<PortAttr>(port).isWritable())
      result.addTypes(type);
  result.addAttribute("ports", b.getArrayAttr(node.ports));
  result.addAttribute("yields", b.getArrayAttr(node.yields));
  result.addAttribute("operandSegmentSizes",
                      b.getDenseI32ArrayAttr({int32_t(node.grid.size()), int32_t(node.inputs.size())}));
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, args, /*enableNameShadowing=*/true))
    return failure();
  if (body->empty())
    body->emplaceBlock();
  // A leaf that only writes through ports yields nothing; its terminator may be left out.
  if (body->back().empty() || !body->back().back().mightHaveTrait<OpTrait::IsTerminator>()) {
    OpBuilder end(parser.getContext());
    end.setInsertionPointToEnd(&body->back());
    YieldOp::create(end, result.location);
  }
  return success();
}

static void printReduction(OpAsmPrinter &p, ReductionAttr reduction) { reduction.print(p); }

void NodeOp::print(OpAsmPrinter &p) {
  p << " ";
  p.printSymbolName(getName());
  if (getRank()) {
    p << " grid(";
    llvm::interleaveComma(llvm::zip(getIds(), getGrid()), p,
                          [&](auto pair) { p << std::get<0>(pair) << " = " << std::get<1>(pair); });
    p << ")";
  }
  p << " (";
  unsigned i = 0;
  llvm::interleaveComma(llvm::zip(getInputArgs(), getInputs()), p, [&](auto pair) {
    PortAttr port = getPort(i++);
    if (port.getMode() != PortMode::Whole)
      p << stringifyPortMode(port.getMode());
    if (port.getMode() == PortMode::Acc)
      printReduction(p, port.getReduction());
    if (port.getMode() != PortMode::Whole)
      p << " ";
    p << std::get<0>(pair) << " = " << std::get<1>(pair) << " : " << std::get<1>(pair).getType();
  });
  p << ")";
  if (getNumYields()) {
    p << " -> ";
    if (getNumYields() > 1)
      p << "(";
    for (unsigned r = 0; r < getNumYields(); ++r) {
      ResultAttr yield = getYield(r);
      p << (r ? ", " : "") << getResult(r).getType();
      if (yield.getMode() != ResultMode::Gather)
        p << " " << stringifyResultMode(yield.getMode());
      if (yield.isReduction())
        printReduction(p, yield.getReduction());
      if (!yield.getDims().empty()) {
        p << " over [";
        llvm::interleaveComma(yield.getDims(), p);
        p << "]";
      }
    }
    if (getNumYields() > 1)
      p << ")";
  }
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"name", "ports", "yields", "operandSegmentSizes"});
  p << " ";
  bool empty = getYieldOp() && getYieldOp()->getNumOperands() == 0;
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/!empty);
}

void NodeOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  static const char *ids[] = {"i", "j", "k"};
  // Also asked of a node that is being reported as malformed.
  size_t given = region.empty() ? 0 : region.getNumArguments();
  for (size_t d = 0; d < std::min<size_t>({getRank(), given, 3}); ++d)
    setName(region.getArgument(d), ids[d]);
}

//===----------------------------------------------------------------------===//
// dfg.node: accessors
//===----------------------------------------------------------------------===//

void NodeOp::build(OpBuilder &b, OperationState &state, StringRef name, ValueRange grid, ValueRange inputs,
                   ArrayRef<PortAttr> ports, TypeRange resultTypes, ArrayRef<ResultAttr> yields) {
  state.addAttribute("name", b.getStringAttr(name));
  state.addOperands(grid);
  state.addOperands(inputs);
  state.addAttribute("ports", b.getArrayAttr(SmallVector<Attribute>(ports.begin(), ports.end())));
  state.addAttribute("yields", b.getArrayAttr(SmallVector<Attribute>(yields.begin(), yields.end())));
  state.addAttribute("operandSegmentSizes",
                     b.getDenseI32ArrayAttr({int32_t(grid.size()), int32_t(inputs.size())}));
  state.addTypes(resultTypes);
  for (auto [input, port] : llvm::zip(inputs, ports))
    if (port.isWritable())
      state.addTypes(input.getType());
  Block *block = new Block();
  state.addRegion()->push_back(block);
  for (size_t d = 0; d < grid.size(); ++d)
    block->addArgument(b.getIndexType(), state.location);
  for (auto [input, port] : llvm::zip(inputs, ports))
    block->addArgument(getArgType(input.getType(), port, grid.size()), input.getLoc());
}

Type NodeOp::getArgType(Type operand, PortAttr port, unsigned rank) {
  auto tensor = dyn_cast<RankedTensorType>(operand);
  if (port.getMode() != PortMode::Each || !tensor || tensor.getRank() < int64_t(rank))
    return operand;
  if (tensor.getRank() == int64_t(rank))
    return tensor.getElementType();
  return RankedTensorType::get(tensor.getShape().drop_front(rank), tensor.getElementType());
}

Type NodeOp::getYieldedType(unsigned result) {
  Type type = getResult(result).getType();
  ResultAttr yield = getYield(result);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return type;
  if (yield.getMode() == ResultMode::Tile) {
    SmallVector<int64_t> shape(tensor.getShape());
    for (unsigned d = 0; d < getRank() && d < shape.size(); ++d) {
      std::optional<int64_t> extent = getConstantIntValue(getGrid()[d]);
      bool known = extent && *extent > 0 && !ShapedType::isDynamic(shape[d]);
      shape[d] = known && shape[d] % *extent == 0 ? shape[d] / *extent : ShapedType::kDynamic;
    }
    return RankedTensorType::get(shape, tensor.getElementType());
  }
  unsigned gathered = 0;
  for (unsigned d = 0; d < getRank(); ++d)
    gathered += !yield.reduces(d);
  if (tensor.getRank() < int64_t(gathered))
    return {};
  if (tensor.getRank() == int64_t(gathered) && getRank())
    return tensor.getElementType();
  return RankedTensorType::get(tensor.getShape().drop_front(gathered), tensor.getElementType());
}

OpResult NodeOp::getPortResult(unsigned input) {
  unsigned result = getNumYields();
  for (unsigned i = 0; i < input; ++i)
    result += getPort(i).isWritable();
  return cast<OpResult>(getResult(result));
}

std::optional<unsigned> NodeOp::getPortOfResult(unsigned result) {
  if (result < getNumYields())
    return std::nullopt;
  unsigned next = getNumYields();
  for (unsigned i = 0; i < getInputs().size(); ++i)
    if (getPort(i).isWritable() && next++ == result)
      return i;
  return std::nullopt;
}

bool NodeOp::isInternal() {
  return llvm::any_of(*getBodyBlock(), [](Operation &op) { return isa<NodeOp, CallOp, StateOp>(op); });
}

YieldOp NodeOp::getYieldOp() {
  return getBodyBlock()->empty() ? YieldOp() : dyn_cast<YieldOp>(getBodyBlock()->back());
}

//===----------------------------------------------------------------------===//
// Questions about operations
//===----------------------------------------------------------------------===//

ReductionAttr AccumulateOp::getReduction() {
  NodeOp leaf = getEnclosingLeaf(*this);
  auto arg = dyn_cast<BlockArgument>(getMemory());
  if (!leaf || !arg || arg.getOwner() != leaf.getBodyBlock() || arg.getArgNumber() < leaf.getRank())
    return {};
  PortAttr port = leaf.getPort(arg.getArgNumber() - leaf.getRank());
  return port.getMode() == PortMode::Acc ? port.getReduction() : ReductionAttr();
}

NodeOp dfg::getEnclosingLeaf(Operation *op) {
  auto node = op->getParentOfType<NodeOp>();
  return node && !node.isInternal() ? node : NodeOp();
}

bool dfg::isWiring(Operation *op) {
  if (isa<arith::ConstantOp>(op))
    return true;
  // What must hold of extents is checked before anything runs.
  if (op->getName().getStringRef() == "cf.assert")
    return true;
  // Views and extents of tensors and memrefs, and integer arithmetic; nothing with a region or an effect.
  if (op->getNumRegions() || !isMemoryEffectFree(op))
    return false;
  StringRef dialect = op->getName().getDialectNamespace();
  if (dialect == "arith" || dialect == "index")
    return llvm::all_of(op->getResultTypes(), [](Type t) { return t.isIntOrIndex(); }) &&
           llvm::all_of(op->getOperandTypes(), [](Type t) { return t.isIntOrIndex(); });
  StringRef name = op->getName().getStringRef();
  static const llvm::StringSet<> views = {"tensor.dim",          "tensor.cast",
                                          "tensor.empty",        "tensor.extract_slice",
                                          "tensor.expand_shape", "tensor.collapse_shape",
                                          "tensor.splat",        "memref.dim",
                                          "memref.cast",         "memref.subview",
                                          "memref.expand_shape", "memref.collapse_shape",
                                          "affine.apply",        "affine.min",
                                          "affine.max",          "nn.reshape"};
  return views.contains(name);
}
