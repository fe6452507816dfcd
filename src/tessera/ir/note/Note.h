// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Notes as C++: attributes that passes leave for each other on operations of any dialect. The lists of them
// are in the .td files of the dialects (NoteBase.td), which make a member of each: dfg::Notes::knob.
#pragma once

#include "tessera/ir/LLVM.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <initializer_list>
#include <type_traits>

namespace tessera {

/// What all notes have, for the verifier.
struct NoteInfo {
  llvm::StringLiteral name;        ///< with the dialect's
  llvm::StringLiteral type, place; ///< words for messages
  bool onArgument;                 ///< of a function; otherwise on the operation itself
  bool (*mayStandOn)(Operation *); ///< the operation, or the function
  LogicalResult (*check)(Operation *,
                         Attribute); ///< emits what is wrong with a value of the type; may be null
  bool (*hasType)(Attribute);

  bool operator==(StringRef other) const { return name == other; }
};

/// A note whose value is an `AttrT`.
template <typename AttrT> struct Note : NoteInfo {
  constexpr Note(llvm::StringLiteral name, llvm::StringLiteral type, llvm::StringLiteral place,
                 bool onArgument, bool (*mayStandOn)(Operation *),
                 LogicalResult (*check)(Operation *, Attribute))
      : NoteInfo{name,
                 type,
                 place,
                 onArgument,
                 mayStandOn,
                 check,
                 [](Attribute value) { return isa<AttrT>(value); }} {}

  bool isOn(Operation *op) const { return bool(op->getDiscardableAttr(name)); }
  /// Null where it is not on the operation.
  AttrT get(Operation *op) const { return dyn_cast_or_null<AttrT>(op->getDiscardableAttr(name)); }
  /// The value as an attribute, or what one of the type is made of; nothing for a mark.
  template <typename... ValueT> void set(Operation *op, ValueT &&...value) const {
    op->setDiscardableAttr(name, make(op->getContext(), std::forward<ValueT>(value)...));
  }
  template <typename ElementT> void set(Operation *op, std::initializer_list<ElementT> values) const {
    set(op, ArrayRef<ElementT>(values));
  }
  /// Whether it was there.
  bool remove(Operation *op) const { return bool(op->removeDiscardableAttr(name)); }
  /// Takes it over from another operation where that has it.
  void copy(Operation *from, Operation *to) const {
    if (AttrT value = get(from))
      set(to, value);
  }

  /// The same for argument `number` of a function.
  template <typename FuncT> AttrT getOf(FuncT function, unsigned number) const {
    return function.template getArgAttrOfType<AttrT>(number, name);
  }
  template <typename FuncT, typename... ValueT>
  void setOf(FuncT function, unsigned number, ValueT &&...value) const {
    function.setArgAttr(number, name, make(function.getContext(), std::forward<ValueT>(value)...));
  }

private:
  static AttrT make(MLIRContext *, AttrT value) { return value; }
  static AttrT make(MLIRContext *context) { return AttrT::get(context); }
  template <typename ValueT>
    requires(!std::is_convertible_v<ValueT, Attribute>)
  static AttrT make(MLIRContext *context, ValueT &&value) {
    if constexpr (std::is_same_v<AttrT, IntegerAttr>)
      return IntegerAttr::get(IntegerType::get(context, 64), int64_t(value));
    else
      return AttrT::get(context, value);
  }
};

/// Whether the operation has one of the names; one that ends with a point is a dialect's.
bool isNamed(Operation *op, std::initializer_list<StringRef> names);

/// Emit what is wrong with an attribute that has the prefix of a dialect with these notes.
LogicalResult verifyNote(Operation *op, NamedAttribute note, ArrayRef<const NoteInfo *> known);
LogicalResult verifyArgumentNote(Operation *op, NamedAttribute note, ArrayRef<const NoteInfo *> known);
LogicalResult verifyResultNote(Operation *op, NamedAttribute note, ArrayRef<const NoteInfo *> known);

} // namespace tessera
