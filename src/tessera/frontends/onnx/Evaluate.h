// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic on tensors whose elements are known: shapes, axes, bounds. It never fails: what it does not know
// is left to the conversion, which computes at run time and reports mistakes. Evaluate.cpp says which
// operators, EvaluateScalars.cpp holds those that go element by element, EvaluateMove.cpp those that move
// elements.
#pragma once

#include "tessera/frontends/onnx/Importer.h"

namespace tessera::onnximport {

/// Floats are only computed for small tensors: what is large is data, not a shape.
inline constexpr int64_t maxFloats = 1024;
/// So many elements that depend on extents are compared or chosen one by one.
inline constexpr int64_t maxDynamic = 64;

using Strides = SmallVector<int64_t>;

inline Strides stridesOf(ArrayRef<int64_t> dims) {
  Strides strides(dims.size(), 1);
  for (int64_t i = int64_t(dims.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * dims[i + 1];
  return strides;
}

inline std::optional<int64_t> countOf(ArrayRef<int64_t> dims) {
  int64_t count = 1;
  for (int64_t d : dims)
    if (d < 0 || __builtin_mul_overflow(count, d, &count) || count > maxKnown)
      return std::nullopt;
  return count;
}

/// Calls `body(position, coordinates)` for each element of a shape.
template <typename Body> void forEach(ArrayRef<int64_t> dims, Body body) {
  int64_t count = countOf(dims).value_or(0);
  SmallVector<int64_t> at(dims.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    body(i, ArrayRef<int64_t>(at));
    for (int64_t d = int64_t(dims.size()) - 1; d >= 0 && ++at[d] == dims[d]; --d)
      at[d] = 0;
  }
}

inline std::optional<SmallVector<int64_t>> broadcastDims(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
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

inline const Scalar &pick(const Known &k, ArrayRef<int64_t> at) {
  int64_t offset = 0, lead = int64_t(at.size()) - k.rank();
  for (int64_t i = 0; i < k.rank(); ++i)
    offset = offset * k.dims[i] + (k.dims[i] == 1 ? 0 : at[lead + i]);
  return k.elements[offset];
}

class Evaluator {
public:
  explicit Evaluator(NodeContext &c) : c(c) {}
  /// True when the results are known.
  bool run();

private:
  bool give(Known k);
  Ext ext(const Scalar &s) { return s.dynamic ? Ext(s.dynamic) : Ext(s.i); }
  Scalar scalar(const Ext &e) { return {e.isStatic() ? e.size : 0, 0, e.value}; }
  bool allStatic() const;
  std::optional<Ints> list(unsigned i);

  // Element by element.
  /// nullopt where the result is not known, as for a division by zero.
  std::optional<Scalar> apply(StringRef op, const Scalar &a, const Scalar &b, DataType type);
  bool elementwise(StringRef op);
  std::optional<Scalar> compareScalars(StringRef op, const Scalar &a, const Scalar &b, DataType type);
  bool compare(StringRef op);
  bool unary(StringRef op);
  bool castAs(DataType to);
  bool cast();
  bool castLike() { return in.size() == 2 && in[1] && castAs(in[1]->type); }
  bool where();

  // Movement.
  std::optional<int64_t> axisOf(int64_t axis, int64_t rank);
  bool concat();
  bool gather();
  bool slice();
  /// The same elements: only the new dimensions are worked out.
  bool reshape();
  bool transpose();
  bool spread(const Known &x, ArrayRef<int64_t> dims);
  bool expand();
  bool constantOfShape();
  bool tile();
  bool split();
  bool range();
  /// Over everything, or along the only dimension.
  bool reduce();

  NodeContext &c;
  std::vector<KnownPtr> in;
};

} // namespace tessera::onnximport
