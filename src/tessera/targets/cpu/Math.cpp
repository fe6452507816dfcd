// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The math dialect on CPUs. Functions become calls of our builtins, which are linked as bitcode, inlined and
// vectorised with the loop around them; what arithmetic can say becomes arithmetic; operations with an
// instruction of their own (sqrt, fma, floor, counting bits, …) stay for the conversion to LLVM. Where LLVM
// would round a half type twice, the operation is spelled out.
#include "tessera/targets/cpu/Cpu.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace tessera;
using namespace tessera::cpu;

namespace {

/// Rewrites one operation at a time; scalars and vectors of any rank alike.
class MathLowering {
public:
  explicit MathLowering(ModuleOp module) : module(module) {}
  LogicalResult run();

private:
  LogicalResult lower(Operation *op);
  /// Applies `scalar` to each lane of the operands, in a loop that the back end vectorises.
  Value loopOverLanes(OpBuilder &b, Operation *op, VectorType result,
                      function_ref<Value(OpBuilder &, ValueRange)> scalar);
  /// The same, lane after lane where the vector is short or has several dimensions.
  FailureOr<Value> mapLanes(OpBuilder &b, Operation *op, Type result,
                            function_ref<Value(OpBuilder &, ValueRange)> scalar);
  /// A call of builtin `name` for scalars of type `computed`, the arguments converted to it and the result
  /// from it.
  Value call(OpBuilder &b, Location loc, StringRef name, Type computed, ValueRange args, Type result);

  ModuleOp module;
};

} // namespace

// Functions of the math dialect and the builtins that compute them in double precision; those for single
// precision have an `f` at the end.
static StringRef builtinFor(Operation *op) {
  static const llvm::StringMap<StringRef> names = {
      {"math.exp", "exp"},     {"math.exp2", "exp2"},   {"math.expm1", "expm1"}, {"math.log", "log"},
      {"math.log2", "log2"},   {"math.log10", "log10"}, {"math.log1p", "log1p"}, {"math.powf", "pow"},
      {"math.sin", "sin"},     {"math.cos", "cos"},     {"math.tan", "tan"},     {"math.asin", "asin"},
      {"math.acos", "acos"},   {"math.atan", "atan"},   {"math.atan2", "atan2"}, {"math.sinh", "sinh"},
      {"math.cosh", "cosh"},   {"math.tanh", "tanh"},   {"math.asinh", "asinh"}, {"math.acosh", "acosh"},
      {"math.atanh", "atanh"}, {"math.erf", "erf"},     {"math.erfc", "erfc"},   {"math.cbrt", "cbrt"},
      {"arith.remf", "fmod"}};
  return names.lookup(op->getName().getStringRef());
}

// Functions that have a shorter form in single precision, where it is allowed.
static bool isApproximate(Operation *op) {
  auto fast = dyn_cast<arith::ArithFastMathInterface>(op);
  return isa<math::ExpOp, math::TanhOp, math::ErfOp>(op) && fast &&
         arith::bitEnumContainsAll(fast.getFastMathFlagsAttr().getValue(), arith::FastMathFlags::afn);
}

static Value constantLike(OpBuilder &b, Location loc, Type type, const APFloat &value) {
  auto element = cast<FloatType>(getElementTypeOrSelf(type));
  APFloat converted = value;
  bool lost;
  converted.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
  TypedAttr attr = FloatAttr::get(element, converted);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, cast<Attribute>(attr));
  return arith::ConstantOp::create(b, loc, attr);
}

static Type likeType(Type shape, Type element) {
  auto vector = dyn_cast<VectorType>(shape);
  return vector ? Type(vector.clone(element)) : element;
}

static Value integerLike(OpBuilder &b, Location loc, Type type, int64_t value) {
  TypedAttr attr = b.getIntegerAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, cast<Attribute>(attr));
  return arith::ConstantOp::create(b, loc, attr);
}

