// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Schedule.h. The scripts are plain text on purpose: what `explain` prints is what was run.
#include "tessera/targets/cpu/Schedule.h"

#include "tessera/transforms/leaf/Rewrites.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace tessera;

namespace {

/// Collects the lines of a script.
class Writer {
public:
  void line(const Twine &text) { body += "    " + text.str() + "\n"; }
  void loopLine(const Twine &text) { loops += "    " + text.str() + "\n"; }
  std::string str() const {
    std::string text = "module attributes {transform.with_named_sequence} {\n";
    text += "  transform.named_sequence @schedule(%payload: !transform.any_op) {\n" + body + "    transform.yield\n  }\n";
    text += "  transform.named_sequence @schedule_loops(%kernel: !transform.any_op) {\n" + loops + "    transform.yield\n  }\n";
    return text + "}\n";
  }

private:
  std::string body, loops;
};

} // namespace

// Tasks of a grid without reductions: rows of the innermost dimension, or pieces of a single one.
static std::string parallelTiles(unsigned rank, unsigned parallel) {
  std::string tiles;
  for (unsigned d = 0; d < rank; ++d) {
    bool task = d < parallel && (parallel == 1 || d + 1 < parallel) && d < 3;
    tiles += (d ? ", " : "") + std::string(!task ? "0" : parallel == 1 ? "4096" : "1");
  }
  return tiles;
}

std::string cpu::writeDefaultSchedule(func::FuncOp payload, const TargetInfo &info) {
  Writer out;
  unsigned index = 0;
  auto generics = payload.getBody().front().getOps<linalg::GenericOp>();
  if (!generics.empty())
    out.line("%generics = transform.structured.match ops{[\"linalg.generic\"]} in %payload : (!transform.any_op) -> "
             "!transform.any_op");
  unsigned count = std::distance(generics.begin(), generics.end());
  if (count > 1) {
    std::string names;
    for (unsigned i = 0; i < count; ++i)
      names += (i ? ", " : "") + ("%g" + Twine(i)).str();
    std::string types = "!transform.any_op";
    for (unsigned i = 1; i < count; ++i)
      types += ", !transform.any_op";
    out.line(names + " = transform.split_handle %generics : (!transform.any_op) -> (" + types + ")");
  }
  for (linalg::GenericOp op : generics) {
    std::string name = count > 1 ? ("%g" + Twine(index)).str() : "%generics";
    if (op.getNumReductionLoops() == op.getNumLoops() && op->hasAttr(leaf::reductionsAttr) && !op->hasAttr(leaf::orderedAttr)) {
      out.line("%r" + Twine(index) + " = transform.tessera.chunk_reduction " + name +
               " chunks 64 : (!transform.any_op) -> !transform.any_op");
    } else if (op.getNumParallelLoops() > 0 && op.getNumLoops() > 0) {
      unsigned parallel = 0;
      SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
      while (parallel < iterators.size() && iterators[parallel] == utils::IteratorType::parallel)
        ++parallel;
      if (parallel)
        out.line("%t" + Twine(index) + ":2 = transform.structured.tile_using_forall " + name + " tile_sizes [" +
                 parallelTiles(op.getNumLoops(), parallel) +
                 "] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)");
    }
    ++index;
  }
  out.loopLine("transform.tessera.unroll_constant_loops %kernel : !transform.any_op");
  out.loopLine("transform.apply_patterns to %kernel { transform.apply_patterns.canonicalization } : !transform.any_op");
  out.loopLine("transform.apply_cse to %kernel : !transform.any_op");
  out.loopLine("transform.tessera.split_borders %kernel : !transform.any_op");
  return out.str();
}
