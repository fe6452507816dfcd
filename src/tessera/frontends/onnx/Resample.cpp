// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Resizing grids and sampling them at other places.
#include "tessera/frontends/onnx/Resample.h"
#include "tessera/frontends/onnx/Importer.h"

using namespace tessera;
using namespace tessera::onnximport;
using llvm::APFloat;

static std::optional<SmallVector<double>> numbers(NodeContext &c, unsigned i, StringRef what) {
  KnownPtr k = c.known(i, what);
  if (!k || !k->isStatic()) {
    c.fail(what + " must be known when compiling");
    return std::nullopt;
  }
  SmallVector<double> list;
  for (const Scalar &s : k->elements)
    list.push_back(isFloat(k->type) ? s.f : double(s.i));
  return list;
}

// Sizes may name extents of the operand itself, which do not change.
static std::optional<SmallVector<Ext>> sizeList(NodeContext &c, unsigned i) {
  KnownPtr k = c.known(i, "sizes");
  if (!k)
    return std::nullopt;
  SmallVector<Ext> list;
  for (const Scalar &s : k->elements)
    list.push_back(s.dynamic ? Ext(s.dynamic) : Ext(isFloat(k->type) ? int64_t(s.f) : s.i));
  return list;
}

static constexpr const char *cannotResize =
    "a dynamic height or width cannot be resized so; export the model with fixed "
    "heights and widths (the batch may stay open)";

// An input that is there and not empty.
static bool given(NodeContext &c, unsigned i) {
  return c.has(i) && !(c.val(i)->rank() == 1 && c.val(i)->dims[0] == 0);
}

// An extent that was computed from scales; fails where it is none.
static Ext extentOf(NodeContext &c, double extent) {
  if (!(extent >= 0 && extent <= double(maxElements)))
    return c.fail("expected scales and a region that give extents from 0 to " + Twine(maxElements)), Ext(1);
  return Ext(int64_t(extent));
}

namespace {
/// An axis whose extents are only known at launch. Without a scale it is the quotient of the extents.
struct OpenAxis {
  int64_t axis;
  Ext extent;
  std::optional<double> scale;
};
} // namespace

// Axes are independent of each other: those with open extents come last.
static void build(NodeContext &c, Value x, ArrayRef<double> scales, ArrayRef<double> roi, ArrayRef<Ext> shape,
                  ArrayRef<OpenAxis> open, const ResizeWords &words) {
  bool antialias = c.attrInt("antialias", 0) != 0;
  if (!open.empty() && (antialias || words.coordinates == "tf_crop_and_resize"))
    return void(c.fail(cannotResize));
  RankedTensorType type = c.typeFor(shape, c.elem(x));
  if (!type || c.bad)
    return;
  if (open.empty() || llvm::any_of(scales, [](double scale) { return scale != 1; }))
    x = nn::ResizeOp::create(c.b, c.loc, type, x, words.mode, words.coordinates, words.nearest, scales, roi,
                             APFloat(words.cubic), words.excludeOutside, antialias,
                             APFloat(c.attrFloat("extrapolation_value", 0)), isUnsigned(c.type(0)));
  for (const OpenAxis &axis : open)
    x = resizeOpen(c, x, axis.axis, axis.extent, axis.scale, words, c.type(0));
  c.set(0, x, c.type(0));
}

