// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lowering of recurrent layers. What depends on the input alone is one matrix product over all steps; a
// loop over time holds the rest: it carries the states and the result, and writes new states over the old
// ones.
#include "tessera/transforms/nn/lower/Loops.h"

using namespace tessera;
using namespace tessera::nn;

namespace {

/// One direction of a layer.
class Direction {
public:
  Direction(OpBuilder &b, RecurrentOp op, unsigned number);
  /// Runs all steps and writes them to `y` ([T, D, B, H]); returns it. `lastH` and `lastC` are set.
  Value run(Value y);
  Value lastH, lastC; ///< [B, H], of the accumulator's type

private:
  /// Part `number` of a tensor whose outermost dimension is the direction.
  Value ownPart(Value tensor);
  /// A state at the start: the operand's part, or zeros.
  Value initial(Value operand);
  /// Columns `from`, `from` + `count`, … of a matrix.
  Value columns(OpBuilder &b, Value matrix, int64_t from, int64_t count);
  /// Applies activation `which` of this direction after the clip.
  Term activate(OpBuilder &b, Term x, unsigned which);
  /// sums + h * weights
  Value addProduct(OpBuilder &b, Value sums, Value h, Value weights);
  /// [B, width] without content.
  Value scratch(OpBuilder &b, int64_t width) { return emptyOf(b, loc, {batch, b.getIndexAttr(width)}, real); }

  SmallVector<Value> stepRnn(OpBuilder &b, Value x, Value active, ArrayRef<Value> carried);
  SmallVector<Value> stepGru(OpBuilder &b, Value x, Value active, ArrayRef<Value> carried);
  SmallVector<Value> stepLstm(OpBuilder &b, Value x, Value active, ArrayRef<Value> carried);
  /// Loops over [B, H]: reads of gates, vectors of H numbers and states; a result for each state, in its
  /// place.
  SmallVector<Value> cell(OpBuilder &b, Value active, ArrayRef<Value> gates, ArrayRef<Value> vectors,
                          ArrayRef<Value> states,
                          function_ref<SmallVector<Term>(OpBuilder &b, ArrayRef<Term> args)> body);

  OpBuilder &outer;
  RecurrentOp op;
  unsigned number, gates;
  Location loc;
  int64_t hidden;
  Type element, real;
  OpFoldResult steps, batch;
  Value recurrence;     ///< [H, gates * H]
  Value recurrenceBias; ///< [H], of the hidden gate of a gru that is linear before the reset
  Value peephole;       ///< [3 * H]
};

} // namespace

Direction::Direction(OpBuilder &b, RecurrentOp op, unsigned number)
    : outer(b), op(op), number(number), gates(op.getKind() == CellKind::rnn   ? 1
                                              : op.getKind() == CellKind::gru ? 3
                                                                              : 4),
      loc(op.getLoc()) {
  hidden = typeOf(op.getR()).getDimSize(2);
  element = typeOf(op.getX()).getElementType();
  real = accumulatorOf(element);
  steps = tensor::getMixedSize(b, loc, op.getX(), 0);
  batch = tensor::getMixedSize(b, loc, op.getX(), 1);
}

Value Direction::ownPart(Value tensor) {
  RankedTensorType type = typeOf(tensor);
  SmallVector<OpFoldResult> sizes = extentsOf(outer, loc, tensor),
                            offsets(type.getRank(), outer.getIndexAttr(0)),
                            ones(type.getRank(), outer.getIndexAttr(1));
  sizes[0] = outer.getIndexAttr(1);
  offsets[0] = outer.getIndexAttr(number);
  auto part = RankedTensorType::get(type.getShape().drop_front(), type.getElementType());
  return tensor::ExtractSliceOp::create(outer, loc, part, tensor, offsets, sizes, ones);
}

