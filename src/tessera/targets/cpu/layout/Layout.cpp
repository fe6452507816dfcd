// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Layout.h: the decision. LayoutEmit.cpp carries it out.
#include "tessera/targets/cpu/layout/Layout.h"

#include "tessera/targets/cpu/layout/NarrowLayers.h"
#include "tessera/targets/cpu/packed/Packed.h"

using namespace tessera;
using namespace tessera::cpu;

static RankedTensorType typeOf(Value v) { return cast<RankedTensorType>(v.getType()); }
static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

static bool isF32(Value v) { return typeOf(v).getElementType().isF32(); }
static bool isByte(Value v) { return typeOf(v).getElementType().isInteger(8); }

bool cpu::isActivation(Value v) {
  auto type = dyn_cast<RankedTensorType>(v.getType());
  auto isKnown = [](Type t) {
    return t.isF32() || t.isBF16() || t.isF16() || t.isInteger(8) || t.isInteger(32);
  };
  return type && type.getRank() == 4 && isKnown(type.getElementType()) && !type.isDynamicDim(1) &&
         (type.getElementType().isF32() || !hasOpenPlane(v)) && !elementsOf(v);
}

bool cpu::hasOpenPlane(Value v) { return typeOf(v).isDynamicDim(2) || typeOf(v).isDynamicDim(3); }

int64_t cpu::placesOf(Value v) {
  constexpr int64_t likely = 28;
  auto extent = [&](unsigned d) { return typeOf(v).isDynamicDim(d) ? likely : typeOf(v).getDimSize(d); };
  return extent(2) * extent(3);
}

/// So many weights are in no cache of one core when their layer starts.
static constexpr int64_t farWeights = 1 << 21;

ConvKind cpu::classifyConv(ConvOp op, const LayoutOptions &options) {
  if (!isActivation(op.getX()) || !isActivation(op.getY()) || !elementsOf(op.getW()) ||
      (op.getBias() && !elementsOf(op.getBias())))
    return ConvKind::None;
  bool narrow = !isF32(op.getX());
  if (narrow && !narrowOf(op, options))
    return ConvKind::None;
  ArrayRef<int64_t> w = typeOf(op.getW()).getShape();
  int64_t groups = op.getGroups(), channels = w[1] * groups;
  // Narrow ones are summed in f32, which is exact up to 2^24.
  if (groups > 1 && w[1] == 1 && w[0] == channels)
    return narrow && w[2] * w[3] > 256 ? ConvKind::None : ConvKind::Depthwise;
  if (groups > 1) {
    // A group must be whole blocks; four lanes are the least that is worth it.
    if (w[1] % 4 || w[0] / groups % 4)
      return ConvKind::None;
    return ConvKind::Direct;
  }
  auto all = [](ArrayRef<int64_t> values, int64_t v) {
    return llvm::all_of(values, [&](int64_t each) { return each == v; });
  };
  // Transforms cost as much as they save when there are few channels to share them, or few tiles for the
  // products.
  bool large = placesOf(op.getY()) >= 16 && w[0] >= 2 * options.lanes && w[1] >= 2 * options.lanes;
  // The author may have chosen.
  Knob::Structure chosen = knobOf(op).structure;
  if (chosen == Knob::Structure::Winograd)
    return ConvKind::Winograd;
  if (chosen == Knob::Structure::Direct)
    return ConvKind::Direct;
  // A product of matrices saves more than the transforms do; and transformed weights are eight times as many
  // bytes as bf16, which counts where they come from memory for each image.
  if (std::optional<Narrow> own = narrowOf(op, options);
      own && (own->tile || typeOf(op.getW()).getNumElements() >= farWeights))
    return ConvKind::Direct;
  if (!narrow && options.winograd && (w[2] == 3 || w[2] == 5) && w[3] == w[2] && all(op.getStrides(), 1) &&
      all(op.getDilations(), 1) && large)
    return ConvKind::Winograd;
  return ConvKind::Direct;
}