static void resize(NodeContext &c) {
  Value x = c.v(0);
  int64_t rank = c.rank(x);
  std::string mode = c.attrString("mode", "nearest"),
              coordinates =
                  c.attrString("coordinate_transformation_mode", c.opset < 11 ? "asymmetric" : "half_pixel"),
              nearest = c.attrString("nearest_mode", c.opset < 11 ? "floor" : "round_prefer_floor"),
              policy = c.attrString("keep_aspect_ratio_policy", "stretch");
  ResizeWords words{mode, coordinates, nearest, c.attrFloat("cubic_coeff_a", -0.75),
                    c.attrInt("exclude_outside", 0) != 0};
  SmallVector<OpenAxis> open;
  std::optional<Ints> axes = c.axes(c.hasAttr("axes") ? c.attrInts("axes") : range(0, rank), rank);
  if (!axes || c.bad)
    return;
  SmallVector<double> scales(rank, 1), roi(2 * rank, 0);
  for (int64_t i = 0; i < rank; ++i)
    roi[rank + i] = 1;
  int64_t n = axes->size();
  unsigned roiInput = 1, scaleInput = c.opset < 11 ? 1 : 2;
  if (c.opset >= 11 && given(c, roiInput) && coordinates == "tf_crop_and_resize") {
    auto list = numbers(c, roiInput, "roi");
    if (!list || int64_t(list->size()) != 2 * n)
      return void(c.fail("expected a region of " + Twine(2 * n) + " elements"));
    for (auto [i, axis] : llvm::enumerate(*axes)) {
      roi[axis] = (*list)[i];
      roi[rank + axis] = (*list)[n + i];
    }
  }
  Exts shape = c.exts(x);
  if (c.opset >= 11 && given(c, 3)) {
    std::optional<SmallVector<Ext>> list = sizeList(c, 3);
    if (!list || int64_t(list->size()) != n)
      return void(c.fail("expected " + Twine(n) + " sizes"));
    double common = policy == "not_larger" ? INFINITY : 0;
    for (auto [i, axis] : llvm::enumerate(*axes)) {
      Ext have = c.ext(x, axis), wanted = (*list)[i];
      if (c.same(have, wanted))
        scales[axis] = 1;
      else if (have.isStatic() && wanted.isStatic() && have.size > 0)
        scales[axis] = double(wanted.size) / double(have.size);
      else if (policy != "stretch")
        return void(c.fail(cannotResize));
      else {
        open.push_back({axis, wanted, std::nullopt});
        continue;
      }
      common = policy == "not_larger" ? std::min(common, scales[axis]) : std::max(common, scales[axis]);
      shape[axis] = wanted;
    }
    if (policy != "stretch")
      for (int64_t axis : *axes) {
        if (ShapedType::isDynamic(c.dim(x, axis)))
          return void(c.fail(cannotResize));
        scales[axis] = common;
        shape[axis] = extentOf(c, std::floor(common * double(c.dim(x, axis)) + 0.5));
      }
    return build(c, x, scales, roi, shape, open, words);
  }
  auto list = numbers(c, scaleInput, "scales");
  if (!list || int64_t(list->size()) != n)
    return void(c.fail("expected " + Twine(n) + " scales"));
  for (auto [i, axis] : llvm::enumerate(*axes)) {
    double scale = scales[axis] = static_cast<float>((*list)[i]);
    if (!(scale > 0) || scale > 1e9)
      return void(c.fail("expected positive scales"));
    if (scale == 1 && coordinates != "tf_crop_and_resize")
      continue;
    if (ShapedType::isDynamic(c.dim(x, axis))) {
      open.push_back({axis, scaledExtent(c, c.ext(x, axis), scale), scale});
      scales[axis] = 1;
      continue;
    }
    double part = coordinates == "tf_crop_and_resize" ? roi[rank + axis] - roi[axis] : 1;
    shape[axis] = extentOf(c, std::floor(float(c.dim(x, axis)) * float(part) * float(scale)));
  }
  build(c, x, scales, roi, shape, open, words);
}

static void upsample(NodeContext &c) {
  Value x = c.v(0);
  int64_t rank = c.rank(x);
  std::string mode = c.attrString("mode", "nearest");
  std::optional<SmallVector<double>> list =
      c.opset < 9 ? std::optional(c.attrFloats("scales")) : numbers(c, 1, "scales");
  if (!list || int64_t(list->size()) != rank)
    return void(c.fail("expected " + Twine(rank) + " scales"));
  Exts shape = c.exts(x);
  SmallVector<double> roi(2 * rank, 0);
  SmallVector<OpenAxis> open;
  for (int64_t i = 0; i < rank; ++i) {
    roi[rank + i] = 1;
    if ((*list)[i] == 1)
      continue;
    if (!((*list)[i] > 0))
      return void(c.fail("expected positive scales"));
    if (ShapedType::isDynamic(c.dim(x, i))) {
      open.push_back({i, scaledExtent(c, c.ext(x, i), (*list)[i]), (*list)[i]});
      (*list)[i] = 1;
      continue;
    }
    shape[i] = extentOf(c, std::floor(float(c.dim(x, i)) * float((*list)[i])));
  }
  ResizeWords words{mode == "bilinear" ? "linear" : mode, "asymmetric", "floor"};
  build(c, x, *list, roi, shape, open, words);
}

