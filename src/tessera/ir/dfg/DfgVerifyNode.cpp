// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The numbered rules of nodes: where they stand, their grid, ports, results and hints. Operations may be
// built by programs or read in generic syntax, so nothing that the parser arranges is taken for granted here.
#include "tessera/ir/dfg/DfgVerify.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/StringSet.h"

using namespace tessera;
using namespace tessera::dfg;

//===----------------------------------------------------------------------===//
// Place, grid, hints
//===----------------------------------------------------------------------===//

static LogicalResult verifyPlace(NodeOp node) {
  Operation *parent = node->getParentOp();
  if (!isa_and_present<GraphOp, NodeOp>(parent))
    return node.emitOpError() << "expected a node to stand directly in a graph or an internal node, but got '"
                              << (parent ? parent->getName().getStringRef() : "nothing")
                              << "' around it (dfg-n1)";
  if (node.getName().empty())
    return node.emitOpError() << "expected a node to have a name, but got an empty one (dfg-n2)";
  return success();
}

static LogicalResult verifyGrid(NodeOp node) {
  if (node.getRank() > 3) {
    auto diag = node.emitOpError() << "expected a grid of at most 3 dimensions, but got " << node.getRank()
                                   << " (dfg-n3)";
    diag.attachNote() << "put further dimensions into loops inside the leaf, or into a group around it";
    return diag;
  }
  for (auto [d, extent] : llvm::enumerate(node.getGrid()))
    if (auto value = getConstantIntValue(extent); value && *value <= 0)
      return node.emitOpError() << "expected extent #" << d << " of the grid to be positive, but got "
                                << *value << " (dfg-n4)";
  return success();
}

static LogicalResult verifyHints(NodeOp node) {
  static constexpr StringLiteral levels[] = {"base", "elevated", "critical"};
  if (auto level = node.getCriticality(); level && !llvm::is_contained(levels, *level))
    return node.emitOpError() << "expected the criticality to be 'base', 'elevated' or 'critical', but got '"
                              << *level << "' (dfg-a1)";
  if (auto cost = node.getCost(); cost && (cost->isNegative() || !cost->isFinite()))
    return node.emitOpError() << "expected the cost to be finite and not negative, but got "
                              << cost->convertToDouble() << " (dfg-a2)";
  llvm::StringSet<> targets;
  if (auto names = node.getTargets()) {
    if (names->empty()) {
      auto diag =
          node.emitOpError() << "expected at least one allowed target, but got an empty list (dfg-a3)";
      diag.attachNote() << "leave 'targets' out to allow all";
      return diag;
    }
    for (StringRef name : names->getAsValueRange<StringAttr>()) {
      if (name.empty())
        return node.emitOpError() << "expected the name of an allowed target not to be empty (dfg-a3)";
      if (!targets.insert(name).second)
        return node.emitOpError() << "expected the allowed targets to differ, but got '" << name
                                  << "' twice (dfg-a3)";
    }
  }
  if (auto depth = node.getDepth(); depth && int64_t(*depth) < 1)
    return node.emitOpError() << "expected the depth of a queue to be at least 1, but got " << int64_t(*depth)
                              << " (dfg-a4)";
  if (auto versions = node.getVersions(); versions && node.getTargets())
    for (VersionAttr version : versions->getAsRange<VersionAttr>())
      if (!targets.contains(version.getTarget()))
        return node.emitOpError() << "expected each version to be for an allowed target, but got '"
                                  << version.getTarget() << "', which 'targets' does not list (dfg-a5)";
  return success();
}

//===----------------------------------------------------------------------===//
// Ports
//===----------------------------------------------------------------------===//