static Layout layoutOf(Operation *op) {
  auto own = dyn_cast<NnOp>(op);
  return own ? own.getLayout() : Layout::Plain;
}

bool cpu::isBlockwise(Operation *op) {
  if (layoutOf(op) != Layout::Lanes || !isActivation(op->getResult(0)))
    return false;
  auto type = typeOf(op->getResult(0));
  bool carries = false;
  for (Value v : op->getOperands()) {
    auto operand = typeOf(v);
    if (isActivation(v) && operand.getShape() == type.getShape()) {
      carries = true;
      continue;
    }
    // Constants: one number, or one for each channel. Activations: one number for each channel, or for each
    // place.
    if (elementsOf(v)) {
      int64_t channels = type.getDimSize(1), rank = operand.getRank();
      if (operand.getNumElements() == 1 && rank <= 4)
        continue;
      if (isF32(v) && operand.getNumElements() == channels && rank >= 3 && rank <= 4 &&
          operand.getDimSize(rank - 3) == channels)
        continue;
      return false;
    }
    if (!isActivation(v))
      return false;
    ArrayRef<int64_t> shape = operand.getShape();
    if (shape[1] != type.getDimSize(1) || shape[2] != 1 || shape[3] != 1)
      return false;
  }
  return carries;
}

bool cpu::isPackedPool(Operation *op) {
  auto pool = dyn_cast<PoolOp>(op);
  if (!pool || !isActivation(pool.getX()) || !isActivation(pool.getY()))
    return false;
  bool isExtreme = pool.getKind() == ReduceKind::max || pool.getKind() == ReduceKind::min;
  bool bytes = isByte(pool.getX()) && pool.getIsUnsigned(),
       halves = typeOf(pool.getX()).getElementType().isBF16();
  if (!isF32(pool.getX()) && !(isExtreme && (bytes || halves)))
    return false;
  if (pool.getKind() != ReduceKind::max && pool.getKind() != ReduceKind::mean &&
      pool.getKind() != ReduceKind::min && pool.getKind() != ReduceKind::sum)
    return false;
  if (pool.getCeil() && hasOpenPlane(pool.getX()) && pool.getStrides() != ArrayRef<int64_t>({1, 1}))
    return false;
  for (unsigned d : {0u, 1u}) {
    int64_t span = pool.getDilations()[d] * (pool.getKernel()[d] - 1) + 1;
    int64_t extent = typeOf(pool.getX()).getDimSize(d + 2) + pool.getPads()[d] + pool.getPads()[d + 2];
    // In ceiling mode a window may stick out beyond what the pads say.
    if (pool.getCeil() && (extent - span) % pool.getStrides()[d])
      return false;
  }
  return true;
}

bool cpu::isPlaneMean(Operation *op) {
  auto reduce = dyn_cast<ReduceOp>(op);
  return reduce && reduce.getKind() == ReduceKind::mean && isActivation(reduce.getX()) &&
         isF32(reduce.getX()) && reduce.getAxes() == ArrayRef<int64_t>({2, 3});
}

// Operands and result have the same blocks, whichever.
static bool keepsBlocks(Operation *op) {
  if (layoutOf(op) == Layout::Planes)
    return !isa<PoolOp>(op) || isPackedPool(op);
  return isBlockwise(op);
}

Layouts::Layouts(dfg::NodeOp node, const LayoutOptions &options) : options(options) {
  join(node);
  choose(node);
}

int64_t Layouts::blockOf(Value v) const {
  auto it = classOf.find(v);
  return it == classOf.end() ? 0 : classes[it->second].block;
}

