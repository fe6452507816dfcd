// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which knobs an operation has and what they leave to compute; the dialect's attributes.
#include "tessera/base/Knob.h"
#include "tessera/ir/nn/NnInfer.h"

#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace tessera;
using namespace tessera::nn;
using Precision = Knob::Precision;
using Structure = Knob::Structure;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

bool nn::isLayer(Operation *op) { return isa<NnOp>(op); }

LogicalResult nn::verifyName(Operation *op, Attribute name) {
  if (!cast<StringAttr>(name).empty())
    return success();
  return op->emitOpError("expected 'nn.name' to be a string that is not empty");
}

LogicalResult nn::verifyRange(Operation *op, Attribute range) {
  ArrayRef<float> ends = cast<DenseF32ArrayAttr>(range).asArrayRef();
  if (ends.size() == 2 && std::isfinite(ends[0]) && std::isfinite(ends[1]) && ends[0] <= ends[1])
    return success();
  return op->emitOpError("expected 'nn.range' to be array<f32: low, high> with finite low <= high, but got ")
         << range;
}

LogicalResult nn::verifyDemand(Operation *op, Attribute demand) {
  ArrayRef<float> errors = cast<DenseF32ArrayAttr>(demand).asArrayRef();
  if (errors.size() == 2 && llvm::all_of(errors, [](float e) { return std::isfinite(e) && e >= 0; }))
    return success();
  return op->emitOpError("expected 'nn.demand' to be array<f32: l1, l2> of relative errors, but got ")
         << demand;
}

LogicalResult nn::verifyKnob(Operation *op, Attribute knob) {
  StringRef text = cast<StringAttr>(knob).getValue();
  Result<Knob> parsed = Knob::parse(text.str());
  if (!parsed.ok())
    return op->emitOpError("'nn.knob': ") << parsed.status().message();
  auto tunable = dyn_cast<TunableOp>(op);
  if (!tunable || parsed->skip > 1 || !tunable.hasKnob(*parsed))
    return op->emitOpError("does not have the knob '") << text << "'";
  return success();
}

Knob nn::knobOf(Operation *op) {
  StringAttr text = Notes::knob.get(op);
  return text ? *Knob::parse(text.getValue().str()) : Knob();
}

std::optional<std::pair<float, float>> nn::rangeOf(Operation *op) {
  DenseF32ArrayAttr range = Notes::range.get(op);
  if (!range)
    return std::nullopt;
  return std::pair(range[0], range[1]);
}

StringRef nn::nameOf(Operation *op) {
  StringAttr name = Notes::name.get(op);
  return name ? name.getValue() : StringRef();
}

//===----------------------------------------------------------------------===//
// What all operations share
//===----------------------------------------------------------------------===//

bool nn::changesWeights(const Knob &knob) {
  return knob.isBytes() || knob.precision == Precision::Int4 || knob.structure == Structure::SampleFilter ||
         knob.structure == Structure::LowRank || knob.structure == Structure::Prune ||
         knob.structure == Structure::PruneBlocks || knob.structure == Structure::Promise ||
         knob.structure == Structure::Winograd || knob.structure == Structure::Split;
}

bool nn::hasKnob(TunableOp op, const Knob &knob) {
  if (knob.skip > 1 || !op.hasKnob(knob))
    return false;
  Value weights = op.getWeights();
  return !weights || !changesWeights(knob) || matchPattern(weights, m_Constant());
}

static bool isF32(Value v) { return elementOf(v).isF32(); }

// One element of every `rate` from `offset` on is left out, and one stays.
static bool canSkip(int64_t extent, const Knob &knob) {
  return !ShapedType::isDynamic(extent) && extent >= knob.rate;
}
static int64_t countSkipped(int64_t extent, const Knob &knob) {
  return extent > knob.offset ? (extent - knob.offset - 1) / knob.rate + 1 : 0;
}

