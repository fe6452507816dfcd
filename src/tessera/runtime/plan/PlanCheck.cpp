// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that need a whole program, and what is derived from it: roots of aliases,
// dependences, and the segments in which data-dependent sizes become known.
#include "tessera/runtime/plan/Plan.h"

#include <algorithm>

namespace tessera {

static constexpr int32_t never = INT32_MAX;

template <typename... Ts> static Status badPlan(const Ts &...parts) {
  return fail(StatusCode::Corrupt, parts...);
}

static Status findRoots(ProgramPlan &program, uint64_t constBytes) {
  for (size_t i = 0; i < program.values.size(); ++i) {
    ValueInfo &value = program.values[i];
    value.root = static_cast<int32_t>(i);
    if (value.kind == ValueKind::Alias) {
      if (value.of >= static_cast<int32_t>(i))
        return badPlan("value ", i, ": an alias must name an earlier value, but got ", value.of);
      value.root = program.values[static_cast<size_t>(value.of)].root;
    }
    if (value.kind == ValueKind::Const) {
      if (value.offset % 64 != 0)
        return badPlan("value ", i, ": expected an offset that is a multiple of 64, but got ", value.offset);
      if (value.offset > constBytes || value.bytes > constBytes - value.offset)
        return badPlan("value ", i, ": constant of ", value.bytes, " bytes at ", value.offset,
                       " lies outside the section of ", constBytes, " bytes");
    }
    if (value.kind == ValueKind::State)
      program.states.push_back(static_cast<int32_t>(i));
  }
  return Status();
}

static Status checkExprs(ProgramPlan &program) {
  for (size_t i = 0; i < program.exprs.size(); ++i) {
    Expr &expr = program.exprs[i];
    if (expr.op == ExprOp::Dim) {
      const ValueInfo &value = program.values[static_cast<size_t>(expr.a)];
      if (static_cast<size_t>(expr.b) >= value.shape.size())
        return badPlan("expr ", i, ": dimension ", expr.b, " of value ", expr.a, ", which has rank ",
                       value.shape.size());
      if (value.kind != ValueKind::Input &&
          value.shape[static_cast<size_t>(expr.b)] >= static_cast<int64_t>(i))
        return badPlan("expr ", i, ": asks for an extent of value ", expr.a,
                       " that is defined by a later expr");
    }
    if (expr.op == ExprOp::Load) {
      const ValueInfo &value = program.values[static_cast<size_t>(expr.a)];
      if (!value.shape.empty() || !isIntegerType(value.type))
        return badPlan("expr ", i, ": 'load' expects a scalar of integer type, but value ", expr.a, " is ",
                       elementTypeName(value.type), " of rank ", value.shape.size());
      program.loads.push_back(static_cast<int32_t>(i));
      if (program.loads.size() > 4096)
        return badPlan("more than 4096 exprs of kind 'load' are not supported");
    }
  }
  return Status();
}

static Status checkPorts(ProgramPlan &program) {
  std::vector<int32_t> inputOf(program.values.size(), -1);
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    size_t value = static_cast<size_t>(program.inputs[i].value);
    if (program.values[value].kind != ValueKind::Input)
      return badPlan("input '", program.inputs[i].name, "': value ", value, " is not of kind input");
    if (inputOf[value] >= 0)
      return badPlan("input '", program.inputs[i].name, "': value ", value, " is bound twice");
    inputOf[value] = static_cast<int32_t>(i);
  }
  for (size_t i = 0; i < program.values.size(); ++i)
    if (program.values[i].kind == ValueKind::Input && inputOf[i] < 0)
      return badPlan("value ", i, " is of kind input, but no input names it");
  program.rootWritten.assign(program.values.size(), false);
  for (const Node &node : program.nodes)
    for (int32_t written : node.writes) {
      int32_t root = program.values[static_cast<size_t>(written)].root;
      if (program.values[static_cast<size_t>(root)].kind == ValueKind::Const)
        return badPlan("node '", node.name, "' writes value ", written, ", which is a constant");
      program.rootWritten[static_cast<size_t>(root)] = true;
    }
  for (Port &input : program.inputs)
    input.written = program.rootWritten[static_cast<size_t>(input.value)];
  // The memory of a temp that is an output is the caller's buffer itself; a second output of the same memory,
  // and everything that is not a temp, is copied at the end.
  program.outputOfRoot.assign(program.values.size(), -1);
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    size_t root = static_cast<size_t>(program.values[static_cast<size_t>(program.outputs[i].value)].root);
    if (program.values[root].kind == ValueKind::Temp && program.outputOfRoot[root] < 0)
      program.outputOfRoot[root] = static_cast<int32_t>(i);
  }
  for (int32_t s : program.states) {
    const ValueInfo &state = program.values[static_cast<size_t>(s)];
    const ValueInfo &init = program.values[static_cast<size_t>(state.init)];
    const ValueInfo &initRoot = program.values[static_cast<size_t>(init.root)];
    if (initRoot.kind != ValueKind::Const && initRoot.kind != ValueKind::Input)
      return badPlan("value ", s, ": a state must start from an input or a constant");
    const ValueInfo &next = program.values[static_cast<size_t>(state.next)];
    if (init.type != state.type || next.type != state.type)
      return badPlan("value ", s, ": 'init' and 'next' must have the type of the state, ",
                     elementTypeName(state.type));
  }
  return Status();
}

