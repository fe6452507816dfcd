// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Schedule.h. The scripts are plain text on purpose: what `explain` prints is what was run.
#include "tessera/targets/cpu/Schedule.h"

#include "tessera/targets/cpu/Figures.h"
#include "tessera/targets/cpu/Script.h"
#include "tessera/targets/cpu/packed/Packed.h"
#include "tessera/transforms/leaf/Rewrites.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"

using namespace tessera;
using namespace tessera::cpu;

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
static std::string parallelTiles(linalg::GenericOp op, unsigned parallel) {
  unsigned rank = op.getNumLoops(), tasks = taskDims(op, parallel);
  bool sums = op.getIteratorTypesArray().back() == utils::IteratorType::reduction && parallel > 1;
  std::string tiles;
  for (unsigned d = 0; d < rank; ++d) {
    bool task = d < tasks && (parallel == 1 || d + 1 < parallel || sums) && d < 3;
    tiles += (d ? ", " : "") + std::string(!task ? "0" : parallel == 1 ? "4096" : "1");
  }
  return tiles;
}

// A matrix product in registers: tasks of rows x columns, blocks of the reduction that stay in the cache, and
// a block of the result in registers that each step of the reduction updates by fused multiply-adds. What is
// left at the edges runs with the columns innermost, which the code generator vectorises.
static void writeContraction(Writer &out, unsigned index, const std::string &name, linalg::GenericOp op,
                             bool raised, const Figures &info) {
  Type element = cast<ShapedType>(op.getOutputs()[0].getType()).getElementType();
  unsigned lanes = std::max(1u, info.vectorBytes / plan::typeBytes(element));
  unsigned rows = info.registers >= 32 ? 8 : 6, columns = 2 * lanes;
  std::string n = std::to_string(index);
  std::string any = "!transform.any_op", loop = "!transform.op<\"scf.for\">";
  std::string to1 = " : (" + any + ") -> " + any, to2 = " : (" + any + ") -> (" + any + ", " + any + ")",
              toLoop = " : (" + any + ") -> (" + any + ", " + loop + ")",
              peel = " : (" + loop + ") -> (" + any + ", " + any + ")";
  auto generic = [&](const std::string &result, const std::string &in) {
    out.line("%" + result + n + " = transform.structured.match ops{[\"linalg.generic\"]} in %" + in + n +
             to1);
  };
  // The rest may be nothing.
  auto columnsInnermost = [&](const std::string &rest) {
    out.line("transform.foreach %" + rest + n + " : " + any + " {");
    out.line("^bb0(%loop: " + any + "):");
    out.line("  %edge = transform.structured.match ops{[\"linalg.generic\"]} in %loop" + to1);
    out.line("  %turned = transform.structured.interchange %edge iterator_interchange = [0, 2, 1]" + to1);
    out.line("}");
  };
  out.note((raised ? "loop raised to a matrix product, " : "matrix product, ") + Twine(rows) + "x" +
           Twine(columns) + " in registers, tasks of " + Twine(8 * rows) + "x" + Twine(8 * columns));
  std::string g = name;
  if (raised) {
    g = "%raised" + n;
    out.line(g + " = transform.tessera.raise_reduction " + name + to1);
  }
  out.line("%init" + n + " = transform.get_producer_of_operand " + g + "[" +
           std::to_string(op.getNumDpsInputs()) + "]" + to1);
  out.line("%task" + n + ", %tasks" + n + " = transform.structured.tile_using_forall " + g + " tile_sizes [" +
           std::to_string(8 * rows) + ", " + std::to_string(8 * columns) + ", 0]" + to2);
  out.line("%fill" + n + ", %tasks_" + n + " = transform.structured.fuse_into_containing_op %init" + n +
           " into %tasks" + n + " : (" + any + ", " + any + ") -> (" + any + ", " + any + ")");
  out.line("%block" + n + ", %k_block" + n + " = transform.structured.tile_using_for %task" + n +
           " tile_sizes [0, 0, 256]" + to2);
  out.line("%rows" + n + ", %i" + n + " = transform.structured.tile_using_for %block" + n + " tile_sizes [" +
           std::to_string(rows) + ", 0, 0]" + toLoop);
  out.line("%i_main" + n + ", %i_rest" + n + " = transform.tessera.peel_rest %i" + n + peel);
  columnsInnermost("i_rest");
  generic("main_a", "i_main");
  out.line("%columns" + n + ", %j" + n + " = transform.structured.tile_using_for %main_a" + n +
           " tile_sizes [0, " + std::to_string(columns) + ", 0]" + toLoop);
  out.line("%j_main" + n + ", %j_rest" + n + " = transform.tessera.peel_rest %j" + n + peel);
  columnsInnermost("j_rest");
  generic("main_b", "j_main");
  out.line("%micro" + n + ", %k" + n + " = transform.structured.tile_using_for %main_b" + n +
           " tile_sizes [0, 0, 1]" + to2);
  out.line("transform.structured.vectorize %micro" + n + " : " + any);
  out.line("transform.apply_patterns to %payload {");
  out.line("  transform.apply_patterns.vector.reduction_to_contract");
  out.line("  transform.apply_patterns.vector.transfer_permutation_patterns");
  out.line("  transform.apply_patterns.vector.cast_away_vector_leading_one_dim");
  out.line("  transform.apply_patterns.canonicalization");
  out.line("} : " + any);
  out.line("transform.apply_cse to %payload : " + any);
  out.line("%loops" + n + " = transform.structured.match ops{[\"scf.for\"]} in %payload : (" + any + ") -> " +
           loop);
  out.line("transform.loop.hoist_loop_invariant_subsets %loops" + n + " : " + loop);
  out.line("transform.apply_patterns to %payload {");
  out.line("  transform.apply_patterns.vector.lower_contraction lowering_strategy = outerproduct");
  out.line("  transform.apply_patterns.vector.lower_outerproduct");
  out.line("} : " + any);
}

