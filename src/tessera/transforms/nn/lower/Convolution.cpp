// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lowering of convolutions: sums over a padded copy of the input. The innermost loop runs along the
// innermost spatial dimension of the result, which the code generator vectorises.
#include "tessera/transforms/nn/lower/Loops.h"

using namespace tessera;
using namespace tessera::nn;

namespace {
/// What all convolutions come to once pads and transposition are gone.
struct Windows {
  ArrayRef<int64_t> strides, dilations;
  SmallVector<int64_t> starts; ///< added to each place; empty: zero
  int64_t groups = 1;
};
} // namespace

// Dimension d as two neighbours, the outer one of extent `outer`.
static Value splitDim(OpBuilder &b, Location loc, Value x, unsigned d, int64_t outer) {
  SmallVector<OpFoldResult> extents = extentsOf(b, loc, x);
  int64_t inner = staticExtent(x, d) / outer;
  extents[d] = b.getIndexAttr(inner);
  extents.insert(extents.begin() + d, b.getIndexAttr(outer));
  SmallVector<SmallVector<int64_t, 2>> groups;
  for (int64_t i = 0; i < typeOf(x).getRank(); ++i) {
    if (i == d)
      groups.push_back({i, i + 1});
    else
      groups.push_back({i < d ? i : i + 1});
  }
  return expand(b, loc, x, groups, extents);
}

static Value mergeDim(OpBuilder &b, Location loc, Value x, unsigned d) {
  SmallVector<SmallVector<int64_t, 2>> groups;
  for (int64_t i = 0; i < typeOf(x).getRank(); ++i) {
    if (i == d + 1)
      groups.back().push_back(i);
    else
      groups.push_back({i});
  }
  return collapse(b, loc, x, groups);
}

// y[n, f, o…] = sum x[n, c, o * stride + k * dilation …] * w[f, c, k…], or w[c, f, k…] when `channelsFirst`.
// `places` holds the extents o…. The result is of the accumulator's type.
static Value convolve(OpBuilder &b, Location loc, Value x, Value w, ArrayRef<OpFoldResult> places,
                      const Windows &how, bool channelsFirst) {
  unsigned spatial = places.size();
  int64_t filters = staticExtent(w, channelsFirst ? 1 : 0) * (channelsFirst ? how.groups : 1),
          filtersInGroup = filters / how.groups;
  Type sum = accumulatorOf(typeOf(x).getElementType());
  // With one filter for a group the group is the filter, and channel f * channels + c is affine.
  bool split = how.groups > 1 && filtersInGroup > 1;
  bool single = how.groups > 1 && !split;
  // What one group reads: of weights of the transposed kind each group has its share.
  int64_t channels = channelsFirst ? staticExtent(w, 0) / how.groups : staticExtent(w, 1);
  if (split)
    x = splitDim(b, loc, withExtent(b, loc, x, 1, channels * how.groups), 1, how.groups);
  // In weights of the transposed kind the group is part of the channels.
  if (split || (single && channelsFirst))
    w = splitDim(b, loc, w, 0, how.groups);
  // Loops: n (g) f o… c k… o.
  unsigned next = 0, n = next++, g = split ? next++ : 0, f = next++;
  SmallVector<unsigned> o, k;
  for (unsigned i = 0; i + 1 < spatial; ++i)
    o.push_back(next++);
  unsigned c = next++;
  for (unsigned i = 0; i < spatial; ++i)
    k.push_back(next++);
  o.push_back(next++);
  LoopNest nest(b, loc, next);
  nest.reduce(c);
  SmallVector<AffineExpr> xAt = {nest.dim(n)}, wAt, yAt = {nest.dim(n)};
  SmallVector<OpFoldResult> extents = {tensor::getMixedSize(b, loc, x, 0)};
  if (split) {
    xAt.push_back(nest.dim(g));
    wAt.push_back(nest.dim(g));
    yAt.push_back(nest.dim(g));
    extents.push_back(b.getIndexAttr(how.groups));
  }
  xAt.push_back(single ? nest.dim(f) * channels + nest.dim(c) : nest.dim(c));
  yAt.push_back(nest.dim(f));
  extents.push_back(b.getIndexAttr(split ? filtersInGroup : filters));
  if (single && channelsFirst)
    wAt.append({nest.dim(f), nest.dim(c), nest.at(0)});
  else if (channelsFirst)
    wAt.append({nest.dim(c), nest.dim(f)});
  else
    wAt.append({nest.dim(f), nest.dim(c)});
  for (unsigned i = 0; i < spatial; ++i) {
    nest.reduce(k[i]);
    int64_t start = how.starts.empty() ? 0 : how.starts[i];
    xAt.push_back(nest.dim(o[i]) * how.strides[i] + nest.dim(k[i]) * how.dilations[i] + start);
    wAt.push_back(nest.dim(k[i]));
    yAt.push_back(nest.dim(o[i]));
    extents.push_back(places[i]);
  }
  nest.read(x, xAt);
  nest.read(w, wAt);
  nest.write(filledWith(b, loc, extents, constantOf(b, loc, sum, 0)), yAt);
  Value y = nest.build([&](OpBuilder &b, Location loc, ValueRange args) {
    auto wide = [&](Value v) { return Term(b, loc, isa<FloatType>(sum) ? floatTo(b, loc, v, sum) : v); };
    return SmallVector<Value>{Term(b, loc, args.back()) + wide(args[0]) * wide(args[1])};
  })[0];
  return split ? mergeDim(b, loc, y, 1) : y;
}

