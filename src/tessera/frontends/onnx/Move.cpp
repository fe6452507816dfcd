// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shape and data movement.
#include "tessera/frontends/onnx/Importer.h"

using namespace tessera;
using namespace tessera::onnximport;

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

// The extent that -1 stands for: what is left of x's elements. Extents that appear on both sides cancel.
static Ext remaining(NodeContext &c, Value x, ArrayRef<Ext> others) {
  int64_t above = 1, below = 1;
  SmallVector<Value> up, down;
  auto collect = [&](const Ext &e, int64_t &product, SmallVector<Value> &dynamic) {
    if (e.isStatic())
      product = c.mul(Ext(product), e).size;
    else
      dynamic.push_back(e.value);
  };
  for (const Ext &e : c.exts(x))
    collect(e, above, up);
  for (const Ext &e : others)
    collect(e, below, down);
  for (Value v : SmallVector<Value>(down)) {
    auto *it = llvm::find(up, v);
    if (it == up.end())
      continue;
    up.erase(it);
    down.erase(llvm::find(down, v));
  }
  if (below == 0)
    return c.fail("cannot work out -1 beside an extent of 0"), Ext(1);
  if (up.empty() && down.empty() && above % below)
    return c.fail("cannot reshape: its elements do not divide by " + Twine(below)), Ext(1);
  if (above % below == 0) {
    above /= below;
    below = 1;
  }
  Ext result(above), divisor(below);
  for (Value v : up)
    result = c.mul(result, Ext(v));
  for (Value v : down)
    divisor = c.mul(divisor, Ext(v));
  return c.floordiv(result, divisor);
}

static void reshape(NodeContext &c) {
  Value x = c.v(0);
  bool zeroIsZero = c.attrInt("allowzero", 0);
  SmallVector<Scalar> wanted;
  if (c.opset < 5) {
    for (int64_t n : c.attrInts("shape"))
      wanted.push_back({n, 0, {}});
  } else {
    KnownPtr k = c.known(1, "shape");
    if (!k)
      return;
    wanted.assign(k->elements.begin(), k->elements.end());
  }
  Exts shape;
  std::optional<unsigned> open;
  for (auto [i, s] : llvm::enumerate(wanted)) {
    if (s.dynamic) {
      shape.push_back(Ext(s.dynamic));
    } else if (s.i == 0 && !zeroIsZero) {
      shape.push_back(c.ext(x, i));
    } else if (s.i == -1) {
      if (open) {
        c.fail("expected at most one -1 in the shape");
        return;
      }
      open = i;
      shape.push_back(Ext(1));
    } else {
      shape.push_back(Ext(s.i));
    }
  }
  if (c.bad)
    return;
  if (open)
    shape[*open] = remaining(c, x, shape);
  c.set(0, c.reshape(x, shape), c.type(0));
}

static void flatten(NodeContext &c) {
  Value x = c.v(0);
  int64_t axis = c.attrInt("axis", 1), rank = c.rank(x);
  if (axis < -rank || axis > rank) {
    c.fail("axis " + Twine(axis) + " is not one of a tensor with " + Twine(rank) + " dimensions");
    return;
  }
  axis = axis < 0 ? axis + rank : axis;
  Ext outer = c.product(x, 0, axis), inner = c.product(x, axis, rank);
  c.set(0, c.reshape(x, {outer, inner}), c.type(0));
}

static void squeeze(NodeContext &c) {
  Value x = c.v(0);
  std::optional<Ints> given = c.attrOrInput("axes", 1);
  if (c.bad)
    return;
  Ints axes;
  if (given) {
    std::optional<Ints> checked = c.axes(*given, c.rank(x));
    if (!checked)
      return;
    axes = *checked;
  } else {
    for (int64_t i = 0; i < c.rank(x); ++i)
      if (c.dim(x, i) == 1)
        axes.push_back(i);
  }
  c.set(0, c.squeeze(x, axes), c.type(0));
}

static void unsqueeze(NodeContext &c) {
  Value x = c.v(0);
  std::optional<Ints> given = c.attrOrInput("axes", 1);
  if (!given) {
    c.fail("axes are missing");
    return;
  }
  std::optional<Ints> axes = c.axes(*given, c.rank(x) + given->size());
  if (axes)
    c.set(0, c.unsqueeze(x, *axes), c.type(0));
}

