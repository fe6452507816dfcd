// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Knobs.h.
#include "tessera/transforms/nn/knobs/Knobs.h"

#include "tessera/base/Diag.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace tessera;
using namespace tessera::nn;

static constexpr StringLiteral everyName = "all";

SmallVector<TunableOp> nn::tunableOps(Operation *root) {
  SmallVector<TunableOp> ops;
  Knob half{Knob::Precision::BF16};
  root->walk([&](TunableOp op) {
    if (!isa<BinaryOp>(op.getOperation()) || op.hasKnob(half))
      ops.push_back(op);
  });
  return ops;
}

StringRef nn::kindOf(TunableOp op) {
  return isa<BinaryOp>(op.getOperation()) ? "sum" : op->getName().stripDialect();
}

// The model's name for it, in characters that need no quoting on a command line or in a list.
static std::string nameInModel(Operation *op) {
  std::string name;
  op->getLoc()->walk([&](Location loc) {
    auto named = dyn_cast<NameLoc>(loc);
    if (!named)
      return WalkResult::advance();
    name = named.getName().str();
    return WalkResult::interrupt();
  });
  for (char &c : name)
    if (!llvm::isAlnum(c) && !StringRef("./:-_").contains(c))
      c = '_';
  return name;
}

void nn::nameTunableOps(Operation *root) {
  SmallVector<TunableOp> ops = tunableOps(root);
  llvm::StringSet<> taken = {everyName};
  // Names that are given stay; of two that are the same the first one does.
  SmallVector<TunableOp> nameless;
  for (TunableOp op : ops)
    if (StringRef name = nameOf(op); name.empty() || !taken.insert(name).second)
      nameless.push_back(op);
  llvm::StringMap<unsigned> ordinals;
  for (TunableOp op : nameless) {
    std::string name = nameInModel(op);
    if (name.empty() || !taken.insert(name).second) {
      std::string stem = name.empty() ? kindOf(op).str() : name + "_";
      do
        name = stem + std::to_string(++ordinals[stem]);
      while (!taken.insert(name).second);
    }
    nn::Notes::name.set(op, name);
  }
}

// The knobs of an operation in words; those of one structure that differ in rate and offset once.
static std::string describeKnobs(TunableOp op) {
  std::vector<std::string> names;
  llvm::StringSet<> seen;
  for (const Knob &knob : listKnobs(op)) {
    std::string text = knob.str();
    if (seen.insert(StringRef(text).split(':').first).second)
      names.push_back(text);
  }
  return joinNames(names);
}

static void setKnob(Operation *op, const Knob &knob) {
  if (knob.isExact())
    nn::Notes::knob.remove(op);
  else
    nn::Notes::knob.set(op, knob.str());
}

Status nn::setKnobs(Operation *root, const KnobMap &knobs) {
  SmallVector<TunableOp> ops = tunableOps(root);
  auto invalid = [](std::string text) { return Status::error(StatusCode::InvalidArgument, std::move(text)); };
  if (auto every = knobs.find(everyName.str()); every != knobs.end()) {
    Result<Knob> knob = Knob::parse(every->second);
    if (!knob.ok())
      return knob.status();
    bool any = false;
    // A sum may stay as it is where its range was not measured.
    auto isUnmeasured = [&](TunableOp op) {
      return isa<BinaryOp>(op.getOperation()) && knob->precision == Knob::Precision::Int8 && !rangeOf(op);
    };
    for (TunableOp op : ops)
      if (hasKnob(op, *knob) && !isUnmeasured(op)) {
        setKnob(op, *knob);
        any = true;
      }
    if (!any)
      return invalid("no operation has the knob '" + every->second +
                     "'; 'tessera explain --knobs' lists what they have");
  }
  for (const auto &[name, text] : knobs) {
    if (name == everyName)
      continue;
    Result<Knob> knob = Knob::parse(text);
    if (!knob.ok())
      return knob.status();
    auto *op = llvm::find_if(ops, [&](TunableOp op) { return nameOf(op) == name; });
    if (op == ops.end()) {
      std::vector<std::string> names;
      for (TunableOp other : ops)
        names.push_back(nameOf(other).str());
      return invalid(unknownName("operation", name, "operations with knobs", names));
    }
    if (!hasKnob(*op, *knob))
      return invalid("the operation '" + name + "' (" + (*op)->getName().getStringRef().str() +
                     ") does not have the knob '" + text +
                     "'; it has, with other rates and offsets: " + describeKnobs(*op));
    setKnob(*op, *knob);
  }
  return Status::success();
}
