// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a launch in the AST to a `dfg.graph`: tasks and parallel loops become nodes, the data that they share
// becomes edges.
#pragma once

#include "tessera/frontends/Frontend.h"
#include "tessera/frontends/heterocpp/HostPlace.h"
#include "tessera/frontends/heterocpp/Markers.h"
#include "tessera/frontends/heterocpp/Translator.h"
#include "tessera/ir/dfg/Dfg.h"

namespace tessera::heterocpp {

/// One input of a graph and where the host finds it.
struct GraphInput {
  std::string name;
  unsigned argument = 0;                ///< of the marker's call: the value or the address
  std::optional<unsigned> sizeArgument; ///< of memory: its size in bytes
  clang::QualType type;                 ///< of a scalar, as the graph takes it
  uint64_t unitBytes = 0;               ///< of memory
  /// Of memory: the extents after the first, each a constant, or a scalar of the launch and a constant.
  struct Extent {
    int64_t factor = 1;
    std::shared_ptr<const GraphInput> number = nullptr;
  };
  std::vector<Extent> inner;
  std::shared_ptr<const HostPlace> member; ///< set when it is reached through a member of the argument
  bool written = false;                    ///< by the graph
};

/// A launch of the host program.
struct Launch {
  std::string graph;                         ///< the name of the graph
  const clang::FunctionDecl *host = nullptr; ///< the function that launches it; null outside of functions
  const clang::CallExpr *call = nullptr;
  const clang::CallExpr *end = nullptr; ///< __hetero_launch_end
  bool isStream = false;                ///< __hetero_launch_stream
  std::vector<Word> words;              ///< of a stream: the inputs of an item
  unsigned output = 0;                  ///< of a stream: the word that says where an item's first output is
  std::vector<GraphInput> inputs;
  std::vector<GraphInput> outputs; ///< that are not the memory of an input; `inner` holds all extents
};

/// Builds the graph of one launch at the end of `module`; `targets` are the names that hints may have.
/// Returns false after diagnostics.
bool buildGraph(Launch &launch, const clang::FunctionDecl *root, const Lists &lists,
                ArrayRef<const clang::Stmt *> region, const TargetNames &targets, ModuleOp module,
                const clang::ASTContext &ast, Diag &diag);

/// Whether the inputs of a launch fit the parameters of the function that it names; emits a diagnostic where
/// not.
bool checkArguments(const Lists &lists, const clang::FunctionDecl *root, MLIRContext *context,
                    const clang::ASTContext &ast, Diag &diag);

/// The definition of the function that a launch names; null after a diagnostic.
const clang::FunctionDecl *getRoot(const Lists &lists, Diag &diag);

/// The lambda that a function of hetero.hpp is made for; null for others.
const clang::CXXRecordDecl *getLambda(const clang::FunctionDecl *function);
/// Whether a place is in hetero.hpp.
bool isOwnHeader(clang::SourceLocation at, const clang::ASTContext &ast);

/// Whether the size of a listed object is that of one element.
bool isOne(const Listed &listed, clang::QualType element, const clang::FunctionDecl *host,
           const clang::ASTContext &ast);

/// Rewrites index arithmetic in a leaf from C++'s integers to `index` where no overflow can tell them apart.
void widenIndices(Operation *leaf);

/// Patterns that combine truth values as they lie in memory.
void addTruthPatterns(RewritePatternSet &patterns);

/// Makes tensors of memory that is only read, and gathered results of memory that each iteration writes one
/// element of, where the whole graph allows it.
void useValues(dfg::GraphOp graph, Launch &launch);

/// Sums and the like over a parallel loop's iterations become reductions.
void findReductions(dfg::GraphOp graph);

/// `all` combined with `one`. By an operation of the user, it is a note until reductions have been found; see
/// Combiners.cpp.
Value buildCombination(OpBuilder &b, Location loc, dfg::ReductionAttr reduction, Value all, Value one);
/// The user's operation that such a note stands for; null for other operations.
FlatSymbolRefAttr getCombiner(Operation *op);
/// Writes out the notes that are left.
void expandCombinations(ModuleOp module);

} // namespace tessera::heterocpp
