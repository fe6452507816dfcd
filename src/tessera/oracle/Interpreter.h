// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The oracle's machine, for the files that give operations their meaning. Before it runs, a region that is
// isolated from above is decoded once: each SSA value gets a slot in a frame, each operation a handler and
// what the handler needs to know about its types. Execution is then a walk over arrays.
#pragma once

#include "tessera/oracle/Memory.h"
#include "tessera/oracle/Oracle.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include <map>

namespace tessera::oracle {

struct Exec;
struct Inst;
using Handler = LogicalResult (*)(Exec &, const Inst &);
using Vals = SmallVector<Val, 4>;

struct CodeBlock;
struct CodeRegion {
  std::vector<std::unique_ptr<CodeBlock>> blocks;
  const CodeBlock &front() const { return *blocks.front(); }
};

/// One decoded operation.
struct Inst {
  Inst() = default;
  Inst(const Inst &) = delete;
  Inst(Inst &&) noexcept = default;

  Operation *op = nullptr;
  Handler handler = nullptr;
  SmallVector<uint32_t, 4> in;
  SmallVector<uint32_t, 2> out;
  /// Bit i: operand i is used here for the last time, so that its value may be moved away.
  uint64_t lastUses = 0;
  std::vector<CodeRegion> regions;
  SmallVector<const CodeBlock *, 0> successors;
  /// The elements of the first operand and of the first result.
  ElementInfo operandInfo, resultInfo;
  /// The first result (or, without one, the first operand) is a tensor or vector.
  bool isShaped = false;
  /// What a handler wants to remember of its attributes.
  int64_t immediate = 0;
  const void *table = nullptr;
  Val constant;
  bool isTerminator = false;
};

struct CodeBlock {
  SmallVector<uint32_t, 4> args;
  std::vector<Inst> insts;
};

/// The code of a region that is isolated from above.
struct Code {
  CodeRegion region;
  uint32_t slots = 0;
  bool hasBarrier = false;
};

/// Parallel instances: of a node's grid, or of a parallel loop. The stack of levels says who is executing.
struct Level {
  Operation *op;
  uint64_t epoch;
  /// The linear number of the instance, from 1.
  uint64_t instance;
  SmallVector<int64_t, 3> extents;

  /// "(3, 4)"
  std::string describe(uint64_t instance) const;
};

/// Stores that are made when all instances have run (Nodes.h); of one instance at a time.
struct StoreCapture {
  DenseMap<Operation *, unsigned> numbers; ///< of the stores that are kept
  struct Kept {
    const Inst *inst = nullptr;
    Val memory, value;
    SmallVector<int64_t, 4> index;
  };
  std::vector<Kept> kept; ///< by number
};

/// One execution of a leaf's grid, shared by its instances.
struct LeafRun {
  dfg::NodeOp node;
  SmallVector<int64_t, 3> extents;
  llvm::DenseMap<Operation *, Val> scratch;
  unsigned level = 0;
};

struct Fiber;

/// What `dfg.state` operations keep, by the path of calls and instances that leads to them.
struct GraphStates {
  std::map<std::pair<std::string, Operation *>, Val> values, next;
};

/// The state of one thread of control: an instance, or the host's.
struct Exec {
  explicit Exec(Interpreter &interpreter) : interpreter(interpreter) {}

  Interpreter &interpreter;
  Val *frame = nullptr;
  SmallVector<Level, 2> levels;
  LeafRun *leaf = nullptr;
  /// The current point of the innermost linalg operation.
  const int64_t *point = nullptr;
  Fiber *fiber = nullptr;
  unsigned depth = 0;
  GraphStates *states = nullptr;
  std::string path;
  /// The mask of an enclosing vector.mask; null outside.
  const Val *mask = nullptr;
  /// What instances of a node store, where its knob says what becomes of it; null elsewhere.
  StoreCapture *capture = nullptr;
  /// Numbers of f32 are rounded to f16 as they are made.
  bool makesHalves = false;

  const Val &in(const Inst &inst, unsigned i) const { return frame[inst.in[i]]; }
  Val &out(const Inst &inst, unsigned i = 0) const { return frame[inst.out[i]]; }
  /// The operand's value, moved out of its slot when it is not needed any more.
  Val take(const Inst &inst, unsigned i) const {
    Val &slot = frame[inst.in[i]];
    if (i < 64 && (inst.lastUses >> i & 1))
      return std::move(slot);
    return slot;
  }

