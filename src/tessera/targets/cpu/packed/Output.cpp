// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What follows a layer becomes part of its stores: class Output of Support.h.
#include "tessera/base/Check.h"
#include "tessera/ir/nn/NnExtents.h"
#include "tessera/targets/cpu/packed/KernelBuilder.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace tessera;
using namespace tessera::cpu;
using namespace tessera::cpu::packed;

// An operand's place for the elements at d0, d1, …: dimensions and constants, the innermost dimension last or
// not at all.
static bool isReadable(AffineMap map) {
  for (auto [i, result] : llvm::enumerate(map.getResults())) {
    if (isa<AffineConstantExpr>(result))
      continue;
    auto dim = dyn_cast<AffineDimExpr>(result);
    if (!dim || (dim.getPosition() + 1 == map.getNumDims() && i + 1 != map.getNumResults()))
      return false;
  }
  return true;
}

// Whether an operand has all dimensions but the innermost side by side, so that they are one for it, too.
static bool hasWholeRows(AffineMap map) {
  unsigned rows = map.getNumDims() - 1, next = 0;
  for (AffineExpr result : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    if (dim && dim.getPosition() == next && next < rows)
      ++next;
    else if (next > 0 && next < rows)
      return false;
  }
  return next == rows;
}

// The distances that reading an operand asks for are known.
static bool hasStrides(AffineMap map, RankedTensorType type, bool byRows) {
  // Only planes of activations have extents that are given when a kernel runs.
  if (!byRows) {
    bool planes = type.getRank() == map.getNumDims() && map.getNumDims() >= 4;
    for (int64_t d = 1; d < type.getRank(); ++d)
      if (type.isDynamicDim(d) && !(planes && (d == 2 || d == 3)))
        return false;
    return true;
  }
  bool whole = hasWholeRows(map);
  for (unsigned i = 0; i < map.getNumResults(); ++i) {
    auto constant = dyn_cast<AffineConstantExpr>(map.getResult(i));
    bool used = constant ? constant.getValue() != 0 : !whole || map.getDimPosition(i) + 2 >= map.getNumDims();
    if (used && llvm::any_of(type.getShape().drop_front(i + 1), ShapedType::isDynamic))
      return false;
  }
  return true;
}

// Reads `v` at the place it writes, and everything else at constant places or along dimensions; each
// operation has a form on vectors.
static bool isElementwise(linalg::GenericOp op, Value v, bool byRows) {
  if (op.getNumResults() != 1 || op.getNumParallelLoops() != op.getNumLoops() ||
      !op.hasPureTensorSemantics() || !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() ||
      op.getMatchingBlockArgument(op.getDpsInitOperand(0)).use_empty() == false)
    return false;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (input->get() == v ? !map.isIdentity() : !isReadable(map))
      return false;
    auto type = dyn_cast<RankedTensorType>(input->get().getType());
    if (input->get() != v && type && !hasStrides(map, type, byRows))
      return false;
  }
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (inner.getNumRegions() || inner.getNumResults() != 1)
      return false;
    if (!isa<arith::ConstantOp>(inner) && !OpTrait::hasElementwiseMappableTraits(&inner))
      return false;
  }
  return true;
}

// The extent that an operation asks for, where answerExtents knows it.
static std::optional<int64_t> askedExtent(Operation *user, Value v) {
  auto dim = dyn_cast<tensor::DimOp>(user);
  std::optional<int64_t> index = dim ? dim.getConstantIndex() : std::nullopt;
  return index && *index < typeOf(v).getRank() ? index : std::nullopt;
}

// Who reads a value's elements, once for each use.
static SmallVector<Operation *> readersOf(Value v) {
  SmallVector<Operation *> readers;
  for (Operation *user : v.getUsers())
    if (!askedExtent(user, v))
      readers.push_back(user);
  return readers;
}