// What is the same for convolutions and products: structures of weights, and what goes together. `matrix` are
// the weights.
static bool hasContractionKnob(const Knob &knob, WeightMatrix matrix) {
  bool is16 = knob.precision == Precision::F16 || knob.precision == Precision::BF16;
  bool isF32 = knob.precision == Precision::F32;
  if (knob.precision == Precision::F16Math) // of graph nodes alone
    return false;
  switch (knob.structure) {
  case Structure::None:
    return true;
  case Structure::LowRank:
    return (isF32 || is16) && knob.value < std::min(matrix.rows, matrix.columns);
  case Structure::SampleFilter:
    return knob.precision != Precision::Int4 && canSkip(matrix.columns, knob);
  case Structure::Prune:
    return knob.precision != Precision::Int4 && matrix.columns >= knob.rate;
  case Structure::PruneBlocks:
    return knob.precision != Precision::Int4;
  case Structure::Promise:
    return isF32;
  default:
    return false;
  }
}

// The share of one operation in f32 that one with the knob's precision is worth.
static double precisionCost(const Knob &knob) {
  switch (knob.precision) {
  case Precision::F32:
  case Precision::Int4: // the weights are smaller, the arithmetic is not
    return 1;
  case Precision::F16:
  case Precision::F16Math:
  case Precision::BF16:
    return 0.5;
  case Precision::Int8:
  case Precision::Int7:
    return 0.25;
  }
  return 1;
}

