// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements of wide vectors (WideVectors.cpp), one by one: what an operation on vectors means for one of them.
#include "tessera/targets/cpu/WideVectors.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace tessera;
using namespace tessera::cpu;

Value cpu::constantIndex(OpBuilder &b, Location loc, int64_t n) {
  return arith::ConstantIndexOp::create(b, loc, n);
}

void cpu::forLanes(OpBuilder &b, Location loc, ArrayRef<int64_t> shape,
                   function_ref<void(OpBuilder &, Lane)> body) {
  SmallVector<Value> ends;
  for (int64_t extent : shape)
    ends.push_back(constantIndex(b, loc, extent));
  Value zero = constantIndex(b, loc, 0), one = constantIndex(b, loc, 1);
  SmallVector<Value> lane;
  OpBuilder inner = b;
  for (Value end : ends) {
    auto loop = scf::ForOp::create(inner, loc, zero, end, one);
    lane.push_back(loop.getInductionVar());
    inner.setInsertionPointToStart(loop.getBody());
  }
  body(inner, lane);
}

Value cpu::foldLanes(OpBuilder &b, Location loc, ArrayRef<int64_t> shape, Value first,
                     function_ref<Value(OpBuilder &, Lane, Value)> body) {
  Value zero = constantIndex(b, loc, 0), one = constantIndex(b, loc, 1);
  SmallVector<Value> lane;
  std::function<Value(OpBuilder &, Value)> nest = [&](OpBuilder &at, Value carried) -> Value {
    if (lane.size() == shape.size())
      return body(at, lane, carried);
    auto loop = scf::ForOp::create(at, loc, zero, constantIndex(at, loc, shape[lane.size()]), one, carried);
    lane.push_back(loop.getInductionVar());
    OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
    scf::YieldOp::create(inner, loc, nest(inner, loop.getRegionIterArg(0)));
    lane.pop_back();
    return loop.getResult(0);
  };
  return nest(b, first);
}

SmallVector<Value> cpu::placeOf(OpBuilder &b, Location loc, ValueRange indices, Lane lane) {
  SmallVector<Value> place(indices);
  size_t lead = place.size() - lane.size();
  for (auto [d, at] : llvm::enumerate(lane))
    place[lead + d] = arith::AddIOp::create(b, loc, place[lead + d], at);
  return place;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

// Buffers between kernels hold integers of whole bytes.
static Type storedAs(Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer || integer.getWidth() == 1)
    return element;
  return IntegerType::get(element.getContext(),
                          std::max<unsigned>(8, llvm::PowerOf2Ceil(integer.getWidth())));
}

VectorType WideLanes::typeOf(Value v) const {
  auto it = wide.find(v);
  return it != wide.end() ? it->second : dyn_cast<VectorType>(v.getType());
}

Value WideLanes::allocate(OpBuilder &b, Location loc, VectorType type) {
  return memref::AllocOp::create(b, loc, MemRefType::get(type.getShape(), storedAs(type.getElementType())),
                                 b.getI64IntegerAttr(64));
}

void WideLanes::store(OpBuilder &b, Location loc, Value element, Value buffer, Lane lane) {
  Type stored = cast<MemRefType>(buffer.getType()).getElementType();
  if (element.getType() != stored)
    element = arith::ExtUIOp::create(b, loc, stored, element);
  memref::StoreOp::create(b, loc, element, buffer, lane);
}

Value WideLanes::load(OpBuilder &b, Value v, Lane lane) {
  Location loc = v.getLoc();
  Value element = memref::LoadOp::create(b, loc, memory.lookup(v), lane);
  Type wanted = typeOf(v).getElementType();
  if (element.getType() == wanted)
    return element;
  return wanted.isIndex() ? arith::IndexCastOp::create(b, loc, wanted, element).getResult()
                          : arith::TruncIOp::create(b, loc, wanted, element).getResult();
}

Value WideLanes::readWhole(OpBuilder &b, Location loc, Value buffer, Type element) {
  auto type = cast<MemRefType>(buffer.getType());
  Type stored = type.getElementType();
  SmallVector<Value> zeros(type.getRank(), constantIndex(b, loc, 0));
  SmallVector<bool> inBounds(type.getRank(), true);
  Value v = vector::TransferReadOp::create(b, loc, VectorType::get(type.getShape(), stored), buffer, zeros,
                                           std::optional<Value>(), inBounds);
  if (stored == element)
    return v;
  auto wanted = VectorType::get(type.getShape(), element);
  return element.isIndex() ? arith::IndexCastOp::create(b, loc, wanted, v).getResult()
                           : arith::TruncIOp::create(b, loc, wanted, v).getResult();
}

