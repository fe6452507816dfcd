// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From statements of Clang's AST to structured MLIR. Local variables are SSA values from the start: each has
// a slot, and branches and loops carry the slots that they change. Jumps become flags that guard what they
// skip. Functions and lambdas are inlined. Only arrays and what comes from outside is memory.
//
// Each part of the language has a file: Memory.cpp (objects, places, loads and stores), Control.cpp (branches
// and loops over slots), Statements.cpp, Expressions.cpp, Arithmetic.cpp, Calls.cpp, Library.cpp, Math.cpp
// and Bytes.cpp (what C++'s library has in MLIR), Atomics, Combiners, Initializers and Complex.cpp.
#pragma once

#include "tessera/frontends/heterocpp/Diag.h"
#include "tessera/frontends/heterocpp/Types.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include <deque>
#include <map>
#include <memory>
#include <set>

namespace tessera::heterocpp {

struct Storage;

/// A piece of memory: an array of units.
struct Object {
  Value memory; ///< a memref of rank 1, or a constant tensor
  Unit unit;
  const clang::ValueDecl *decl = nullptr; ///< for messages
  LocationAttr at = {};                   ///< where it is declared, and its name
};

/// What an lvalue names: a variable (or a part of one) that lives in slots, or memory.
struct Place {
  clang::QualType type;
  Storage *storage = nullptr;
  Object *object = nullptr;
  Value offset = {};          ///< in units of the object
  Storage *pointer = nullptr; ///< the variable that a pointer to it was read from
  explicit operator bool() const { return storage || object; }
};

/// The value of an expression.
struct RValue {
  enum Kind { None, Scalar, Pointer, Reference, Aggregate, Memory } kind = None;
  Value scalar;
  Place place; ///< what a pointer points to, a reference names, or where an array is
  std::vector<RValue> parts;

  static RValue of(Value v) { return {Scalar, v, {}, {}}; }
  static RValue pointer(Place p) { return {Pointer, {}, p, {}}; }
};

/// Where a variable lives.
struct Storage {
  enum Kind { Scalar, Pointer, Reference, Aggregate, Memory } kind = Scalar;
  clang::QualType type;
  unsigned slot = 0;                           ///< Scalar: the value; Pointer: the offset
  Place target;                                ///< Pointer, Reference
  bool isNull = false, isTested = false;       ///< Pointer: was set to null, was compared with it
  bool isChosen = false;                       ///< a copy of one of several variables: not to be written
  std::vector<std::unique_ptr<Storage>> parts; ///< Aggregate: bases and fields
  Object *object = nullptr;                    ///< Memory
};

/// A mistake throws no exception: the translator reports it and goes on with a value of the right type, so
/// that one run reports all mistakes. `failed` is then set, and the result must not be used.
class Translator {
public:
  Translator(OpBuilder &b, const clang::ASTContext &ast, Diag &diag) : b(b), ast(ast), diag(diag) {
    frames.emplace_back();
  }
  virtual ~Translator() = default;

  OpBuilder &b;
  const clang::ASTContext &ast;
  Diag &diag;
  bool failed = false;

  /// A place in the user's file.
  Location getLoc(clang::SourceLocation loc);
  /// Where the user calls what stands in a header of the system.
  clang::SourceLocation getUserLoc(clang::SourceLocation at) const;
  /// Reports that something is not supported here, and what to do instead.
  void unsupported(clang::SourceLocation loc, const Twine &what, const Twine &remedy);

  void unsupportedType(clang::QualType type, clang::SourceLocation at);

  // Statements.
  void emitStmt(const clang::Stmt *stmt);
  void emitStmts(ArrayRef<const clang::Stmt *> stmts);

  // Expressions.
  RValue emit(const clang::Expr *expr);
  Place emitPlace(const clang::Expr *expr);
  Value emitScalar(const clang::Expr *expr);
  Value emitCondition(const clang::Expr *expr);
  Value emitIndex(const clang::Expr *expr);
  virtual Value toIndex(Value v, clang::QualType type);

  // Variables.
  std::unique_ptr<Storage> makeStorage(clang::QualType type, clang::SourceLocation loc);
  Storage *declare(const clang::VarDecl *var);
  void bind(const clang::ValueDecl *decl, Storage *storage) { frames.back().vars[decl] = storage; }
  Storage *own(std::unique_ptr<Storage> storage);
  Object *makeObject(Value memory, Unit unit, const clang::ValueDecl *decl);
  RValue load(const Place &place, clang::SourceLocation loc);
  void store(const Place &place, const RValue &value, clang::SourceLocation loc);

