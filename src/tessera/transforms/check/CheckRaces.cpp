// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules dfg-p1 and dfg-p2: two instances that meet in one element of a port or of scratch memory. Each
// question is a set of integer points, both instances' variables side by side; a point in it is the witness.
#include "tessera/ir/dfg/DfgNames.h"
#include "tessera/transforms/check/Affine.h"
#include "tessera/transforms/check/MemoryUses.h"
#include "tessera/transforms/check/Passes.h"
#include "tessera/transforms/check/Phases.h"

#include "mlir/Analysis/Presburger/IntegerRelation.h"
#include "mlir/Analysis/Presburger/Simplex.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/MapVector.h"

namespace tessera {
#define GEN_PASS_DEF_CHECKRACESPASS
#include "tessera/transforms/check/Passes.h.inc"
} // namespace tessera

using namespace tessera;
using namespace tessera::check;
using presburger::IntegerPolyhedron;
using presburger::PresburgerSpace;

// A question with more variables, and the questions beyond so many about one memory, are answered "not
// decided".
static constexpr unsigned maxVariables = 48;
static constexpr unsigned maxQuestions = 4096;
// Once something is not decided, no more pairs of accesses than these are looked through for a proof.
static constexpr size_t maxPairs = size_t(1) << 20;

namespace {
/// One access on one way through the code.
struct Access {
  MemoryUse use;
  dfg::NodeOp leaf;
  /// The leaf's name for the memory: the port's argument or the scratch memory.
  Value local;
  State state;
  /// None where the subscript is not known.
  SmallVector<std::optional<Linear>> subscripts;
};

/// Two accesses that meet, or may.
struct Finding {
  const Access *a, *b;
  bool proven;
  std::string text, why;
};
} // namespace

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

