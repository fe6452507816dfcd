// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Neighbouring iterations of a loop over instances in the lanes of vectors, where instances work on memory.
// They are independent, so all lanes may read before one writes. Neighbours in memory are one vector; an
// array of the instance's own becomes an array of vectors; what is left of a row runs under a mask.
#include "tessera/transforms/leaf/Lanes.h"

using namespace tessera;
using namespace tessera::leaf;

// Where a lane's element of a buffer of its own lies: the lane is the last dimension.
std::pair<SmallVector<Value>, Value> LaneEmitter::placeOf(Value buffer, ValueRange indices) {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  SmallVector<Value> at;
  bool varying = false;
  for (Value v : indices) {
    at.push_back(lookup(v));
    varying |= isVarying(at.back());
  }
  if (!varying) {
    at.push_back(zero);
    return {at, Value()};
  }
  Value place;
  auto type = cast<MemRefType>(buffer.getType());
  for (auto [d, v] : llvm::enumerate(at)) {
    if (place) {
      Value extent = spread(arith::ConstantIndexOp::create(b, loc, type.getDimSize(d)));
      place = arith::MulIOp::create(b, loc, place, extent);
    }
    place = place ? arith::AddIOp::create(b, loc, place, spread(v)).getResult() : spread(v);
  }
  place = arith::MulIOp::create(b, loc, place, spread(arith::ConstantIndexOp::create(b, loc, lanes)));
  place = arith::AddIOp::create(b, loc, place, vector::StepOp::create(b, loc, vectorOf(b.getIndexType())));
  return {SmallVector<Value>(type.getRank(), zero), place};
}

void LaneEmitter::emitLoad(memref::LoadOp load, Value mask) {
  VectorType vector = vectorOf(load.getType());
  Value memory = lookup(load.getMemRef());
  SmallVector<Value> indices;
  Value numbers, first;
  if (Value own = buffers.lookup(load.getMemRef())) {
    memory = own;
    std::tie(indices, numbers) = placeOf(own, load.getIndices());
    if (!numbers) {
      map.map(load.getResult(), vector::LoadOp::create(b, loc, vector, own, indices).getResult());
      return;
    }
  } else {
    for (Value v : load.getIndices())
      indices.push_back(lookup(v));
    if (llvm::none_of(indices, [&](Value v) { return isVarying(v); })) {
      b.clone(*load, map);
      return;
    }
    numbers = indices.back();
    first = firstOf(numbers);
    indices.back() = first ? first : arith::ConstantIndexOp::create(b, loc, 0).getResult();
  }
  Value loaded, none;
  if (mask || !first)
    none = spread(arith::ConstantOp::create(b, loc, b.getZeroAttr(load.getType())));
  if (first && !mask)
    loaded = vector::LoadOp::create(b, loc, vector, memory, indices);
  else if (first)
    loaded = vector::MaskedLoadOp::create(b, loc, vector, memory, indices, mask, none);
  else
    loaded =
        vector::GatherOp::create(b, loc, vector, memory, indices, numbers, mask ? mask : allLanes(), none);
  map.map(load.getResult(), loaded);
}

void LaneEmitter::emitStore(memref::StoreOp store, Value mask) {
  Value value = spreadOf(store.getValue()), memory = lookup(store.getMemRef());
  SmallVector<Value> indices;
  Value numbers, first;
  if (Value own = buffers.lookup(store.getMemRef())) {
    memory = own;
    std::tie(indices, numbers) = placeOf(own, store.getIndices());
    if (!numbers) {
      if (mask) {
        Value old = vector::LoadOp::create(b, loc, cast<VectorType>(value.getType()), own, indices);
        value = arith::SelectOp::create(b, loc, mask, value, old);
      }
      vector::StoreOp::create(b, loc, value, own, indices);
      return;
    }
  } else {
    for (Value v : store.getIndices())
      indices.push_back(lookup(v));
    first = firstOf(indices.back());
    numbers = spread(indices.back());
    indices.back() = first ? first : arith::ConstantIndexOp::create(b, loc, 0).getResult();
  }
  if (first && !mask)
    vector::StoreOp::create(b, loc, value, memory, indices);
  else if (first)
    vector::MaskedStoreOp::create(b, loc, memory, indices, mask, value);
  else
    vector::ScatterOp::create(b, loc, Type(), memory, indices, numbers, mask ? mask : allLanes(), value);
}

void LaneEmitter::runLoop(scf::ForOp loop, Value first, Value mask, const DenseMap<Value, Value> &own) {
  buffers = own;
  Value numbers = arith::AddIOp::create(b, loc, spread(first),
                                        vector::StepOp::create(b, loc, vectorOf(b.getIndexType())));
  map.map(loop.getInductionVar(), numbers);
  sequences[numbers] = {first, 1};
  emitBlock(*loop.getBody(), mask);
}

