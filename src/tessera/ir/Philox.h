// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code that computes the random numbers of base/Weights.h.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

#include <array>

namespace tessera {

/// The words of Philox 4x32-10 for a counter (i64), as integers of 64 bits.
inline std::array<mlir::Value, 4> buildPhilox(mlir::OpBuilder &b, mlir::Location loc, mlir::Value counter,
                                              uint64_t key) {
  using namespace mlir;
  auto number = [&](uint64_t v) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(static_cast<int64_t>(v)));
  };
  auto low = [&](Value v) -> Value { return arith::AndIOp::create(b, loc, v, number(0xffffffff)); };
  auto high = [&](Value v) -> Value { return arith::ShRUIOp::create(b, loc, v, number(32)); };
  auto either = [&](Value x, Value y) -> Value { return arith::XOrIOp::create(b, loc, x, y); };
  std::array<Value, 4> c = {low(counter), high(counter), number(0), number(0)};
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    Value x = arith::MulIOp::create(b, loc, c[0], number(0xD2511F53)),
          y = arith::MulIOp::create(b, loc, c[2], number(0xCD9E8D57));
    c = {either(either(high(y), c[1]), number(k0)), low(y), either(either(high(x), c[3]), number(k1)),
         low(x)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return c;
}

} // namespace tessera
