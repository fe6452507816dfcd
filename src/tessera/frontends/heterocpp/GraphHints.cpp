// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hints: where a task or loop may run. Whether a device is there is seen when the program is installed.
#include "tessera/frontends/heterocpp/GraphBuilder.h"

#include "tessera/base/Diag.h"

using namespace tessera;
using namespace tessera::heterocpp;

std::vector<std::string> GraphBuilder::getTargets(uint64_t number) const {
  std::vector<std::string> all;
  auto allow = [&](ArrayRef<std::string> names) { llvm::append_range(all, names); };
  switch (number) {
  case 1: // CPU_TARGET
    allow(targetNames.host);
    break;
  case 2: // GPU_TARGET, CUDNN_TARGET, TENSOR_TARGET
  case 3:
  case 4:
    allow(targetNames.gpus);
    break;
  case 5: // CPU_OR_GPU_TARGET
    allow(targetNames.host);
    allow(targetNames.gpus);
    break;
  case 6: // FPGA_TARGET
    allow(targetNames.fpgas);
    break;
  default: // None: anywhere
    break;
  }
  return all;
}

std::string GraphBuilder::exampleHint() const {
  std::vector<std::string> some = targetNames.host;
  llvm::append_range(some, ArrayRef(targetNames.gpus).take_front(1));
  return "\"" + llvm::join(some, ",") + "\"";
}

// A name may be of a target that only the machine has where the program will run, so a strange one is a
// warning.
void GraphBuilder::checkTarget(StringRef name, clang::SourceLocation at) {
  std::vector<std::string> names(targetNames.built);
  if (names.empty())
    return;
  for (ArrayRef<std::string> known :
       {ArrayRef(targetNames.host), ArrayRef(targetNames.gpus), ArrayRef(targetNames.fpgas)})
    llvm::append_range(names, known);
  llvm::sort(names);
  names.erase(llvm::unique(names), names.end());
  if (llvm::is_contained(names, name))
    return;
  at = getUserLoc(at);
  diag.emitWarning(at, unknownName("target", name, "known targets", names));
  diag.note(at, "what is named here and not there when the program is installed is passed over");
}

void GraphBuilder::readHint(const clang::Stmt *stmt) {
  MarkerKind kind;
  const clang::CallExpr *call = findMarker(stmt, kind);
  if (!call || kind != MarkerKind::Hint || call->getNumArgs() != 1)
    return;
  const clang::Expr *arg = call->getArg(0);
  // Several hints allow several targets.
  auto allow = [&](StringRef name) {
    if (!llvm::is_contained(targets, name))
      targets.push_back(name.str());
  };
  if (std::optional<std::string> text = getText(arg, ast)) {
    SmallVector<StringRef> names;
    StringRef(*text).split(names, ',');
    for (StringRef name : names) {
      name = name.trim();
      if (name.empty() ||
          !llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '-' || c == '_'; })) {
        diag.emitError(arg->getBeginLoc(), "expected the names of targets in a hint, but got '" + name + "'");
        diag.note(arg->getBeginLoc(), "write them with commas between, such as " + exampleHint());
        level.failed = true;
        return;
      }
      checkTarget(name, arg->getBeginLoc());
      allow(name);
    }
    return;
  }
  clang::Expr::EvalResult number;
  if (!arg->getType()->isIntegralOrEnumerationType() || !arg->EvaluateAsInt(number, ast)) {
    diag.emitError(arg->getBeginLoc(), "expected a hint to be a constant, but got something else");
    diag.note(arg->getBeginLoc(),
              "name a device of 'hpvm::Target', or several in a string such as " + exampleHint());
    level.failed = true;
    return;
  }
  for (const std::string &name : getTargets(number.Val.getInt().getZExtValue()))
    allow(name);
}

void heterocpp::findHints(const clang::Stmt *stmt, function_ref<void(const clang::Stmt *)> found) {
  if (!stmt)
    return;
  MarkerKind kind;
  if (isa<clang::Expr>(stmt) && findMarker(stmt, kind) && kind == MarkerKind::Hint)
    return found(stmt);
  for (const clang::Stmt *child : stmt->children())
    findHints(child, found);
}

void GraphBuilder::addHints(dfg::NodeOp node) {
  if (targets.empty())
    return;
  SmallVector<StringRef> list(targets.begin(), targets.end());
  node.setTargetsAttr(b.getStrArrayAttr(list));
}
