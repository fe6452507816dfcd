// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The definition of a node's knob.
#include "tessera/base/Weights.h"
#include "tessera/oracle/Nodes.h"
#include "tessera/oracle/Tensors.h"

#include <array>

using namespace tessera;
using namespace tessera::oracle;

// Of sums, products and quotients of such numbers, which f32 has rounded before, it is the nearest one too.
void oracle::roundToHalf(const ElementInfo &info, Val &value) {
  if (info.kind == ElementInfo::F32 && value.getTag() == Val::Scalar)
    value = fromDouble(info, roundTo(Knob::Precision::F16, static_cast<float>(toDouble(info, value))));
}

NodeKnob::NodeKnob(dfg::NodeOp node, ArrayRef<int64_t> extents) : knob(dfg::knobOf(node)) {
  if (samples())
    dim = *dfg::sampledDim(node);
  if (!knob.skipsRows() && !samples())
    return;
  rows = extents[dim];
  for (int64_t row = 0; row < rows && samples(); ++row)
    count += computed(row);
}

void NodeKnob::weigh(Val &value, dfg::NodeOp node, unsigned result) const {
  if (node.getYield(result).getReduction().getKind() != dfg::ReductionKind::AddF)
    return;
  const ElementInfo info = ElementInfo::get(node.getYieldOp().getValues()[result].getType());
  const double exact = toDouble(info, value);
  if (info.kind == ElementInfo::F32) {
    const float factor = static_cast<float>(rows) / static_cast<float>(count);
    value = fromDouble(info, static_cast<float>(exact) * factor);
    return;
  }
  value = fromDouble(info, exact * (static_cast<double>(rows) / static_cast<double>(count)));
}

bool NodeKnob::computed(int64_t row) const {
  auto inGap = [&](int64_t r) { return (r + knob.rate - knob.offset) % knob.rate < knob.skip; };
  if (!inGap(row))
    return true;
  // A grid of which nothing would be computed computes its last row.
  if (row != rows - 1)
    return false;
  for (int64_t r = 0; r < rows; ++r)
    if (!inGap(r))
      return false;
  return true;
}

double NodeKnob::round(double value) const {
  if (knob.precision == Knob::Precision::F32) // which f64 is too
    return value;
  return roundTo(knob.precision, static_cast<float>(value));
}

int64_t NodeKnob::neighbour(int64_t row, int64_t steps) const {
  const int64_t way = steps < 0 ? -1 : 1;
  int64_t found = -1;
  for (int64_t r = row + way; r >= 0 && r < rows && steps != 0; r += way)
    if (computed(r)) {
      found = r;
      steps -= way;
    }
  return found >= 0 ? found : neighbour(row, -way);
}

namespace {
/// A number of f16; what is computed with it is rounded at once.
struct Half {
  explicit Half(double value) : value(roundTo(Knob::Precision::F16, static_cast<float>(value))) {}
  friend Half operator+(Half a, Half b) { return Half(a.value + b.value); }
  friend Half operator-(Half a, Half b) { return Half(a.value - b.value); }
  friend Half operator*(Half a, Half b) { return Half(a.value * b.value); }
  float value;
};
} // namespace

// On the line between two rows: `share` of the way from `a` to `b`.
template <typename T> static T onLine(T a, T b, int64_t place, int64_t skip) {
  const T share = static_cast<T>(place + 1) * static_cast<T>(1.0 / static_cast<double>(skip + 1));
  const T part = (b - a) * share;
  return a + part;
}

// On the cubic through four rows, two before the gap and two behind it: Lagrange's weights, of distances from
// the gap's first row.
template <typename T>
static T onCubic(const std::array<T, 4> &values, const std::array<int64_t, 4> &at, int64_t place) {
  std::array<T, 4> weights;
  for (size_t i = 0; i < 4; ++i) {
    int64_t above = 1, below = 1;
    for (size_t k = 0; k < 4; ++k)
      if (k != i) {
        above *= place - at[k];
        below *= at[i] - at[k];
      }
    weights[i] = static_cast<T>(above) * static_cast<T>(1.0 / static_cast<double>(below));
  }
  T sum = (values[0] - values[1]) * weights[0];
  sum += (values[2] - values[1]) * weights[2];
  sum += (values[3] - values[1]) * weights[3];
  return values[1] + sum;
}

template <typename T> static T fillIn(const Knob &knob, const std::array<double, 4> &values, int64_t place) {
  std::array<T, 4> own;
  for (size_t i = 0; i < 4; ++i)
    own[i] = static_cast<T>(values[i]);
  if (knob.structure == Knob::Structure::PerforateRows)
    return onLine<T>(own[1], own[2], place, knob.skip);
  // Two computed rows may be neighbours; a single one has its own in another period.
  const int64_t next = knob.rate - knob.skip > 1 ? 1 : knob.rate;
  return onCubic<T>(own, {-1 - next, -1, knob.skip, knob.skip + next}, place);
}

static void addBitErrors(Val &value, ElementInfo info, double rate, uint64_t key) {
  if (value.isScalar()) {
    value.setScalar(value.getBits() ^ bitErrors(0, info.width, rate, key));
    return;
  }
  Elements &all = mutate(value);
  for (int64_t e = 0; e < all.size(); ++e)
    if (all.isDefined(e))
      all.store(e, Val::scalar(all.load(e).getBits() ^ bitErrors(e, info.width, rate, key)));
}

void NodeKnob::approximate(Val &value, dfg::NodeOp node, unsigned result) const {
  if (knob.structure == Knob::Structure::BitErrors)
    return addBitErrors(value, ElementInfo::get(node->getResult(result).getType()), knob.share,
                        dfg::bitErrorKey(node, result));
  if (knob.precision == Knob::Precision::F32 && !knob.skipsRows())
    return;
  Elements &all = value.elements();
  ElementInfo info = all.info;
  int64_t width = rows ? all.size() / rows : 0;
  auto load = [&](int64_t e) { return toDouble(info, all.load(e)); };
  // Computed values are rounded first: what lies between them is made of what was stored.
  for (int64_t e = 0; e < all.size(); ++e)
    if (!knob.skipsRows() || computed(e / width))
      all.store(e, fromDouble(info, round(load(e))));
  for (int64_t row = 0; row < rows; ++row) {
    if (computed(row))
      continue;
    const std::array<int64_t, 4> from = {neighbour(row, -2), neighbour(row, -1), neighbour(row, 1),
                                         neighbour(row, 2)};
    const int64_t place = (row + knob.rate - knob.offset) % knob.rate;
    for (int64_t c = 0; c < width; ++c) {
      std::array<double, 4> values;
      for (size_t i = 0; i < 4; ++i)
        values[i] = load(from[i] * width + c);
      double value = 0;
      if (isMath() && knob.structure == Knob::Structure::PerforateRows)
        value = onLine(Half(values[1]), Half(values[2]), place, knob.skip).value;
      else if (info.kind == ElementInfo::F32)
        value = fillIn<float>(knob, values, place);
      else
        value = fillIn<double>(knob, values, place);
      all.store(row * width + c, fromDouble(info, round(value)));
    }
  }
}
