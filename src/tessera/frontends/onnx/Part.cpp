// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts of tensors, borders around them and repetitions. Amounts are constants, or arithmetic on extents that
// is done at launch; then the operations of `nn` that hold amounts as attributes do not serve, and elements
// are gathered at computed places or put side by side.
#include "tessera/frontends/onnx/Importer.h"

using namespace tessera;
using namespace tessera::onnximport;

static Ext extOf(const Scalar &s) { return s.dynamic ? Ext(s.dynamic) : Ext(s.i); }

// Integers that may be computed.
static std::optional<SmallVector<Scalar>> amounts(NodeContext &c, unsigned i, StringRef what) {
  KnownPtr k = c.known(i, what);
  if (!k)
    return std::nullopt;
  if (!isInteger(k->type))
    return c.fail(what + " (input " + Twine(i) + "): expected integers"), std::nullopt;
  return SmallVector<Scalar>(k->elements.begin(), k->elements.end());
}

static SmallVector<Scalar> scalars(ArrayRef<int64_t> list) {
  SmallVector<Scalar> all;
  for (int64_t n : list)
    all.push_back({n, 0, {}});
  return all;
}

//===----------------------------------------------------------------------===//
// Split
//===----------------------------------------------------------------------===//

static std::optional<Exts> splitSizes(NodeContext &c, const Ext &extent, int64_t n) {
  if (c.hasAttr("split") || !c.has(1)) {
    if (c.hasAttr("split")) {
      Exts sizes;
      for (int64_t size : c.attrInts("split"))
        sizes.push_back(Ext(size));
      return sizes;
    }
    // The last part may be smaller.
    Ext part = c.ceildiv(extent, Ext(std::max<int64_t>(n, 1)));
    if (!extent.isStatic() && c.opset < 18) {
      c.require(c.mul(part, Ext(n)), extent, "the extent that equal parts make up");
    } else if (!extent.isStatic()) {
      Ext front = c.add(c.mul(part, Ext(n - 1)), Ext(1));
      c.require(c.min(front, c.max(extent, Ext(1))), front,
                "the extent up to the first element of the last part");
    }
    Exts sizes;
    for (int64_t i = 0; i < n; ++i)
      sizes.push_back(i == 0 ? part : c.min(c.max(c.sub(extent, c.mul(Ext(i), part)), Ext(0)), part));
    return sizes;
  }
  std::optional<SmallVector<Scalar>> given = amounts(c, 1, "split");
  if (!given)
    return std::nullopt;
  return Exts(llvm::map_range(*given, extOf));
}

static void split(NodeContext &c) {
  Value x = c.v(0);
  std::optional<int64_t> axis = c.axis(c.attrInt("axis", 0), c.rank(x));
  if (!axis || c.bad)
    return;
  int64_t n = c.numOutputs();
  if (int64_t wanted = c.attrInt("num_outputs", n); wanted != n) {
    c.fail("expected num_outputs to be the number of its outputs, " + Twine(n) + ", but got " +
           Twine(wanted));
    return;
  }
  Ext extent = c.ext(x, *axis), total(0);
  std::optional<Exts> sizes = splitSizes(c, extent, n);
  if (!sizes || c.bad)
    return;
  if (int64_t(sizes->size()) != n) {
    c.fail("there are " + Twine(sizes->size()) + " sizes, but " + Twine(n) + " outputs");
    return;
  }
  bool isStatic = true;
  for (const Ext &size : *sizes) {
    int64_t sum = 0;
    if (size.isStatic() &&
        (size.size < 0 || (total.isStatic() && __builtin_add_overflow(total.size, size.size, &sum)))) {
      c.fail("expected sizes that are the parts of an extent, but got " + Twine(size.size));
      return;
    }
    isStatic &= size.isStatic();
    total = c.add(total, size);
  }
  if (total.isStatic() && extent.isStatic() && total.size != extent.size) {
    c.fail("the sizes add up to " + Twine(total.size) + ", expected " + Twine(extent.size));
    return;
  }
  c.require(extent, total, "extent " + Twine(*axis) + " of the operand, all of which the sizes split,",
            /*ifKnown=*/true);
  Ext start(0);
  for (int64_t i = 0; i < n; ++i) {
    Ext size = (*sizes)[i];
    c.set(i, isStatic ? c.slice(x, *axis, start.size, size.size) : c.part(x, *axis, start, size), c.type(0));
    start = c.add(start, size);
  }
}

//===----------------------------------------------------------------------===//
// Slice
//===----------------------------------------------------------------------===//

/// Starts and ends from here on mean as far as the operand goes.
static constexpr int64_t far = std::numeric_limits<int32_t>::max() - 1;

