// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constants, shapes as values, and tensors made from shapes.
#include "tessera/frontends/onnx/Importer.h"
#include "tessera/frontends/onnx/Ratio.h"

using namespace tessera;
using namespace tessera::onnximport;
namespace ox = tessera::onnx;

static void constant(NodeContext &c) {
  auto list = [&](DataType type, auto &&values, bool isScalar) {
    Known known;
    known.type = type;
    if (!isScalar)
      known.dims = {int64_t(values.size())};
    for (auto value : values) {
      Scalar s;
      if (isFloat(type))
        s.f = value;
      else
        s.i = static_cast<int64_t>(value);
      known.elements.push_back(s);
    }
    c.set(0, std::move(known));
  };
  if (const ox::Attribute *a = c.attr("value"); a && a->tensors.size() == 1)
    return c.set(0, c.importer.fromTensor(a->tensors[0]));
  if (const ox::Attribute *a = c.attr("sparse_value"); a && a->sparseTensors.size() == 1)
    return c.set(0, c.importer.fromSparse(a->sparseTensors[0]));
  if (c.hasAttr("value_int"))
    return list(DataType::I64, Ints{c.attrInt("value_int", 0)}, true);
  if (c.hasAttr("value_float"))
    return list(DataType::F32, SmallVector<double>{c.attrFloat("value_float", 0)}, true);
  if (c.hasAttr("value_ints"))
    return list(DataType::I64, c.attrInts("value_ints"), false);
  if (c.hasAttr("value_floats"))
    return list(DataType::F32, c.attrFloats("value_floats"), false);
  const ox::Attribute *word = c.attr("value_string"), *words = c.attr("value_strings");
  if (word || words) {
    ox::Tensor &tensor = c.importer.keep({});
    tensor.type = DataType::String;
    if (word)
      tensor.strings.push_back(word->s);
    else
      tensor.strings.assign(words->strings.begin(), words->strings.end());
    if (words)
      tensor.dims = {int64_t(words->strings.size())};
    return c.set(0, c.importer.fromTensor(tensor));
  }
  c.fail("has no value that is supported");
}

static void shape(NodeContext &c) {
  Val x = c.val(0);
  if (!x) {
    c.fail("input 0 is missing");
    return;
  }
  int64_t rank = x->rank(), start = c.attrInt("start", 0), end = c.attrInt("end", rank);
  auto clamp = [&](int64_t n) { return std::clamp<int64_t>(n < 0 ? n + rank : n, 0, rank); };
  Known known;
  known.type = DataType::I64;
  for (int64_t i = clamp(start); i < clamp(end); ++i) {
    if (!ShapedType::isDynamic(x->dims[i]))
      known.elements.push_back({x->dims[i], 0, {}});
    else
      known.elements.push_back({0, 0, c.ext(c.v(0), i).value});
  }
  known.dims = {int64_t(known.elements.size())};
  c.set(0, std::move(known));
}

static void size(NodeContext &c) {
  Val x = c.val(0);
  if (!x) {
    c.fail("input 0 is missing");
    return;
  }
  Ext product(1);
  for (int64_t i = 0; i < x->rank(); ++i)
    product = c.mul(product, ShapedType::isDynamic(x->dims[i]) ? c.ext(c.v(0), i) : Ext(x->dims[i]));
  Known known;
  known.type = DataType::I64;
  known.elements.push_back({product.isStatic() ? product.size : 0, 0, product.value});
  c.set(0, std::move(known));
}

static void constantOfShape(NodeContext &c) {
  KnownPtr k = c.known(0, "shape");
  if (!k)
    return;
  Exts extents;
  for (const Scalar &s : k->elements)
    extents.push_back(s.dynamic ? Ext(s.dynamic) : Ext(s.i));
  const ox::Attribute *a = c.attr("value");
  if (!a || a->tensors.empty())
    return c.set(0, c.full(extents, 0, DataType::F32), DataType::F32);
  Val value = c.importer.fromTensor(a->tensors[0]);
  Value element = c.importer.materialise(value, &c);
  c.set(0, c.broadcast(c.reshape(element, {}), extents), value->type);
}

