// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cuts a payload function into kernels: each outermost scf.forall becomes one whose tasks are its iterations,
// what stands between becomes kernels of one task. Buffers that live from one kernel to the next become
// values of the plan; cheap index arithmetic and views are repeated where they are used.
#include "tessera/targets/cpu/Cpu.h"

#include "tessera/base/Check.h"
#include "tessera/transforms/leaf/Rewrites.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace tessera;
using namespace tessera::cpu;

/// Instances along a dimension that are no tasks of their own.
static constexpr int64_t maxShortDim = 8;
/// Instances of one task, where they run in the lanes of vectors.
static constexpr int64_t instancesOfTask = 64;

namespace {

/// One kernel to be: a forall, or a run of other operations.
struct Segment {
  SmallVector<Operation *> ops;
  bool parallel = false;
};

class Splitter {
public:
  Splitter(func::FuncOp payload, plan::Env &env, plan::Version &version, Checks checks)
      : payload(payload), env(env), version(version), program(env.program), checks(checks) {}
  LogicalResult run();

private:
  /// Repeated in each kernel that uses it, instead of being passed: index arithmetic and views of what the
  /// payload was given.
  bool isCheap(Operation *op) const { return cheapOps.contains(op); }
  void findCheap();
  LogicalResult addTemp(memref::AllocOp alloc);
  LogicalResult spillAcross();
  LogicalResult makeKernel(Segment &segment, unsigned index);
  /// Collects what the segment needs from outside: leaves of the cheap operations.
  void collect(Value v, SetVector<Value> &captured, SetVector<Operation *> &cheap);