// A start, end or step: an attribute before opset 10.
static std::optional<SmallVector<Scalar>> sliceList(NodeContext &c, const char *name, unsigned input) {
  if (c.opset < 10)
    return c.hasAttr(name) ? std::optional(scalars(c.attrInts(name))) : std::nullopt;
  return c.has(input) ? amounts(c, input, name) : std::nullopt;
}

// A place as a slice means it: one that counts from the end, or lies outside, is moved into [low, high].
static Ext placeOf(NodeContext &c, const Scalar &s, const Ext &extent, Ext low, Ext high) {
  if (!s.dynamic && s.i >= far)
    return high;
  if (!s.dynamic && s.i <= -far)
    return low;
  Ext at = extOf(s);
  if (s.dynamic && isNatural(s.dynamic))
    return c.min(at, high);
  if (!s.dynamic)
    return s.i < 0 ? c.max(c.add(extent, at), low) : low.is(0) && s.i == 0 ? at : c.min(at, high);
  Value negative = arith::CmpIOp::create(c.b, c.loc, arith::CmpIPredicate::slt, s.dynamic, c.index(Ext(0)));
  at = Ext(arith::SelectOp::create(c.b, c.loc, negative, c.index(c.add(at, extent)), s.dynamic).getResult());
  return c.min(c.max(at, low), high);
}

// Elements [start, end) along a dynamic extent, or with dynamic ends, in steps of 1.
static Value sliceOpen(NodeContext &c, Value x, int64_t axis, const Scalar &start, const Scalar &end) {
  Ext extent = c.ext(x, axis);
  if (!start.dynamic && !end.dynamic && start.i == 0 && end.i >= far)
    return x;
  // One element, or the last n, keep their static extent: a program for shorter tensors would be of little
  // use, and is refused when it runs.
  bool fromEnd = !start.dynamic && !end.dynamic && start.i < 0 && start.i > -far;
  if (fromEnd && ((end.i < 0 && end.i > start.i) || end.i >= far))
    return c.part(x, axis, c.sub(extent, Ext(-start.i)), Ext(-start.i + (end.i < 0 ? end.i : 0)));
  if (!start.dynamic && !end.dynamic && start.i >= 0 && end.i == start.i + 1)
    return c.part(x, axis, Ext(start.i), Ext(1));
  Ext from = placeOf(c, start, extent, Ext(0), extent), to = placeOf(c, end, extent, Ext(0), extent);
  bool ordered = from.is(0) || (!start.dynamic && !end.dynamic && (end.i >= far || fromEnd == (end.i < 0)) &&
                                start.i <= end.i);
  return c.part(x, axis, from, ordered ? c.sub(to, from) : c.max(c.sub(to, from), Ext(0)));
}

// The same in other steps: elements are gathered at their places.
static Value sliceSteps(NodeContext &c, Value x, int64_t axis, const Scalar &start, const Scalar &end,
                        int64_t step) {
  Ext extent = c.ext(x, axis), low(step > 0 ? 0 : -1), high = step > 0 ? extent : c.sub(extent, Ext(1));
  int64_t by =
      step == std::numeric_limits<int64_t>::min() ? std::numeric_limits<int64_t>::max() : std::abs(step);
  // All of them in reverse are as many.
  bool whole =
      step == -1 && !start.dynamic && !end.dynamic && (start.i == -1 || start.i >= far) && end.i <= -far;
  Ext from = placeOf(c, start, extent, low, high), to = placeOf(c, end, extent, low, high);
  Ext span = step > 0 ? c.sub(to, from) : c.sub(from, to);
  Ext count = whole ? extent : c.ceildiv(c.max(span, Ext(0)), Ext(by));
  return c.gather(x, c.places(count, from, step), axis);
}

