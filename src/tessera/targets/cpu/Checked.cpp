// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code that checks every access to memory, for `--check`. An access that would leave its buffer, or the
// memory behind it, does not happen: it reads zeros, writes nothing, and is reported. What packed layers do
// by intrinsics of the processor is not seen.
#include "tessera/ir/fault/Fault.h"
#include "tessera/targets/common/Exprs.h"
#include "tessera/targets/cpu/Cpu.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace tessera;
using namespace tessera::cpu;

namespace {

/// Elements first … first + count - 1 of a dimension.
struct Span {
  Value first;
  int64_t count;
  /// What lies beyond is masked by the operation itself.
  bool mayExceed = false;
};

class Checker {
public:
  Checker(Operation *op, std::vector<plan::FaultSite> &sites)
      : op(op), b(op), loc(op->getLoc()), sites(sites) {}
  void run();

private:
  Value index(int64_t v) { return arith::ConstantIndexOp::create(b, loc, v); }
  Value extent(Value memory, int64_t d) { return b.createOrFold<memref::DimOp>(loc, memory, index(d)); }
  Value add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(loc, x, y); }
  Value mul(Value x, Value y) { return b.createOrFold<arith::MulIOp>(loc, x, y); }
  /// Both bounds at once, as unsigned numbers.
  void within(Value i, Value limit, bool orEqual = false);
  void spans(Value memory, ArrayRef<Span> spans);
  /// The same within the memory that a view shows a part of.
  void position(Value memory, ArrayRef<Span> spans);
  void view(memref::SubViewOp op);
  /// Reports what was found, and lets the operation happen where nothing was.
  void guard(StringRef what, bool happens);

  Operation *op;
  OpBuilder b;
  Location loc;
  std::vector<plan::FaultSite> &sites;
  Value ok, number, limit; ///< whether all is well; otherwise what is reported
};

} // namespace

void Checker::within(Value i, Value bound, bool orEqual) {
  Value fits = arith::CmpIOp::create(b, loc, orEqual ? arith::CmpIPredicate::ule : arith::CmpIPredicate::ult,
                                     i, bound);
  if (!ok) {
    ok = fits, number = i, limit = bound;
    return;
  }
  // The first that does not fit is reported.
  number = arith::SelectOp::create(b, loc, ok, i, number);
  limit = arith::SelectOp::create(b, loc, ok, bound, limit);
  ok = arith::AndIOp::create(b, loc, ok, fits);
}

void Checker::spans(Value memory, ArrayRef<Span> list) {
  // Cursors of packed layers say how far it is from one row to the next, not where the memory ends.
  bool isCursor = memory.getDefiningOp<memref::ReinterpretCastOp>();
  for (auto [d, span] : llvm::enumerate(list)) {
    if (isCursor)
      break;
    Value size = extent(memory, d);
    if (span.mayExceed) {
      within(span.first, size, /*orEqual=*/true);
      continue;
    }
    within(span.first, size);
    if (span.count > 1)
      within(add(span.first, index(span.count - 1)), size);
  }
  position(memory, list);
}

void Checker::position(Value memory, ArrayRef<Span> list) {
  Value root = memory;
  while (Operation *def = root.getDefiningOp()) {
    auto view = dyn_cast<ViewLikeOpInterface>(def);
    // Scratch is cut into buffers of their own.
    if (!view || isa<memref::ViewOp>(def))
      break;
    root = view.getViewSource();
  }
  auto rootType = dyn_cast<MemRefType>(root.getType());
  if (root == memory || !rootType || !isa<MemRefType>(memory.getType()))
    return;
  Value size = index(1);
  for (int64_t d = 0; d < rootType.getRank(); ++d)
    size = mul(size, extent(root, d));
  auto parts = memref::ExtractStridedMetadataOp::create(b, loc, memory);
  Value from = parts.getOffset(), to = from, one = index(1), none = index(0);
  for (auto [d, span] : llvm::enumerate(list)) {
    Value last = add(span.first, index(span.count - 1));
    if (span.mayExceed) {
      Value end = arith::SubIOp::create(b, loc, extent(memory, d), one);
      last = arith::MaxSIOp::create(b, loc, arith::MinSIOp::create(b, loc, last, end), none);
    }
    from = add(from, mul(span.first, parts.getStrides()[d]));
    to = add(to, mul(last, parts.getStrides()[d]));
  }
  within(from, size);
  within(to, size);
}