static LogicalResult verifyEachPort(NodeOp node, unsigned i) {
  Type type = node.getInputs()[i].getType();
  if (!node.getRank()) {
    auto diag = node.emitOpError() << "expected a grid for the 'each' port #" << i
                                   << ", but got none (dfg-n7)";
    diag.attachNote() << "a node without a grid receives its operands whole";
    return diag;
  }
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() < int64_t(node.getRank()))
    return node.emitOpError() << "expected a tensor with at least the grid's rank of " << node.getRank()
                              << " for the 'each' port #" << i << ", but got " << type << " (dfg-n8)";
  for (auto [d, extent] : llvm::enumerate(node.getGrid())) {
    auto value = getConstantIntValue(extent);
    if (!value || tensor.isDynamicDim(d) || tensor.getDimSize(d) == *value)
      continue;
    auto diag = node.emitOpError() << "expected dimension #" << d << " of the 'each' port #" << i
                                   << " to have the grid's extent " << *value << ", but got "
                                   << tensor.getDimSize(d) << " (dfg-n9)";
    diag.attachNote(extent.getLoc()) << "the extent comes from here";
    return diag;
  }
  return success();
}

static LogicalResult verifyPort(NodeOp node, unsigned i) {
  PortAttr port = node.getPort(i);
  Type type = node.getInputs()[i].getType();
  StringRef mode = stringifyPortMode(port.getMode());
  if (failed(verifyEdgeType(node, type, "operand #" + Twine(i))))
    return failure();
  if (isa<MemRefType>(type) && !port.isMemory())
    return node.emitOpError() << "expected a memory port ('in', 'out', 'inout' or 'acc') for operand #" << i
                              << " of type " << type << ", but got '" << mode << "' (dfg-m1)";
  if (port.isMemory() && !isa<MemRefType>(type)) {
    auto diag = node.emitOpError() << "expected a memref for the '" << mode << "' port #" << i << ", but got "
                                   << type << " (dfg-m1)";
    diag.attachNote() << "tensors and scalars are values: receive them whole, or 'each' its own";
    return diag;
  }
  bool accumulates = port.getMode() == PortMode::Acc;
  if (accumulates != bool(port.getReduction()))
    return node.emitOpError() << "expected a reduction on 'acc' ports and on no other, but got '" << mode
                              << "' port #" << i << (accumulates ? " without" : " with") << " one (dfg-r1)";
  if (accumulates)
    return verifyReductionKind(node, port.getReduction(), getElementTypeOrSelf(type), "port #" + Twine(i));
  return port.getMode() == PortMode::Each ? verifyEachPort(node, i) : success();
}