void WideLanes::writeWhole(OpBuilder &b, Location loc, Value v, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  if (getElementTypeOrSelf(v.getType()) != type.getElementType())
    v = arith::ExtUIOp::create(b, loc, VectorType::get(type.getShape(), type.getElementType()), v);
  SmallVector<Value> zeros(type.getRank(), constantIndex(b, loc, 0));
  SmallVector<bool> inBounds(type.getRank(), true);
  vector::TransferWriteOp::create(b, loc, v, buffer, zeros, inBounds);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

bool WideLanes::isLazy(Operation *op) {
  if (auto read = dyn_cast<vector::TransferReadOp>(op))
    return isa<MemRefType>(read.getBase().getType());
  if (auto gather = dyn_cast<vector::GatherOp>(op))
    return isa<MemRefType>(gather.getBase().getType());
  if (OpTrait::hasElementwiseMappableTraits(op))
    return op->getNumResults() == 1 && isMemoryEffectFree(op);
  if (auto cast = dyn_cast<vector::BitCastOp>(op))
    return cast.getSourceVectorType().getElementTypeBitWidth() >= 8 &&
           cast.getResultVectorType().getElementTypeBitWidth() >= 8;
  return isa<arith::ConstantOp, ub::PoisonOp, vector::LoadOp, vector::MaskedLoadOp, vector::BroadcastOp,
             vector::TransposeOp, vector::ShapeCastOp, vector::ExtractOp, vector::ExtractStridedSliceOp,
             vector::StepOp, vector::CreateMaskOp, vector::ConstantMaskOp, vector::InterleaveOp,
             vector::DeinterleaveOp, vector::FMAOp, vector::OuterProductOp>(op);
}

bool WideLanes::isCheap(Operation *op) {
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op))
    return !isa<VectorType>(broadcast.getSourceType());
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  return isa<ub::PoisonOp, vector::StepOp, vector::CreateMaskOp, vector::ConstantMaskOp>(op);
}

bool WideLanes::readsOften(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (isa<vector::OuterProductOp>(op))
    return operand.getOperandNumber() < 2;
  if (auto cast = dyn_cast<vector::BitCastOp>(op))
    return cast.getSourceVectorType().getElementTypeBitWidth() !=
           cast.getResultVectorType().getElementTypeBitWidth();
  return isa<vector::BroadcastOp, vector::InterleaveOp, vector::DeinterleaveOp, vector::ContractionOp>(op);
}

// Operands may be narrower than the sum: they are extended before they are multiplied.
Value cpu::makeProduct(OpBuilder &b, Location loc, Value x, Value y, Type sum) {
  auto extend = [&](Value v) -> Value {
    if (!sum || v.getType() == sum)
      return v;
    return isa<FloatType>(sum) ? arith::ExtFOp::create(b, loc, sum, v).getResult()
                               : arith::ExtSIOp::create(b, loc, sum, v).getResult();
  };
  x = extend(x);
  y = extend(y);
  return isa<FloatType>(x.getType()) ? arith::MulFOp::create(b, loc, x, y).getResult()
                                     : arith::MulIOp::create(b, loc, x, y).getResult();
}

Value WideLanes::masked(OpBuilder &b, Location loc, Value isSet, Value otherwise,
                        function_ref<Value(OpBuilder &)> then) {
  if (!isSet)
    return then(b);
  auto choice = scf::IfOp::create(b, loc, otherwise.getType(), isSet, /*withElseRegion=*/true);
  OpBuilder yes = OpBuilder::atBlockBegin(choice.thenBlock()),
            no = OpBuilder::atBlockBegin(choice.elseBlock());
  scf::YieldOp::create(yes, loc, then(yes));
  scf::YieldOp::create(no, loc, otherwise);
  return choice.getResult(0);
}

