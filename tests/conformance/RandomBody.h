// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random scalar code for the bodies of leaves, and random elements.
#pragma once

#include "tessera/oracle/Oracle.h"

#include <string>
#include <vector>

namespace tessera::conformance {

/// SplitMix64: the standard library's distributions differ between implementations, this does not.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// 0 <= result < bound.
  size_t below(size_t bound) { return static_cast<size_t>(next() % bound); }
  int64_t range(int64_t low, int64_t high) { return low + static_cast<int64_t>(below(high - low + 1)); }

private:
  uint64_t state;
};

bool isFloatType(const std::string &type);
unsigned bitWidth(const std::string &type);

/// Elements that the generated code is safe on: any integers, floats between -4 and 4 with a few zeros of
/// both signs.
oracle::Array randomArray(MLIRContext &context, Random &random, const std::string &element,
                          std::vector<int64_t> shape);

/// Writes operations on scalars. Floats stay within bounds that no type overflows: products are clamped, and
/// `bounded` clamps what leaves the body.
class Body {
public:
  Body(Random &random, bool controlFlow, unsigned &names)
      : random(random), controlFlow(controlFlow), names(names) {}

  /// Adds a value that expressions may use.
  void add(std::string name, std::string type) { values.push_back({std::move(name), std::move(type)}); }
  /// Writes `%new = operation` and returns the name.
  std::string op(const std::string &operation);
  void line(const std::string &code) { code_ += "    " + code + "\n"; }
  std::string &text() { return code_; }

  std::string constant(const std::string &type);
  /// A random expression of this type.
  std::string expression(const std::string &type, unsigned depth);
  /// The value in another type; every value of `from` is allowed.
  std::string convert(std::string value, const std::string &from, const std::string &to);
  /// Floats clamped to [-8, 8]; integers as they are.
  std::string bounded(const std::string &value, const std::string &type);

private:
  std::string leaf(const std::string &type);
  std::string integerOperation(const std::string &type, unsigned depth);
  std::string floatOperation(const std::string &type, unsigned depth);
  std::string condition(unsigned depth);

  struct Value {
    std::string name, type;
  };
  Random &random;
  bool controlFlow;
  unsigned &names;
  std::string code_;
  std::vector<Value> values;
};

} // namespace tessera::conformance
