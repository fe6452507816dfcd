// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading and making the constants of networks. Weights are megabytes: they are resources, which the context
// neither hashes nor copies, and are read in place.
#pragma once

#include "tessera/ir/nn/Nn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"

namespace tessera::nn {

/// The elements attribute of a value that is a constant; null otherwise.
ElementsAttr elementsOf(Value v);

/// The bytes of one element in memory; 0 for types that constants of networks do not have.
unsigned elementBytes(Type element);

/// The elements as they stand in memory, row by row. Splats are written out. `i1` takes a byte. Empty for an
/// attribute of another kind, or of a resource that is not there.
class Bytes {
public:
  explicit Bytes(ElementsAttr attr);
  explicit operator bool() const { return valid; }
  ArrayRef<char> data() const { return view; }
  template <typename T> ArrayRef<T> as() const {
    return ArrayRef<T>(reinterpret_cast<const T *>(view.data()), view.size() / sizeof(T));
  }

private:
  std::vector<char> own;
  ArrayRef<char> view;
  bool valid = false;
};

/// The elements of a float constant as doubles, or none.
std::optional<SmallVector<double>> readDoubles(Value v, int64_t atMost = INT64_MAX);
/// The only element of a constant (one element or splat).
std::optional<double> readScalar(Value v);

/// An attribute for these bytes: printed in full when small, a resource otherwise.
ElementsAttr makeElements(RankedTensorType type, std::vector<char> &&bytes);
template <typename T> ElementsAttr makeElements(RankedTensorType type, ArrayRef<T> elements) {
  const char *data = reinterpret_cast<const char *>(elements.data());
  return makeElements(type, std::vector<char>(data, data + elements.size() * sizeof(T)));
}
/// A constant of a float type from doubles, rounded.
ElementsAttr makeFloats(RankedTensorType type, ArrayRef<double> elements);
inline Value makeConstant(OpBuilder &b, Location loc, ElementsAttr attr) {
  return arith::ConstantOp::create(b, loc, cast<TypedAttr>(attr));
}

} // namespace tessera::nn