// Who asks for an extent of a value that will not exist: it is constant, the batch, which is that of the
// layer's operand, or what `open` says.
static void answerExtents(RewriterBase &rewriter, Value v, Value operand,
                          function_ref<Value(Location, int64_t)> open) {
  for (Operation *user : llvm::to_vector(v.getUsers())) {
    std::optional<int64_t> index = askedExtent(user, v);
    if (!index)
      continue;
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(user);
    if (!typeOf(v).isDynamicDim(*index))
      rewriter.replaceOpWithNewOp<arith::ConstantIndexOp>(user, typeOf(v).getDimSize(*index));
    else if (*index == 0)
      rewriter.replaceOpWithNewOp<tensor::DimOp>(user, operand, 0);
    else
      rewriter.replaceOp(user, open(user->getLoc(), *index));
  }
}

void packed::answerCrop(RewriterBase &rewriter, CropOp op) {
  answerExtents(rewriter, op.getY(), op.getX(), [&](Location loc, int64_t dim) {
    Gen g{rewriter, loc};
    Value extent = tensor::DimOp::create(rewriter, loc, op.getX(), dim);
    return g.sub(extent, op.getPads()[dim - 2] + op.getPads()[dim]);
  });
}

// A vector of bits has another form in memory than its elements.
static bool isStorable(Type element) {
  return element.isIntOrFloat() && element.getIntOrFloatBitWidth() >= 8;
}

// Takes an operation that reads `v` along, if it is one that stores can do.
bool Output::absorb(Operation *user, Value v) {
  bool blocked = layerShape.size() == 5;
  if (auto generic = dyn_cast<linalg::GenericOp>(user);
      generic && !hasOwnHalo() && !splits && isElementwise(generic, v, byRows) &&
      isStorable(typeOf(generic.getResult(0)).getElementType())) {
    steps.push_back({generic, {}});
  } else if (auto halo = dyn_cast<HaloOp>(user);
             halo && blocked && (!hasOwnHalo() || fill == int64_t(halo.getFill()))) {
    for (auto [mine, more] : llvm::zip(pads, halo.getPads()))
      mine += more;
    fill = halo.getFill();
  } else if (isa<SplitOp>(user) && blocked && !hasOwnHalo() && !splits) {
    splits = true;
  } else if (!isa<tensor::CastOp>(user)) {
    return false;
  }
  absorbed.push_back(user);
  return true;
}

void Output::extend(Value v, Operation *first, const Taken *taken) {
  passed.push_back(v);
  SmallVector<Operation *> readers = readersOf(v);
  while (first || !readers.empty()) {
    Operation *user = first ? first : readers.front();
    if ((!first && !llvm::all_equal(readers)) || user->getBlock() != layer->getBlock() ||
        (taken && taken->contains(user)) || !absorb(user, v))
      break;
    first = nullptr;
    v = user->getResult(0);
    passed.push_back(v);
    readers = readersOf(v);
  }
  result = v;
  type = typeOf(v);
  for (Operation *user : readers)
    if (auto copy = dyn_cast<bufferization::MaterializeInDestinationOp>(user);
        copy && isa<MemRefType>(copy.getDest().getType()) && copy->getBlock() == layer->getBlock()) {
      materialize = copy;
      dest.buffer = copy.getDest();
    }
  if (materialize && readers.size() != 1) {
    materialize = nullptr;
    dest.buffer = Value();
  }
}

// Several readers: those that want another form of the result get a branch each, if all readers are either
// that or copies to where the result belongs.
void Output::branch(const Taken *taken) {
  SmallVector<Operation *> readers = readersOf(result);
  if (materialize || hasOwnHalo() || readers.empty() || llvm::all_equal(readers))
    return;
  Operation *copy = nullptr;
  std::vector<Output> found;
  for (Operation *user : readers) {
    if (auto into = dyn_cast<bufferization::MaterializeInDestinationOp>(user);
        into && isa<MemRefType>(into.getDest().getType()) && into->getBlock() == layer->getBlock() && !copy) {
      copy = user;
      continue;
    }
    Output branch;
    branch.layer = layer;
    branch.layerShape = layerShape;
    branch.byRows = byRows;
    branch.extend(result, user, taken);
    if (!branch.materialize || branch.absorbed.empty())
      return;
    found.push_back(std::move(branch));
  }
  materialize = copy;
  isStored = copy;
  if (copy)
    dest.buffer = cast<bufferization::MaterializeInDestinationOp>(copy).getDest();
  branches = std::move(found);
}

