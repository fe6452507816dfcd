// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Carries layouts out (Layout.h): packed layers for those that read or write blocks, weights packed, borders
// made where an activation is computed, copies where two layouts meet.
#include "tessera/targets/cpu/layout/Algorithm.h"
#include "tessera/targets/cpu/layout/NarrowLayers.h"
#include "tessera/targets/cpu/layout/Passes.h"
#include "tessera/targets/cpu/layout/Sparse.h"
#include "tessera/targets/cpu/packed/Packed.h"
#include "tessera/targets/cpu/packed/Weights.h"
#include "tessera/transforms/nn/graph/Patterns.h"

using namespace tessera;
using namespace tessera::cpu;

static RankedTensorType typeOf(Value v) { return cast<RankedTensorType>(v.getType()); }
static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
using Pads = std::array<int64_t, 4>;
static bool isZero(const Pads &pads) { return pads == Pads{}; }

namespace {

class Emitter {
public:
  Emitter(dfg::NodeOp node, const LayoutOptions &options)
      : node(node), options(options), layouts(node, options), b(node.getContext()) {}
  void run();

private:
  /// An activation in blocks, with the border that its readers want.
  struct Blocked {
    Value value;
    Pads halo{};
  };
  /// A matrix whose columns are the elements of blocked planes.
  struct Flat {
    Value value;
    int64_t channels, plane, block;
  };

  void collectHalos();
  bool isPacked(ConvOp op) const;
  void visit(Operation *op);
  bool visitConv(ConvOp op);
  bool visitNarrowConv(ConvOp op, const Narrow &narrow);
  bool visitBlockwise(Operation *op);
  bool visitPool(PoolOp op);
  bool visitInterpolate(InterpolateOp op);
  bool visitSplit(SplitOp op);
  bool visitMean(ReduceOp op);
  bool visitMatmul(MatmulOp op);
  bool visitNarrowMatmul(MatmulOp op, Narrow narrow);
  bool visitConcat(ConcatOp op);

  /// The narrow operands of a convolution, if it is to run on them.
  std::optional<Narrow> narrow(ConvOp op) const {
    return algorithmOf(op, options) == Algorithm::Direct || algorithmOf(op, options) == Algorithm::Depthwise
               ? narrowOf(op, options)
               : std::nullopt;
  }
  /// Makes `value` the blocked form of `v`, with its border.
  void define(Value v, Value value);
  /// `v` in blocks (of one channel for a plain value) with a border of exactly `pads`.
  Value get(Value v, int64_t block, const Pads &pads);
  /// `v` as it was.
  Value plain(Value v);
  std::optional<Flat> flat(Value matrix);
  Value reshape(Value v, ArrayRef<int64_t> shape);
  Value constant(Location loc, ArrayRef<int64_t> shape, ArrayRef<float> elements);
  Value packChannels(Value v, int64_t channels, int64_t block);

  dfg::NodeOp node;
  const LayoutOptions &options;
  Layouts layouts;
  OpBuilder b;
  DenseMap<Value, Pads> halos;      // the largest border that a reader wants
  DenseMap<Value, int64_t> fills;   // what it is made of, if not 0
  DenseMap<Value, Blocked> blocked; // by the old value
  DenseMap<Value, Value> unpacked;
  DenseMap<Value, Flat> flats; // means whose spare lanes are still there
  DenseSet<Operation *> replaced;
};

} // namespace

static Pads padsOf(ConvOp op) {
  ArrayRef<int64_t> p = op.getPads();
  return {p[0], p[1], p[2], p[3]};
}

// What was decided for a layer, and its number while candidates are measured.
static void keepChoices(Operation *from, Operation *to) {
  nn::Notes::layer.copy(from, to);
  cpu::Notes::tiles.copy(from, to);
}

bool Emitter::isPacked(ConvOp op) const {
  ConvKind kind = classifyConv(op, options);
  if (kind == ConvKind::None || !layouts.blockOf(op.getY()))
    return false;
  return op.getGroups() == 1 || layouts.blockOf(op.getX());
}

