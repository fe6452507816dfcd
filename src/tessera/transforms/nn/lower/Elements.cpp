// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Elements.h: constants, extents and loops over elements.
#include "tessera/transforms/nn/lower/Elements.h"

#include "tessera/ir/nn/NnExtents.h"

#include "tessera/transforms/nn/lower/Steady.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace tessera;
using namespace tessera::nn;

Value nn::indexOf(OpBuilder &b, Location loc, int64_t v) { return arith::ConstantIndexOp::create(b, loc, v); }

Value nn::integerOf(OpBuilder &b, Location loc, Type type, int64_t v) {
  if (type.isIndex())
    return indexOf(b, loc, v);
  if (auto floating = dyn_cast<FloatType>(type))
    return constantOf(b, loc, type, double(v));
  unsigned width = type.getIntOrFloatBitWidth();
  return arith::ConstantOp::create(b, loc, IntegerAttr::get(type, APInt(64, uint64_t(v)).trunc(width)));
}

Value nn::constantOf(OpBuilder &b, Location loc, Type type, double v) {
  auto floating = dyn_cast<FloatType>(type);
  if (!floating)
    return integerOf(b, loc, type, int64_t(v));
  APFloat value(v);
  bool lost;
  value.convert(floating.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
  return arith::ConstantOp::create(b, loc, FloatAttr::get(type, value));
}

Value nn::asValue(OpBuilder &b, Location loc, OpFoldResult v) {
  return getValueOrCreateConstantIndexOp(b, loc, v);
}

OpFoldResult nn::applyExpr(OpBuilder &b, Location loc, AffineExpr expr, ArrayRef<OpFoldResult> values) {
  auto map = AffineMap::get(values.size(), 0, expr);
  return affine::makeComposedFoldedAffineApply(b, loc, map, values);
}

SmallVector<OpFoldResult> nn::extentsOf(OpBuilder &b, Location loc, Value tensor) {
  return tensor::getMixedSizes(b, loc, tensor);
}

SmallVector<OpFoldResult> nn::extentsOf(OpBuilder &b, RankedTensorType type, ValueRange dynamic) {
  return getMixedValues(type.getShape(), dynamic, b);
}

Value nn::emptyOf(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> extents, Type element) {
  return tensor::EmptyOp::create(b, loc, extents, element);
}

Value nn::filledWith(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> extents, Value v) {
  Value empty = emptyOf(b, loc, extents, v.getType());
  return linalg::FillOp::create(b, loc, ValueRange{v}, ValueRange{empty}).getResult(0);
}

Value nn::castTo(OpBuilder &b, Location loc, Value tensor, Type type) {
  return tensor.getType() == type ? tensor : tensor::CastOp::create(b, loc, type, tensor).getResult();
}

Value nn::withExtent(OpBuilder &b, Location loc, Value tensor, int64_t dim, int64_t extent) {
  SmallVector<int64_t> shape(typeOf(tensor).getShape());
  shape[dim] = extent;
  return castTo(b, loc, tensor, typeOf(tensor).clone(shape));
}

Value nn::mapElements(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> extents, Type element,
                      ValueRange operands, ArrayRef<AffineMap> maps, BodyBuilder body) {
  Value init = emptyOf(b, loc, extents, element);
  SmallVector<AffineMap> all(maps);
  all.push_back(b.getMultiDimIdentityMap(extents.size()));
  SmallVector<utils::IteratorType> iterators(extents.size(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(b, loc, init.getType(), operands, init, all, iterators,
                                   [&](OpBuilder &inner, Location at, ValueRange args) {
                                     Value y = body(inner, at, args.drop_back());
                                     linalg::YieldOp::create(inner, at, y);
                                   })
      .getResult(0);
}

Value nn::generate(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> extents, Type element,
                   function_ref<Value(OpBuilder &b, Location loc, ValueRange ids)> body) {
  return mapElements(b, loc, extents, element, {}, {}, [&](OpBuilder &inner, Location at, ValueRange) {
    return body(inner, at, loopIndices(inner, at, extents.size()));
  });
}

SmallVector<Value> nn::loopIndices(OpBuilder &b, Location loc, unsigned loops) {
  SmallVector<Value> ids;
  for (unsigned d = 0; d < loops; ++d)
    ids.push_back(linalg::IndexOp::create(b, loc, d));
  return ids;
}

AffineMap nn::broadcastMap(MLIRContext *ctx, RankedTensorType type, ArrayRef<OpFoldResult> extents) {
  SmallVector<AffineExpr> exprs;
  unsigned lead = extents.size() - type.getRank();
  for (int64_t d = 0; d < type.getRank(); ++d)
    exprs.push_back(type.getDimSize(d) == 1 && getConstantIntValue(extents[lead + d]) != 1
                        ? getAffineConstantExpr(0, ctx)
                        : getAffineDimExpr(lead + d, ctx));
  return AffineMap::get(extents.size(), 0, exprs, ctx);
}

//===----------------------------------------------------------------------===//
// Extents that are known to be equal
//===----------------------------------------------------------------------===//

// The operand of a node behind the argument of its body; null when there is none, or when only a part of it
// comes in.
static Value operandOf(Value v) {
  auto arg = dyn_cast<BlockArgument>(v);
  auto node = arg ? dyn_cast_or_null<dfg::NodeOp>(arg.getOwner()->getParentOp()) : dfg::NodeOp();
  return node && node.getRank() == 0 ? Value(node.getInputs()[arg.getArgNumber()]) : Value();
}

// What is done to an extent on its way, from the last step back to the first: a number is added, or it is
// divided by one (rounded down).
namespace {
struct Steps {
  SmallVector<std::pair<bool, int64_t>> all; // divided, or added; and the number
  void add(int64_t n) {
    if (n && !all.empty() && !all.back().first) {
      n += all.pop_back_val().second;
    }
    if (n)
      all.push_back({false, n});
  }
  void divide(int64_t n) {
    if (n != 1)
      all.push_back({true, n});
  }
  void append(const Steps &more) {
    for (auto [divided, n] : more.all)
      divided ? divide(n) : add(n);
  }
};
} // namespace

// One step of arithmetic on an index; false where there is none that is known.
static bool stepBack(Value &v, Steps &steps) {
  Operation *def = v.getDefiningOp();
  if (!def || def->getNumOperands() != 2)
    return false;
  std::optional<int64_t> n = getConstantIntValue(def->getOperand(1));
  if (!n)
    return false;
  if (isa<arith::AddIOp>(def))
    steps.add(*n);
  else if (isa<arith::SubIOp>(def))
    steps.add(-*n);
  else if (isa<arith::FloorDivSIOp>(def) && *n > 0)
    steps.divide(*n);
  else
    return false;
  v = def->getOperand(0);
  return true;
}

// Follows an extent to what decides it, through the nodes of the graph too unless it stays `local`: an index,
// or a dimension of a tensor that nothing computes. Both sides of a branch are followed, but not of ever
// more `branches` inside of one or before it: their paths multiply. With `steps` arithmetic is followed, too.
static void trace(Value &v, std::optional<int64_t> &dim, bool local = false, unsigned branches = 2,
                  Steps *steps = nullptr) {
  while (true) {
    if (Value outside = local ? Value() : operandOf(v)) {
      v = outside;
      continue;
    }
    if (!dim) {
      auto extent = v.getDefiningOp<tensor::DimOp>();
      std::optional<int64_t> d = extent ? getConstantIntValue(extent.getIndex()) : std::nullopt;
      if (!d && steps && stepBack(v, *steps))
        continue;
      if (!d)
        return;
      v = extent.getSource();
      dim = d;
      continue;
    }
    if (Value start = startOf(v)) {
      v = start;
      continue;
    }
    Operation *def = v.getDefiningOp();
    if (!def)
      return;
    auto type = cast<RankedTensorType>(v.getType());
    auto index = [&](OpFoldResult size) {
      auto value = dyn_cast<Value>(size);
      if (value) {
        v = value;
        dim.reset();
      }
      return bool(value);
    };
    if (auto conversion = dyn_cast<tensor::CastOp>(def)) {
      v = conversion.getSource();
    } else if (auto node = dyn_cast<dfg::NodeOp>(def)) {
      unsigned result = cast<OpResult>(v).getResultNumber();
      if (node.getRank() || node.getPortOfResult(result))
        return;
      v = node.getYieldOp().getValues()[result];
    } else if (auto reshape = dyn_cast<ReshapeOp>(def)) {
      unsigned position = 0;
      for (int64_t d = 0; d < *dim; ++d)
        position += type.isDynamicDim(d);
      if (!type.isDynamicDim(*dim) || !index(reshape.getExtents()[position]))
        return;
    } else if (auto empty = dyn_cast<tensor::EmptyOp>(def)) {
      if (!type.isDynamicDim(*dim) || !index(empty.getDynamicSize(*dim)))
        return;
    } else if (auto alloc = dyn_cast<bufferization::AllocTensorOp>(def)) {
      if (!type.isDynamicDim(*dim) || alloc.getCopy() ||
          !index(alloc.getDynamicSizes()[alloc.getIndexOfDynamicSize(*dim)]))
        return;
    } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(def)) {
      if (!index(expand.getMixedOutputShape()[*dim]))
        return;
    } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(def)) {
      if (slice.getSourceType().getRank() != type.getRank() || !index(slice.getMixedSizes()[*dim]))
        return;
    } else if (auto dps = dyn_cast<DestinationStyleOpInterface>(def)) {
      v = dps.getTiedOpOperand(cast<OpResult>(v))->get();
    } else if (auto loop = dyn_cast<scf::ForOp>(def)) {
      v = loop.getInitArgs()[cast<OpResult>(v).getResultNumber()];
    } else if (auto branch = dyn_cast<scf::IfOp>(def); branch && branches) {
      unsigned result = cast<OpResult>(v).getResultNumber();
      Value yes = branch.thenYield().getOperand(result), no = branch.elseYield().getOperand(result);
      std::optional<int64_t> yesDim = dim, noDim = dim;
      Steps yesSteps, noSteps;
      trace(yes, yesDim, local, branches - 1, steps ? &yesSteps : nullptr);
      trace(no, noDim, local, branches - 1, steps ? &noSteps : nullptr);
      if (yes != no || yesDim != noDim || yesSteps.all != noSteps.all)
        return;
      if (steps)
        steps->append(yesSteps);
      v = yes;
      dim = yesDim;
    } else if (isPacked(def) && *dim == 0) {
      // The batch.
      v = def->getOperand(0);
    } else if (std::optional<ExtentRule> rule = steps ? ruleOfExtent(def, *dim) : std::nullopt) {
      steps->add(rule->offset);
      steps->divide(rule->divisor);
      steps->add(rule->add);
      v = rule->operand;
      dim = rule->dim;
    } else {
      return;
    }
  }
}

static bool same(Value a, std::optional<int64_t> da, Value b, std::optional<int64_t> db) {
  Steps sa, sb;
  trace(a, da, /*local=*/false, 2, &sa);
  trace(b, db, /*local=*/false, 2, &sb);
  if (da != db || sa.all != sb.all)
    return false;
  if (a == b)
    return true;
  if (da)
    return false;
  // The same arithmetic on the same extents.
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  if (!x || !y || x->getName() != y->getName() || x->getNumRegions() || !isPure(x) ||
      x->getNumOperands() != y->getNumOperands() || x->getAttrDictionary() != y->getAttrDictionary() ||
      cast<OpResult>(a).getResultNumber() != cast<OpResult>(b).getResultNumber())
    return false;
  for (auto [p, q] : llvm::zip(x->getOperands(), y->getOperands()))
    if (!p.getType().isIntOrIndex() ? p != q : !same(p, std::nullopt, q, std::nullopt))
      return false;
  return true;
}

// Equal by what the leaf asserts of extents: whoever starts it compares them before. A branch asserts only
// when it is taken.
static bool areAssertedEqual(Value a, int64_t da, Value b, int64_t db) {
  Operation *above = a.getParentRegion()->getParentOp();
  auto node = isa<dfg::NodeOp>(above) ? cast<dfg::NodeOp>(above) : above->getParentOfType<dfg::NodeOp>();
  if (!node)
    return false;
  SmallVector<std::pair<Value, Value>> pairs;
  node.getBody().walk([&](cf::AssertOp op) {
    auto equal = op.getArg().getDefiningOp<arith::CmpIOp>();
    if (equal && equal.getPredicate() == arith::CmpIPredicate::eq && !op->getParentOfType<scf::IfOp>())
      pairs.push_back({equal.getLhs(), equal.getRhs()});
  });
  SmallVector<Value> known;
  auto isKnown = [&](Value v) {
    return same(v, std::nullopt, a, da) ||
           llvm::any_of(known, [&](Value k) { return same(v, std::nullopt, k, std::nullopt); });
  };
  for (bool grows = true; grows;) {
    grows = false;
    for (auto &[x, y] : pairs)
      if (x && isKnown(x) != isKnown(y)) {
        known.push_back(isKnown(x) ? y : x);
        x = Value();
        grows = true;
      }
  }
  return llvm::any_of(known, [&](Value k) { return same(k, std::nullopt, b, db); });
}

Origin nn::originOf(Value v, int64_t d) {
  Origin origin{v, d};
  trace(origin.value, origin.dim, /*local=*/true);
  return origin;
}

bool nn::haveSameExtent(Value a, int64_t da, Value b, int64_t db) {
  int64_t ea = typeOf(a).getDimSize(da), eb = typeOf(b).getDimSize(db);
  if (!ShapedType::isDynamic(ea) && !ShapedType::isDynamic(eb))
    return ea == eb;
  return same(a, da, b, db) || areAssertedEqual(a, da, b, db);
}

//===----------------------------------------------------------------------===//
// Broadcast
//===----------------------------------------------------------------------===//

Value nn::mapBroadcast(OpBuilder &b, Location loc, ValueRange operands, RankedTensorType result,
                       BodyBuilder body) {
  unsigned rank = result.getRank();
  // For each dimension the operand that decides the extent; operands whose extent may be that one or 1 cannot
  // be read by a map.
  SmallVector<OpFoldResult> extents;
  SmallVector<SmallVector<Value>> unsure(operands.size(), SmallVector<Value>(rank));
  for (unsigned d = 0; d < rank; ++d) {
    OpFoldResult extent = b.getIndexAttr(1);
    SmallVector<std::pair<unsigned, int64_t>> open; // operand and its dimension
    for (auto [i, v] : llvm::enumerate(operands)) {
      int64_t dim = int64_t(d) - (int64_t(rank) - typeOf(v).getRank());
      if (dim < 0)
        continue;
      int64_t size = typeOf(v).getDimSize(dim);
      if (ShapedType::isDynamic(size))
        open.push_back({i, dim});
      else if (size != 1)
        extent = b.getIndexAttr(size);
    }
    bool fixed = getConstantIntValue(extent) != 1;
    auto sizeOf = [&](std::pair<unsigned, int64_t> at) -> Value {
      return tensor::DimOp::create(b, loc, operands[at.first], at.second);
    };
    bool agree = llvm::all_of(open, [&](auto at) {
      return haveSameExtent(operands[at.first], at.second, operands[open[0].first], open[0].second);
    });
    if (!open.empty() && !fixed && agree) {
      extent = sizeOf(open[0]);
    } else if (!open.empty()) {
      Value one = indexOf(b, loc, 1);
      for (auto at : open) {
        Value size = sizeOf(at);
        unsure[at.first][d] = size;
        if (fixed)
          continue;
        if (at == open[0]) {
          extent = size;
          continue;
        }
        Value left = cast<Value>(extent);
        Value isOne = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, left, one);
        extent = arith::SelectOp::create(b, loc, isOne, size, left).getResult();
      }
    }
    extents.push_back(extent);
  }
  SmallVector<Value> mapped;
  SmallVector<AffineMap> maps;
  SmallVector<bool> byMap;
  for (auto [i, v] : llvm::enumerate(operands)) {
    byMap.push_back(llvm::none_of(unsure[i], [](Value size) { return bool(size); }));
    if (!byMap.back())
      continue;
    mapped.push_back(v);
    maps.push_back(broadcastMap(b.getContext(), typeOf(v), extents));
  }
  Value y = mapElements(b, loc, extents, result.getElementType(), mapped, maps,
                        [&](OpBuilder &inner, Location at, ValueRange args) {
                          SmallVector<Value> elements;
                          unsigned next = 0;
                          for (auto [i, v] : llvm::enumerate(operands)) {
                            if (byMap[i]) {
                              elements.push_back(args[next++]);
                              continue;
                            }
                            SmallVector<Value> ids;
                            Value zero = indexOf(inner, at, 0), one = indexOf(inner, at, 1);
                            for (int64_t dim = 0; dim < typeOf(v).getRank(); ++dim) {
                              unsigned d = rank - typeOf(v).getRank() + dim;
                              if (typeOf(v).getDimSize(dim) == 1) {
                                ids.push_back(zero);
                                continue;
                              }
                              Value id = linalg::IndexOp::create(inner, at, d);
                              if (Value size = unsure[i][d]) {
                                Value isOne =
                                    arith::CmpIOp::create(inner, at, arith::CmpIPredicate::eq, size, one);
                                id = arith::SelectOp::create(inner, at, isOne, zero, id);
                              }
                              ids.push_back(id);
                            }
                            elements.push_back(tensor::ExtractOp::create(inner, at, v, ids));
                          }
                          return body(inner, at, elements);
                        });
  return castTo(b, loc, y, result);
}