void Output::collect(SmallVectorImpl<Operation *> &all) const {
  all.append(absorbed);
  for (const Output &next : llvm::concat<const Output>(branches, pooled))
    next.collect(all);
}

// Everything that is read on the way is known at the insertion point.
void Output::resolve(RewriterBase &rewriter, ArrayRef<Operation *> all) {
  for (Step &step : steps)
    for (OpOperand *input : step.op.getDpsInputOperands()) {
      Value operand = input->get();
      bool along = llvm::is_contained(all, operand.getDefiningOp());
      step.inputs.push_back(along || !isa<RankedTensorType>(operand.getType()) ? Input()
                                                                               : inputOf(rewriter, operand));
    }
  for (Output &next : llvm::concat<Output>(branches, pooled))
    next.resolve(rewriter, all);
}

// A pool at the end: what was to be stored is combined first.
void Output::pool(const Taken *taken) {
  PackedPoolOp pool = findPool(layer);
  if (!pool || pool.getX() != result || hasOwnHalo())
    return;
  absorbed.push_back(pool);
  isStored = false;
  poolKind = pool.getKind();
  windowSize = {pool.getKernel()[0], pool.getKernel()[1]};
  Output next;
  next.layer = layer;
  ArrayRef<int64_t> shape = typeOf(pool.getY()).getShape();
  next.layerShape.assign(shape.begin(), shape.end());
  next.extend(pool.getY(), nullptr, taken);
  next.branch(taken);
  // Nobody reads what lies behind the last window.
  layerShape[2] = shape[2] * windowSize[0];
  layerShape[3] = shape[3] * windowSize[1];
  pooled.push_back(std::move(next));
}

// Extents of what was passed; `first` has the open ones of where it began.
void Output::answer(RewriterBase &rewriter, Value operand,
                    function_ref<Value(Location, int64_t)> first) const {
  // Only borders change them on the way.
  auto extentAt = [&](size_t count, Location loc, int64_t dim) {
    Gen g{rewriter, loc};
    Value extent = first(loc, dim);
    for (Value v : ArrayRef(passed).take_front(count).drop_front())
      if (auto halo = v.getDefiningOp<HaloOp>())
        extent = g.add(extent, halo.getPads()[dim - 2] + halo.getPads()[dim]);
    return extent;
  };
  for (auto [i, v] : llvm::enumerate(passed))
    answerExtents(rewriter, v, operand, [&](Location loc, int64_t dim) { return extentAt(i + 1, loc, dim); });
  for (const Output &next : llvm::concat<const Output>(branches, pooled))
    next.answer(rewriter, operand,
                [&](Location loc, int64_t dim) { return extentAt(passed.size(), loc, dim); });
}

// Layers whose kernels take rows and columns as they come.
static bool takesOpenPlanes(Operation *op) {
  return isa<PackedConvOp, PackedWinogradOp, PackedDepthwiseOp, PackedPoolOp, PackedMeanOp, PackOp, UnpackOp,
             HaloOp, CropOp>(op);
}

FailureOr<Output> Output::find(Operation *op, std::string &why, bool byTiles, const Taken *taken) {
  Output out;
  out.layer = op;
  Value v = op->getResult(0);
  out.layerShape.assign(typeOf(v).getShape().begin(), typeOf(v).getShape().end());
  out.byRows = isa<PackedMatmulOp>(op) && out.layerShape.size() > 2;
  if (!out.byRows && !takesOpenPlanes(op) && failed(refuseOpenPlanes(op, why)))
    return failure();
  out.extend(v, nullptr, taken);
  out.branch(taken);
  if (byTiles)
    out.pool(taken);
  return out;
}