// A cell is two numbers of 64 bits.
static bool isFaults(const ProgramPlan &program, const Step &step) {
  const ValueInfo &value = program.values[static_cast<size_t>(step.faults)];
  if (value.kind != ValueKind::Fault || value.type != ElementType::I64 || value.shape.size() != 1)
    return false;
  const Expr &extent = program.exprs[static_cast<size_t>(value.shape[0])];
  return extent.op == ExprOp::Const && extent.constant == 2 * static_cast<int64_t>(step.sites.size());
}

// Each target has a form of its own of some nodes, with constants of its own, and the node reads all of them.
static void findReads(ProgramPlan &program) {
  std::vector<uint32_t> taken(program.values.size(), 0);
  uint32_t stamp = 0;
  auto root = [&](int32_t value) {
    return static_cast<size_t>(program.values[static_cast<size_t>(value)].root);
  };
  for (Node &node : program.nodes)
    for (Version &version : node.versions) {
      ++stamp;
      for (const Step &step : version.steps)
        for (const StepArg &arg : step.args)
          if (arg.isValue)
            taken[root(arg.index)] = stamp;
      for (int32_t v : node.reads)
        if (program.values[root(v)].kind != ValueKind::Const || taken[root(v)] == stamp)
          version.reads.push_back(v);
    }
}

static Status checkNodes(ProgramPlan &program) {
  std::vector<uint32_t> mark(program.values.size(), 0);
  uint32_t stamp = 0;
  auto root = [&](int32_t value) {
    return static_cast<size_t>(program.values[static_cast<size_t>(value)].root);
  };
  std::vector<bool> privateTemp(program.values.size(), false);
  for (const Node &node : program.nodes)
    for (const Version &version : node.versions) {
      ++stamp;
      for (int32_t v : node.reads)
        mark[root(v)] = stamp;
      for (int32_t v : node.writes)
        mark[root(v)] = stamp;
      for (int32_t v : version.temps) {
        if (program.values[static_cast<size_t>(v)].kind != ValueKind::Temp)
          return badPlan("node '", node.name, "': temps must be values of kind temp, but value ", v,
                         " is not");
        privateTemp[static_cast<size_t>(v)] = true;
        mark[static_cast<size_t>(v)] = stamp;
      }
      for (const Step &step : version.steps)
        for (const StepArg &arg : step.args)
          if (arg.isValue && mark[root(arg.index)] != stamp)
            return badPlan("node '", node.name, "': kernel '", step.kernel, "' is given value ", arg.index,
                           ", which the node neither reads nor writes");
      for (const Step &step : version.steps)
        if (step.faults >= 0 && (mark[root(step.faults)] != stamp || !isFaults(program, step)))
          return badPlan("node '", node.name, "': kernel '", step.kernel, "' reports in value ", step.faults,
                         ", which is not of kind fault with a cell for each of its ", step.sites.size(),
                         " sites");
    }
  for (const Node &node : program.nodes) {
    for (int32_t v : node.reads)
      if (privateTemp[root(v)])
        return badPlan("node '", node.name, "' reads value ", v, ", which is private to a version");
    for (int32_t v : node.writes)
      if (privateTemp[root(v)])
        return badPlan("node '", node.name, "' writes value ", v, ", which is private to a version");
  }
  for (const Port &output : program.outputs) {
    size_t r = root(output.value);
    if (privateTemp[r] || (program.values[r].kind == ValueKind::Temp && !program.rootWritten[r]))
      return badPlan("output '", output.name, "': no node writes value ", output.value);
  }
  for (int32_t s : program.states) {
    size_t r = root(program.values[static_cast<size_t>(s)].next);
    if (privateTemp[r] || (program.values[r].kind == ValueKind::Temp && !program.rootWritten[r]))
      return badPlan("value ", s, ": no node writes its 'next', value ",
                     program.values[static_cast<size_t>(s)].next);
  }
  return Status();
}

