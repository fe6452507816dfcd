// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constant weights of an operation as a matrix with a row for each result.
#pragma once

#include "tessera/base/Weights.h"
#include "tessera/ir/nn/Nn.h"

namespace tessera::nn {

struct Matrix {
  WeightShape shape;
  std::vector<float> data;
  bool isTransposed = false; ///< as the operation stores it
};

Matrix readMatrix(TunableOp op);
/// The matrix as a constant of this shape, stored as the operation has it.
Value writeMatrix(OpBuilder &b, Location loc, const Matrix &matrix, ArrayRef<int64_t> shape);

} // namespace tessera::nn
