// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the importer knows about a value of the model: its type, the SSA value it became, and its elements
// where they follow at import time (constants, and arithmetic on shapes).
#pragma once

#include "tessera/frontends/onnx/reader/Model.h"
#include "tessera/ir/LLVM.h"
#include "tessera/ir/nn/Nn.h"

#include "mlir/IR/Builders.h"
#include <memory>

namespace tessera::onnximport {

using ::tessera::onnx::DataType;
using ::tessera::onnx::Node;

/// More elements than this are never looked at one by one.
constexpr int64_t maxKnown = 1 << 16;
/// Tensors with more elements are refused.
constexpr int64_t maxElements = int64_t(1) << 40;

/// One element: an integer (or bool), a float, or an extent that is computed at run time (`index`).
struct Scalar {
  int64_t i = 0;
  double f = 0;
  Value dynamic;
};

/// A tensor whose elements are known, row-major. Integers are in `i` (a u64 by its bits), floats in `f`.
struct Known {
  DataType type = DataType::Undefined;
  SmallVector<int64_t> dims;
  std::vector<Scalar> elements;

  int64_t rank() const { return dims.size(); }
  int64_t count() const { return elements.size(); }
  bool isStatic() const {
    return llvm::none_of(elements, [](const Scalar &s) { return bool(s.dynamic); });
  }
};
using KnownPtr = std::shared_ptr<const Known>;

struct Entity;
/// A value of the model. Shared: several names may stand for one.
using Val = std::shared_ptr<Entity>;
/// Strings as places (i64) in a table.
struct WordTable {
  Value indices;
  std::vector<std::string> table;
};
struct Entity {
  Entity() = default;
  Entity(const Entity &) = delete;
  ~Entity();
  std::string name;
  DataType type = DataType::Undefined;
  SmallVector<int64_t> dims; ///< static extents, or kDynamic
  Value value;               ///< null until it is asked for, where `known` or `tensor` is there
  KnownPtr known;
  const ::tessera::onnx::Tensor *tensor = nullptr;
  /// Of strings that are no constant: `value` holds places in this table.
  std::shared_ptr<const std::vector<std::string>> words;
  /// Of a sequence: its values. An optional is the value itself.
  std::shared_ptr<const std::vector<Val>> items;
  bool isNone = false; ///< An optional without a value.
  bool poison = false; ///< a node that gives it failed; what uses it is skipped
  bool isInput = false;
  std::vector<Val> from; ///< what it was computed from

  int64_t rank() const { return dims.size(); }
  bool isConstant() const { return tensor || (known && known->isStatic()); }
};

bool isFloat(DataType type);
bool isUnsigned(DataType type);
/// Stored as bits in an i8: 8-, 4- and 2-bit formats.
bool isNarrow(DataType type);
bool isInteger(DataType type);
/// The element type in the graph; null for strings and complex numbers.
Type elementType(DataType type, MLIRContext *context);
/// How `nn.cast` reads or writes it.
nn::Format format(DataType type);
/// `value` as a number of `type` (f32, f16, bf16 are rounded).
double roundTo(DataType type, double value);
/// `value` reduced to the width of an integer type.
int64_t wrapTo(DataType type, int64_t value);

/// An extent: static, or an `index` value.
struct Ext {
  int64_t size = 1;
  Value value;
  Ext() = default;
  Ext(int64_t size) : size(size) {}
  Ext(Value value) : size(ShapedType::kDynamic), value(value) {}
  bool isStatic() const { return !value; }
  bool is(int64_t n) const { return !value && size == n; }
};
using Exts = SmallVector<Ext>;

/// An index that is never negative, as far as its arithmetic says so: extents are not, their differences may
/// be.
bool isNatural(Value index);

/// A type as an attribute that arith.constant takes; bytes are as Tensor holds them, sub-byte types unpacked.
TypedAttr denseAttr(RankedTensorType type, ArrayRef<char> bytes);

} // namespace tessera::onnximport
