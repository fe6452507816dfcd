// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the families of network operations share: operands and results of one execution, elements as host
// numbers, and walks with broadcast.
//
// Every operation computes in double (integers: in 64 bits, wrapping) and rounds once into the result's type.
// That is exact rounding for single arithmetic operations of f16, bf16 and f32; sums and products of many
// elements are collected in double in row-major order. What comes of other orders and narrower partial sums
// is compared with a tolerance.
#pragma once

#include "tessera/ir/nn/Nn.h"
#include "tessera/oracle/Interpreter.h"

#include <cmath>

namespace tessera::oracle {

using Shape = SmallVector<int64_t, 4>;

/// One execution of an operation: its operands, all defined, and the results as they are made.
class Call {
public:
  Call(Exec &x, const Inst &inst) : x(x), inst(inst) {}

  /// An operand by its value; null for an optional one that is not there.
  const Elements *find(Value operand) const;
  const Elements &operator[](Value operand) const { return *find(operand); }
  /// The result types' extents, the dynamic ones from the operation's `extents` in order.
  LogicalResult shapeFrom(ValueRange extents, Shape &shape) const;

  /// A new result of this shape, filled with zeros; null, with an error emitted, when it cannot be: it is too
  /// large or does not fit the result's type.
  Elements *make(ArrayRef<int64_t> shape, unsigned result = 0);
  /// Lets a result be the operand's elements, in this shape.
  LogicalResult reuse(const Elements &operand, ArrayRef<int64_t> shape);

  LogicalResult error(const Twine &message) const { return x.error(inst, message); }
  /// For extents that only show at run time not to fit.
  LogicalResult mismatch(ArrayRef<int64_t> a, ArrayRef<int64_t> b) const;

  Exec &x;
  const Inst &inst;
};

/// A handler for an operation: checks that operands are defined and calls `run(call, op)`.
template <typename OpT, LogicalResult (*run)(Call &, OpT)> void addNnOp(HandlerTable &table);

//===----------------------------------------------------------------------===//
// Elements as numbers
//===----------------------------------------------------------------------===//

/// Floats of at most 64 bits as doubles; integers too, which rounds wide ones.
double numberAt(const Elements &elements, int64_t i, bool isUnsigned = false);
/// An integer, sign extended unless it is unsigned or i1; a float truncated.
int64_t integerAt(const Elements &elements, int64_t i, bool isUnsigned = false);

/// Truncated; saturates beyond 64 bits (as an unsigned number too), 0 for NaN.
int64_t toInteger(double value);

/// Rounds or wraps into an element. A double that goes into an integer is truncated; beyond 64 bits it
/// saturates.
void put(Elements &elements, int64_t i, double value);
void put(Elements &elements, int64_t i, int64_t value);

template <typename T> T at(const Elements &elements, int64_t i, bool isUnsigned = false) {
  if constexpr (std::is_same_v<T, double>)
    return numberAt(elements, i, isUnsigned);
  else
    return integerAt(elements, i, isUnsigned);
}
/// All elements as numbers of the host, for operations that read them often.
template <typename T> std::vector<T> numbers(const Elements &elements, bool isUnsigned = false) {
  std::vector<T> result(elements.size());
  for (int64_t i = 0, count = elements.size(); i < count; ++i)
    result[i] = at<T>(elements, i, isUnsigned);
  return result;
}
template <typename T> void putAll(Elements &elements, const std::vector<T> &values) {
  for (int64_t i = 0, count = elements.size(); i < count; ++i)
    put(elements, i, values[i]);
}

/// Calls `f` with a zero of the host type that computes for these elements.
template <typename F> auto withNumbers(const Elements &elements, F f) {
  return elements.info.isFloat() ? f(double(0)) : f(int64_t(0));
}

/// a * b + c, wrapping for integers.
inline double multiplyAdd(double a, double b, double c) { return a * b + c; }
inline int64_t multiplyAdd(int64_t a, int64_t b, int64_t c) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b) + static_cast<uint64_t>(c));
}

/// The larger or smaller, NaN when one is.
template <typename T> T largest(T a, T b) { return a != a ? a : b != b ? b : a > b ? a : b; }
template <typename T> T smallest(T a, T b) { return a != a ? a : b != b ? b : a < b ? a : b; }

//===----------------------------------------------------------------------===//
// Walks
//===----------------------------------------------------------------------===//