Value Direction::initial(Value operand) {
  SmallVector<OpFoldResult> extents = {batch, outer.getIndexAttr(hidden)};
  if (!operand)
    return filledWith(outer, loc, extents, constantOf(outer, loc, real, 0));
  // A copy: the loop writes over it.
  return mapElements(
      outer, loc, extents, real, ownPart(operand), outer.getMultiDimIdentityMap(2),
      [&](OpBuilder &b, Location loc, ValueRange args) { return floatTo(b, loc, args[0], real); });
}

Value Direction::columns(OpBuilder &b, Value matrix, int64_t from, int64_t count) {
  SmallVector<OpFoldResult> sizes = extentsOf(b, loc, matrix), ones(2, b.getIndexAttr(1)),
                            offsets = {b.getIndexAttr(0), b.getIndexAttr(from)};
  sizes[1] = b.getIndexAttr(count);
  return tensor::ExtractSliceOp::create(b, loc, matrix, offsets, sizes, ones);
}

Value Direction::addProduct(OpBuilder &b, Value sums, Value h, Value weights) {
  // b k n: the innermost loop runs along a row of the weights.
  LoopNest nest(b, loc, 3);
  nest.reduce(1);
  nest.read(h, nest.dims({0, 1}));
  nest.read(weights, nest.dims({1, 2}));
  nest.write(sums, nest.dims({0, 2}));
  return nest.build([&](OpBuilder &b, Location loc, ValueRange args) {
    return SmallVector<Value>{Term(b, loc, args[2]) + Term(b, loc, args[0]) * floatTo(b, loc, args[1], real)};
  })[0];
}

Term Direction::activate(OpBuilder &b, Term x, unsigned which) {
  unsigned perDirection = op.getKind() == CellKind::rnn ? 1 : op.getKind() == CellKind::gru ? 2 : 3;
  unsigned at = number * perDirection + which;
  StringRef name = cast<StringAttr>(op.getActivations()[at]).getValue();
  double alpha = at < op.getAlphas().size() ? op.getAlphas()[at] : 0;
  double beta = at < op.getBetas().size() ? op.getBetas()[at] : 0;
  double clip = op.getClip().convertToDouble();
  if (clip > 0)
    x = x.max(-clip).min(clip);
  auto activation = [&](ActivationKind kind) { return x.with(emitActivation(b, loc, kind, x, alpha, beta)); };
  if (name == "affine")
    return x * alpha + beta;
  if (name == "scaledtanh")
    return (x * beta).apply(UnaryKind::tanh) * alpha;
  if (name == "leakyrelu")
    return activation(ActivationKind::leaky_relu);
  if (name == "thresholdedrelu")
    return activation(ActivationKind::thresholded_relu);
  if (name == "hardsigmoid")
    return activation(ActivationKind::hard_sigmoid);
  if (name == "elu")
    return activation(ActivationKind::elu);
  if (name == "relu")
    return x.apply(UnaryKind::relu);
  if (name == "sigmoid")
    return x.apply(UnaryKind::sigmoid);
  if (name == "softsign")
    return x.apply(UnaryKind::softsign);
  if (name == "softplus")
    return x.apply(UnaryKind::softplus);
  return x.apply(UnaryKind::tanh);
}

