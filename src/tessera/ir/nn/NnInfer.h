// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the inference of result types shares. Only the sources of this folder include this.
#pragma once

#include "tessera/ir/nn/Nn.h"
#include "tessera/ir/nn/NnTypes.h"

namespace tessera::nn {

/// Reports errors in the form of emitOpError: inference may run before the operation exists.
struct Where {
  std::optional<Location> loc;
  StringRef name;

  template <typename... Args> LogicalResult emitError(Args &&...args) const {
    return emitOptionalError(loc, "'", name, "' op ", std::forward<Args>(args)...);
  }
};

/// A shape as it is written in a type: 2x?x3.
std::string describe(ArrayRef<int64_t> shape);

inline ArrayRef<int64_t> shapeOf(Value value) { return typeOf(value).getShape(); }
inline Type elementOf(Value value) { return typeOf(value).getElementType(); }

/// Two extents that may be the same.
inline bool mayEqual(int64_t a, int64_t b) {
  return a == b || ShapedType::isDynamic(a) || ShapedType::isDynamic(b);
}
/// The one that is known.
inline int64_t known(int64_t a, int64_t b) { return ShapedType::isDynamic(a) ? b : a; }

/// 0 <= axis < rank.
LogicalResult checkAxis(Where where, int64_t axis, int64_t rank);
/// `value` has rank `rank`; `what` names it.
LogicalResult checkRank(Where where, Value value, StringRef what, int64_t rank);
/// `value` has the element type `type`.
LogicalResult checkElement(Where where, Value value, StringRef what, Type type);
/// `value` has floats, or integers.
LogicalResult checkFloat(Where where, Value value, StringRef what);
LogicalResult checkInteger(Where where, Value value, StringRef what);
/// Extent `dim` of `value` may be `extent`.
LogicalResult checkExtent(Where where, Value value, StringRef what, int64_t dim, int64_t extent);
/// `value` may be broadcast to `shape` without enlarging it.
LogicalResult checkBroadcast(Where where, Value value, StringRef what, ArrayRef<int64_t> shape);
/// An attribute has `count` entries, each at least `least`.
LogicalResult checkList(Where where, ArrayRef<int64_t> list, StringRef what, int64_t count, int64_t least);
/// One of the words of a string attribute.
LogicalResult checkWord(Where where, StringRef word, StringRef what, ArrayRef<StringRef> words);

} // namespace tessera::nn

/// The head of an inference: `where` is the place for errors, `a` the operands and attributes.
#define NN_INFER(OP)                                                                                         \
  LogicalResult OP::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor a,           \
                                     SmallVectorImpl<Type> &results)
#define NN_WHERE(OP)                                                                                         \
  Where where { loc, OP::getOperationName() }
