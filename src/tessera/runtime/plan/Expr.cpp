// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The evaluator of plan expressions.
#include "tessera/runtime/plan/Expr.h"

#include <algorithm>

namespace tessera {

void ExprValues::evaluate(const ProgramPlan &program, int32_t segment,
                          std::span<const std::span<const int64_t>> dims, std::span<const int64_t> loaded) {
  size_t count = program.exprs.size();
  values.assign(count, 0);
  states.assign(count, State::Unknown);
  size_t load = 0;
  for (size_t i = 0; i < count; ++i) {
    const Expr &e = program.exprs[i];
    int64_t &out = values[i];
    State &state = states[i];
    if (e.op == ExprOp::Load) {
      size_t position = load++;
      if (program.exprSegment[i] <= segment && position < loaded.size()) {
        out = loaded[position];
        state = State::Known;
      }
      continue;
    }
    if (program.exprSegment[i] > segment)
      continue;
    if (e.op == ExprOp::Const) {
      out = e.constant;
      state = State::Known;
      continue;
    }
    if (e.op == ExprOp::Dim) {
      const ValueInfo &value = program.values[static_cast<size_t>(e.a)];
      size_t d = static_cast<size_t>(e.b);
      if (value.kind == ValueKind::Input) {
        out = dims[static_cast<size_t>(e.a)][d];
        state = State::Known;
      } else {
        out = values[static_cast<size_t>(value.shape[d])];
        state = states[static_cast<size_t>(value.shape[d])];
      }
      continue;
    }
    if (e.op == ExprOp::Select) {
      size_t cond = static_cast<size_t>(e.a);
      if (states[cond] != State::Known) {
        state = states[cond];
        continue;
      }
      size_t chosen = static_cast<size_t>(values[cond] ? e.b : e.c);
      out = values[chosen];
      state = states[chosen];
      continue;
    }
    size_t ia = static_cast<size_t>(e.a), ib = static_cast<size_t>(e.b);
    if (states[ia] != State::Known || states[ib] != State::Known) {
      state = states[ia] != State::Known ? states[ia] : states[ib];
      continue;
    }
    int64_t a = values[ia], b = values[ib];
    bool overflow = false;
    switch (e.op) {
    case ExprOp::Add:
      overflow = __builtin_add_overflow(a, b, &out);
      break;
    case ExprOp::Sub:
      overflow = __builtin_sub_overflow(a, b, &out);
      break;
    case ExprOp::Mul:
      overflow = __builtin_mul_overflow(a, b, &out);
      break;
    case ExprOp::FloorDiv:
    case ExprOp::CeilDiv:
    case ExprOp::Mod: {
      if (b == 0) {
        state = State::DivisionByZero;
        continue;
      }
      if (a == INT64_MIN && b == -1) {
        // The quotient does not fit; the remainder is 0.
        overflow = e.op != ExprOp::Mod;
        out = 0;
        break;
      }
      int64_t quotient = a / b, rest = a % b;
      bool sameSign = (a < 0) == (b < 0);
      if (e.op == ExprOp::FloorDiv)
        out = quotient - (rest != 0 && !sameSign);
      else if (e.op == ExprOp::CeilDiv)
        out = quotient + (rest != 0 && sameSign);
      else
        out = rest != 0 && !sameSign ? rest + b : rest; // The sign of the divisor, as in floordiv.
      break;
    }
    case ExprOp::Min:
      out = std::min(a, b);
      break;
    case ExprOp::Max:
      out = std::max(a, b);
      break;
    case ExprOp::Eq:
      out = a == b;
      break;
    case ExprOp::Ne:
      out = a != b;
      break;
    case ExprOp::Lt:
      out = a < b;
      break;
    case ExprOp::Le:
      out = a <= b;
      break;
    case ExprOp::And:
      out = a & b;
      break;
    case ExprOp::Or:
      out = a | b;
      break;
    case ExprOp::Xor:
      out = a ^ b;
      break;
    default:
      break;
    }
    state = overflow ? State::Overflow : State::Known;
  }
}

Result<int64_t> ExprValues::get(int32_t expr) const {
  switch (states[static_cast<size_t>(expr)]) {
  case State::Known:
    return values[static_cast<size_t>(expr)];
  case State::DivisionByZero:
    return fail(StatusCode::InvalidArgument, "size expression ", expr, " divides by zero for these inputs");
  case State::Overflow:
    return fail(StatusCode::InvalidArgument, "size expression ", expr, " overflows 64 bits for these inputs");
  case State::Unknown:
    break;
  }
  return fail(StatusCode::Internal, "size expression ", expr, " is not known yet");
}

Result<std::vector<int64_t>> ExprValues::shape(const ValueInfo &value) const {
  std::vector<int64_t> extents;
  for (int64_t expr : value.shape) {
    auto extent = get(static_cast<int32_t>(expr));
    if (!extent.ok())
      return extent.status();
    if (*extent < 0)
      return fail(StatusCode::InvalidArgument, "an extent is ", *extent,
                  " for these inputs; expected 0 or more");
    extents.push_back(*extent);
  }
  return extents;
}

Status ExprValues::check(const ProgramPlan &program, int32_t segment) const {
  for (const ExtentCheck &own : program.checks)
    if (own.segment == segment)
      TESSERA_TRY(check(own, own.name));
  for (const Node &node : program.nodes)
    if (node.segment == segment)
      for (const ExtentCheck &own : node.checks)
        TESSERA_TRY(check(own, node.name));
  return Status();
}

Status ExprValues::check(const ExtentCheck &check, std::string_view name) const {
  TESSERA_ASSIGN(int64_t got, get(check.got));
  TESSERA_ASSIGN(int64_t expected, get(check.expected));
  if (got == expected)
    return Status();
  return fail(StatusCode::InvalidArgument, "node '", name, "': expected ", check.text, " to be ", expected,
              ", but got ", got);
}

} // namespace tessera