void Checker::view(memref::SubViewOp view) {
  for (int64_t d = 0; d < view.getSourceType().getRank(); ++d) {
    Value size = getValueOrCreateConstantIndexOp(b, loc, view.getMixedSizes()[d]),
          offset = getValueOrCreateConstantIndexOp(b, loc, view.getMixedOffsets()[d]),
          stride = getValueOrCreateConstantIndexOp(b, loc, view.getMixedStrides()[d]);
    Value last = add(offset, mul(arith::SubIOp::create(b, loc, size, index(1)), stride));
    // A view of nothing may stand anywhere.
    Value empty = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, size, index(0));
    last = arith::SelectOp::create(b, loc, empty, index(0), last);
    Value own = extent(view.getSource(), d);
    Value least = arith::MaxSIOp::create(b, loc, own, index(1));
    within(last, arith::SelectOp::create(b, loc, empty, least, own));
  }
}

void Checker::guard(StringRef what, bool happens) {
  if (!ok)
    return;
  auto site = b.getI64IntegerAttr(int64_t(sites.size()));
  sites.push_back({FaultKind::Access, what.str(), plan::placeOf(loc)});
  Value yes = arith::ConstantOp::create(b, loc, b.getIntegerAttr(b.getI1Type(), 1)),
        no = arith::ConstantOp::create(b, loc, b.getIntegerAttr(b.getI1Type(), 0));
  Value go = fault::RequireOp::create(b, loc, yes.getType(), ok, yes, no, number, limit, StringAttr(),
                                      StringAttr(), site);
  if (!happens)
    return;
  SmallVector<Value> zeros;
  for (Type type : op->getResultTypes())
    zeros.push_back(arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(type))));
  auto branch = scf::IfOp::create(b, loc, op->getResultTypes(), go, !zeros.empty());
  op->replaceAllUsesWith(branch.getResults());
  Block *then = branch.thenBlock();
  if (zeros.empty()) {
    op->moveBefore(then->getTerminator());
    return;
  }
  op->moveBefore(then, then->end());
  b.setInsertionPointToEnd(then);
  scf::YieldOp::create(b, loc, op->getResults());
  b.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(b, loc, zeros);
}

void Checker::run() {
  auto plain = [&](Value memory, ValueRange indices, ArrayRef<int64_t> shape) {
    SmallVector<Span> list;
    for (auto [d, i] : llvm::enumerate(indices)) {
      int64_t back = int64_t(indices.size()) - int64_t(d), rank = int64_t(shape.size());
      list.push_back({i, back <= rank ? shape[rank - back] : 1});
    }
    spans(memory, list);
  };
  auto transfer = [&](VectorTransferOpInterface access) {
    SmallVector<Span> list;
    for (Value i : access.getIndices())
      list.push_back({i, 1});
    AffineMap map = access.getPermutationMap();
    for (auto [d, expr] : llvm::enumerate(map.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        list[dim.getPosition()].count = access.getVectorType().getDimSize(d);
        list[dim.getPosition()].mayExceed = !access.isDimInBounds(d) || access.getMask();
      }
    spans(access.getBase(), list);
  };
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    plain(load.getMemRef(), load.getIndices(), {});
    guard("a load", true);
  } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
    plain(store.getMemRef(), store.getIndices(), {});
    guard("a store", true);
  } else if (auto update = dyn_cast<memref::AtomicRMWOp>(op)) {
    plain(update.getMemref(), update.getIndices(), {});
    guard("an update", true);
  } else if (auto update = dyn_cast<memref::GenericAtomicRMWOp>(op)) {
    plain(update.getMemref(), update.getIndices(), {});
    guard("an update", true);
  } else if (auto load = dyn_cast<vector::LoadOp>(op)) {
    plain(load.getBase(), load.getIndices(), load.getVectorType().getShape());
    guard("a load", true);
  } else if (auto store = dyn_cast<vector::StoreOp>(op)) {
    plain(store.getBase(), store.getIndices(), store.getVectorType().getShape());
    guard("a store", true);
  } else if (auto read = dyn_cast<vector::TransferReadOp>(op)) {
    transfer(read);
    guard("a load", true);
  } else if (auto write = dyn_cast<vector::TransferWriteOp>(op)) {
    transfer(write);
    guard("a store", true);
  } else if (auto part = dyn_cast<memref::SubViewOp>(op)) {
    view(part);
    guard("a view", false);
  }
}

void cpu::checkAccesses(func::FuncOp kernel, std::vector<plan::FaultSite> &sites) {
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) {
    if (isa<memref::LoadOp, memref::StoreOp, memref::AtomicRMWOp, memref::GenericAtomicRMWOp, vector::LoadOp,
            vector::StoreOp, vector::TransferReadOp, vector::TransferWriteOp, memref::SubViewOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    Checker(op, sites).run();
  if (IntegerAttr number = cpu::Notes::faults.get(kernel)) {
    BlockArgument cells = kernel.getArgument(unsigned(number.getInt()));
    auto type = cast<MemRefType>(cells.getType());
    cells.setType(MemRefType::get({int64_t(2 * sites.size())}, type.getElementType()));
    kernel.setType(FunctionType::get(kernel.getContext(), kernel.getBody().getArgumentTypes(), {}));
  }
}