void Emitter::collectHalos() {
  for (auto conv : node.getBodyBlock()->getOps<ConvOp>()) {
    if (!isPacked(conv))
      continue;
    std::optional<Narrow> own8 = narrow(conv);
    Pads &most = halos[own8 ? own8->source : conv.getX()];
    if (own8 && own8->zero)
      fills.try_emplace(own8->source, own8->zero);
    Pads own = padsOf(conv);
    for (unsigned i = 0; i < 4; ++i)
      most[i] = std::max(most[i], own[i]);
  }
}

Value Emitter::constant(Location loc, ArrayRef<int64_t> shape, ArrayRef<float> elements) {
  auto type = RankedTensorType::get(shape, b.getF32Type());
  return makeConstant(b, loc, makeElements<float>(type, elements));
}

Value Emitter::reshape(Value v, ArrayRef<int64_t> shape) {
  // Open extents stay what they are.
  SmallVector<Value> extents;
  for (auto [d, extent] : llvm::enumerate(shape))
    if (ShapedType::isDynamic(extent))
      extents.push_back(tensor::DimOp::create(b, v.getLoc(), v, d));
  auto type = RankedTensorType::get(shape, typeOf(v).getElementType());
  return ReshapeOp::create(b, v.getLoc(), type, v, extents);
}

void Emitter::define(Value v, Value value) {
  Pads halo = halos.lookup(v);
  if (!isZero(halo))
    value = HaloOp::create(b, v.getLoc(), value, halo, fills.lookup(v));
  blocked[v] = {value, halo};
}

Value Emitter::get(Value v, int64_t block, const Pads &pads) {
  if (!blocked.count(v)) {
    // A plain value: planes of one channel are blocks of one.
    ArrayRef<int64_t> s = typeOf(v).getShape();
    if (block == 1)
      define(v, reshape(v, {s[0], s[1], s[2], s[3], 1}));
    else
      define(v, PackOp::create(b, v.getLoc(), v, block));
  }
  const Blocked &have = blocked[v];
  Pads less;
  for (unsigned i = 0; i < 4; ++i)
    less[i] = have.halo[i] - pads[i];
  if (isZero(less))
    return have.value;
  // One for each reader, so that it can be part of the reader's node.
  return CropOp::create(b, v.getLoc(), have.value, less);
}

Value Emitter::plain(Value v) {
  Operation *def = v.getDefiningOp();
  if (!def || !replaced.contains(def))
    return v;
  Value &made = unpacked[v];
  if (!made) {
    OpBuilder::InsertionGuard guard(b);
    made = UnpackOp::create(b, v.getLoc(), get(v, layouts.blockOf(v), {}), typeOf(v).getDimSize(1));
  }
  return made;
}

bool Emitter::visitConv(ConvOp op) {
  if (!isPacked(op))
    return false;
  if (std::optional<Narrow> own = narrow(op))
    return visitNarrowConv(op, *own);
  ArrayRef<int64_t> w = typeOf(op.getW()).getShape();
  int64_t from = std::max<int64_t>(1, layouts.blockOf(op.getX())), to = layouts.blockOf(op.getY());
  // Tiles are transformed in vectors of channels: from planes of one it would be done number by number.
  if (from == 1 && classifyConv(op, options) == ConvKind::Winograd)
    from = options.lanes;
  Value bias;
  if (op.getBias()) {
    Bytes bytes(elementsOf(op.getBias()));
    bias =
        constant(op.getLoc(), {ceilDiv(w[0], to), to}, packed::packBias(bytes.as<float>().data(), w[0], to));
  }
  Value x = get(op.getX(), from, padsOf(op));
  Value y = emitConv(b, op, x, bias, to, algorithmOf(op, options)), direct = y;
  if (isa<PackedWinogradOp>(y.getDefiningOp()) && !hasOpenPlane(op.getX()) && isMostlyZero(op.getW()))
    direct = emitConv(b, op, x, bias, to, Algorithm::Direct);
  if (!hasOpenPlane(op.getX()))
    y = chooseSparse(b, op, y, direct.getDefiningOp());
  keepChoices(op, y.getDefiningOp());
  define(op.getY(), y);
  return true;
}