// `after` may leave out what is implied, so hazards on memory are added: read after write, write after read
// and write after write. A runtime that trusted the list alone would race on a compiler's slip.
static void findDependences(ProgramPlan &program) {
  std::vector<int32_t> writer(program.values.size(), -1);
  std::vector<std::vector<int32_t>> readers(program.values.size());
  for (size_t n = 0; n < program.nodes.size(); ++n) {
    Node &node = program.nodes[n];
    std::vector<int32_t> needs = node.after;
    for (int32_t v : node.reads) {
      size_t root = static_cast<size_t>(program.values[static_cast<size_t>(v)].root);
      if (writer[root] >= 0)
        needs.push_back(writer[root]);
    }
    for (int32_t v : node.writes) {
      size_t root = static_cast<size_t>(program.values[static_cast<size_t>(v)].root);
      if (writer[root] >= 0)
        needs.push_back(writer[root]);
      needs.insert(needs.end(), readers[root].begin(), readers[root].end());
    }
    for (int32_t v : node.writes) {
      size_t root = static_cast<size_t>(program.values[static_cast<size_t>(v)].root);
      writer[root] = static_cast<int32_t>(n);
      readers[root].clear();
    }
    for (int32_t v : node.reads) {
      size_t root = static_cast<size_t>(program.values[static_cast<size_t>(v)].root);
      if (writer[root] != static_cast<int32_t>(n))
        readers[root].push_back(static_cast<int32_t>(n));
    }
    std::sort(needs.begin(), needs.end());
    needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
    std::erase(needs, static_cast<int32_t>(n));
    for (int32_t need : needs)
      program.nodes[static_cast<size_t>(need)].successors.push_back(static_cast<int32_t>(n));
    node.needs = std::move(needs);
  }
}

namespace {
/// Assigns segments: an expr is known in the first segment that follows the producers of all it loads.
class Segments {
public:
  explicit Segments(ProgramPlan &program) : program(program), loadReady(program.exprs.size(), never) {}

  Status run() {
    TESSERA_TRY(findProducers());
    evaluate();
    int32_t current = 0;
    for (size_t n = 0; n < program.nodes.size(); ++n) {
      Node &node = program.nodes[n];
      int32_t segment = std::max(current, needed(node));
      if (segment == never)
        return badPlan("node '", node.name, "' needs a size that only it or a later node produces");
      node.segment = current = segment;
      bool produced = false;
      for (size_t i = 0; i < producer.size(); ++i)
        if (producer[i] == static_cast<int32_t>(n)) {
          loadReady[static_cast<size_t>(program.loads[i])] = current + 1;
          produced = true;
        }
      if (produced)
        evaluate();
    }
    program.segments = current + 1;
    // An output may be a view whose size is born in its producer: it is then known in a last segment without
    // nodes, and copied out of memory that was sized before.
    std::vector<int32_t> allocated(program.values.size(), current);
    for (const Node &node : program.nodes)
      for (const std::vector<int32_t> *list : {&node.reads, &node.writes})
        for (int32_t v : *list) {
          int32_t &segment = allocated[static_cast<size_t>(program.values[static_cast<size_t>(v)].root)];
          segment = std::min(segment, node.segment);
        }
    for (const Port &output : program.outputs) {
      int32_t known = 0;
      for (int64_t extent : shapeExprs(output.value))
        known = std::max(known, program.exprSegment[static_cast<size_t>(extent)]);
      if (known == never)
        return badPlan("output '", output.name, "': its size is never known");
      program.segments = std::max(program.segments, known + 1);
      size_t root = static_cast<size_t>(program.values[static_cast<size_t>(output.value)].root);
      if (known > allocated[root])
        program.outputOfRoot[root] = -1;
    }
    for (ExtentCheck &check : program.checks) {
      for (int32_t expr : {check.got, check.expected})
        check.segment = std::max(check.segment, program.exprSegment[static_cast<size_t>(expr)]);
      program.segments = std::max(program.segments, check.segment + 1);
    }
    return Status();
  }

private:
  std::vector<int64_t> shapeExprs(int32_t v) const {
    const ValueInfo &value = program.values[static_cast<size_t>(v)];
    return value.kind == ValueKind::Input ? std::vector<int64_t>() : value.shape;
  }