FailureOr<Output> Output::follow(RewriterBase &rewriter, Operation *op, std::string &why, bool byTiles) {
  FailureOr<Output> out = find(op, why, byTiles);
  if (failed(out))
    return failure();
  out->answer(rewriter, op->getOperand(0), [&](Location loc, int64_t dim) {
    std::optional<ExtentRule> rule = ruleOfExtent(op, dim);
    TESSERA_CHECK(rule) << op->getName().getStringRef().str() << " has no such extent";
    Gen g{rewriter, loc};
    Value extent = tensor::DimOp::create(rewriter, loc, rule->operand, rule->dim);
    return g.add(g.div(g.add(extent, rule->add), rule->divisor), rule->offset);
  });
  SmallVector<Operation *> all = out->taken();
  Operation *last = op;
  for (Operation *each : all)
    if (last->isBeforeInBlock(each))
      last = each;
  rewriter.setInsertionPointAfter(last);
  out->resolve(rewriter, all);
  return out;
}

bool packed::getsHalo(Value result) {
  return llvm::any_of(result.getUsers(), [](Operation *user) {
    bool follows = isa<linalg::GenericOp, tensor::CastOp, SplitOp>(user) && user->getNumResults() == 1;
    return isa<HaloOp>(user) || (follows && getsHalo(user->getResult(0)));
  });
}

void Output::begin(Gen &g, Value batch, Value rows, Value columns) {
  layerExtents = {rows, columns};
  dest.shape = layerShape;
  if (splits)
    dest.shape[1] *= 3;
  if (isOpen())
    dest.extents.resize(dest.shape.size());
  for (unsigned d = 2; d < std::min<size_t>(4, dest.shape.size()); ++d) {
    const int64_t border = pads[d - 2] + pads[d];
    if (ShapedType::isDynamic(dest.shape[d]))
      dest.extents[d] = g.add(layerExtents[d - 2], border);
    else if (hasOwnHalo())
      dest.shape[d] += border;
  }
  if (!dest.buffer && isStored)
    dest.buffer = allocate(g, dest.shape, type.getElementType(), batch, dest.extents).buffer;
  for (Output &next : llvm::concat<Output>(branches, pooled))
    next.begin(g, batch, rows, columns);
}

void Output::beginRows(Gen &g, Value batch, ArrayRef<Value> extents) {
  if (!byRows)
    return begin(g, batch);
  rowExtents.assign(extents.begin(), extents.end());
  if (!dest.buffer && isStored) {
    SmallVector<Value> dynamic;
    for (auto [extent, value] : llvm::zip(ArrayRef(layerShape).drop_back(), extents))
      if (ShapedType::isDynamic(extent))
        dynamic.push_back(value);
    dest.buffer = memref::AllocOp::create(g.b, g.loc, MemRefType::get(layerShape, type.getElementType()),
                                          dynamic, g.b.getI64IntegerAttr(64));
  }
  dest.shape = {ShapedType::kDynamic, layerShape.back()};
  for (Output &next : branches)
    next.beginRows(g, batch, extents);
}

bool Output::isFlat() const {
  if (hasHalo() || !pooled.empty() ||
      !llvm::all_of(branches, [](const Output &branch) { return branch.isFlat(); }))
    return false;
  for (const Step &step : steps)
    for (auto [i, input] : llvm::enumerate(step.inputs)) {
      if (!input.memory.buffer)
        continue;
      linalg::GenericOp op = step.op;
      AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(i));
      bool spatial = map.isFunctionOfDim(2) || map.isFunctionOfDim(3);
      // Extents of an operand that is not cropped are the layer's.
      bool whole = map.isIdentity() && !input.top && !input.left && input.cropped == std::array<int64_t, 2>();
      if (spatial && !whole)
        return false;
    }
  return true;
}

