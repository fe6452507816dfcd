// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an SSA value is while the oracle runs: a small tagged variant that holds a scalar's bits, or counts a
// reference to elements (tensors and vectors), to memory, or to another object. Nothing here knows an
// operation.
#pragma once

#include "tessera/ir/LLVM.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include <bit>
#include <vector>

namespace tessera::oracle {

/// How the elements of a type are represented and computed with.
struct ElementInfo {
  enum Kind : uint8_t { None, Int, F16, BF16, F32, F64, OtherFloat };
  Kind kind = None;
  uint32_t width = 0;
  /// The low `width` bits; all ones for wide types.
  uint64_t mask = 0;
  const llvm::fltSemantics *semantics = nullptr;

  bool isFloat() const { return kind > Int; }
  bool isWide() const { return width > 64; }
  /// 64-bit words of one element.
  unsigned words() const { return (width + 63) / 64; }

  /// For a scalar type, or the element type of a shaped one; kind None where the oracle has no such element.
  static ElementInfo get(Type type);
};

/// A counted object that values share. The oracle runs in one thread.
struct Object {
  Object() = default;
  // A copy is a new object that nobody holds yet.
  Object(const Object &) {}
  Object &operator=(const Object &) = delete;
  virtual ~Object() = default;
  unsigned refs = 0;
};

template <typename T> class Ref {
public:
  Ref() = default;
  Ref(T *object) : object(object) { retain(); }
  Ref(const Ref &other) : object(other.object) { retain(); }
  Ref(Ref &&other) noexcept : object(other.object) { other.object = nullptr; }
  ~Ref() { release(); }
  Ref &operator=(Ref other) noexcept {
    std::swap(object, other.object);
    return *this;
  }
  T *operator->() const { return object; }
  T &operator*() const { return *object; }
  T *get() const { return object; }
  explicit operator bool() const { return object; }

private:
  void retain() {
    if (object)
      ++object->refs;
  }
  void release() {
    if (object && --object->refs == 0)
      delete object;
  }
  T *object = nullptr;
};

/// An integer or float of more than 64 bits.
struct WideObject : Object {
  explicit WideObject(APInt bits) : bits(std::move(bits)) {}
  APInt bits;
};

struct Elements;
struct MemRef;

/// One SSA value. A scalar is its bits, zero extended; undefined values may be passed around but not used.
class Val {
public:
  enum Tag : uint8_t { Undef, Scalar, Wide, Tensor, Memory, Other };

  Val() = default;
  Val(const Val &) = default;
  Val(Val &&other) noexcept : object(std::move(other.object)), bits(other.bits), tag(other.tag) {
    other.tag = Undef;
  }
  Val &operator=(const Val &other) {
    if (tag <= Scalar && other.tag <= Scalar) {
      bits = other.bits;
      tag = other.tag;
      return *this;
    }
    object = other.object;
    bits = other.bits;
    tag = other.tag;
    return *this;
  }
  Val &operator=(Val &&other) noexcept {
    object = std::move(other.object);
    bits = other.bits;
    tag = other.tag;
    other.tag = Undef;
    return *this;
  }

  static Val scalar(uint64_t bits) {
    Val v;
    v.bits = bits;
    v.tag = Scalar;
    return v;
  }
  static Val index(int64_t value) { return scalar(static_cast<uint64_t>(value)); }
  static Val boolean(bool value) { return scalar(value); }
  static Val integer(const APInt &value) {
    if (value.getBitWidth() <= 64)
      return scalar(value.getZExtValue());
    Val v;
    v.tag = Wide;
    v.object = new WideObject(value);
    return v;
  }
  static Val floating(const APFloat &value) { return integer(value.bitcastToAPInt()); }
  static Val of(Elements *elements);
  static Val of(MemRef *memory);
  static Val other(Object *object) {
    Val v;
    v.tag = Other;
    v.object = object;
    return v;
  }