static double contractionCost(double flops, const Knob &knob, WeightMatrix matrix) {
  double rows = static_cast<double>(matrix.rows), columns = static_cast<double>(matrix.columns);
  double kept = 1;
  switch (knob.structure) {
  case Structure::LowRank:
    kept = static_cast<double>(knob.value) * (rows + columns) / (rows * columns);
    break;
  case Structure::SampleFilter:
    kept = 1 - static_cast<double>(countSkipped(matrix.columns, knob)) / columns;
    break;
  case Structure::Prune:
    kept = static_cast<double>(knob.value) / static_cast<double>(knob.rate);
    break;
  case Structure::PruneBlocks:
    kept = 1 - knob.share;
    break;
  case Structure::Promise: { // energy of 128 products at its levels, over that of f32 by the CPU's model
    constexpr double picojoules[] = {30.544, 31.689, 35.042, 47.218, 52.680, 80.035, 106.549};
    kept = picojoules[knob.value - 1] / (2 * 128 * 50);
    break;
  }
  case Structure::Winograd: // products for a tile of results: (v + 2)^2 instead of 9 v^2
    kept = std::pow(static_cast<double>(knob.value + 2) / (3 * static_cast<double>(knob.value)), 2);
    break;
  case Structure::Split: // three products of half the bits
    kept = 1.5;
    break;
  default:
    break;
  }
  return flops * kept * precisionCost(knob);
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

bool ConvOp::hasKnob(const Knob &knob) {
  if (!::isF32(getX()) || !::isF32(getW()))
    return knob.isExact();
  ArrayRef<int64_t> y = shapeOf(getY()), w = shapeOf(getW());
  if (knob.perforates())
    return knob.precision != Precision::Int4 && knob.precision != Precision::F16Math && y.size() == 4 &&
           (!knob.perforatesRows() || canSkip(y[2], knob)) && (!knob.perforatesCols() || canSkip(y[3], knob));
  if (knob.structure == Structure::Direct)
    return knob.precision == Precision::F32;
  if (knob.structure == Structure::Winograd)
    return knob.precision == Precision::F32 && getGroups() == 1 &&
           w.drop_front(2) == ArrayRef<int64_t>({3, 3}) &&
           llvm::all_of(getStrides(), [](int64_t s) { return s == 1; }) &&
           llvm::all_of(getDilations(), [](int64_t d) { return d == 1; });
  // Whole rows of a matrix of bf16.
  if (knob.structure == Structure::Split)
    return knob.precision == Precision::F32 && getGroups() == 1 && y.size() == 4 && w[1] % 32 == 0;
  if (knob.structure == Structure::LowRank && getGroups() != 1)
    return false;
  return hasContractionKnob(knob, weightMatrix(cast<TunableOp>(getOperation())));
}
double ConvOp::getKnobCost(const Knob &knob) {
  double flops = static_cast<double>(getFlops());
  ArrayRef<int64_t> y = shapeOf(getY());
  for (unsigned d : {2u, 3u})
    if (d == 2 ? knob.perforatesRows() : knob.perforatesCols())
      flops *= 1 - static_cast<double>(countSkipped(y[d], knob)) / static_cast<double>(y[d]);
  return contractionCost(flops, knob, weightMatrix(cast<TunableOp>(getOperation())));
}
Value ConvOp::getRangedOperand() { return getX(); }
Value ConvOp::getWeights() { return getW(); }

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

bool MatmulOp::hasKnob(const Knob &knob) {
  if (!::isF32(getA()))
    return knob.isExact();
  // Rows of a matrix are no places: there is nothing between two of them to interpolate.
  if (knob.structure == Structure::None && !changesWeights(knob))
    return true;
  return shapeOf(getB()).size() == 2 && typeOf(getB()).hasStaticShape() &&
         hasContractionKnob(knob, weightMatrix(cast<TunableOp>(getOperation())));
}
double MatmulOp::getKnobCost(const Knob &knob) {
  return contractionCost(static_cast<double>(getFlops()), knob,
                         weightMatrix(cast<TunableOp>(getOperation())));
}
Value MatmulOp::getRangedOperand() { return getA(); }
Value MatmulOp::getWeights() { return getB(); }

WeightMatrix nn::weightMatrix(TunableOp op) {
  Value weights = op.getWeights();
  if (!weights)
    return {};
  ArrayRef<int64_t> w = shapeOf(weights);
  if (auto product = dyn_cast<MatmulOp>(op.getOperation())) {
    int64_t rows = w.back(), columns = w[w.size() - 2];
    return product.getTransposeB() ? WeightMatrix{columns, rows} : WeightMatrix{rows, columns};
  }
  int64_t columns = 1;
  for (int64_t extent : w.drop_front())
    columns *= extent;
  return {w[0], columns};
}

//===----------------------------------------------------------------------===//
// Reductions and pools
//===----------------------------------------------------------------------===//

static bool isSampled(ReduceKind kind) {
  return kind == ReduceKind::sum || kind == ReduceKind::mean || kind == ReduceKind::max ||
         kind == ReduceKind::min;
}

bool ReduceOp::hasKnob(const Knob &knob) {
  if (knob.isExact())
    return true;
  return ::isF32(getX()) && knob.structure == Structure::Sample && knob.precision == Precision::F32 &&
         isSampled(getKind()) && !getAxes().empty() && canSkip(shapeOf(getX())[getAxes()[0]], knob);
}
double ReduceOp::getKnobCost(const Knob &knob) {
  double flops = static_cast<double>(getFlops());
  if (knob.structure != Structure::Sample)
    return flops;
  int64_t extent = shapeOf(getX())[getAxes()[0]];
  return flops * (1 - static_cast<double>(countSkipped(extent, knob)) / static_cast<double>(extent));
}
Value ReduceOp::getRangedOperand() { return getX(); }
Value ReduceOp::getWeights() { return {}; }

// The rows of a window that stay are evenly spaced, so that they are a window again.
static bool isEven(int64_t extent, const Knob &knob) {
  SmallVector<int64_t> kept;
  for (int64_t i = 0; i < extent; ++i)
    if (i % knob.rate != knob.offset)
      kept.push_back(i);
  for (size_t i = 2; i < kept.size(); ++i)
    if (kept[i] - kept[i - 1] != kept[1] - kept[0])
      return false;
  return true;
}

bool PoolOp::hasKnob(const Knob &knob) {
  if (knob.isExact())
    return true;
  // A window that sticks out must not lose all that it has inside.
  size_t spatial = getKernel().size();
  bool isInside = getPads()[0] <= 0 && getPads()[spatial] <= 0 && !getCeil() &&
                  (!getCountPad() || llvm::all_of(getPads(), [](int64_t pad) { return pad == 0; }));
  return ::isF32(getX()) && knob.structure == Structure::Sample && knob.precision == Precision::F32 &&
         isInside && isSampled(getKind()) && canSkip(getKernel()[0], knob) && isEven(getKernel()[0], knob);
}
double PoolOp::getKnobCost(const Knob &knob) {
  double flops = static_cast<double>(getFlops());
  if (knob.structure != Structure::Sample)
    return flops;
  double rows = static_cast<double>(getKernel()[0]);
  return flops * (1 - static_cast<double>(countSkipped(getKernel()[0], knob)) / rows);
}
Value PoolOp::getRangedOperand() { return getX(); }
Value PoolOp::getWeights() { return {}; }

//===----------------------------------------------------------------------===//
// Sums of two activations
//===----------------------------------------------------------------------===//

// The one that was there first waits in memory for the other; its precision is what the knob says.
static bool isOlder(Value a, Value b) {
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  if (!x || !y)
    return !x && (y || cast<BlockArgument>(a).getArgNumber() < cast<BlockArgument>(b).getArgNumber());
  return x->isBeforeInBlock(y);
}

bool BinaryOp::hasKnob(const Knob &knob) {
  if (knob.isExact())
    return true;
  // Planes of channels; constants are no activations.
  auto isActivation = [&](Value v) {
    return v.getType() == getY().getType() && v.getParentBlock() == (*this)->getBlock() &&
           !matchPattern(v, m_Constant());
  };
  return getKind() == BinaryKind::add && ::isF32(getY()) && shapeOf(getY()).size() == 4 &&
         isActivation(getA()) && isActivation(getB()) && knob.structure == Structure::None &&
         llvm::is_contained({Precision::F16, Precision::BF16, Precision::Int8}, knob.precision);
}
double BinaryOp::getKnobCost(const Knob &) {
  return static_cast<double>(cast<NnOp>(getOperation()).getFlops());
}
Value BinaryOp::getRangedOperand() { return isOlder(getB(), getA()) ? getB() : getA(); }
Value BinaryOp::getWeights() { return {}; }

//===----------------------------------------------------------------------===//
// The list
//===----------------------------------------------------------------------===//

SmallVector<Knob> nn::listKnobs(TunableOp op) {
  SmallVector<Knob> structures = {Knob()};
  auto add = [&](Structure structure, int64_t rate = 0, int64_t offset = 0, int64_t value = 0,
                 double share = 0) {
    structures.push_back({Precision::F32, structure, rate, offset, value, share});
  };
  for (Structure structure : {Structure::PerforateRows, Structure::PerforateCols, Structure::PerforateBoth,
                              Structure::SampleFilter, Structure::Sample})
    for (int64_t rate : {2, 3, 4})
      for (int64_t offset = 0; offset < rate; ++offset)
        add(structure, rate, offset);
  // Ranks that save arithmetic.
  if (Value weights = op.getWeights(); weights && typeOf(weights).hasStaticShape()) {
    WeightMatrix matrix = weightMatrix(op);
    int64_t even = matrix.rows * matrix.columns / std::max<int64_t>(1, matrix.rows + matrix.columns);
    for (int64_t eighths : {2, 4, 6})
      if (int64_t rank = even * eighths / 8 / 8 * 8; rank >= 8 && rank != structures.back().value)
        add(Structure::LowRank, 0, 0, rank);
  }
  add(Structure::Prune, 4, 0, 2);
  for (double share : {0.25, 0.5, 0.75})
    add(Structure::PruneBlocks, 0, 0, 0, share);
  add(Structure::Direct);
  for (int64_t tile : {2, 4})
    add(Structure::Winograd, 0, 0, tile);
  add(Structure::Split);
  for (int64_t level = 1; level <= 7; ++level)
    add(Structure::Promise, 0, 0, level);
  SmallVector<Knob> knobs;
  for (Precision precision :
       {Precision::F32, Precision::F16, Precision::BF16, Precision::Int8, Precision::Int7, Precision::Int4})
    for (Knob knob : structures) {
      knob.precision = precision;
      if (nn::hasKnob(op, knob))
        knobs.push_back(knob);
    }
  return knobs;
}
