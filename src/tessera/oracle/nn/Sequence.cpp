// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recurrent layers and attention. States are doubles from step to step; only what leaves the layer is
// rounded.
#include "tessera/oracle/nn/Nn.h"

using namespace tessera;
using namespace tessera::oracle;
using namespace tessera::nn;

//===----------------------------------------------------------------------===//
// Recurrent layers
//===----------------------------------------------------------------------===//

static double apply(StringRef name, double x, double alpha, double beta) {
  if (name == "tanh")
    return std::tanh(x);
  if (name == "sigmoid")
    return 1 / (1 + std::exp(-x));
  if (name == "relu")
    return std::max(x, 0.0);
  if (name == "affine")
    return alpha * x + beta;
  if (name == "leakyrelu")
    return x < 0 ? alpha * x : x;
  if (name == "thresholdedrelu")
    return x >= alpha ? x : 0;
  if (name == "scaledtanh")
    return alpha * std::tanh(beta * x);
  if (name == "hardsigmoid")
    return std::clamp(alpha * x + beta, 0.0, 1.0);
  if (name == "elu")
    return x < 0 ? alpha * std::expm1(x) : x;
  if (name == "softsign")
    return x / (1 + std::fabs(x));
  return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); // softplus
}

namespace {
// One direction of a layer over one item of the batch.
class Cell {
public:
  Cell(Call &call, RecurrentOp op, int64_t direction);

  // Moves the states by one step of the sequence.
  void step(ArrayRef<double> input);
  std::vector<double> h, c;

private:
  // Row `row` of the gates for input and state: W x + R h + both biases; without the recurrent part on
  // request.
  double input(int64_t row, ArrayRef<double> x) const;
  double recurrent(int64_t row, ArrayRef<double> h) const;
  double gate(int64_t row, ArrayRef<double> x, ArrayRef<double> h) const {
    return input(row, x) + recurrent(row, h);
  }
  double function(unsigned which, double x) const;
  double peek(int64_t gate, int64_t i, double state) const {
    return peephole.empty() ? 0 : peephole[gate * hidden + i] * state;
  }
  void stepRnn(ArrayRef<double> x);
  void stepGru(ArrayRef<double> x);
  void stepLstm(ArrayRef<double> x);

  RecurrentOp op;
  int64_t hidden, inputs, gates;
  std::vector<double> w, r, biasW, biasR, peephole;
  SmallVector<StringRef> names;
  SmallVector<double> alphas, betas;
  double clip;
};
} // namespace

// The part of a tensor that belongs to a direction.
static std::vector<double> ofDirection(const Elements *tensor, int64_t direction) {
  if (!tensor)
    return {};
  std::vector<double> all = numbers<double>(*tensor);
  auto size = static_cast<int64_t>(all.size()) / tensor->shape[0];
  return {all.begin() + direction * size, all.begin() + (direction + 1) * size};
}

Cell::Cell(Call &call, RecurrentOp op, int64_t direction) : op(op) {
  const Elements &weights = call[op.getW()], &recurrence = call[op.getR()];
  hidden = recurrence.shape[2];
  inputs = weights.shape[2];
  gates = weights.shape[1] / hidden;
  w = ofDirection(&weights, direction);
  r = ofDirection(&recurrence, direction);
  std::vector<double> bias = ofDirection(call.find(op.getBias()), direction);
  bias.resize(2 * gates * hidden);
  biasW.assign(bias.begin(), bias.begin() + gates * hidden);
  biasR.assign(bias.begin() + gates * hidden, bias.end());
  peephole = ofDirection(call.find(op.getPeephole()), direction);
  size_t each = op.getAlphas().size() / weights.shape[0];
  for (size_t f = direction * each; f < (direction + 1) * each; ++f) {
    names.push_back(cast<StringAttr>(op.getActivations()[f]).getValue());
    alphas.push_back(op.getAlphas()[f]);
    betas.push_back(op.getBetas()[f]);
  }
  clip = op.getClip().convertToDouble();
}

