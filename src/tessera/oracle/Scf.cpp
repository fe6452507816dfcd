// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Structured control flow. Parallel loops run in row-major order; their iterations are instances for the race
// detector.
#include "tessera/oracle/Tensors.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace tessera;
using namespace tessera::oracle;

static void assignResults(Exec &x, const Inst &inst, Vals &results) {
  for (unsigned i = 0; i < inst.out.size(); ++i)
    x.out(inst, i) = std::move(results[i]);
}

static LogicalResult runFor(Exec &x, const Inst &inst) {
  auto loop = cast<scf::ForOp>(inst.op);
  unsigned width = inst.operandInfo.width;
  if (width > 64)
    return x.error(inst, "has an induction variable of more than 64 bits");
  // 128 bits, so that the last step cannot overflow.
  __int128 bounds[3];
  bool isUnsigned = loop.getUnsignedCmp();
  for (unsigned i = 0; i < 3; ++i) {
    const Val &v = x.in(inst, i);
    if (v.isUndef())
      return x.undefined(inst, "a bound is undefined");
    APInt value = v.getInt(width);
    bounds[i] = isUnsigned ? static_cast<__int128>(value.getZExtValue()) : value.getSExtValue();
  }
  if (bounds[2] <= 0)
    return x.error(inst, "has a step that is not positive: " + Twine(static_cast<int64_t>(bounds[2])));
  Vals args, results;
  for (unsigned i = 3; i < inst.in.size(); ++i)
    results.push_back(x.take(inst, i));
  for (__int128 iv = bounds[0]; iv < bounds[1]; iv += bounds[2]) {
    args.clear();
    args.push_back(Val::scalar(static_cast<uint64_t>(iv) & inst.operandInfo.mask));
    for (Val &v : results)
      args.push_back(std::move(v));
    if (failed(x.run(inst.regions[0], args, results)))
      return failure();
  }
  assignResults(x, inst, results);
  return success();
}

static LogicalResult runIf(Exec &x, const Inst &inst) {
  const Val &flag = x.in(inst, 0);
  if (flag.isUndef())
    return x.undefined(inst, "the condition is undefined");
  const CodeRegion &region = inst.regions[flag.getBits() ? 0 : 1];
  Vals results;
  if (!region.blocks.empty() && failed(x.run(region, {}, results)))
    return failure();
  assignResults(x, inst, results);
  return success();
}

static LogicalResult runWhile(Exec &x, const Inst &inst) {
  Vals args, results;
  for (unsigned i = 0; i < inst.in.size(); ++i)
    args.push_back(x.take(inst, i));
  while (true) {
    if (failed(x.run(inst.regions[0], args, results)))
      return failure();
    Val flag = results.front();
    results.erase(results.begin());
    if (flag.isUndef())
      return x.undefined(inst, "the condition is undefined");
    if (!flag.getBits())
      break;
    if (failed(x.run(inst.regions[1], results, args)))
      return failure();
  }
  assignResults(x, inst, results);
  return success();
}

static LogicalResult runSwitch(Exec &x, const Inst &inst) {
  auto op = cast<scf::IndexSwitchOp>(inst.op);
  int64_t value;
  if (failed(x.index(inst, 0, value)))
    return failure();
  unsigned chosen = 0;
  for (auto [i, label] : llvm::enumerate(op.getCases()))
    if (label == value)
      chosen = i + 1;
  Vals results;
  if (failed(x.run(inst.regions[chosen], {}, results)))
    return failure();
  assignResults(x, inst, results);
  return success();
}

// scf.execute_region, memref.alloca_scope: the region once.
static LogicalResult runOnce(Exec &x, const Inst &inst) {
  Vals results;
  if (failed(x.run(inst.regions[0], {}, results)))
    return failure();
  assignResults(x, inst, results);
  return success();
}

//===----------------------------------------------------------------------===//
// Parallel loops
//===----------------------------------------------------------------------===//

namespace {
// The iterations of a parallel loop: its box, and the level that names them.
struct Iterations {
  SmallVector<int64_t, 4> lower, upper, step, counts, at;
  uint64_t number = 0;

  LogicalResult start(Exec &x, const Inst &inst) {
    for (size_t d = 0; d < lower.size(); ++d) {
      if (step[d] <= 0)
        return x.error(inst, "has a step that is not positive: " + Twine(step[d]));
      counts.push_back(upper[d] > lower[d] ? llvm::divideCeil(upper[d] - lower[d], step[d]) : 0);
    }
    at.assign(lower.size(), 0);
    Level level;
    level.op = inst.op;
    level.epoch = x.interpreter.nextEpoch();
    level.instance = 1;
    level.extents.assign(counts.begin(), counts.end());
    x.levels.push_back(level);
    return success();
  }
  bool isEmpty() const { return llvm::is_contained(counts, 0); }
  void pushIds(Vals &args) const {
    for (size_t d = 0; d < at.size(); ++d)
      args.push_back(Val::index(lower[d] + at[d] * step[d]));
  }
  bool next(Exec &x) {
    ++x.levels.back().instance;
    return nextIndex(at, counts);
  }
};
} // namespace