Value Output::offsetInRows(Gen &g, AffineMap map, const Memory &memory, ValueRange at) const {
  unsigned rows = map.getNumDims() - 1;
  bool whole = hasWholeRows(map);
  auto indexOf = [&](unsigned dim) {
    Value rest = at[0];
    for (unsigned d = rows - 1; d > dim; --d)
      rest = g.div(rest, rowExtents[d]);
    return dim ? g.rem(rest, rowExtents[dim]) : rest;
  };
  Value sum = g.index(0);
  for (auto [i, result] : llvm::enumerate(map.getResults())) {
    auto constant = dyn_cast<AffineConstantExpr>(result);
    unsigned dim = constant ? 0 : cast<AffineDimExpr>(result).getPosition();
    if (constant ? constant.getValue() == 0 : whole && dim + 1 < rows)
      continue;
    Value place = constant      ? g.index(constant.getValue())
                  : dim == rows ? at[1]
                  : whole       ? at[0]
                                : indexOf(dim);
    sum = g.add(sum, g.mul(place, memory.stride(i)));
  }
  return sum;
}

Value Output::readOperand(Gen &g, const Step &step, unsigned index, ValueRange at, int64_t lanes) const {
  linalg::GenericOp op = step.op;
  OpOperand *operand = op.getDpsInputOperand(index);
  const Input &input = step.inputs[index];
  if (!input.memory.buffer)
    return vector::BroadcastOp::create(g.b, g.loc, vectorOf(operand->get().getType(), lanes), operand->get());
  Type element = typeOf(operand->get()).getElementType();
  VectorType type = vectorOf(element, lanes);
  // A constant that is the same everywhere needs no memory.
  DenseElementsAttr constant;
  if (matchPattern(operand->get(), m_Constant(&constant)) && constant.isSplat())
    return arith::ConstantOp::create(g.b, g.loc,
                                     DenseElementsAttr::get(type, constant.getSplatValue<Attribute>()));
  AffineMap map = op.getMatchingIndexingMap(operand);
  if (byRows && map.getNumResults()) {
    // What lies further apart than the elements of a row has been counted.
    int64_t row = input.memory.shape.back();
    Memory flat{input.memory.buffer, {ShapedType::kDynamic, ShapedType::isDynamic(row) ? 1 : row}};
    Cursor cursor = cursorAt(g, flat, offsetInRows(g, map, input.memory, at));
    if (map.isFunctionOfDim(map.getNumDims() - 1))
      return cursor.load(g, 0, lanes);
    return vector::BroadcastOp::create(g.b, g.loc, type, cursor.scalar(g, 0));
  }
  SmallVector<Value> place;
  bool along = false;
  for (auto [i, result] : llvm::enumerate(map.getResults())) {
    if (auto dim = dyn_cast<AffineDimExpr>(result)) {
      Value v = at[dim.getPosition()];
      if (at.size() == 5 && i == 2)
        v = g.add(v, input.top);
      if (at.size() == 5 && i == 3)
        v = g.add(v, input.left);
      place.push_back(v);
      along |= dim.getPosition() + 1 == map.getNumDims();
    } else {
      place.push_back(g.index(cast<AffineConstantExpr>(result).getValue()));
    }
  }
  if (place.empty())
    return vector::BroadcastOp::create(g.b, g.loc, type,
                                       memref::LoadOp::create(g.b, g.loc, input.memory.buffer, ValueRange()));
  Cursor cursor = cursorAt(g, input.memory, place);
  if (along)
    return cursor.load(g, 0, lanes);
  return vector::BroadcastOp::create(g.b, g.loc, type, cursor.scalar(g, 0));
}

void Output::roundByInstruction() {
  byInstruction = true;
  for (Output &next : llvm::concat<Output>(branches, pooled))
    next.roundByInstruction();
}

Value Output::rounded(Gen &g, Value v) const {
  auto from = cast<VectorType>(v.getType());
  int64_t lanes = from.getNumElements(), each = 16;
  if (!byInstruction || !from.getElementType().isF32() || lanes % each)
    return {};
  Type bf16 = g.b.getBF16Type();
  auto part = [&](int64_t first) -> Value {
    if (lanes == each)
      return v;
    return vector::ExtractStridedSliceOp::create(g.b, g.loc, v, ArrayRef<int64_t>{first},
                                                 ArrayRef<int64_t>{each}, ArrayRef<int64_t>{1});
  };
  auto call = [&](StringRef name, int64_t count, ValueRange args) {
    return LLVM::CallIntrinsicOp::create(g.b, g.loc, vectorOf(bf16, count), g.b.getStringAttr(name), args)
        .getResult(0);
  };
  if (lanes == each)
    return call("llvm.x86.avx512bf16.cvtneps2bf16.512", each, v);
  if (lanes == 2 * each)
    return call("llvm.x86.avx512bf16.cvtne2ps2bf16.512", 2 * each, {part(each), part(0)});
  return {};
}

