// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ways to run a layer on blocks (Networks.h): its algorithms, without the zeros among its weights, and
// tile sizes for each.
#include "tessera/targets/cpu/Networks.h"
#include "tessera/targets/cpu/layout/Algorithm.h"
#include "tessera/targets/cpu/layout/Sparse.h"

using namespace tessera;
using namespace tessera::cpu;

// Tile sizes beside the chosen ones: a candidate that is measured costs a tenth of a second.
static constexpr size_t mostTiles = 2;

namespace {

/// What a layer is made into.
struct Form {
  std::optional<Algorithm> algorithm; ///< none: as it is, a layer that has only one
  bool sparse = false;                ///< without the zeros among its weights
};

class Layer {
public:
  Layer(Operation *layer, Operation *prepared, const Figures &figures, bool strict)
      : layer(layer), prepared(prepared), options(layoutOptions(figures, strict)),
        machine(packedMachine(figures)) {}

  SmallVector<Candidate> candidatesOf(const Form &form) const;
  SmallVector<Form> forms(bool strict) const;

private:
  static Operation *make(Operation *layer, const LayoutOptions &options, Operation *prepared,
                         const Form &form);

  Operation *layer, *prepared;
  LayoutOptions options;
  packed::Machine machine;
};

} // namespace

static std::string textOf(const Form &form, const packed::Tiles &t) {
  std::string name = form.sparse      ? sparseName.str()
                     : form.algorithm ? nameOf(*form.algorithm).str()
                                      : "product";
  return name + packed::spellNumbers(t);
}

// Gives a prepared layer another form. The new one is returned.
Operation *Layer::make(Operation *layer, const LayoutOptions &options, Operation *prepared,
                       const Form &form) {
  auto conv = dyn_cast<ConvOp>(layer);
  if (!form.sparse && (!conv || !form.algorithm || *form.algorithm == algorithmOf(conv, options)))
    return prepared;
  OpBuilder b(prepared);
  auto emit = [&](Algorithm algorithm, bool contents) {
    Value bias = prepared->getNumOperands() > 2 ? prepared->getOperand(2) : Value();
    return emitConv(b, conv, prepared->getOperand(0), bias,
                    cast<RankedTensorType>(prepared->getResult(0).getType()).getShape().back(), algorithm,
                    contents);
  };
  auto erase = [](Operation *op) {
    Operation *weights = op->getOperand(1).getDefiningOp();
    op->erase();
    if (weights && weights->use_empty())
      weights->erase();
  };
  Value y;
  if (form.sparse && isa<PackedWinogradOp>(prepared)) {
    Operation *direct = emit(Algorithm::Direct, /*contents=*/true).getDefiningOp();
    y = emitSparse(b, direct);
    erase(direct);
  } else {
    y = form.sparse ? emitSparse(b, prepared) : emit(*form.algorithm, /*contents=*/false);
  }
  prepared->getResult(0).replaceAllUsesWith(y);
  erase(prepared);
  return y.getDefiningOp();
}

// The same operation in a copy of its module.
static Operation *findIn(ModuleOp copy, Operation *op) {
  SmallVector<Operation *> all, copies;
  op->getParentOfType<ModuleOp>().walk([&](Operation *each) { all.push_back(each); });
  copy.walk([&](Operation *each) { copies.push_back(each); });
  return copies[llvm::find(all, op) - all.begin()];
}

SmallVector<Candidate> Layer::candidatesOf(const Form &form) const {
  OwningOpRef<ModuleOp> trial = prepared->getParentOfType<ModuleOp>().clone();
  Operation *made = make(layer, options, findIn(*trial, prepared), form);
  SmallVector<Candidate> candidates;
  for (const packed::Tiles &tiles : packed::tileCandidates(made, machine)) {
    if (candidates.size() > mostTiles)
      break;
    auto apply = [layer = layer, options = options, form, tiles](Operation *op) {
      packed::setTiles(make(layer, options, op, form), tiles);
    };
    auto choose = [form, tiles](Operation *op) {
      if (form.sparse || form.algorithm)
        cpu::Notes::algorithm.set(op, form.sparse ? StringRef(sparseName) : nameOf(*form.algorithm));
      packed::setTiles(op, tiles);
    };
    candidates.push_back({textOf(form, tiles), apply, choose});
  }
  return candidates;
}

// The algorithms that are worth measuring, the default first. Where many tiles share the transformed weights,
// nothing comes near the larger one.
static SmallVector<Algorithm> algorithmsWorth(ConvOp conv, const LayoutOptions &options) {
  SmallVector<Algorithm> algorithms = algorithmsFor(conv, options);
  ArrayRef<int64_t> y = cast<RankedTensorType>(conv.getY().getType()).getShape();
  if (algorithms.front() == Algorithm::Winograd4 && y[2] * y[3] >= 256 &&
      cast<RankedTensorType>(conv.getW().getType()).getDimSize(1) >= 64)
    algorithms.truncate(1);
  return algorithms;
}

SmallVector<Form> Layer::forms(bool strict) const {
  SmallVector<Form> forms;
  // Narrow elements have a form of their own.
  const bool narrow =
      getElementTypeOrSelf(prepared->getOperand(0)) != getElementTypeOrSelf(prepared->getResult(0));
  if (auto conv = dyn_cast<ConvOp>(layer); conv && !narrow)
    for (Algorithm algorithm : algorithmsWorth(conv, options))
      forms.push_back({algorithm});
  else
    forms.push_back({});
  // Strict is strict about what a zero makes of infinity, too.
  if (!strict && cpu::Notes::filled.isOn(prepared))
    forms.push_back({{}, /*sparse=*/true});
  return forms;
}

SmallVector<SmallVector<Candidate>> cpu::candidatesFor(Operation *layer, Operation *prepared,
                                                       const Figures &figures, bool strict) {
  // What is best for open planes depends on what they will be.
  if (!isPacked(prepared) || packed::hasOpenPlanes(prepared))
    return {};
  // A layer along a line has only the form that it was given.
  if (auto conv = dyn_cast<ConvOp>(layer);
      conv && cast<RankedTensorType>(conv.getX().getType()).getRank() != 4)
    return {};
  Layer way(layer, prepared, figures, strict);
  SmallVector<SmallVector<Candidate>> all;
  for (const Form &form : way.forms(strict))
    all.push_back(way.candidatesOf(form));
  return all;
}