static LogicalResult verifyPorts(NodeOp node) {
  if (node.getPorts().size() != node.getInputs().size())
    return node.emitOpError() << "expected one port for each of " << node.getInputs().size()
                              << " operands, but got " << node.getPorts().size() << " (dfg-n5)";
  for (unsigned i = 0; i < node.getInputs().size(); ++i)
    if (failed(verifyPort(node, i)))
      return failure();

  Block::BlockArgListType args = node.getBodyBlock()->getArguments();
  size_t count = node.getRank() + node.getInputs().size();
  if (args.size() != count)
    return node.emitOpError() << "expected " << count
                              << " arguments of the body, an id for each dimension and one for "
                              << "each operand, but got " << args.size() << " (dfg-n6)";
  for (BlockArgument arg : args) {
    unsigned n = arg.getArgNumber(), rank = node.getRank();
    Type type = n < rank
                    ? Type(IndexType::get(node.getContext()))
                    : NodeOp::getArgType(node.getInputs()[n - rank].getType(), node.getPort(n - rank), rank);
    if (arg.getType() == type)
      continue;
    auto diag = node.emitOpError() << "expected argument #" << n << " of the body to have type " << type
                                   << ", but got " << arg.getType() << " (dfg-n6)";
    diag.attachNote(arg.getLoc()) << "the argument is here";
    return diag;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

static LogicalResult verifyReducedDims(NodeOp node, unsigned r, ResultAttr yield) {
  StringRef mode = stringifyResultMode(yield.getMode());
  if (yield.isReduction() != (yield.getReduction() || !yield.getDims().empty()) ||
      (yield.isReduction() && !yield.getReduction()))
    return node.emitOpError()
           << "expected a reduction on 'reduce' and 'fold' results and on no other, but got '" << mode
           << "' result #" << r << (yield.isReduction() ? " without" : " with") << " one (dfg-r1)";
  for (auto [k, dim] : llvm::enumerate(yield.getDims())) {
    if (dim < 0 || dim >= int64_t(node.getRank()))
      return node.emitOpError() << "expected the reduced dimensions of result #" << r
                                << " to be below the grid's rank of " << node.getRank() << ", but got " << dim
                                << " (dfg-r2)";
    if (k && dim <= yield.getDims()[k - 1])
      return node.emitOpError() << "expected the reduced dimensions of result #" << r << " to rise, but got "
                                << dim << " after " << yield.getDims()[k - 1] << " (dfg-r2)";
  }
  return success();
}

static LogicalResult verifyYieldMode(NodeOp node, unsigned r) {
  ResultAttr yield = node.getYield(r);
  Type type = node.getResult(r).getType();
  StringRef mode = stringifyResultMode(yield.getMode());
  if (isa<BaseMemRefType>(type)) {
    auto diag = node.emitOpError() << "expected result #" << r << " to be a value, but got " << type
                                   << " (dfg-m6)";
    diag.attachNote() << "memory leaves a node only as the result of a port that came in with it";
    return diag;
  }
  if (failed(verifyEdgeType(node, type, "result #" + Twine(r))) || failed(verifyReducedDims(node, r, yield)))
    return failure();
  if (!node.getRank() && yield.getMode() != ResultMode::Gather)
    return node.emitOpError() << "expected a grid for the '" << mode << "' result #" << r
                              << ", but got none (dfg-n10)";
  if (yield.isReduction() && failed(verifyReductionKind(node, yield.getReduction(),
                                                        getElementTypeOrSelf(type), "result #" + Twine(r))))
    return failure();

  unsigned kept = 0;
  for (unsigned d = 0; d < node.getRank(); ++d)
    kept += !yield.reduces(d);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (kept && (!tensor || tensor.getRank() < int64_t(kept)))
    return node.emitOpError() << "expected a tensor of rank " << kept << " or more for the '" << mode
                              << "' result #" << r
                              << ", a dimension for each one of the grid that is kept, but got " << type
                              << " (dfg-n11)";
  for (unsigned d = 0, at = 0; d < node.getRank(); ++d) {
    if (yield.reduces(d))
      continue;
    int64_t size = tensor.getDimSize(at++);
    auto extent = getConstantIntValue(node.getGrid()[d]);
    bool tiles = yield.getMode() == ResultMode::Tile;
    if (!extent || ShapedType::isDynamic(size) || (tiles ? size % *extent == 0 : size == *extent))
      continue;
    auto diag = node.emitOpError() << "expected dimension #" << at - 1 << " of result #" << r << " to be "
                                   << (tiles ? "a multiple of " : "") << "the grid's extent " << *extent
                                   << ", but got " << size << " (dfg-n12)";
    diag.attachNote(node.getGrid()[d].getLoc()) << "the extent comes from here";
    return diag;
  }
  return success();
}

static LogicalResult verifyResults(NodeOp node) {
  unsigned writable = 0;
  for (unsigned i = 0; i < node.getInputs().size(); ++i)
    writable += node.getPort(i).isWritable();
  if (node.getNumResults() != node.getNumYields() + writable)
    return node.emitOpError() << "expected " << node.getNumYields() << " yielded results and " << writable
                              << " of ports, but got " << node.getNumResults() << " in all (dfg-n13)";
  for (unsigned r = 0; r < node.getNumYields(); ++r)
    if (failed(verifyYieldMode(node, r)))
      return failure();
  for (unsigned i = 0; i < node.getInputs().size(); ++i) {
    if (!node.getPort(i).isWritable())
      continue;
    Type wanted = node.getInputs()[i].getType(), type = node.getPortResult(i).getType();
    if (type != wanted)
      return node.emitOpError() << "expected the result of port #" << i << " to have the operand's type "
                                << wanted << ", but got " << type << " (dfg-m3)";
  }
  return success();
}

LogicalResult NodeOp::verify() {
  if (failed(verifyPlace(*this)) || failed(verifyGrid(*this)) || failed(verifyHints(*this)) ||
      failed(verifyPorts(*this)) || failed(verifyResults(*this)))
    return failure();
  return success();
}

LogicalResult NodeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (unsigned i = 0; i < getInputs().size(); ++i)
    if (ReductionAttr reduction = getPort(i).getReduction())
      if (failed(
              verifyCombinerUse(*this, reduction, getElementTypeOrSelf(getInputs()[i].getType()), symbols)))
        return failure();
  for (unsigned r = 0; r < getNumYields(); ++r)
    if (ReductionAttr reduction = getYield(r).getReduction())
      if (failed(verifyCombinerUse(*this, reduction, getElementTypeOrSelf(getResult(r).getType()), symbols)))
        return failure();
  return verifyVersions(*this, symbols);
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

// Tiles may be smaller at run time than any static type says, so a static extent meets a dynamic one.
static bool fits(Type yielded, Type wanted, bool tiles) {
  if (yielded == wanted)
    return true;
  auto a = dyn_cast<RankedTensorType>(yielded), b = dyn_cast<RankedTensorType>(wanted);
  return tiles && a && b && a.getElementType() == b.getElementType() &&
         succeeded(verifyCompatibleShape(a.getShape(), b.getShape()));
}

static LogicalResult verifyYield(NodeOp node) {
  YieldOp yield = node.getYieldOp();
  if (!yield)
    return node.emitOpError() << "expected the body to end with 'dfg.yield', but got '"
                              << node.getBodyBlock()->back().getName() << "' (dfg-n14)";
  if (yield.getNumOperands() != node.getNumYields()) {
    auto diag = yield.emitOpError() << "expected " << node.getNumYields()
                                    << " values, one for each yielded result, but got "
                                    << yield.getNumOperands() << " (dfg-n15)";
    diag.attachNote(node.getLoc()) << "the results of node '" << node.getName() << "' are declared here";
    return diag;
  }
  for (auto [r, value] : llvm::enumerate(yield.getValues())) {
    Type wanted = node.getYieldedType(r);
    if (fits(value.getType(), wanted, node.getYield(r).getMode() == ResultMode::Tile))
      continue;
    auto diag = yield.emitOpError() << "expected value #" << r << " to have type " << wanted << ", but got "
                                    << value.getType() << " (dfg-n16)";
    diag.attachNote(node.getLoc()) << "by the '" << stringifyResultMode(node.getYield(r).getMode())
                                   << "' result of type " << node.getResult(r).getType() << " of node '"
                                   << node.getName() << "'";
    return diag;
  }
  return success();
}

// The memory of an `acc` port is only accumulated into: in a leaf by 'dfg.accumulate', in an internal node
// through ports of the children with the same reduction.
static LogicalResult verifyAccUses(NodeOp node, unsigned input) {
  ReductionAttr reduction = node.getPort(input).getReduction();
  SmallVector<Value> memory = {node.getInputArgs()[input]};
  while (!memory.empty()) {
    Value current = memory.pop_back_val();
    for (OpOperand &use : current.getUses()) {
      Operation *user = use.getOwner();
      if (isa<memref::DimOp>(user))
        continue;
      if (auto accumulate = dyn_cast<AccumulateOp>(user); accumulate && use.get() == accumulate.getMemory())
        continue;
      if (auto child = dyn_cast<NodeOp>(user)) {
        unsigned at = use.getOperandNumber() - child.getRank();
        if (child.getPort(at).getReduction() == reduction) {
          memory.push_back(child.getPortResult(at));
          continue;
        }
      }
      auto diag = user->emitOpError()
                  << "expected the memory of an 'acc' port only to be accumulated into with the "
                     "port's reduction, but got another use (dfg-m7)";
      diag.attachNote(node.getInputArgs()[input].getLoc())
          << "the port is here; declare it 'inout' to read and write";
      return diag;
    }
  }
  return success();
}

LogicalResult NodeOp::verifyRegions() {
  if (failed(verifyYield(*this)) || (isInternal() && failed(verifyGraphBlock(*this, *getBodyBlock()))))
    return failure();
  for (unsigned i = 0; i < getInputs().size(); ++i)
    if (getPort(i).getMode() == PortMode::Acc && failed(verifyAccUses(*this, i)))
      return failure();
  return isInternal() ? success() : verifyBarriers(*this);
}