// `rounded`, the nearest number to an exact value, and `lost`, what is missing from it → that value rounded
// to odd: of its two neighbours the one whose last bit is set, so that rounding once more to a narrower type
// goes the right way.
static Value roundToOdd(OpBuilder &b, Location loc, Value rounded, Value lost) {
  Type type = rounded.getType();
  Type bits = likeType(type, b.getIntegerType(getElementTypeOrSelf(type).getIntOrFloatBitWidth()));
  auto compare = [&](arith::CmpFPredicate predicate, Value p) -> Value {
    Value zero = constantLike(b, loc, p.getType(), APFloat(0.0));
    return arith::CmpFOp::create(b, loc, predicate, p, zero);
  };
  Value one = integerLike(b, loc, bits, 1), none = integerLike(b, loc, bits, 0),
        back = integerLike(b, loc, bits, -1);
  Value pattern = arith::BitcastOp::create(b, loc, bits, rounded);
  Value last = arith::AndIOp::create(b, loc, pattern, one);
  Value even = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, last, none);
  // Ordered, so that infinities and NaN, whose loss is NaN, stay; and zero is what it is.
  Value inexact = arith::AndIOp::create(b, loc, even, compare(arith::CmpFPredicate::ONE, lost));
  inexact = arith::AndIOp::create(b, loc, inexact, compare(arith::CmpFPredicate::ONE, rounded));
  Value outward =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, compare(arith::CmpFPredicate::OGT, lost),
                            compare(arith::CmpFPredicate::OGT, rounded));
  Value step = arith::SelectOp::create(b, loc, outward, one, back);
  Value odd = arith::AddIOp::create(b, loc, pattern, arith::SelectOp::create(b, loc, inexact, step, none));
  return arith::BitcastOp::create(b, loc, type, odd);
}

// f64 → bf16 by way of f32; the step from f32 is expanded later.
static Value doubleToBf16(OpBuilder &b, Location loc, Value x, Type result) {
  Value narrow = arith::TruncFOp::create(b, loc, likeType(x.getType(), b.getF32Type()), x);
  Value back = arith::ExtFOp::create(b, loc, x.getType(), narrow);
  Value lost = arith::SubFOp::create(b, loc, x, back);
  return arith::TruncFOp::create(b, loc, result, roundToOdd(b, loc, narrow, lost));
}

// fma on a half type → the product, which is exact in f64, and the sum rounded to odd. LLVM would compute in
// f32 and round twice.
static Value fmaOfHalves(OpBuilder &b, Location loc, Value x, Value y, Value z) {
  Type type = x.getType(), wide = likeType(type, b.getF64Type());
  auto widen = [&](Value v) -> Value { return arith::ExtFOp::create(b, loc, wide, v); };
  auto add = [&](Value p, Value q) -> Value { return arith::AddFOp::create(b, loc, p, q); };
  auto sub = [&](Value p, Value q) -> Value { return arith::SubFOp::create(b, loc, p, q); };
  Value product = arith::MulFOp::create(b, loc, widen(x), widen(y)), addend = widen(z);
  Value sum = add(product, addend);
  // What the sum lost (Knuth's two-sum).
  Value part = sub(sum, product);
  Value lost = add(sub(product, sub(sum, part)), sub(addend, part));
  Value odd = roundToOdd(b, loc, sum, lost);
  if (getElementTypeOrSelf(type).isBF16())
    return doubleToBf16(b, loc, odd, type);
  return arith::TruncFOp::create(b, loc, type, odd);
}

// Arithmetic on bf16 → the same on f32, rounded once more, which for these operations is right; the rounding
// is spelled out later, since not all of LLVM's back ends round bf16 to the nearest.
static Value inSingle(OpBuilder &b, Operation *op) {
  Location loc = op->getLoc();
  Type type = op->getResult(0).getType(), wide = likeType(type, b.getF32Type());
  OperationState state(loc, op->getName());
  for (Value operand : op->getOperands())
    state.operands.push_back(arith::ExtFOp::create(b, loc, wide, operand));
  state.addTypes(wide);
  state.propertiesAttr = op->getPropertiesAsAttribute();
  return arith::TruncFOp::create(b, loc, type, b.create(state)->getResult(0));
}

