// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of one, two and three elements.
#include "tessera/oracle/nn/Knobs.h"

using namespace tessera;
using namespace tessera::oracle;
using namespace tessera::nn;

//===----------------------------------------------------------------------===//
// One element
//===----------------------------------------------------------------------===//

static double softplus(double x) { return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))); }

static double unaryFloat(UnaryKind kind, double x) {
  switch (kind) {
  case UnaryKind::abs:
    return std::fabs(x);
  case UnaryKind::neg:
    return -x;
  case UnaryKind::exp:
    return std::exp(x);
  case UnaryKind::log:
    return std::log(x);
  case UnaryKind::sqrt:
    return std::sqrt(x);
  case UnaryKind::reciprocal:
    return 1 / x;
  case UnaryKind::sign:
    return x > 0 ? 1 : x < 0 ? -1 : x;
  case UnaryKind::floor:
    return std::floor(x);
  case UnaryKind::ceil:
    return std::ceil(x);
  case UnaryKind::round:
    return std::nearbyint(x);
  case UnaryKind::erf:
    return std::erf(x);
  case UnaryKind::sin:
    return std::sin(x);
  case UnaryKind::cos:
    return std::cos(x);
  case UnaryKind::tan:
    return std::tan(x);
  case UnaryKind::asin:
    return std::asin(x);
  case UnaryKind::acos:
    return std::acos(x);
  case UnaryKind::atan:
    return std::atan(x);
  case UnaryKind::sinh:
    return std::sinh(x);
  case UnaryKind::cosh:
    return std::cosh(x);
  case UnaryKind::tanh:
    return std::tanh(x);
  case UnaryKind::asinh:
    return std::asinh(x);
  case UnaryKind::acosh:
    return std::acosh(x);
  case UnaryKind::atanh:
    return std::atanh(x);
  case UnaryKind::sigmoid:
    return 1 / (1 + std::exp(-x));
  case UnaryKind::relu:
    return x < 0 ? 0 : x;
  case UnaryKind::softplus:
    return x != x ? x : softplus(x);
  case UnaryKind::softsign:
    return x / (1 + std::fabs(x));
  case UnaryKind::gelu:
    return 0.5 * x * (1 + std::erf(x * M_SQRT1_2));
  case UnaryKind::gelu_tanh:
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  case UnaryKind::mish:
    return x * std::tanh(softplus(x));
  case UnaryKind::isnan:
    return std::isnan(x);
  case UnaryKind::isinf:
    return std::isinf(x);
  case UnaryKind::isposinf:
    return std::isinf(x) && x > 0;
  case UnaryKind::isneginf:
    return std::isinf(x) && x < 0;
  case UnaryKind::not_:
  case UnaryKind::popcount:
    break;
  }
  return x;
}

static int64_t unaryInteger(UnaryKind kind, int64_t x, bool isUnsigned, uint64_t mask) {
  switch (kind) {
  case UnaryKind::abs:
    return x < 0 && !isUnsigned ? multiplyAdd(x, -1, 0) : x;
  case UnaryKind::neg:
    return multiplyAdd(x, -1, 0);
  case UnaryKind::sign:
    return x == 0 ? 0 : x < 0 && !isUnsigned ? -1 : 1;
  case UnaryKind::relu:
    return x < 0 && !isUnsigned ? 0 : x;
  case UnaryKind::not_:
    return ~x;
  case UnaryKind::popcount:
    return std::popcount(static_cast<uint64_t>(x) & mask);
  default:
    return x;
  }
}

static LogicalResult runUnary(Call &call, UnaryOp op) {
  const Elements &x = call[op.getX()];
  Elements *y = call.make(x.shape);
  if (!y)
    return failure();
  UnaryKind kind = op.getKind();
  bool isUnsigned = op.getIsUnsigned();
  for (int64_t i = 0, count = x.size(); i < count; ++i)
    if (x.info.isFloat())
      put(*y, i, unaryFloat(kind, numberAt(x, i)));
    else
      put(*y, i, unaryInteger(kind, integerAt(x, i, isUnsigned), isUnsigned, x.info.mask));
  return success();
}

