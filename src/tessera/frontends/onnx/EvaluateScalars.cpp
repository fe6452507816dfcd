// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Evaluate.h: operators that compute element by element.
#include "tessera/frontends/onnx/Evaluate.h"
#include "tessera/frontends/onnx/Ratio.h"

#include "llvm/ADT/StringSet.h"

using namespace tessera;
using namespace tessera::onnximport;

std::optional<Scalar> Evaluator::apply(StringRef op, const Scalar &a, const Scalar &b, DataType type) {
  Scalar r;
  if ((a.dynamic || b.dynamic) && isFloat(type)) {
    std::optional<Ratio> x = Ratio::of(a), y = Ratio::of(b),
                         z = x && y ? combine(c, op, *x, *y) : std::nullopt;
    return z ? std::optional(z->scalar()) : std::nullopt;
  }
  if (a.dynamic || b.dynamic) {
    if (op == "Add")
      return scalar(c.add(ext(a), ext(b)));
    if (op == "Sub")
      return scalar(c.sub(ext(a), ext(b)));
    if (op == "Mul")
      return scalar(c.mul(ext(a), ext(b)));
    if (op == "Min")
      return scalar(c.min(ext(a), ext(b)));
    if (op == "Max")
      return scalar(c.max(ext(a), ext(b)));
    // Truths are 0 or 1.
    if (op == "And" || op == "Or")
      return scalar(op == "And" ? c.min(ext(a), ext(b)) : c.max(ext(a), ext(b)));
    // The divisor's sign, which is positive.
    if (op == "Mod" && !b.dynamic && b.i > 0 && (!c.attrInt("fmod", 0) || isNatural(a.dynamic)))
      return scalar(c.sub(ext(a), c.mul(c.floordiv(ext(a), ext(b)), ext(b))));
    // Quotients are rounded towards zero.
    if (op == "Div" && !b.dynamic && b.i > 0 && !isNatural(a.dynamic))
      return scalar(c.sub(c.floordiv(c.max(ext(a), Ext(0)), ext(b)),
                          c.floordiv(c.max(c.sub(Ext(0), ext(a)), Ext(0)), ext(b))));
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

bool Evaluator::elementwise(StringRef op) {
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

// Whether one holds of extents that are not known yet: 1 or 0, an index like them.
static Scalar compareAtLaunch(NodeContext &c, StringRef op, Value a, Value b) {
  arith::CmpIPredicate predicate = op == "Equal"         ? arith::CmpIPredicate::eq
                                   : op == "Less"        ? arith::CmpIPredicate::slt
                                   : op == "LessOrEqual" ? arith::CmpIPredicate::sle
                                   : op == "Greater"     ? arith::CmpIPredicate::sgt
                                                         : arith::CmpIPredicate::sge;
  Value holds = arith::CmpIOp::create(c.b, c.loc, predicate, a, b);
  return {0, 0, arith::SelectOp::create(c.b, c.loc, holds, c.index(Ext(1)), c.index(Ext(0))).getResult()};
}

std::optional<Scalar> Evaluator::compareScalars(StringRef op, const Scalar &a, const Scalar &b,
                                                DataType type) {
  auto truth = [](bool value) { return Scalar{value, 0, {}}; };
  if ((a.dynamic || b.dynamic) && isFloat(type)) {
    std::optional<Ratio> x = Ratio::of(a), y = Ratio::of(b),
                         less = x && y ? combine(c, "Sub", *x, *y) : std::nullopt;
    if (!less)
      return std::nullopt;
    return compareScalars(
        op, less->over.isStatic() ? Scalar{less->over.size, 0, {}} : Scalar{0, 0, less->over.value}, Scalar(),
        DataType::I64);
  }
  if (a.dynamic || b.dynamic) {
    if (a.dynamic == b.dynamic)
      return truth(op == "Equal" || op.ends_with("OrEqual"));
    // An extent is never negative; a difference of two may be.
    if (a.dynamic && !b.dynamic && b.i < 0 && isNatural(a.dynamic))
      return truth(op == "Greater" || op == "GreaterOrEqual");
    if (b.dynamic && !a.dynamic && a.i < 0 && isNatural(b.dynamic))
      return truth(op == "Less" || op == "LessOrEqual");
    return compareAtLaunch(c, op, c.index(ext(a)), c.index(ext(b)));
  }
  int order;
  if (isFloat(type)) {
    if (std::isnan(a.f) || std::isnan(b.f))
      return truth(false);
    order = a.f < b.f ? -1 : a.f > b.f;
  } else if (isUnsigned(type)) {
    order = uint64_t(a.i) < uint64_t(b.i) ? -1 : uint64_t(a.i) > uint64_t(b.i);
  } else {
    order = a.i < b.i ? -1 : a.i > b.i;
  }
  return truth(op == "Equal"         ? order == 0
               : op == "Less"        ? order < 0
               : op == "LessOrEqual" ? order <= 0
               : op == "Greater"     ? order > 0
                                     : order >= 0);
}

bool Evaluator::compare(StringRef op) {
  static const llvm::StringSet<> names = {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"};
  if (!names.contains(op) || c.opset < 7 || in.size() != 2 || !in[1] || in[0]->type != in[1]->type)
    return false;
  auto dims = broadcastDims(in[0]->dims, in[1]->dims);
  std::optional<int64_t> count = dims ? countOf(*dims) : std::nullopt;
  // Data is compared at launch, not one by one.
  if (!count || (*count > maxDynamic && !allStatic()))
    return false;
  Known r;
  r.type = DataType::Bool;
  r.dims = *dims;
  r.elements.resize(*count);
  bool ok = true;
  forEach(r.dims, [&](int64_t at, ArrayRef<int64_t> where) {
    if (!ok)
      return;
    auto s = compareScalars(op, pick(*in[0], where), pick(*in[1], where), in[0]->type);
    ok = bool(s);
    r.elements[at] = s.value_or(Scalar());
  });
  return ok && give(std::move(r));
}

bool Evaluator::unary(StringRef op) {
  static const llvm::StringSet<> names = {"Not",        "Neg",  "Abs",  "Floor", "Ceil", "Sqrt",
                                          "Reciprocal", "Relu", "Sign", "Exp",   "Log",  "Round"};
  if (!names.contains(op) || (!allStatic() && op != "Neg" && op != "Not" && op != "Floor" && op != "Ceil"))
    return false;
  Known r = *in[0];
  for (Scalar &s : r.elements) {
    if (s.dynamic && isFloat(r.type)) {
      Ratio x = *Ratio::of(s);
      s = Ratio{op == "Floor"  ? floorOf(c, x)
                : op == "Ceil" ? ceilOf(c, x)
                               : c.sub(Ext(0), x.over),
                op == "Neg" ? x.under : 1}
              .scalar();
    } else if (s.dynamic)
      s = scalar(c.sub(Ext(op == "Not"), ext(s)));
    else if (isFloat(r.type)) {
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

static bool isNarrowFloat(DataType type) { return type == DataType::F16 || type == DataType::BF16; }

bool Evaluator::castAs(DataType to) {
  const Known &x = *in[0];
  if ((!isFloat(to) && !isInteger(to)) || isNarrow(to) || isNarrow(x.type))
    return false;
  Known r = x;
  r.type = to;
  for (Scalar &s : r.elements) {
    if (s.dynamic && (isFloat(x.type) || isFloat(to))) {
      // f16 would round.
      if ((isFloat(x.type) && isNarrowFloat(x.type)) || isNarrowFloat(to) || to == DataType::Bool)
        return false;
      if (!isFloat(x.type))
        s.f = 1;
      else if (!isFloat(to))
        s = scalar(truncated(c, *Ratio::of(s)));
      continue;
    }
    if (s.dynamic) {
      if (to != DataType::I64 && to != DataType::I32 && to != x.type)
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

bool Evaluator::cast() {
  int64_t to = c.attrInt("to", 0);
  return to > 0 && to <= ::tessera::onnx::lastDataType && castAs(static_cast<DataType>(to));
}

bool Evaluator::where() {
  if (in.size() != 3 || !in[1] || !in[2] || in[1]->type != in[2]->type ||
      (!in[0]->isStatic() && !isInteger(in[1]->type)))
    return false;
  auto first = broadcastDims(in[0]->dims, in[1]->dims);
  auto dims = first ? broadcastDims(*first, in[2]->dims) : std::nullopt;
  std::optional<int64_t> count = dims ? countOf(*dims) : std::nullopt;
  if (!count || (*count > maxDynamic && !in[0]->isStatic()))
    return false;
  Known r;
  r.type = in[1]->type;
  r.dims = *dims;
  r.elements.resize(*count);
  forEach(r.dims, [&](int64_t at, ArrayRef<int64_t> w) {
    const Scalar &condition = pick(*in[0], w), &yes = pick(*in[1], w), &no = pick(*in[2], w);
    if (!condition.dynamic || c.same(ext(yes), ext(no))) {
      r.elements[at] = condition.dynamic || condition.i ? yes : no;
      return;
    }
    Value holds =
        arith::CmpIOp::create(c.b, c.loc, arith::CmpIPredicate::ne, condition.dynamic, c.index(Ext(0)));
    r.elements[at].dynamic = arith::SelectOp::create(c.b, c.loc, holds, c.index(ext(yes)), c.index(ext(no)));
  });
  return give(std::move(r));
}