static void gridSample(NodeContext &c) {
  std::string mode = c.attrString("mode", "linear");
  if (mode == "bilinear" || mode == "bicubic")
    mode.erase(0, 2);
  std::string padding = c.attrString("padding_mode", "zeros");
  Value x = c.v(0), grid = c.castTo(c.v(1), c.type(1), c.type(0));
  c.set(0,
        c.one<nn::GridSampleOp>(x, grid, StringRef(mode), StringRef(padding),
                                c.attrInt("align_corners", 0) != 0),
        c.type(0));
}

// The places of a regular grid in homogeneous coordinates, times the matrices.
static void affineGrid(NodeContext &c) {
  DataType type = c.type(0);
  Value theta = c.v(0);
  std::optional<Ints> size = c.ints(1, "size");
  if (!size)
    return;
  int64_t spatial = int64_t(size->size()) - 2;
  if ((spatial != 2 && spatial != 3) || c.rank(theta) != 3)
    return void(c.fail("expected a size of four or five extents, and a matrix for each item"));
  bool corners = c.attrInt("align_corners", 0);
  int64_t places = 1;
  for (int64_t n : ArrayRef(*size).drop_front(2))
    places = c.mul(Ext(places), Ext(n)).size;
  if (c.bad || places < 1 || places > maxKnown * 16)
    return void(c.fail("its grid is empty or too large"));
  std::vector<double> base; // places x (spatial + 1): x, y, (z,) 1
  for (int64_t at = 0; at < places; ++at) {
    int64_t rest = at;
    SmallVector<double> row;
    for (int64_t d = spatial - 1; d >= 0; --d) {
      int64_t n = (*size)[d + 2], i = rest % n;
      rest /= n;
      row.push_back(corners ? (n == 1 ? 0.0 : -1 + 2.0 * double(i) / double(n - 1))
                            : (2.0 * double(i) + 1) / double(n) - 1);
    }
    row.push_back(1);
    base.insert(base.end(), row.begin(), row.end());
  }
  Value grid = c.matmul(c.lead(c.constant(type, {places, spatial + 1}, base), 3), theta, false, true);
  Exts shape = {Ext((*size)[0])};
  for (int64_t n : ArrayRef(*size).drop_front(2))
    shape.push_back(Ext(n));
  shape.push_back(Ext(spatial));
  c.set(0, c.reshape(grid, shape), type);
}

static void roiAlign(NodeContext &c) {
  std::string mode = c.attrString("mode", "avg"),
              coordinates = c.attrString("coordinate_transformation_mode",
                                         c.opset < 16 ? "output_half_pixel" : "half_pixel");
  c.set(0,
        c.one<nn::RoiAlignOp>(c.v(0), c.v(1), c.v(2), StringRef(mode),
                              uint64_t(c.attrInt("output_height", 1)), uint64_t(c.attrInt("output_width", 1)),
                              uint64_t(c.attrInt("sampling_ratio", 0)),
                              APFloat(c.attrFloat("spatial_scale", 1)), coordinates == "half_pixel"),
        c.type(0));
}

ArrayRef<OperatorEntry> onnximport::resampleOperators() {
  static const OperatorEntry entries[] = {
      {"Resize", 10, lastOpset, resize},         {"Upsample", 7, 9, upsample},
      {"GridSample", 16, lastOpset, gridSample}, {"GridSample", 1, lastOpset, gridSample, microsoft},
      {"AffineGrid", 20, lastOpset, affineGrid}, {"RoiAlign", 10, lastOpset, roiAlign},
  };
  return entries;
}
