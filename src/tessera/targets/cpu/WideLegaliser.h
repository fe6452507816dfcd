// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The walk over a function with wide vectors: WideVectors.cpp says when what is computed, WideOperations.cpp
// how an operation that is no mere lane of others becomes loops.
#pragma once

#include "tessera/targets/cpu/WideVectors.h"

#include "llvm/ADT/SetVector.h"

namespace tessera::cpu {

/// What a value that is not in memory was made of.
struct LazyValue {
  SmallVector<Operation *> reads; ///< of memory
  unsigned ops = 1;
  bool isStraight = true; ///< lane by lane
};

class WideLegaliser {
public:
  explicit WideLegaliser(func::FuncOp function) : function(function), b(function) {}
  void run();

private:
  void visit(Operation *op);
  /// Values that a loop or branch carries: through memory instead.
  void carry(Operation *op);
  void leave(Operation *terminator);
  void visitLazy(Operation *op);
  bool mustStore(OpResult v);
  void keep(Value v);
  /// What is written may have been meant to be read before.
  void beforeWrite(Operation *op);
  bool isInPlace(Operation *op, Value tip, const LazyValue &lazy) const;
  /// The memory that an access is in. Null when that is not known.
  static Value rootOf(Value memory);
  static bool mayMeet(Value a, Value b) { return !a || !b || a == b; }
  static Value baseOf(Operation *op);
  /// Memory of the carried value's own.
  Value copyOf(Value v);
  void copy(Location loc, Value v, Value buffer);
  /// A result that lies in memory now.
  void finish(Value result, Value buffer);
  void consume(Value v) { pending.remove(v); }

  void emit(vector::TransferWriteOp op);
  void emit(vector::StoreOp op);
  void emit(vector::MaskedStoreOp op);
  void emit(vector::ScatterOp op);
  void emit(vector::CompressStoreOp op);
  void emit(vector::ExpandLoadOp op);
  void emit(vector::ReductionOp op);
  void emit(vector::MultiDimReductionOp op);
  void emit(vector::ContractionOp op);
  void emit(vector::ScanOp op);
  void emit(vector::ShuffleOp op);
  void emit(vector::InsertOp op);
  void emit(vector::InsertStridedSliceOp op);
  void emit(vector::FromElementsOp op);
  void emit(vector::ToElementsOp op);
  void emitWhole(Operation *op);
  ArrayRef<int64_t> shapeOf(Value v) { return lanes.typeOf(v).getShape(); }
  /// Memory with the elements of a vector that nobody else needs any more.
  Value takeOver(Value v, Operation *user);

  func::FuncOp function;
  OpBuilder b;
  WideLanes lanes;
  DenseMap<Value, LazyValue> lazy;
  llvm::SetVector<Value> pending; ///< lazy values with reads, that nothing lazy has taken in
  DenseMap<Operation *, SmallVector<std::pair<unsigned, Value>>> sinks; ///< of terminators
  SmallVector<Operation *> dead;
  SmallVector<Value> carried;
};

} // namespace tessera::cpu