  /// A variable that is declared outside of what is translated. Null after a diagnostic.
  virtual Storage *capture(const clang::ValueDecl *decl, clang::SourceLocation loc) = 0;
  /// Called before memory is read or written.
  virtual bool mayAccess(Object &, bool /*writes*/, clang::SourceLocation) { return true; }
  /// Whether nothing can write to memory: what a lambda has captured by value.
  virtual bool isConstant(const Object *) { return false; }
  /// What a pointer in memory points to. None where that is not known.
  virtual std::optional<RValue> loadPointer(const Place &, clang::SourceLocation) { return std::nullopt; }
  /// A number in memory that must not be read here, but may be known otherwise; null when it is not.
  virtual Value loadNumber(const Place &, clang::SourceLocation) { return Value(); }
  /// The combiner of a function that combines two numbers; null where there can be none, and after a
  /// diagnostic.
  virtual FlatSymbolRefAttr findCombiner(const clang::CallExpr *, const clang::FunctionDecl *, TypedAttr) {
    return {};
  }
  /// Memory for a local array.
  virtual Object *allocate(clang::QualType type, clang::SourceLocation loc) = 0;

  Value constant(Type type, int64_t v);
  Value constantIndex(int64_t v);
  Value zero(Type type);
  Location loc() const { return current; }

protected:
  /// A function that is being inlined, or the code that is being translated.
  struct Frame {
    const clang::FunctionDecl *function = nullptr;
    clang::SourceLocation calledAt = {};
    std::map<const clang::Decl *, Storage *> vars;
    Place self;                ///< *this
    Storage *result = nullptr; ///< null for void
    Place reference;           ///< what a function that returns a reference has returned
    bool hasReference = false;
    std::optional<unsigned> returned; ///< the slot that says whether it has returned
    unsigned firstLoop = 0;           ///< its loops begin here
  };
  struct Loop {
    std::optional<unsigned> broken, continued;
    bool isSwitch = false;
  };

  // Control.cpp
  unsigned newSlot(Value v) {
    slots.push_back(v);
    return slots.size() - 1;
  }
  /// Emits both sides and joins the slots that one of them changes; returns what both sides return (or
  /// nothing).
  Value emitIf(Value condition, function_ref<Value()> yes, function_ref<Value()> no);
  void emitCounted(Value lower, Value upper, Value step, function_ref<void(Value)> body);
  void emitWhile(function_ref<Value()> condition, function_ref<void()> body);
  /// True where one of the flags that `stmt` may set is set. Null when it sets none.
  Value emitJumped(const clang::Stmt *stmt);
  /// Emits `rest` where no flag is set.
  void emitUnless(Value flag, function_ref<void()> rest);
  void setFlag(unsigned slot);
  /// The flag that 'continue' sets: of the innermost loop, or of the iteration that is translated.
  std::optional<unsigned> getContinued() const;

  // Statements.cpp
  void emitDecl(const clang::Decl *decl);
  void emitFor(const clang::ForStmt *loop);
  bool emitCanonical(const clang::ForStmt *loop);
  void addTargets(Storage *storage, std::set<const void *> &all);
  bool mayDependOn(const clang::Stmt *stmt, const std::set<const clang::ValueDecl *> &changed);
  void emitLoop(const clang::Expr *condition, const clang::VarDecl *conditionVar,
                const clang::Stmt *increment, const clang::Stmt *body, bool atLeastOnce);
  void emitRangeFor(const clang::CXXForRangeStmt *loop);
  void emitSwitch(const clang::SwitchStmt *stmt);
  void emitReturn(const clang::ReturnStmt *stmt);

  // Memory.cpp
  Value loadScalar(const Place &place, clang::SourceLocation loc);
  void storeScalar(const Place &place, Value v, clang::SourceLocation loc);
  Value loadUnit(Object &object, Value offset);
  Place fieldOf(const Place &base, const clang::FieldDecl *field);
  Place baseOf(const Place &place, const clang::CXXRecordDecl *base);
  Place elementOf(const Place &pointer, Value index, clang::SourceLocation loc);
  Place decay(const Place &array);
  Place resolve(Place place);
  void checkType(const Place &place, clang::SourceLocation at);
  Place placeOf(Storage *storage) { return {storage->type, storage, nullptr, Value()}; }
  /// A temporary that holds a value.
  Place materialize(const RValue &value, clang::QualType type, clang::SourceLocation loc);
  RValue zeroOf(clang::QualType type, clang::SourceLocation loc);

  // Expressions.cpp, Arithmetic.cpp
  RValue emitCast(const clang::CastExpr *cast);
  // The place that is written, too: its subscripts are evaluated once.
  RValue emitUnary(const clang::UnaryOperator *op, Place *written = nullptr);
  RValue emitBinary(const clang::BinaryOperator *op);
  RValue emitThreeWay(const clang::BinaryOperator *op);
  RValue emitAssign(const clang::BinaryOperator *op, Place *written = nullptr);
  RValue emitCompound(const clang::CompoundAssignOperator *op, Place *written = nullptr);
  RValue emitConditional(const clang::AbstractConditionalOperator *op);
  RValue emitChosen(const clang::AbstractConditionalOperator *op, Value condition);
  Place emitChosenPlace(const clang::ConditionalOperator *op);
  RValue emitDeclRef(const clang::DeclRefExpr *ref);
  std::optional<RValue> emitConstant(const clang::Expr *expr);
  RValue fromConstant(const clang::APValue &value, clang::QualType type, clang::SourceLocation loc);
  Object *constantArray(const clang::VarDecl *var, clang::SourceLocation loc);
  Value arithmetic(clang::BinaryOperatorKind kind, Value l, Value r, clang::QualType type,
                   clang::SourceLocation at);
  Value compare(clang::BinaryOperatorKind kind, Value l, Value r, clang::QualType type);
  Value convert(Value v, clang::QualType from, clang::QualType to);
  RValue comparePointers(const clang::BinaryOperator *op);
  void setNull(Storage &pointer, bool isNull, clang::SourceLocation at);
  void testForNull(const Place &place, clang::SourceLocation at);
  void bindReference(Storage &reference, const Place &target, clang::SourceLocation at);
  Value toBool(Value v);
  // NarrowIntegers.cpp
  Value truncate(Value v, Type narrow);
  Value isNotZero(Value v);

