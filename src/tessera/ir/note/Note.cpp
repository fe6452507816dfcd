// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Note.h.
#include "tessera/ir/note/Notes.h"

#include "tessera/base/Diag.h"

using namespace tessera;

#include "tessera/ir/note/Notes.cpp.inc"

void TesseraDialect::initialize() {}

bool tessera::isNamed(Operation *op, std::initializer_list<StringRef> names) {
  StringRef own = op->getName().getStringRef();
  return llvm::any_of(
      names, [&](StringRef name) { return name.ends_with(".") ? own.starts_with(name) : own == name; });
}

namespace {
enum class Place { Operation, Argument, Result };
} // namespace

static LogicalResult verify(Operation *op, NamedAttribute note, ArrayRef<const NoteInfo *> known,
                            Place place) {
  StringRef name = note.getName();
  const auto *found = llvm::find_if(known, [&](const NoteInfo *info) { return info->name == name; });
  if (found == known.end()) {
    std::vector<std::string> names;
    for (const NoteInfo *info : known)
      names.push_back(info->name.str());
    return op->emitOpError() << unknownName("attribute", name.str(), "attributes of the dialect", names);
  }
  const NoteInfo &info = **found;
  // There is none for results.
  if (place == Place::Result || info.onArgument != (place == Place::Argument) || !info.mayStandOn(op))
    return op->emitOpError() << "expected '" << name << "' on " << info.place << ", but got it on "
                             << (place == Place::Argument ? "an argument of "
                                 : place == Place::Result ? "a result of "
                                                          : "")
                             << "'" << op->getName() << "'; leave it out";
  if (!info.hasType(note.getValue()))
    return op->emitOpError() << "expected '" << name << "' to be " << info.type << ", but got "
                             << note.getValue();
  return info.check ? info.check(op, note.getValue()) : success();
}

LogicalResult tessera::verifyNote(Operation *op, NamedAttribute note, ArrayRef<const NoteInfo *> known) {
  return verify(op, note, known, Place::Operation);
}

LogicalResult tessera::verifyArgumentNote(Operation *op, NamedAttribute note,
                                          ArrayRef<const NoteInfo *> known) {
  return verify(op, note, known, Place::Argument);
}

LogicalResult tessera::verifyResultNote(Operation *op, NamedAttribute note,
                                        ArrayRef<const NoteInfo *> known) {
  return verify(op, note, known, Place::Result);
}
