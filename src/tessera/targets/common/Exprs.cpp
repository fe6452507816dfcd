// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Exprs.h.
#include "tessera/targets/common/Exprs.h"

#include "tessera/ir/nn/NnExtents.h"
#include "tessera/transforms/nn/graph/Rewrites.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

using namespace tessera;
using namespace tessera::plan;

std::optional<ElementType> plan::elementTypeOf(Type type) {
  if (type.isIndex())
    return ElementType::Index;
  if (auto integer = dyn_cast<IntegerType>(type))
    return parseElementType("i" + std::to_string(integer.getWidth()));
  if (type.isF16())
    return ElementType::F16;
  if (type.isBF16())
    return ElementType::BF16;
  if (type.isF32())
    return ElementType::F32;
  if (type.isF64())
    return ElementType::F64;
  return std::nullopt;
}

std::string plan::placeOf(Location loc) {
  std::string text;
  llvm::raw_string_ostream os(text);
  loc->walk([&](Location l) {
    StringRef name;
    if (auto named = dyn_cast<NameLoc>(l)) {
      name = named.getName();
      l = named.getChildLoc();
    }
    auto file = dyn_cast<FileLineColLoc>(l);
    if (!file)
      return WalkResult::advance();
    os << file.getFilename().getValue();
    // The node of a model has a name, but no line.
    if (file.getLine())
      os << ":" << file.getLine() << ":" << file.getColumn();
    else if (!name.empty())
      os << ": node '" << name << "'";
    return WalkResult::interrupt();
  });
  return text;
}

unsigned plan::typeBytes(Type type) {
  if (type.isIndex())
    return 8;
  return std::max(1u, type.getIntOrFloatBitWidth() / 8);
}

std::optional<ExprId> Env::translate(OpFoldResult v) {
  if (auto attr = dyn_cast<Attribute>(v))
    return program.constant(cast<IntegerAttr>(attr).getInt());
  return translate(cast<mlir::Value>(v));
}

std::optional<ExprId> Env::translate(mlir::Value v) {
  auto it = exprs.find(v);
  if (it != exprs.end())
    return it->second;
  std::optional<ExprId> e = build(v);
  if (e)
    exprs[v] = *e;
  return e;
}

