// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What operations ask of activations in blocks of channels, where it depends on more than the operation.
#include "tessera/ir/nn/Nn.h"

using namespace tessera;
using namespace tessera::nn;

bool nn::isPacked(Operation *op) {
  auto own = dyn_cast<NnOp>(op);
  return own && own.getLayout() == Layout::Packed;
}

// Those on planes are lowered with the others.
static Layout planesOrPacked(Value y) {
  return cast<RankedTensorType>(y.getType()).getRank() == 5 ? Layout::Packed : Layout::Planes;
}
Layout InterpolateOp::getLayout() { return planesOrPacked(getY()); }
Layout SplitOp::getLayout() { return planesOrPacked(getY()); }
Layout ConcatOp::getLayout() { return getAxis() == 1 ? Layout::Joined : Layout::Plain; }

// Blocks side by side are only then one tensor of blocks.
bool SplitOp::needsWholeBlocks() { return true; }
bool ConcatOp::needsWholeBlocks() { return true; }

// With a zero in a spare lane the result might not be finite.
bool UnaryOp::needsWholeBlocks() { return getKind() == UnaryKind::log || getKind() == UnaryKind::reciprocal; }
bool BinaryOp::needsWholeBlocks() {
  return getKind() == BinaryKind::div || getKind() == BinaryKind::pow || getKind() == BinaryKind::mod ||
         getKind() == BinaryKind::fmod;
}
