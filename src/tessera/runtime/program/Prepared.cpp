// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Preparation of a segment: see Prepared.h.
#include "tessera/runtime/program/Prepared.h"
#include "tessera/base/Diag.h"
#include "tessera/runtime/memory/Arena.h"

#include <algorithm>

namespace tessera {

double estimateNanoseconds(double flops, double bytes) {
  return std::max(flops, 0.0) / 4 + std::max(bytes, 0.0) / 8;
}

namespace {
class Preparer {
public:
  Preparer(const ProgramPlan &program, int32_t segment, std::shared_ptr<const Prepared> previous,
           const PrepareOptions &options)
      : program(program), options(options), result(std::make_shared<Prepared>()), segment(segment) {
    result->segment = segment;
    result->previous = std::move(previous);
  }

  Result<std::shared_ptr<Prepared>> run(std::span<const std::span<const int64_t>> dims,
                                        std::span<const int64_t> loaded) {
    result->exprs.evaluate(program, segment, dims, loaded);
    TESSERA_TRY(result->exprs.check(program, segment));
    TESSERA_TRY(sizeValues(dims));
    TESSERA_TRY(sizeOutputs(dims));
    TESSERA_TRY(layGroups());
    TESSERA_TRY(layArena());
    collectPatches();
    result->cost.reset(new std::atomic<float>[std::max<size_t>(result->groups.size(), 1)]);
    for (size_t g = 0; g < result->groups.size(); ++g) {
      const Prepared::Group &group = result->groups[g];
      // Without an estimate, work is taken to be long until it was measured.
      bool known = group.flops >= 0 || group.bytes >= 0;
      result->cost[g] = known ? static_cast<float>(estimateNanoseconds(group.flops, group.bytes)) : 1e9f;
    }
    return result;
  }

private:
  const ValueInfo &value(int32_t v) const { return program.values[static_cast<size_t>(v)]; }
  int32_t root(int32_t v) const { return value(v).root; }
  uint64_t &bytesOf(int32_t v) { return result->rootBytes[static_cast<size_t>(v)]; }

  bool shapeKnown(const ValueInfo &info) const {
    return info.kind == ValueKind::Input ||
           std::all_of(info.shape.begin(), info.shape.end(), [&](int64_t expr) {
             return program.exprSegment[static_cast<size_t>(expr)] <= segment;
           });
  }

  Result<std::vector<int64_t>> shapeOf(int32_t v, std::span<const std::span<const int64_t>> dims) const {
    if (value(v).kind == ValueKind::Input) {
      auto extents = dims[static_cast<size_t>(v)];
      return std::vector<int64_t>(extents.begin(), extents.end());
    }
    auto shape = result->exprs.shape(value(v));
    if (!shape.ok())
      return shape.status().withContext(concat("value ", v));
    return shape;
  }

  Result<uint64_t> sizeOf(int32_t v, std::span<const std::span<const int64_t>> dims) const {
    TESSERA_ASSIGN(std::vector<int64_t> shape, shapeOf(v, dims));
    auto bytes = checkedByteSize(value(v).type, shape);
    if (!bytes || *bytes > (int64_t(1) << 48))
      return fail(StatusCode::InvalidArgument, "value ", v, ": ", elementTypeName(value(v).type),
                  " of shape ", formatShape(shape), " is too large");
    return static_cast<uint64_t>(*bytes);
  }