std::optional<ExprId> Env::translateDim(mlir::Value v, int64_t d) {
  auto shaped = cast<ShapedType>(v.getType());
  if (shaped.hasRank() && (d < 0 || d >= shaped.getRank()))
    return std::nullopt;
  if (shaped.hasRank() && !shaped.isDynamicDim(d))
    return program.constant(shaped.getDimSize(d));
  auto it = values.find(v);
  if (it != values.end())
    return program.dim(it->second, d + partOf.lookup(v));
  Operation *def = v.getDefiningOp();
  if (!def)
    return std::nullopt;
  if (auto node = dyn_cast<dfg::NodeOp>(def)) {
    unsigned r = cast<OpResult>(v).getResultNumber();
    if (std::optional<unsigned> port = node.getPortOfResult(r))
      return translateDim(node.getInputs()[*port], d);
    return translateResultDim(node, r, d);
  }
  if (isa<tensor::CastOp, memref::CastOp, bufferization::ToTensorOp, bufferization::ToBufferOp>(def))
    return translateDim(def->getOperand(0), d);
  auto nth = [&](ValueRange dynamic) -> std::optional<ExprId> {
    unsigned index = 0;
    for (int64_t i = 0; i < d; ++i)
      index += shaped.isDynamicDim(i);
    return translate(dynamic[index]);
  };
  if (auto empty = dyn_cast<tensor::EmptyOp>(def))
    return nth(empty.getDynamicSizes());
  if (auto alloc = dyn_cast<bufferization::AllocTensorOp>(def); alloc && !alloc.getCopy())
    return nth(alloc.getDynamicSizes());
  if (auto alloc = dyn_cast<memref::AllocOp>(def))
    return nth(alloc.getDynamicSizes());
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(def))
    return translate(expand.getMixedOutputShape()[d]);
  if (auto expand = dyn_cast<memref::ExpandShapeOp>(def))
    return translate(expand.getMixedOutputShape()[d]);
  auto product = [&](mlir::Value source, ArrayRef<int64_t> group) {
    std::optional<ExprId> extent = program.constant(1);
    for (int64_t dim : group) {
      std::optional<ExprId> part = translateDim(source, dim);
      extent = part && extent ? std::optional(program.binary(ExprOp::Mul, *extent, *part)) : std::nullopt;
    }
    return extent;
  };
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(def))
    return product(collapse.getSrc(), collapse.getReassociationIndices()[d]);
  if (auto collapse = dyn_cast<memref::CollapseShapeOp>(def))
    return product(collapse.getSrc(), collapse.getReassociationIndices()[d]);
  // What is put into a tensor is a part of it, not its extent.
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(def))
    return translateDim(insert.getDest(), d);
  if (auto insert = dyn_cast<tensor::InsertOp>(def))
    return translateDim(insert.getDest(), d);
  if (auto slice = dyn_cast<OffsetSizeAndStrideOpInterface>(def)) {
    // Dimensions of extent 1 may have been dropped: result dimension d is the size of the d-th that was kept.
    llvm::SmallBitVector dropped(slice.getMixedSizes().size());
    if (auto extract = dyn_cast<tensor::ExtractSliceOp>(def))
      dropped = extract.getDroppedDims();
    else if (auto view = dyn_cast<memref::SubViewOp>(def))
      dropped = view.getDroppedDims();
    else if (int64_t(dropped.size()) != shaped.getRank())
      return std::nullopt;
    int64_t kept = 0;
    for (auto [i, size] : llvm::enumerate(slice.getMixedSizes()))
      if (!dropped[i] && kept++ == d)
        return translate(size);
    return std::nullopt;
  }
  // A layer that its target keeps as it is.
  if (isa<nn::NnOp>(def)) {
    if (auto source = nn::sourceOfExtent(def, d))
      return translateDim(source->first, source->second);
    std::optional<nn::ExtentRule> rule = nn::ruleOfExtent(def, d);
    std::optional<ExprId> extent = rule ? translateDim(rule->operand, rule->dim) : std::nullopt;
    if (!extent)
      return std::nullopt;
    auto plus = [&](ExprId e, int64_t n) {
      return n ? program.binary(ExprOp::Add, e, program.constant(n)) : e;
    };
    if (rule->divisor == 1)
      return plus(*extent, rule->add + rule->offset);
    return plus(program.binary(ExprOp::FloorDiv, plus(*extent, rule->add), program.constant(rule->divisor)),
                rule->offset);
  }
  if (auto dps = dyn_cast<DestinationStyleOpInterface>(def))
    return translateDim(dps.getTiedOpOperand(cast<OpResult>(v))->get(), d);
  if (auto branch = dyn_cast<scf::IfOp>(def); branch && !branch.getElseRegion().empty()) {
    unsigned r = cast<OpResult>(v).getResultNumber();
    std::optional<ExprId> yes = translateDim(branch.thenYield().getOperand(r), d),
                          no = translateDim(branch.elseYield().getOperand(r), d);
    if (!yes || !no || *yes == *no)
      return yes && no ? yes : std::nullopt;
    std::optional<ExprId> taken = translate(branch.getCondition());
    return taken ? std::optional(program.select(*taken, *yes, *no)) : std::nullopt;
  }
  if (auto loop = dyn_cast<scf::ForOp>(def))
    return translateDim(loop.getInitArgs()[cast<OpResult>(v).getResultNumber()], d);
  if (auto forall = dyn_cast<scf::ForallOp>(def))
    return translateDim(forall.getOutputs()[cast<OpResult>(v).getResultNumber()], d);
  return std::nullopt;
}

Env Env::inside(dfg::NodeOp node) {
  Env inner(program);
  inner.exprs = exprs;
  inner.values = values;
  inner.partOf = partOf;
  for (auto [i, arg] : llvm::enumerate(node.getInputArgs())) {
    mlir::Value operand = node.getInputs()[i];
    if (isa<ShapedType>(arg.getType())) {
      auto it = values.find(operand);
      if (it == values.end())
        continue;
      inner.values[arg] = it->second;
      unsigned part =
          partOf.lookup(operand) + (node.getPort(i).getMode() == dfg::PortMode::Each ? node.getRank() : 0);
      if (part)
        inner.partOf[arg] = part;
    } else if (operand.getType().isIntOrIndex() && arg.getType() == operand.getType()) {
      if (std::optional<ExprId> e = translate(operand))
        inner.exprs[arg] = *e;
    }
  }
  return inner;
}