namespace {

/// Loops of a known short length are unrolled sooner or later.
constexpr int64_t maxShortTrip = 32;
/// A longer stride is better left to scalar loads.
constexpr int64_t maxStride = 4;

bool isShort(scf::ForOp loop) {
  std::optional<APInt> trip = loop.getStaticTripCount();
  return trip && trip->getSExtValue() <= maxShortTrip;
}

/// What would become of a loop's operations.
class LoopAnalysis {
public:
  explicit LoopAnalysis(scf::ForOp loop) : loop(loop) { findOwn(); }
  bool pays();
  SmallVector<memref::AllocaOp> own; ///< buffers of one iteration
  unsigned widest = 4;               ///< bytes of the widest type that is computed with
  unsigned operations = 0;
  bool loops = false;

private:
  void findOwn();
  /// How far apart the lanes' values of an index are; 0: the same in all. None where that is not known.
  std::optional<int64_t> strideOf(Value v);
  std::optional<int64_t> computeStride(Value v);
  bool isOwn(Value memory) {
    return llvm::any_of(own, [&](memref::AllocaOp alloca) { return alloca.getResult() == memory; });
  }
  bool isFine(Operation *op);
  bool isFineAccess(Value memory, ValueRange indices, Operation *op, bool isStore);

  scf::ForOp loop;
  DenseMap<Value, std::optional<int64_t>> strides;
};

} // namespace

// Scratch of an instance stands at the kernel's beginning; nothing else uses it.
void LoopAnalysis::findOwn() {
  for (auto alloca : loop->getParentOfType<func::FuncOp>().getBody().front().getOps<memref::AllocaOp>()) {
    bool inside = alloca.getType().hasStaticShape() && alloca.getType().getLayout().isIdentity() &&
                  !alloca->use_empty() && llvm::all_of(alloca->getUsers(), [&](Operation *user) {
                    if (auto store = dyn_cast<memref::StoreOp>(user))
                      if (store.getValue() == alloca.getResult())
                        return false;
                    return isa<memref::LoadOp, memref::StoreOp>(user) && loop->isAncestor(user);
                  });
    if (inside)
      own.push_back(alloca);
  }
}

std::optional<int64_t> LoopAnalysis::strideOf(Value v) {
  if (v == loop.getInductionVar())
    return 1;
  if (loop.isDefinedOutsideOfLoop(v))
    return 0;
  auto it = strides.find(v);
  if (it != strides.end())
    return it->second;
  std::optional<int64_t> stride = computeStride(v);
  strides[v] = stride;
  return stride;
}

std::optional<int64_t> LoopAnalysis::computeStride(Value v) {
  auto isUniform = [&](Value x) { return strideOf(x) == 0; };
  if (auto arg = dyn_cast<BlockArgument>(v)) {
    auto inner = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
    bool counter = inner && arg == inner.getInductionVar() && isUniform(inner.getLowerBound()) &&
                   isUniform(inner.getUpperBound()) && isUniform(inner.getStep());
    return counter ? std::optional<int64_t>(0) : std::nullopt;
  }
  Operation *op = v.getDefiningOp();
  if (op->getNumRegions())
    return std::nullopt;
  if (auto load = dyn_cast<memref::LoadOp>(op); load && isOwn(load.getMemRef()))
    return std::nullopt;
  if (isa<memref::LoadOp>(op) || isElementwise(op) || isa<arith::ConstantOp>(op))
    if (llvm::all_of(op->getOperands(), isUniform))
      return 0;
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) || !v.getType().isIndex())
    return std::nullopt;
  std::optional<int64_t> l = strideOf(op->getOperand(0)), r = strideOf(op->getOperand(1));
  if (!l || !r)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return *l + *r;
  if (isa<arith::SubIOp>(op))
    return *l - *r;
  std::optional<int64_t> factor = getConstantIntValue(op->getOperand(*l ? 1 : 0));
  return (*l && *r) || !factor ? std::nullopt : std::optional<int64_t>((*l + *r) * *factor);
}

bool LoopAnalysis::isFineAccess(Value memory, ValueRange indices, Operation *op, bool isStore) {
  bool inLoop = false;
  for (auto at = op->getParentOfType<scf::ForOp>(); at != loop; at = at->getParentOfType<scf::ForOp>())
    inLoop |= !isShort(at);
  if (isOwn(memory))
    return !inLoop || llvm::all_of(indices, [&](Value v) { return strideOf(v) == 0; });
  if (!loop.isDefinedOutsideOfLoop(memory) || indices.empty())
    return !isStore && indices.empty();
  for (Value v : indices.drop_back())
    if (strideOf(v) != 0)
      return false;
  std::optional<int64_t> stride = strideOf(indices.back());
  if (!stride || (isStore && !*stride))
    return false;
  return inLoop ? *stride == 0 || *stride == 1 : std::abs(*stride) <= maxStride;
}

