// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names and sizes of element types.
#include "tessera/base/ElementType.h"

#include <iterator>

namespace tessera {

static constexpr struct {
  std::string_view name;
  uint8_t size;
} table[] = {{"i1", 1},    {"i8", 1},  {"i16", 2},  {"i32", 4}, {"i64", 8},
             {"index", 8}, {"f16", 2}, {"bf16", 2}, {"f32", 4}, {"f64", 8}};

std::string_view elementTypeName(ElementType type) { return table[static_cast<size_t>(type)].name; }

std::optional<ElementType> parseElementType(std::string_view name) {
  for (size_t i = 0; i < std::size(table); ++i)
    if (table[i].name == name)
      return static_cast<ElementType>(i);
  return std::nullopt;
}

size_t elementSize(ElementType type) { return table[static_cast<size_t>(type)].size; }

bool isIntegerType(ElementType type) { return type <= ElementType::Index; }

std::optional<int64_t> checkedByteSize(ElementType type, std::span<const int64_t> shape) {
  int64_t bytes = static_cast<int64_t>(elementSize(type));
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      return std::nullopt;
    if (extent == 0) {
      empty = true;
      continue;
    }
    if (__builtin_mul_overflow(bytes, extent, &bytes))
      return std::nullopt;
  }
  return empty ? 0 : bytes;
}

} // namespace tessera
