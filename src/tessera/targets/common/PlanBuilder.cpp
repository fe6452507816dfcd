// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See PlanBuilder.h.
#include "tessera/targets/common/PlanBuilder.h"

#include <algorithm>

using namespace tessera;
using namespace tessera::plan;

ExprId Program::add(Expr expr) {
  auto [it, inserted] =
      known.try_emplace({expr.op, expr.constant, expr.a, expr.b, expr.c}, static_cast<ExprId>(exprs.size()));
  if (inserted)
    exprs.push_back(expr);
  return it->second;
}

ExprId Program::constant(int64_t value) { return add({.op = ExprOp::Const, .constant = value}); }

std::optional<int64_t> Program::getConstant(ExprId e) const {
  const Expr &expr = exprs[static_cast<size_t>(e)];
  return expr.op == ExprOp::Const ? std::optional(expr.constant) : std::nullopt;
}

ExprId Program::dim(int value, unsigned d) {
  const Value &v = values[static_cast<size_t>(value)];
  if (v.kind != ValueKind::Input)
    return static_cast<ExprId>(v.shape[d]);
  return v.shape[d] >= 0 ? constant(v.shape[d])
                         : add({.op = ExprOp::Dim, .a = value, .b = static_cast<int32_t>(d)});
}

ExprId Program::load(int value) { return add({.op = ExprOp::Load, .a = value}); }

static int64_t floorDiv(int64_t a, int64_t b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }

// What two numbers make; nothing where only a launch may say, or complain.
static std::optional<int64_t> fold(ExprOp op, int64_t x, int64_t y) {
  int64_t r;
  switch (op) {
  case ExprOp::Add:
    return __builtin_add_overflow(x, y, &r) ? std::nullopt : std::optional(r);
  case ExprOp::Sub:
    return __builtin_sub_overflow(x, y, &r) ? std::nullopt : std::optional(r);
  case ExprOp::Mul:
    return __builtin_mul_overflow(x, y, &r) ? std::nullopt : std::optional(r);
  case ExprOp::FloorDiv:
    return y > 0 ? std::optional(floorDiv(x, y)) : std::nullopt;
  case ExprOp::CeilDiv:
    return y > 0 ? std::optional(-floorDiv(-x, y)) : std::nullopt;
  case ExprOp::Mod:
    return y > 0 ? std::optional(x - floorDiv(x, y) * y) : std::nullopt;
  case ExprOp::Min:
    return std::min(x, y);
  case ExprOp::Max:
    return std::max(x, y);
  default:
    return std::nullopt;
  }
}

ExprId Program::binary(ExprOp op, ExprId a, ExprId b) {
  std::optional<int64_t> x = getConstant(a), y = getConstant(b);
  if (std::optional<int64_t> known = x && y ? fold(op, *x, *y) : std::nullopt)
    return constant(*known);
  if (y && ((*y == 0 && (op == ExprOp::Add || op == ExprOp::Sub)) ||
            (*y == 1 && (op == ExprOp::Mul || op == ExprOp::FloorDiv || op == ExprOp::CeilDiv))))
    return a;
  if (x && ((*x == 0 && op == ExprOp::Add) || (*x == 1 && op == ExprOp::Mul)))
    return b;
  return add({.op = op, .a = a, .b = b});
}

ExprId Program::select(ExprId condition, ExprId a, ExprId b) {
  if (auto c = getConstant(condition))
    return *c ? a : b;
  return add({.op = ExprOp::Select, .a = condition, .b = a, .c = b});
}

int Program::addValue(Value value) {
  values.push_back(std::move(value));
  return static_cast<int>(values.size()) - 1;
}

int Program::addFaults(size_t sites) {
  int value = addValue({.kind = ValueKind::Fault, .type = ElementType::I64});
  resizeFaults(value, sites);
  return value;
}

void Program::resizeFaults(int value, size_t sites) {
  values[static_cast<size_t>(value)].shape = {constant(int64_t(2 * sites))};
}

ExprId Program::sizeOf(int value, unsigned elementBytes) {
  ExprId size = constant(elementBytes);
  for (unsigned d = 0; d < values[static_cast<size_t>(value)].shape.size(); ++d)
    size = binary(ExprOp::Mul, size, dim(value, d));
  return size;
}