bool LoopAnalysis::isFine(Operation *op) {
  ++operations;
  for (Type type : op->getResultTypes())
    if (!type.isIndex() && type.isIntOrFloat())
      widest = std::max(widest, (type.getIntOrFloatBitWidth() + 7) / 8);
  if (auto inner = dyn_cast<scf::ForOp>(op)) {
    loops |= !isShort(inner);
    return llvm::all_of(ValueRange{inner.getLowerBound(), inner.getUpperBound(), inner.getStep()},
                        [&](Value v) { return strideOf(v) == 0; });
  }
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return isFineAccess(load.getMemRef(), load.getIndices(), op, false);
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return isFineAccess(store.getMemRef(), store.getIndices(), op, true);
  return isa<scf::IfOp, scf::YieldOp, arith::ConstantOp>(op) || isElementwise(op);
}

bool LoopAnalysis::pays() {
  if (getConstantIntValue(loop.getStep()) != 1 || loop.getNumResults())
    return false;
  bool fine =
      !loop.getBody()
           ->walk([&](Operation *op) { return isFine(op) ? WalkResult::advance() : WalkResult::interrupt(); })
           .wasInterrupted();
  // The code generator vectorises plain bodies on its own.
  return fine && (loops || !own.empty());
}

bool leaf::wantsLanes(scf::ForOp loop) { return LoopAnalysis(loop).pays(); }

bool leaf::vectorizeLoop(RewriterBase &rewriter, scf::ForOp loop, int64_t vectorBytes) {
  LoopAnalysis analysis(loop);
  if (!analysis.pays())
    return false;
  int64_t lanes = vectorBytes / analysis.widest;
  // Several vectors at once, so that one need not wait for the other's sum.
  if (analysis.loops && analysis.own.empty())
    lanes *= analysis.operations <= 40 ? 4 : analysis.operations <= 80 ? 2 : 1;
  if (IntegerAttr extent = SharedNotes::instances.get(loop); extent && extent.getInt() > 0)
    while (lanes >= 2 * extent.getInt())
      lanes /= 2;
  if (lanes < 2)
    return false;
  Location loc = loop.getLoc();
  DenseMap<Value, Value> own;
  for (memref::AllocaOp alloca : analysis.own) {
    rewriter.setInsertionPoint(alloca);
    SmallVector<int64_t> shape(alloca.getType().getShape());
    shape.push_back(lanes);
    own[alloca] =
        memref::AllocaOp::create(rewriter, loc, MemRefType::get(shape, alloca.getType().getElementType()),
                                 rewriter.getI64IntegerAttr(64));
  }
  rewriter.setInsertionPoint(loop);
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0),
        step = arith::ConstantIndexOp::create(rewriter, loc, lanes), lower = loop.getLowerBound();
  Value count = arith::SubIOp::create(rewriter, loc, loop.getUpperBound(), lower);
  count = arith::MaxSIOp::create(rewriter, loc, count, zero);
  Value rest = arith::RemUIOp::create(rewriter, loc, count, step);
  Value end = arith::AddIOp::create(rewriter, loc, lower, arith::SubIOp::create(rewriter, loc, count, rest));
  std::string why;
  auto main = scf::ForOp::create(rewriter, loc, lower, end, step);
  rewriter.setInsertionPointToStart(main.getBody());
  LaneEmitter(rewriter, loc, lanes, why).runLoop(loop, main.getInductionVar(), Value(), own);
  rewriter.setInsertionPointAfter(main);
  Value left = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne, rest, zero);
  auto tail = scf::IfOp::create(rewriter, loc, left, /*withElseRegion=*/false);
  rewriter.setInsertionPointToStart(tail.thenBlock());
  Value mask =
      vector::CreateMaskOp::create(rewriter, loc, VectorType::get({lanes}, rewriter.getI1Type()), rest);
  LaneEmitter(rewriter, loc, lanes, why).runLoop(loop, end, mask, own);
  rewriter.eraseOp(loop);
  // Arrays of vectors stay in registers only when nothing is left that counts through them.
  if (!own.empty())
    for (Operation *part : {main.getOperation(), tail.getOperation()})
      part->walk([](scf::ForOp inner) {
        if (isShort(inner))
          (void)unrollConstantLoops(inner, maxShortTrip, 4096);
      });
  for (memref::AllocaOp alloca : analysis.own)
    rewriter.eraseOp(alloca);
  return true;
}