bool Emitter::visitNarrowConv(ConvOp op, const Narrow &narrow) {
  int64_t channels = typeOf(op.getX()).getDimSize(1), from = layouts.blockOf(op.getX()),
          to = layouts.blockOf(op.getY());
  // Whole steps of channels: a plain image of few gets a spare one.
  if (!from)
    from = channels <= 4 ? 4 : options.lanes;
  Value x = get(narrow.source, from, padsOf(op));
  // Somebody else wants another border.
  if (!isZero(padsOf(op)) && fills.lookup(narrow.source) != narrow.zero)
    x = HaloOp::create(b, op.getLoc(), get(narrow.source, from, {}), padsOf(op), narrow.zero);
  Value y = emitNarrowConv(b, op, narrow, x, to);
  keepChoices(op, y.getDefiningOp());
  if (typeOf(y).getElementType() != typeOf(op.getY()).getElementType())
    y = CastOp::create(b, op.getLoc(),
                       RankedTensorType::get(typeOf(y).getShape(), typeOf(op.getY()).getElementType()), y,
                       Format::plain, Format::plain, false, "nearest");
  define(op.getY(), y);
  return true;
}

// One number for each channel → C1 x 1 x 1 x c
Value Emitter::packChannels(Value v, int64_t channels, int64_t block) {
  Bytes bytes(elementsOf(v));
  return constant(v.getLoc(), {ceilDiv(channels, block), 1, 1, block},
                  packed::packBias(bytes.as<float>().data(), channels, block));
}

bool Emitter::visitBlockwise(Operation *op) {
  Value y = op->getResult(0);
  int64_t block = isBlockwise(op) ? layouts.blockOf(y) : 0;
  if (!block)
    return false;
  SmallVector<Value> operands;
  for (Value v : op->getOperands()) {
    if (!elementsOf(v))
      operands.push_back(get(v, block, {}));
    else if (typeOf(v).getNumElements() == 1)
      operands.push_back(v);
    else
      operands.push_back(packChannels(v, typeOf(y).getDimSize(1), block));
  }
  // Integers that were floats a moment ago.
  if (auto cast = dyn_cast<CastOp>(op))
    if (auto before = operands[0].getDefiningOp<CastOp>();
        before && typeOf(before.getX()).getElementType().isF32() &&
        typeOf(cast.getX()).getElementType().isInteger(32) && typeOf(y).getElementType().isF32() &&
        cast.getFrom() == Format::plain) {
      define(y, before.getX());
      return true;
    }
  Operation *copy = b.clone(*op);
  copy->setOperands(operands);
  ArrayRef<int64_t> s = typeOf(y).getShape();
  copy->getResult(0).setType(
      RankedTensorType::get({s[0], ceilDiv(s[1], block), s[2], s[3], block}, typeOf(y).getElementType()));
  define(y, copy->getResult(0));
  return true;
}

bool Emitter::visitPool(PoolOp op) {
  int64_t block = isPackedPool(op) ? layouts.blockOf(op.getY()) : 0;
  if (!block)
    return false;
  // Negative pads cut off.
  Pads outside, cut;
  for (unsigned i = 0; i < 4; ++i) {
    outside[i] = std::max<int64_t>(0, op.getPads()[i]);
    cut[i] = std::min<int64_t>(0, op.getPads()[i]);
  }
  define(op.getY(),
         PackedPoolOp::create(b, op.getLoc(), op.getKind(), get(op.getX(), block, cut), op.getKernel(),
                              op.getStrides(), outside, op.getDilations(), op.getCountPad()));
  return true;
}