  /// Emits an error at the operation, with a note that says which instance it happened in.
  LogicalResult error(Operation *op, const Twine &message) const;
  LogicalResult error(const Inst &inst, const Twine &message) const { return error(inst.op, message); }

  /// Runs a region from its first block; `results` are the operands of its terminator. The block's arguments
  /// are moved from `args`.
  LogicalResult run(const CodeRegion &region, MutableArrayRef<Val> args, Vals &results,
                    const Inst **terminator = nullptr);

  /// An index operand; an error when it is undefined.
  LogicalResult index(const Inst &inst, unsigned operand, int64_t &value) const;
  LogicalResult indices(const Inst &inst, unsigned first, unsigned count,
                        SmallVectorImpl<int64_t> &values) const;
  /// Static values with the dynamic ones, from operand `first` on, in their places.
  LogicalResult mixed(const Inst &inst, ArrayRef<int64_t> statics, unsigned &first,
                      SmallVectorImpl<int64_t> &values) const;
  LogicalResult undefined(const Inst &inst, const Twine &what = "an undefined value is used") const;

  /// New elements; an error when there are too many or an extent is negative.
  LogicalResult allocate(const Inst &inst, ElementInfo info, ArrayRef<int64_t> shape, Val &result,
                         bool isDefined) const;
  LogicalResult allocateMemory(const Inst &inst, ElementInfo info, ArrayRef<int64_t> shape, Val &result,
                               StringRef name) const;

  enum class Touching { Read, Write, Atomic, Accumulate };
  /// Checks an access to a position of a buffer, and remembers it for the race detector.
  LogicalResult touch(const Inst &inst, const MemRef &view, int64_t position, Touching how) const;
  /// The element at an index, checked: bounds, definedness, rights, races.
  LogicalResult load(const Inst &inst, const MemRef &view, ArrayRef<int64_t> index, Val &value,
                     bool allowUndef = false) const;
  LogicalResult store(const Inst &inst, const MemRef &view, ArrayRef<int64_t> index, const Val &value) const;
  LogicalResult checkBounds(const Inst &inst, ArrayRef<int64_t> index, ArrayRef<int64_t> sizes,
                            StringRef what) const;
  /// All elements of a view.
  LogicalResult loadAll(const Inst &inst, const MemRef &view, Val &tensor) const;
  LogicalResult storeAll(const Inst &inst, const MemRef &view, const Elements &elements) const;
};

/// Operations by name.
class HandlerTable {
public:
  void add(StringRef name, Handler handler) { handlers[name] = handler; }
  Handler lookup(StringRef name) const { return handlers.lookup(name); }

private:
  llvm::StringMap<Handler> handlers;
};

/// The families; each adds its handlers.
void addArith(HandlerTable &table);
void addArithCasts(HandlerTable &table);
void addMath(HandlerTable &table);
void addScf(HandlerTable &table);
void addControlFlow(HandlerTable &table);
void addAffine(HandlerTable &table);
void addTensor(HandlerTable &table);
void addMemRef(HandlerTable &table);
void addAtomics(HandlerTable &table);
void addBufferization(HandlerTable &table);
void addVector(HandlerTable &table);
void addVectorMemory(HandlerTable &table);
void addVectorReductions(HandlerTable &table);
void addLinalg(HandlerTable &table);
void addGraph(HandlerTable &table);
void addHost(HandlerTable &table);
void addNn(HandlerTable &table);
/// For operations that implement LinalgOp.
LogicalResult runStructured(Exec &x, const Inst &inst);

class Interpreter {
public:
  explicit Interpreter(const Options &options);

  /// The code of an operation's only region.
  const Code &getCode(Operation *op);
  Operation *lookup(Operation *from, SymbolRefAttr symbol);

  LogicalResult callGraph(Exec &x, dfg::GraphOp graph, MutableArrayRef<Val> args, Vals &results);
  LogicalResult callFunction(Exec &x, const Inst &inst, func::FuncOp function, MutableArrayRef<Val> args,
                             Vals &results);
  /// Runs a graph as a launch does, with arrays; states are kept in `states`.
  FailureOr<std::vector<Array>> activate(dfg::GraphOp graph, ArrayRef<Array> inputs, GraphStates &states);
  FailureOr<std::vector<Array>> callHost(func::FuncOp function, ArrayRef<Array> inputs);