std::optional<ExprId> Env::translateResultDim(dfg::NodeOp node, unsigned r, unsigned d) {
  auto type = cast<RankedTensorType>(node.getResult(r).getType());
  if (!type.isDynamicDim(d))
    return program.constant(type.getDimSize(d));
  dfg::ResultAttr yield = node.getYield(r);
  mlir::Value yielded = node.getYieldOp().getValues()[r];
  Env inner = inside(node);
  if (yield.getMode() == dfg::ResultMode::Tile) {
    std::optional<ExprId> tile = inner.translateDim(yielded, d);
    if (!tile || d >= node.getRank())
      return tile;
    std::optional<ExprId> extent = translate(node.getGrid()[d]);
    return extent ? std::optional(program.binary(ExprOp::Mul, *tile, *extent)) : std::nullopt;
  }
  unsigned gathered = 0;
  for (unsigned g = 0; g < node.getRank(); ++g)
    if (!yield.reduces(g) && gathered++ == d)
      return translate(node.getGrid()[g]);
  return inner.translateDim(yielded, d - gathered);
}

// An affine expression over operands that are themselves exprs.
static std::optional<ExprId> translateAffine(Program &p, AffineExpr e, ArrayRef<ExprId> dims,
                                             ArrayRef<ExprId> symbols) {
  if (auto c = dyn_cast<AffineConstantExpr>(e))
    return p.constant(c.getValue());
  if (auto d = dyn_cast<AffineDimExpr>(e))
    return dims[d.getPosition()];
  if (auto s = dyn_cast<AffineSymbolExpr>(e))
    return symbols[s.getPosition()];
  auto bin = cast<AffineBinaryOpExpr>(e);
  std::optional<ExprId> a = translateAffine(p, bin.getLHS(), dims, symbols),
                        b = translateAffine(p, bin.getRHS(), dims, symbols);
  if (!a || !b)
    return std::nullopt;
  switch (bin.getKind()) {
  case AffineExprKind::Add:
    return p.binary(ExprOp::Add, *a, *b);
  case AffineExprKind::Mul:
    return p.binary(ExprOp::Mul, *a, *b);
  case AffineExprKind::FloorDiv:
    return p.binary(ExprOp::FloorDiv, *a, *b);
  case AffineExprKind::CeilDiv:
    return p.binary(ExprOp::CeilDiv, *a, *b);
  case AffineExprKind::Mod:
    return p.binary(ExprOp::Mod, *a, *b);
  default:
    return std::nullopt;
  }
}

// What a scalar is read from, where the node only reads it; the scalar itself otherwise.
static mlir::Value scalarMemory(mlir::Value v) {
  if (auto element = v.getDefiningOp<tensor::ExtractOp>(); element && element.getIndices().empty())
    return element.getTensor();
  if (auto element = v.getDefiningOp<memref::LoadOp>(); element && element.getIndices().empty())
    if (mlir::Value from = element.getMemRef();
        llvm::all_of(from.getUsers(), [](Operation *user) { return isa<memref::LoadOp>(user); }))
      return from;
  return v;
}