// Instances with loops of their own, a row of them in the lanes of vectors. What is left of a row runs one by
// one.
static void writeLanes(Writer &out, unsigned index, const std::string &name, linalg::GenericOp op,
                       const Figures &info) {
  unsigned bytes = 4;
  op.getBody()->walk([&](Operation *inner) {
    for (Type type : inner->getResultTypes())
      if (!type.isIndex() && type.isIntOrFloat())
        bytes = std::max(bytes, plan::typeBytes(type));
  });
  unsigned lanes = info.vectorBytes / bytes, rank = op.getNumLoops();
  std::string n = std::to_string(index), any = "!transform.any_op", loop = "!transform.op<\"scf.for\">";
  std::string rows, columns;
  for (unsigned d = 0; d < rank; ++d) {
    bool last = d + 1 == rank;
    rows += (d ? ", " : "") + std::string(!last ? "1" : rank == 1 ? "4096" : "0");
    columns += (d ? ", " : "") + (last ? std::to_string(lanes) : std::string("0"));
  }
  out.note(Twine(lanes) + " instances in the lanes of vectors, " + (rank == 1 ? "pieces of 4096" : "rows") +
           " as tasks");
  out.line("%row" + n + ":2 = transform.structured.tile_using_forall " + name + " tile_sizes [" + rows +
           "] : (" + any + ") -> (" + any + ", " + any + ")");
  out.line("%part" + n + ", %j" + n + " = transform.structured.tile_using_for %row" + n + "#0 tile_sizes [" +
           columns + "] : (" + any + ") -> (" + any + ", " + loop + ")");
  out.line("%main" + n + ", %rest" + n + " = transform.tessera.peel_rest %j" + n + " : (" + loop + ") -> (" +
           any + ", " + any + ")");
  // Folds the extents of the main part to constants.
  out.line("transform.apply_patterns to %payload { transform.apply_patterns.canonicalization } : " + any);
  out.line("transform.tessera.vectorize_instances %payload lanes " + std::to_string(lanes) + " : " + any);
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

// The line that gives a layer a name.
static std::string matchLine(Operation *layer) {
  std::string number = std::to_string(numberOf(layer));
  return "%p" + number + " = transform.structured.match ops{[\"" + layer->getName().getStringRef().str() +
         "\"]} attributes{" + leaf::numberAttr.str() + " = " + number +
         " : i64} in %payload : (!transform.any_op) -> !transform.any_op";
}

// A depthwise layer together with the pointwise one behind it, where they are in one node.
static bool writeSeparable(Writer &out, cpu::PackedDepthwiseOp first, const cpu::packed::Machine &machine) {
  cpu::PackedConvOp second = cpu::packed::findPointwise(first);
  if (!second)
    return false;
  auto [a, b] = cpu::packed::chooseSeparable(first, second, machine);
  std::string lines[] = {matchLine(first), matchLine(second),
                         "transform.tessera.lower_separable %p" + std::to_string(numberOf(first)) +
                             cpu::packed::spellNumbers(a) + " into %p" + std::to_string(numberOf(second)) +
                             cpu::packed::spellNumbers(b) + " : !transform.any_op, !transform.any_op"};
  IRRewriter rewriter(first.getContext());
  std::string why;
  if (failed(cpu::packed::lowerSeparable(rewriter, first, a, second, b, why)))
    return false;
  for (const std::string &line : lines)
    out.line(line);
  out.note(cpu::packed::describeSeparable(a, b));
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
      std::string name = ("%p" + Twine(number)).str(), text = cpu::packed::spellNumbers(t);
      if (t.dot != cpu::packed::Dot::Plain)
        text += " dot \"" + cpu::packed::stringifyDot(t.dot).str() + "\"";
      out.line(matchLine(layer));
      out.line("transform.tessera.lower_packed " + name + text + " : !transform.any_op");
      if (!layer->use_empty())
        out.note(cpu::packed::describe(layer, t));
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

std::string cpu::writeDefaultSchedule(func::FuncOp payload, const Figures &info, bool strict) {
  Writer out;
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
    std::string name = ("%g" + Twine(index)).str();
    out.line(name + " = transform.structured.match ops{[\"linalg.generic\"]} attributes{" + leaf::numberAttr +
             " = " + Twine(index) + " : i64} in %payload : (!transform.any_op) -> !transform.any_op");
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
      writeContraction(out, index, name, product, raised, info);
      continue;
    }
    if (info.vectorBytes >= 16 && leaf::wantsLanes(op)) {
      writeLanes(out, index, name, op, info);
      continue;
    }
    if (op.getNumReductionLoops() == op.getNumLoops() && op->hasAttr(leaf::reductionsAttr) &&
        !op->hasAttr(leaf::orderedAttr)) {
      out.note("reduction in 64 chunks");
      out.line("%r" + Twine(index) + " = transform.tessera.chunk_reduction " + name +
               " chunks 64 : (!transform.any_op) -> !transform.any_op");
    } else if (op.getNumParallelLoops() > 0 && op.getNumLoops() > 0) {
      unsigned parallel = 0;
      SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
      while (parallel < iterators.size() && iterators[parallel] == utils::IteratorType::parallel)
        ++parallel;
      if (parallel)
        out.note(parallel == 1 ? "pieces of 4096 as tasks" : "rows as tasks");
      if (parallel)
        out.line("%t" + Twine(index) + ":2 = transform.structured.tile_using_forall " + name +
                 " tile_sizes [" + parallelTiles(op, parallel) +
                 "] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)");
    }
  }
  if (isEmpty)
    out.note(payload.getBody().front().getOps<scf::ForallOp>().empty() ? "one task" : "instances as tasks");
  bool isMarked = llvm::any_of(payload.getBody().front().getOps<scf::ForallOp>(),
                               [](scf::ForallOp op) { return op->hasAttr(leaf::instancesAttr); });
  if (isMarked && info.vectorBytes >= 16)
    out.loopLine("transform.tessera.vectorize_loops %kernel bytes " + Twine(info.vectorBytes) +
                 " : !transform.any_op");
  // Packed layers have unrolled what they want unrolled. Sums whose innermost loop runs along the result
  // (windows, products of many matrices) are for the code generator to vectorise: unrolled, it would see no
  // loop.
  if (!isPacked && llvm::none_of(payload.getBody().front().getOps<linalg::GenericOp>(), sumsAlongResult))
    out.loopLine("transform.tessera.unroll_constant_loops %kernel : !transform.any_op");
  out.loopLine("transform.apply_patterns to %kernel { transform.apply_patterns.canonicalization } : "
               "!transform.any_op");
  out.loopLine("transform.apply_cse to %kernel : !transform.any_op");
  if (!isPacked)
    out.loopLine("transform.tessera.split_borders %kernel : !transform.any_op");
  for (auto forall : payload.getBody().front().getOps<scf::ForallOp>())
    if (auto lanes = forall->getAttrOfType<IntegerAttr>(leaf::lanesAttr)) {
      // Instances that accumulate cannot be vectorised; several of them at once keep the processor busy.
      out.note("private copies, unrolled");
      out.loopLine("transform.tessera.unroll_innermost %kernel by " + Twine(2 * lanes.getInt()) +
                   " : !transform.any_op");
      break;
    }
  return out.str();
}