/// Strides of elements of `own` for a walk over `shape`: 0 where they are repeated.
Shape broadcastStrides(ArrayRef<int64_t> own, ArrayRef<int64_t> shape);
/// The common shape; an error when there is none.
LogicalResult broadcast(const Call &call, ArrayRef<const Elements *> operands, Shape &shape);

/// Steps through a shape in row-major order and keeps positions in several operands.
class Walk {
public:
  Walk(ArrayRef<int64_t> shape, std::initializer_list<Shape> strides)
      : shape(shape), strides(strides), index(shape.size()), positions(strides.size()) {}

  int64_t operator[](unsigned operand) const { return positions[operand]; }
  ArrayRef<int64_t> getIndex() const { return index; }
  void next() {
    for (size_t d = shape.size(); d-- > 0;) {
      for (size_t o = 0; o < positions.size(); ++o)
        positions[o] += strides[o][d];
      if (++index[d] < shape[d])
        return;
      for (size_t o = 0; o < positions.size(); ++o)
        positions[o] -= strides[o][d] * shape[d];
      index[d] = 0;
    }
  }

private:
  Shape shape;
  SmallVector<Shape, 3> strides;
  Shape index;
  SmallVector<int64_t, 3> positions;
};

/// A shape as outer x extent x inner around an axis.
struct Axis {
  Axis(ArrayRef<int64_t> shape, int64_t axis)
      : outer(countElements(shape.take_front(axis))), extent(shape[axis]),
        inner(countElements(shape.drop_front(axis + 1))) {}
  int64_t position(int64_t o, int64_t e, int64_t i) const { return (o * extent + e) * inner + i; }
  int64_t outer, extent, inner;
};

/// Three spatial dimensions; missing ones in front have extent 1 and a window of one element.
struct Spatial {
  Spatial(ArrayRef<int64_t> extents, ArrayRef<nn::Window> own);
  int64_t extent[3], places[3];
  nn::Window window[3];
  int64_t taps() const { return window[0].kernel * window[1].kernel * window[2].kernel; }
  int64_t size() const { return extent[0] * extent[1] * extent[2]; }
  int64_t count() const { return places[0] * places[1] * places[2]; }
  /// The element that tap `tap` of the window at `place` looks at; -1 when it is in a pad.
  int64_t look(int64_t place, int64_t tap) const;
};
/// An error when there are more than three.
LogicalResult checkSpatial(const Call &call, size_t count);
/// The same, and when a window is wider than what it looks at.
LogicalResult checkWindows(const Call &call, ArrayRef<int64_t> extents, ArrayRef<nn::Window> windows);

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

/// What the low bits of a byte mean in a format that is stored in bytes.
double decodeFormat(nn::Format format, uint64_t bits);
/// The nearest number of the format. Integers wrap.
uint64_t encodeFormat(nn::Format format, double value, bool wrap, StringRef roundMode);
bool isFloatFormat(nn::Format format);
/// The range of an integer format, or of integers of this width.
std::pair<int64_t, int64_t> integerRange(nn::Format format, unsigned width);

//===----------------------------------------------------------------------===//
// Families
//===----------------------------------------------------------------------===//

void addNnElementwise(HandlerTable &table);
void addNnCasts(HandlerTable &table);
void addNnReduce(HandlerTable &table);
void addNnContract(HandlerTable &table);
void addNnWindow(HandlerTable &table);
void addNnSample(HandlerTable &table);
void addNnNorm(HandlerTable &table);
void addNnMove(HandlerTable &table);
void addNnGather(HandlerTable &table);
void addNnSequence(HandlerTable &table);
void addNnApprox(HandlerTable &table);

template <typename OpT, LogicalResult (*run)(Call &, OpT)> void addNnOp(HandlerTable &table) {
  table.add(OpT::getOperationName(), [](Exec &x, const Inst &inst) -> LogicalResult {
    for (unsigned i = 0; i < inst.in.size(); ++i) {
      const Val &value = x.in(inst, i);
      bool isWhole = value.getTag() != Val::Tensor || value.elements().defined.empty() ||
                     !llvm::is_contained(value.elements().defined, 0);
      if (value.isUndef() || !isWhole)
        return x.undefined(inst);
    }
    Call call(x, inst);
    return run(call, cast<OpT>(inst.op));
  });
}

} // namespace tessera::oracle
