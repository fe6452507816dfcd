// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Schedule.h.
#include "tessera/targets/cpu/Schedule.h"

#include "tessera/targets/cpu/Figures.h"
#include "tessera/targets/cpu/ScheduleOps.h"
#include "tessera/targets/cpu/Script.h"
#include "tessera/targets/cpu/packed/Packed.h"
#include "tessera/transforms/leaf/Rewrites.h"
#include "tessera/transforms/schedule/LeafOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Vector/TransformOps/VectorTransformOps.h"

using namespace tessera;
using namespace tessera::cpu;
using schedule::AnyHandle;
using schedule::Handle;
using schedule::Steps;

// Of the `parallel` leading dimensions, how many make tasks: all but the innermost, and but those around it
// that are so short that a task would not be worth its start.
static unsigned taskDims(linalg::GenericOp op, unsigned parallel) {
  constexpr int64_t shortest = 1024;
  if (parallel < 2 || parallel < op.getNumLoops())
    return parallel;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  unsigned dims = parallel - 1;
  int64_t elements = ranges[dims];
  while (dims > 1 && !ShapedType::isDynamic(elements) && !ShapedType::isDynamic(ranges[dims - 1]) &&
         elements * ranges[dims - 1] <= shortest)
    elements *= ranges[--dims];
  return dims;
}

// Tasks of a grid: rows of the innermost dimension, or pieces of a single one. Behind `parallel` dimensions
// come those of a reduction, which make the rows where the innermost one is among them.
static SmallVector<int64_t> parallelTiles(linalg::GenericOp op, unsigned parallel) {
  unsigned rank = op.getNumLoops(), tasks = taskDims(op, parallel);
  bool sums = op.getIteratorTypesArray().back() == utils::IteratorType::reduction && parallel > 1;
  SmallVector<int64_t> tiles;
  for (unsigned d = 0; d < rank; ++d) {
    bool task = d < tasks && (parallel == 1 || d + 1 < parallel || sums) && d < 3;
    tiles.push_back(!task ? 0 : parallel == 1 ? 4096 : 1);
  }
  return tiles;
}

// Splits what is left after whole steps off a loop; there the columns become the innermost loop.
static Handle<scf::ForOp> peelProduct(Steps &steps, Handle<scf::ForOp> loop) {
  auto peeled =
      steps.add<schedule::PeelRestOp>("", loop.value().getType(), loop.value().getType(), loop.value());
  // The rest may be nothing.
  steps.forEach(Handle<scf::ForOp>(peeled.getRest()), "loop", [](Steps &inner) {
    inner.interchange(inner.match<linalg::GenericOp>("edge", inner.root()), {0, 2, 1});
  });
  return Handle<scf::ForOp>(peeled.getMain());
}

// A matrix product in registers: tasks of rows x columns, blocks of the reduction that stay in the cache, and
// a block of the result in registers that each step of the reduction updates by fused multiply-adds. What is
// left at the edges runs with the columns innermost, which the code generator vectorises.
static void writeContraction(Writer &out, unsigned index, Handle<linalg::GenericOp> product,
                             linalg::GenericOp op, bool raised, const Figures &info) {
  Type element = cast<ShapedType>(op.getOutputs()[0].getType()).getElementType();
  unsigned lanes = std::max(1u, info.vectorBytes / plan::typeBytes(element));
  unsigned rows = info.registers >= 32 ? 8 : 6, columns = 2 * lanes;
  std::string n = std::to_string(index);
  Steps &steps = out.payload;
  AnyHandle payload = steps.root();
  out.script.note((raised ? "loop raised to a matrix product, " : "matrix product, ") + Twine(rows) + "x" +
                  Twine(columns) + " in registers, tasks of " + Twine(8 * rows) + "x" + Twine(8 * columns));
  if (raised)
    product = Handle<linalg::GenericOp>(
        steps.add<schedule::RaiseReductionOp>("raised" + n, product.value().getType(), product.value())
            .getGeneric());
  AnyHandle init = steps.producerOf("init" + n, product, op.getNumDpsInputs());
  auto task = steps.tileForall(product, {8 * rows, 8 * columns, 0});
  steps.fuseInto(init, task.loop);
  auto block = steps.tileFor(task.op, {0, 0, 256});
  auto row = steps.tileFor(block.op, {rows, 0, 0});
  Handle<scf::ForOp> main = peelProduct(steps, row.loop);
  auto inRows = steps.match<linalg::GenericOp>("main_a" + n, main);
  auto column = steps.tileFor(inRows, {0, columns, 0});
  main = peelProduct(steps, column.loop);
  auto inBoth = steps.match<linalg::GenericOp>("main_b" + n, main);
  steps.vectorize(steps.tileFor(inBoth, {0, 0, 1}).op);
  steps.applyPatterns<
      transform::ApplyVectorReductionToContractPatternsOp, transform::ApplyTransferPermutationPatternsOp,
      transform::ApplyCastAwayVectorLeadingOneDimPatternsOp, transform::ApplyCanonicalizationPatternsOp>(
      payload);
  steps.applyCse(payload);
  steps.hoistSubsets(steps.match<scf::ForOp>("loops" + n, payload));
  steps
      .applyPatterns<transform::ApplyLowerContractionPatternsOp, transform::ApplyLowerOuterProductPatternsOp>(
          payload);
}

