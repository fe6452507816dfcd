// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Evaluate.h: operators that move elements, and reductions.
#include "tessera/frontends/onnx/Evaluate.h"

using namespace tessera;
using namespace tessera::onnximport;

std::optional<int64_t> Evaluator::axisOf(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    return std::nullopt;
  return axis < 0 ? axis + rank : axis;
}

bool Evaluator::concat() {
  std::optional<int64_t> axis = axisOf(c.attrInt("axis", 1), in[0]->rank());
  if (!axis)
    return false;
  Known r;
  r.type = in[0]->type;
  r.dims = in[0]->dims;
  r.dims[*axis] = 0;
  for (const KnownPtr &k : in) {
    if (!k || k->type != r.type || k->rank() != r.rank())
      return false;
    for (int64_t d = 0; d < r.rank(); ++d)
      if (d != *axis && k->dims[d] != r.dims[d])
        return false;
    r.dims[*axis] += k->dims[*axis];
  }
  std::optional<int64_t> count = countOf(r.dims);
  if (!count)
    return false;
  r.elements.resize(*count);
  Strides strides = stridesOf(r.dims);
  int64_t start = 0;
  for (const KnownPtr &k : in) {
    forEach(k->dims, [&](int64_t at, ArrayRef<int64_t> w) {
      int64_t to = start * strides[*axis];
      for (int64_t d = 0; d < r.rank(); ++d)
        to += w[d] * strides[d];
      r.elements[to] = k->elements[at];
    });
    start += k->dims[*axis];
  }
  return give(std::move(r));
}

bool Evaluator::gather() {
  const Known &x = *in[0];
  std::optional<Ints> places = list(1);
  std::optional<int64_t> axis = axisOf(c.attrInt("axis", 0), x.rank());
  if (!places || !axis)
    return false;
  Known r;
  r.type = x.type;
  r.dims.assign(x.dims.begin(), x.dims.begin() + *axis);
  r.dims.append(in[1]->dims.begin(), in[1]->dims.end());
  r.dims.append(x.dims.begin() + *axis + 1, x.dims.end());
  std::optional<int64_t> count = countOf(r.dims);
  if (!count)
    return false;
  int64_t inner = 1, n = x.dims[*axis], outer = 1;
  for (int64_t d = *axis + 1; d < x.rank(); ++d)
    inner *= x.dims[d];
  for (int64_t d = 0; d < *axis; ++d)
    outer *= x.dims[d];
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t p : *places) {
      int64_t at = p < 0 ? p + n : p;
      if (at < 0 || at >= n)
        return false;
      for (int64_t i = 0; i < inner; ++i)
        r.elements.push_back(x.elements[(o * n + at) * inner + i]);
    }
  return give(std::move(r));
}

bool Evaluator::slice() {
  const Known &x = *in[0];
  Ints starts, ends, axes, steps;
  if (c.opset < 10) {
    starts = c.attrInts("starts");
    ends = c.attrInts("ends");
    axes = c.attrInts("axes");
  } else {
    auto s = list(1), e = list(2);
    if (!s || !e)
      return false;
    starts = *s;
    ends = *e;
    if (auto a = list(3))
      axes = *a;
    else if (in.size() > 3 && in[3])
      return false;
    if (auto a = list(4))
      steps = *a;
    else if (in.size() > 4 && in[4])
      return false;
  }
  if (starts.size() != ends.size() || (!axes.empty() && axes.size() != starts.size()) ||
      (!steps.empty() && steps.size() != starts.size()))
    return false;
  Ints from(x.rank(), 0), by(x.rank(), 1);
  SmallVector<int64_t> dims = x.dims;
  for (size_t i = 0; i < starts.size(); ++i) {
    std::optional<int64_t> axis = axisOf(axes.empty() ? int64_t(i) : axes[i], x.rank());
    int64_t step = steps.empty() ? 1 : steps[i];
    if (!axis || step == 0 || std::abs(step) > maxKnown)
      return false;
    int64_t n = x.dims[*axis], low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
    auto clamp = [&](int64_t v) { return std::clamp(v < 0 ? (v < -n ? int64_t(-1) : v + n) : v, low, high); };
    int64_t s = starts[i] < -n ? low : clamp(starts[i]), e = ends[i] < -n ? low : clamp(ends[i]);
    from[*axis] = s;
    by[*axis] = step;
    dims[*axis] = step > 0 ? (e > s ? (e - s - 1) / step + 1 : 0) : (s > e ? (s - e - 1) / -step + 1 : 0);
  }
  Known r;
  r.type = x.type;
  r.dims = dims;
  r.elements.resize(countOf(dims).value_or(0));
  Strides strides = stridesOf(x.dims);
  forEach(dims, [&](int64_t at, ArrayRef<int64_t> w) {
    int64_t offset = 0;
    for (int64_t d = 0; d < x.rank(); ++d)
      offset += (from[d] + w[d] * by[d]) * strides[d];
    r.elements[at] = x.elements[offset];
  });
  return give(std::move(r));
}