  // Only values some node or output touches have to have a size.
  Status sizeValues(std::span<const std::span<const int64_t>> dims) {
    result->rootBytes.assign(program.values.size(), 0);
    std::vector<uint8_t> used(program.values.size(), 0);
    auto use = [&](int32_t v) {
      used[static_cast<size_t>(v)] = 1;
      used[static_cast<size_t>(root(v))] = 1;
    };
    for (size_t n = 0; n < program.nodes.size(); ++n) {
      const Node &node = program.nodes[n];
      if (node.segment > segment)
        break;
      for (int32_t v : node.reads)
        use(v);
      for (int32_t v : node.writes)
        use(v);
      const Version &version = node.versions[static_cast<size_t>(options.versions[n])];
      for (int32_t v : version.temps)
        use(v);
      for (const Step &step : version.steps)
        for (const StepArg &arg : step.args)
          if (arg.isValue)
            use(arg.index);
    }
    for (int32_t s : program.states) {
      use(s);
      use(value(s).init);
    }
    for (size_t i = 0; i < program.values.size(); ++i) {
      int32_t v = static_cast<int32_t>(i);
      if (!used[i] || !shapeKnown(value(v)))
        continue;
      TESSERA_ASSIGN(uint64_t bytes, sizeOf(v, dims));
      if (value(v).kind == ValueKind::Const && bytes > value(v).bytes)
        return fail(StatusCode::Corrupt, "value ", v, ": constant needs ", bytes,
                    " bytes, but the file holds ", value(v).bytes);
      if (root(v) == v)
        bytesOf(v) = bytes;
      else if (bytes > bytesOf(root(v)))
        return fail(StatusCode::InvalidArgument, "value ", v, ": needs ", bytes,
                    " bytes, but the memory it names (value ", root(v), ") has ", bytesOf(root(v)));
    }
    for (int32_t s : program.states)
      if (shapeKnown(value(s))) {
        TESSERA_ASSIGN(uint64_t init, sizeOf(value(s).init, dims));
        if (init != bytesOf(s))
          return fail(StatusCode::InvalidArgument, "value ", s, ": state of ", bytesOf(s),
                      " bytes, but it starts from ", init);
      }
    return Status();
  }

  Status sizeOutputs(std::span<const std::span<const int64_t>> dims) {
    size_t count = program.outputs.size();
    result->outputShape.resize(count);
    result->outputBytes.assign(count, 0);
    result->outputKnown.assign(count, 0);
    result->outputDirect.assign(count, 0);
    for (size_t i = 0; i < count; ++i) {
      int32_t v = program.outputs[i].value;
      if (!shapeKnown(value(v)))
        continue;
      TESSERA_ASSIGN(result->outputShape[i], shapeOf(v, dims));
      TESSERA_ASSIGN(result->outputBytes[i], sizeOf(v, dims));
      result->outputKnown[i] = 1;
      int32_t r = root(v);
      if (shapeKnown(value(r)) && bytesOf(r) == 0 && result->outputBytes[i] != 0) {
        TESSERA_ASSIGN(bytesOf(r), sizeOf(r, dims));
      }
      result->outputDirect[i] = program.outputOfRoot[static_cast<size_t>(r)] == static_cast<int32_t>(i) &&
                                result->outputBytes[i] == bytesOf(r);
      if (shapeKnown(value(r)) && result->outputBytes[i] > bytesOf(r))
        return fail(StatusCode::InvalidArgument, "output '", program.outputs[i].name,
                    "' is larger than the memory it names");
    }
    return Status();
  }

  Result<Prepared::Group> makeGroup(const Step &step, int32_t node) {
    Prepared::Group group{};
    group.firstCall = static_cast<uint32_t>(result->calls.size());
    group.node = node;
    group.tasks = 1;
    for (size_t d = 0; d < 3; ++d) {
      TESSERA_ASSIGN(group.grid[d], result->exprs.get(step.grid[d]));
      if (group.grid[d] < 0 || __builtin_mul_overflow(group.tasks, group.grid[d], &group.tasks))
        return fail(StatusCode::InvalidArgument, "kernel '", step.kernel, "': grid is negative or too large");
    }
    if (step.scratch >= 0) {
      TESSERA_ASSIGN(int64_t bytes, result->exprs.get(step.scratch));
      if (bytes < 0 || bytes > (int64_t(1) << 40))
        return fail(StatusCode::InvalidArgument, "kernel '", step.kernel, "': scratch of ", bytes,
                    " bytes is not possible");
      result->scratchBytes = std::max(result->scratchBytes, (static_cast<uint64_t>(bytes) + 63) / 64 * 64);
    }
    group.flops = static_cast<double>(result->exprs.getOr(step.flops, -1));
    group.bytes = static_cast<double>(result->exprs.getOr(step.bytes, -1));
    return group;
  }