// The memory that all names for it come from: seen from the graph, or from the group that owns it.
static Value getSharedMemory(Value memory) {
  for (;;) {
    Value outer = AffineReader::outside(memory);
    if (outer != memory)
      memory = outer;
    else if (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
      memory = view.getViewSource();
    else if (auto node = memory.getDefiningOp<dfg::NodeOp>())
      memory = node.getInputs()[*node.getPortOfResult(cast<OpResult>(memory).getResultNumber())];
    else
      return memory;
  }
}

namespace {
class RaceChecker {
public:
  /// Looks at a node of the graph with all that stands in it. Returns false when a race was proven.
  bool check(dfg::NodeOp top) {
    llvm::MapVector<Value, std::vector<Access>> byMemory;
    top->walk<WalkOrder::PreOrder>([&](dfg::NodeOp leaf) {
      if (leaf.isInternal())
        return;
      for (auto [i, arg] : llvm::enumerate(leaf.getInputArgs()))
        if (leaf.getPort(i).isMemory())
          collect(leaf, arg, byMemory[getSharedMemory(arg)]);
      for (auto scratch : leaf.getBodyBlock()->getOps<dfg::ScratchOp>())
        collect(leaf, scratch.getMemory(), byMemory[scratch.getMemory()]);
    });
    // A graph that a group calls is checked by itself; what its copies do to each other is not followed.
    top->walk([&](dfg::CallOp call) {
      for (Value operand : call.getInputs())
        if (auto arg = dyn_cast<BlockArgument>(operand); arg && isa<MemRefType>(arg.getType()))
          collectCall(call, arg, byMemory[getSharedMemory(arg)]);
    });
    bool clean = true;
    for (auto &[memory, accesses] : byMemory)
      clean &= checkMemory(memory, accesses);
    return clean;
  }

private:
  void collect(dfg::NodeOp leaf, Value memory, std::vector<Access> &accesses) {
    for (const MemoryUse &use : collectMemoryUses(memory)) {
      if (!leaf->isProperAncestor(use.op))
        continue;
      for (State &state : reader.reach(use.op)) {
        Access access = {use, leaf, memory, state, {}};
        addSubscripts(access, accesses);
      }
    }
  }

  void collectCall(dfg::CallOp call, BlockArgument memory, std::vector<Access> &accesses) {
    MemoryUse use = {call, call, memory};
    use.unknown = true;
    for (State &state : reader.reach(call))
      addSubscripts({use, cast<dfg::NodeOp>(call->getParentOp()), memory, state, {}}, accesses);
  }

  // Reads the subscripts one by one; each may split the way.
  void addSubscripts(const Access &start, std::vector<Access> &accesses) {
    SmallVector<OpFoldResult> indices;
    int64_t width = 1;
    std::string why = start.use.unknown || start.use.op != start.use.inner
                          ? "it goes through a call"
                          : getIndices(start, indices, width);
    int64_t rank = cast<MemRefType>(start.local.getType()).getRank();
    if (!why.empty() || int64_t(indices.size()) != rank) {
      Access blind = start;
      blind.state.blame(why.empty() ? "a view changes the number of dimensions" : why);
      blind.subscripts.assign(rank, std::nullopt);
      accesses.push_back(blind);
      return;
    }
    std::vector<Access> ways = {start};
    for (int64_t d = 0; d < rank; ++d) {
      std::vector<Access> next;
      for (Access &way : ways)
        for (Case &c : readIndex(indices[d], way.state)) {
          Access more = way;
          more.state = c.state;
          // A vector covers several elements of the last dimension.
          if (d == rank - 1 && width > 1) {
            Linear lane = Linear::of(variables.ofInstance(start.use.through, 1000));
            more.state.atLeastZero(lane);
            more.state.atLeastZero(Linear(width - 1).minus(lane));
            c.value.add(lane);
          }
          // Outside its memory an access has no meaning, so it does not race there.
          for (Case &extent : reader.readExtent(way.local, d, more.state)) {
            Access inside = more;
            inside.state = extent.state;
            inside.state.atLeastZero(c.value);
            inside.state.atLeastZero(extent.value.minus(c.value).plus(-1));
            inside.subscripts.push_back(c.value);
            next.push_back(std::move(inside));
          }
        }
      ways = std::move(next);
    }
    llvm::append_range(accesses, ways);
  }

  SmallVector<Case> readIndex(OpFoldResult index, const State &state) {
    if (auto constant = getConstantIntValue(index))
      return {{Linear(*constant), state}};
    return reader.read(cast<Value>(index), state);
  }

  // The indices of an access in the leaf's own memory. Returns why not, if they are not known.
  static std::string getIndices(const Access &access, SmallVectorImpl<OpFoldResult> &indices,
                                int64_t &width) {
    Operation *op = access.use.op;
    ValueRange given;
    if (auto load = dyn_cast<memref::LoadOp>(op))
      given = load.getIndices();
    else if (auto store = dyn_cast<memref::StoreOp>(op))
      given = store.getIndices();
    else if (auto atomic = dyn_cast<memref::AtomicRMWOp>(op))
      given = atomic.getIndices();
    else if (auto atomic = dyn_cast<memref::GenericAtomicRMWOp>(op))
      given = atomic.getIndices();
    else if (auto accumulate = dyn_cast<dfg::AccumulateOp>(op))
      given = accumulate.getIndices();
    else if (auto load = dyn_cast<vector::LoadOp>(op); load && load.getVectorType().getRank() == 1)
      given = load.getIndices(), width = load.getVectorType().getNumElements();
    else if (auto store = dyn_cast<vector::StoreOp>(op); store && store.getVectorType().getRank() == 1)
      given = store.getIndices(), width = store.getVectorType().getNumElements();
    else if (auto transfer = dyn_cast<VectorTransferOpInterface>(op);
             transfer && transfer.getVectorType().getRank() == 1 &&
             transfer.getPermutationMap().isMinorIdentity())
      given = transfer.getIndices(), width = transfer.getVectorType().getNumElements();
    else
      return ("'" + op->getName().getStringRef() + "' touches elements that are not followed").str();
    for (Value index : given)
      indices.push_back(index);
    // A cast changes nothing; other views are followed only as far as they are casts.
    Value memory = access.use.through;
    while (memory != access.local) {
      auto cast = memory.getDefiningOp<memref::CastOp>();
      if (!cast)
        return memory.getDefiningOp()
                   ? ("it goes through '" + memory.getDefiningOp()->getName().getStringRef() + "'").str()
                   : "the memory is carried around a loop";
      memory = cast.getSource();
    }
    return "";
  }

  //===--------------------------------------------------------------------===//
  // Pairs
  //===--------------------------------------------------------------------===//

  bool checkMemory(Value memory, std::vector<Access> &accesses) {
    std::optional<Finding> undecided;
    questions = 0;
    llvm::erase_if(accesses, [&](const Access &access) {
      return !isReplicated(access, memory) || isImpossible(access);
    });
    // Pairs grow with the square of the accesses: there is an end to asking, and to looking.
    size_t pairs = 0;
    auto goesOn = [&] { return questions <= maxQuestions && (!undecided || pairs <= maxPairs); };
    for (size_t i = 0; i < accesses.size(); ++i)
      for (size_t j = i; j < accesses.size() && goesOn(); ++j, ++pairs) {
        const Access &a = accesses[i], &b = accesses[j];
        bool conflict = (a.use.writes || b.use.writes || a.use.unknown || b.use.unknown) &&
                        !(a.use.atomic && b.use.atomic);
        // One thing that is not decided is enough to say so.
        conflict &= !undecided || (a.state.inexact.empty() && b.state.inexact.empty());
        // The message stands at a write.
        bool turn = !a.use.writes && b.use.writes;
        std::optional<Finding> finding =
            conflict ? findMeeting(memory, turn ? b : a, turn ? a : b) : std::nullopt;
        if (finding && finding->proven) {
          report(*finding);
          return false;
        }
        if (finding && !undecided)
          undecided = finding;
      }
    if (undecided) {
      auto diag = undecided->a->use.op->emitRemark()
                  << "could not decide whether " << word(undecided->a->leaf) << "s race on "
                  << describeMemory(undecided->a->leaf, undecided->a->local) << ": " << undecided->why
                  << " (dfg-p2)";
      if (undecided->b->use.op != undecided->a->use.op)
        diag.attachNote(undecided->b->use.op->getLoc()) << "the other access is here";
    }
    return true;
  }

  static void report(const Finding &finding) {
    const Access &a = *finding.a;
    bool fromSource = isFromSource(a.leaf);
    auto diag = fromSource ? emitError(a.use.op->getLoc()) : a.use.op->emitOpError();
    diag << finding.text << " (dfg-p1)";
    if (finding.b->use.op != a.use.op)
      diag.attachNote(finding.b->use.op->getLoc()) << "the other access is here";
    if (fromSource)
      diag.attachNote(a.local.getLoc())
          << "the memory is declared here; let each iteration write elements of its own, combine their "
             "values ('+=' "
             "and the like), use an atomic operation, or put '__hetero_barrier()' between the accesses";
    else
      diag.attachNote(a.local.getLoc()) << "the memory is here; give each instance elements of its own, "
                                           "combine their values (an 'acc' port), use "
                                           "an atomic operation, or put a barrier between the accesses";
  }

  // The replicated nodes around an access whose instances share the memory, outermost first.
  static SmallVector<dfg::NodeOp> getSharers(const Access &access, Value memory) {
    SmallVector<dfg::NodeOp> nodes;
    for (Operation *op = access.leaf; op && !isa<dfg::GraphOp>(op); op = op->getParentOp()) {
      if (op != access.leaf && op->isAncestor(memory.getParentRegion()->getParentOp()))
        break;
      nodes.insert(nodes.begin(), cast<dfg::NodeOp>(op));
    }
    return nodes;
  }

  // What runs once meets nobody.
  static bool isReplicated(const Access &access, Value memory) {
    return llvm::any_of(getSharers(access, memory), [](dfg::NodeOp node) { return node.getRank() != 0; });
  }

  // A way through the code that no instance takes: splitting makes many.
  bool isImpossible(const Access &access) {
    Columns columns(variables);
    std::vector<Row> rows;
    for (const Constraint &c : access.state.constraints) {
      addTo(rows.emplace_back(), c.form, 0, 1, columns);
      rows.back().equality = c.equality;
    }
    return columns.numbers.size() <= maxVariables && presburger::Simplex(toSet(rows, columns)).isEmpty();
  }

  std::optional<Finding> findMeeting(Value memory, const Access &a, const Access &b) {
    std::optional<Finding> undecided;
    SmallVector<dfg::NodeOp> sharers = getSharers(a, memory), others = getSharers(b, memory);
    for (dfg::NodeOp node : sharers) {
      if (!llvm::is_contained(others, node) || !node.getRank())
        continue;
      // Across the instances of a group nothing is ordered; within a leaf, barriers are.
      SmallVector<Meeting> meetings = {Meeting()};
      if (node == a.leaf && !node.isInternal())
        meetings = findMeetings(node, a.use.op, b.use.op);
      for (const Meeting &meeting : meetings)
        for (unsigned d = 0; d < node.getRank(); ++d)
          for (bool aSmaller : {false, true}) {
            if (aSmaller && &a == &b && meeting.loops.empty())
              continue; // The same question with the two instances exchanged.
            std::optional<Finding> finding = ask(a, b, node, meeting, d, aSmaller);
            if (finding && finding->proven)
              return finding;
            if (finding && !undecided)
              undecided = finding;
          }
    }
    return undecided;
  }

  //===--------------------------------------------------------------------===//
  // One question
  //===--------------------------------------------------------------------===//

  /// The columns of a question: shared variables once, an instance's own once for each side.
  struct Columns {
    std::map<std::pair<unsigned, int>, unsigned> numbers;
    const Variables &variables;

    explicit Columns(const Variables &variables) : variables(variables) {}
    unsigned get(unsigned variable, int side) {
      return numbers.try_emplace({variable, variables.isShared(variable) ? 0 : side}, numbers.size())
          .first->second;
    }
  };
  struct Row {
    std::map<unsigned, int64_t> terms;
    int64_t constant = 0;
    bool equality = false;
  };

  // Linear forms of the two sides side by side: factor * form(side) is added to the row.
  static void addTo(Row &row, const Linear &form, int side, int64_t factor, Columns &columns) {
    for (auto [variable, coefficient] : form.terms)
      row.terms[columns.get(variable, side)] += coefficient * factor;
    row.constant += form.constant * factor;
  }

  std::optional<Finding> ask(const Access &a, const Access &b, dfg::NodeOp node, const Meeting &meeting,
                             unsigned dim, bool aSmaller) {
    Columns columns(variables);
    std::vector<Row> rows;
    auto relate = [&](const Linear &formA, const Linear &formB, int64_t constant, bool equality) {
      Row row;
      addTo(row, formA, 0, 1, columns);
      addTo(row, formB, 1, -1, columns);
      row.constant += constant;
      row.equality = equality;
      rows.push_back(std::move(row));
    };
    for (const Constraint &c : a.state.constraints)
      relate(c.form, Linear(), 0, c.equality);
    for (const Constraint &c : b.state.constraints) {
      Row row;
      addTo(row, c.form, 1, 1, columns);
      row.equality = c.equality;
      rows.push_back(std::move(row));
    }
    bool known = true;
    for (auto [subA, subB] : llvm::zip(a.subscripts, b.subscripts)) {
      known &= subA && subB;
      if (subA && subB)
        relate(*subA, *subB, 0, true);
    }
    // The same instance of everything around `node`; two of `node`, in this order in dimension `dim`.
    for (Operation *around = node->getParentOp(); !isa<dfg::GraphOp>(around); around = around->getParentOp())
      for (Value id : cast<dfg::NodeOp>(around).getIds())
        relate(idOf(id), idOf(id), 0, true);
    for (auto [d, id] : llvm::enumerate(node.getIds())) {
      if (d < dim)
        relate(idOf(id), idOf(id), 0, true);
      else if (d == dim && !aSmaller)
        relate(idOf(id), idOf(id), -1, false);
      else if (d == dim)
        relate(idOf(id).times(-1), idOf(id).times(-1), -1, false);
    }
    std::string why = a.state.inexact.empty() ? b.state.inexact : a.state.inexact;
    if (why.empty() && !known)
      why = "an index is not known";
    if (why.empty() && !meeting.exact)
      why = "a barrier stands where it may not be passed";
    for (auto [loop, relation] : meeting.loops)
      if (!addRelation(loop, relation, a, b, relate) && why.empty())
        why = "the rounds of a loop with a barrier are not known";

    if (columns.numbers.size() > maxVariables)
      return Finding{&a, &b, false, "", "there are too many variables"};
    if (++questions > maxQuestions)
      return Finding{&a, &b, false, "", "there are too many pairs of accesses"};
    auto sample = solve(rows, columns);
    if (!sample)
      return std::nullopt;
    Finding finding = {&a, &b, why.empty(), "", why};
    if (finding.proven)
      finding.text = describeWitness(a, b, *sample, columns);
    return finding;
  }

  Linear idOf(Value id) { return Linear::of(variables.ofInstance(id)); }

  bool addRelation(scf::ForOp loop, Meeting::Relation relation, const Access &a, const Access &b,
                   function_ref<void(const Linear &, const Linear &, int64_t, bool)> relate) {
    Linear counter = idOf(loop.getInductionVar());
    bool ofA = relation == Meeting::ALast || relation == Meeting::AFirst;
    const State &state = ofA ? a.state : b.state;
    auto it = state.loops.find(loop);
    if (relation == Meeting::Same) {
      relate(counter, counter, 0, true);
      return true;
    }
    if (it == state.loops.end() || it->second.step <= 0)
      return false;
    const State::Loop &bounds = it->second;
    Linear form;
    switch (relation) {
    case Meeting::BNext:
      relate(counter, counter, bounds.step, true);
      return true;
    case Meeting::ANext:
      relate(counter, counter, -bounds.step, true);
      return true;
    case Meeting::ALast:
    case Meeting::BLast:
      form = counter.minus(bounds.upper).plus(bounds.step);
      break;
    default:
      form = bounds.lower.minus(counter);
      break;
    }
    if (ofA)
      relate(form, Linear(), 0, false);
    else
      relate(Linear(), form.times(-1), 0, false);
    return true;
  }

  static IntegerPolyhedron toSet(ArrayRef<Row> rows, const Columns &columns) {
    unsigned count = columns.numbers.size();
    IntegerPolyhedron set(PresburgerSpace::getSetSpace(count));
    for (const Row &row : rows) {
      SmallVector<int64_t> coefficients(count + 1, 0);
      for (auto [column, coefficient] : row.terms)
        coefficients[column] = coefficient;
      coefficients.back() = row.constant;
      row.equality ? set.addEquality(coefficients) : set.addInequality(coefficients);
    }
    return set;
  }

  // Small extents first: they make a witness that one can check by hand.
  std::optional<SmallVector<int64_t>> solve(ArrayRef<Row> rows, const Columns &columns) {
    unsigned count = columns.numbers.size();
    IntegerPolyhedron set = toSet(rows, columns);
    // Most questions have no answer, and the rational hull says so at once.
    if (presburger::Simplex(set).isEmpty())
      return std::nullopt;
    auto any = set.findIntegerSample();
    if (!any)
      return std::nullopt;
    for (int64_t bound : {2, 3, 4, 8, 64, 0}) {
      IntegerPolyhedron bounded = set;
      for (auto [key, column] : columns.numbers) {
        SmallVector<int64_t> coefficients(count + 1, 0);
        coefficients[column] = -1;
        coefficients.back() = bound;
        if (bound && columns.variables.isShared(key.first))
          bounded.addInequality(coefficients);
      }
      auto sample = bound ? bounded.findIntegerSample() : any;
      if (!sample)
        continue;
      SmallVector<int64_t> values;
      for (const auto &value : *sample)
        values.push_back(int64_t(value));
      return shrink(bounded, columns, values);
    }
    return std::nullopt;
  }

  // Extents first, then the one instance, then the other: each as small as the rest allows.
  SmallVector<int64_t> shrink(IntegerPolyhedron set, const Columns &columns, SmallVector<int64_t> values) {
    SmallVector<unsigned> order;
    for (int pass = 0; pass < 3; ++pass)
      for (auto [key, column] : columns.numbers)
        if (pass == (columns.variables.isShared(key.first) ? 0 : 1 + key.second))
          order.push_back(column);
    for (unsigned column : order) {
      SmallVector<int64_t> equal(columns.numbers.size() + 1, 0);
      equal[column] = 1;
      for (int64_t value = 0; value < std::min<int64_t>(values[column], 16); ++value) {
        IntegerPolyhedron smaller = set;
        equal.back() = -value;
        smaller.addEquality(equal);
        auto sample = smaller.findIntegerSample();
        if (!sample)
          continue;
        for (auto [at, element] : llvm::enumerate(*sample))
          values[at] = int64_t(element);
        break;
      }
      equal.back() = -values[column];
      set.addEquality(equal);
    }
    return values;
  }

  //===--------------------------------------------------------------------===//
  // The witness in words
  //===--------------------------------------------------------------------===//

  static int64_t evaluate(const Linear &form, int side, ArrayRef<int64_t> sample, Columns &columns) {
    int64_t value = form.constant;
    for (auto [variable, coefficient] : form.terms) {
      unsigned column = columns.get(variable, side);
      value += coefficient * (column < sample.size() ? sample[column] : 0);
    }
    return value;
  }

  static StringRef word(dfg::NodeOp leaf) { return isFromSource(leaf) ? "iteration" : "instance"; }

  std::string describeWitness(const Access &a, const Access &b, ArrayRef<int64_t> sample, Columns &columns) {
    std::string text;
    llvm::raw_string_ostream os(text);
    auto tuple = [&](const State &state, int side, bool extents) {
      os << "(";
      llvm::interleaveComma(state.grid, os, [&](const auto &dim) {
        os << evaluate(extents ? dim.second : Linear::of(dim.first), side, sample, columns);
      });
      os << ")";
    };
    StringRef one = word(a.leaf);
    bool bothWrite = a.use.writes && b.use.writes;
    os << one << (bothWrite ? "s " : " ");
    tuple(a.state, 0, false);
    os << (bothWrite ? " and " : a.use.writes ? " writes and " : " reads and ");
    if (!bothWrite)
      os << one << " ";
    tuple(b.state, 1, false);
    os << (bothWrite ? " both write " : b.use.writes ? " writes " : " reads ");
    SmallVector<int64_t> subscripts;
    for (const std::optional<Linear> &sub : a.subscripts)
      subscripts.push_back(evaluate(*sub, 0, sample, columns));
    os << describeElement(a.leaf, a.local, subscripts);
    if (!dfg::getVariable(a.local).empty())
      os << " in " << dfg::describe(a.leaf);
    if (llvm::any_of(a.state.grid, [](const auto &dim) { return !dim.second.isConstant(); })) {
      bool fromSource = isFromSource(a.leaf);
      os << (fromSource ? ", e.g. of " : ", e.g. for extents ");
      tuple(a.state, 0, true);
      if (fromSource)
        os << " iterations";
    }
    return text;
  }

  Variables variables;
  AffineReader reader{variables};
  /// Asked so far about the memory at hand.
  unsigned questions = 0;
};

struct CheckRaces : tessera::impl::CheckRacesPassBase<CheckRaces> {
  void runOnOperation() override {
    bool clean = true;
    getOperation().walk<WalkOrder::PreOrder>([&](dfg::GraphOp graph) {
      for (auto node : graph.getBodyBlock()->getOps<dfg::NodeOp>())
        clean &= RaceChecker().check(node);
    });
    if (!clean)
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
