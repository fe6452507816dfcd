// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel asks of its data. The kernel goes on with something harmless where a number does not fit, and
// keeps the worst of them in a register: a maximum, which does not keep a loop from being vectorised. Before
// it returns, it puts what it has kept into the cells of its sites, if there is anything.
#include "tessera/ir/fault/Fault.h"
#include "tessera/targets/common/Exprs.h"
#include "tessera/targets/cpu/Cpu.h"
#include "tessera/transforms/leaf/Lanes.h"

#include "mlir/IR/Matchers.h"

using namespace tessera;
using namespace tessera::cpu;

// A division whose divisor may be zero, or overflow.
static bool mayFail(Operation *op) {
  llvm::APInt divisor;
  return leaf::isDivision(op) && !fault::Notes::guarded.isOn(op) &&
         !(matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) && !divisor.isZero());
}

void cpu::addFaultCells(func::FuncOp kernel, unsigned at, plan::Program &program, plan::Step &step,
                        Checks checks) {
  if (checks == Checks::None)
    return;
  Builder b(kernel.getContext());
  kernel.walk([&](Operation *op) {
    auto require = dyn_cast<fault::RequireOp>(op);
    if (!require && !mayFail(op))
      return;
    IntegerAttr site = b.getI64IntegerAttr(int64_t(step.sites.size()));
    if (!require) {
      fault::Notes::site.set(op, site);
      step.sites.push_back({FaultKind::Divisor, "an integer division", plan::placeOf(op->getLoc())});
      return;
    }
    std::optional<FaultKind> kind = parseFaultKind(require.getKind().value_or("index"));
    step.sites.push_back(
        {kind.value_or(FaultKind::Index), require.getWhat().value_or("").str(), plan::placeOf(op->getLoc())});
    require.removeWhatAttr();
    require.setSiteAttr(site);
  });
  if (step.sites.empty() && checks != Checks::All)
    return;
  // Accesses get their sites when they are loops; the type is put right then.
  auto cells = MemRefType::get({int64_t(2 * step.sites.size())}, b.getI64Type());
  LogicalResult inserted = kernel.insertArgument(at, cells, b.getDictionaryAttr({}), kernel.getLoc());
  (void)inserted;
  cpu::Notes::faults.set(kernel, at);
  step.faults = program.addFaults(step.sites.size());
  step.args.push_back(plan::valueArg(step.faults));
}

namespace {

/// A place of the kernel where a site notes a number.
struct Report {
  Operation *before; ///< what it stands before
  int64_t site;
  Value bad, number, limit; ///< scalars, or vectors of one shape
  /// Of an index: where it points to, not negative unless it is bad. It is bad when it is not below the
  /// limit, as an unsigned number.
  Value place;
  bool fromEnd = false; ///< Negative indices count from the end: `place` is larger by the limit then.
};

class Placer {
public:
  Placer(func::FuncOp kernel, Value cells) : kernel(kernel), cells(cells), entry(&kernel.getBody().front()) {}
  void add(Report note) { notes.push_back(note); }
  void run();

private:
  void place(OpBuilder &b, const Report &note, Value worst, Value limit);
  void placeLargest(OpBuilder &b, const Report &note, Value worst);
  /// Moves the builder before `note`, out of the loops that none of the values depends on. Whether these run
  /// at all; null when there are none.
  Value hoist(OpBuilder &b, const Report &note, ArrayRef<Value> values);
  void keep(OpBuilder &b, Location loc, Value slot, Value v);
  Value encode(OpBuilder &b, Location loc, Value v);
  void finish(OpBuilder &b, int64_t site, Value worst, Value limit);
  void finishLargest(OpBuilder &b, int64_t site, const Report &note, Value worst, Value limit);
  void raise(OpBuilder &b, int64_t site, Value any, Value worst, Value limit);
  /// The limit of all notes of a site as it is known where the kernel ends; null when it is not.
  Value limitAtEnd(OpBuilder &end, ArrayRef<const Report *> notes);
  Value number(OpBuilder &b, Location loc, Type like, int64_t v);
  Value widen(OpBuilder &b, Location loc, Value v);
  Value largest(OpBuilder &b, Location loc, Value v);

