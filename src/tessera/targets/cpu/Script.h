// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the parts of the default scheduler share: the script that they write together.
#pragma once

#include "tessera/transforms/leaf/Rewrites.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/Twine.h"

#include <string>

namespace tessera::cpu {

/// Collects the lines of a script.
class Writer {
public:
  void line(const Twine &text) { body += "    " + text.str() + "\n"; }
  void loopLine(const Twine &text) { loops += "    " + text.str() + "\n"; }
  /// Adds to the first line, which says in words what the script does.
  void note(const Twine &text) { summary += (summary.empty() ? "" : "; ") + text.str(); }
  std::string str() const {
    std::string text = "// " + summary + "\nmodule attributes {transform.with_named_sequence} {\n";
    text += "  transform.named_sequence @schedule(%payload: !transform.any_op) {\n" + body +
            "    transform.yield\n  }\n";
    text += "  transform.named_sequence @schedule_loops(%kernel: !transform.any_op) {\n" + loops +
            "    transform.yield\n  }\n";
    return text + "}\n";
  }

private:
  std::string body, loops, summary;
};

/// The number by which a script finds an operation.
inline int64_t numberOf(Operation *op) {
  auto number = op->getAttrOfType<IntegerAttr>(leaf::numberAttr);
  return number ? number.getInt() : -1;
}

/// Passes over the same rows (a softmax, a normalisation): one task for each row does all of them, so that
/// the row stays in the first cache. False, and nothing written, where the payload is something else.
bool writeRows(Writer &out, func::FuncOp payload);

} // namespace tessera::cpu