bool Emitter::visitInterpolate(InterpolateOp op) {
  int64_t block = layouts.blockOf(op.getY());
  if (!block || hasOpenPlane(op.getY()))
    return false;
  SmallVector<Value> parts;
  for (Value part : op.getParts())
    parts.push_back(get(part, block, {}));
  ArrayRef<int64_t> s = typeOf(op.getY()).getShape();
  auto type = RankedTensorType::get({s[0], ceilDiv(s[1], block), s[2], s[3], block},
                                    typeOf(op.getY()).getElementType());
  define(op.getY(), InterpolateOp::create(b, op.getLoc(), type, parts, op.getRate(), op.getOffset(),
                                          op.getRows(), op.getColumns()));
  return true;
}

bool Emitter::visitSplit(SplitOp op) {
  int64_t block = isActivation(op.getY()) && !hasOpenPlane(op.getY()) ? layouts.blockOf(op.getY()) : 0;
  if (!block)
    return false;
  define(op.getY(), SplitOp::create(b, op.getLoc(), get(op.getX(), block, {})));
  return true;
}

bool Emitter::visitConcat(ConcatOp op) {
  int64_t block =
      op.getLayout() == Layout::Joined && isActivation(op.getY()) ? layouts.blockOf(op.getY()) : 0;
  if (!block || !llvm::all_of(op.getInputs(), isActivation))
    return false;
  SmallVector<Value> inputs;
  for (Value v : op.getInputs())
    inputs.push_back(get(v, block, {}));
  define(op.getY(), ConcatOp::create(b, op.getLoc(), inputs, 1));
  return true;
}

bool Emitter::visitMean(ReduceOp op) {
  int64_t block = isPlaneMean(op) ? layouts.blockOf(op.getX()) : 0;
  if (!block)
    return false;
  int64_t channels = typeOf(op.getX()).getDimSize(1), batch = typeOf(op.getX()).getDimSize(0);
  Value mean = PackedMeanOp::create(b, op.getLoc(), get(op.getX(), block, {}));
  flats[op.getY()] = {mean, channels, 1, block};
  if (typeOf(mean).getDimSize(1) != channels)
    mean = SliceOp::create(b, op.getLoc(), RankedTensorType::get({batch, channels}, b.getF32Type()), mean,
                           ArrayRef<int64_t>{0, 0}, ArrayRef<int64_t>{1, 1});
  // One element a plane: any blocks are the same memory.
  if (int64_t own = op.getKeep() ? layouts.blockOf(op.getY()) : 0; own && channels % own == 0) {
    define(op.getY(), reshape(mean, {batch, channels / own, 1, 1, own}));
    return true;
  }
  if (op.getKeep())
    mean = reshape(mean, {batch, channels, 1, 1});
  op.getY().replaceAllUsesWith(mean);
  if (auto it = flats.find(op.getY()); it != flats.end()) {
    Flat flat = it->second;
    flats[mean] = flat;
  }
  return true;
}

// The matrix as planes of blocks that were flattened, or as a mean of such.
std::optional<Emitter::Flat> Emitter::flat(Value matrix) {
  if (auto it = flats.find(matrix); it != flats.end())
    return it->second;
  auto op = matrix.getDefiningOp<ReshapeOp>();
  if (!op || typeOf(matrix).getRank() != 2 || !isActivation(op.getX()))
    return std::nullopt;
  Value x = op.getX();
  int64_t block = layouts.blockOf(x);
  ArrayRef<int64_t> s = typeOf(x).getShape();
  if (!block || hasOpenPlane(x) || !replaced.contains(x.getDefiningOp()) || !x.getDefiningOp() ||
      typeOf(matrix).getDimSize(1) != s[1] * s[2] * s[3] || !isZero(halos.lookup(x)))
    return std::nullopt;
  int64_t blocks = ceilDiv(s[1], block);
  return Flat{reshape(get(x, block, {}), {s[0], blocks * s[2] * s[3] * block}), s[1], s[2] * s[3], block};
}