double Cell::input(int64_t row, ArrayRef<double> x) const {
  double sum = biasW[row];
  for (int64_t k = 0; k < inputs; ++k)
    sum += w[row * inputs + k] * x[k];
  return sum;
}

double Cell::recurrent(int64_t row, ArrayRef<double> h) const {
  double sum = biasR[row];
  for (int64_t k = 0; k < hidden; ++k)
    sum += r[row * hidden + k] * h[k];
  return sum;
}

double Cell::function(unsigned which, double x) const {
  if (clip > 0)
    x = std::clamp(x, -clip, clip);
  return apply(names[which], x, alphas[which], betas[which]);
}

void Cell::step(ArrayRef<double> x) {
  switch (op.getKind()) {
  case CellKind::rnn:
    return stepRnn(x);
  case CellKind::gru:
    return stepGru(x);
  case CellKind::lstm:
    return stepLstm(x);
  }
}

void Cell::stepRnn(ArrayRef<double> x) {
  std::vector<double> next(hidden);
  for (int64_t i = 0; i < hidden; ++i)
    next[i] = function(0, gate(i, x, h));
  h = std::move(next);
}

// Gates: update z, reset r, candidate h.
void Cell::stepGru(ArrayRef<double> x) {
  std::vector<double> reset(hidden), next(hidden);
  for (int64_t i = 0; i < hidden; ++i)
    reset[i] = function(0, gate(hidden + i, x, h));
  std::vector<double> kept(hidden);
  for (int64_t i = 0; i < hidden; ++i)
    kept[i] = reset[i] * h[i];
  for (int64_t i = 0; i < hidden; ++i) {
    double update = function(0, gate(i, x, h));
    int64_t row = 2 * hidden + i;
    double sum =
        op.getLinearBeforeReset() ? input(row, x) + reset[i] * recurrent(row, h) : gate(row, x, kept);
    next[i] = (1 - update) * function(1, sum) + update * h[i];
  }
  h = std::move(next);
}

// Gates: input i, output o, forget f, cell c. Peepholes: i, o, f.
void Cell::stepLstm(ArrayRef<double> x) {
  std::vector<double> nextH(hidden), nextC(hidden);
  for (int64_t i = 0; i < hidden; ++i) {
    double in = function(0, gate(i, x, h) + peek(0, i, c[i]));
    double forget = op.getInputForget() ? 1 - in : function(0, gate(2 * hidden + i, x, h) + peek(2, i, c[i]));
    nextC[i] = forget * c[i] + in * function(1, gate(3 * hidden + i, x, h));
    double out = function(0, gate(hidden + i, x, h) + peek(1, i, nextC[i]));
    nextH[i] = out * function(2, nextC[i]);
  }
  h = std::move(nextH);
  c = std::move(nextC);
}