Value Output::apply(Gen &g, ValueRange at, Value v) const {
  int64_t lanes = cast<VectorType>(v.getType()).getNumElements();
  for (const Step &step : steps) {
    IRMapping map;
    linalg::GenericOp op = step.op;
    for (unsigned i = 0; i < step.inputs.size(); ++i) {
      OpOperand *operand = op.getDpsInputOperand(i);
      bool along = !step.inputs[i].memory.buffer && isa<RankedTensorType>(operand->get().getType());
      map.map(op.getMatchingBlockArgument(operand), along ? v : readOperand(g, step, i, at, lanes));
    }
    for (Operation &inner : op.getBody()->without_terminator()) {
      // Constants and values from outside become vectors at their use.
      if (auto constant = dyn_cast<arith::ConstantOp>(inner)) {
        map.map(inner.getResult(0),
                arith::ConstantOp::create(g.b, g.loc,
                                          DenseElementsAttr::get(vectorOf(constant.getType(), lanes),
                                                                 cast<Attribute>(constant.getValue()))));
        continue;
      }
      if (auto trunc = dyn_cast<arith::TruncFOp>(inner); trunc && trunc.getType().isBF16())
        if (Value operand = map.lookupOrNull(trunc.getIn()))
          if (Value result = rounded(g, operand)) {
            map.map(trunc.getResult(), result);
            continue;
          }
      for (Value operand : inner.getOperands())
        if (!map.contains(operand))
          map.map(operand,
                  vector::BroadcastOp::create(g.b, g.loc, vectorOf(operand.getType(), lanes), operand));
      Operation *copy = g.b.clone(inner, map);
      copy->getResult(0).setType(vectorOf(inner.getResult(0).getType(), lanes));
    }
    Value yielded = op.getBody()->getTerminator()->getOperand(0);
    if (!map.contains(yielded))
      map.map(yielded, vector::BroadcastOp::create(g.b, g.loc, vectorOf(yielded.getType(), lanes), yielded));
    v = map.lookup(yielded);
  }
  return v;
}

void Output::store(Gen &g, ValueRange at, Value v) const {
  v = apply(g, at, v);
  for (const Output &branch : branches)
    branch.store(g, at, v);
  if (!isStored)
    return;
  SmallVector<Value> place(at);
  if (hasOwnHalo()) {
    place[2] = g.add(place[2], pads[0]);
    place[3] = g.add(place[3], pads[1]);
  }
  if (stripRow) {
    place[0] = g.index(0);
    place[2] = g.sub(place[2], stripRow);
  }
  if (!splits)
    return cursorAt(g, dest, place).store(g, v, 0);
  VectorType wide = cast<VectorType>(v.getType()),
             narrow = vectorOf(g.b.getBF16Type(), wide.getNumElements());
  auto round = [&](Value x) -> Value {
    Value by = rounded(g, x);
    return by ? by : Value(arith::TruncFOp::create(g.b, g.loc, narrow, x));
  };
  Value high = round(v);
  Value low = round(arith::SubFOp::create(g.b, g.loc, v, arith::ExtFOp::create(g.b, g.loc, wide, high)));
  for (int64_t part = 0; part < 3; ++part) {
    SmallVector<Value> there(place);
    there[1] = g.add(there[1], part * layerShape[1]);
    cursorAt(g, dest, there).store(g, part < 2 ? high : low, 0);
  }
}