// A matrix with as many columns as the weights have rows: where their number is open, the program compares it
// before it runs (lower/Checks.cpp).
static Value withColumns(OpBuilder &b, Location loc, Value matrix, int64_t columns) {
  SmallVector<int64_t> shape(typeOf(matrix).getShape());
  if (!ShapedType::isDynamic(shape.back()))
    return matrix;
  shape.back() = columns;
  auto type = RankedTensorType::get(shape, typeOf(matrix).getElementType());
  return tensor::CastOp::create(b, loc, type, matrix);
}

// The one user that adds a number to each column.
static BinaryOp biasOf(MatmulOp op) {
  if (!op.getY().hasOneUse())
    return {};
  auto add = dyn_cast<BinaryOp>(*op.getY().getUsers().begin());
  if (!add || add.getKind() != BinaryKind::add || add.getType() != op.getType())
    return {};
  Value bias = add.getA() == op.getY() ? add.getB() : add.getA();
  auto type = typeOf(bias);
  bool columns = elementsOf(bias) && type.getRank() >= 1 && type.getRank() <= typeOf(op.getY()).getRank() &&
                 type.getNumElements() == typeOf(op.getY()).getShape().back() &&
                 type.getShape().back() == type.getNumElements();
  return columns ? add : BinaryOp();
}

bool Emitter::visitNarrowMatmul(MatmulOp op, Narrow narrow) {
  int64_t columns = typeOf(op.getY()).getShape().back(),
          depth = typeOf(op.getB()).getDimSize(op.getTransposeB() ? 1 : 0);
  int64_t block = columns <= options.lanes / 2 ? std::max<int64_t>(4, options.lanes / 2) : options.lanes;
  std::vector<float> data = floatsOf(op.getB());
  std::optional<Flat> from = flat(narrow.source);
  // What small weights allow is no use for an odd number of them.
  if (narrow.isSmall && !from && depth % narrow.together) {
    narrow.isSmall = false;
    narrow.together = options.bytes;
  }
  if (!from && depth % narrow.together)
    return false;
  std::vector<float> rows = from ? packed::packMatmul(data.data(), depth, columns, op.getTransposeB(), block,
                                                      from->channels, from->plane, from->block)
                                 : packed::packMatmul(data.data(), depth, columns, op.getTransposeB(), block);
  Value x = from ? from->value : withColumns(b, op.getLoc(), plain(narrow.source), depth);
  Value y = emitNarrowMatmul(b, op, narrow, x, rows, block);
  keepChoices(op, y.getDefiningOp());
  op.getY().replaceAllUsesWith(y);
  return true;
}

// Whether only products read the matrix, as it is or widened.
static bool isForProducts(Value matrix) {
  return llvm::all_of(matrix.getUsers(), [](Operation *user) {
    if (isa<MatmulOp>(user))
      return true;
    bool widens = isa<CastOp>(user);
    if (auto sub = dyn_cast<BinaryOp>(user))
      widens = sub.getKind() == BinaryKind::sub;
    return widens && isForProducts(user->getResult(0));
  });
}

