// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic on tensors whose elements are known: shapes, axes, bounds. It never fails: what it does not know
// is left to the conversion, which computes at run time and reports mistakes.
#include "tessera/frontends/onnx/Importer.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tessera;
using namespace tessera::onnximport;

namespace {

/// Floats are only computed for small tensors: what is large is data, not a shape.
constexpr int64_t maxFloats = 1024;

using Strides = SmallVector<int64_t>;

Strides stridesOf(ArrayRef<int64_t> dims) {
  Strides strides(dims.size(), 1);
  for (int64_t i = int64_t(dims.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * dims[i + 1];
  return strides;
}

std::optional<int64_t> countOf(ArrayRef<int64_t> dims) {
  int64_t count = 1;
  for (int64_t d : dims)
    if (d < 0 || __builtin_mul_overflow(count, d, &count) || count > maxKnown)
      return std::nullopt;
  return count;
}

// Calls `body(position, coordinates)` for each element of a shape.
template <typename Body> void forEach(ArrayRef<int64_t> dims, Body body) {
  int64_t count = countOf(dims).value_or(0);
  SmallVector<int64_t> at(dims.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    body(i, ArrayRef<int64_t>(at));
    for (int64_t d = int64_t(dims.size()) - 1; d >= 0 && ++at[d] == dims[d]; --d)
      at[d] = 0;
  }
}

std::optional<SmallVector<int64_t>> broadcastDims(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  SmallVector<int64_t> dims(std::max(a.size(), b.size()), 1);
  for (ArrayRef<int64_t> list : {a, b})
    for (size_t i = 0; i < list.size(); ++i) {
      int64_t &d = dims[dims.size() - list.size() + i];
      if (list[i] == 1)
        continue;
      if (d != 1 && d != list[i])
        return std::nullopt;
      d = list[i];
    }
  return dims;
}

const Scalar &pick(const Known &k, ArrayRef<int64_t> at) {
  int64_t offset = 0, lead = int64_t(at.size()) - k.rank();
  for (int64_t i = 0; i < k.rank(); ++i)
    offset = offset * k.dims[i] + (k.dims[i] == 1 ? 0 : at[lead + i]);
  return k.elements[offset];
}

class Evaluator {
public:
  explicit Evaluator(NodeContext &c) : c(c) {}

  bool run() {
    for (unsigned i = 0; i < c.numInputs(); ++i) {
      KnownPtr k = c.has(i) ? c.tryKnown(i) : nullptr;
      if (c.has(i) && (!k || (isFloat(k->type) && k->count() > maxFloats)))
        return false;
      in.push_back(k);
    }
    if (in.empty() || !in[0])
      return false;
    StringRef op = c.node.opType;
    if (elementwise(op) || compare(op) || unary(op))
      return true;
    using Method = bool (Evaluator::*)();
    Method method = llvm::StringSwitch<Method>(op)
                        .Case("Cast", &Evaluator::cast)
                        .Case("CastLike", &Evaluator::castLike)
                        .Case("Where", &Evaluator::where)
                        .Case("Concat", &Evaluator::concat)
                        .Case("Gather", &Evaluator::gather)
                        .Case("Slice", &Evaluator::slice)
                        .Cases({"Squeeze", "Unsqueeze", "Reshape", "Flatten"}, &Evaluator::reshape)
                        .Case("Transpose", &Evaluator::transpose)
                        .Case("Expand", &Evaluator::expand)
                        .Case("ConstantOfShape", &Evaluator::constantOfShape)
                        .Case("Range", &Evaluator::range)
                        .Case("Tile", &Evaluator::tile)
                        .Case("Split", &Evaluator::split)
                        .Cases({"ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin"}, &Evaluator::reduce)
                        .Default(nullptr);
    return method && (this->*method)();
  }

private:
  bool give(Known k) {
    c.set(0, std::move(k));
    return true;
  }
  Ext ext(const Scalar &s) { return s.dynamic ? Ext(s.dynamic) : Ext(s.i); }
  Scalar scalar(const Ext &e) { return {e.isStatic() ? e.size : 0, 0, e.value}; }
  bool allStatic() const {
    return llvm::all_of(in, [](const KnownPtr &k) { return !k || k->isStatic(); });
  }
  std::optional<Ints> list(unsigned i) {
    if (i >= in.size() || !in[i] || !in[i]->isStatic() || !isInteger(in[i]->type))
      return std::nullopt;
    Ints values;
    for (const Scalar &s : in[i]->elements)
      values.push_back(s.i);
    return values;
  }

  //===------------------------------------------------------------------===//
  // Element by element
  //===------------------------------------------------------------------===//

  // nullopt where the result is not known, as for a division by zero.
  std::optional<Scalar> apply(StringRef op, const Scalar &a, const Scalar &b, DataType type) {
    Scalar r;
    if (a.dynamic || b.dynamic) {
      if (op == "Add")
        return scalar(c.add(ext(a), ext(b)));
      if (op == "Sub")
        return scalar(c.sub(ext(a), ext(b)));
      if (op == "Mul")
        return scalar(c.mul(ext(a), ext(b)));
      if (op == "Div" && !b.dynamic && b.i > 0)
        return scalar(c.floordiv(ext(a), ext(b)));
      return std::nullopt;
    }
    if (isFloat(type)) {
      r.f = op == "Add"   ? a.f + b.f
            : op == "Sub" ? a.f - b.f
            : op == "Mul" ? a.f * b.f
            : op == "Div" ? a.f / b.f
            : op == "Pow" ? std::pow(a.f, b.f)
            : op == "Min" ? (std::isnan(a.f) || std::isnan(b.f) ? NAN : std::min(a.f, b.f))
            : op == "Max" ? (std::isnan(a.f) || std::isnan(b.f) ? NAN : std::max(a.f, b.f))
                          : NAN;
      if (op == "Mod")
        return std::nullopt;
      r.f = roundTo(type, r.f);
      return r;
    }
    bool isU = isUnsigned(type);
    auto wrapped = [&](int64_t v) {
      Scalar s;
      s.i = wrapTo(type, v);
      return s;
    };
    auto u = [](int64_t v) { return static_cast<uint64_t>(v); };
    if (op == "Add")
      return wrapped(int64_t(u(a.i) + u(b.i)));
    if (op == "Sub")
      return wrapped(int64_t(u(a.i) - u(b.i)));
    if (op == "Mul")
      return wrapped(int64_t(u(a.i) * u(b.i)));
    if (op == "Min" || op == "Max") {
      bool less = isU ? u(a.i) < u(b.i) : a.i < b.i;
      return wrapped(less == (op == "Min") ? a.i : b.i);
    }
    if (op == "Div" || op == "Mod") {
      if (b.i == 0 || (b.i == -1 && a.i == std::numeric_limits<int64_t>::min()) || type == DataType::U64)
        return std::nullopt;
      if (op == "Div")
        return wrapped(a.i / b.i);
      int64_t rest = a.i % b.i;
      if (!c.attrInt("fmod", 0) && rest && (rest < 0) != (b.i < 0))
        rest += b.i;
      return wrapped(rest);
    }
    if (op == "And" || op == "BitwiseAnd")
      return wrapped(a.i & b.i);
    if (op == "Or" || op == "BitwiseOr")
      return wrapped(a.i | b.i);
    if (op == "Xor" || op == "BitwiseXor")
      return wrapped(a.i ^ b.i);
    return std::nullopt;
  }

  bool elementwise(StringRef op) {
    static const llvm::StringSet<> names = {"Add", "Sub", "Mul",        "Div",       "Mod",
                                            "Pow", "Min", "Max",        "Sum",       "And",
                                            "Or",  "Xor", "BitwiseAnd", "BitwiseOr", "BitwiseXor"};
    if (!names.contains(op) || c.opset < 7)
      return false;
    KnownPtr left = in[0];
    for (size_t i = 1; i < in.size(); ++i) {
      if (!in[i] || in[i]->type != left->type || (op == "Pow" && !isFloat(left->type)))
        return false;
      auto dims = broadcastDims(left->dims, in[i]->dims);
      std::optional<int64_t> count = dims ? countOf(*dims) : std::nullopt;
      if (!count)
        return false;
      Known r;
      r.type = left->type;
      r.dims = *dims;
      r.elements.resize(*count);
      bool ok = true;
      forEach(r.dims, [&](int64_t at, ArrayRef<int64_t> where) {
        if (!ok)
          return;
        auto s = apply(op == "Sum" ? "Add" : op, pick(*left, where), pick(*in[i], where), r.type);
        ok = bool(s);
        if (ok)
          r.elements[at] = *s;
      });
      if (!ok)
        return false;
      left = std::make_shared<const Known>(std::move(r));
    }
    return in.size() >= 2 && give(*left);
  }

  std::optional<bool> compareScalars(StringRef op, const Scalar &a, const Scalar &b, DataType type) {
    if (a.dynamic || b.dynamic) {
      if (a.dynamic == b.dynamic)
        return op == "Equal" || op.ends_with("OrEqual");
      // An extent is never negative.
      if (a.dynamic && !b.dynamic && b.i < 0)
        return op == "Greater" || op == "GreaterOrEqual";
      if (b.dynamic && !a.dynamic && a.i < 0)
        return op == "Less" || op == "LessOrEqual";
      return std::nullopt;
    }
    int order;
    if (isFloat(type)) {
      if (std::isnan(a.f) || std::isnan(b.f))
        return false;
      order = a.f < b.f ? -1 : a.f > b.f;
    } else if (isUnsigned(type)) {
      order = uint64_t(a.i) < uint64_t(b.i) ? -1 : uint64_t(a.i) > uint64_t(b.i);
    } else {
      order = a.i < b.i ? -1 : a.i > b.i;
    }
    return op == "Equal"         ? order == 0
           : op == "Less"        ? order < 0
           : op == "LessOrEqual" ? order <= 0
           : op == "Greater"     ? order > 0
                                 : order >= 0;
  }

  bool compare(StringRef op) {
    static const llvm::StringSet<> names = {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"};
    if (!names.contains(op) || c.opset < 7 || in.size() != 2 || !in[1] || in[0]->type != in[1]->type)
      return false;
    auto dims = broadcastDims(in[0]->dims, in[1]->dims);
    std::optional<int64_t> count = dims ? countOf(*dims) : std::nullopt;
    if (!count)
      return false;
    Known r;
    r.type = DataType::Bool;
    r.dims = *dims;
    r.elements.resize(*count);
    bool ok = true;
    forEach(r.dims, [&](int64_t at, ArrayRef<int64_t> where) {
      auto s = compareScalars(op, pick(*in[0], where), pick(*in[1], where), in[0]->type);
      ok &= bool(s);
      r.elements[at].i = s.value_or(false);
    });
    return ok && give(std::move(r));
  }

  bool unary(StringRef op) {
    static const llvm::StringSet<> names = {"Not",        "Neg",  "Abs",  "Floor", "Ceil", "Sqrt",
                                            "Reciprocal", "Relu", "Sign", "Exp",   "Log",  "Round"};
    if (!names.contains(op) || !allStatic())
      return false;
    Known r = *in[0];
    for (Scalar &s : r.elements) {
      if (isFloat(r.type)) {
        s.f = op == "Neg"          ? -s.f
              : op == "Abs"        ? std::fabs(s.f)
              : op == "Floor"      ? std::floor(s.f)
              : op == "Ceil"       ? std::ceil(s.f)
              : op == "Sqrt"       ? std::sqrt(s.f)
              : op == "Reciprocal" ? 1 / s.f
              : op == "Relu"       ? (s.f < 0 ? 0 : s.f)
              : op == "Exp"        ? std::exp(s.f)
              : op == "Log"        ? std::log(s.f)
              : op == "Round"      ? std::nearbyint(s.f)
              : op == "Sign"       ? double((s.f > 0) - (s.f < 0))
                                   : NAN;
        s.f = roundTo(r.type, s.f);
      } else if (op == "Not" && r.type == DataType::Bool) {
        s.i = !s.i;
      } else if (op == "Neg") {
        s.i = wrapTo(r.type, int64_t(-uint64_t(s.i)));
      } else if (op == "Abs" || op == "Relu" || op == "Sign") {
        if (isUnsigned(r.type) || s.i == std::numeric_limits<int64_t>::min())
          return false;
        s.i = op == "Abs" ? std::abs(s.i) : op == "Relu" ? std::max<int64_t>(s.i, 0) : (s.i > 0) - (s.i < 0);
      } else {
        return false;
      }
    }
    return give(std::move(r));
  }

  bool castAs(DataType to) {
    const Known &x = *in[0];
    if ((!isFloat(to) && !isInteger(to)) || isNarrow(to) || isNarrow(x.type))
      return false;
    Known r = x;
    r.type = to;
    for (Scalar &s : r.elements) {
      if (s.dynamic) {
        if (to != DataType::I64 && to != DataType::I32)
          return false;
        continue;
      }
      if (isFloat(x.type) && isFloat(to))
        s.f = roundTo(to, s.f);
      else if (isFloat(to))
        s.f = roundTo(to, x.type == DataType::U64 ? double(uint64_t(s.i)) : double(s.i));
      else if (isFloat(x.type)) {
        if (to == DataType::Bool)
          s.i = s.f != 0;
        else if (std::fabs(s.f) < 9e18)
          s.i = wrapTo(to, int64_t(s.f));
        else
          return false;
      } else
        s.i = wrapTo(to, s.i);
    }
    return give(std::move(r));
  }
  bool cast() {
    int64_t to = c.attrInt("to", 0);
    return to > 0 && to <= ::tessera::onnx::lastDataType && castAs(static_cast<DataType>(to));
  }
  bool castLike() { return in.size() == 2 && in[1] && castAs(in[1]->type); }

  bool where() {
    if (in.size() != 3 || !in[1] || !in[2] || in[1]->type != in[2]->type || !in[0]->isStatic())
      return false;
    auto first = broadcastDims(in[0]->dims, in[1]->dims);
    auto dims = first ? broadcastDims(*first, in[2]->dims) : std::nullopt;
    std::optional<int64_t> count = dims ? countOf(*dims) : std::nullopt;
    if (!count)
      return false;
    Known r;
    r.type = in[1]->type;
    r.dims = *dims;
    r.elements.resize(*count);
    forEach(r.dims, [&](int64_t at, ArrayRef<int64_t> w) {
      r.elements[at] = pick(*in[0], w).i ? pick(*in[1], w) : pick(*in[2], w);
    });
    return give(std::move(r));
  }

  //===------------------------------------------------------------------===//
  // Movement
  //===------------------------------------------------------------------===//

  std::optional<int64_t> axisOf(int64_t axis, int64_t rank) {
    if (axis < -rank || axis >= rank)
      return std::nullopt;
    return axis < 0 ? axis + rank : axis;
  }

  bool concat() {
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

  bool gather() {
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

  bool slice() {
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
      auto clamp = [&](int64_t v) {
        return std::clamp(v < 0 ? (v < -n ? int64_t(-1) : v + n) : v, low, high);
      };
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

  // The same elements: only the new dimensions are worked out.
  bool reshape() {
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

  bool transpose() {
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

  bool spread(const Known &x, ArrayRef<int64_t> dims) {
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
  bool expand() {
    std::optional<Ints> shape = list(1);
    auto dims = shape ? broadcastDims(in[0]->dims, *shape) : std::nullopt;
    return dims && spread(*in[0], *dims);
  }
  bool constantOfShape() {
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
  bool tile() {
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

  bool split() {
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

  bool range() {
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

  // Over everything, or along the only dimension.
  bool reduce() {
    const Known &x = *in[0];
    StringRef op = c.node.opType;
    std::optional<Ints> axes = c.hasAttr("axes") ? std::optional(c.attrInts("axes")) : list(1);
    bool all = !axes || axes->empty();
    if (all && c.attrInt("noop_with_empty_axes", 0))
      return false;
    if ((!all && x.rank() != 1) || x.elements.empty() || x.type == DataType::Bool)
      return false;
    StringRef step = op == "ReduceSum"    ? "Add"
                     : op == "ReduceProd" ? "Mul"
                     : op == "ReduceMax"  ? "Max"
                                          : "Min";
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

  NodeContext &c;
  std::vector<KnownPtr> in;
};

} // namespace

bool onnximport::evaluate(NodeContext &c) { return Evaluator(c).run(); }
