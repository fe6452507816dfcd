// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements at places that other elements name.
#include "tessera/frontends/onnx/Importer.h"

using namespace tessera;
using namespace tessera::onnximport;
using nn::BinaryKind;

static void gather(NodeContext &c) {
  Value x = c.v(0);
  std::optional<int64_t> axis = c.axis(c.attrInt("axis", 0), c.rank(x));
  if (axis)
    c.set(0, c.gather(x, c.v(1), *axis), c.type(0));
}

static void gatherElements(NodeContext &c) {
  Value x = c.v(0);
  std::optional<int64_t> axis = c.axis(c.attrInt("axis", 0), c.rank(x));
  if (axis)
    c.set(0, c.one<nn::GatherElementsOp>(x, c.v(1), uint64_t(*axis)), c.type(0));
}

// How many coordinates each index has decides ranks.
static bool needCoordinates(NodeContext &c, Value indices) {
  return !c.bad &&
         (c.rank(indices) == 0 || c.needStatic(indices, c.rank(indices) - 1, "the number of coordinates"));
}

static void gatherNd(NodeContext &c) {
  if (!needCoordinates(c, c.v(1)))
    return;
  c.set(0, c.one<nn::GatherNdOp>(c.v(0), c.v(1), uint64_t(c.attrInt("batch_dims", 0))), c.type(0));
}

static std::optional<nn::ScatterKind> scatterKind(NodeContext &c) {
  std::string word = c.attrString("reduction", "none");
  if (word == "none")
    return nn::ScatterKind::set;
  if (std::optional<nn::ScatterKind> kind = nn::symbolizeScatterKind(word))
    return kind;
  c.fail("reduction '" + ::tessera::onnx::printable(word) + "' is not supported");
  return std::nullopt;
}

static void scatterElements(NodeContext &c) {
  Value x = c.v(0);
  std::optional<int64_t> axis = c.axis(c.attrInt("axis", 0), c.rank(x));
  std::optional<nn::ScatterKind> kind = scatterKind(c);
  if (axis && kind)
    c.set(0, c.one<nn::ScatterElementsOp>(*kind, x, c.v(1), c.v(2), uint64_t(*axis), isUnsigned(c.type(0))),
          c.type(0));
}

static void scatterNd(NodeContext &c) {
  if (!needCoordinates(c, c.v(1)))
    return;
  if (std::optional<nn::ScatterKind> kind = scatterKind(c))
    c.set(0, c.one<nn::ScatterNdOp>(*kind, c.v(0), c.v(1), c.v(2), isUnsigned(c.type(0))), c.type(0));
}

static void oneHot(NodeContext &c) {
  Value indices = c.castTo(c.v(0), c.type(0), DataType::I64), values = c.v(2);
  std::optional<double> depth = c.oneFloat(1, "depth");
  std::optional<int64_t> axis = c.axis(c.attrInt("axis", -1), c.rank(indices) + 1);
  if (!depth || !axis)
    return;
  c.set(0, c.one<nn::OneHotOp>(indices, values, uint64_t(*depth), uint64_t(*axis)), c.type(2));
}

// The update is written at write_indices[batch] + i along the axis; the rest of the cache stays.
static void tensorScatter(NodeContext &c) {
  Value cache = c.v(0), update = c.v(1);
  std::optional<int64_t> axis = c.axis(c.attrInt("axis", -2), c.rank(cache));
  if (!axis || c.rank(update) != c.rank(cache))
    return void(c.fail("the update does not fit the cache"));
  int64_t rank = c.rank(cache);
  Value places = c.along(c.iota(c.ext(update, *axis), DataType::I64), *axis, rank);
  if (c.has(2)) {
    Value start = c.castTo(c.v(2), c.type(2), DataType::I64);
    places = c.add(places, c.along(start, 0, rank));
  }
  if (c.attrString("mode", "linear") == "circular") {
    if (ShapedType::isDynamic(c.dim(cache, *axis)))
      return void(c.fail("a circular cache of dynamic extent is not supported"));
    places = c.binary(BinaryKind::mod, places, c.scalar(c.dim(cache, *axis), DataType::I64));
  }
  Value indices = c.broadcast(places, c.exts(update));
  c.set(0,
        indices ? c.one<nn::ScatterElementsOp>(nn::ScatterKind::set, cache, indices, update, uint64_t(*axis),
                                               false)
                : Value(),
        c.type(0));
}

ArrayRef<OperatorEntry> onnximport::indexOperators() {
  static const OperatorEntry entries[] = {
      {"Gather", 1, lastOpset, gather},
      {"GatherElements", 11, lastOpset, gatherElements},
      {"GatherND", 11, lastOpset, gatherNd},
      {"Scatter", 9, lastOpset, scatterElements},
      {"ScatterElements", 11, lastOpset, scatterElements},
      {"ScatterND", 11, lastOpset, scatterNd},
      {"OneHot", 9, lastOpset, oneHot},
      {"TensorScatter", 24, lastOpset, tensorScatter},
  };
  return entries;
}