SmallVector<Value> Direction::cell(OpBuilder &b, Value active, ArrayRef<Value> gateValues,
                                   ArrayRef<Value> vectors, ArrayRef<Value> states,
                                   function_ref<SmallVector<Term>(OpBuilder &b, ArrayRef<Term> args)> body) {
  LoopNest nest(b, loc, 2);
  for (Value v : gateValues)
    nest.read(v, nest.dims({0, 1}));
  for (Value v : vectors)
    nest.read(v, nest.dim(1));
  for (Value v : states)
    nest.read(v, nest.dims({0, 1}));
  if (active)
    nest.read(op.getLengths(), nest.dim(0));
  for (unsigned i = 0; i < states.size(); ++i)
    nest.write(scratch(b, hidden), nest.dims({0, 1}));
  unsigned terms = gateValues.size() + vectors.size() + states.size();
  SmallVector<Value> made = nest.build([&](OpBuilder &b, Location loc, ValueRange args) {
    SmallVector<Term> converted;
    for (Value arg : args.take_front(terms))
      converted.push_back(Term(b, loc, floatTo(b, loc, arg, real)));
    SmallVector<Term> made = body(b, converted);
    SmallVector<Value> results;
    // After the end of its sequence an item keeps its state.
    std::optional<Term> running;
    if (active) {
      Term length = Term(b, loc, args[terms]).toIndex();
      running = Term(b, loc, active).less(length);
    }
    for (unsigned i = 0; i < states.size(); ++i) {
      Value before = args[terms - states.size() + i];
      results.push_back(running ? Value(running->select(made[i], before)) : Value(made[i]));
    }
    return results;
  });
  // A copy, not a write by the loops above: what a loop carries must stay in its place.
  for (auto [result, state] : llvm::zip(made, states))
    result = linalg::CopyOp::create(b, loc, result, state).getResult(0);
  return made;
}

SmallVector<Value> Direction::stepRnn(OpBuilder &b, Value x, Value active, ArrayRef<Value> carried) {
  Value sums = addProduct(b, x, carried[0], recurrence);
  return cell(b, active, sums, {}, carried,
              [&](OpBuilder &b, ArrayRef<Term> args) { return SmallVector<Term>{activate(b, args[0], 0)}; });
}

// The gates z, r and h.
SmallVector<Value> Direction::stepGru(OpBuilder &b, Value x, Value active, ArrayRef<Value> carried) {
  Value h = carried[0];
  Value both = addProduct(b, columns(b, x, 0, 2 * hidden), h, columns(b, recurrence, 0, 2 * hidden));
  Value z = columns(b, both, 0, hidden), r = columns(b, both, hidden, hidden);
  Value inner = columns(b, x, 2 * hidden, hidden), weights = columns(b, recurrence, 2 * hidden, hidden);
  SmallVector<OpFoldResult> extents = {batch, b.getIndexAttr(hidden)};
  AffineMap identity = b.getMultiDimIdentityMap(2);
  Value sums;
  if (op.getLinearBeforeReset()) {
    // r * (h * weights + bias) + x
    Value product = addProduct(b, filledWith(b, loc, extents, constantOf(b, loc, real, 0)), h, weights);
    SmallVector<Value> operands = {r, inner, product};
    SmallVector<AffineMap> maps(3, identity);
    if (recurrenceBias) {
      operands.push_back(recurrenceBias);
      maps.push_back(AffineMap::get(2, 0, b.getAffineDimExpr(1)));
    }
    sums = mapElements(b, loc, extents, real, operands, maps,
                       [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                         Term product(b, loc, args[2]);
                         if (recurrenceBias)
                           product = product + floatTo(b, loc, args[3], real);
                         return activate(b, Term(b, loc, args[0]), 0) * product + args[1];
                       });
  } else {
    Value reset = mapElements(b, loc, extents, real, {r, h}, {identity, identity},
                              [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                                return activate(b, Term(b, loc, args[0]), 0) * args[1];
                              });
    sums = addProduct(b, inner, reset, weights);
  }
  return cell(b, active, {z, sums}, {}, carried, [&](OpBuilder &b, ArrayRef<Term> args) {
    Term update = activate(b, args[0], 0), fresh = activate(b, args[1], 1);
    return SmallVector<Term>{(update.number(1) - update) * fresh + update * args[2]};
  });
}