  /// The value of an array input of this type; an error at `op` when they do not fit.
  LogicalResult import(Operation *op, StringRef name, Type type, const Array &array, Val &value);
  FailureOr<Array> exportValue(Operation *op, StringRef name, Type type, const Val &value);

  /// Runs one operation without regions on values of its operands.
  LogicalResult runAlone(Operation *op, MutableArrayRef<Val> operands, Vals &results);

  uint64_t nextEpoch() { return ++epochs; }
  const Options &getOptions() const { return options; }

  uint64_t steps = 0;
  /// Memory of memref.global operations.
  llvm::DenseMap<Operation *, Val> globals;

private:
  Handler findHandler(Operation &op);
  void decodeRegion(Code &code, Region &region, CodeRegion &result, llvm::DenseMap<Value, uint32_t> &slots);
  void decodeInst(Code &code, Operation &op, Inst &inst, llvm::DenseMap<Value, uint32_t> &slots,
                  llvm::DenseMap<Block *, const CodeBlock *> &blocks);

  Options options;
  HandlerTable table;
  std::map<Operation *, std::unique_ptr<Code>> codes;
  uint64_t epochs = 0;
};

/// The value of an attribute of a constant; none where the oracle cannot represent it.
std::optional<Val> constantValue(Attribute value, Type type);

//===----------------------------------------------------------------------===//
// Elementwise operations
//===----------------------------------------------------------------------===//

/// Applies a function of scalars to an operation's operands: once, or to each element of tensors and vectors.
/// Elements that are undefined stay so; an undefined scalar is an error.
using ScalarFunction = LogicalResult (*)(Exec &, const Inst &, const Val *const *in, Val *out);
LogicalResult mapElements(Exec &x, const Inst &inst, ScalarFunction function);

template <auto Function> LogicalResult unary(Exec &x, const Inst &inst) {
  if (!inst.isShaped && !x.in(inst, 0).isUndef())
    return Function(x, inst, x.in(inst, 0), x.out(inst));
  return mapElements(x, inst, [](Exec &x, const Inst &inst, const Val *const *in, Val *out) {
    return Function(x, inst, *in[0], *out);
  });
}

template <auto Function> LogicalResult binary(Exec &x, const Inst &inst) {
  if (!inst.isShaped && !x.in(inst, 0).isUndef() && !x.in(inst, 1).isUndef())
    return Function(x, inst, x.in(inst, 0), x.in(inst, 1), x.out(inst));
  return mapElements(x, inst, [](Exec &x, const Inst &inst, const Val *const *in, Val *out) {
    return Function(x, inst, *in[0], *in[1], *out);
  });
}

template <auto Function> LogicalResult ternary(Exec &x, const Inst &inst) {
  if (!inst.isShaped && !x.in(inst, 0).isUndef() && !x.in(inst, 1).isUndef() && !x.in(inst, 2).isUndef())
    return Function(x, inst, x.in(inst, 0), x.in(inst, 1), x.in(inst, 2), x.out(inst));
  return mapElements(x, inst, [](Exec &x, const Inst &inst, const Val *const *in, Val *out) {
    return Function(x, inst, *in[0], *in[1], *in[2], *out);
  });
}

/// A reduction kind's meaning on two scalars; shared by dfg reductions, vector reductions and atomics.
enum class Combine {
  AddF,
  AddI,
  MulF,
  MulI,
  MinimumF,
  MaximumF,
  MinNumF,
  MaxNumF,
  MinSI,
  MaxSI,
  MinUI,
  MaxUI,
  AndI,
  OrI,
  XOrI
};
Val combineScalars(Combine kind, const ElementInfo &info, const Val &a, const Val &b);
Val combineIdentity(Combine kind, const ElementInfo &info);

/// Rounds a number of f32 to one of f16, to nearest even; leaves all else alone.
void roundToHalf(const ElementInfo &info, Val &value);

/// Float arithmetic, correctly rounded in the element's type.
Val addFloat(const ElementInfo &info, const Val &a, const Val &b);
Val mulFloat(const ElementInfo &info, const Val &a, const Val &b);
Val fmaFloat(const ElementInfo &info, const Val &a, const Val &b, const Val &c);

} // namespace tessera::oracle