void Layouts::join(dfg::NodeOp node) {
  llvm::EquivalenceClasses<void *> same;
  SmallVector<Value> values;
  auto add = [&](Value v) {
    if (isActivation(v)) {
      same.insert(v.getAsOpaquePointer());
      values.push_back(v);
    }
  };
  for (Value arg : node.getInputArgs())
    add(arg);
  for (Operation &op : *node.getBodyBlock())
    for (Value v : op.getResults())
      add(v);
  auto unite = [&](Value a, Value b) { same.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer()); };
  for (Operation &op : *node.getBodyBlock()) {
    bool keeps = keepsBlocks(&op) || (layoutOf(&op) == Layout::Joined && isActivation(op.getResult(0)));
    if (auto conv = dyn_cast<ConvOp>(op))
      keeps = classifyConv(conv, options) == ConvKind::Depthwise;
    if (keeps)
      for (Value v : op.getOperands())
        if (isActivation(v))
          unite(v, op.getResult(0));
  }
  DenseMap<void *, unsigned> index;
  for (Value v : values) {
    void *leader = *same.findLeader(v.getAsOpaquePointer());
    auto [it, isNew] = index.try_emplace(leader, classes.size());
    if (isNew)
      classes.emplace_back();
    classes[it->second].values.push_back(v);
    classOf[v] = it->second;
  }
  for (Operation &op : *node.getBodyBlock()) {
    if (auto conv = dyn_cast<ConvOp>(op)) {
      ConvKind kind = classifyConv(conv, options);
      if (kind != ConvKind::None)
        classes[classOf[conv.getY()]].blocked = true;
      if (kind == ConvKind::Direct && conv.getGroups() > 1)
        classes[classOf[conv.getX()]].blocked = true;
    }
  }
  for (Class &c : classes)
    c.most = options.lanes;
  // Wide blocks are for who reads them; a layer on vectors on either side forbids them.
  for (auto conv : node.getBodyBlock()->getOps<ConvOp>())
    if (std::optional<Narrow> own = narrowOf(conv, options); own && own->tile && classOf.count(conv.getX()))
      classes[classOf[conv.getX()]].most = own->tile;
  for (auto conv : node.getBodyBlock()->getOps<ConvOp>())
    if (std::optional<Narrow> own = narrowOf(conv, options); !own || !own->tile)
      for (Value v : {conv.getX(), conv.getY()})
        if (auto it = classOf.find(v); it != classOf.end())
          classes[it->second].most = options.lanes;
  for (Class &c : classes)
    c.exact = llvm::any_of(c.values, [](Value v) {
      auto def = dyn_cast_or_null<NnOp>(v.getDefiningOp());
      return def && def.needsWholeBlocks();
    });
}

bool Layouts::fits(const Class &c, int64_t block) const {
  if (block > c.most)
    return false;
  for (Value v : c.values) {
    if (c.exact && typeOf(v).getDimSize(1) % block)
      return false;
    if (Operation *def = v.getDefiningOp(); def && layoutOf(def) == Layout::Joined)
      for (Value input : def->getOperands())
        if (!isActivation(input) || typeOf(input).getDimSize(1) % block)
          return false;
    auto whole = [&](ConvOp conv) {
      ArrayRef<int64_t> w = typeOf(conv.getW()).getShape();
      if (conv.getGroups() == 1 || classifyConv(conv, options) != ConvKind::Direct)
        return true;
      return (v != conv.getX() || w[1] % block == 0) &&
             (v != conv.getY() || w[0] / int64_t(conv.getGroups()) % block == 0);
    };
    if (auto conv = v.getDefiningOp<ConvOp>(); conv && !whole(conv))
      return false;
    for (Operation *user : v.getUsers())
      if (auto conv = dyn_cast<ConvOp>(user); conv && !whole(conv))
        return false;
  }
  return true;
}