static LogicalResult runParallel(Exec &x, const Inst &inst) {
  auto loop = cast<scf::ParallelOp>(inst.op);
  unsigned rank = loop.getNumLoops();
  Iterations box;
  if (failed(x.indices(inst, 0, rank, box.lower)) || failed(x.indices(inst, rank, rank, box.upper)) ||
      failed(x.indices(inst, 2 * rank, rank, box.step)) || failed(box.start(x, inst)))
    return failure();
  Vals partial, args, values, combined;
  for (unsigned i = 3 * rank; i < inst.in.size(); ++i)
    partial.push_back(x.take(inst, i));
  if (!box.isEmpty()) {
    do {
      args.clear();
      box.pushIds(args);
      const Inst *reduce = nullptr;
      if (failed(x.run(inst.regions[0], args, values, &reduce)))
        return failure();
      for (unsigned r = 0; r < values.size(); ++r) {
        Val pair[] = {std::move(partial[r]), std::move(values[r])};
        if (failed(x.run(reduce->regions[r], pair, combined)))
          return failure();
        partial[r] = std::move(combined.front());
      }
    } while (box.next(x));
  }
  x.levels.pop_back();
  assignResults(x, inst, partial);
  return success();
}

// One tensor.parallel_insert_slice at the end of an iteration. `owners` says which iteration wrote each
// element.
static LogicalResult insertInParallel(Exec &x, const Inst &inst, Val &target, std::vector<uint64_t> &owners) {
  auto op = cast<tensor::ParallelInsertSliceOp>(inst.op);
  Slice slice;
  if (failed(slice.read(x, inst, op.getStaticOffsets(), op.getStaticSizes(), op.getStaticStrides(), 2)))
    return failure();
  const Val &source = x.in(inst, 0);
  if (source.isUndef())
    return x.undefined(inst);
  const Elements &from = source.elements();
  Elements &to = mutate(target);
  if (failed(slice.check(x, inst, to.shape)))
    return failure();
  if (countElements(slice.sizes) != from.size())
    return x.error(inst, "expected " + Twine(countElements(slice.sizes)) + " elements, but got " +
                             Twine(from.size()));
  owners.resize(to.size());
  uint64_t self = x.levels.back().instance;
  int64_t e = 0;
  return slice.forEach(to.shape, [&](int64_t at) -> LogicalResult {
    if (owners[at] && owners[at] != self && x.interpreter.getOptions().detectRaces)
      return x.error(inst, "races: iterations " + x.levels.back().describe(owners[at]) + " and " +
                               x.levels.back().describe(self) + " insert element " + Twine(at) +
                               " of the result");
    owners[at] = self;
    to.copyElement(at, from, e++);
    return success();
  });
}

static LogicalResult runForall(Exec &x, const Inst &inst) {
  auto loop = cast<scf::ForallOp>(inst.op);
  Iterations box;
  unsigned first = 0;
  if (failed(x.mixed(inst, loop.getStaticLowerBound(), first, box.lower)) ||
      failed(x.mixed(inst, loop.getStaticUpperBound(), first, box.upper)) ||
      failed(x.mixed(inst, loop.getStaticStep(), first, box.step)) || failed(box.start(x, inst)))
    return failure();
  Vals shared, args, values;
  for (unsigned i = first; i < inst.in.size(); ++i)
    shared.push_back(x.in(inst, i));
  Vals initial = shared;
  std::vector<std::vector<uint64_t>> owners(shared.size());
  const CodeBlock &body = inst.regions[0].front();
  unsigned rank = box.lower.size();
  if (!box.isEmpty()) {
    do {
      args.clear();
      box.pushIds(args);
      // An iteration sees the tensors as they were before the loop.
      for (const Val &v : initial)
        args.push_back(v);
      const Inst *terminator = nullptr;
      if (failed(x.run(inst.regions[0], args, values, &terminator)))
        return failure();
      if (!terminator || terminator->regions.empty())
        continue;
      for (const Inst &insert : terminator->regions[0].front().insts) {
        if (!isa<tensor::ParallelInsertSliceOp>(insert.op))
          return x.error(insert, "has no meaning in the oracle");
        for (unsigned k = 0; k < shared.size(); ++k)
          if (body.args[rank + k] == insert.in[1] &&
              failed(insertInParallel(x, insert, shared[k], owners[k])))
            return failure();
      }
    } while (box.next(x));
  }
  x.levels.pop_back();
  assignResults(x, inst, shared);
  return success();
}

void oracle::addScf(HandlerTable &table) {
  table.add("scf.for", runFor);
  table.add("scf.if", runIf);
  table.add("scf.while", runWhile);
  table.add("scf.index_switch", runSwitch);
  table.add("scf.execute_region", runOnce);
  table.add("memref.alloca_scope", runOnce);
  table.add("scf.parallel", runParallel);
  table.add("scf.forall", runForall);
}
