// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/frontends/onnx/Value.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/APFloat.h"

using namespace tessera;
using namespace tessera::onnximport;

// A value holds what it was computed from, through as many nodes as a model has: those that nobody else holds
// go one after the other, not one within the other.
Entity::~Entity() {
  std::vector<Val> gone = std::move(from);
  while (!gone.empty()) {
    Val v = std::move(gone.back());
    gone.pop_back();
    if (v && v.use_count() == 1) {
      std::move(v->from.begin(), v->from.end(), std::back_inserter(gone));
      v->from.clear();
    }
  }
}

bool onnximport::isFloat(DataType t) {
  return t == DataType::F32 || t == DataType::F16 || t == DataType::F64 || t == DataType::BF16;
}
bool onnximport::isUnsigned(DataType t) {
  return t == DataType::U8 || t == DataType::U16 || t == DataType::U32 || t == DataType::U64 ||
         t == DataType::U4 || t == DataType::U2 || t == DataType::Bool;
}
bool onnximport::isNarrow(DataType t) { return t >= DataType::F8E4M3FN; }
bool onnximport::isInteger(DataType t) {
  return (t >= DataType::U8 && t <= DataType::I64) || t == DataType::Bool || t == DataType::U32 ||
         t == DataType::U64 || t == DataType::U4 || t == DataType::I4 || t == DataType::U2 ||
         t == DataType::I2;
}

Type onnximport::elementType(DataType type, MLIRContext *context) {
  Builder b(context);
  switch (type) {
  case DataType::F32:
    return b.getF32Type();
  case DataType::F64:
    return b.getF64Type();
  case DataType::F16:
    return b.getF16Type();
  case DataType::BF16:
    return b.getBF16Type();
  case DataType::Bool:
    return b.getI1Type();
  case DataType::U16:
  case DataType::I16:
    return b.getI16Type();
  case DataType::U32:
  case DataType::I32:
    return b.getI32Type();
  case DataType::U64:
  case DataType::I64:
    return b.getI64Type();
  case DataType::Undefined:
  case DataType::String:
  case DataType::Complex64:
  case DataType::Complex128:
    return {};
  default:
    return b.getI8Type();
  }
}

nn::Format onnximport::format(DataType type) {
  switch (type) {
  case DataType::U8:
  case DataType::U16:
  case DataType::U32:
  case DataType::U64:
    return nn::Format::unsigned_;
  case DataType::F8E4M3FN:
    return nn::Format::f8e4m3fn;
  case DataType::F8E4M3FNUZ:
    return nn::Format::f8e4m3fnuz;
  case DataType::F8E5M2:
    return nn::Format::f8e5m2;
  case DataType::F8E5M2FNUZ:
    return nn::Format::f8e5m2fnuz;
  case DataType::F8E8M0:
    return nn::Format::f8e8m0;
  case DataType::F4E2M1:
    return nn::Format::f4e2m1;
  case DataType::I4:
    return nn::Format::i4;
  case DataType::U4:
    return nn::Format::u4;
  case DataType::I2:
    return nn::Format::i2;
  case DataType::U2:
    return nn::Format::u2;
  default:
    return nn::Format::plain;
  }
}

double onnximport::roundTo(DataType type, double value) {
  if (type == DataType::F32)
    return static_cast<float>(value);
  if (type != DataType::F16 && type != DataType::BF16)
    return value;
  llvm::APFloat number(value);
  bool inexact;
  number.convert(type == DataType::F16 ? llvm::APFloat::IEEEhalf() : llvm::APFloat::BFloat(),
                 llvm::APFloat::rmNearestTiesToEven, &inexact);
  return number.convertToDouble();
}

int64_t onnximport::wrapTo(DataType type, int64_t value) {
  switch (type) {
  case DataType::Bool:
    return value != 0;
  case DataType::U8:
    return static_cast<uint8_t>(value);
  case DataType::I8:
    return static_cast<int8_t>(value);
  case DataType::U16:
    return static_cast<uint16_t>(value);
  case DataType::I16:
    return static_cast<int16_t>(value);
  case DataType::U32:
    return static_cast<uint32_t>(value);
  case DataType::I32:
    return static_cast<int32_t>(value);
  default:
    return value;
  }
}

TypedAttr onnximport::denseAttr(RankedTensorType type, ArrayRef<char> bytes) {
  if (type.getElementType().isInteger(1)) {
    SmallVector<bool> bits(llvm::map_range(bytes, [](char c) { return c != 0; }));
    return DenseElementsAttr::get(type, bits);
  }
  // Small ones print and fold; large ones are neither copied nor compared again.
  if (bytes.size() <= 4096)
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  return DenseResourceElementsAttr::get(
      type, "onnx", HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, 64, /*dataIsMutable=*/false));
}

// Sums of sums share their parts: paths double, so they are followed some steps only.
static bool isNaturalWithin(Value v, unsigned steps) {
  if (std::optional<int64_t> n = getConstantIntValue(v))
    return *n >= 0;
  Operation *def = v.getDefiningOp();
  if (!def || !steps)
    return false;
  auto is = [&](Value part) { return isNaturalWithin(part, steps - 1); };
  if (isa<tensor::DimOp>(def))
    return true;
  if (auto larger = dyn_cast<arith::MaxSIOp>(def))
    return is(larger.getLhs()) || is(larger.getRhs());
  if (auto choice = dyn_cast<arith::SelectOp>(def))
    return is(choice.getTrueValue()) && is(choice.getFalseValue());
  return isa<arith::AddIOp, arith::MulIOp, arith::FloorDivSIOp, arith::CeilDivSIOp, arith::DivSIOp,
             arith::MinSIOp>(def) &&
         llvm::all_of(def->getOperands(), is);
}

bool onnximport::isNatural(Value v) { return isNaturalWithin(v, 12); }