// Work, in vector operations, of a convolution from blocks of `from` channels to blocks of `to`.
double Layouts::convCost(ConvOp op, int64_t from, int64_t to) const {
  ConvKind kind = classifyConv(op, options);
  ArrayRef<int64_t> w = typeOf(op.getW()).getShape(), y = typeOf(op.getY()).getShape();
  double places = double(placesOf(op.getY()));
  int64_t groups = op.getGroups(), perVector = std::min(to, options.lanes);
  double vectors = double(ceilDiv(y[1], to) * (to / perVector));
  if (kind == ConvKind::Depthwise)
    return places * double(w[2] * w[3]) * vectors;
  int64_t in = ceilDiv(w[1] * groups, from);
  if (std::optional<Narrow> own = narrowOf(op, options); own && own->tile) {
    // A plain operand is packed first (LayoutEmit.cpp). One product of matrices takes a cycle for each place,
    // the time of two operations.
    if (from == 1) {
      from = w[1] * groups <= 4 ? 4 : options.lanes;
      in = ceilDiv(w[1] * groups, from);
    }
    int64_t beside = op.getDilations()[1] == 1 ? w[3] : 1,
            run = beside * from * typeOf(own->source).getElementTypeBitWidth() / 8;
    return 2 * places * double(w[2] * (w[3] / beside) * (run / packed::partOf(run)) * in) / double(groups) *
           vectors;
  }
  double taps = double(w[2] * w[3]) / (kind == ConvKind::Winograd ? (w[2] == 5 ? 4 : 2.25) : 1);
  return places * taps * double(in * from) / double(groups) * vectors;
}

// Work, in vector operations, of the layers that touch a class and of the copies at its borders.
double Layouts::cost(unsigned index, int64_t block) const {
  const Class &c = classes[index];
  double total = 0;
  auto blocks = [&](Value v, int64_t b) { return double(ceilDiv(typeOf(v).getDimSize(1), b)); };
  auto of = [&](Value v) { return classOf.lookup(v) == index ? block : std::max<int64_t>(1, blockOf(v)); };
  auto places = [](Value v) { return double(placesOf(v)); };
  DenseSet<Operation *> seen;
  auto layer = [&](Operation *op) {
    if (!op || !seen.insert(op).second)
      return;
    if (auto conv = dyn_cast<ConvOp>(op)) {
      ConvKind kind = classifyConv(conv, options);
      if (kind == ConvKind::None) {
        // It takes plain activations: a copy of each operand and result that is not.
        total += 4 * places(conv.getX()) * typeOf(conv.getX()).getDimSize(1);
        return;
      }
      total += convCost(conv, of(conv.getX()), of(conv.getY()));
      return;
    }
    if (op->getNumResults() == 1 && isActivation(op->getResult(0)) && keepsBlocks(op))
      total += places(op->getResult(0)) * blocks(op->getResult(0), block) *
               double(std::max<int64_t>(1, block / options.lanes));
    else
      // A copy to or from the plain layout, element by element.
      for (Value v : op->getOperands())
        if (classOf.count(v) && classOf.lookup(v) == index && !isPlaneMean(op) && !isa<ReshapeOp>(op))
          total += 2 * places(v) * typeOf(v).getDimSize(1);
  };
  for (Value v : c.values) {
    // Spare lanes are stored, too.
    total += 0.01 * places(v) * blocks(v, block) * double(block);
    layer(v.getDefiningOp());
    for (Operation *user : v.getUsers())
      layer(user);
  }
  return total;
}

void Layouts::choose(dfg::NodeOp node) {
  SmallVector<int64_t> sizes;
  for (int64_t b = options.lanes; b >= 4; b /= 2)
    sizes.push_back(b);
  // Wider ones have to be worth it.
  for (int64_t b = 2 * options.lanes; b <= std::max(options.tileBytes, options.tileHalves); b *= 2)
    sizes.push_back(b);
  for (Class &c : classes)
    if (c.blocked)
      for (int64_t b : sizes)
        if (!c.block && fits(c, b))
          c.block = b;
  for (unsigned round = 0; round < 8; ++round) {
    bool changed = false;
    for (auto [i, c] : llvm::enumerate(classes)) {
      if (!c.block)
        continue;
      int64_t best = c.block;
      double least = cost(i, best);
      for (int64_t b : sizes)
        if (b != c.block && fits(c, b))
          if (double work = cost(i, b); work < least * 0.999) {
            best = b;
            least = work;
          }
      changed |= best != c.block;
      c.block = best;
    }
    if (!changed)
      return;
  }
}