static double activate(ActivationKind kind, double x, double alpha, double beta) {
  auto elu = [](double x, double alpha) { return x < 0 ? alpha * std::expm1(x) : x; };
  auto clamp = [](double x, double low, double high) { return smallest(largest(x, low), high); };
  switch (kind) {
  case ActivationKind::leaky_relu:
    return x < 0 ? alpha * x : x;
  case ActivationKind::elu:
    return elu(x, alpha);
  case ActivationKind::selu:
    return beta * elu(x, alpha);
  case ActivationKind::celu:
    return x < 0 ? alpha * std::expm1(x / alpha) : x;
  case ActivationKind::hard_sigmoid:
    return clamp(alpha * x + beta, 0, 1);
  case ActivationKind::hard_swish:
    return x * clamp(alpha * x + beta, 0, 1);
  case ActivationKind::thresholded_relu:
    return x > alpha ? x : 0;
  case ActivationKind::shrink:
    return x < -alpha ? x + beta : x > alpha ? x - beta : 0;
  case ActivationKind::clip:
    return clamp(x, alpha, beta);
  case ActivationKind::swish:
    return x / (1 + std::exp(-alpha * x));
  }
  return x;
}

static LogicalResult runActivation(Call &call, ActivationOp op) {
  const Elements &x = call[op.getX()];
  Elements *y = call.make(x.shape);
  if (!y)
    return failure();
  double alpha = op.getAlpha().convertToDouble(), beta = op.getBeta().convertToDouble();
  for (int64_t i = 0, count = x.size(); i < count; ++i) {
    double number = numberAt(x, i, op.getIsUnsigned());
    double result = activate(op.getKind(), number, alpha, beta);
    // Integers of 64 bits that a clip leaves alone keep the bits that double does not hold.
    if (!x.info.isFloat() && result == number)
      y->data[i] = x.data[i];
    else
      put(*y, i, result);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Two elements
//===----------------------------------------------------------------------===//

static double binaryFloat(BinaryKind kind, double a, double b) {
  switch (kind) {
  case BinaryKind::add:
    return a + b;
  case BinaryKind::sub:
    return a - b;
  case BinaryKind::mul:
    return a * b;
  case BinaryKind::div:
    return a / b;
  case BinaryKind::pow:
    return std::pow(a, b);
  case BinaryKind::mod: {
    double rest = std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
  case BinaryKind::fmod:
    return std::fmod(a, b);
  case BinaryKind::min:
    return smallest(a, b);
  case BinaryKind::max:
    return largest(a, b);
  case BinaryKind::prelu:
    return a < 0 ? a * b : a;
  case BinaryKind::eq:
    return a == b;
  case BinaryKind::ne:
    return a != b;
  case BinaryKind::lt:
    return a < b;
  case BinaryKind::le:
    return a <= b;
  case BinaryKind::gt:
    return a > b;
  case BinaryKind::ge:
    return a >= b;
  default:
    return a;
  }
}

// a to the power of b; 0 for fractions.
static int64_t powInteger(int64_t a, int64_t b, bool isUnsigned) {
  if (b < 0 && !isUnsigned)
    return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
  int64_t result = 1;
  for (auto n = static_cast<uint64_t>(b); n; n >>= 1) {
    if (n & 1)
      result = multiplyAdd(result, a, 0);
    a = multiplyAdd(a, a, 0);
  }
  return result;
}

// Division and remainder of integers; the divisor is not 0.
static int64_t divide(BinaryKind kind, int64_t a, int64_t b, bool isUnsigned) {
  if (isUnsigned) {
    auto p = static_cast<uint64_t>(a), q = static_cast<uint64_t>(b);
    return static_cast<int64_t>(kind == BinaryKind::div ? p / q : p % q);
  }
  // The quotient of the smallest number and -1 wraps.
  if (b == -1)
    return kind == BinaryKind::div ? multiplyAdd(a, -1, 0) : 0;
  if (kind == BinaryKind::div)
    return a / b;
  int64_t rest = a % b;
  return kind == BinaryKind::mod && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static int64_t shift(BinaryKind kind, int64_t a, int64_t b, bool isUnsigned, unsigned width) {
  auto distance = static_cast<uint64_t>(b);
  bool isNegative = a < 0 && !isUnsigned;
  if (distance >= width)
    return kind == BinaryKind::shr && isNegative ? -1 : 0;
  if (kind == BinaryKind::shl)
    return static_cast<int64_t>(static_cast<uint64_t>(a) << distance);
  return isUnsigned ? static_cast<int64_t>(static_cast<uint64_t>(a) >> distance) : a >> distance;
}

static int64_t binaryInteger(BinaryKind kind, int64_t a, int64_t b, bool isUnsigned, unsigned width) {
  bool isLess = isUnsigned ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
  switch (kind) {
  case BinaryKind::add:
    return multiplyAdd(a, 1, b);
  case BinaryKind::sub:
    return multiplyAdd(b, -1, a);
  case BinaryKind::mul:
    return multiplyAdd(a, b, 0);
  case BinaryKind::div:
  case BinaryKind::mod:
  case BinaryKind::fmod:
    return divide(kind, a, b, isUnsigned);
  case BinaryKind::pow:
    return powInteger(a, b, isUnsigned);
  case BinaryKind::min:
    return isLess ? a : b;
  case BinaryKind::max:
    return isLess ? b : a;
  case BinaryKind::and_:
    return a & b;
  case BinaryKind::or_:
    return a | b;
  case BinaryKind::xor_:
    return a ^ b;
  case BinaryKind::shl:
  case BinaryKind::shr:
    return shift(kind, a, b, isUnsigned, width);
  case BinaryKind::prelu:
    return a < 0 && !isUnsigned ? multiplyAdd(a, b, 0) : a;
  case BinaryKind::eq:
    return a == b;
  case BinaryKind::ne:
    return a != b;
  case BinaryKind::lt:
    return isLess;
  case BinaryKind::le:
    return isLess || a == b;
  case BinaryKind::gt:
    return !isLess && a != b;
  case BinaryKind::ge:
    return !isLess;
  }
  return 0;
}

static LogicalResult runBinary(Call &call, BinaryOp op) {
  if (nn::Notes::knob.isOn(op))
    return runKnobSum(call, op);
  const Elements &a = call[op.getA()], &b = call[op.getB()];
  Shape shape;
  if (failed(broadcast(call, {&a, &b}, shape)))
    return failure();
  Elements *y = call.make(shape);
  if (!y)
    return failure();
  BinaryKind kind = op.getKind();
  bool isUnsigned = op.getIsUnsigned();
  bool divides = kind == BinaryKind::div || kind == BinaryKind::mod || kind == BinaryKind::fmod;
  Walk walk(shape, {broadcastStrides(a.shape, shape), broadcastStrides(b.shape, shape)});
  for (int64_t i = 0, count = y->size(); i < count; ++i, walk.next()) {
    if (a.info.isFloat()) {
      put(*y, i, binaryFloat(kind, numberAt(a, walk[0]), numberAt(b, walk[1])));
      continue;
    }
    int64_t divisor = integerAt(b, walk[1], isUnsigned);
    if (divides && divisor == 0)
      return call.error("divides by zero");
    put(*y, i, binaryInteger(kind, integerAt(a, walk[0], isUnsigned), divisor, isUnsigned, a.info.width));
  }
  return success();
}

static LogicalResult runSelect(Call &call, SelectOp op) {
  const Elements &condition = call[op.getCondition()], &a = call[op.getA()], &b = call[op.getB()];
  Shape shape;
  if (failed(broadcast(call, {&condition, &a, &b}, shape)))
    return failure();
  Elements *y = call.make(shape);
  if (!y)
    return failure();
  Walk walk(shape, {broadcastStrides(condition.shape, shape), broadcastStrides(a.shape, shape),
                    broadcastStrides(b.shape, shape)});
  for (int64_t i = 0, count = y->size(); i < count; ++i, walk.next())
    y->data[i] = condition.data[walk[0]] ? a.data[walk[1]] : b.data[walk[2]];
  return success();
}

void oracle::addNnElementwise(HandlerTable &table) {
  addNnOp<UnaryOp, runUnary>(table);
  addNnOp<ActivationOp, runActivation>(table);
  addNnOp<BinaryOp, runBinary>(table);
  addNnOp<SelectOp, runSelect>(table);
}
