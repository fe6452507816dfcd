// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The element types a plan may use, with their names and sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tessera {

/// Element types of values; integers are signless. `i1` takes one byte, `index` eight.
enum class ElementType : uint8_t { I1, I8, I16, I32, I64, Index, F16, BF16, F32, F64 };

/// The type's spelling in plans and messages: "f32".
std::string_view elementTypeName(ElementType type);

/// The type with this spelling, if there is one.
std::optional<ElementType> parseElementType(std::string_view name);

/// Bytes of one element.
size_t elementSize(ElementType type);

/// True for i1 … index.
bool isIntegerType(ElementType type);

/// Product of the extents times the element size, or nullopt when it does not fit into 63 bits or an extent
/// is negative.
std::optional<int64_t> checkedByteSize(ElementType type, std::span<const int64_t> shape);

} // namespace tessera