// The gates i, o, f and c; carried are h and the cell's content.
SmallVector<Value> Direction::stepLstm(OpBuilder &b, Value x, Value active, ArrayRef<Value> carried) {
  Value sums = addProduct(b, x, carried[0], recurrence);
  SmallVector<Value> parts, vectors;
  for (unsigned gate = 0; gate < 4; ++gate)
    parts.push_back(columns(b, sums, gate * hidden, hidden));
  if (peephole)
    for (unsigned gate = 0; gate < 3; ++gate)
      vectors.push_back(tensor::ExtractSliceOp::create(
          b, loc, peephole, SmallVector<OpFoldResult>{b.getIndexAttr(gate * hidden)},
          SmallVector<OpFoldResult>{b.getIndexAttr(hidden)}, SmallVector<OpFoldResult>{b.getIndexAttr(1)}));
  return cell(b, active, parts, vectors, carried, [&](OpBuilder &b, ArrayRef<Term> args) {
    Term i = args[0], o = args[1], f = args[2], c = args[3], before = args.back();
    if (peephole) {
      i = i + args[4] * before;
      f = f + args[6] * before;
    }
    i = activate(b, i, 0);
    f = op.getInputForget() ? i.number(1) - i : activate(b, f, 0);
    Term after = f * before + i * activate(b, c, 1);
    if (peephole)
      o = o + args[5] * after;
    return SmallVector<Term>{activate(b, o, 0) * activate(b, after, 2), after};
  });
}

Value Direction::run(Value y) {
  OpBuilder &b = outer;
  OpFoldResult h = b.getIndexAttr(hidden), all = b.getIndexAttr(int64_t(gates) * hidden);
  // x * w for all steps: [T * B, gates * H], with both biases.
  Value flat = collapse(b, loc, op.getX(), {{0, 1}, {2}});
  Value inputs = product(b, loc, flat, ownPart(op.getW()), false, true);
  bool linear = op.getKind() == CellKind::gru && op.getLinearBeforeReset();
  if (op.getBias()) {
    Value bias = ownPart(op.getBias());
    int64_t width = int64_t(gates) * hidden;
    auto half = [&](int64_t from, int64_t count) -> Value {
      return tensor::ExtractSliceOp::create(b, loc, bias, SmallVector<OpFoldResult>{b.getIndexAttr(from)},
                                            SmallVector<OpFoldResult>{b.getIndexAttr(count)},
                                            SmallVector<OpFoldResult>{b.getIndexAttr(1)});
    };
    if (linear)
      recurrenceBias = half(width + 2 * hidden, hidden);
    AffineMap column = AffineMap::get(2, 0, b.getAffineDimExpr(1));
    inputs =
        mapElements(b, loc, extentsOf(b, loc, inputs), real, {inputs, half(0, width), half(width, width)},
                    {b.getMultiDimIdentityMap(2), column, column},
                    [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                      Term x = Term(b, loc, args[0]) + floatTo(b, loc, args[1], real);
                      Term both = x + floatTo(b, loc, args[2], real);
                      if (!linear)
                        return both;
                      Term id(b, loc, linalg::IndexOp::create(b, loc, 1));
                      return id.less(double(2 * hidden)).select(both, x);
                    });
  }
  recurrence = transposed(b, loc, ownPart(op.getR()), {1, 0});
  if (op.getPeephole())
    peephole = ownPart(op.getPeephole());
  SmallVector<Value> carried = {initial(op.getInitialH())};
  if (op.getKind() == CellKind::lstm)
    carried.push_back(initial(op.getInitialC()));
  carried.push_back(y);
  bool reverse = op.getDirection() == "reverse" || number == 1;
  Value count = asValue(b, loc, steps);
  auto loop = scf::ForOp::create(
      b, loc, indexOf(b, loc, 0), count, indexOf(b, loc, 1), carried,
      [&](OpBuilder &b, Location loc, Value step, ValueRange args) {
        Value time = reverse ? Value(Term(b, loc, count) - 1.0 - step) : step;
        OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
        // Rows time * B, time * B + 1, …
        Value first = Term(b, loc, time) * asValue(b, loc, batch);
        Value x = tensor::ExtractSliceOp::create(b, loc, inputs, SmallVector<OpFoldResult>{first, zero},
                                                 SmallVector<OpFoldResult>{batch, all},
                                                 SmallVector<OpFoldResult>(2, one));
        Value active = op.getLengths() ? time : Value();
        SmallVector<Value> states(args.drop_back());
        SmallVector<Value> next = op.getKind() == CellKind::rnn   ? stepRnn(b, x, active, states)
                                  : op.getKind() == CellKind::gru ? stepGru(b, x, active, states)
                                                                  : stepLstm(b, x, active, states);
        // The step's part of y, zeros after the end of an item's sequence.
        SmallVector<OpFoldResult> offsets = {time, b.getIndexAttr(number), zero, zero},
                                  sizes = {one, one, batch, h}, ones(4, one);
        Type part = RankedTensorType::get({typeOf(op.getX()).getDimSize(1), hidden}, element);
        Value place = tensor::ExtractSliceOp::create(b, loc, cast<RankedTensorType>(part), args.back(),
                                                     offsets, sizes, ones);
        LoopNest nest(b, loc, 2);
        nest.read(next[0], nest.dims({0, 1}));
        if (active)
          nest.read(op.getLengths(), nest.dim(0));
        nest.write(place, nest.dims({0, 1}));
        place = nest.build([&](OpBuilder &b, Location loc, ValueRange args) {
          Term h(b, loc, args[0]);
          if (active)
            h = Term(b, loc, active)
                    .less(emitLength(b, loc, args[1], count,
                                     "the sequences of " + stringifyCellKind(op.getKind())))
                    .select(h, h.number(0));
          return SmallVector<Value>{floatTo(b, loc, h, element)};
        })[0];
        next.push_back(tensor::InsertSliceOp::create(b, loc, place, args.back(), offsets, sizes, ones));
        scf::YieldOp::create(b, loc, next);
      });
  lastH = loop.getResult(0);
  if (op.getKind() == CellKind::lstm)
    lastC = loop.getResult(1);
  return loop.getResults().back();
}

