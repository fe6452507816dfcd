// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Notes: attributes that passes leave for each other on operations of any dialect. A dialect lists its notes once, with their
// types, places and meanings; accessors, the verifier and the table in the dialect's page all come from that list.
#ifndef TESSERA_IR_NOTE_NOTEBASE_TD
#define TESSERA_IR_NOTE_NOTEBASE_TD

include "mlir/IR/DialectBase.td"

// What the value of a note is: a class of attributes, and words for messages.
class NoteType<string cppClass, string description> {
  string cpp = cppClass;
  string words = description;
}
def NoteMark : NoteType<"::mlir::UnitAttr", "without a value">;
def NoteText : NoteType<"::mlir::StringAttr", "a string">;
def NoteNumber : NoteType<"::mlir::IntegerAttr", "an integer">;
def NoteList : NoteType<"::mlir::ArrayAttr", "a list">;
def NoteTable : NoteType<"::mlir::DictionaryAttr", "a dictionary">;
def NoteNumbers : NoteType<"::mlir::DenseI64ArrayAttr", "an array of i64">;
def NoteFloats : NoteType<"::mlir::DenseF32ArrayAttr", "an array of f32">;

// Where a note may stand: a condition in C++ on the operation `op`, and words for messages.
class NotePlace<string condition, string description> {
  string cpp = condition;
  string words = description;
  bit isArgument = 0;
}
// On operations of these names; a name that ends with a point is a dialect's.
class NoteOn<list<string> names, string description>
    : NotePlace<"::tessera::isNamed(op, {\"" # !interleave(names, "\", \"") # "\"})", description>;
// On arguments of functions of these names.
class NoteOnArgument<list<string> names, string description> : NoteOn<names, description> {
  let isArgument = 1;
}
def NoteOnModule : NoteOn<["builtin.module"], "a module">;
def NoteOnFunction : NoteOn<["func.func", "llvm.func"], "a function">;
def NoteOnArgumentOfFunction : NoteOnArgument<["func.func", "llvm.func"], "an argument of a function">;

// A note that C++ calls `member` and IR `dialect.spelling`. `check` is a function `LogicalResult (Operation *, Attribute)` that knows more of the
// value than its type, and emits what is wrong with it.
class Note<string cppName, string irName, NoteType valueType, NotePlace where, string description, string function = "nullptr"> {
  string member = cppName;
  string spelling = irName;
  NoteType type = valueType;
  NotePlace place = where;
  string meaning = description;
  string check = function;
}

// Of the notes of a dialect: `cpp` belongs into its extraClassDeclaration, `doc` into its description.
class NotesOf<string dialect, list<Note> notes> {
  string cpp = "/// The notes of the dialect.\nstruct Notes {\n" # !interleave(!foreach(note, notes,
      "  /// " # note.meaning # ".\n" #
      "  static constexpr ::tessera::Note<" # note.type.cpp # "> " # note.member # "{\n" #
      "      \"" # dialect # "." # note.spelling # "\", \"" # note.type.words # "\", \"" # note.place.words # "\", " #
      !if(note.place.isArgument, "true", "false") # ",\n" #
      "      [](::mlir::Operation *op) { return " # note.place.cpp # "; }, " # note.check # "};\n"), "") #
    "  static ::llvm::ArrayRef<const ::tessera::NoteInfo *> all() {\n" #
    "    static const ::tessera::NoteInfo *const list[] = {" # !interleave(!foreach(note, notes, "&" # note.member), ", ") # "};\n" #
    "    return list;\n  }\n};\n" # [{
::llvm::LogicalResult verifyOperationAttribute(::mlir::Operation *op, ::mlir::NamedAttribute note) override {
  return ::tessera::verifyNote(op, note, Notes::all());
}
::llvm::LogicalResult verifyRegionArgAttribute(::mlir::Operation *op, unsigned, unsigned, ::mlir::NamedAttribute note) override {
  return ::tessera::verifyArgumentNote(op, note, Notes::all());
}
::llvm::LogicalResult verifyRegionResultAttribute(::mlir::Operation *op, unsigned, unsigned, ::mlir::NamedAttribute note) override {
  return ::tessera::verifyResultNote(op, note, Notes::all());
}
}];
  string doc = "\n\n**Notes** are attributes that passes leave for each other. An unknown one with the dialect's prefix is an error.\n\n" #
      "| note | its value | stands on | says |\n|---|---|---|---|\n" # !interleave(!foreach(note, notes,
      "| `" # dialect # "." # note.spelling # "` | " # note.type.words # " | " # note.place.words # " | " # note.meaning # " |"), "\n") # "\n";
}

#endif