  // Complex.cpp
  Place emitPart(const clang::UnaryOperator *op);
  /// The parts of a complex number, or a real number alone.
  std::pair<Value, Value> emitParts(const clang::Expr *expr);
  RValue complexArithmetic(clang::BinaryOperatorKind kind, std::pair<Value, Value> l,
                           std::pair<Value, Value> r);
  bool isSupportedComplex(const clang::BinaryOperator *op);
  RValue emitComplex(const clang::BinaryOperator *op);
  RValue emitComplex(const clang::CompoundAssignOperator *op, Place *written);
  std::optional<RValue> emitComplex(const clang::UnaryOperator *op);
  std::optional<RValue> emitComplexCast(const clang::CastExpr *cast);
  std::optional<RValue> emitComplexMath(StringRef name, const clang::CallExpr *call);

  // Initializers.cpp
  void initialize(const Place &place, const clang::Expr *init);
  void initializeList(const Place &place, const clang::InitListExpr *list);
  void construct(const Place &place, const clang::CXXConstructExpr *expr);
  RValue emitLambda(const clang::LambdaExpr *lambda);

  // Calls.cpp, Library.cpp
  RValue emitCall(const clang::CallExpr *call);
  RValue emitInlined(const clang::FunctionDecl *function, ArrayRef<const clang::Expr *> args, Place self,
                     const clang::Expr *call, Place *reference);
  /// Gives a lambda's body its captures.
  void bindCaptures(Frame &frame, const clang::CXXMethodDecl *lambda, Place self, clang::SourceLocation at);
  Place emitCallPlace(const clang::CallExpr *call);
  std::optional<RValue> emitLibrary(const clang::CallExpr *call, const clang::FunctionDecl *callee);
  std::optional<RValue> emitMath(StringRef name, const clang::CallExpr *call);
  std::optional<RValue> emitClassification(StringRef name, const clang::CallExpr *call);
  Value remainder(Value x, Value y);
  Value nextAfter(Value x, Value y);
  Value hypotenuse(Value x, Value y);
  Value scale(Value x, Value n);
  std::pair<Value, Value> splitExponent(Value x);
  // Bytes.cpp
  std::optional<RValue> emitBytes(StringRef name, const clang::CallExpr *call);
  void putBytes(const Place &to, Value bytes, Value backwards, function_ref<Value(Value)> bitsAt);
  Value compareBytes(const Place &l, const Place &r, Value bytes, Type result);
  void storeBits(const Place &to, Value index, Value bits);
  Value asBits(Value v);
  std::optional<RValue> emitBits(StringRef name, const clang::CallExpr *call);
  std::optional<RValue> emitOverflow(StringRef operation, const clang::CallExpr *call);
  Value reverse(Value v, bool bits);
  Value swapBytes(Value v);
  std::optional<RValue> emitAtomic(StringRef name, const clang::CallExpr *call);
  RValue emitAtomicExpr(const clang::AtomicExpr *expr);
  std::optional<RValue> emitAtomicOn(StringRef name, Place place, ArrayRef<const clang::Expr *> args,
                                     const clang::Expr *call);
  // Combiners.cpp
  void emitCombine(const clang::CallExpr *call);
  virtual std::optional<RValue> emitMarker(const clang::CallExpr *call, const clang::FunctionDecl *callee);
  /// What the pointer to scratch memory is cast to.
  clang::QualType castTo;

  Storage *lookup(const clang::ValueDecl *decl, clang::SourceLocation loc);

  std::vector<Value> slots;
  std::vector<Loop> loops;
  std::deque<Frame> frames;
  std::deque<Object> objects;
  std::vector<std::unique_ptr<Storage>> storages;
  std::map<const clang::Decl *, Object *> constants;
  std::map<const clang::OpaqueValueExpr *, RValue> opaque;
  Location current = UnknownLoc::get(b.getContext());
};

/// Whether a statement holds a jump out of itself.
struct Jumps {
  bool returns = false, breaks = false, continues = false;
  bool any() const { return returns || breaks || continues; }
};
Jumps findJumps(const clang::Stmt *stmt);
/// The variables that a statement may change, by name: assigned, incremented, or bound to a reference or
/// pointer.
void findChanged(const clang::Stmt *stmt, std::set<const clang::ValueDecl *> &changed);

} // namespace tessera::heterocpp
