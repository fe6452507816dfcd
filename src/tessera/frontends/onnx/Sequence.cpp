// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recurrent layers.
#include "tessera/frontends/onnx/Importer.h"

using namespace tessera;
using namespace tessera::onnximport;

namespace {
struct Cell {
  nn::CellKind kind;
  unsigned functions; ///< activations for each direction
  std::vector<std::string> activations;
};
} // namespace

static double defaultAlpha(StringRef name) {
  return llvm::StringSwitch<double>(name)
      .Case("leakyrelu", 0.01f)
      .Cases({"elu", "thresholdedrelu"}, 1)
      .Case("hardsigmoid", 0.2f)
      .Default(0);
}

// The tensor with the extents that are certain; that they are what is given is asked at launch.
static Value withExtents(NodeContext &c, Value v, ArrayRef<int64_t> known) {
  auto type = cast<RankedTensorType>(v.getType());
  if (type.getRank() != int64_t(known.size()))
    return v; // refused by the operation
  SmallVector<int64_t> shape(type.getShape());
  for (auto [extent, certain] : llvm::zip(shape, known))
    extent = ShapedType::isDynamic(extent) ? certain : extent;
  auto to = RankedTensorType::get(shape, type.getElementType());
  return to == type ? v : tensor::CastOp::create(c.b, c.loc, to, v).getResult();
}

static void recurrent(NodeContext &c, const Cell &cell) {
  DataType type = c.type(0);
  std::string direction = c.attrString("direction", "forward");
  unsigned directions = direction == "bidirectional" ? 2 : 1;
  bool batchFirst = c.attrInt("layout", 0) == 1;
  std::vector<std::string> names = c.attrStrings("activations");
  if (names.empty())
    for (unsigned d = 0; d < directions; ++d)
      names.insert(names.end(), cell.activations.begin(), cell.activations.end());
  if (names.size() != directions * cell.functions)
    return void(c.fail("expected " + Twine(directions * cell.functions) + " activations, but got " +
                       Twine(names.size())));
  // The parameters are listed for those functions that have any, in order.
  SmallVector<double> alphas, betas, givenA = c.attrFloats("activation_alpha"),
                                     givenB = c.attrFloats("activation_beta");
  SmallVector<Attribute> words;
  size_t nextA = 0, nextB = 0;
  for (const std::string &name : names) {
    std::string lower = StringRef(name).lower();
    static const char *const known[] = {
        "relu",       "tanh",        "sigmoid", "affine",   "leakyrelu", "thresholdedrelu",
        "scaledtanh", "hardsigmoid", "elu",     "softsign", "softplus"};
    if (!llvm::is_contained(known, StringRef(lower)))
      return void(c.fail("activation '" + ::tessera::onnx::printable(name) + "' is not supported"));
    bool hasA = lower == "affine" || lower == "leakyrelu" || lower == "thresholdedrelu" ||
                lower == "scaledtanh" || lower == "hardsigmoid" || lower == "elu";
    bool hasB = lower == "affine" || lower == "scaledtanh" || lower == "hardsigmoid";
    alphas.push_back(hasA && nextA < givenA.size() ? givenA[nextA++] : defaultAlpha(lower));
    betas.push_back(hasB && nextB < givenB.size() ? givenB[nextB++] : lower == "hardsigmoid" ? 0.5 : 0);
    words.push_back(c.b.getStringAttr(lower));
  }
  auto perm = [&](Value v, ArrayRef<int64_t> p) { return v && batchFirst ? c.transpose(v, p) : v; };
  Value x = perm(c.v(0), {1, 0, 2}), w = c.v(1), r = c.v(2), bias = c.optional(3), lengths = c.optional(4);
  Value h = perm(c.optional(5), {1, 0, 2}), cellState, peephole;
  if (cell.kind == nn::CellKind::lstm) {
    cellState = perm(c.optional(6), {1, 0, 2});
    peephole = c.optional(7);
  }
  if (!x || !w || !r || c.bad)
    return;
  // Weights may be inputs of any shape; how many units there are must be known.
  if (c.rank(x) == 3 && c.rank(r) == 3) {
    int64_t units = c.dim(r, 2), gates = cell.kind == nn::CellKind::lstm  ? 4
                                         : cell.kind == nn::CellKind::gru ? 3
                                                                          : 1;
    if (ShapedType::isDynamic(units))
      units = c.attrInt("hidden_size", 0);
    if (units < 1 || units > (1 << 24))
      return void(c.fail("the number of units is not known; give hidden_size, or weights of static shape"));
    w = withExtents(c, w, {directions, gates * units, c.dim(x, 2)});
    r = withExtents(c, r, {directions, gates * units, units});
  }
  Operation *op =
      c.make<nn::RecurrentOp>(cell.kind, x, w, r, bias, lengths, h, cellState, peephole, StringRef(direction),
                              c.b.getArrayAttr(words), ArrayRef<double>(alphas), ArrayRef<double>(betas),
                              llvm::APFloat(c.attrFloat("clip", 0)), c.attrInt("linear_before_reset", 0) != 0,
                              c.attrInt("input_forget", 0) != 0);
  if (!op)
    return;
  c.set(0, perm(op->getResult(0), {2, 0, 1, 3}), type);
  c.set(1, perm(op->getResult(1), {1, 0, 2}), type);
  if (cell.kind == nn::CellKind::lstm)
    c.set(2, perm(op->getResult(2), {1, 0, 2}), type);
}

static void rnn(NodeContext &c) { recurrent(c, {nn::CellKind::rnn, 1, {"tanh"}}); }
static void gru(NodeContext &c) { recurrent(c, {nn::CellKind::gru, 2, {"sigmoid", "tanh"}}); }
static void lstm(NodeContext &c) { recurrent(c, {nn::CellKind::lstm, 3, {"sigmoid", "tanh", "tanh"}}); }

ArrayRef<OperatorEntry> onnximport::sequenceOperators() {
  static const OperatorEntry entries[] = {
      {"RNN", 1, lastOpset, rnn},
      {"GRU", 3, lastOpset, gru},
      {"LSTM", 1, lastOpset, lstm},
  };
  return entries;
}