// An integer → bf16 by way of a wider type, f32 for i32 and f64 for i64, in which it is exact once the bits
// that have no room are gathered in the last one that has; LLVM would take f32 for both and round twice.
static Value integerToBf16(OpBuilder &b, Location loc, Value x, Type result, bool isSigned) {
  Type type = x.getType();
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (width < 32) {
    Type single = likeType(type, b.getF32Type());
    Value number = isSigned ? arith::SIToFPOp::create(b, loc, single, x).getResult()
                            : arith::UIToFPOp::create(b, loc, single, x).getResult();
    return arith::TruncFOp::create(b, loc, result, number);
  }
  bool isLong = width == 64;
  auto constant = [&](int64_t v) { return integerLike(b, loc, type, v); };
  int64_t limit = int64_t(1) << (isLong ? 53 : 24), unit = isLong ? 0x800 : 0x100;
  // |x| > limit, as one unsigned comparison.
  Value shifted = isSigned ? arith::AddIOp::create(b, loc, x, constant(limit)).getResult() : x;
  Value large = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, shifted,
                                      constant(isSigned ? 2 * limit : limit));
  Value low = arith::AndIOp::create(b, loc, x, constant(unit - 1));
  Value any = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, low, constant(0));
  Value high = arith::AndIOp::create(b, loc, x, constant(-unit));
  Value sticky = arith::SelectOp::create(b, loc, any, constant(unit), constant(0));
  x = arith::SelectOp::create(b, loc, large, arith::OrIOp::create(b, loc, high, sticky), x);
  Type wide = likeType(type, isLong ? Type(b.getF64Type()) : Type(b.getF32Type()));
  Value number = isSigned ? arith::SIToFPOp::create(b, loc, wide, x).getResult()
                          : arith::UIToFPOp::create(b, loc, wide, x).getResult();
  return isLong ? doubleToBf16(b, loc, number, result)
                : arith::TruncFOp::create(b, loc, result, number).getResult();
}

static Value convertFloat(OpBuilder &b, Location loc, Value v, Type to) {
  unsigned from = v.getType().getIntOrFloatBitWidth(), width = to.getIntOrFloatBitWidth();
  if (v.getType() == to)
    return v;
  if (from < width)
    return arith::ExtFOp::create(b, loc, to, v);
  if (from == 64 && to.isBF16())
    return doubleToBf16(b, loc, v, to);
  return arith::TruncFOp::create(b, loc, to, v);
}

Value MathLowering::call(OpBuilder &b, Location loc, StringRef name, Type computed, ValueRange args,
                         Type result) {
  auto callee = module.lookupSymbol<func::FuncOp>(name);
  if (!callee) {
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    SmallVector<Type> inputs(args.size(), computed);
    callee = func::FuncOp::create(top, loc, name, top.getFunctionType(inputs, {computed}));
    callee.setPrivate();
  }
  SmallVector<Value> converted;
  for (Value v : args) {
    if (isa<FloatType>(computed))
      converted.push_back(convertFloat(b, loc, v, computed));
    else if (v.getType().isIndex())
      converted.push_back(arith::IndexCastOp::create(b, loc, computed, v));
    else if (v.getType() != computed)
      converted.push_back(arith::ExtSIOp::create(b, loc, computed, v));
    else
      converted.push_back(v);
  }
  Value r = func::CallOp::create(b, loc, callee, converted).getResult(0);
  if (isa<FloatType>(computed))
    return convertFloat(b, loc, r, result);
  if (result.isIndex())
    return arith::IndexCastOp::create(b, loc, result, r);
  return result == computed ? r : arith::TruncIOp::create(b, loc, result, r).getResult();
}