  func::FuncOp kernel;
  Value cells;
  Block *entry;
  std::vector<Report> notes;
};

} // namespace

// A constant of the type, splat for a vector.
static Value constantLike(OpBuilder &b, Location loc, Type type, const llvm::APInt &v) {
  Type element = getElementTypeOrSelf(type);
  Attribute attr = b.getIntegerAttr(element, element.isIndex() ? v.sextOrTrunc(64) : v);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, attr);
  return arith::ConstantOp::create(b, loc, cast<TypedAttr>(attr));
}

static unsigned widthOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
}

Value Placer::number(OpBuilder &b, Location loc, Type like, int64_t v) {
  return constantLike(b, loc, like, llvm::APInt(widthOf(like), uint64_t(v), true, /*implicitTrunc=*/true));
}

// An integer or index as i64, or a vector of them.
Value Placer::widen(OpBuilder &b, Location loc, Value v) {
  Type to = b.getI64Type();
  if (auto vector = dyn_cast<VectorType>(v.getType()))
    to = vector.clone(to);
  if (getElementTypeOrSelf(v.getType()).isIndex())
    return arith::IndexCastOp::create(b, loc, to, v);
  return v.getType() == to ? v : arith::ExtSIOp::create(b, loc, to, v).getResult();
}

// The largest lane, as an unsigned number.
Value Placer::largest(OpBuilder &b, Location loc, Value v) {
  auto vector = dyn_cast<VectorType>(v.getType());
  if (!vector)
    return v;
  SmallVector<bool> all(vector.getRank(), true);
  Value zero = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0));
  return vector::MultiDimReductionOp::create(b, loc, v, zero, all, vector::CombiningKind::MAXUI);
}

Value Placer::hoist(OpBuilder &b, const Report &note, ArrayRef<Value> values) {
  Operation *at = note.before;
  SmallVector<scf::ForOp> left;
  while (auto loop = dyn_cast<scf::ForOp>(at->getParentOp())) {
    auto isOutside = [&](Value v) { return loop.isDefinedOutsideOfLoop(v); };
    // Whether the loops that were left run at all is asked there too.
    if (!llvm::all_of(values, isOutside) || !llvm::all_of(left, [&](scf::ForOp inner) {
          return isOutside(inner.getLowerBound()) && isOutside(inner.getUpperBound());
        }))
      break;
    left.push_back(loop);
    at = loop;
  }
  b.setInsertionPoint(at);
  Location loc = note.before->getLoc();
  Value runs;
  for (scf::ForOp loop : left) {
    auto less = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
    Value more = arith::CmpIOp::create(b, loc, less, loop.getLowerBound(), loop.getUpperBound());
    runs = runs ? arith::AndIOp::create(b, loc, runs, more).getResult() : more;
  }
  return runs;
}

void Placer::keep(OpBuilder &b, Location loc, Value slot, Value v) {
  Value old = memref::LoadOp::create(b, loc, slot, ValueRange());
  memref::StoreOp::create(b, loc, arith::MaxUIOp::create(b, loc, old, v), slot, ValueRange());
}

// 2 * v + 1, which is never zero.
Value Placer::encode(OpBuilder &b, Location loc, Value v) {
  Value one = number(b, loc, v.getType(), 1);
  return arith::OrIOp::create(b, loc, arith::ShLIOp::create(b, loc, v, one), one);
}

// What is found out where the number is used.
void Placer::place(OpBuilder &b, const Report &note, Value worst, Value limit) {
  Location loc = note.before->getLoc();
  Value runs = hoist(b, note, {note.bad, note.number, note.limit}), zero = number(b, loc, b.getI64Type(), 0);
  auto found = [&](Value v) -> Value {
    v = arith::SelectOp::create(b, loc, note.bad, v, number(b, loc, v.getType(), 0));
    v = largest(b, loc, v);
    return runs ? arith::SelectOp::create(b, loc, runs, v, zero).getResult() : v;
  };
  keep(b, loc, worst, found(encode(b, loc, widen(b, loc, note.number))));
  if (limit)
    keep(b, loc, limit, found(widen(b, loc, note.limit)));
}