void Output::storeTile(Gen &g, Value n, Value block, Value row, Value column, int64_t rows, int64_t columns,
                       function_ref<Value(int64_t, int64_t)> v) const {
  auto [down, across] = windowSize;
  for (int64_t i = 0; i < rows; i += down)
    for (int64_t j = 0; j < columns; j += across) {
      auto at = [&](int64_t a, int64_t b) -> SmallVector<Value> {
        return {n, block, g.add(row, i + a), g.add(column, j + b), g.index(0)};
      };
      if (pooled.empty()) {
        store(g, at(0, 0), v(i, j));
        continue;
      }
      Value sum;
      for (int64_t a = 0; a < down; ++a)
        for (int64_t b = 0; b < across; ++b) {
          Value one = apply(g, at(a, b), v(i + a, j + b));
          sum = sum ? combine(g, poolKind, sum, one) : one;
        }
      if (poolKind == ReduceKind::mean)
        sum = arith::MulFOp::create(g.b, g.loc, sum, g.splat(sum.getType(), 1.0 / double(down * across)));
      pooled[0].store(
          g,
          {n, block, g.add(g.div(row, down), i / down), g.add(g.div(column, across), j / across), g.index(0)},
          sum);
    }
}

void Output::redirect(const Memory &strip, Value firstRow) {
  dest = strip;
  stripRow = firstRow;
}

void Output::border(Gen &g, Value n, Value block, Value from, Value to) const {
  for (const Output &branch : branches)
    branch.border(g, n, block, from, to);
  for (const Output &next : pooled)
    next.border(g, n, block, g.div(from, windowSize[0]), g.div(to, windowSize[0]));
  if (!hasOwnHalo())
    return;
  Value rows = this->rows(g), width = dest.extent(g, 3);
  int64_t lanes = dest.shape[4];
  // A byte holds both signs.
  Value zero = g.splat(vectorOf(type.getElementType(), lanes),
                       type.getElementType().isInteger(8) ? double(int8_t(fill)) : double(fill));
  auto clear = [&](Value row, Value column) {
    for (int64_t part = 0; part < (splits ? 3 : 1); ++part)
      cursorAt(g, dest, {n, g.add(block, part * layerShape[1]), row, column, g.index(0)}).store(g, zero, 0);
  };
  auto clearRows = [&](Value first, int64_t count) {
    g.each(first, g.add(first, count), 1,
           [&](Value row) { g.each(g.index(0), width, 1, [&](Value j) { clear(row, j); }); });
  };
  if (pads[0])
    g.when(g.equal(from, 0), [&] { clearRows(g.index(0), pads[0]); });
  if (pads[2])
    g.when(g.equal(to, rows), [&] { clearRows(g.add(rows, pads[0]), pads[2]); });
  if (pads[1] || pads[3])
    g.each(from, to, 1, [&](Value i) {
      Value row = g.add(i, pads[0]);
      for (int64_t j = 0; j < pads[1]; ++j)
        clear(row, g.index(j));
      for (int64_t j = 0; j < pads[3]; ++j)
        clear(row, g.sub(width, j + 1));
    });
}

void Output::replace(RewriterBase &rewriter, Operation *op) {
  for (Output &next : llvm::concat<Output>(branches, pooled))
    next.replace(rewriter, op);
  if (materialize) {
    rewriter.eraseOp(materialize);
  } else if (isStored && !stripRow) {
    Value tensor = bufferization::ToTensorOp::create(
        rewriter, op->getLoc(),
        RankedTensorType::get(cast<MemRefType>(dest.buffer.getType()).getShape(), type.getElementType()),
        dest.buffer, /*restrict=*/true, /*writable=*/true);
    if (tensor.getType() != type)
      tensor = tensor::CastOp::create(rewriter, op->getLoc(), type, tensor);
    rewriter.replaceAllUsesWith(result, tensor);
  }
  for (Operation *dead : llvm::reverse(absorbed))
    rewriter.eraseOp(dead);
}

void Output::finish(RewriterBase &rewriter, Operation *op) {
  replace(rewriter, op);
  rewriter.eraseOp(op);
}
