// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Constants.h.
#include "tessera/transforms/nn/graph/Constants.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"

using namespace tessera;
using namespace tessera::nn;

/// Larger constants are resources.
static constexpr size_t maxPrinted = 1024;

ElementsAttr nn::elementsOf(Value v) {
  auto constant = v ? v.getDefiningOp<arith::ConstantOp>() : arith::ConstantOp();
  return constant ? dyn_cast<ElementsAttr>(constant.getValue()) : ElementsAttr();
}

unsigned nn::elementBytes(Type element) {
  if (element.isIndex())
    return 8;
  if (!element.isIntOrFloat())
    return 0;
  unsigned bits = element.getIntOrFloatBitWidth();
  return bits == 1 ? 1 : bits % 8 ? 0 : bits / 8;
}

Bytes::Bytes(ElementsAttr attr) {
  unsigned bytes = attr ? elementBytes(attr.getElementType()) : 0;
  if (!bytes)
    return;
  size_t total = size_t(attr.getNumElements()) * bytes;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || blob->getData().size() != total)
      return;
    view = blob->getData();
    valid = true;
    return;
  }
  auto dense = dyn_cast<DenseElementsAttr>(attr);
  if (!dense)
    return;
  valid = true;
  if (dense.getElementType().isInteger(1)) {
    for (bool bit : dense.getValues<bool>())
      own.push_back(bit);
    view = own;
    return;
  }
  view = dense.getRawData();
  if (!dense.isSplat() || view.size() == total)
    return;
  own.resize(total);
  for (size_t i = 0; i < total; i += bytes)
    std::copy_n(view.data(), bytes, own.data() + i);
  view = own;
}

std::optional<SmallVector<double>> nn::readDoubles(Value v, int64_t atMost) {
  ElementsAttr attr = elementsOf(v);
  if (!attr || attr.getNumElements() > atMost)
    return std::nullopt;
  auto type = dyn_cast<FloatType>(attr.getElementType());
  Bytes bytes(attr);
  if (!type || !bytes)
    return std::nullopt;
  SmallVector<double> result;
  result.reserve(attr.getNumElements());
  if (type.isF32()) {
    for (float f : bytes.as<float>())
      result.push_back(f);
  } else if (type.isF64()) {
    result.assign(bytes.as<double>().begin(), bytes.as<double>().end());
  } else if (type.getWidth() == 16) {
    for (uint16_t bits : bytes.as<uint16_t>()) {
      APFloat f(type.getFloatSemantics(), APInt(16, bits));
      bool lost;
      f.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
      result.push_back(f.convertToDouble());
    }
  } else {
    return std::nullopt;
  }
  return result;
}

std::optional<double> nn::readScalar(Value v) {
  ElementsAttr attr = elementsOf(v);
  if (!attr || attr.getNumElements() == 0)
    return std::nullopt;
  if (attr.getNumElements() != 1) {
    auto dense = dyn_cast<DenseElementsAttr>(attr);
    if (!dense || !dense.isSplat())
      return std::nullopt;
    if (isa<FloatType>(attr.getElementType())) {
      APFloat f = dense.getSplatValue<APFloat>();
      bool lost;
      f.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
      return f.convertToDouble();
    }
    return std::nullopt;
  }
  std::optional<SmallVector<double>> all = readDoubles(v);
  return all ? std::optional((*all)[0]) : std::nullopt;
}

ElementsAttr nn::makeElements(RankedTensorType type, std::vector<char> &&bytes) {
  if (bytes.size() <= maxPrinted) {
    if (type.getElementType().isInteger(1)) {
      SmallVector<bool> bits(llvm::map_range(bytes, [](char c) { return c != 0; }));
      return DenseElementsAttr::get(type, bits);
    }
    if (!type.getElementType().isIndex())
      return DenseElementsAttr::getFromRawBuffer(type, bytes);
  }
  AsmResourceBlob blob = HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, 64, /*dataIsMutable=*/false);
  return DenseResourceElementsAttr::get(type, "folded", std::move(blob));
}

ElementsAttr nn::makeFloats(RankedTensorType type, ArrayRef<double> elements) {
  auto element = cast<FloatType>(type.getElementType());
  if (element.isF32()) {
    SmallVector<float> rounded(elements.begin(), elements.end());
    return makeElements<float>(type, rounded);
  }
  if (element.isF64())
    return makeElements<double>(type, elements);
  SmallVector<uint16_t> rounded;
  for (double d : elements) {
    APFloat f(d);
    bool lost;
    f.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
    rounded.push_back(uint16_t(f.bitcastToAPInt().getZExtValue()));
  }
  return makeElements<uint16_t>(type, rounded);
}