  void setScalar(uint64_t value) {
    if (tag > Scalar)
      object = {};
    bits = value;
    tag = Scalar;
  }

  Tag getTag() const { return tag; }
  bool isUndef() const { return tag == Undef; }
  bool isScalar() const { return tag == Scalar; }
  uint64_t getBits() const { return bits; }
  int64_t getIndex() const { return static_cast<int64_t>(bits); }
  APInt getInt(unsigned width) const {
    if (tag == Wide)
      return static_cast<WideObject *>(object.get())->bits;
    return APInt(width, bits, /*isSigned=*/false, /*implicitTrunc=*/true);
  }
  APFloat getFloat(const llvm::fltSemantics &semantics) const {
    return APFloat(semantics, getInt(APFloat::getSizeInBits(semantics)));
  }
  Elements &elements() const;
  MemRef &memory() const;
  Object *getObject() const { return object.get(); }
  bool isUnique() const { return object->refs == 1; }

private:
  Ref<Object> object;
  uint64_t bits = 0;
  Tag tag = Undef;
};

/// The product of the extents.
int64_t countElements(ArrayRef<int64_t> shape);
/// Row-major strides.
SmallVector<int64_t, 4> denseStrides(ArrayRef<int64_t> shape);
/// Steps `index` through the box `shape` in row-major order; false after the last element.
bool nextIndex(MutableArrayRef<int64_t> index, ArrayRef<int64_t> shape);
/// "[1, 2]".
std::string formatIndex(ArrayRef<int64_t> index);

/// The content of a tensor or vector: row-major, each element in whole words.
struct Elements : Object {
  Elements(ElementInfo info, ArrayRef<int64_t> shape, bool isDefined = true);

  ElementInfo info;
  SmallVector<int64_t, 4> shape;
  std::vector<uint64_t> data;
  /// One flag for each element; empty when all are defined.
  std::vector<uint8_t> defined;

  int64_t size() const { return static_cast<int64_t>(data.size() / info.words()); }
  bool isDefined(int64_t i) const { return defined.empty() || defined[i]; }
  Val load(int64_t i) const {
    if (!isDefined(i))
      return {};
    if (!info.isWide())
      return Val::scalar(data[i]);
    return loadWide(i);
  }
  void store(int64_t i, const Val &value) {
    if (value.isScalar() && defined.empty() && !info.isWide()) {
      data[i] = value.getBits();
      return;
    }
    storeSlow(i, value);
  }
  /// The position of a multi-dimensional index, or -1 when it is out of bounds.
  int64_t linear(ArrayRef<int64_t> index) const;
  void copyElement(int64_t to, const Elements &from, int64_t at);

private:
  Val loadWide(int64_t i) const;
  void storeSlow(int64_t i, const Val &value);
};

inline Elements &Val::elements() const { return static_cast<Elements &>(*object); }

/// The elements of `value` for writing: copied first when others hold them too.
Elements &mutate(Val &value);

//===----------------------------------------------------------------------===//
// Floats as host numbers
//===----------------------------------------------------------------------===//

/// The nearest number of a format with `precision` significant bits (the hidden one too), ties to even.
uint64_t roundDouble(double value, int precision, int exponentBits);

inline float asFloat(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }
inline double asDouble(uint64_t bits) { return std::bit_cast<double>(bits); }
inline uint64_t fromFloat(float value) { return std::bit_cast<uint32_t>(value); }
inline uint64_t fromDouble(double value) { return std::bit_cast<uint64_t>(value); }
double halfToDouble(uint64_t bits);
inline double bfloatToDouble(uint64_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

/// The value of a float of at most 64 bits, which double holds exactly.
double toDouble(const ElementInfo &info, const Val &value);
/// Rounded once into the element type.
Val fromDouble(const ElementInfo &info, double value);
Val fromLongDouble(const ElementInfo &info, long double value);

} // namespace tessera::oracle