  Status addCall(const Step &step) {
    result->calls.push_back({step.function, static_cast<uint32_t>(result->args.size())});
    for (const StepArg &arg : step.args) {
      if (arg.isValue) {
        uses.push_back({root(arg.index), static_cast<uint32_t>(result->args.size())});
        result->args.push_back(0);
        continue;
      }
      TESSERA_ASSIGN(int64_t number, result->exprs.get(arg.index));
      result->args.push_back(static_cast<uint64_t>(number));
    }
    return Status();
  }

  Status layGroups() {
    firstWave.assign(program.nodes.size(), -1);
    lastWave.assign(program.nodes.size(), -1);
    int32_t waveFirstNode = -1; // The open wave holds the nodes from here on; -1: none is open.
    for (size_t n = 0; n < program.nodes.size(); ++n) {
      const Node &node = program.nodes[n];
      if (node.segment != segment)
        continue;
      const Version &version = node.versions[static_cast<size_t>(options.versions[n])];
      size_t before = result->groups.size();
      bool openGroup = false;
      for (const Step &step : version.steps) {
        if (step.faults >= 0)
          result->faults.push_back({&node, &step, root(step.faults)});
        auto group = makeGroup(step, static_cast<int32_t>(n));
        if (!group.ok())
          return group.status().withContext(concat("node '", node.name, "'"));
        if (group->tasks == 0) {
          openGroup = false;
          continue;
        }
        bool joins =
            step.chain && openGroup && std::equal(group->grid, group->grid + 3, result->groups.back().grid);
        if (!joins)
          result->groups.push_back(*group);
        else {
          Prepared::Group &head = result->groups.back();
          if (group->flops >= 0)
            head.flops = std::max(head.flops, 0.0) + group->flops;
          if (group->bytes >= 0)
            head.bytes = std::max(head.bytes, 0.0) + group->bytes;
        }
        if (Status status = addCall(step); !status.ok())
          return status.withContext(concat("node '", node.name, "'"));
        ++result->groups.back().calls;
        openGroup = true;
      }
      size_t added = result->groups.size() - before;
      bool breaks = !options.breakBefore.empty() && options.breakBefore[n];
      bool independent = waveFirstNode >= 0 && !breaks && added <= 1 &&
                         (node.needs.empty() || node.needs.back() < waveFirstNode) &&
                         !result->waves.empty() && result->waves.back().groups < 64;
      if (!independent)
        waveFirstNode = -1;
      if (independent) {
        result->waves.back().groups += static_cast<uint32_t>(added);
        firstWave[n] = lastWave[n] = static_cast<int32_t>(result->waves.size()) - 1;
        continue;
      }
      firstWave[n] = static_cast<int32_t>(result->waves.size());
      if (added == 0)
        result->waves.push_back({static_cast<uint32_t>(before), 0, static_cast<int32_t>(n)});
      for (size_t g = before; g < result->groups.size(); ++g)
        result->waves.push_back({static_cast<uint32_t>(g), 1, static_cast<int32_t>(n)});
      lastWave[n] = static_cast<int32_t>(result->waves.size()) - 1;
      if (added <= 1)
        waveFirstNode = static_cast<int32_t>(n);
    }
    return Status();
  }