Value WideLanes::at(OpBuilder &b, Value v, Lane lane) {
  if (!isa<VectorType>(v.getType()) && !wide.count(v))
    return v;
  if (memory.count(v))
    return load(b, v, lane);
  auto isEasy = [](Operation *op) { return isCheap(op) && !isa<arith::ConstantOp>(op); };
  Operation *def = v.getDefiningOp();
  if (auto constant = dyn_cast_or_null<arith::ConstantOp>(def);
      constant && (wide.count(v) || isa<SplatElementsAttr>(constant.getValue())))
    return fromConstant(b, constant, lane);
  if (!def || (!wide.count(v) && !isEasy(def))) {
    // A vector of few elements that goes into a wide one.
    OpBuilder after(v.getContext());
    after.setInsertionPointAfterValue(v);
    Value buffer = allocate(after, v.getLoc(), typeOf(v));
    writeWhole(after, v.getLoc(), v, buffer);
    memory[v] = buffer;
    return load(b, v, lane);
  }
  // What is asked for twice in one loop is computed once, so that x * x of x * x of … stays as long as it is.
  if (seenIn != b.getInsertionBlock()) {
    seen.clear();
    seenIn = b.getInsertionBlock();
  }
  for (const Seen &before : seen[v])
    if (ArrayRef<Value>(before.lane) == lane)
      return before.element;
  Value element = compute(b, def, cast<OpResult>(v).getResultNumber(), lane);
  seen[v].push_back({SmallVector<Value>(lane), element});
  return element;
}

// Elements that differ lie in the image.
Value cpu::makeTable(OpBuilder &b, Operation *user, DenseElementsAttr elements) {
  Type element = elements.getElementType();
  Type stored = element.isIndex() ? b.getI64Type() : element.isInteger(1) ? b.getI8Type() : storedAs(element);
  if (stored != element) {
    unsigned width = stored.getIntOrFloatBitWidth();
    elements = elements.mapValues(stored, [&](const APInt &n) { return n.zextOrTrunc(width); });
  }
  ArrayRef<int64_t> shape = elements.getType().getShape();
  elements = DenseElementsAttr::getFromRawBuffer(RankedTensorType::get(shape, stored), elements.getRawData());
  auto module = user->getParentOfType<ModuleOp>();
  std::string name;
  for (unsigned i = 0; name.empty() || module.lookupSymbol(name); ++i)
    name = "lanes_" + std::to_string(i);
  OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
  auto type = MemRefType::get(shape, stored);
  memref::GlobalOp::create(top, user->getLoc(), name, top.getStringAttr("private"), type, elements,
                           /*constant=*/true, top.getI64IntegerAttr(64));
  return memref::GetGlobalOp::create(b, user->getLoc(), type, name);
}

Value WideLanes::fromConstant(OpBuilder &b, arith::ConstantOp op, Lane lane) {
  auto elements = cast<DenseElementsAttr>(op.getValue());
  if (elements.isSplat())
    return arith::ConstantOp::create(b, op.getLoc(), cast<TypedAttr>(elements.getSplatValue<Attribute>()));
  OpBuilder here(op);
  memory[op.getResult()] = makeTable(here, op, elements);
  return load(b, op.getResult(), lane);
}

Value WideLanes::read(OpBuilder &b, vector::TransferReadOp op, Lane lane) {
  SmallVector<Value> place;
  Value isSet = locate(b, op, op.getBase(), lane, place);
  if (op.getMask()) {
    Value on = at(b, op.getMask(), maskLane(op, lane));
    isSet = isSet ? arith::AndIOp::create(b, op.getLoc(), isSet, on).getResult() : on;
  }
  return masked(b, op.getLoc(), isSet, op.getPadding(), [&](OpBuilder &then) -> Value {
    return memref::LoadOp::create(then, op.getLoc(), op.getBase(), place);
  });
}

Value WideLanes::spread(OpBuilder &b, vector::BroadcastOp op, Lane lane) {
  VectorType type = typeOf(op.getSource());
  if (!type)
    return op.getSource();
  SmallVector<Value> from(lane.take_back(type.getRank()));
  for (auto [d, extent] : llvm::enumerate(type.getShape()))
    if (extent == 1)
      from[d] = constantIndex(b, op.getLoc(), 0);
  return at(b, op.getSource(), from);
}

