// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory while the oracle runs: buffers that remember which elements hold a value and who touched them last,
// and the views of them that memref values are.
#pragma once

#include "tessera/oracle/Values.h"

#include <memory>

namespace tessera::oracle {

/// Who touched one element last, as far as one level of parallel instances goes. Instances are counted
/// from 1.
struct Touch {
  uint64_t writeEpoch = 0, readEpoch = 0;
  uint64_t writer = 0, reader = 0, otherReader = 0;
  bool isAtomic = false;
};

/// A piece of memory. It belongs to the instances that were running when it was made.
struct Buffer : Object {
  Buffer(ElementInfo info, int64_t count, unsigned level, std::string name)
      : info(info), count(count), level(level), name(std::move(name)) {
    data.resize(count * info.words());
    defined.resize(count);
  }

  ElementInfo info;
  int64_t count;
  /// Accesses by instances of this and deeper levels may race.
  unsigned level;
  /// For messages: where the memory came from.
  std::string name;
  std::vector<uint64_t> data;
  std::vector<uint8_t> defined;
  bool isFreed = false, isConstant = false;
  /// One table for each level from `level` on; made when first needed.
  std::vector<std::vector<Touch>> touches;
  /// Float sums and products of an `acc` port while its node runs: more precise than the elements, rounded
  /// once at its end.
  std::vector<long double> precise;
  std::vector<uint8_t> hasPrecise;

  Val load(int64_t i) const {
    if (!info.isWide())
      return Val::scalar(data[i]);
    unsigned words = info.words();
    return Val::integer(APInt(info.width, ArrayRef<uint64_t>(&data[i * words], words)));
  }
  void store(int64_t i, const Val &value) {
    if (value.isUndef()) {
      defined[i] = 0;
      return;
    }
    defined[i] = 1;
    if (!info.isWide()) {
      data[i] = value.getBits();
      return;
    }
    APInt bits = value.getInt(info.width);
    std::copy_n(bits.getRawData(), info.words(), &data[i * info.words()]);
  }
};

/// What a view lets its holder do, by the port it came in through.
enum class Access : uint8_t { Any, Read, Accumulate };

/// A memref value: a strided view of a buffer.
struct MemRef : Object {
  Ref<Buffer> buffer;
  int64_t offset = 0;
  SmallVector<int64_t, 4> sizes, strides;
  Access access = Access::Any;

  /// A dense view of a whole buffer.
  static MemRef *dense(Ref<Buffer> buffer, ArrayRef<int64_t> shape) {
    auto *view = new MemRef();
    view->buffer = std::move(buffer);
    view->sizes.assign(shape.begin(), shape.end());
    view->strides = denseStrides(shape);
    return view;
  }
  int64_t position(ArrayRef<int64_t> index) const {
    int64_t at = offset;
    for (size_t d = 0; d < index.size(); ++d)
      at += index[d] * strides[d];
    return at;
  }
};

inline MemRef &Val::memory() const { return static_cast<MemRef &>(*object); }
inline Val Val::of(MemRef *memory) {
  Val v;
  v.tag = Memory;
  v.object = memory;
  return v;
}

} // namespace tessera::oracle