// A function inlined lane by lane is too much for the back end to join again; as a loop over memory it is
// what the loop vectoriser knows best, and the memory is gone afterwards.
Value MathLowering::loopOverLanes(OpBuilder &b, Operation *op, VectorType result,
                                  function_ref<Value(OpBuilder &, ValueRange)> scalar) {
  Location loc = op->getLoc();
  OpBuilder entry = OpBuilder::atBlockBegin(&op->getParentOfType<func::FuncOp>().getBody().front());
  auto memoryFor = [&](Type type) -> Value {
    auto vector = cast<VectorType>(type);
    return memref::AllocaOp::create(entry, loc, MemRefType::get(vector.getShape(), vector.getElementType()),
                                    entry.getI64IntegerAttr(64));
  };
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1),
        count = arith::ConstantIndexOp::create(b, loc, result.getNumElements());
  SmallVector<Value> inputs;
  for (Value operand : op->getOperands()) {
    inputs.push_back(memoryFor(operand.getType()));
    vector::StoreOp::create(b, loc, operand, inputs.back(), ValueRange{zero});
  }
  Value output = memoryFor(result);
  scf::ForOp::create(b, loc, zero, count, one, ValueRange{},
                     [&](OpBuilder &inner, Location l, Value lane, ValueRange) {
                       SmallVector<Value> scalars;
                       for (Value input : inputs)
                         scalars.push_back(memref::LoadOp::create(inner, l, input, lane));
                       memref::StoreOp::create(inner, l, scalar(inner, scalars), output, lane);
                       scf::YieldOp::create(inner, l);
                     });
  return vector::LoadOp::create(b, loc, result, output, ValueRange{zero});
}

FailureOr<Value> MathLowering::mapLanes(OpBuilder &b, Operation *op, Type result,
                                        function_ref<Value(OpBuilder &, ValueRange)> scalar) {
  auto vector = dyn_cast<VectorType>(result);
  if (!vector)
    return scalar(b, op->getOperands());
  if (vector.isScalable())
    return op->emitOpError("on a scalable vector is not supported; use a fixed width"), failure();
  auto inMemory = [](Type type) {
    Type element = getElementTypeOrSelf(type);
    return element.isIndex() || element.getIntOrFloatBitWidth() >= 8;
  };
  if (vector.getRank() == 1 && vector.getNumElements() >= 4 && inMemory(vector) &&
      llvm::all_of(op->getOperandTypes(), inMemory))
    return loopOverLanes(b, op, vector, scalar);
  SmallVector<Value> lanes;
  SmallVector<SmallVector<Value>> inputs;
  for (Value operand : op->getOperands())
    inputs.push_back(SmallVector<Value>(vector::ToElementsOp::create(b, op->getLoc(), operand).getResults()));
  for (int64_t i = 0; i < vector.getNumElements(); ++i) {
    SmallVector<Value> scalars;
    for (auto &list : inputs)
      scalars.push_back(list[i]);
    lanes.push_back(scalar(b, scalars));
  }
  return vector::FromElementsOp::create(b, op->getLoc(), vector, lanes).getResult();
}

