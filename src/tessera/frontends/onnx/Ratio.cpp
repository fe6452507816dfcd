// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/frontends/onnx/Ratio.h"

using namespace tessera;
using namespace tessera::onnximport;

/// Both parts stay so small that products of several fit.
static constexpr int64_t most = int64_t(1) << 20;

std::optional<Ratio> Ratio::of(const Scalar &s) {
  if (s.dynamic)
    return Ratio{Ext(s.dynamic), int64_t(s.f)};
  double number = s.f;
  int64_t under = 1;
  while (number != std::floor(number) && under < most) {
    number *= 2;
    under *= 2;
  }
  if (number != std::floor(number) || std::fabs(number) > double(most))
    return std::nullopt;
  return Ratio{Ext(int64_t(number)), under};
}

Scalar Ratio::scalar() const {
  if (over.isStatic())
    return {0, double(over.size) / double(under), {}};
  return {0, double(under), over.value};
}

std::optional<Ratio> onnximport::combine(NodeContext &c, StringRef op, const Ratio &a, const Ratio &b) {
  if (a.under > most || b.under > most)
    return std::nullopt;
  if (op == "Mul")
    return Ratio{c.mul(a.over, b.over), a.under * b.under};
  if (op == "Div") {
    if (!b.over.isStatic() || b.over.size == 0)
      return std::nullopt;
    int64_t sign = b.over.size < 0 ? -1 : 1;
    return Ratio{c.mul(a.over, Ext(sign * b.under)), a.under * std::abs(b.over.size)};
  }
  // On a common denominator.
  bool same = a.under == b.under;
  Ext left = same ? a.over : c.mul(a.over, Ext(b.under)), right = same ? b.over : c.mul(b.over, Ext(a.under));
  int64_t under = same ? a.under : a.under * b.under;
  if (op == "Add")
    return Ratio{c.add(left, right), under};
  if (op == "Sub")
    return Ratio{c.sub(left, right), under};
  if (op == "Min")
    return Ratio{c.min(left, right), under};
  if (op == "Max")
    return Ratio{c.max(left, right), under};
  return std::nullopt;
}

Ext onnximport::floorOf(NodeContext &c, const Ratio &r) {
  if (r.under == 1 || !r.over.isStatic())
    return c.floordiv(r.over, Ext(r.under));
  return Ext(int64_t(std::floor(double(r.over.size) / double(r.under))));
}
Ext onnximport::ceilOf(NodeContext &c, const Ratio &r) {
  if (r.under == 1 || !r.over.isStatic())
    return c.ceildiv(r.over, Ext(r.under));
  return Ext(int64_t(std::ceil(double(r.over.size) / double(r.under))));
}
Ext onnximport::truncated(NodeContext &c, const Ratio &r) {
  if (r.over.isStatic() || r.under == 1 || isNatural(r.over.value))
    return floorOf(c, r);
  return c.sub(floorOf(c, {c.max(r.over, Ext(0)), r.under}),
               floorOf(c, {c.max(c.sub(Ext(0), r.over), Ext(0)), r.under}));
}