bool Emitter::visitMatmul(MatmulOp op) {
  ElementsAttr attr = elementsOf(op.getB());
  if (!attr || size_t(typeOf(op.getA()).getRank()) > mostProductRank || typeOf(op.getB()).getRank() != 2 ||
      op.getTransposeA() || ShapedType::isDynamic(typeOf(op.getY()).getShape().back()) ||
      !attr.getNumElements())
    return false;
  if (std::optional<Narrow> own = narrowOf(op.getA(), op.getB(), options); own && visitNarrowMatmul(op, *own))
    return true;
  if (!attr.getElementType().isF32() || !typeOf(op.getY()).getElementType().isF32())
    return false;
  int64_t columns = typeOf(op.getY()).getShape().back(),
          depth = typeOf(op.getB()).getDimSize(op.getTransposeB() ? 1 : 0);
  int64_t block = columns <= options.lanes / 2 ? std::max<int64_t>(4, options.lanes / 2) : options.lanes;
  Bytes weights(attr);
  const float *data = weights.as<float>().data();
  std::optional<Flat> from = flat(op.getA());
  std::vector<float> packed = from ? packed::packMatmul(data, depth, columns, op.getTransposeB(), block,
                                                        from->channels, from->plane, from->block)
                                   : packed::packMatmul(data, depth, columns, op.getTransposeB(), block);
  int64_t panels = ceilDiv(columns, block);
  Value w = constant(op.getB().getLoc(), {panels, int64_t(packed.size()) / panels / block, block}, packed);
  BinaryOp add = biasOf(op);
  Value bias;
  if (add) {
    Value v = add.getA() == op.getY() ? add.getB() : add.getA();
    Bytes bytes(elementsOf(v));
    bias =
        constant(add.getLoc(), {panels, block}, packed::packBias(bytes.as<float>().data(), columns, block));
    replaced.insert(add);
  }
  Value x = from ? from->value : withColumns(b, op.getLoc(), plain(op.getA()), depth);
  auto product = PackedMatmulOp::create(b, op.getLoc(), x, w, bias, columns);
  Value y = product.getY();
  if (typeOf(y).getRank() == 2)
    y = chooseSparse(b, op, y, product);
  keepChoices(op, y.getDefiningOp());
  (add ? add.getY() : op.getY()).replaceAllUsesWith(y);
  return true;
}

void Emitter::visit(Operation *op) {
  if (replaced.contains(op))
    return;
  b.setInsertionPoint(op);
  bool done = false;
  if (auto conv = dyn_cast<ConvOp>(op))
    done = visitConv(conv);
  else if (auto pool = dyn_cast<PoolOp>(op))
    done = visitPool(pool);
  else if (auto reduce = dyn_cast<ReduceOp>(op))
    done = visitMean(reduce);
  else if (auto matmul = dyn_cast<MatmulOp>(op))
    done = visitMatmul(matmul);
  else if (auto concat = dyn_cast<ConcatOp>(op))
    done = visitConcat(concat);
  else if (auto split = dyn_cast<SplitOp>(op))
    done = visitSplit(split);
  else if (auto interpolate = dyn_cast<InterpolateOp>(op))
    done = visitInterpolate(interpolate);
  else
    done = visitBlockwise(op);
  if (done) {
    replaced.insert(op);
    return;
  }
  // Anything else reads what it always read; a reshape that only products read is looked through by them.
  if (auto reshape = dyn_cast<ReshapeOp>(op);
      reshape && isForProducts(reshape.getY()) && flat(reshape.getY()))
    return;
  op->walk([&](Operation *nested) {
    for (OpOperand &use : nested->getOpOperands())
      if (blocked.count(use.get()) ||
          (use.get().getDefiningOp() && replaced.contains(use.get().getDefiningOp())))
        use.set(plain(use.get()));
  });
}

void Emitter::run() {
  collectHalos();
  SmallVector<Operation *> ops;
  for (Operation &op : *node.getBodyBlock())
    ops.push_back(&op);
  for (Operation *op : ops)
    visit(op);
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      op->erase();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*node.getBodyBlock())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

LogicalResult cpu::assignLayouts(dfg::NodeOp node, const LayoutOptions &options) {
  widenLines(node, options);
  splitLayers(node, options);
  Emitter(node, options).run();
  simplifyExtents(node);
  return success();
}

namespace tessera::cpu {
#define GEN_PASS_DEF_CPULAYOUTPASS
#include "tessera/targets/cpu/layout/Passes.h.inc"
} // namespace tessera::cpu

namespace {
struct CpuLayoutPass : cpu::impl::CpuLayoutPassBase<CpuLayoutPass> {
  using Base::Base;
  void runOnOperation() override {
    LayoutOptions options;
    options.lanes = lanes;
    options.winograd = winograd;
    options.bytes = bytes;
    options.smallBytes = smallBytes;
    options.halves = halves;
    options.tileBytes = tileBytes;
    options.tileHalves = tileHalves;
    if (failed(
            forEachNetwork(getOperation(), [&](dfg::NodeOp node) { return assignLayouts(node, options); })))
      signalPassFailure();
  }
};
} // namespace