// Adds the bias (one for each channel; may be null) and leaves the accumulator's type.
static Value finish(OpBuilder &b, Location loc, Value y, Value bias, Type element) {
  if (!bias)
    return tensorTo(b, loc, y, element);
  unsigned rank = typeOf(y).getRank();
  Type sum = typeOf(y).getElementType();
  AffineMap channel = AffineMap::get(rank, 0, getAffineDimExpr(1, b.getContext()));
  return mapElements(b, loc, extentsOf(b, loc, y), element, {y, bias},
                     {b.getMultiDimIdentityMap(rank), channel},
                     [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                       if (!isa<FloatType>(sum))
                         return Term(b, loc, args[0]) + args[1];
                       Term total = Term(b, loc, args[0]) + floatTo(b, loc, args[1], sum);
                       return floatTo(b, loc, total, element);
                     });
}

// A convolution with one tap that looks at each place once is a matrix product of filters and places; null
// when it is something else.
static Value convolveByMatrix(OpBuilder &b, ConvOp op) {
  auto all = [](ArrayRef<int64_t> list, int64_t v) {
    return llvm::all_of(list, [&](int64_t e) { return e == v; });
  };
  Value x = op.getX(), w = op.getW();
  if (op.getGroups() != 1 || !all(op.getStrides(), 1) || !all(op.getPads(), 0) ||
      !all(typeOf(w).getShape().drop_front(2), 1) ||
      llvm::count(typeOf(x).getShape().drop_front(2), ShapedType::kDynamic) > 1)
    return {};
  Location loc = op.getLoc();
  int64_t rank = typeOf(x).getRank();
  SmallVector<OpFoldResult> extents = extentsOf(b, loc, x);
  extents[1] = b.getIndexAttr(staticExtent(w, 0));
  bool one = typeOf(x).getDimSize(0) == 1;
  SmallVector<SmallVector<int64_t, 2>> weights = {{0}, {1}}, places;
  places = one ? SmallVector<SmallVector<int64_t, 2>>{{0, 1}, {}}
               : SmallVector<SmallVector<int64_t, 2>>{{0}, {1}, {}};
  for (int64_t d = 2; d < rank; ++d) {
    weights[1].push_back(d);
    places.back().push_back(d);
  }
  Value y = product(b, loc, collapse(b, loc, w, weights), collapse(b, loc, x, places), false, false);
  return expand(b, loc, y, places, extents);
}

