// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NumPy's array files: `.npy` (versions 1 to 3) and `.npz` (a zip of them, stored or
// deflated). Reading accepts both byte orders and Fortran order and converts to dense
// row-major little endian; element types are never converted. Pickles are refused.
#pragma once

#include "tessera/base/ElementType.h"
#include "tessera/base/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera {

/// NumPy's element types. NumPy has no bf16: files hold its bits as U2 (or V2, read as U2).
enum class NpyType : uint8_t { B1, I1, U1, I2, U2, I4, U4, I8, U8, F2, F4, F8 };

/// Bytes of one element.
size_t npySize(NpyType type);
/// For messages: "f32", "u8", "bool".
std::string_view npyTypeName(NpyType type);
/// True when an array of `type` holds the bits of elements of type `element` unchanged. Integers in plans
/// are signless, so both signs of a width are accepted; bf16 takes U2.
bool npyHolds(NpyType type, ElementType element);
/// How elements of type `element` are written: signed integers, bool for i1, U2 for bf16.
NpyType npyTypeFor(ElementType element, bool isUnsigned = false);

/// An array: type, shape and dense row-major bytes, either owned or kept alive by `keepAlive`.
struct NpyArray {
  NpyType type = NpyType::F4;
  std::vector<int64_t> shape;
  std::span<const std::byte> data;
  std::shared_ptr<const void> keepAlive;

  /// "f32 of shape 3x4".
  std::string describe() const;
  int64_t elements() const;
  /// An array with storage of its own (zeroed), and a pointer to fill it.
  static NpyArray allocate(NpyType type, std::vector<int64_t> shape, std::byte **storage);
};

/// Reads a `.npy` file; large arrays in row-major order are mapped, not copied.
Result<NpyArray> readNpy(const std::string &path);
/// Parses bytes that must outlive the array unless `keepAlive` is given; `name` is for messages.
Result<NpyArray> parseNpy(std::span<const std::byte> bytes, std::string_view name,
                          std::shared_ptr<const void> keepAlive = nullptr);
/// The header (magic to newline, padded to 64) for an array.
std::string npyHeader(NpyType type, std::span<const int64_t> shape);
/// Writes a `.npy` file atomically.
Status writeNpy(const std::string &path, NpyType type, std::span<const int64_t> shape,
                std::span<const std::byte> data);
inline Status writeNpy(const std::string &path, const NpyArray &array) {
  return writeNpy(path, array.type, array.shape, array.data);
}

/// Writes strings (UTF-8) as a `.npy` file of NumPy's fixed width: `words` holds them, `places` which one
/// each element is.
Status writeNpyWords(const std::string &path, std::span<const int64_t> shape, std::span<const int64_t> places,
                     std::span<const std::string> words);

using NpzEntries = std::vector<std::pair<std::string, NpyArray>>;

/// Most bytes a `.npz` may unpack to: a guard against zip bombs.
inline constexpr uint64_t npzUnpackLimit = uint64_t(64) << 30;

/// Reads all arrays of a `.npz` file, names without ".npy".
Result<NpzEntries> readNpz(const std::string &path);
Result<NpzEntries> parseNpz(std::span<const std::byte> bytes, std::string_view name,
                            uint64_t unpackLimit = npzUnpackLimit);
/// Writes a `.npz` file atomically, deflated when `compress`.
Status writeNpz(const std::string &path, const NpzEntries &entries, bool compress = false);

} // namespace tessera
