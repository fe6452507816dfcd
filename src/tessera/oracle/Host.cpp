// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host code: launches run at once, and `wait` and `pop` hand out what they left. That is one of the orders a
// runtime may choose; since graphs act through their results only, all give the same values.
#include "tessera/oracle/Interpreter.h"

using namespace tessera;
using namespace tessera::oracle;

namespace {
struct RunObject : Object {
  Vals results;
  bool isTaken = false;
};

struct StreamObject : Object {
  dfg::GraphOp graph;
  GraphStates states;
  std::deque<Vals> ready;
  bool isClosed = false;
};
} // namespace

static dfg::GraphOp findGraph(Exec &x, const Inst &inst, FlatSymbolRefAttr name) {
  return dyn_cast_or_null<dfg::GraphOp>(x.interpreter.lookup(inst.op, name));
}

// One activation with fresh levels: a host function runs outside of any grid.
static LogicalResult activateGraph(Exec &x, const Inst &inst, dfg::GraphOp graph, GraphStates &states,
                                   unsigned first, Vals &results) {
  Vals args;
  for (unsigned i = first; i < inst.in.size(); ++i)
    args.push_back(x.in(inst, i));
  GraphStates *saved = std::exchange(x.states, &states);
  LogicalResult status = x.interpreter.callGraph(x, graph, args, results);
  x.states = saved;
  if (failed(status))
    return failure();
  for (auto &[key, value] : states.next)
    states.values[key] = std::move(value);
  states.next.clear();
  return success();
}

static LogicalResult launch(Exec &x, const Inst &inst) {
  auto op = cast<dfg::LaunchOp>(inst.op);
  dfg::GraphOp graph = findGraph(x, inst, op.getGraphAttr());
  if (!graph)
    return x.error(inst, "launches '" + op.getGraph() + "', which is no graph");
  GraphStates states;
  Ref<RunObject> run = new RunObject();
  if (failed(activateGraph(x, inst, graph, states, 0, run->results)))
    return failure();
  x.out(inst) = Val::other(run.get());
  return success();
}

static LogicalResult wait(Exec &x, const Inst &inst) {
  auto *run = static_cast<RunObject *>(x.in(inst, 0).getObject());
  if (run->isTaken)
    return x.error(inst, "waits for a run a second time");
  run->isTaken = true;
  for (unsigned i = 0; i < inst.out.size(); ++i)
    x.out(inst, i) = run->results[i];
  return success();
}

static LogicalResult open(Exec &x, const Inst &inst) {
  auto op = cast<dfg::OpenOp>(inst.op);
  dfg::GraphOp graph = findGraph(x, inst, op.getGraphAttr());
  if (!graph)
    return x.error(inst, "opens '" + op.getGraph() + "', which is no graph");
  auto *stream = new StreamObject();
  stream->graph = graph;
  x.out(inst) = Val::other(stream);
  return success();
}

static LogicalResult push(Exec &x, const Inst &inst) {
  auto *stream = static_cast<StreamObject *>(x.in(inst, 0).getObject());
  if (stream->isClosed)
    return x.error(inst, "pushes into a stream that is closed");
  return activateGraph(x, inst, stream->graph, stream->states, 1, stream->ready.emplace_back());
}

static LogicalResult pop(Exec &x, const Inst &inst) {
  auto *stream = static_cast<StreamObject *>(x.in(inst, 0).getObject());
  if (stream->ready.empty())
    return x.error(inst, "pops from a stream with no activation in flight and would wait for ever");
  for (unsigned i = 0; i < inst.out.size(); ++i)
    x.out(inst, i) = std::move(stream->ready.front()[i]);
  stream->ready.pop_front();
  return success();
}

static LogicalResult close(Exec &x, const Inst &inst) {
  auto *stream = static_cast<StreamObject *>(x.in(inst, 0).getObject());
  if (stream->isClosed)
    return x.error(inst, "closes a stream a second time");
  stream->isClosed = true;
  return success();
}

void oracle::addHost(HandlerTable &table) {
  table.add("dfg.launch", launch);
  table.add("dfg.wait", wait);
  table.add("dfg.open", open);
  table.add("dfg.push", push);
  table.add("dfg.pop", pop);
  table.add("dfg.close", close);
}
