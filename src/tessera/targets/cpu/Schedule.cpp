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

// Rows, columns and one reduction, in this order.
static bool isRowsColumnsSum(ArrayRef<utils::IteratorType> loops) {
  return loops.size() == 3 && loops[0] == utils::IteratorType::parallel &&
         loops[1] == utils::IteratorType::parallel && loops[2] == utils::IteratorType::reduction;
}

static bool givesFloats(linalg::GenericOp op) {
  return isa<FloatType>(cast<ShapedType>(op.getOutputs()[0].getType()).getElementType());
}

// Whether the operation is a matrix product as it stands.
static bool isProduct(linalg::GenericOp op) {
  // The loops come first: MLIR's question is not for bodies that compute nothing.
  return isRowsColumnsSum(op.getIteratorTypesArray()) && op.getNumDpsInputs() == 2 &&
         op.getNumDpsInits() == 1 && givesFloats(op) && op.getOutputs()[0].getDefiningOp<linalg::FillOp>() &&
         linalg::isaContractionOpInterface(op);
}

// Whether it is one after its instance's loop has been raised.
static bool isProductWhenRaised(linalg::GenericOp op) {
  std::string why;
  FailureOr<leaf::Raised> raised = leaf::findReduction(op, why);
  return succeeded(raised) && raised->inputs.size() == 2 && givesFloats(op) && raised->addsProducts &&
         isRowsColumnsSum(raised->iterators) && raised->result.isProjectedPermutation() &&
         llvm::all_of(raised->inputs, [](AffineMap map) { return map.isProjectedPermutation(); });
}

// The step that finds a layer.
static AnyHandle matchLayer(Writer &out, Operation *layer) {
  return out.payload.matchNamed("p" + std::to_string(numberOf(layer)), out.payload.root(),
                                layer->getName().getStringRef(), numberedAs(layer));
}

// Layers on blocked activations.
namespace {
class PackedWriter {
public:
  PackedWriter(Writer &out, func::FuncOp payload, const cpu::packed::Machine &machine)
      : out(out), payload(payload), machine(machine) {}
  /// All layers, in order; borders that nobody made part of a layer come last.
  bool write();
  /// Layers, and what they take into their stores.
  const cpu::packed::Taken &taken() const { return gone; }

private:
  bool writePair(cpu::PackedDepthwiseOp first);
  void writeLayer(Operation *layer);
  /// Somebody reads what it gives; layers read through a crop.
  bool isRead(Operation *layer) const {
    return llvm::any_of(layer->getUsers(), [&](Operation *user) {
      return !isa<cpu::CropOp>(layer) || !(gone.contains(user) || isa<tensor::DimOp>(user));
    });
  }

  Writer &out;
  func::FuncOp payload;
  const cpu::packed::Machine &machine;
  cpu::packed::Taken gone;
};
} // namespace

// A depthwise layer together with the pointwise one behind it, where they are in one node.
bool PackedWriter::writePair(cpu::PackedDepthwiseOp first) {
  cpu::PackedConvOp second = cpu::packed::findPointwise(first);
  std::string why;
  if (!second)
    return false;
  FailureOr<SmallVector<Operation *>> taken = cpu::packed::findTaken(first, second, gone, why);
  if (failed(taken))
    return false;
  auto [a, b] = cpu::packed::chooseSeparable(first, second, machine);
  AnyHandle depthwise = matchLayer(out, first), conv = matchLayer(out, second);
  out.payload.add<cpu::LowerSeparableOp>("", depthwise.value(), a.rows, a.columns, ValueRange(), conv.value(),
                                         b.rows, b.columns, b.blocks, b.unroll, b.task, ValueRange());
  out.script.note(cpu::packed::describeSeparable(a, b));
  gone.insert(taken->begin(), taken->end());
  return true;
}

void PackedWriter::writeLayer(Operation *layer) {
  cpu::packed::Tiles tiles = cpu::packed::chooseTiles(layer, machine);
  const cpu::packed::Numbers t = numbersOf(tiles);
  out.payload.add<cpu::LowerPackedOp>("", matchLayer(out, layer).value(), t.rows, t.columns, t.blocks,
                                      t.unroll, t.task, t.split, cpu::packed::stringifyDot(t.dot),
                                      ValueRange());
  gone.insert(layer);
  if (!isRead(layer))
    return;
  out.script.note(cpu::packed::describe(layer, tiles));
  std::string why;
  // What stands against it is told when the script is run.
  if (FailureOr<SmallVector<Operation *>> taken = cpu::packed::findTaken(layer, tiles, gone, why);
      succeeded(taken))
    gone.insert(taken->begin(), taken->end());
}

bool PackedWriter::write() {
  for (bool views : {false, true})
    for (Operation &op : payload.getBody().front()) {
      // An earlier one has taken it along.
      if (!nn::isPacked(&op) || isa<cpu::CropOp>(op) != views || gone.contains(&op))
        continue;
      // Its scores are computed where they are read.
      if (isa<cpu::ProductOp>(op) &&
          llvm::any_of(payload.getBody().front().getOps<cpu::AttendOp>(),
                       [&](auto reader) { return cpu::packed::findScores(reader).product == &op; }))
        continue;
      if (auto depthwise = dyn_cast<cpu::PackedDepthwiseOp>(op); depthwise && writePair(depthwise))
        continue;
      writeLayer(&op);
    }
  return !gone.empty();
}

static bool sumsAlongResult(linalg::GenericOp op) {
  return op.getNumReductionLoops() > 0 && op.getIteratorTypesArray().back() == utils::IteratorType::parallel;
}

// What is done to the loops of kernels.
static void writeLoops(Writer &out, func::FuncOp payload, const Figures &info, bool isPacked) {
  Steps &steps = out.loops;
  Value kernel = steps.root().value();
  bool isMarked = llvm::any_of(payload.getBody().front().getOps<scf::ForallOp>(),
                               [](scf::ForallOp op) { return SharedNotes::instances.isOn(op); });
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
    if (IntegerAttr lanes = SharedNotes::lanes.get(forall)) {
      // Instances that accumulate cannot be vectorised; several of them at once keep the processor busy.
      out.script.note("private copies, unrolled");
      steps.add<schedule::UnrollInnermostOp>("", kernel, uint64_t(2 * lanes.getInt()), ValueRange());
      break;
    }
}

schedule::Script cpu::writeDefaultSchedule(func::FuncOp payload, const Figures &info, bool strict) {
  Writer out(payload.getContext());
  cpu::packed::Machine machine = packedMachine(info);
  PackedWriter layers(out, payload, machine);
  bool isPacked = layers.write();
  bool isRows = !isPacked && writeRows(out, payload);
  bool isEmpty = !isPacked && !isRows;
  for (auto op : payload.getBody().front().getOps<linalg::GenericOp>()) {
    if (isRows)
      break;
    if (layers.taken().contains(op))
      continue;
    int64_t index = numberOf(op);
    isEmpty = false;
    auto generic =
        out.payload.match<linalg::GenericOp>("g" + std::to_string(index), out.payload.root(), numberedAs(op));
    bool asItStands = isProduct(op);
    if (!strict && (asItStands || isProductWhenRaised(op))) {
      writeContraction(out, index, generic, op, !asItStands, info);
      continue;
    }
    if (info.vectorBytes >= 16 && leaf::wantsLanes(op)) {
      writeLanes(out, generic, op, info);
      continue;
    }
    if (op.getNumReductionLoops() == op.getNumLoops() && SharedNotes::reductions.isOn(op) &&
        !SharedNotes::ordered.isOn(op)) {
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