Value nn::repeated(OpBuilder &b, Location loc, Value x, ArrayRef<OpFoldResult> extents) {
  SmallVector<OpFoldResult> own = extentsOf(b, loc, x);
  return generate(b, loc, extents, typeOf(x).getElementType(),
                  [&](OpBuilder &b, Location at, ValueRange ids) -> Value {
                    SmallVector<Value> place(ids);
                    for (auto [d, id] : llvm::enumerate(place)) {
                      if (!typeOf(x).isDynamicDim(d))
                        continue;
                      Value last = arith::SubIOp::create(b, at, asValue(b, at, own[d]), indexOf(b, at, 1));
                      id = arith::MinSIOp::create(b, at, id, last);
                    }
                    return tensor::ExtractOp::create(b, at, x, place);
                  });
}

Value nn::repeatedTo(OpBuilder &b, Location loc, Value v, Value x) {
  int64_t rank = typeOf(v).getRank(), lead = typeOf(x).getRank() - rank;
  bool sure = true;
  SmallVector<OpFoldResult> extents = extentsOf(b, loc, v), wide = extentsOf(b, loc, x);
  for (int64_t d = 0; d < rank; ++d)
    if (typeOf(v).isDynamicDim(d) && !haveSameExtent(v, d, x, lead + d)) {
      extents[d] = wide[lead + d];
      sure = false;
    }
  return sure ? v : repeated(b, loc, v, extents);
}