static void slice(NodeContext &c) {
  Value x = c.v(0);
  auto starts = sliceList(c, "starts", 1), ends = sliceList(c, "ends", 2);
  auto given = sliceList(c, "axes", 3), steps = sliceList(c, "steps", 4);
  if (!starts || !ends || c.bad) {
    c.fail("starts or ends are missing");
    return;
  }
  auto isFixed = [](const Scalar &s) { return !s.dynamic; };
  if ((given && !llvm::all_of(*given, isFixed)) || (steps && !llvm::all_of(*steps, isFixed)))
    return void(c.fail("axes and steps must be known when compiling"));
  Ints axes;
  for (size_t i = 0; i < starts->size(); ++i)
    axes.push_back(given && i < given->size() ? (*given)[i].i : int64_t(i));
  std::optional<Ints> checked = c.axes(axes, c.rank(x));
  if (!checked)
    return;
  if (ends->size() != starts->size() || (given && given->size() != starts->size()) ||
      (steps && steps->size() != starts->size())) {
    c.fail("starts, ends, axes and steps differ in length");
    return;
  }
  int64_t rank = c.rank(x);
  Ints from(rank, 0), by(rank, 1);
  SmallVector<int64_t> shape(c.tt(x).getShape());
  SmallVector<size_t> open;
  for (auto [i, axis] : llvm::enumerate(*checked)) {
    const Scalar &start = (*starts)[i], &end = (*ends)[i];
    int64_t step = steps ? (*steps)[i].i : 1, extent = shape[axis];
    if (step == 0) {
      c.fail("a step of 0 is not allowed");
      return;
    }
    if (ShapedType::isDynamic(extent) || start.dynamic || end.dynamic) {
      open.push_back(i);
      continue;
    }
    auto wrap = [&](int64_t n) { return n < 0 ? (n < -extent ? int64_t(-1) : n + extent) : n; };
    int64_t first = wrap(start.i), last = wrap(end.i), count;
    if (step > 0) {
      first = start.i < -extent ? 0 : std::min(first, extent);
      last = end.i < -extent ? 0 : std::min(last, extent);
      count = last > first ? (last - first - 1) / step + 1 : 0;
    } else {
      first = start.i < -extent ? -1 : std::min(first, extent - 1);
      last = end.i < -extent ? -1 : std::min(last, extent - 1);
      count = first > last
                  ? (first - last - 1) / -(step == std::numeric_limits<int64_t>::min() ? step + 1 : step) + 1
                  : 0;
    }
    from[axis] = count ? first : 0;
    // A single element needs no step, which may be huge.
    by[axis] = count > 1 ? step : 1;
    shape[axis] = count;
  }
  if (c.bad)
    return;
  auto type = RankedTensorType::get(shape, c.elem(x));
  bool same = type == x.getType() && llvm::all_of(from, [](int64_t n) { return n == 0; }) &&
              llvm::all_of(by, [](int64_t n) { return n == 1; });
  if (same && open.empty())
    return c.set(0, c.val(0));
  if (!same)
    x = nn::SliceOp::create(c.b, c.loc, type, x, from, by);
  for (size_t i : open) {
    int64_t step = steps ? (*steps)[i].i : 1;
    x = step == 1 ? sliceOpen(c, x, (*checked)[i], (*starts)[i], (*ends)[i])
                  : sliceSteps(c, x, (*checked)[i], (*starts)[i], (*ends)[i], step);
    if (!x)
      return;
  }
  c.set(0, x, c.type(0));
}

//===----------------------------------------------------------------------===//
// Pad
//===----------------------------------------------------------------------===//

// A border of `low` and `high` elements along one axis; negative amounts cut off.
static Value padOpen(NodeContext &c, Value x, int64_t axis, Ext low, Ext high, Value value, nn::PadMode mode,
                     DataType type) {
  Ext have = c.ext(x, axis);
  if (mode != nn::PadMode::constant) {
    // Each place of the result reads the one that it repeats.
    auto number = [&](Ext e) { return c.number(e); };
    auto two = [&](nn::BinaryKind kind, Value a, Value b) { return c.binary(kind, a, b); };
    Value at = c.places(c.add(c.add(low, have), high), c.sub(Ext(0), low), 1),
          last = number(c.sub(have, Ext(1)));
    if (mode == nn::PadMode::edge) {
      at = two(nn::BinaryKind::max, two(nn::BinaryKind::min, at, last), number(Ext(0)));
    } else if (mode == nn::PadMode::wrap) {
      at = two(nn::BinaryKind::mod, at, number(c.max(have, Ext(1))));
    } else {
      Value period = number(c.max(c.mul(c.sub(have, Ext(1)), Ext(2)), Ext(1)));
      at = two(nn::BinaryKind::mod, at, period);
      at = two(nn::BinaryKind::min, at, two(nn::BinaryKind::sub, period, at));
    }
    return c.gather(x, at, axis);
  }
  auto isNever = [](const Ext &e) { return e.isStatic() ? e.size >= 0 : isNatural(e.value); };
  if (!isNever(low) || !isNever(high)) {
    Ext from = c.max(c.sub(Ext(0), low), Ext(0)), behind = c.max(c.sub(Ext(0), high), Ext(0));
    x = c.part(x, axis, from, c.max(c.sub(c.sub(have, from), behind), Ext(0)));
    low = isNever(low) ? low : c.max(low, Ext(0));
    high = isNever(high) ? high : c.max(high, Ext(0));
  }
  if (!value)
    value = c.scalar(0, type);
  SmallVector<Value> pieces;
  auto border = [&](const Ext &size) {
    Exts shape = c.exts(x);
    shape[axis] = size;
    if (!size.is(0))
      pieces.push_back(c.broadcast(value, shape));
  };
  border(low);
  pieces.push_back(x);
  border(high);
  return c.concat(pieces, axis);
}