std::optional<ExprId> Env::build(mlir::Value v) {
  Operation *def = v.getDefiningOp();
  // An integer in memory is read when the launch needs it; a state's is not known then.
  auto memory = values.find(scalarMemory(v));
  if (memory != values.end() && v.getType().isIntOrIndex()) {
    if (program.values[memory->second].kind == ValueKind::State)
      return std::nullopt;
    return program.load(memory->second);
  }
  if (!def)
    return std::nullopt;
  if (auto constant = dyn_cast<arith::ConstantOp>(def)) {
    auto integer = dyn_cast<IntegerAttr>(constant.getValue());
    if (!integer)
      return std::nullopt;
    return program.constant(v.getType().isInteger(1) ? int64_t(integer.getValue().getZExtValue())
                                                     : integer.getValue().getSExtValue());
  }
  if (isa<tensor::DimOp, memref::DimOp>(def)) {
    std::optional<int64_t> d = getConstantIntValue(def->getOperand(1));
    return d ? translateDim(def->getOperand(0), *d) : std::nullopt;
  }
  auto operand = [&](unsigned i) { return translate(def->getOperand(i)); };
  // A cast keeps the number when it cannot lose bits of what the plan computes in 64.
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(def))
    return def->getOperand(0).getType().isInteger(1) ? std::nullopt : operand(0);
  if (isa<arith::SelectOp>(def)) {
    auto c = operand(0), a = operand(1), b = operand(2);
    return c && a && b ? std::optional(program.select(*c, *a, *b)) : std::nullopt;
  }
  if (isa<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(def)) {
    AffineMap map = cast<AffineMapAttr>(def->getAttr("map")).getValue();
    SmallVector<ExprId> operands;
    for (unsigned i = 0; i < def->getNumOperands(); ++i) {
      std::optional<ExprId> e = operand(i);
      if (!e)
        return std::nullopt;
      operands.push_back(*e);
    }
    ArrayRef<ExprId> all(operands);
    std::optional<ExprId> result;
    for (AffineExpr e : map.getResults()) {
      std::optional<ExprId> r =
          translateAffine(program, e, all.take_front(map.getNumDims()), all.drop_front(map.getNumDims()));
      if (!r)
        return std::nullopt;
      result = !result
                   ? *r
                   : program.binary(isa<affine::AffineMinOp>(def) ? ExprOp::Min : ExprOp::Max, *result, *r);
    }
    return result;
  }
  // Arithmetic is exact in the plan only when the type is as wide as the plan's integers.
  bool wide = v.getType().isIndex() || v.getType().isInteger(64);
  static const llvm::StringMap<ExprOp> binaries = {
      {"arith.addi", ExprOp::Add},          {"arith.subi", ExprOp::Sub},
      {"arith.muli", ExprOp::Mul},          {"arith.minsi", ExprOp::Min},
      {"arith.maxsi", ExprOp::Max},         {"arith.floordivsi", ExprOp::FloorDiv},
      {"arith.ceildivsi", ExprOp::CeilDiv}, {"arith.ceildivui", ExprOp::CeilDiv},
      {"index.add", ExprOp::Add},           {"index.sub", ExprOp::Sub},
      {"index.mul", ExprOp::Mul},           {"index.mins", ExprOp::Min},
      {"index.maxs", ExprOp::Max},          {"index.floordivs", ExprOp::FloorDiv},
      {"index.ceildivs", ExprOp::CeilDiv}};
  auto it = binaries.find(def->getName().getStringRef());
  if (wide && it != binaries.end()) {
    auto a = operand(0), b = operand(1);
    return a && b ? std::optional(program.binary(it->second, *a, *b)) : std::nullopt;
  }
  // Truncating division agrees with floor division on numbers that are not negative, which extents are.
  if (wide && isa<arith::DivSIOp, arith::DivUIOp>(def)) {
    auto a = operand(0), b = operand(1);
    if (!a || !b)
      return std::nullopt;
    ExprId zero = program.constant(0);
    ExprId quotient = program.binary(ExprOp::FloorDiv, *a, *b);
    ExprId negated = program.binary(
        ExprOp::Sub, zero, program.binary(ExprOp::FloorDiv, program.binary(ExprOp::Sub, zero, *a), *b));
    return program.select(program.binary(ExprOp::Lt, *a, zero), negated, quotient);
  }
  // So does the remainder; below zero it has the dividend's sign.
  if (wide && isa<arith::RemSIOp>(def)) {
    auto a = operand(0), b = operand(1);
    if (!a || !b)
      return std::nullopt;
    ExprId zero = program.constant(0);
    ExprId negated = program.binary(ExprOp::Sub, zero,
                                    program.binary(ExprOp::Mod, program.binary(ExprOp::Sub, zero, *a), *b));
    return program.select(program.binary(ExprOp::Lt, *a, zero), negated, program.binary(ExprOp::Mod, *a, *b));
  }
  if (wide && isa<arith::RemUIOp>(def)) {
    auto a = operand(0), b = operand(1);
    return a && b ? std::optional(program.binary(ExprOp::Mod, *a, *b)) : std::nullopt;
  }
  if (auto cmp = dyn_cast<arith::CmpIOp>(def)) {
    if (!(cmp.getLhs().getType().isIndex() || cmp.getLhs().getType().isInteger(64)))
      return std::nullopt;
    auto a = operand(0), b = operand(1);
    if (!a || !b)
      return std::nullopt;
    switch (cmp.getPredicate()) {
    case arith::CmpIPredicate::eq:
      return program.binary(ExprOp::Eq, *a, *b);
    case arith::CmpIPredicate::ne:
      return program.binary(ExprOp::Ne, *a, *b);
    case arith::CmpIPredicate::slt:
      return program.binary(ExprOp::Lt, *a, *b);
    case arith::CmpIPredicate::sle:
      return program.binary(ExprOp::Le, *a, *b);
    case arith::CmpIPredicate::sgt:
      return program.binary(ExprOp::Lt, *b, *a);
    case arith::CmpIPredicate::sge:
      return program.binary(ExprOp::Le, *b, *a);
    default:
      return std::nullopt;
    }
  }
  return std::nullopt;
}
