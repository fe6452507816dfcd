// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How one graph is built from statements; shared by the files Graph*.cpp only.
#pragma once

#include "tessera/frontends/heterocpp/LeafTranslator.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

namespace tessera::heterocpp {

/// Builds one graph.
class GraphBuilder {
public:
  GraphBuilder(Launch &launch, const Lists &lists, const TargetNames &names, ModuleOp module,
               const clang::ASTContext &ast, Diag &diag)
      : launch(launch), lists(lists), targetNames(names), module(module), ast(ast), diag(diag),
        b(module.getContext()), level(b, ast, diag) {
    level.addMember = [this](Object *object, Value offset, clang::SourceLocation at) {
      return addMember(object, offset, at);
    };
    level.module = module;
    level.addCombiner = [this](const clang::CallExpr *call, const clang::FunctionDecl *function,
                               TypedAttr identity) { return addCombiner(call, function, identity); };
    level.isClosure = [this](Object *object) {
      auto source = sources.find(object);
      const auto *record = source == sources.end() ? nullptr : source->second.element->getAsCXXRecordDecl();
      return record && record->isLambda() && record->getLambdaCallOperator()->isConst();
    };
    level.addNumber = [this](Object *object, Value offset, clang::QualType type, clang::SourceLocation at) {
      return addNumber(object, offset, type, at);
    };
  }

  bool build(const clang::FunctionDecl *root, ArrayRef<const clang::Stmt *> stmts);

private:
  bool addInputs(const clang::FunctionDecl *root);
  bool addInput(const clang::ValueDecl *decl, clang::QualType type, const Listed &listed,
                std::optional<unsigned> sizeArgument);
  void walk(ArrayRef<const clang::Stmt *> stmts, const Lists *task);
  // GraphMembers.cpp
  struct Source;
  /// The location of memory: what the user calls it, and where it is declared.
  Location nameLoc(const std::string &name, clang::SourceLocation at, bool isArray);
  std::pair<std::string, clang::SourceLocation> getSpoken(const Source &source,
                                                          const FoundMember &member) const;
  /// The memory behind the pointer at `offset` (in units) of an input; none when there is no such pointer, an
  /// empty one after a diagnostic.
  std::optional<MemberMemory> addMember(Object *object, Value offset, clang::SourceLocation at);
  std::optional<MemberMemory> addMemberAt(Object *object, const FoundMember &member, uint64_t place,
                                          clang::SourceLocation at);
  Value addNumber(Object *object, Value offset, clang::QualType type, clang::SourceLocation at);
  std::optional<uint64_t> getOffsetInside(Object *object, Value offset);
  void declareSize(const Listed &listed);
  Value walkCall(const clang::CallExpr *call, const clang::FunctionDecl *callee, const Lists *task);
  void walkParts(const clang::Stmt *stmt, ArrayRef<const clang::CallExpr *> parts, const Lists *task,
                 function_ref<void()> use);
  bool storesMemory(const clang::Stmt *stmt);
  /// For messages and locations: where the user calls what stands in hetero.hpp.
  clang::SourceLocation getUserLoc(clang::SourceLocation at) const;
  void walkBody(const clang::FunctionDecl *function, const Lists *task);
  void walkLaunch(const clang::CallExpr *call, const Lists *task);
  /// Whether an object of a list is the memory that came in as `input`, possibly under another name.
  bool isListedAs(const Listed &listed, const clang::ValueDecl *input);
  void emitTask(const Lists &task, ArrayRef<const clang::Stmt *> stmts, bool isPart);
  /// Whether a variable is named outside of these statements, and not only in lists.
  bool isUsedOutside(const clang::ValueDecl *decl, ArrayRef<const clang::Stmt *> stmts) const;
  void findChangedOutside(LeafTranslator &leaf, ArrayRef<const clang::Stmt *> stmts);
  void emitLoop(const clang::ForStmt *loop, const Lists *task);
  /// Reports a jump that leaves a task or a parallel loop.
  void checkStays(const clang::Stmt *stmt, const char *what, const clang::CallExpr *marker);
  void finishLeaf(LeafTranslator &leaf, Block *body, const Lists &own, std::string name, ValueRange grid,
                  Location loc, bool isPart);
  // Combiners.cpp
  FlatSymbolRefAttr addCombiner(const clang::CallExpr *call, const clang::FunctionDecl *function,
                                TypedAttr identity);
  // GraphRaces.cpp
  void checkSection(ArrayRef<Lists> tasks);
  // GraphStreams.cpp
  bool declareStates(const clang::DeclStmt *stmt);
  void declareState(const clang::VarDecl *var);
  void updateStates();
  void makePrivate();
  void checkOutputs(LeafTranslator &leaf, const Lists &own, bool isPart);
  std::string uniqueName(std::string name);
  void addHints(dfg::NodeOp node);
  /// The targets that a number of HPVM's enumeration allows.
  std::vector<std::string> getTargets(uint64_t number) const;
  /// What a hint with several names looks like, for messages.
  std::string exampleHint() const;
  void readHint(const clang::Stmt *stmt);
  void checkTarget(StringRef name, clang::SourceLocation at);

  Launch &launch;
  const Lists &lists;
  const TargetNames &targetNames;
  ModuleOp module;
  const clang::ASTContext &ast;
  Diag &diag;
  OpBuilder b;
  GraphTranslator level;
  dfg::GraphOp graph;
  Block *body = nullptr;
  std::vector<Object *> memory; ///< of the graph's inputs
  std::vector<std::string> memoryNames;
  /// What the memory of an input is an array of, and where the host finds it.
  struct Source {
    clang::QualType element;
    std::string name;
    std::shared_ptr<const HostPlace> where;
    bool isOne = false;    ///< a single structure
    bool isPacked = false; ///< gathered from several places
    std::string spoken;    ///< its name for the user
    clang::SourceLocation declared = {};
  };
  std::map<Object *, Source> sources;
  std::map<std::pair<Object *, uint64_t>, MemberMemory> members;
  std::map<std::pair<Object *, uint64_t>, Value> numbers;
  /// Arguments of the launch that are sizes of members, by the variable and the offset in it.
  std::map<std::pair<const clang::ValueDecl *, uint64_t>, unsigned> declaredSizes;
  /// Memory of a stream that each item has for itself when the graph writes it.
  struct Private {
    Object *object;
    BlockArgument memory, bytes;
  };
  std::vector<Private> privates;
  /// A number that an item of a stream leaves to the next.
  struct State {
    Storage *storage;
    Value value;
  };
  std::vector<State> states;
  /// The tasks of each section around the statement at hand; none inside of a task, which is one after the
  /// other.
  std::vector<std::optional<SmallVector<Lists>>> sections;
  void enter(const Lists &task) {
    if (!sections.empty() && sections.back())
      sections.back()->push_back(task);
  }
  std::map<const clang::FunctionDecl *, dfg::CombinerOp> combiners;
  clang::SourceLocation calledAt;
  llvm::StringSet<> names;
  std::vector<std::string> targets;              ///< hints of the task or loop at hand
  SmallVector<const clang::Stmt *> all;          ///< the statements of the graph
  std::set<const clang::FunctionDecl *> entered; ///< functions that are being walked
};

/// The parallel marker in the body of a loop nest; null when there is none.
const clang::CallExpr *findLoopMarker(const clang::ForStmt *loop);

/// Calls `found` for each hint in a statement.
void findHints(const clang::Stmt *stmt, function_ref<void(const clang::Stmt *)> found);

} // namespace tessera::heterocpp