  func::FuncOp payload;
  plan::Env &env;
  plan::Version &version;
  plan::Program &program;
  Checks checks;
  SmallVector<Segment> segments;
  DenseSet<Operation *> cheapOps;
};

void Splitter::findCheap() {
  for (Operation &op : payload.getBody().front().without_terminator()) {
    if (op.getNumRegions())
      continue;
    StringRef dialect = op.getName().getDialectNamespace();
    bool kind =
        isa<ViewLikeOpInterface, memref::DimOp, memref::GetGlobalOp, arith::ConstantOp>(op) ||
        (isMemoryEffectFree(&op) && (dialect == "arith" || dialect == "affine" || dialect == "index"));
    bool given = llvm::all_of(op.getOperands(), [&](Value v) {
      Operation *def = v.getDefiningOp();
      return !def || cheapOps.contains(def) || isa<memref::AllocOp>(def);
    });
    if (kind && given)
      cheapOps.insert(&op);
  }
}

LogicalResult Splitter::addTemp(memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  std::optional<ElementType> element = plan::elementTypeOf(type.getElementType());
  if (!element)
    return alloc.emitOpError("element type cannot be stored between kernels");
  plan::Value value{.kind = ValueKind::Temp, .type = *element};
  for (int64_t d = 0; d < type.getRank(); ++d) {
    std::optional<plan::ExprId> extent = env.translateDim(alloc, d);
    if (!extent)
      return alloc.emitOpError(
          "has an extent that is not known when the node starts; compute it in a node of its own");
    value.shape.push_back(*extent);
  }
  int index = program.addValue(value);
  env.values[alloc] = index;
  version.temps.push_back(index);
  return success();
}

// A value that one segment computes and a later one uses goes through memory.
LogicalResult Splitter::spillAcross() {
  DenseMap<Operation *, unsigned> segmentOf;
  for (auto [i, segment] : llvm::enumerate(segments))
    for (Operation *op : segment.ops)
      segmentOf[op] = i;
  auto segmentOfUse = [&](Operation *user) -> std::optional<unsigned> {
    while (user && user->getBlock() != &payload.getBody().front())
      user = user->getParentOp();
    auto it = segmentOf.find(user);
    return it == segmentOf.end() ? std::nullopt : std::optional(it->second);
  };
  for (auto [i, segment] : llvm::enumerate(segments)) {
    for (size_t k = 0; k < segment.ops.size(); ++k) {
      Operation *op = segment.ops[k];
      for (Value result : op->getResults()) {
        if (isa<ShapedType>(result.getType()))
          continue;
        // Cheap operations that hang on this value are repeated in their users' kernels, so every user
        // outside of this segment needs it.
        bool outside = llvm::any_of(result.getUsers(), [&](Operation *user) {
          std::optional<unsigned> s = segmentOfUse(user);
          return !s || *s != i;
        });
        if (!outside)
          continue;
        OpBuilder b(op->getContext());
        b.setInsertionPointToStart(&payload.getBody().front());
        auto slot = memref::AllocOp::create(b, op->getLoc(), MemRefType::get({}, result.getType()));
        if (failed(addTemp(slot)))
          return failure();
        b.setInsertionPointAfter(op);
        auto store = memref::StoreOp::create(b, op->getLoc(), result, slot, ValueRange{});
        segment.ops.insert(segment.ops.begin() + k + 1, store);
        segmentOf[store] = i;
        // One load for each user, at the user, so that it belongs to the user's kernel.
        for (OpOperand &use : llvm::make_early_inc_range(result.getUses())) {
          Operation *user = use.getOwner();
          if (user == store)
            continue;
          std::optional<unsigned> s = segmentOfUse(user);
          if (s && *s == i)
            continue;
          Operation *top = user;
          while (top->getBlock() != &payload.getBody().front())
            top = top->getParentOp();
          b.setInsertionPoint(top);
          Value load = memref::LoadOp::create(b, op->getLoc(), slot, ValueRange{});
          use.set(load);
        }
      }
    }
  }
  return success();
}

void Splitter::collect(Value v, SetVector<Value> &captured, SetVector<Operation *> &cheap) {
  Operation *def = v.getDefiningOp();
  bool load = def && isa<memref::LoadOp>(def) && def->getBlock() == &payload.getBody().front();
  if (def && def->getBlock() == &payload.getBody().front() && (isCheap(def) || load)) {
    if (cheap.contains(def))
      return;
    for (Value operand : def->getOperands())
      collect(operand, captured, cheap);
    cheap.insert(def);
    return;
  }
  captured.insert(v);
}

LogicalResult Splitter::makeKernel(Segment &segment, unsigned index) {
  SetVector<Value> captured;
  SetVector<Operation *> cheap;
  DenseSet<Operation *> inside(segment.ops.begin(), segment.ops.end());
  Block *entry = &payload.getBody().front();
  for (Operation *op : segment.ops)
    op->walk([&](Operation *nested) {
      for (Value v : nested->getOperands()) {
        Operation *def = v.getDefiningOp();
        Block *block = def ? def->getBlock() : cast<BlockArgument>(v).getOwner();
        if (block == entry && !(def && inside.contains(def)))
          collect(v, captured, cheap);
      }
    });

  OpBuilder b(payload);
  std::string name = (payload.getName() + "_" + Twine(index)).str();
  SmallVector<Type> types;
  for (Value v : captured)
    types.push_back(v.getType());
  types.append(numBoxArgs, b.getIndexType());
  types.push_back(MemRefType::get({ShapedType::kDynamic}, b.getI8Type()));
  auto kernel = func::FuncOp::create(b, payload.getLoc(), name, b.getFunctionType(types, {}));
  cpu::Notes::kernel.set(kernel);
  SharedNotes::align.copy(payload, kernel);
  Block *body = kernel.addEntryBlock();
  OpBuilder k = OpBuilder::atBlockBegin(body);

  plan::Step step;
  step.kernel = name;
  step.scratch = program.constant(0);
  step.flops = step.bytes = program.constant(0);
  plan::Env inner(program);
  IRMapping map;
  for (auto [i, v] : llvm::enumerate(captured)) {
    Value arg = body->getArgument(i);
    map.map(v, arg);
    if (auto type = dyn_cast<MemRefType>(v.getType())) {
      auto it = env.values.find(v);
      if (it == env.values.end())
        return mlir::emitError(v.getLoc(), "a buffer of node payload '")
               << payload.getName() << "' is not known to the plan";
      inner.values[arg] = it->second;
      // Each buffer counts as read or written once.
      step.bytes = program.binary(ExprOp::Add, step.bytes,
                                  program.sizeOf(it->second, plan::typeBytes(type.getElementType())));
      step.args.push_back(plan::valueArg(it->second));
      for (int64_t d = 0; d < type.getRank(); ++d)
        if (type.isDynamicDim(d))
          step.args.push_back(plan::exprArg(program.dim(it->second, d)));
      continue;
    }
    if (auto it = env.values.find(v); it != env.values.end()) {
      cpu::Notes::indirect.setOf(kernel, i);
      step.args.push_back(plan::valueArg(it->second));
      continue;
    }
    std::optional<plan::ExprId> e = env.translate(v);
    TESSERA_CHECK(e) << "a scalar of '" << payload.getName().str()
                     << "' was neither spilled nor computed by the plan";
    inner.exprs[arg] = *e;
    step.args.push_back(plan::exprArg(*e));
  }
  // Cheap operations in the order of the payload, so that each stands after what it uses.
  SmallVector<Operation *> ordered(cheap.begin(), cheap.end());
  llvm::sort(ordered, [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
  for (Operation *op : ordered)
    k.clone(*op, map);

  scf::ForOp instances;
  plan::ExprId one = program.constant(1);
  step.grid = {one, one, one};
  if (segment.parallel) {
    auto forall = cast<scf::ForallOp>(segment.ops.front());
    unsigned rank = forall.getRank();
    SmallVector<plan::ExprId> counts;
    bool known = true;
    for (unsigned d = 0; d < rank && known; ++d) {
      auto lower = env.translate(forall.getMixedLowerBound()[d]),
           upper = env.translate(forall.getMixedUpperBound()[d]),
           by = env.translate(forall.getMixedStep()[d]);
      known = lower && upper && by;
      if (known)
        counts.push_back(program.binary(
            ExprOp::Max, program.constant(0),
            program.binary(ExprOp::CeilDiv, program.binary(ExprOp::Sub, *upper, *lower), *by)));
    }
    // The outermost three dimensions are tasks; any others, and all of a loop whose extent only the kernel
    // knows, are loops inside.
    unsigned tasks = known ? std::min(rank, 3u) : 0;
    // Channels and other short dimensions inside are unrolled, and the loop around them vectorised.
    unsigned row = rank - 1;
    if (SharedNotes::instances.isOn(forall))
      while (row > 0 &&
             getConstantIntValue(forall.getMixedUpperBound()[row]).value_or(maxShortDim + 1) <= maxShortDim)
        tasks = std::min(tasks, row--);
    for (unsigned d = 0; d < tasks; ++d)
      step.grid[d] = counts[d];
    auto mapped = [&](OpFoldResult v) -> Value {
      if (auto value = dyn_cast<Value>(v))
        return map.lookupOrDefault(value);
      return arith::ConstantIndexOp::create(k, forall.getLoc(),
                                            cast<IntegerAttr>(cast<Attribute>(v)).getInt());
    };
    Value oneValue = arith::ConstantIndexOp::create(k, forall.getLoc(), 1);
    unsigned firstBox = captured.size();
    for (unsigned d = 0; d < rank; ++d) {
      Value lower = mapped(forall.getMixedLowerBound()[d]), upper = mapped(forall.getMixedUpperBound()[d]),
            by = mapped(forall.getMixedStep()[d]);
      Value begin = lower, end = upper, stepValue = by;
      if (d < tasks) {
        begin = body->getArgument(firstBox + d);
        end = body->getArgument(firstBox + 3 + d);
        stepValue = oneValue;
      }
      auto loop = scf::ForOp::create(k, forall.getLoc(), begin, end, stepValue);
      if (d == row && SharedNotes::instances.isOn(forall))
        instances = loop;
      if (d == row && SharedNotes::instances.isOn(forall))
        SharedNotes::instances.set(loop, getConstantIntValue(forall.getMixedUpperBound()[d]).value_or(-1));
      k.setInsertionPointToStart(loop.getBody());
      Value iv = loop.getInductionVar();
      if (d < tasks) {
        iv = arith::MulIOp::create(k, forall.getLoc(), iv, by);
        iv = arith::AddIOp::create(k, forall.getLoc(), iv, lower);
      }
      map.map(forall.getInductionVar(d), iv);
    }
    for (Operation &op : forall.getBody()->without_terminator())
      k.clone(op, map);
  } else {
    for (Operation *op : segment.ops)
      k.clone(*op, map);
  }
  k.setInsertionPointToEnd(body);
  func::ReturnOp::create(k, payload.getLoc());
  if (failed(placeScratch(kernel, inner, step)))
    return failure();
  // A task of one instance would leave the lanes empty.
  unsigned firstEnd = captured.size() + 3;
  if (auto end = instances ? dyn_cast<BlockArgument>(instances.getUpperBound()) : BlockArgument();
      end && end.getOwner() == body && leaf::wantsLanes(instances)) {
    unsigned d = end.getArgNumber() - firstEnd;
    auto forall = cast<scf::ForallOp>(segment.ops.front());
    step.grid[d] = program.binary(ExprOp::CeilDiv, step.grid[d], program.constant(instancesOfTask));
    k.setInsertionPoint(instances);
    Location loc = instances.getLoc();
    Value size = arith::ConstantIndexOp::create(k, loc, instancesOfTask);
    OpFoldResult upper = forall.getMixedUpperBound()[d];
    if (auto value = dyn_cast<Value>(upper))
      upper = map.lookupOrDefault(value);
    Value count = getValueOrCreateConstantIndexOp(k, loc, upper);
    instances.setLowerBound(arith::MulIOp::create(k, loc, instances.getLowerBound(), size));
    Value last = arith::MulIOp::create(k, loc, end, size);
    instances.setUpperBound(arith::MinSIOp::create(k, loc, last, count));
  }
  addFaultCells(kernel, captured.size(), program, step, checks);
  version.steps.push_back(step);
  return success();
}

LogicalResult Splitter::run() {
  findCheap();
  Block *entry = &payload.getBody().front();
  for (Operation &op : entry->without_terminator()) {
    if (isCheap(&op))
      continue;
    if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
      if (failed(addTemp(alloc)))
        return failure();
      continue;
    }
    if (isa<memref::DeallocOp>(op))
      continue;
    if (isa<scf::ForallOp>(op)) {
      segments.push_back({{&op}, true});
      continue;
    }
    if (segments.empty() || segments.back().parallel)
      segments.push_back({});
    segments.back().ops.push_back(&op);
  }
  if (failed(spillAcross()))
    return failure();
  for (auto [i, segment] : llvm::enumerate(segments))
    if (failed(makeKernel(segment, i)))
      return failure();
  payload.erase();
  return success();
}

} // namespace

LogicalResult cpu::splitKernels(func::FuncOp payload, plan::Env &env, plan::Version &version, Checks checks) {
  return Splitter(payload, env, version, checks).run();
}