bool Evaluator::reshape() {
  const Known &x = *in[0];
  StringRef op = c.node.opType;
  std::optional<Ints> given = op == "Flatten" ? std::nullopt
                              : c.hasAttr(op == "Reshape" ? "shape" : "axes")
                                  ? std::optional(c.attrInts(op == "Reshape" ? "shape" : "axes"))
                                  : list(1);
  if (in.size() > 1 && in[1] && !given)
    return false;
  Known r = x;
  if (op == "Flatten") {
    int64_t axis = c.attrInt("axis", 1), outer = 1;
    axis = axis < 0 ? axis + x.rank() : axis;
    if (axis < 0 || axis > x.rank())
      return false;
    for (int64_t i = 0; i < axis; ++i)
      outer *= x.dims[i];
    r.dims = {outer, outer ? x.count() / outer : 0};
    if (!outer)
      return false;
  } else if (op == "Reshape") {
    if (!given)
      return false;
    int64_t product = 1, open = -1;
    r.dims.clear();
    for (auto [i, n] : llvm::enumerate(*given)) {
      int64_t d = n;
      if (n == 0 && !c.attrInt("allowzero", 0)) {
        if (int64_t(i) >= x.rank())
          return false;
        d = x.dims[i];
      }
      if (d == -1) {
        if (open >= 0)
          return false;
        open = i;
        d = 1;
      }
      if (d < 0 || d > maxKnown)
        return false;
      r.dims.push_back(d);
      product *= d;
      if (product > maxKnown)
        return false;
    }
    if (open >= 0) {
      if (!product || x.count() % product)
        return false;
      r.dims[open] = x.count() / product;
    }
  } else if (op == "Squeeze") {
    Ints axes;
    for (int64_t i = 0; i < x.rank(); ++i)
      if (!given && x.dims[i] == 1)
        axes.push_back(i);
    for (int64_t a : given.value_or(Ints())) {
      std::optional<int64_t> at = axisOf(a, x.rank());
      if (!at || x.dims[*at] != 1)
        return false;
      axes.push_back(*at);
    }
    r.dims.clear();
    for (int64_t i = 0; i < x.rank(); ++i)
      if (!llvm::is_contained(axes, i))
        r.dims.push_back(x.dims[i]);
  } else {
    if (!given)
      return false;
    int64_t rank = x.rank() + given->size();
    Ints axes;
    for (int64_t a : *given) {
      std::optional<int64_t> at = axisOf(a, rank);
      if (!at || llvm::is_contained(axes, *at))
        return false;
      axes.push_back(*at);
    }
    r.dims.clear();
    for (int64_t i = 0, next = 0; i < rank; ++i)
      r.dims.push_back(llvm::is_contained(axes, i) ? 1 : x.dims[next++]);
  }
  if (countOf(r.dims) != x.count())
    return false;
  return give(std::move(r));
}

bool Evaluator::transpose() {
  const Known &x = *in[0];
  Ints perm = c.attrInts("perm");
  if (perm.empty())
    perm = llvm::to_vector(llvm::reverse(onnximport::range(0, x.rank())));
  Ints sorted = perm;
  llvm::sort(sorted);
  if (sorted != onnximport::range(0, x.rank()))
    return false;
  Known r;
  r.type = x.type;
  for (int64_t p : perm)
    r.dims.push_back(x.dims[p]);
  r.elements.resize(x.count());
  Strides strides = stridesOf(x.dims);
  forEach(r.dims, [&](int64_t at, ArrayRef<int64_t> w) {
    int64_t offset = 0;
    for (auto [d, p] : llvm::enumerate(perm))
      offset += w[d] * strides[p];
    r.elements[at] = x.elements[offset];
  });
  return give(std::move(r));
}

bool Evaluator::spread(const Known &x, ArrayRef<int64_t> dims) {
  std::optional<int64_t> count = countOf(dims);
  if (!count || (isFloat(x.type) && *count > maxFloats))
    return false;
  Known r;
  r.type = x.type;
  r.dims.assign(dims.begin(), dims.end());
  r.elements.resize(*count);
  forEach(dims, [&](int64_t at, ArrayRef<int64_t> w) { r.elements[at] = pick(x, w); });
  return give(std::move(r));
}

bool Evaluator::expand() {
  std::optional<Ints> shape = list(1);
  auto dims = shape ? broadcastDims(in[0]->dims, *shape) : std::nullopt;
  return dims && spread(*in[0], *dims);
}