static void transpose(NodeContext &c) {
  Value x = c.v(0);
  Ints permutation = c.attrInts("perm");
  if (permutation.empty())
    permutation = llvm::to_vector(llvm::reverse(range(0, c.rank(x))));
  if (int64_t(permutation.size()) != c.rank(x) || !c.axes(permutation, c.rank(x))) {
    c.fail("'perm' is not a permutation of " + Twine(c.rank(x)) + " dimensions");
    return;
  }
  c.set(0, c.transpose(x, *c.axes(permutation, c.rank(x))), c.type(0));
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

static void concatenate(NodeContext &c) {
  SmallVector<Value> values;
  for (unsigned i = 0; i < c.numInputs(); ++i) {
    values.push_back(c.v(i));
    if (c.type(i) != c.type(0)) {
      c.fail("its inputs have different element types");
      return;
    }
  }
  if (values.empty()) {
    c.fail("expected at least one input");
    return;
  }
  std::optional<int64_t> axis = c.axis(c.attrInt("axis", 1), c.rank(values[0]));
  if (axis)
    c.set(0, c.concat(values, *axis), c.type(0));
}

static void split(NodeContext &c) {
  Value x = c.v(0);
  std::optional<int64_t> axis = c.axis(c.attrInt("axis", 0), c.rank(x));
  std::optional<Ints> sizes = c.attrOrInput("split", 1);
  if (!axis || c.bad)
    return;
  int64_t extent = c.dim(x, *axis), n = c.numOutputs();
  if (int64_t wanted = c.attrInt("num_outputs", n); wanted != n) {
    c.fail("expected num_outputs to be the number of its outputs, " + Twine(n) + ", but got " +
           Twine(wanted));
    return;
  }
  if (!sizes) {
    if (ShapedType::isDynamic(extent)) {
      c.fail("cannot split a dynamic extent into equal parts");
      return;
    }
    // The last part may be smaller.
    int64_t part = (extent + n - 1) / std::max<int64_t>(n, 1);
    sizes.emplace();
    for (int64_t i = 0; i < n; ++i)
      sizes->push_back(std::clamp<int64_t>(extent - i * part, 0, part));
  }
  if (int64_t(sizes->size()) != n) {
    c.fail("there are " + Twine(sizes->size()) + " sizes, but " + Twine(n) + " outputs");
    return;
  }
  int64_t total = 0;
  for (int64_t size : *sizes)
    if (size < 0 || __builtin_add_overflow(total, size, &total)) {
      c.fail("expected sizes that are the parts of an extent, but got " + Twine(size));
      return;
    }
  if (total != extent && !ShapedType::isDynamic(extent)) {
    c.fail("the sizes add up to " + Twine(total) + ", expected " + Twine(extent));
    return;
  }
  int64_t start = 0;
  for (int64_t i = 0; i < n; ++i) {
    Value part = c.slice(x, *axis, start, (*sizes)[i]);
    start += (*sizes)[i];
    c.set(i, part, c.type(0));
  }
}

// A start, end or step: an attribute before opset 10.
static std::optional<SmallVector<Scalar>> sliceList(NodeContext &c, const char *name, unsigned input) {
  SmallVector<Scalar> list;
  if (c.opset < 10) {
    if (!c.hasAttr(name))
      return std::nullopt;
    for (int64_t n : c.attrInts(name))
      list.push_back({n, 0, {}});
    return list;
  }
  if (!c.has(input))
    return std::nullopt;
  KnownPtr k = c.known(input, name);
  if (!k)
    return std::nullopt;
  list.assign(k->elements.begin(), k->elements.end());
  return list;
}

namespace {
/// A slice with offsets or sizes that are computed; only in steps of 1.
struct DynamicSlice {
  Exts offsets, sizes;
};
} // namespace

// Elements [start, end) along a dynamic extent, or with dynamic ends.
static bool sliceDynamic(NodeContext &c, DynamicSlice &slice, Value x, int64_t axis, Scalar start, Scalar end,
                         int64_t step) {
  Ext extent = c.ext(x, axis);
  constexpr int64_t far = std::numeric_limits<int32_t>::max() - 1;
  if (step != 1) {
    c.fail("a step of " + Twine(step) + " along a dynamic extent is not supported");
    return false;
  }
  // A place inside, or the end.
  auto place = [&](Scalar s) -> Ext {
    if (s.dynamic) {
      Ext at(s.dynamic);
      // One that counts from the end may lie before the front.
      if (!isNatural(s.dynamic)) {
        Value negative =
            arith::CmpIOp::create(c.b, c.loc, arith::CmpIPredicate::slt, s.dynamic, c.index(Ext(0)));
        at = c.max(Ext(arith::SelectOp::create(c.b, c.loc, negative, c.index(c.add(at, extent)), s.dynamic)
                           .getResult()),
                   Ext(0));
      }
      return c.min(at, extent);
    }
    if (s.i >= far)
      return extent;
    if (s.i <= -far)
      return Ext(0);
    return s.i < 0 ? c.max(c.sub(extent, Ext(-s.i)), Ext(0)) : s.i ? c.min(Ext(s.i), extent) : Ext(0);
  };
  // One element, or the last n, keep their static extent: a program for shorter tensors would be of little
  // use, and is refused when it runs.
  bool fromEnd = !start.dynamic && !end.dynamic && start.i < 0 && start.i > -far;
  if (fromEnd && ((end.i < 0 && end.i > start.i) || end.i >= far)) {
    slice.offsets[axis] = c.sub(extent, Ext(-start.i));
    slice.sizes[axis] = Ext(-start.i + (end.i < 0 ? end.i : 0));
    return true;
  }
  if (!start.dynamic && !end.dynamic && start.i >= 0 && end.i == start.i + 1) {
    slice.offsets[axis] = Ext(start.i);
    slice.sizes[axis] = Ext(1);
    return true;
  }
  Ext from = place(start), to = place(end);
  slice.offsets[axis] = from;
  bool ordered = from.is(0) || (!start.dynamic && !end.dynamic && (end.i >= far || fromEnd == (end.i < 0)) &&
                                start.i <= end.i);
  slice.sizes[axis] = ordered ? c.sub(to, from) : c.max(c.sub(to, from), Ext(0));
  return true;
}

static void slice(NodeContext &c) {
  Value x = c.v(0);
  auto starts = sliceList(c, "starts", 1), ends = sliceList(c, "ends", 2);
  auto given = sliceList(c, "axes", 3), steps = sliceList(c, "steps", 4);
  if (!starts || !ends || c.bad) {
    c.fail("starts or ends are missing");
    return;
  }
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
  DynamicSlice dynamic{Exts(rank, Ext(0)), c.exts(x)};
  bool isDynamic = false;
  for (auto [i, axis] : llvm::enumerate(*checked)) {
    Scalar start = (*starts)[i], end = (*ends)[i];
    int64_t step = steps ? (*steps)[i].i : 1, extent = shape[axis];
    if (step == 0) {
      c.fail("a step of 0 is not allowed");
      return;
    }
    if (ShapedType::isDynamic(extent) || start.dynamic || end.dynamic) {
      bool whole = !start.dynamic && !end.dynamic && start.i == 0 && step == 1 &&
                   end.i >= std::numeric_limits<int32_t>::max() - 1;
      if (whole)
        continue;
      isDynamic = true;
      if (!sliceDynamic(c, dynamic, x, axis, start, end, step))
        return;
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
    dynamic.offsets[axis] = Ext(from[axis]);
    dynamic.sizes[axis] = Ext(count);
    if (count > 1 && step != 1)
      dynamic.sizes[axis] = Ext(-1); // marks what the dynamic form cannot say
  }
  if (c.bad)
    return;
  if (!isDynamic) {
    auto type = RankedTensorType::get(shape, c.elem(x));
    if (type == x.getType() && llvm::all_of(from, [](int64_t n) { return n == 0; }) &&
        llvm::all_of(by, [](int64_t n) { return n == 1; }))
      return c.set(0, c.val(0));
    return c.set(0, nn::SliceOp::create(c.b, c.loc, type, x, from, by), c.type(0));
  }
  SmallVector<OpFoldResult> offsets, sizes, strides(rank, c.b.getIndexAttr(1));
  auto fold = [&](const Ext &e) -> OpFoldResult {
    return e.isStatic() ? OpFoldResult(c.b.getIndexAttr(e.size)) : OpFoldResult(e.value);
  };
  for (int64_t i = 0; i < rank; ++i) {
    if (dynamic.sizes[i].isStatic() && dynamic.sizes[i].size < 0) {
      c.fail("steps beside a dynamic slice are not supported");
      return;
    }
    offsets.push_back(fold(dynamic.offsets[i]));
    sizes.push_back(fold(dynamic.sizes[i]));
  }
  c.set(0, tensor::ExtractSliceOp::create(c.b, c.loc, x, offsets, sizes, strides), c.type(0));
}

static void pad(NodeContext &c) {
  Value x = c.v(0), value;
  DataType type = c.type(0);
  int64_t rank = c.rank(x);
  Ints pads, axes = range(0, rank);
  if (c.opset < 11) {
    pads = c.attrInts(c.opset < 2 ? "paddings" : "pads");
    if (double number = c.attrFloat("value", 0))
      value = c.scalar(number, type);
  } else {
    std::optional<Ints> given = c.ints(1, "pads");
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
  if (llvm::any_of(pads, [](int64_t n) { return n > maxElements; }))
    return void(c.fail("a tensor has too many elements"));
  std::string word = c.attrString("mode", "constant");
  std::optional<nn::PadMode> mode = nn::symbolizePadMode(word);
  if (!mode) {
    c.fail("mode '" + ::tessera::onnx::printable(word) + "' is not supported");
    return;
  }
  Ints lows(rank, 0), highs(rank, 0);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    lows[axis] = pads[i];
    highs[axis] = pads[axes.size() + i];
  }
  if (*mode != nn::PadMode::constant)
    value = {};
  c.set(0, c.pad(x, lows, highs, value, *mode), type);
}

static void expand(NodeContext &c) {
  Value x = c.v(0);
  KnownPtr k = c.known(1, "shape");
  if (!k || !x)
    return;
  int64_t rank = std::max<int64_t>(c.rank(x), k->count());
  Exts shape(rank, Ext(1));
  for (int64_t i = 0; i < c.rank(x); ++i)
    shape[rank - c.rank(x) + i] = c.ext(x, i);
  for (int64_t i = 0; i < k->count(); ++i) {
    const Scalar &s = k->elements[i];
    Ext &have = shape[rank - k->count() + i];
    if (!s.dynamic && s.i != 1 && have.isStatic() && !have.is(1) && have.size != s.i) {
      c.fail("cannot expand an extent of " + Twine(have.size) + " to " + Twine(s.i));
      return;
    }
    have = c.wider(have, s.dynamic ? Ext(s.dynamic) : Ext(s.i));
  }
  c.set(0, c.broadcast(x, shape), c.type(0));
}

static void tile(NodeContext &c) {
  Value x = c.v(0);
  std::optional<Ints> repeats;
  if (c.opset < 6) {
    std::optional<int64_t> tiles = c.oneInt(1, "tiles"), axis = c.oneInt(2, "axis");
    std::optional<int64_t> at = axis ? c.axis(*axis, c.rank(x)) : std::nullopt;
    if (!tiles || !at)
      return;
    repeats.emplace(c.rank(x), 1);
    (*repeats)[*at] = *tiles;
  } else {
    repeats = c.ints(1, "repeats");
  }
  if (!repeats)
    return;
  // The extents are products, which must not overflow.
  if (llvm::any_of(*repeats, [](int64_t n) { return n > maxElements; }))
    return void(c.fail("a tensor has too many elements"));
  c.set(0, c.one<nn::TileOp>(x, *repeats), c.type(0));
}

//===----------------------------------------------------------------------===//
// Rearrangements
//===----------------------------------------------------------------------===//

static void depthToSpace(NodeContext &c) {
  Value x = c.v(0);
  int64_t block = c.attrInt("blocksize", 0);
  if (c.rank(x) != 4 || block < 1 || block > (1 << 16) || ShapedType::isDynamic(c.dim(x, 1)) ||
      c.dim(x, 1) % (block * block)) {
    c.fail("expected four dimensions and channels that 'blocksize' squared divides");
    return;
  }
  Ext n = c.ext(x, 0), depth(c.dim(x, 1) / (block * block)), h = c.ext(x, 2), w = c.ext(x, 3), k(block);
  bool crd = c.attrString("mode", "DCR") == "CRD";
  Value y = crd ? c.transpose(c.reshape(x, {n, depth, k, k, h, w}), {0, 1, 4, 2, 5, 3})
                : c.transpose(c.reshape(x, {n, k, k, depth, h, w}), {0, 3, 4, 1, 5, 2});
  c.set(0, c.reshape(y, {n, depth, c.mul(h, k), c.mul(w, k)}), c.type(0));
}

static void spaceToDepth(NodeContext &c) {
  Value x = c.v(0);
  int64_t block = c.attrInt("blocksize", 0);
  if (c.rank(x) != 4 || block < 1 || block > (1 << 16)) {
    c.fail("expected four dimensions and a positive 'blocksize'");
    return;
  }
  Ext n = c.ext(x, 0), depth = c.ext(x, 1), k(block), h = c.floordiv(c.ext(x, 2), k),
      w = c.floordiv(c.ext(x, 3), k);
  Value y = c.transpose(c.reshape(x, {n, depth, h, k, w, k}), {0, 3, 5, 1, 2, 4});
  c.set(0, c.reshape(y, {n, c.mul(depth, Ext(block * block)), h, w}), c.type(0));
}

static void trilu(NodeContext &c) {
  Value x = c.v(0);
  int64_t k = 0;
  if (c.has(1)) {
    std::optional<int64_t> given = c.oneInt(1, "k");
    if (!given)
      return;
    k = *given;
  }
  bool upper = c.attrInt("upper", 1);
  c.set(0, c.one<nn::TriluOp>(x, uint64_t(k), upper), c.type(0));
}

static void reverseSequence(NodeContext &c) {
  c.set(0,
        c.one<nn::ReverseSequenceOp>(c.v(0), c.v(1), uint64_t(c.attrInt("time_axis", 0)),
                                     uint64_t(c.attrInt("batch_axis", 1))),
        c.type(0));
}

static void centerCropPad(NodeContext &c) {
  Value x = c.v(0);
  std::optional<Ints> shape = c.ints(1, "shape");
  std::optional<Ints> axes = c.axes(c.hasAttr("axes") ? c.attrInts("axes") : range(0, c.rank(x)), c.rank(x));
  if (!shape || !axes)
    return;
  if (shape->size() != axes->size()) {
    c.fail("expected as many extents as axes");
    return;
  }
  Ints lows(c.rank(x), 0), highs(c.rank(x), 0);
  for (auto [wanted, axis] : llvm::zip(*shape, *axes)) {
    int64_t have = c.dim(x, axis);
    if (ShapedType::isDynamic(have)) {
      c.fail("a dynamic extent is not supported");
      return;
    }
    if (have > wanted) {
      x = c.slice(x, axis, (have - wanted) / 2, wanted);
    } else {
      lows[axis] = (wanted - have) / 2;
      highs[axis] = wanted - have - lows[axis];
    }
  }
  c.set(0, c.pad(x, lows, highs), c.type(0));
}

ArrayRef<OperatorEntry> onnximport::moveOperators() {
  static const OperatorEntry entries[] = {
      {"Reshape", 1, lastOpset, reshape},
      {"Flatten", 1, lastOpset, flatten},
      {"Squeeze", 1, lastOpset, squeeze},
      {"Unsqueeze", 1, lastOpset, unsqueeze},
      {"Transpose", 1, lastOpset, transpose},
      {"Concat", 1, lastOpset, concatenate},
      {"Split", 1, lastOpset, split},
      {"Slice", 1, lastOpset, slice},
      {"Pad", 1, lastOpset, pad},
      {"Expand", 8, lastOpset, expand},
      {"Tile", 1, lastOpset, tile},
      {"DepthToSpace", 1, lastOpset, depthToSpace},
      {"SpaceToDepth", 1, lastOpset, spaceToDepth},
      {"Trilu", 14, lastOpset, trilu},
      {"Trilu", 1, lastOpset, trilu, microsoft},
      {"ReverseSequence", 10, lastOpset, reverseSequence},
      {"CenterCropPad", 18, lastOpset, centerCropPad},
  };
  return entries;
}