// Instances with loops of their own, a row of them in the lanes of vectors. What is left of a row runs one by
// one.
static void writeLanes(Writer &out, Handle<linalg::GenericOp> instances, linalg::GenericOp op,
                       const Figures &info) {
  unsigned bytes = 4;
  op.getBody()->walk([&](Operation *inner) {
    for (Type type : inner->getResultTypes())
      if (!type.isIndex() && type.isIntOrFloat())
        bytes = std::max(bytes, plan::typeBytes(type));
  });
  unsigned lanes = info.vectorBytes / bytes, rank = op.getNumLoops();
  SmallVector<int64_t> rows(rank, 1), columns(rank, 0);
  rows.back() = rank == 1 ? 4096 : 0;
  columns.back() = lanes;
  out.script.note(Twine(lanes) + " instances in the lanes of vectors, " +
                  (rank == 1 ? "pieces of 4096" : "rows") + " as tasks");
  Steps &steps = out.payload;
  auto row = steps.tileForall(instances, rows);
  auto part = steps.tileFor(row.op, columns);
  Value loop = part.loop.value(), payload = steps.root().value();
  steps.add<schedule::PeelRestOp>("", loop.getType(), loop.getType(), loop);
  // Folds the extents of the main part to constants.
  steps.applyPatterns<transform::ApplyCanonicalizationPatternsOp>(steps.root());
  steps.add<schedule::VectorizeInstancesOp>("", payload, uint64_t(lanes), ValueRange());
}

// Whether the operation is a matrix product with rows, columns and one reduction, in this order: as it
// stands, or after its instance's loop has been raised.
static bool isProduct(linalg::GenericOp op) {
  if (op.getNumLoops() != 3 || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      !isa<FloatType>(cast<ShapedType>(op.getOutputs()[0].getType()).getElementType()) ||
      !linalg::isaContractionOpInterface(op))
    return false;
  SmallVector<utils::IteratorType> it = op.getIteratorTypesArray();
  return it[0] == utils::IteratorType::parallel && it[1] == utils::IteratorType::parallel &&
         it[2] == utils::IteratorType::reduction && op.getOutputs()[0].getDefiningOp<linalg::FillOp>();
}

// The step that finds a layer.
static AnyHandle matchLayer(Writer &out, Operation *layer) {
  return out.payload.matchNamed("p" + std::to_string(numberOf(layer)), out.payload.root(),
                                layer->getName().getStringRef(), numberedAs(layer));
}

// A depthwise layer together with the pointwise one behind it, where they are in one node.
static bool writeSeparable(Writer &out, cpu::PackedDepthwiseOp first, const cpu::packed::Machine &machine) {
  cpu::PackedConvOp second = cpu::packed::findPointwise(first);
  if (!second)
    return false;
  auto [a, b] = cpu::packed::chooseSeparable(first, second, machine);
  AnyHandle depthwise = matchLayer(out, first), conv = matchLayer(out, second);
  IRRewriter rewriter(first.getContext());
  std::string why;
  if (failed(cpu::packed::lowerSeparable(rewriter, first, a, second, b, why))) {
    depthwise.value().getDefiningOp()->erase();
    conv.value().getDefiningOp()->erase();
    return false;
  }
  out.payload.add<cpu::LowerSeparableOp>("", depthwise.value(), a.rows, a.columns, ValueRange(), conv.value(),
                                         b.rows, b.columns, b.blocks, b.unroll, b.task, ValueRange());
  out.script.note(cpu::packed::describeSeparable(a, b));
  return true;
}

// Layers on blocked activations, in order; borders that nobody made part of a layer come last. What they take
// into their stores is gone from `trial` afterwards.
static bool writePacked(Writer &out, func::FuncOp trial, const Figures &info) {
  cpu::packed::Machine machine = packedMachine(info);
  bool any = false;
  for (bool views : {false, true}) {
    SmallVector<int64_t> numbers;
    for (Operation &op : trial.getBody().front())
      if (nn::isPacked(&op) && isa<cpu::CropOp>(op) == views)
        numbers.push_back(numberOf(&op));
    for (int64_t number : numbers) {
      Operation *layer = nullptr;
      for (Operation &op : trial.getBody().front())
        if (numberOf(&op) == number)
          layer = &op;
      // An earlier one has taken it along.
      if (!layer)
        continue;
      any = true;
      if (auto depthwise = dyn_cast<cpu::PackedDepthwiseOp>(layer);
          depthwise && writeSeparable(out, depthwise, machine))
        continue;
      cpu::packed::Tiles t = cpu::packed::chooseTiles(layer, machine);
      out.payload.add<cpu::LowerPackedOp>("", matchLayer(out, layer).value(), t.rows, t.columns, t.blocks,
                                          t.unroll, t.task, t.split, cpu::packed::stringifyDot(t.dot),
                                          ValueRange());
      if (!layer->use_empty())
        out.script.note(cpu::packed::describe(layer, t));
      IRRewriter rewriter(trial.getContext());
      std::string why;
      // What stands against it is told when the script is run.
      (void)cpu::packed::lower(rewriter, layer, t, why);
    }
  }
  return any;
}