static void pad(NodeContext &c) {
  Value x = c.v(0), value;
  DataType type = c.type(0);
  int64_t rank = c.rank(x);
  SmallVector<Scalar> pads;
  Ints axes = range(0, rank);
  if (c.opset < 11) {
    pads = scalars(c.attrInts(c.opset < 2 ? "paddings" : "pads"));
    if (double number = c.attrFloat("value", 0))
      value = c.scalar(number, type);
  } else {
    std::optional<SmallVector<Scalar>> given = amounts(c, 1, "pads");
    if (!given)
      return;
    pads = *given;
    value = c.optional(2);
    if (value && c.rank(value))
      value = c.reshape(value, {});
    if (c.has(3)) {
      std::optional<Ints> list = c.ints(3, "axes"), checked = list ? c.axes(*list, rank) : std::nullopt;
      if (!checked)
        return;
      axes = *checked;
    }
  }
  if (pads.size() != 2 * axes.size()) {
    c.fail("expected " + Twine(2 * axes.size()) + " pads, but got " + Twine(pads.size()));
    return;
  }
  if (llvm::any_of(pads,
                   [](const Scalar &s) { return !s.dynamic && (s.i > maxElements || s.i < -maxElements); }))
    return void(c.fail("a tensor has too many elements"));
  std::string word = c.attrString("mode", "constant");
  std::optional<nn::PadMode> mode = nn::symbolizePadMode(word);
  if (!mode) {
    c.fail("mode '" + ::tessera::onnx::printable(word) + "' is not supported");
    return;
  }
  if (*mode != nn::PadMode::constant)
    value = {};
  Ints lows(rank, 0), highs(rank, 0);
  SmallVector<size_t> open;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    const Scalar &low = pads[i], &high = pads[axes.size() + i];
    if (low.dynamic || high.dynamic) {
      open.push_back(i);
      continue;
    }
    lows[axis] = low.i;
    highs[axis] = high.i;
  }
  x = c.pad(x, lows, highs, value, *mode);
  for (size_t i : open)
    if (x)
      x = padOpen(c, x, axes[i], extOf(pads[i]), extOf(pads[axes.size() + i]), value, *mode, type);
  c.set(0, x, type);
}

//===----------------------------------------------------------------------===//
// Tile
//===----------------------------------------------------------------------===//

static void tile(NodeContext &c) {
  Value x = c.v(0);
  SmallVector<Scalar> repeats;
  if (c.opset < 6) {
    std::optional<int64_t> tiles = c.oneInt(1, "tiles"), axis = c.oneInt(2, "axis");
    std::optional<int64_t> at = axis ? c.axis(*axis, c.rank(x)) : std::nullopt;
    if (!tiles || !at)
      return;
    repeats.assign(c.rank(x), {1, 0, {}});
    repeats[*at].i = *tiles;
  } else {
    std::optional<SmallVector<Scalar>> given = amounts(c, 1, "repeats");
    if (!given)
      return;
    repeats = *given;
  }
  // The extents are products, which must not overflow.
  if (llvm::any_of(repeats, [](const Scalar &s) { return s.i > maxElements; }))
    return void(c.fail("a tensor has too many elements"));
  Ints fixed;
  for (const Scalar &s : repeats)
    fixed.push_back(s.dynamic ? 1 : s.i);
  if (x && int64_t(fixed.size()) != c.rank(x))
    return void(c.fail("expected " + Twine(c.rank(x)) + " repeats, but got " + Twine(fixed.size())));
  if (llvm::any_of(fixed, [](int64_t n) { return n != 1; }) ||
      llvm::none_of(repeats, [](const Scalar &s) { return bool(s.dynamic); }))
    x = c.one<nn::TileOp>(x, fixed);
  for (auto [axis, s] : llvm::enumerate(repeats)) {
    if (!s.dynamic || !x)
      continue;
    Exts whole = c.exts(x), apart = whole;
    whole[axis] = c.mul(Ext(s.dynamic), whole[axis]);
    apart.insert(apart.begin() + axis, Ext(s.dynamic));
    x = c.reshape(c.broadcast(c.unsqueeze(x, {int64_t(axis)}), apart), whole);
  }
  c.set(0, x, c.type(0));
}

ArrayRef<OperatorEntry> onnximport::partOperators() {
  static const OperatorEntry entries[] = {
      {"Split", 1, lastOpset, split},
      {"Slice", 1, lastOpset, slice},
      {"Pad", 1, lastOpset, pad},
      {"Tile", 1, lastOpset, tile},
  };
  return entries;
}
