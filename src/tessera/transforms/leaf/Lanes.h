// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bodies of instances on vectors, shared by what puts rows of a linalg.generic and iterations of a loop over
// memory into lanes.
#pragma once

#include "tessera/transforms/leaf/Rewrites.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

namespace tessera::leaf {

/// Divisions stop the program when the divisor is zero, so lanes that do not run divide by one.
bool isDivision(Operation *op);

/// Whether a scalar operation has a form on vectors.
bool isElementwise(Operation *op);

class LaneEmitter {
public:
  LaneEmitter(RewriterBase &b, Location loc, int64_t lanes, std::string &why)
      : b(b), loc(loc), lanes(lanes), why(why) {}
  /// A row of instances.
  LogicalResult run(linalg::GenericOp op);
  /// The iterations of a loop from `first` on, those of `mask` only unless it is null; at the builder's
  /// place. `own` are buffers of one iteration and what stands for them.
  void runLoop(scf::ForOp loop, Value first, Value mask, const DenseMap<Value, Value> &own);

private:
  /// Numbers in the lanes that are `stride` apart.
  struct Sequence {
    Value first;
    int64_t stride = 0;
  };
  LogicalResult fail(const Twine &text) {
    why = text.str();
    return failure();
  }
  VectorType vectorOf(Type type) { return VectorType::get({lanes}, type); }
  bool isVarying(Value v) { return isa<VectorType>(v.getType()); }
  Value lookup(Value v) { return map.lookupOrDefault(v); }
  /// The value in all lanes.
  Value spread(Value v) {
    return isVarying(v) ? v : vector::BroadcastOp::create(b, loc, vectorOf(v.getType()), v).getResult();
  }
  Value spreadOf(Value v) { return spread(lookup(v)); }
  Value any(Value m) { return vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, m); }
  Value allLanes() {
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(vectorOf(b.getI1Type()), true));
  }
  /// The first of indices that are one apart; null where they are not.
  Value firstOf(Value v) {
    auto it = sequences.find(v);
    return it != sequences.end() && it->second.stride == 1 ? it->second.first : Value();
  }

  /// Emits the operations of a block; `mask` holds the lanes that run (null: all).
  void emitBlock(Block &block, Value mask);
  void emitOp(Operation &operation, Value mask);
  void emitElementwise(Operation &operation, Value mask);
  void emitExtract(tensor::ExtractOp extract, Value mask);
  void emitLoad(memref::LoadOp load, Value mask);
  void emitStore(memref::StoreOp store, Value mask);
  /// Where the lanes' own elements are in their buffer: indices, and numbers behind them where they differ.
  std::pair<SmallVector<Value>, Value> placeOf(Value buffer, ValueRange indices);
  void emitIf(scf::IfOp branch, Value mask);
  SmallVector<Value> emitSide(Block &block, Value mask);
  void emitFor(scf::ForOp loop, Value mask);
  void emitWhile(scf::WhileOp loop, Value mask);
  /// What is known of the result when all operands are sequences or the same in all lanes.
  std::optional<Sequence> sequenceOf(Operation &operation, ArrayRef<Value> operands);

  RewriterBase &b;
  linalg::GenericOp op; ///< null: a loop
  Location loc;
  int64_t lanes;
  std::string &why;
  IRMapping map;
  DenseMap<Value, Sequence> sequences;
  DenseMap<Value, Value> buffers; ///< of one iteration → of all lanes, with the lane as the last dimension
};

} // namespace tessera::leaf
