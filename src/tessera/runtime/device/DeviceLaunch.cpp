// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch from its inputs to its outputs: segments, memory of values, states.
#include "tessera/runtime/device/DeviceLaunch.h"
#include "tessera/base/Diag.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace tessera {

Status DeviceLaunch::makeRoot(int32_t root) {
  BufferRef &slot = roots[static_cast<size_t>(root)];
  const ValueInfo &info = value(root);
  if (slot || info.kind == ValueKind::Input)
    return Status();
  if (info.kind == ValueKind::Const) {
    slot = scheduler.constantBuffer(root);
    return slot ? Status() : fail(StatusCode::OutOfMemory, "cannot wrap constant ", root);
  }
  TESSERA_ASSIGN(std::vector<int64_t> shape, exprs.shape(info));
  if (info.kind == ValueKind::State)
    return startState(root, std::move(shape));
  int32_t output = plan.outputOfRoot[static_cast<size_t>(root)];
  if (output >= 0 && outputs[static_cast<size_t>(output)]) {
    auto bytes = checkedByteSize(info.type, shape);
    if (bytes && static_cast<size_t>(*bytes) == outputs[static_cast<size_t>(output)]->bytes()) {
      slot = outputs[static_cast<size_t>(output)];
      return Status();
    }
  }
  TESSERA_ASSIGN(slot, Buffer::create(info.type, std::move(shape)));
  if (info.kind == ValueKind::Fault) {
    TESSERA_ASSIGN(std::byte * cells, slot->hostWrite());
    std::memset(cells, 0, slot->bytes());
  }
  return Status();
}

Status DeviceLaunch::startState(int32_t root, std::vector<int64_t> shape) {
  const int32_t init = value(root).init;
  TESSERA_TRY(makeRoot(value(init).root));
  TESSERA_ASSIGN(BufferRef state, Buffer::create(value(root).type, std::move(shape)));
  if (state->bytes() > rootOf(init)->bytes())
    return fail(StatusCode::InvalidArgument, "value ", root, ": state of ", state->bytes(),
                " bytes, but it starts from ", rootOf(init)->bytes());
  // Who reads the one will read the other.
  TESSERA_TRY(state->assign(*rootOf(init), /*near=*/true));
  roots[static_cast<size_t>(root)] = std::move(state);
  return Status();
}

// A stream keeps its states from item to item.
Status DeviceLaunch::checkState(int32_t root) {
  TESSERA_ASSIGN(std::vector<int64_t> shape, exprs.shape(value(root)));
  const uint64_t kept = rootOf(root)->bytes();
  auto bytes = checkedByteSize(value(root).type, shape);
  if (bytes && static_cast<uint64_t>(*bytes) == kept)
    return Status();
  return fail(StatusCode::InvalidArgument, "this item's state has ", bytes ? *bytes : -1,
              " bytes, but the stream began with ", kept, "; open another stream for other shapes");
}

Status DeviceLaunch::enterSegment(int32_t index) {
  for (size_t i = 0; i < plan.loads.size(); ++i) {
    size_t e = static_cast<size_t>(plan.loads[i]);
    if (plan.exprSegment[e] != index)
      continue;
    int32_t v = plan.exprs[e].a;
    if (!rootOf(v))
      TESSERA_TRY(makeRoot(value(v).root));
    auto memory = rootOf(v)->hostRead();
    if (!memory.ok())
      return memory.status();
    loaded[i] = loadScalar(value(v).type, *memory);
  }
  exprs.evaluate(plan, index, dims, loaded);
  TESSERA_TRY(exprs.check(plan, index));
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    const ValueInfo &info = value(plan.outputs[i].value);
    int32_t known = 0;
    std::vector<int64_t> shape;
    if (info.kind == ValueKind::Input) {
      auto extents = dims[static_cast<size_t>(plan.outputs[i].value)];
      shape.assign(extents.begin(), extents.end());
    } else {
      for (int64_t e : info.shape)
        known = std::max(known, plan.exprSegment[static_cast<size_t>(e)]);
      if (known == index) {
        TESSERA_ASSIGN(shape, exprs.shape(info));
      }
    }
    if (known != index)
      continue;
    if (!outputs[i]) {
      TESSERA_ASSIGN(outputs[i], Buffer::create(info.type, shape));
    }
    TESSERA_TRY(checkOutput(plan, i, shape, *outputs[i]));
    for (size_t in = 0; in < inputs.size(); ++in)
      if (inputs[in] == outputs[i].get() && value(plan.outputs[i].value).root != plan.inputs[in].value)
        return fail(StatusCode::InvalidArgument, "output '", plan.outputs[i].name,
                    "' shares memory with input '", plan.inputs[in].name, "'; use another buffer");
  }
  for (int32_t s : plan.states)
    TESSERA_TRY(rootOf(s) ? checkState(s) : makeRoot(s));
  for (const Node &node : plan.nodes)
    if (node.segment == index)
      for (const std::vector<int32_t> *list : {&node.reads, &node.writes})
        for (int32_t v : *list)
          TESSERA_TRY(makeRoot(value(v).root));
  return Status();
}

