// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes protocol buffer messages field by field, right or wrong, for the reader's tests and fuzz seeds. Not
// part of the reader.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace tessera::onnx::testing {

struct Proto {
  std::string bytes;

  static std::string varint(uint64_t value) {
    std::string out;
    for (; value >= 128; value >>= 7)
      out += static_cast<char>(value | 128);
    return out + static_cast<char>(value);
  }
  Proto &tag(uint32_t field, unsigned wire) {
    bytes += varint(uint64_t(field) << 3 | wire);
    return *this;
  }
  Proto &add(uint32_t field, int64_t value) {
    tag(field, 0).bytes += varint(static_cast<uint64_t>(value));
    return *this;
  }
  Proto &add(uint32_t field, int value) { return add(field, int64_t(value)); }
  Proto &add(uint32_t field, std::string_view text) {
    tag(field, 2).bytes += varint(text.size());
    bytes += text;
    return *this;
  }
  Proto &add(uint32_t field, const char *text) { return add(field, std::string_view(text)); }
  Proto &add(uint32_t field, const Proto &message) { return add(field, std::string_view(message.bytes)); }
  Proto &add(uint32_t field, float value) { return word(field, 5, value); }
  Proto &add(uint32_t field, double value) { return word(field, 1, value); }
  Proto &packed(uint32_t field, std::initializer_list<int64_t> values) {
    std::string content;
    for (int64_t value : values)
      content += varint(static_cast<uint64_t>(value));
    return add(field, content);
  }
  /// The bytes of `values` as they lie in memory.
  template <typename T> static std::string raw(std::initializer_list<T> values) {
    std::string out(values.size() * sizeof(T), '\0');
    std::memcpy(out.data(), values.begin(), out.size());
    return out;
  }
  std::span<const std::byte> span() const { return std::as_bytes(std::span(bytes)); }

private:
  template <typename T> Proto &word(uint32_t field, unsigned wire, T value) {
    tag(field, wire).bytes += raw({value});
    return *this;
  }
};

/// A TensorProto without data.
inline Proto tensorProto(std::string_view name, int type, std::initializer_list<int64_t> dims) {
  Proto out;
  for (int64_t extent : dims)
    out.add(1, extent);
  out.add(2, type);
  if (!name.empty())
    out.add(8, name);
  return out;
}

inline Proto attributeProto(std::string_view name, int type) { return Proto().add(1, name).add(20, type); }

inline Proto nodeProto(std::string_view op, std::string_view name, std::initializer_list<const char *> inputs,
                       std::initializer_list<const char *> outputs) {
  Proto out;
  for (const char *input : inputs)
    out.add(1, input);
  for (const char *output : outputs)
    out.add(2, output);
  if (!name.empty())
    out.add(3, name);
  return out.add(4, op);
}

/// A ValueInfoProto of an f32 tensor.
inline Proto valueProto(std::string_view name, std::initializer_list<int64_t> dims) {
  Proto shape;
  for (int64_t extent : dims)
    shape.add(1, Proto().add(1, extent));
  return Proto().add(1, name).add(2, Proto().add(1, Proto().add(1, 1).add(2, shape)));
}

inline Proto opsetProto(int64_t version, std::string_view domain = "") {
  return Proto().add(1, domain).add(2, version);
}

inline Proto modelProto(const Proto &graph) {
  return Proto().add(1, 10).add(2, "test").add(8, opsetProto(21)).add(7, graph);
}

/// A model that uses every message.
inline Proto fullModel() {
  Proto branch =
      Proto().add(2, "branch").add(1, nodeProto("Relu", "inner", {"x"}, {"b"})).add(12, valueProto("b", {2}));
  Proto sparse = Proto()
                     .add(1, tensorProto("s", 1, {2}).add(9, Proto::raw({1.0f, 2.0f})))
                     .add(2, tensorProto("", 7, {2}).packed(7, {0, 3}))
                     .add(3, 4);
  Proto attributes =
      nodeProto("If", "choose", {"c"}, {"y"})
          .add(5, attributeProto("then_branch", 5).add(6, branch))
          .add(5, attributeProto("f", 1).add(2, 1.5f))
          .add(5, attributeProto("i", 2).add(3, -7))
          .add(5, attributeProto("s", 3).add(4, "text"))
          .add(5, attributeProto("t", 4).add(5, tensorProto("", 2, {2}).packed(5, {1, 255})))
          .add(5, attributeProto("floats", 6).add(7, 1.0f).add(7, 2.0f))
          .add(5, attributeProto("ints", 7).packed(8, {1, -2}).add(8, 3))
          .add(5, attributeProto("strings", 8).add(9, "a").add(9, ""))
          .add(5, attributeProto("tensors", 9).add(10, tensorProto("", 22, {3}).packed(5, {0x2f, 0x7})))
          .add(5, attributeProto("graphs", 10).add(11, branch).add(11, branch))
          .add(5, attributeProto("sparse", 11).add(22, sparse))
          .add(5, attributeProto("sparses", 12).add(23, sparse))
          .add(5, attributeProto("type", 13)
                      .add(14, Proto().add(4, Proto().add(1, Proto().add(1, Proto().add(1, 7))))))
          .add(5, attributeProto("types", 14)
                      .add(15, Proto().add(9, Proto()))
                      .add(15, Proto().add(5, Proto().add(1, 8).add(2, Proto()))))
          .add(9, Proto().add(1, "k").add(2, "v"));
  Proto symbolic =
      Proto().add(1, "x").add(2, Proto()
                                     .add(1, Proto().add(1, 1).add(2, Proto()
                                                                          .add(1, Proto().add(2, "batch"))
                                                                          .add(1, Proto().add(1, 4))
                                                                          .add(1, Proto())
                                                                          .add(1, Proto().add(1, -1))))
                                     .add(6, "IMAGE"));
  Proto graph = Proto()
                    .add(2, "main")
                    .add(10, "doc")
                    .add(11, symbolic)
                    .add(5, tensorProto("c", 9, {}).add(9, std::string_view("\1", 1)))
                    .add(5, tensorProto("w", 1, {2, 2}).add(4, Proto::raw({1.0f, 2.0f, 3.0f, 4.0f})))
                    .add(15, sparse)
                    .add(1, attributes)
                    .add(1, nodeProto("Twice", "call", {"y", ""}, {"z"})
                                .add(7, "local")
                                .add(8, "v2")
                                .add(5, attributeProto("k", 2).add(3, 2)))
                    .add(12, valueProto("z", {2}))
                    .add(13, valueProto("y", {2}))
                    .add(16, Proto().add(1, "gk").add(2, "gv"));
  Proto function =
      Proto()
          .add(1, "Twice")
          .add(4, "a")
          .add(4, "unused")
          .add(5, "r")
          .add(6, "k")
          .add(11, attributeProto("scale", 1).add(2, 0.5f))
          .add(7, nodeProto("Add", "sum", {"a", "a"}, {"r"}).add(5, attributeProto("m", 2).add(21, "k")))
          .add(9, opsetProto(21, "ai.onnx"))
          .add(10, "local")
          .add(13, "v2");
  return modelProto(graph)
      .add(3, "1.0")
      .add(5, 3)
      .add(14, Proto().add(1, "a").add(2, "b"))
      .add(25, function)
      .add(99, "unknown field")
      .add(98, 1.0f);
}

} // namespace tessera::onnx::testing