static SmallVector<Value> lowerConv(OpBuilder &b, ConvOp op) {
  Location loc = op.getLoc();
  Value x = op.getX(), w = op.getW();
  Type element = typeOf(x).getElementType();
  if (Value y = convolveByMatrix(b, op))
    return {finish(b, loc, y, op.getBias(), element)};
  unsigned spatial = typeOf(x).getRank() - 2;
  ArrayRef<int64_t> pads = op.getPads();
  SmallVector<int64_t> lows(2, 0), highs(2, 0);
  SmallVector<OpFoldResult> places;
  for (unsigned i = 0; i < spatial; ++i) {
    lows.push_back(pads[i]);
    highs.push_back(pads[spatial + i]);
    places.push_back(windowExtent(b, loc, tensor::getMixedSize(b, loc, x, 2 + i), pads[i] + pads[spatial + i],
                                  staticExtent(w, 2 + i), op.getStrides()[i], op.getDilations()[i]));
  }
  Value padded = withBorder(b, loc, x, lows, highs, constantOf(b, loc, element, 0));
  Windows how{op.getStrides(), op.getDilations(), {}, int64_t(op.getGroups())};
  Value y = convolve(b, loc, padded, w, places, how, false);
  return {finish(b, loc, y, op.getBias(), element)};
}

// The weights with their taps in reverse. They are read by index: MLIR 22 does not tile maps with negative
// factors.
static Value mirrored(OpBuilder &b, Location loc, Value w) {
  RankedTensorType type = typeOf(w);
  return generate(b, loc, extentsOf(b, loc, w), type.getElementType(),
                  [&](OpBuilder &b, Location loc, ValueRange ids) -> Value {
                    SmallVector<Value> at(ids);
                    for (int64_t d = 2; d < type.getRank(); ++d)
                      at[d] = Term(b, loc, indexOf(b, loc, staticExtent(w, d) - 1)) - ids[d];
                    return tensor::ExtractOp::create(b, loc, w, at);
                  });
}

// The input with zeros between its elements, then a convolution with the taps in reverse.
static SmallVector<Value> lowerConvTranspose(OpBuilder &b, ConvTransposeOp op) {
  Location loc = op.getLoc();
  Value x = op.getX(), w = op.getW();
  Type element = typeOf(x).getElementType();
  unsigned spatial = typeOf(x).getRank() - 2;
  ArrayRef<int64_t> pads = op.getPads();
  SmallVector<int64_t> lows(2, 0), highs(2, 0), steps(2, 1), ones(spatial, 1), starts;
  SmallVector<OpFoldResult> places;
  AffineExpr d0 = b.getAffineDimExpr(0);
  for (unsigned i = 0; i < spatial; ++i) {
    int64_t span = op.getDilations()[i] * (staticExtent(w, 2 + i) - 1), stride = op.getStrides()[i];
    int64_t low = span - pads[i], extra = op.getOutputPadding()[i];
    OpFoldResult in = tensor::getMixedSize(b, loc, x, 2 + i);
    places.push_back(
        applyExpr(b, loc, (d0 - 1) * stride + (span + 1 - pads[i] - pads[spatial + i] + extra), {in}));
    lows.push_back(std::max<int64_t>(0, low));
    starts.push_back(std::max<int64_t>(0, -low));
    highs.push_back(std::max<int64_t>(0, span - pads[spatial + i] + extra));
    steps.push_back(stride);
  }
  Value spread = withBorder(b, loc, x, lows, highs, constantOf(b, loc, element, 0), steps);
  Windows how{ones, op.getDilations(), starts, int64_t(op.getGroups())};
  Value y = convolve(b, loc, spread, mirrored(b, loc, w), places, how, true);
  return {finish(b, loc, y, op.getBias(), element)};
}