// What kernels have found wrong with their data; it says nothing against a device, so nothing is tried again.
Status DeviceLaunch::checkFaults(int32_t index) {
  for (const Node &node : plan.nodes)
    if (node.segment == index)
      for (const Version &version : node.versions)
        for (const Step &step : version.steps)
          if (step.faults >= 0) {
            auto cells = rootOf(step.faults)->hostRead();
            if (!cells.ok())
              return cells.status().withContext(concat("what node '", node.name, "' has found"));
            TESSERA_TRY(readFaults(node, step.sites, *cells));
          }
  return Status();
}

Status DeviceLaunch::run() {
  if (inputs.size() != plan.inputs.size() || outputs.size() != plan.outputs.size())
    return fail(StatusCode::InvalidArgument, "program '", plan.name, "' has ", plan.inputs.size(),
                " inputs and ", plan.outputs.size(), " outputs, but got ", inputs.size(), " and ",
                outputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    TESSERA_TRY(checkInput(plan, i, inputs[i]));
    size_t v = static_cast<size_t>(plan.inputs[i].value);
    dims[v] = inputs[i]->shape();
    roots[v] = BufferRef(BufferRef(), inputs[i]);
  }
  for (size_t i = 0; i < states.size(); ++i)
    roots[static_cast<size_t>(plan.states[i])] = states[i];
  for (int32_t s = 0; s < plan.segments; ++s) {
    TESSERA_TRY(enterSegment(s));
    std::unique_lock<std::mutex> lock(mutex);
    segment = s;
    ready.clear();
    for (size_t n = 0; n < plan.nodes.size(); ++n) {
      const Node &node = plan.nodes[n];
      if (node.segment != s)
        continue;
      ++left;
      waiting[n] =
          static_cast<int32_t>(std::count_if(node.needs.begin(), node.needs.end(), [&](int32_t need) {
            return plan.nodes[static_cast<size_t>(need)].segment == s;
          }));
      if (waiting[n] == 0)
        ready.push_back(static_cast<int32_t>(n));
    }
    std::sort(ready.begin(), ready.end(), [&](int32_t a, int32_t b) {
      const Node &x = plan.nodes[static_cast<size_t>(a)], &y = plan.nodes[static_cast<size_t>(b)];
      if (x.criticality != y.criticality)
        return x.criticality > y.criticality;
      int32_t rankA = scheduler.rank[static_cast<size_t>(a)], rankB = scheduler.rank[static_cast<size_t>(b)];
      return rankA != rankB ? rankA > rankB : a < b;
    });
    if (AttemptRef whole = wholeSegment())
      enqueue(whole, 0);
    else
      for (int32_t n : ready)
        submit(n);
    auto done = [&] { return inFlight == 0 && (left == 0 || !failure.ok()); };
    // Often enough for the limit; a launch that ends is noticed at once.
    const std::chrono::milliseconds limit = deviceLimit(), most(500);
    const auto period = limit.count() ? std::clamp(limit / 8, std::chrono::milliseconds(5), most) : most;
    while (!changed.wait_for(lock, period, done)) {
      lock.unlock();
      lookForSilence();
      lock.lock();
    }
    if (!failure.ok())
      return failure;
    TESSERA_TRY(checkFaults(s));
  }
  return handOver();
}

// States take the content of their `next`, all at once, and outputs that are no memory of their own theirs.
Status DeviceLaunch::handOver() {
  std::vector<BufferRef> after(states.size());
  for (size_t i = 0; i < states.size(); ++i)
    TESSERA_TRY(nextOf(i, after[i]));
  for (size_t i = 0; i < outputs.size(); ++i) {
    int32_t v = plan.outputs[i].value;
    TESSERA_TRY(makeRoot(value(v).root));
    if (BufferRef &root = rootOf(v); root.get() != outputs[i].get())
      TESSERA_TRY(outputs[i]->assign(*root).withContext(concat("output '", plan.outputs[i].name, "'")));
  }
  std::ranges::move(after, states.begin());
  return Status();
}

// The buffer of a state in the next launch. A temporary that only this state asks for is taken as it is,
// wherever its content is.
Status DeviceLaunch::nextOf(size_t i, BufferRef &after) {
  const int32_t root = value(value(plan.states[i]).next).root;
  BufferRef &now = roots[static_cast<size_t>(plan.states[i])], &next = roots[static_cast<size_t>(root)];
  if (next->bytes() != now->bytes())
    return fail(StatusCode::InvalidArgument, "a state of ", now->describe(), " gets ", next->describe(),
                "; expected the same shape");
  const auto wanted =
      std::ranges::count_if(plan.states, [&](int32_t s) { return value(value(s).next).root == root; });
  const bool mine = value(root).kind == ValueKind::Temp && wanted == 1 &&
                    plan.outputOfRoot[static_cast<size_t>(root)] < 0 && next->shape() == now->shape();
  if (next == now || mine) {
    after = next;
    return Status();
  }
  TESSERA_ASSIGN(after, Buffer::create(now->type(), now->shape()));
  return after->assign(*next, /*near=*/true);
}

} // namespace tessera
