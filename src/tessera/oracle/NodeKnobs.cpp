// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The definition of a node's knob.
#include "tessera/oracle/Nodes.h"
#include "tessera/oracle/Tensors.h"

using namespace tessera;
using namespace tessera::oracle;

NodeKnob::NodeKnob(dfg::NodeOp node, ArrayRef<int64_t> extents) : knob(dfg::knobOf(node)) {
  if (knob.perforates())
    rows = extents.front();
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
  if (knob.precision == Knob::Precision::F32)
    return value;
  bool isHalf = knob.precision == Knob::Precision::F16;
  llvm::APFloat number(static_cast<float>(value));
  bool losesInfo = false;
  number.convert(isHalf ? llvm::APFloat::IEEEhalf() : llvm::APFloat::BFloat(),
                 llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number.convertToDouble();
}

void NodeKnob::approximate(Val &result) const {
  if (knob.isExact())
    return;
  Elements &all = result.elements();
  ElementInfo info = all.info;
  int64_t width = rows ? all.size() / rows : 0;
  auto load = [&](int64_t e) { return toDouble(info, all.load(e)); };
  // Computed values are rounded first: what lies between them is made of what was stored.
  for (int64_t e = 0; e < all.size(); ++e)
    if (!knob.perforates() || computed(e / width))
      all.store(e, fromDouble(info, round(load(e))));
  for (int64_t row = 0; row < rows; ++row) {
    if (computed(row))
      continue;
    int64_t low = row, high = row;
    while (low >= 0 && !computed(low))
      --low;
    while (high < rows && !computed(high))
      ++high;
    // Before the first computed row and after the last one: copies.
    int64_t below = low < 0 ? high : low, above = high == rows ? low : high;
    int64_t place = (row + knob.rate - knob.offset) % knob.rate;
    bool isF32 = info.kind == ElementInfo::F32;
    double share =
        isF32 ? static_cast<float>(place + 1) * static_cast<float>(1.0 / static_cast<double>(knob.skip + 1))
              : static_cast<double>(place + 1) * (1.0 / static_cast<double>(knob.skip + 1));
    for (int64_t c = 0; c < width; ++c) {
      double a = load(below * width + c), b = load(above * width + c), value;
      if (isF32) {
        float difference = static_cast<float>(b) - static_cast<float>(a);
        float part = difference * static_cast<float>(share);
        value = static_cast<float>(a) + part;
      } else {
        value = a + (b - a) * share;
      }
      all.store(row * width + c, fromDouble(info, round(value)));
    }
  }
}
