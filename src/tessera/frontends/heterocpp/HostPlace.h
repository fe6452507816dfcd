// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the host finds what a member of a listed structure stands for: the memory that a pointer points to,
// or a number. The graph's builder describes it, the rewriter of the host module reads it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace tessera::heterocpp {

struct HostPlace {
  unsigned argument = 0;                ///< of the launch: the outermost structure
  std::optional<unsigned> sizeArgument; ///< its size, or the declared size of the memory

  /// The structure that holds the member. Null: this is the outermost structure itself.
  std::shared_ptr<const HostPlace> outer;
  uint64_t offset = 0; ///< of the member in it, in bytes

  /// How many elements the pointer has, unless the launch declares it: a sum of products of numbers beside
  /// it.
  struct Number {
    uint64_t offset; ///< in the outer structure
    unsigned bytes;
    bool isSigned;
  };
  struct Term {
    int64_t factor = 1;
    std::vector<Number> numbers;
  };
  std::vector<Term> count;
  std::optional<uint64_t> end; ///< a pointer behind the last element, in the outer structure
  uint64_t elementBytes = 0;

  /// Where the outer structure is one of an array, what all of them point to is gathered in one piece.
  enum Part { Whole, Packed, Starts } part = Whole;
  uint64_t stride = 0; ///< of that array
};

} // namespace tessera::heterocpp