// Of indices whose limit is known where the kernel ends only the largest is kept, and looked at there: one
// instruction for each. With a limit of zero, which allows none, they are made to differ from no index at
// all.
void Placer::placeLargest(OpBuilder &b, const Report &note, Value worst) {
  Location loc = note.before->getLoc();
  Value runs = hoist(b, note, {note.place, note.limit}), zero = number(b, loc, b.getI64Type(), 0);
  Value v = largest(b, loc, widen(b, loc, note.place));
  llvm::APInt known;
  if (!matchPattern(note.limit, m_ConstantInt(&known)) || known.isZero()) {
    Value l = largest(b, loc, widen(b, loc, note.limit));
    Value empty = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, l, zero);
    Value mark = arith::SelectOp::create(b, loc, empty, number(b, loc, b.getI64Type(), INT64_MIN), zero);
    v = arith::OrIOp::create(b, loc, v, mark);
  }
  if (runs)
    v = arith::SelectOp::create(b, loc, runs, v, zero);
  keep(b, loc, worst, v);
}

Value Placer::limitAtEnd(OpBuilder &end, ArrayRef<const Report *> notes) {
  Location loc = kernel.getLoc();
  llvm::APInt first, next;
  if (matchPattern(notes[0]->limit, m_ConstantInt(&first)) && llvm::all_of(notes, [&](const Report *n) {
        return matchPattern(n->limit, m_ConstantInt(&next)) && next.getSExtValue() == first.getSExtValue();
      }))
    return arith::ConstantOp::create(end, loc, end.getI64IntegerAttr(first.getSExtValue()));
  Value v = notes[0]->limit;
  if (isa<VectorType>(v.getType()) || v.getParentBlock() != entry ||
      llvm::any_of(notes, [&](const Report *n) { return n->limit != v; }))
    return Value();
  return widen(end, loc, v);
}

// cells[2 * site] = max(…, worst), cells[2 * site + 1] = max(…, limit); other threads may be doing the same.
void Placer::raise(OpBuilder &b, int64_t site, Value any, Value worst, Value limit) {
  scf::IfOp::create(b, kernel.getLoc(), any, [&](OpBuilder &b, Location loc) {
    if (isa<MemRefType>(limit.getType()))
      limit = memref::LoadOp::create(b, loc, limit, ValueRange());
    int64_t place = 2 * site;
    for (Value v : {worst, limit}) {
      Value at = arith::ConstantIndexOp::create(b, loc, place++);
      memref::AtomicRMWOp::create(b, loc, arith::AtomicRMWKind::maxu, v, cells, at);
    }
    scf::YieldOp::create(b, loc);
  });
}

void Placer::finish(OpBuilder &b, int64_t site, Value worst, Value limit) {
  Location loc = kernel.getLoc();
  Value found = memref::LoadOp::create(b, loc, worst, ValueRange()),
        zero = number(b, loc, found.getType(), 0);
  raise(b, site, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, found, zero), found, limit);
}

void Placer::finishLargest(OpBuilder &b, int64_t site, const Report &note, Value worst, Value limit) {
  Location loc = kernel.getLoc();
  Value found = memref::LoadOp::create(b, loc, worst, ValueRange());
  Value zero = number(b, loc, found.getType(), 0), one = number(b, loc, found.getType(), 1);
  Value least = arith::MaxUIOp::create(b, loc, limit, one);
  Value any = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, found, least), given = found;
  if (note.fromEnd) {
    Value below = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, found, zero);
    given = arith::SelectOp::create(b, loc, below, arith::SubIOp::create(b, loc, found, limit), found);
  }
  raise(b, site, any, encode(b, loc, given), limit);
}