bool Evaluator::constantOfShape() {
  std::optional<Ints> shape = list(0);
  if (!shape)
    return false;
  Known value;
  value.type = DataType::F32;
  value.elements.resize(1);
  if (const ::tessera::onnx::Attribute *a = c.attr("value"); a && a->tensors.size() == 1) {
    KnownPtr k = c.importer.known(c.importer.fromTensor(a->tensors[0]));
    if (!k || k->count() != 1)
      return false;
    value = *k;
    value.dims.clear();
  }
  return spread(value, *shape);
}

bool Evaluator::tile() {
  std::optional<Ints> repeats = list(1);
  const Known &x = *in[0];
  if (!repeats || c.opset < 6 || int64_t(repeats->size()) != x.rank())
    return false;
  Known r;
  r.type = x.type;
  for (int64_t d = 0; d < x.rank(); ++d) {
    if ((*repeats)[d] < 0 || (*repeats)[d] > maxKnown)
      return false;
    r.dims.push_back(x.dims[d] * (*repeats)[d]);
  }
  std::optional<int64_t> count = countOf(r.dims);
  if (!count)
    return false;
  r.elements.resize(*count);
  Strides strides = stridesOf(x.dims);
  forEach(r.dims, [&](int64_t at, ArrayRef<int64_t> w) {
    int64_t offset = 0;
    for (int64_t d = 0; d < x.rank(); ++d)
      offset += (w[d] % x.dims[d]) * strides[d];
    r.elements[at] = x.elements[offset];
  });
  return give(std::move(r));
}

bool Evaluator::split() {
  const Known &x = *in[0];
  std::optional<Ints> sizes = c.hasAttr("split") ? std::optional(c.attrInts("split")) : list(1);
  int64_t n = c.numOutputs();
  if (x.rank() != 1 || n < 1)
    return false;
  if (!sizes) {
    if (in.size() > 1 && in[1])
      return false;
    int64_t part = (x.dims[0] + n - 1) / n;
    sizes.emplace();
    for (int64_t i = 0; i < n; ++i)
      sizes->push_back(std::clamp<int64_t>(x.dims[0] - i * part, 0, part));
  }
  int64_t total = 0;
  for (int64_t s : *sizes) {
    if (s < 0 || s > x.dims[0])
      return false;
    total += s;
  }
  if (int64_t(sizes->size()) != n || total != x.dims[0])
    return false;
  int64_t start = 0;
  for (int64_t i = 0; i < n; ++i) {
    Known r;
    r.type = x.type;
    r.dims = {(*sizes)[i]};
    r.elements.assign(x.elements.begin() + start, x.elements.begin() + start + (*sizes)[i]);
    start += (*sizes)[i];
    c.set(i, std::move(r));
  }
  return true;
}

bool Evaluator::range() {
  if (in.size() != 3 || !in[1] || !in[2] || !allStatic())
    return false;
  for (const KnownPtr &k : in)
    if (k->count() != 1 || k->type != in[0]->type)
      return false;
  Known r;
  r.type = in[0]->type;
  const Scalar &a = in[0]->elements[0], &b = in[1]->elements[0], &d = in[2]->elements[0];
  bool floating = isFloat(r.type);
  double count =
      floating ? std::ceil((b.f - a.f) / d.f) : std::ceil((double(b.i) - double(a.i)) / double(d.i));
  if (!(floating ? d.f != 0 : d.i != 0) || !(count < maxKnown))
    return false;
  for (int64_t i = 0; i < int64_t(std::max(count, 0.0)); ++i) {
    Scalar s;
    if (floating)
      s.f = roundTo(r.type, a.f + double(i) * d.f);
    else
      s.i = wrapTo(r.type, a.i + i * d.i);
    r.elements.push_back(s);
  }
  r.dims = {int64_t(r.elements.size())};
  return give(std::move(r));
}

bool Evaluator::reduce() {
  const Known &x = *in[0];
  StringRef op = c.node.opType;
  std::optional<Ints> axes = c.hasAttr("axes") ? std::optional(c.attrInts("axes")) : list(1);
  bool all = !axes || axes->empty();
  if (all && c.attrInt("noop_with_empty_axes", 0))
    return false;
  if ((!all && x.rank() != 1) || x.elements.empty() || x.type == DataType::Bool)
    return false;
  StringRef step = op == "ReduceSum" ? "Add" : op == "ReduceProd" ? "Mul" : op == "ReduceMax" ? "Max" : "Min";
  Scalar total = x.elements[0];
  for (size_t i = 1; i < x.elements.size(); ++i) {
    std::optional<Scalar> next = apply(step, total, x.elements[i], x.type);
    if (!next)
      return false;
    total = *next;
  }
  Known r;
  r.type = x.type;
  if (c.attrInt("keepdims", 1))
    r.dims.assign(x.rank(), 1);
  r.elements = {total};
  return give(std::move(r));
}
