// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Allocation and checked accesses: bounds, definedness, rights and races.
#include "tessera/oracle/Interpreter.h"

using namespace tessera;
using namespace tessera::oracle;

static LogicalResult checkShape(const Exec &x, const Inst &inst, ElementInfo info, ArrayRef<int64_t> shape) {
  if (info.kind == ElementInfo::None)
    return x.error(inst, "has elements of a type that the oracle cannot represent");
  int64_t limit = x.interpreter.getOptions().maxElements, count = 1;
  for (int64_t extent : shape) {
    if (extent < 0)
      return x.error(inst, "makes a negative extent in " + formatIndex(shape));
    if (extent && count > limit / extent)
      return x.error(inst, "asks for more than " + Twine(limit) + " elements: " + formatIndex(shape));
    count *= extent;
  }
  return success();
}

LogicalResult Exec::allocate(const Inst &inst, ElementInfo info, ArrayRef<int64_t> shape, Val &result,
                             bool isDefined) const {
  if (failed(checkShape(*this, inst, info, shape)))
    return failure();
  result = Val::of(new Elements(info, shape, isDefined));
  return success();
}

LogicalResult Exec::allocateMemory(const Inst &inst, ElementInfo info, ArrayRef<int64_t> shape, Val &result,
                                   StringRef name) const {
  if (failed(checkShape(*this, inst, info, shape)))
    return failure();
  result = Val::of(MemRef::dense(new Buffer(info, countElements(shape), levels.size(), name.str()), shape));
  return success();
}

// Names the position as an index of a dense view; buffers are allocated dense.
static LogicalResult reportRace(const Exec &x, const Inst &inst, const Buffer &buffer, int64_t position,
                                const Level &level, uint64_t other, StringRef what) {
  std::string who = "instances";
  std::string whose;
  if (auto node = dyn_cast<dfg::NodeOp>(level.op))
    whose = (" of node '" + node.getName() + "'").str();
  else
    who = "iterations";
  return x.error(inst, "races: " + who + " " + level.describe(other) + " and " +
                           level.describe(level.instance) + whose + " touch element " + Twine(position) +
                           " of " + buffer.name + " without order (" + what + ")");
}

static LogicalResult detectRace(const Exec &x, const Inst &inst, Buffer &buffer, int64_t position,
                                Exec::Touching how) {
  for (size_t l = buffer.level; l < x.levels.size(); ++l) {
    const Level &level = x.levels[l];
    size_t t = l - buffer.level;
    if (buffer.touches.size() <= t)
      buffer.touches.resize(t + 1);
    if (buffer.touches[t].empty())
      buffer.touches[t].resize(buffer.count);
    Touch &touch = buffer.touches[t][position];
    bool isWritten = touch.writeEpoch == level.epoch && touch.writer != level.instance;
    if (how == Exec::Touching::Read) {
      if (isWritten)
        return reportRace(x, inst, buffer, position, level, touch.writer, "write, then read");
      if (touch.readEpoch != level.epoch) {
        touch.readEpoch = level.epoch;
        touch.reader = level.instance;
        touch.otherReader = 0;
      } else if (touch.reader != level.instance) {
        touch.otherReader = level.instance;
      }
      continue;
    }
    bool isAtomic = how >= Exec::Touching::Atomic;
    if (isWritten && !(touch.isAtomic && isAtomic))
      return reportRace(x, inst, buffer, position, level, touch.writer, "write, then write");
    if (touch.readEpoch == level.epoch) {
      if (touch.reader != level.instance)
        return reportRace(x, inst, buffer, position, level, touch.reader, "read, then write");
      if (touch.otherReader && touch.otherReader != level.instance)
        return reportRace(x, inst, buffer, position, level, touch.otherReader, "read, then write");
    }
    // A plain write by the same instance is remembered longer than its atomics.
    bool isSame = touch.writeEpoch == level.epoch && touch.writer == level.instance;
    touch.isAtomic = isAtomic && (!isSame || touch.isAtomic);
    touch.writeEpoch = level.epoch;
    touch.writer = level.instance;
  }
  return success();
}

