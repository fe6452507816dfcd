// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The wire format of protocol buffers: tags, varints, fixed words and lengths over a span of bytes. It knows
// no message; every step is checked against the end of the span.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace tessera::onnx {

static_assert(std::endian::native == std::endian::little,
              "words and tensors are read as they lie in the file");

using Bytes = std::span<const std::byte>;

enum class Wire : uint8_t { Varint = 0, Fixed64 = 1, Length = 2, Fixed32 = 5 };

/// One field of a message.
struct Field {
  uint32_t number = 0;
  Wire wire = Wire::Varint;
  /// The value of a varint or fixed word.
  uint64_t word = 0;
  /// The content of a field with a length; otherwise the bytes of `word` in the file.
  Bytes bytes;
};

/// Walks over the fields of one message. After a false answer, error() says whether the message ended or is
/// broken.
class WireReader {
public:
  explicit WireReader(Bytes message) : at(message.data()), end(at + message.size()) {}

  bool next(Field &field) {
    if (at == end || problem)
      return false;
    start = at;
    uint64_t tag;
    if (!varint(tag))
      return false;
    if (tag > UINT32_MAX || tag >> 3 == 0)
      return broken("a field number that is not valid");
    field.number = static_cast<uint32_t>(tag >> 3);
    const std::byte *value = at;
    switch (tag & 7) {
    case 0:
      field.wire = Wire::Varint;
      if (!varint(field.word))
        return false;
      field.bytes = Bytes(value, at);
      return true;
    case 1:
      field.wire = Wire::Fixed64;
      if (!fixed(field.word, 8))
        return false;
      field.bytes = Bytes(value, at);
      return true;
    case 5:
      field.wire = Wire::Fixed32;
      if (!fixed(field.word, 4))
        return false;
      field.bytes = Bytes(value, at);
      return true;
    case 2: {
      field.wire = Wire::Length;
      uint64_t length;
      if (!varint(length))
        return false;
      if (length > static_cast<uint64_t>(end - at))
        return broken("a length that reaches past the end; the file may be truncated");
      field.bytes = Bytes(at, static_cast<size_t>(length));
      at += length;
      return true;
    }
    case 3:
    case 4:
      return broken("a group, which ONNX does not use");
    default:
      return broken("an unknown wire type");
    }
  }

  /// A varint of a packed field.
  bool varint(uint64_t &value) {
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at == end)
        return broken("an end in the middle of a number");
      uint8_t byte = static_cast<uint8_t>(*at++);
      // The tenth byte has room for one bit.
      if (shift == 63 && byte > 1)
        return broken("a number of more than 64 bits");
      value |= static_cast<uint64_t>(byte & 127) << shift;
      if (byte < 128)
        return true;
    }
    return broken("a number of more than 64 bits");
  }

  bool atEnd() const { return at == end; }
  /// What is wrong, or null.
  const char *error() const { return problem; }
  /// The begin of the field that was read last.
  const std::byte *fieldStart() const { return start; }

private:
  bool fixed(uint64_t &value, size_t size) {
    if (static_cast<size_t>(end - at) < size)
      return broken("an end in the middle of a number");
    value = 0;
    std::memcpy(&value, at, size);
    at += size;
    return true;
  }
  bool broken(const char *what) {
    problem = what;
    return false;
  }

  const std::byte *at, *end;
  const std::byte *start = at;
  const char *problem = nullptr;
};

} // namespace tessera::onnx