Value WideLanes::recast(OpBuilder &b, vector::ShapeCastOp op, Lane lane) {
  Location loc = op.getLoc();
  ArrayRef<int64_t> to = typeOf(op.getResult()).getShape(), from = typeOf(op.getSource()).getShape();
  Value number = constantIndex(b, loc, 0);
  for (auto [i, extent] : llvm::zip(lane, to)) {
    number = arith::MulIOp::create(b, loc, number, constantIndex(b, loc, extent));
    number = arith::AddIOp::create(b, loc, number, i);
  }
  SmallVector<Value> place(from.size());
  for (int64_t d = int64_t(from.size()) - 1; d >= 0; --d) {
    Value extent = constantIndex(b, loc, from[d]);
    place[d] = d ? arith::RemUIOp::create(b, loc, number, extent).getResult() : number;
    number = d ? arith::DivUIOp::create(b, loc, number, extent).getResult() : number;
  }
  return at(b, op.getSource(), place);
}

// The first of several lanes has the lowest bits.
Value WideLanes::bits(OpBuilder &b, vector::BitCastOp op, Lane lane) {
  Location loc = op.getLoc();
  Type from = op.getSourceVectorType().getElementType(), to = op.getResultVectorType().getElementType();
  unsigned fromBits = from.getIntOrFloatBitWidth(), toBits = to.getIntOrFloatBitWidth();
  Type narrow = b.getIntegerType(std::min(fromBits, toBits)),
       wider = b.getIntegerType(std::max(fromBits, toBits));
  auto cast = [&](Value v, Type type) -> Value {
    return v.getType() == type ? v : arith::BitcastOp::create(b, loc, type, v).getResult();
  };
  SmallVector<Value> place(lane);
  if (fromBits == toBits)
    return cast(at(b, op.getSource(), place), to);
  auto shift = [&](Value lanes) {
    Value by = arith::IndexCastOp::create(b, loc, wider, lanes);
    Value width = arith::ConstantOp::create(b, loc, b.getIntegerAttr(wider, narrow.getIntOrFloatBitWidth()));
    return arith::MulIOp::create(b, loc, by, width).getResult();
  };
  Value ratio = constantIndex(b, loc, std::max(fromBits, toBits) / std::min(fromBits, toBits));
  if (fromBits > toBits) {
    place.back() = arith::DivUIOp::create(b, loc, lane.back(), ratio);
    Value whole = cast(at(b, op.getSource(), place), wider);
    Value by = shift(arith::RemUIOp::create(b, loc, lane.back(), ratio));
    whole = arith::ShRUIOp::create(b, loc, whole, by);
    return cast(arith::TruncIOp::create(b, loc, narrow, whole), to);
  }
  Value first = arith::MulIOp::create(b, loc, lane.back(), ratio), sum;
  for (unsigned i = 0; i < toBits / fromBits; ++i) {
    Value number = constantIndex(b, loc, i);
    place.back() = arith::AddIOp::create(b, loc, first, number);
    Value part = arith::ExtUIOp::create(b, loc, wider, cast(at(b, op.getSource(), place), narrow));
    part = arith::ShLIOp::create(b, loc, part, shift(number));
    sum = sum ? arith::OrIOp::create(b, loc, sum, part).getResult() : part;
  }
  return cast(sum, to);
}