// First all samples (n, c, taps, places), then a sum of products with the weights.
static SmallVector<Value> lowerDeformConv(OpBuilder &b, DeformConvOp op) {
  Location loc = op.getLoc();
  Value x = op.getX(), w = op.getW(), offset = op.getOffset(), mask = op.getMask();
  Type element = typeOf(x).getElementType(), real = accumulatorOf(element);
  int64_t channels = staticExtent(w, 1) * int64_t(op.getGroups()), kh = staticExtent(w, 2),
          kw = staticExtent(w, 3);
  int64_t inOffsetGroup = channels / op.getOffsetGroups();
  SmallVector<OpFoldResult> in = extentsOf(b, loc, x), places = extentsOf(b, loc, offset);
  SmallVector<OpFoldResult> extents = {
      in[0], b.getIndexAttr(channels), b.getIndexAttr(kh), b.getIndexAttr(kw), places[2], places[3]};
  Value height = asValue(b, loc, in[2]), width = asValue(b, loc, in[3]);
  Value columns = generate(b, loc, extents, real, [&](OpBuilder &b, Location loc, ValueRange ids) -> Value {
    auto term = [&](Value v) { return Term(b, loc, v); };
    Term group = term(ids[1]).floorDiv(inOffsetGroup);
    Term tap = (group * double(kh) + ids[2]) * double(kw) + ids[3];
    Value limits[] = {height, width};
    // Of each coordinate: the two places around it, whether they are inside, and how near they are.
    SmallVector<Term> at[2], inside[2], weight[2];
    for (unsigned i = 0; i < 2; ++i) {
      Term row = tap * 2.0 + double(i);
      Term moved = term(floatTo(
          b, loc, tensor::ExtractOp::create(b, loc, offset, ValueRange{ids[0], row, ids[4], ids[5]}), real));
      Term still = term(ids[4 + i]) * double(op.getStrides()[i]) +
                   term(ids[2 + i]) * double(op.getDilations()[i]) - double(op.getPads()[i]);
      Term limit = term(limits[i]).toFloat(real);
      // Far outside every place is outside; the clamp keeps the conversion to an index defined.
      Term coordinate = (moved + still.toFloat(real)).clamp(moved.number(-2), limit + 1.0);
      Term low = coordinate.floor(), part = coordinate - low, index = low.toIndex();
      Term zero = index.number(0), last = (term(limits[i]) - 1.0).max(zero);
      for (unsigned side = 0; side < 2; ++side) {
        Term place = index + double(side);
        at[i].push_back(place.clamp(zero, last));
        inside[i].push_back(zero.lessEqual(place) && place.less(limits[i]));
        weight[i].push_back(side ? part : part.number(1) - part);
      }
    }
    Term total = term(constantOf(b, loc, real, 0));
    for (unsigned i = 0; i < 2; ++i)
      for (unsigned j = 0; j < 2; ++j) {
        Term v = term(floatTo(
            b, loc, tensor::ExtractOp::create(b, loc, x, ValueRange{ids[0], ids[1], at[0][i], at[1][j]}),
            real));
        Term weighted = v * (weight[0][i] * weight[1][j]);
        total = total + (inside[0][i] && inside[1][j]).select(weighted, total.number(0));
      }
    if (mask)
      total = total *
              floatTo(b, loc,
                      tensor::ExtractOp::create(b, loc, mask, ValueRange{ids[0], tap, ids[4], ids[5]}), real);
    return total;
  });
  // Channels and groups as in a convolution whose taps are dimensions of their own.
  int64_t groups = op.getGroups();
  columns = splitDim(b, loc, columns, 1, groups);
  Value weights = splitDim(b, loc, w, 0, groups);
  // n g f oh c kh kw ow
  LoopNest nest(b, loc, 8);
  for (unsigned d : {4, 5, 6})
    nest.reduce(d);
  nest.read(columns, nest.dims({0, 1, 4, 5, 6, 3, 7}));
  nest.read(weights, nest.dims({1, 2, 4, 5, 6}));
  SmallVector<OpFoldResult> out = {in[0], b.getIndexAttr(groups), b.getIndexAttr(staticExtent(weights, 1)),
                                   places[2], places[3]};
  nest.write(filledWith(b, loc, out, constantOf(b, loc, real, 0)), nest.dims({0, 1, 2, 3, 7}));
  Value y = nest.build([&](OpBuilder &b, Location loc, ValueRange args) {
    return SmallVector<Value>{Term(b, loc, args[2]) + Term(b, loc, args[0]) * floatTo(b, loc, args[1], real)};
  })[0];
  return {finish(b, loc, mergeDim(b, loc, y, 1), op.getBias(), element)};
}

void nn::populateConvolution(RewritePatternSet &patterns) {
  addBuilder<ConvOp>(patterns, lowerConv);
  addBuilder<ConvTransposeOp>(patterns, lowerConvTranspose);
  addBuilder<DeformConvOp>(patterns, lowerDeformConv);
}