static void rangeOf(NodeContext &c) {
  // Known ends were computed already; what is left may have an extent as its end.
  KnownPtr start = c.known(0, "start"), limit = start ? c.known(1, "limit") : nullptr,
           delta = limit ? c.known(2, "delta") : nullptr;
  if (!delta)
    return;
  DataType type = c.type(0);
  bool scalars = start->count() == 1 && limit->count() == 1 && delta->count() == 1;
  if (!scalars || delta->elements[0].dynamic ||
      (isFloat(type) ? delta->elements[0].f == 0 : delta->elements[0].i == 0)) {
    c.fail("its operands must be scalars, with a delta other than 0");
    return;
  }
  const Scalar *ends[] = {&start->elements[0], &limit->elements[0], &delta->elements[0]};
  Ext count;
  if (isFloat(type)) {
    std::optional<Ratio> from = Ratio::of(*ends[0]), to = Ratio::of(*ends[1]), step = Ratio::of(*ends[2]);
    std::optional<Ratio> span = from && to && step ? combine(c, "Sub", *to, *from) : std::nullopt;
    std::optional<Ratio> steps = span ? combine(c, "Div", *span, *step) : std::nullopt;
    if (!steps)
      return void(c.fail("its operands have too many digits beside a dynamic extent"));
    count = ceilOf(c, *steps);
  } else {
    auto ext = [](const Scalar &s) { return s.dynamic ? Ext(s.dynamic) : Ext(s.i); };
    int64_t step = ends[2]->i;
    Ext from = ext(*ends[0]), to = ext(*ends[1]);
    Ext span = step > 0 ? c.sub(to, from) : c.sub(from, to);
    count = c.floordiv(c.add(span, Ext(std::abs(step) - 1)), Ext(std::abs(step)));
  }
  // It may start behind its limit.
  if (count.value && !isNatural(count.value))
    count = c.max(count, Ext(0));
  Value first = c.v(0), by = c.v(2);
  if (!first || !by || c.bad)
    return;
  first = c.reshape(first, {});
  by = c.reshape(by, {});
  SmallVector<Value> dynamic;
  if (!count.isStatic())
    dynamic.push_back(count.value);
  RankedTensorType result = c.typeFor({count}, c.elem(type));
  if (result && !c.bad)
    c.set(0, nn::IotaOp::create(c.b, c.loc, result, first, by, uint64_t(0), dynamic), type);
}

static void eyeLike(NodeContext &c) {
  Value x = c.v(0);
  if (c.rank(x) != 2) {
    c.fail("expected a matrix, but got " + Twine(c.rank(x)) + " dimensions");
    return;
  }
  int64_t k = c.attrInt("k", 0), to = c.attrInt("dtype", int64_t(c.type(0)));
  if (to <= 0 || to > ox::lastDataType) {
    c.fail("attribute 'dtype' names no element type: " + Twine(to));
    return;
  }
  Value rows = c.unsqueeze(c.iota(c.ext(x, 0), DataType::I64), {1}),
        columns = c.iota(c.ext(x, 1), DataType::I64);
  Value hit = c.binary(nn::BinaryKind::eq, c.sub(columns, rows), c.scalar(k, DataType::I64));
  auto type = static_cast<DataType>(to);
  c.set(0, c.castTo(hit, DataType::Bool, type), type);
}

ArrayRef<OperatorEntry> onnximport::shapeOperators() {
  static const OperatorEntry entries[] = {
      {"Constant", 1, lastOpset, constant}, {"Shape", 1, lastOpset, shape},
      {"Size", 1, lastOpset, size},         {"ConstantOfShape", 9, lastOpset, constantOfShape},
      {"Range", 11, lastOpset, rangeOf},    {"EyeLike", 9, lastOpset, eyeLike},
  };
  return entries;
}