Value WideLanes::compute(OpBuilder &b, Operation *op, unsigned result, Lane lane) {
  Location loc = op->getLoc();
  Type element = getElementTypeOrSelf(op->getResult(result).getType());
  auto add = [&](Value i, int64_t n) {
    return n ? arith::AddIOp::create(b, loc, i, constantIndex(b, loc, n)).getResult() : i;
  };
  // The vector's own multiplication takes no scalars.
  if (isStraight(op) && !isa<vector::FMAOp>(op)) {
    IRMapping map;
    for (Value operand : op->getOperands())
      map.map(operand, at(b, operand, lane));
    Operation *single = b.clone(*op, map);
    single->getResult(0).setType(element);
    return single->getResult(0);
  }
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](ub::PoisonOp) { return ub::PoisonOp::create(b, loc, element).getResult(); })
      .Case([&](vector::TransferReadOp own) { return read(b, own, lane); })
      .Case([&](vector::LoadOp own) {
        return memref::LoadOp::create(b, loc, own.getBase(), placeOf(b, loc, own.getIndices(), lane))
            .getResult();
      })
      .Case([&](vector::MaskedLoadOp own) {
        SmallVector<Value> place = placeOf(b, loc, own.getIndices(), lane);
        Value isSet = at(b, own.getMask(), lane), otherwise = at(b, own.getPassThru(), lane);
        return masked(b, loc, isSet, otherwise, [&](OpBuilder &then) -> Value {
          return memref::LoadOp::create(then, loc, own.getBase(), place);
        });
      })
      .Case([&](vector::GatherOp own) {
        SmallVector<Value> place(own.getOffsets());
        Value index = at(b, own.getIndices(), lane);
        if (!index.getType().isIndex())
          index = arith::IndexCastOp::create(b, loc, b.getIndexType(), index);
        place.back() = arith::AddIOp::create(b, loc, place.back(), index);
        Value isSet = at(b, own.getMask(), lane), otherwise = at(b, own.getPassThru(), lane);
        return masked(b, loc, isSet, otherwise, [&](OpBuilder &then) -> Value {
          return memref::LoadOp::create(then, loc, own.getBase(), place);
        });
      })
      .Case([&](vector::BroadcastOp own) { return spread(b, own, lane); })
      .Case([&](vector::TransposeOp own) {
        SmallVector<Value> from(lane.size());
        for (auto [d, p] : llvm::enumerate(own.getPermutation()))
          from[p] = lane[d];
        return at(b, own.getVector(), from);
      })
      .Case([&](vector::ShapeCastOp own) { return recast(b, own, lane); })
      .Case([&](vector::BitCastOp own) { return bits(b, own, lane); })
      .Case([&](vector::ExtractOp own) {
        SmallVector<Value> from;
        for (OpFoldResult i : own.getMixedPosition()) {
          // Nobody uses what is at -1.
          auto known = getConstantIntValue(i);
          from.push_back(known ? constantIndex(b, loc, std::max<int64_t>(*known, 0)) : cast<Value>(i));
        }
        from.append(lane.begin(), lane.end());
        return at(b, own.getSource(), from);
      })
      .Case([&](vector::ExtractStridedSliceOp own) {
        SmallVector<Value> from(lane);
        for (auto [d, offset, stride] : llvm::enumerate(own.getOffsets(), own.getStrides())) {
          if (int64_t by = cast<IntegerAttr>(stride).getInt(); by != 1)
            from[d] = arith::MulIOp::create(b, loc, from[d], constantIndex(b, loc, by));
          from[d] = add(from[d], cast<IntegerAttr>(offset).getInt());
        }
        return at(b, own.getSource(), from);
      })
      .Case([&](vector::StepOp) { return lane[0]; })
      .Case<vector::CreateMaskOp, vector::ConstantMaskOp>([&](auto own) {
        Value isSet;
        for (auto [d, i] : llvm::enumerate(lane)) {
          Value end;
          if constexpr (std::is_same_v<decltype(own), vector::CreateMaskOp>)
            end = own.getOperands()[d];
          else
            end = constantIndex(b, loc, own.getMaskDimSizes()[d]);
          Value is = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, i, end);
          isSet = isSet ? arith::AndIOp::create(b, loc, isSet, is).getResult() : is;
        }
        return isSet;
      })
      .Case([&](vector::InterleaveOp own) {
        SmallVector<Value> from(lane);
        Value two = constantIndex(b, loc, 2), zero = constantIndex(b, loc, 0);
        from.back() = arith::DivUIOp::create(b, loc, lane.back(), two);
        Value odd = arith::RemUIOp::create(b, loc, lane.back(), two);
        Value isEven = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, odd, zero);
        Value first = at(b, own.getLhs(), from), second = at(b, own.getRhs(), from);
        return arith::SelectOp::create(b, loc, isEven, first, second).getResult();
      })
      .Case([&](vector::DeinterleaveOp own) {
        SmallVector<Value> from(lane);
        from.back() = arith::MulIOp::create(b, loc, lane.back(), constantIndex(b, loc, 2));
        from.back() = add(from.back(), result);
        return at(b, own.getSource(), from);
      })
      .Case([&](vector::FMAOp own) {
        return math::FmaOp::create(b, loc, at(b, own.getLhs(), lane), at(b, own.getRhs(), lane),
                                   at(b, own.getAcc(), lane))
            .getResult();
      })
      .Case([&](vector::OuterProductOp own) {
        bool isMatrix = lane.size() == 2;
        Value x = at(b, own.getLhs(), lane.take_front(1)),
              y = isMatrix ? at(b, own.getRhs(), lane.take_back(1)) : own.getRhs();
        Value product = makeProduct(b, loc, x, y);
        return own.getAcc()
                   ? vector::makeArithReduction(b, loc, own.getKind(), product, at(b, own.getAcc(), lane))
                   : product;
      });
}