void Placer::run() {
  std::map<int64_t, SmallVector<const Report *>> sites;
  for (const Report &note : notes)
    sites[note.site].push_back(&note);
  OpBuilder end(entry->getTerminator()), b(kernel.getContext());
  auto slot = [&]() -> Value {
    OpBuilder top = OpBuilder::atBlockBegin(entry);
    Location loc = kernel.getLoc();
    auto made = memref::AllocaOp::create(top, loc, MemRefType::get({}, top.getI64Type()));
    memref::StoreOp::create(top, loc, number(top, loc, top.getI64Type(), 0), made, ValueRange());
    return made;
  };
  for (auto &[site, own] : sites) {
    Value worst = slot(), limit = limitAtEnd(end, own);
    if (limit && own.front()->place) {
      for (const Report *note : own)
        placeLargest(b, *note, worst);
      finishLargest(end, site, *own.front(), worst, limit);
      continue;
    }
    Value kept = limit ? Value() : slot();
    for (const Report *note : own)
      place(b, *note, worst, kept);
    finish(end, site, worst, limit ? limit : kept);
  }
}

// A divisor that does not fit becomes 1.
static std::optional<Report> guardDivision(Operation *op) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  Value x = op->getOperand(0), y = op->getOperand(1);
  Type type = y.getType();
  unsigned width = widthOf(type);
  auto is = [&](Value v, const llvm::APInt &n) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, v, constantLike(b, loc, type, n));
  };
  Value bad = is(y, llvm::APInt::getZero(width));
  if (!isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op)) {
    Value least = is(x, llvm::APInt::getSignedMinValue(width)), minus = is(y, llvm::APInt::getAllOnes(width));
    bad = arith::OrIOp::create(b, loc, bad, arith::AndIOp::create(b, loc, least, minus));
  }
  op->setOperand(1,
                 arith::SelectOp::create(b, loc, bad, constantLike(b, loc, type, llvm::APInt(width, 1)), y));
  fault::Notes::guarded.set(op);
  return Report{op, 0, bad, y, constantLike(b, loc, type, llvm::APInt::getZero(width)), Value()};
}

// require → what is harmless where it does not hold, and a note.
static void replaceRequire(fault::RequireOp require, Placer *placer) {
  OpBuilder b(require);
  Location loc = require.getLoc();
  StringRef kind = require.getKind().value_or("");
  const bool isIndex = kind == "index" || kind == "offset";
  Operation *pick;
  if (isIndex) {
    // The last element, or whatever stands where there is none: one instruction.
    Value one = constantLike(b, loc, require.getLimit().getType(),
                             llvm::APInt(widthOf(require.getLimit().getType()), 1));
    Value last = arith::SubIOp::create(b, loc, arith::MaxUIOp::create(b, loc, require.getLimit(), one), one);
    pick = arith::MinUIOp::create(b, loc, require.getValue(), last);
  } else {
    pick = arith::SelectOp::create(b, loc, require.getOk(), require.getValue(), require.getInstead());
  }
  if (placer && require.getSite()) {
    Value yes = constantLike(b, loc, require.getOk().getType(), llvm::APInt::getAllOnes(1));
    Value bad = arith::XOrIOp::create(b, loc, require.getOk(), yes);
    placer->add({pick, int64_t(*require.getSite()), bad, require.getReported(), require.getLimit(),
                 isIndex ? require.getValue() : Value(), kind == "index"});
  }
  require.replaceAllUsesWith(pick->getResult(0));
  require.erase();
}

void cpu::placeFaults(func::FuncOp kernel, Checks checks) {
  if (kernel.isDeclaration())
    return;
  IntegerAttr number = cpu::Notes::faults.get(kernel);
  SmallVector<Operation *> ops;
  int64_t division = -1; // the site of one that has lost its own
  kernel.walk([&](Operation *op) {
    if (!isa<fault::RequireOp>(op) && !(number && mayFail(op)))
      return;
    ops.push_back(op);
    if (IntegerAttr site = fault::Notes::site.get(op); site && division < 0)
      division = site.getInt();
  });
  Placer placer(kernel, number ? Value(kernel.getArgument(unsigned(number.getInt()))) : Value());
  for (Operation *op : ops) {
    auto require = dyn_cast<fault::RequireOp>(op);
    if (!require) {
      IntegerAttr own = fault::Notes::site.get(op);
      std::optional<Report> note = guardDivision(op);
      note->site = own ? own.getInt() : division;
      if (note->site >= 0)
        placer.add(*note);
      continue;
    }
    replaceRequire(require, number ? &placer : nullptr);
  }
  if (number)
    placer.run();
}