  Status findProducers() {
    std::vector<int32_t> lastWriter(program.values.size(), -1);
    for (size_t n = 0; n < program.nodes.size(); ++n)
      for (int32_t v : program.nodes[n].writes)
        lastWriter[static_cast<size_t>(v)] = static_cast<int32_t>(n);
    int temps = 0;
    for (int32_t e : program.loads) {
      int32_t value = program.exprs[static_cast<size_t>(e)].a;
      while (lastWriter[static_cast<size_t>(value)] < 0 &&
             program.values[static_cast<size_t>(value)].kind == ValueKind::Alias)
        value = program.values[static_cast<size_t>(value)].of;
      ValueKind kind = program.values[static_cast<size_t>(value)].kind;
      int32_t node = lastWriter[static_cast<size_t>(value)];
      if (node < 0 && kind == ValueKind::Temp)
        return badPlan("expr ", e, ": loads value ", program.exprs[static_cast<size_t>(e)].a,
                       ", which no node writes");
      if (node < 0 && kind == ValueKind::State)
        return badPlan("expr ", e, ": a size cannot be loaded from a state");
      producer.push_back(node);
      if (node < 0)
        loadReady[static_cast<size_t>(e)] = 0;
      else if (++temps > 256)
        return badPlan("more than 256 sizes are produced inside the graph");
    }
    return Status();
  }

  void evaluate() {
    std::vector<int32_t> &segment = program.exprSegment;
    segment.assign(program.exprs.size(), 0);
    for (size_t i = 0; i < program.exprs.size(); ++i) {
      const Expr &expr = program.exprs[i];
      if (expr.op == ExprOp::Load) {
        segment[i] = loadReady[i];
      } else if (expr.op == ExprOp::Dim) {
        const ValueInfo &value = program.values[static_cast<size_t>(expr.a)];
        if (value.kind != ValueKind::Input)
          segment[i] = segment[static_cast<size_t>(value.shape[static_cast<size_t>(expr.b)])];
      } else if (expr.op != ExprOp::Const) {
        for (int32_t operand : {expr.a, expr.b, expr.c})
          if (operand >= 0)
            segment[i] = std::max(segment[i], segment[static_cast<size_t>(operand)]);
      }
    }
  }

  int32_t needed(const Node &node) const {
    int32_t result = 0;
    auto use = [&](int64_t expr) {
      if (expr >= 0)
        result = std::max(result, program.exprSegment[static_cast<size_t>(expr)]);
    };
    auto useValue = [&](int32_t v) {
      int32_t root = program.values[static_cast<size_t>(v)].root;
      for (int64_t extent : shapeExprs(v))
        use(extent);
      for (int64_t extent : shapeExprs(root))
        use(extent);
    };
    for (const ExtentCheck &check : node.checks) {
      use(check.got);
      use(check.expected);
    }
    for (int32_t v : node.reads)
      useValue(v);
    for (int32_t v : node.writes)
      useValue(v);
    for (const Version &version : node.versions) {
      for (int32_t v : version.temps)
        useValue(v);
      for (const Step &step : version.steps) {
        for (const StepArg &arg : step.args)
          arg.isValue ? useValue(arg.index) : use(arg.index);
        for (int32_t extent : step.grid)
          use(extent);
        for (const std::array<int32_t, 3> *extents : {&step.block, &step.cluster})
          for (int32_t extent : *extents)
            use(extent);
        use(step.shared);
        use(step.scratch);
        use(step.flops);
        use(step.bytes);
      }
    }
    return result;
  }

  ProgramPlan &program;
  std::vector<int32_t> producer;  // Per load: the node that writes it, or -1.
  std::vector<int32_t> loadReady; // Per expr, for loads.
};
} // namespace

Status checkProgram(ProgramPlan &program, uint64_t constBytes) {
  TESSERA_TRY(findRoots(program, constBytes));
  TESSERA_TRY(checkExprs(program));
  TESSERA_TRY(checkPorts(program));
  TESSERA_TRY(checkNodes(program));
  findReads(program);
  findDependences(program);
  return Segments(program).run();
}

} // namespace tessera