static SmallVector<Value> lowerRecurrent(OpBuilder &b, RecurrentOp op) {
  Location loc = op.getLoc();
  RankedTensorType type = typeOf(op.getY());
  Type element = type.getElementType();
  OpFoldResult steps = tensor::getMixedSize(b, loc, op.getX(), 0),
               batch = tensor::getMixedSize(b, loc, op.getX(), 1), one = b.getIndexAttr(1),
               zero = b.getIndexAttr(0);
  int64_t directions = typeOf(op.getW()).getDimSize(0), hidden = typeOf(op.getR()).getDimSize(2);
  OpFoldResult d = b.getIndexAttr(directions), h = b.getIndexAttr(hidden);
  Value y = emptyOf(b, loc, {steps, d, batch, h}, element);
  Value last = emptyOf(b, loc, {d, batch, h}, element);
  bool lstm = op.getKind() == CellKind::lstm;
  Value content = lstm ? emptyOf(b, loc, {d, batch, h}, element)
                       : filledWith(b, loc, {d, batch, h}, constantOf(b, loc, element, 0));
  for (int64_t i = 0; i < directions; ++i) {
    Direction direction(b, op, i);
    y = direction.run(y);
    auto put = [&](Value state, Value all) -> Value {
      return tensor::InsertSliceOp::create(b, loc, tensorTo(b, loc, state, element), all,
                                           SmallVector<OpFoldResult>{b.getIndexAttr(i), zero, zero},
                                           SmallVector<OpFoldResult>{one, batch, h},
                                           SmallVector<OpFoldResult>(3, one));
    };
    last = put(direction.lastH, last);
    if (lstm)
      content = put(direction.lastC, content);
  }
  return {y, last, content};
}

void nn::populateRecurrent(RewritePatternSet &patterns) { addBuilder<RecurrentOp>(patterns, lowerRecurrent); }