LogicalResult MathLowering::lower(Operation *op) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  Type type = op->getResult(0).getType(), element = getElementTypeOrSelf(type);
  Type operandType = op->getOperand(0).getType(), operandElement = getElementTypeOrSelf(operandType);
  SmallVector<Value> results;
  auto mapped = [&](function_ref<Value(OpBuilder &, ValueRange)> scalar) -> LogicalResult {
    FailureOr<Value> r = mapLanes(b, op, type, scalar);
    if (succeeded(r))
      results.push_back(*r);
    return r;
  };
  auto compare = [&](arith::CmpFPredicate predicate, Value x, Value y) -> Value {
    return arith::CmpFOp::create(b, loc, predicate, x, y);
  };
  // Half types compute in f32 and round once; only f32 and f64 have functions.
  auto function = [&](StringRef name) {
    Type computed = element.isF64() ? element : Type(b.getF32Type());
    std::string full = name.str() + (computed.isF64() ? "" : "f");
    if (isApproximate(op) && computed.isF32())
      full = "__tessera_fast_" + full;
    return mapped(
        [&](OpBuilder &b, ValueRange lanes) { return call(b, loc, full, computed, lanes, element); });
  };
  if (StringRef name = builtinFor(op); !name.empty()) {
    if (failed(function(name)))
      return failure();
  } else if (isa<math::SincosOp>(op)) {
    if (failed(function("sin")) || failed(function("cos")))
      return failure();
  } else if (isa<math::FPowIOp>(op)) {
    // x^n as the power of a number: n is exact in double precision, and the result is rounded once more.
    if (failed(mapped([&](OpBuilder &b, ValueRange lanes) {
          Value n = arith::SIToFPOp::create(b, loc, b.getF64Type(), lanes[1]);
          return call(b, loc, "pow", b.getF64Type(), {lanes[0], n}, element);
        })))
      return failure();
  } else if (isa<math::IPowIOp>(op)) {
    if (failed(mapped([&](OpBuilder &b, ValueRange lanes) {
          return call(b, loc, "__tessera_ipow", b.getI64Type(), lanes, element);
        })))
      return failure();
  } else if (isa<math::FmaOp, vector::FMAOp>(op)) {
    if (!element.isBF16() && !element.isF16())
      return success();
    results.push_back(fmaOfHalves(b, loc, op->getOperand(0), op->getOperand(1), op->getOperand(2)));
  } else if (isa<arith::SIToFPOp, arith::UIToFPOp>(op)) {
    if (!element.isBF16())
      return success();
    results.push_back(integerToBf16(b, loc, op->getOperand(0), type, isa<arith::SIToFPOp>(op)));
  } else if (isa<arith::TruncFOp>(op)) {
    if (!element.isBF16() || !operandElement.isF64())
      return success();
    results.push_back(doubleToBf16(b, loc, op->getOperand(0), type));
  } else if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, math::SqrtOp, math::RsqrtOp>(
                 op)) {
    if (!element.isBF16())
      return success();
    results.push_back(inSingle(b, op));
  } else if (auto clamp = dyn_cast<math::ClampFOp>(op)) {
    Value low = arith::MaximumFOp::create(b, loc, clamp.getValue(), clamp.getMin());
    results.push_back(arith::MinimumFOp::create(b, loc, low, clamp.getMax()));
  } else if (isa<math::IsNaNOp>(op)) {
    results.push_back(compare(arith::CmpFPredicate::UNO, op->getOperand(0), op->getOperand(0)));
  } else if (isa<math::IsFiniteOp, math::IsInfOp, math::IsNormalOp>(op)) {
    const llvm::fltSemantics &semantics = cast<FloatType>(operandElement).getFloatSemantics();
    Value magnitude = math::AbsFOp::create(b, loc, op->getOperand(0));
    Value infinity = constantLike(b, loc, operandType, APFloat::getInf(semantics));
    if (isa<math::IsInfOp>(op)) {
      results.push_back(compare(arith::CmpFPredicate::OEQ, magnitude, infinity));
    } else {
      Value finite = compare(arith::CmpFPredicate::OLT, magnitude, infinity);
      if (isa<math::IsNormalOp>(op)) {
        Value smallest = constantLike(b, loc, operandType, APFloat::getSmallestNormalized(semantics));
        Value large = compare(arith::CmpFPredicate::OGE, magnitude, smallest);
        finite = arith::AndIOp::create(b, loc, finite, large);
      }
      results.push_back(finite);
    }
  } else {
    return success();
  }
  op->replaceAllUsesWith(results);
  op->erase();
  return success();
}

LogicalResult MathLowering::run() {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa<math::MathDialect>(op->getDialect()) ||
        isa<arith::RemFOp, arith::SIToFPOp, arith::UIToFPOp, arith::TruncFOp, arith::AddFOp, arith::SubFOp,
            arith::MulFOp, arith::DivFOp, vector::FMAOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    if (failed(lower(op)))
      return failure();
  return success();
}

LogicalResult cpu::lowerMath(ModuleOp kernels) { return MathLowering(kernels).run(); }
