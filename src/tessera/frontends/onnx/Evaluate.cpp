// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Evaluate.h.
#include "tessera/frontends/onnx/Evaluate.h"

#include "llvm/ADT/StringSwitch.h"

using namespace tessera;
using namespace tessera::onnximport;

bool Evaluator::run() {
  for (unsigned i = 0; i < c.numInputs(); ++i) {
    KnownPtr k = c.has(i) ? c.tryKnown(i) : nullptr;
    if (c.has(i) && (!k || (isFloat(k->type) && k->count() > maxFloats)))
      return false;
    in.push_back(k);
  }
  if (in.empty() || !in[0])
    return false;
  StringRef op = c.node.opType;
  if (elementwise(op) || compare(op) || unary(op))
    return true;
  using Method = bool (Evaluator::*)();
  Method method = llvm::StringSwitch<Method>(op)
                      .Case("Cast", &Evaluator::cast)
                      .Case("CastLike", &Evaluator::castLike)
                      .Case("Where", &Evaluator::where)
                      .Case("Concat", &Evaluator::concat)
                      .Case("Gather", &Evaluator::gather)
                      .Case("Slice", &Evaluator::slice)
                      .Cases({"Squeeze", "Unsqueeze", "Reshape", "Flatten"}, &Evaluator::reshape)
                      .Case("Transpose", &Evaluator::transpose)
                      .Case("Expand", &Evaluator::expand)
                      .Case("ConstantOfShape", &Evaluator::constantOfShape)
                      .Case("Range", &Evaluator::range)
                      .Case("Tile", &Evaluator::tile)
                      .Case("Split", &Evaluator::split)
                      .Cases({"ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin"}, &Evaluator::reduce)
                      .Default(nullptr);
  return method && (this->*method)();
}

bool Evaluator::give(Known k) {
  c.set(0, std::move(k));
  return true;
}

bool Evaluator::allStatic() const {
  return llvm::all_of(in, [](const KnownPtr &k) { return !k || k->isStatic(); });
}

std::optional<Ints> Evaluator::list(unsigned i) {
  if (i >= in.size() || !in[i] || !in[i]->isStatic() || !isInteger(in[i]->type))
    return std::nullopt;
  Ints values;
  for (const Scalar &s : in[i]->elements)
    values.push_back(s.i);
  return values;
}

bool onnximport::evaluate(NodeContext &c) { return Evaluator(c).run(); }