static bool sumsAlongResult(linalg::GenericOp op) {
  return op.getNumReductionLoops() > 0 && op.getIteratorTypesArray().back() == utils::IteratorType::parallel;
}

// What is done to the loops of kernels.
static void writeLoops(Writer &out, func::FuncOp payload, const Figures &info, bool isPacked) {
  Steps &steps = out.loops;
  Value kernel = steps.root().value();
  bool isMarked = llvm::any_of(payload.getBody().front().getOps<scf::ForallOp>(),
                               [](scf::ForallOp op) { return op->hasAttr(leaf::instancesAttr); });
  if (isMarked && info.vectorBytes >= 16)
    steps.add<schedule::VectorizeLoopsOp>("", kernel, uint64_t(info.vectorBytes), ValueRange());
  // Packed layers have unrolled what they want unrolled. Sums whose innermost loop runs along the result
  // (windows, products of many matrices) are for the code generator to vectorise: unrolled, it would see no
  // loop.
  if (!isPacked && llvm::none_of(payload.getBody().front().getOps<linalg::GenericOp>(), sumsAlongResult))
    steps.add<schedule::UnrollConstantLoopsOp>("", kernel);
  steps.applyPatterns<transform::ApplyCanonicalizationPatternsOp>(steps.root());
  steps.applyCse(steps.root());
  if (!isPacked)
    steps.add<schedule::SplitBordersOp>("", kernel);
  for (auto forall : payload.getBody().front().getOps<scf::ForallOp>())
    if (auto lanes = forall->getAttrOfType<IntegerAttr>(leaf::lanesAttr)) {
      // Instances that accumulate cannot be vectorised; several of them at once keep the processor busy.
      out.script.note("private copies, unrolled");
      steps.add<schedule::UnrollInnermostOp>("", kernel, uint64_t(2 * lanes.getInt()), ValueRange());
      break;
    }
}

schedule::Script cpu::writeDefaultSchedule(func::FuncOp payload, const Figures &info, bool strict) {
  Writer out(payload.getContext());
  // What packed layers leave over and what raising would give, tried on copies.
  OwningOpRef<func::FuncOp> rest = cast<func::FuncOp>(payload->clone());
  bool isPacked = writePacked(out, *rest, info);
  OwningOpRef<func::FuncOp> trial = cast<func::FuncOp>((*rest)->clone());
  llvm::DenseMap<int64_t, linalg::GenericOp> copies;
  for (auto copy : trial->getBody().front().getOps<linalg::GenericOp>())
    copies[numberOf(copy)] = copy;
  bool isRows = !isPacked && writeRows(out, *rest);
  bool isEmpty = !isPacked && !isRows;
  for (auto op : rest->getBody().front().getOps<linalg::GenericOp>()) {
    if (isRows)
      break;
    int64_t index = numberOf(op);
    isEmpty = false;
    auto generic =
        out.payload.match<linalg::GenericOp>("g" + std::to_string(index), out.payload.root(), numberedAs(op));
    bool raised = false;
    linalg::GenericOp product = op;
    if (!isProduct(op)) {
      IRRewriter rewriter(op.getContext());
      std::string why;
      FailureOr<linalg::GenericOp> tried = leaf::raiseReduction(rewriter, copies[index], why);
      raised = succeeded(tried);
      if (raised)
        product = *tried;
    }
    if (!strict && isProduct(product)) {
      writeContraction(out, index, generic, product, raised, info);
      continue;
    }
    if (info.vectorBytes >= 16 && leaf::wantsLanes(op)) {
      writeLanes(out, generic, op, info);
      continue;
    }
    if (op.getNumReductionLoops() == op.getNumLoops() && op->hasAttr(leaf::reductionsAttr) &&
        !op->hasAttr(leaf::orderedAttr)) {
      out.script.note("reduction in 64 chunks");
      out.payload.add<schedule::ChunkReductionOp>("r" + std::to_string(index),
                                                  Handle<scf::ForallOp>::type(op.getContext()),
                                                  generic.value(), uint64_t(64), ValueRange());
    } else if (op.getNumParallelLoops() > 0 && op.getNumLoops() > 0) {
      unsigned parallel = 0;
      SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
      while (parallel < iterators.size() && iterators[parallel] == utils::IteratorType::parallel)
        ++parallel;
      if (parallel) {
        out.script.note(parallel == 1 ? "pieces of 4096 as tasks" : "rows as tasks");
        out.payload.tileForall(generic, parallelTiles(op, parallel));
      }
    }
  }
  if (isEmpty)
    out.script.note(payload.getBody().front().getOps<scf::ForallOp>().empty() ? "one task"
                                                                              : "instances as tasks");
  writeLoops(out, payload, info, isPacked);
  return out.script.finish();
}