  Status layArena() {
    const int32_t end = static_cast<int32_t>(result->waves.size());
    std::vector<int32_t> first(program.values.size(), INT32_MAX), last(program.values.size(), -1);
    auto touch = [&](int32_t v, int32_t from, int32_t to) {
      size_t r = static_cast<size_t>(root(v));
      first[r] = std::min(first[r], from);
      last[r] = std::max(last[r], to);
    };
    std::vector<uint8_t> older(program.values.size(), 0);
    for (size_t n = 0; n < program.nodes.size(); ++n) {
      const Node &node = program.nodes[n];
      bool mine = node.segment == segment;
      for (const std::vector<int32_t> *list : {&node.reads, &node.writes})
        for (int32_t v : *list) {
          if (node.segment < segment)
            older[static_cast<size_t>(root(v))] = 1;
          else
            // What a later segment reads lives to the end of this one.
            touch(v, mine ? firstWave[n] : INT32_MAX, mine ? lastWave[n] : end);
        }
      if (mine)
        for (int32_t v : node.versions[static_cast<size_t>(options.versions[n])].temps)
          touch(v, firstWave[n], lastWave[n]);
    }
    auto toTheEnd = [&](int32_t v) { last[static_cast<size_t>(root(v))] = end; };
    for (const Port &output : program.outputs)
      toTheEnd(output.value);
    for (int32_t e : program.loads)
      toTheEnd(program.exprs[static_cast<size_t>(e)].a);
    for (int32_t s : program.states)
      toTheEnd(value(s).next);

    std::vector<ArenaRequest> requests;
    std::vector<int32_t> owners;
    uint64_t sum = 0;
    inArena.assign(program.values.size(), 0);
    for (size_t i = 0; i < program.values.size(); ++i) {
      const ValueInfo &info = program.values[i];
      const bool faults = info.kind == ValueKind::Fault;
      if (info.kind != ValueKind::Temp && !faults)
        continue;
      int32_t output = program.outputOfRoot[i];
      if (output >= 0 && result->outputDirect[static_cast<size_t>(output)])
        continue;
      inArena[i] = 1;
      if (older[i] || first[i] == INT32_MAX)
        continue;
      // Faults are cleared before the first node and read after the last one.
      const bool whole = faults || !program.reuse;
      requests.push_back({result->rootBytes[i], whole ? 0 : first[i], whole ? end : last[i], 0});
      owners.push_back(static_cast<int32_t>(i));
      if (__builtin_add_overflow(sum, result->rootBytes[i] + 256, &sum) || sum > (uint64_t(1) << 50))
        return fail(StatusCode::InvalidArgument, "temporaries need more than 2^50 bytes for these inputs");
    }
    result->arenaBytes = planArena(requests);
    for (size_t i = 0; i < requests.size(); ++i)
      result->arena.push_back({owners[i], requests[i].offset});
    return Status();
  }

  void collectPatches() {
    std::sort(uses.begin(), uses.end(), [](const Use &a, const Use &b) {
      return a.root != b.root ? a.root < b.root : a.slot < b.slot;
    });
    for (size_t i = 0; i < uses.size();) {
      size_t j = i;
      uint32_t firstSlot = static_cast<uint32_t>(result->slots.size());
      for (; j < uses.size() && uses[j].root == uses[i].root; ++j)
        result->slots.push_back(uses[j].slot);
      Prepared::Patch patch{uses[i].root, firstSlot, static_cast<uint32_t>(j - i)};
      (inArena[static_cast<size_t>(uses[i].root)] ? result->local : result->external).push_back(patch);
      i = j;
    }
  }

  struct Use {
    int32_t root;
    uint32_t slot;
  };
  const ProgramPlan &program;
  const PrepareOptions &options;
  std::shared_ptr<Prepared> result;
  int32_t segment;
  std::vector<int32_t> firstWave, lastWave;
  std::vector<uint8_t> inArena;
  std::vector<Use> uses;
};
} // namespace

Result<std::shared_ptr<Prepared>> prepare(const ProgramPlan &program, int32_t segment,
                                          std::shared_ptr<const Prepared> previous,
                                          std::span<const std::span<const int64_t>> dims,
                                          std::span<const int64_t> loaded, const PrepareOptions &options) {
  return Preparer(program, segment, std::move(previous), options).run(dims, loaded);
}

} // namespace tessera