LogicalResult Exec::touch(const Inst &inst, const MemRef &view, int64_t position, Touching how) const {
  Buffer &buffer = *view.buffer;
  if (buffer.isFreed)
    return error(inst, "uses " + Twine(buffer.name) + " after it was freed");
  if (position < 0 || position >= buffer.count)
    return error(inst, "leaves the memory of " + Twine(buffer.name) + ": element " + Twine(position) +
                           " of " + Twine(buffer.count));
  if (view.access == Access::Accumulate && how != Touching::Accumulate)
    return error(inst, "reads or writes memory of an 'acc' port; expected 'dfg.accumulate'");
  if (how != Touching::Read && (view.access == Access::Read || buffer.isConstant))
    return error(inst, "writes to " + Twine(buffer.name) + ", which is " +
                           (buffer.isConstant ? "constant" : "an 'in' port"));
  if (levels.size() > buffer.level && interpreter.getOptions().detectRaces)
    return detectRace(*this, inst, buffer, position, how);
  return success();
}

LogicalResult Exec::checkBounds(const Inst &inst, ArrayRef<int64_t> index, ArrayRef<int64_t> sizes,
                                StringRef what) const {
  for (size_t d = 0; d < index.size(); ++d)
    if (index[d] < 0 || index[d] >= sizes[d])
      return error(inst, "index " + formatIndex(index) + " is out of bounds of a " + what + " with extents " +
                             formatIndex(sizes));
  return success();
}

LogicalResult Exec::load(const Inst &inst, const MemRef &view, ArrayRef<int64_t> index, Val &value,
                         bool allowUndef) const {
  if (failed(checkBounds(inst, index, view.sizes, "memref")))
    return failure();
  int64_t position = view.position(index);
  if (failed(touch(inst, view, position, Touching::Read)))
    return failure();
  if (!view.buffer->defined[position]) {
    if (!allowUndef)
      return error(inst, "reads element " + formatIndex(index) + " of " + view.buffer->name +
                             " before it was written");
    value = Val();
    return success();
  }
  value = view.buffer->load(position);
  return success();
}

LogicalResult Exec::store(const Inst &inst, const MemRef &view, ArrayRef<int64_t> index,
                          const Val &value) const {
  if (failed(checkBounds(inst, index, view.sizes, "memref")))
    return failure();
  int64_t position = view.position(index);
  if (failed(touch(inst, view, position, Touching::Write)))
    return failure();
  view.buffer->store(position, value);
  return success();
}

LogicalResult Exec::loadAll(const Inst &inst, const MemRef &view, Val &tensor) const {
  if (failed(allocate(inst, view.buffer->info, view.sizes, tensor, /*isDefined=*/true)))
    return failure();
  Elements &elements = tensor.elements();
  SmallVector<int64_t, 4> index(view.sizes.size());
  for (int64_t e = 0, count = elements.size(); e < count; ++e) {
    Val value;
    if (failed(load(inst, view, index, value, /*allowUndef=*/true)))
      return failure();
    elements.store(e, value);
    nextIndex(index, view.sizes);
  }
  return success();
}

LogicalResult Exec::storeAll(const Inst &inst, const MemRef &view, const Elements &elements) const {
  if (ArrayRef<int64_t>(view.sizes) != ArrayRef<int64_t>(elements.shape))
    return error(inst,
                 "expected extents " + formatIndex(view.sizes) + ", but got " + formatIndex(elements.shape));
  SmallVector<int64_t, 4> index(view.sizes.size());
  for (int64_t e = 0, count = elements.size(); e < count; ++e) {
    if (failed(store(inst, view, index, elements.load(e))))
      return failure();
    nextIndex(index, view.sizes);
  }
  return success();
}