static LogicalResult runRecurrent(Call &call, RecurrentOp op) {
  const Elements &x = call[op.getX()], *lengths = call.find(op.getLengths());
  const Elements *initialH = call.find(op.getInitialH()), *initialC = call.find(op.getInitialC());
  int64_t steps = x.shape[0], batch = x.shape[1], inputs = x.shape[2];
  int64_t directions = call[op.getW()].shape[0], hidden = call[op.getR()].shape[2];
  Shape state = {directions, batch, hidden};
  if (call[op.getW()].shape[2] != inputs)
    return call.mismatch(x.shape, call[op.getW()].shape);
  for (const Elements *initial : {initialH, initialC})
    if (initial && initial->shape != state)
      return call.mismatch(initial->shape, state);
  if (lengths && lengths->size() != batch)
    return call.mismatch(x.shape, lengths->shape);
  Elements *y = call.make({steps, directions, batch, hidden}, 0), *lastH = y ? call.make(state, 1) : nullptr;
  Elements *lastC = lastH ? call.make(state, 2) : nullptr;
  if (!lastC)
    return failure();
  std::vector<double> in = numbers<double>(x);
  for (int64_t d = 0; d < directions; ++d) {
    Cell cell(call, op, d);
    bool isReverse = d == 1 || op.getDirection() == "reverse";
    for (int64_t b = 0; b < batch; ++b) {
      int64_t length = lengths ? integerAt(*lengths, b) : steps, place = (d * batch + b) * hidden;
      if (length < 0 || length > steps)
        return call.error("runs over " + Twine(length) + " of " + Twine(steps) + " steps");
      cell.h.assign(hidden, 0);
      cell.c.assign(hidden, 0);
      for (int64_t i = 0; i < hidden; ++i) {
        cell.h[i] = initialH ? numberAt(*initialH, place + i) : 0;
        cell.c[i] = initialC ? numberAt(*initialC, place + i) : 0;
      }
      // Steps beyond the item's length leave the states alone and give zeros.
      for (int64_t s = 0; s < length; ++s) {
        int64_t t = isReverse ? length - 1 - s : s;
        cell.step(ArrayRef(in).slice((t * batch + b) * inputs, inputs));
        for (int64_t i = 0; i < hidden; ++i)
          put(*y, t * directions * batch * hidden + place + i, cell.h[i]);
      }
      for (int64_t i = 0; i < hidden; ++i) {
        put(*lastH, place + i, cell.h[i]);
        put(*lastC, place + i, op.getKind() == CellKind::lstm ? cell.c[i] : 0.0);
      }
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

static LogicalResult runAttention(Call &call, AttentionOp op) {
  const Elements &q = call[op.getQ()], &k = call[op.getK()], &v = call[op.getV()],
                 *bias = call.find(op.getBias());
  int64_t batch = q.shape[0], heads = q.shape[1], rows = q.shape[2], depth = q.shape[3];
  int64_t groups = k.shape[1], keys = k.shape[2], width = v.shape[3];
  Shape expectedK = {batch, groups, keys, depth}, expectedV = {batch, groups, keys, width};
  if (k.shape != expectedK || v.shape != expectedV || groups == 0 || heads % groups)
    return call.mismatch(k.shape, v.shape);
  Shape scores = {batch, heads, rows, keys};
  if (bias) {
    bool fits = bias->shape.size() <= 4;
    for (auto [own, extent] : llvm::zip(llvm::reverse(bias->shape), llvm::reverse(scores)))
      fits &= own == 1 || own == extent;
    if (!fits)
      return call.mismatch(bias->shape, scores);
  }
  Elements *y = call.make({batch, heads, rows, width});
  if (!y)
    return failure();
  double scale = op.getScale().convertToDouble(), cap = op.getSoftCap().convertToDouble();
  std::vector<double> queries = numbers<double>(q), all = numbers<double>(k), values = numbers<double>(v);
  std::vector<double> weights(keys);
  Walk walk(scores, {bias ? broadcastStrides(bias->shape, scores) : Shape(4, 0)});
  int64_t to = 0;
  for (int64_t row = 0; row < batch * heads * rows; ++row) {
    int64_t head = row / rows % heads;
    int64_t shared = (row / rows / heads * groups + head / (heads / groups)) * keys;
    double most = -HUGE_VAL, sum = 0;
    for (int64_t j = 0; j < keys; ++j, walk.next()) {
      double score = 0;
      for (int64_t e = 0; e < depth; ++e)
        score += queries[row * depth + e] * all[(shared + j) * depth + e];
      score *= scale;
      if (cap > 0)
        score = cap * std::tanh(score / cap);
      weights[j] = score + (bias ? numberAt(*bias, walk[0]) : 0);
      most = largest(most, weights[j]);
    }
    bool isEmpty = most == -HUGE_VAL;
    for (double &weight : weights) {
      weight = isEmpty ? 0 : std::exp(weight - most);
      sum += weight;
    }
    for (int64_t e = 0; e < width; ++e) {
      double value = 0;
      for (int64_t j = 0; j < keys; ++j)
        // What a mask excludes does not count even when it is no number.
        if (weights[j] != 0)
          value += weights[j] * values[(shared + j) * width + e];
      put(*y, to++, isEmpty ? 0.0 : value / sum);
    }
  }
  return success();
}

void oracle::addNnSequence(HandlerTable &table) {
  addNnOp<RecurrentOp, runRecurrent>(table);
  addNnOp<AttentionOp, runAttention>(table);
}
