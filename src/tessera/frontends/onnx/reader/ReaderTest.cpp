// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ONNX reader on crafted messages: what is read, and each message about what is wrong.
#include "tessera/frontends/onnx/reader/Reader.h"
#include "tessera/base/File.h"
#include "tessera/frontends/onnx/reader/ProtoWriter.h"

#include <cmath>
#include <deque>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace tessera;
using namespace tessera::onnx;
using namespace tessera::onnx::testing;

static std::string errorOf(const Proto &proto, const std::string &folder = "",
                           const ReadOptions &options = {}) {
  auto model = parseModel(proto.span(), "m.onnx", folder, options);
  EXPECT_FALSE(model.ok());
  return model.ok() ? "" : model.status().message();
}

static std::string graphError(const Proto &graph) { return errorOf(modelProto(graph)); }

static std::string tensorError(const Proto &proto, const std::string &folder = "") {
  auto tensor = parseTensor(proto.span(), "t.pb", folder);
  EXPECT_FALSE(tensor.ok());
  return tensor.ok() ? "" : tensor.status().message();
}

// The tensor points into the bytes, so they are kept.
static Tensor tensorOf(const Proto &proto) {
  static std::deque<Proto> kept;
  auto tensor = parseTensor(kept.emplace_back(proto).span(), "t.pb", "");
  EXPECT_TRUE(tensor.ok()) << tensor.status().message();
  return tensor.ok() ? tensor.take() : Tensor();
}

static bool contains(const std::string &text, std::string_view part) {
  return text.find(part) != std::string::npos;
}
#define EXPECT_CONTAINS(text, part) EXPECT_PRED2(contains, text, part)

//===--- What is read ---===//

TEST(OnnxReader, ReadsEveryMessage) {
  Proto bytes = fullModel();
  auto result = parseModel(bytes.span(), "m.onnx", "");
  ASSERT_TRUE(result.ok()) << result.status().message();
  Model model = result.take();
  EXPECT_EQ(model.irVersion, 10);
  EXPECT_EQ(model.modelVersion, 3);
  EXPECT_EQ(model.producerName, "test");
  EXPECT_EQ(model.producerVersion, "1.0");
  EXPECT_EQ(model.opset(), 21);
  EXPECT_EQ(model.opset("ai.onnx"), 21);
  EXPECT_EQ(model.opset("other"), std::nullopt);
  EXPECT_EQ(model.metadata, (Metadata{{"a", "b"}}));
  const Graph &graph = model.graph;
  EXPECT_EQ(graph.name, "main");
  EXPECT_EQ(graph.doc, "doc");
  EXPECT_EQ(graph.metadata, (Metadata{{"gk", "gv"}}));
  ASSERT_EQ(graph.inputs.size(), 1u);
  const Type &type = graph.inputs[0].type;
  EXPECT_EQ(type.kind, Type::Kind::Tensor);
  EXPECT_EQ(type.denotation, "IMAGE");
  ASSERT_EQ(type.shape->size(), 4u);
  EXPECT_EQ((*type.shape)[0].param, "batch");
  EXPECT_EQ((*type.shape)[1].value, 4);
  EXPECT_FALSE((*type.shape)[2].value);
  EXPECT_FALSE((*type.shape)[3].value);
  ASSERT_EQ(graph.initializers.size(), 2u);
  // One packed run of floats is used where it lies.
  const Tensor &w = graph.initializers[1];
  EXPECT_GE(w.data.data(), bytes.span().data());
  EXPECT_LT(w.data.data(), bytes.span().data() + bytes.bytes.size());
  EXPECT_EQ(numberAt(w, 3), 4.0);
  ASSERT_EQ(graph.sparseInitializers.size(), 1u);
  EXPECT_EQ(graph.sparseInitializers[0].dims, std::vector<int64_t>{4});
  ASSERT_EQ(graph.nodes.size(), 2u);
  const Node &choose = graph.nodes[0];
  EXPECT_EQ(choose.find("f")->f, 1.5f);
  EXPECT_EQ(choose.find("i")->i, -7);
  EXPECT_EQ(choose.find("s")->s, "text");
  EXPECT_EQ(integerValues(choose.find("t")->tensors[0]), (std::vector<int64_t>{1, 255}));
  EXPECT_EQ(choose.find("floats")->floats, (std::vector<float>{1, 2}));
  EXPECT_EQ(choose.find("ints")->ints, (std::vector<int64_t>{1, -2, 3}));
  EXPECT_EQ(choose.find("strings")->strings, (std::vector<std::string>{"a", ""}));
  EXPECT_EQ(unpackSubByte(choose.find("tensors")->tensors[0]), (std::vector<int8_t>{-1, 2, 7}));
  EXPECT_EQ(choose.find("graphs")->graphs.size(), 2u);
  EXPECT_EQ(choose.find("then_branch")->graphs[0].nodes[0].name, "inner");
  EXPECT_EQ(choose.find("sparse")->sparseTensors[0].values.count(), 2);
  EXPECT_EQ(choose.find("type")->types[0].inner->element, DataType::I64);
  EXPECT_EQ(choose.find("types")->types[1].key, DataType::String);
  EXPECT_EQ(choose.find("none"), nullptr);
  const Function *function = model.function(graph.nodes[1]);
  ASSERT_NE(function, nullptr);
  EXPECT_EQ(function->defaults[0].f, 0.5f);
  EXPECT_EQ(function->nodes[0].attributes[0].reference, "k");
  EXPECT_EQ(model.function(choose), nullptr);
}

TEST(OnnxReader, EveryElementTypeFromTypedFields) {
  // One element (or one byte of them) with the value 1 in its typed field, unpacked.
  for (int t = 1; t <= lastDataType; ++t) {
    DataType type = static_cast<DataType>(t);
    Proto proto = tensorProto("x", t, {1});
    double expected = 1;
    if (type == DataType::String)
      proto.add(6, "one");
    else if (type == DataType::F32)
      proto.add(4, 1.0f);
    else if (type == DataType::Complex64)
      proto.add(4, 1.0f).add(4, 2.0f);
    else if (type == DataType::F64)
      proto.add(10, 1.0);
    else if (type == DataType::Complex128)
      proto.add(10, 1.0).add(10, 2.0);
    else if (type == DataType::I64)
      proto.add(7, 1);
    else if (type == DataType::U32 || type == DataType::U64)
      proto.add(11, 1);
    else {
      int bits = 1;
      switch (type) {
      case DataType::F16:
        bits = 0x3c00;
        break;
      case DataType::BF16:
        bits = 0x3f80;
        break;
      case DataType::F8E4M3FN:
        bits = 0x38;
        break;
      case DataType::F8E4M3FNUZ:
        bits = 0x40;
        break;
      case DataType::F8E5M2:
        bits = 0x3c;
        break;
      case DataType::F8E5M2FNUZ:
        bits = 0x40;
        break;
      case DataType::F8E8M0:
        bits = 127;
        break;
      case DataType::F4E2M1:
        bits = 2;
        break;
      default:
        break;
      }
      proto.add(5, bits);
    }
    Tensor tensor = tensorOf(proto);
    EXPECT_EQ(tensor.type, type);
    if (type == DataType::String)
      EXPECT_EQ(tensor.strings, std::vector<std::string_view>{"one"});
    else if (type == DataType::Complex64 || type == DataType::Complex128)
      EXPECT_EQ(numberAt(tensor, 0), std::nullopt);
    else
      EXPECT_EQ(numberAt(tensor, 0), expected) << dataTypeName(type);
  }
}

TEST(OnnxReader, TypedRunsOfAnyPackingAreJoined) {
  Tensor floats =
      tensorOf(tensorProto("x", 1, {4}).add(4, 1.0f).add(4, Proto::raw({2.0f, 3.0f})).add(4, 4.0f));
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(numberAt(floats, i), i + 1);
  Tensor ints = tensorOf(tensorProto("x", 3, {4}).packed(5, {-128, 127}).add(5, -1).add(5, 0));
  EXPECT_EQ(integerValues(ints), (std::vector<int64_t>{-128, 127, -1, 0}));
  Tensor wide = tensorOf(tensorProto("x", 13, {2}).packed(11, {-1, 5}));
  EXPECT_EQ(elementBits(wide, 0), UINT64_MAX);
  EXPECT_EQ(integerValues(wide), std::nullopt);
  EXPECT_EQ(integerValues(floats), std::nullopt);
}

TEST(OnnxReader, SubByteTypesStayPacked) {
  Tensor two = tensorOf(tensorProto("x", 26, {5}).add(9, std::string_view("\xe4\x02", 2)));
  EXPECT_EQ(two.data.size(), 2u);
  EXPECT_EQ(unpackSubByte(two), (std::vector<int8_t>{0, 1, -2, -1, -2}));
  Tensor unsignedTwo = tensorOf(tensorProto("x", 25, {4}).add(9, "\xe4"));
  EXPECT_EQ(unpackSubByte(unsignedTwo), (std::vector<int8_t>{0, 1, 2, 3}));
  Tensor four = tensorOf(tensorProto("x", 21, {2}).add(9, "\x8f"));
  EXPECT_EQ(unpackSubByte(four), (std::vector<int8_t>{15, 8}));
  EXPECT_TRUE(unpackSubByte(tensorOf(tensorProto("x", 2, {1}).add(9, "a"))).empty());
}

TEST(OnnxReader, SmallFloats) {
  auto value = [](DataType type, unsigned char bits) {
    return *numberAt(tensorOf(tensorProto("x", static_cast<int>(type), {1}).add(5, int(bits))), 0);
  };
  EXPECT_EQ(value(DataType::F8E4M3FN, 0x7e), 448);
  EXPECT_TRUE(std::isnan(value(DataType::F8E4M3FN, 0xff)));
  EXPECT_EQ(value(DataType::F8E4M3FNUZ, 0x7f), 240);
  EXPECT_TRUE(std::isnan(value(DataType::F8E4M3FNUZ, 0x80)));
  EXPECT_EQ(value(DataType::F8E5M2, 0x7b), 57344);
  EXPECT_EQ(value(DataType::F8E5M2, 0xfc), -INFINITY);
  EXPECT_TRUE(std::isnan(value(DataType::F8E5M2, 0x7d)));
  EXPECT_EQ(value(DataType::F8E5M2FNUZ, 0x7f), 57344);
  EXPECT_TRUE(std::isnan(value(DataType::F8E5M2FNUZ, 0x80)));
  EXPECT_EQ(value(DataType::F8E8M0, 0), 0x1p-127);
  EXPECT_TRUE(std::isnan(value(DataType::F8E8M0, 255)));
  const double table[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6};
  for (unsigned char i = 0; i < 16; ++i)
    EXPECT_EQ(value(DataType::F4E2M1, i), table[i]);
}

TEST(OnnxReader, BoolsAreZeroOrOne) {
  Tensor tensor = tensorOf(tensorProto("x", 9, {3}).add(9, std::string_view("\0\2\xff", 3)));
  EXPECT_EQ(integerValues(tensor), (std::vector<int64_t>{0, 1, 1}));
  EXPECT_EQ(integerValues(tensorOf(tensorProto("x", 9, {2}).packed(5, {2, 0}))),
            (std::vector<int64_t>{1, 0}));
}

TEST(OnnxReader, EmptyTensors) {
  EXPECT_EQ(tensorOf(tensorProto("x", 1, {0, 3})).count(), 0);
  EXPECT_EQ(tensorOf(tensorProto("x", 1, {0}).add(9, "")).data.size(), 0u);
  EXPECT_EQ(tensorOf(tensorProto("x", 8, {0})).strings.size(), 0u);
}

TEST(OnnxReader, SequencesAndOptionals) {
  Proto tensor = tensorProto("x", 2, {1}).add(9, "a");
  Proto sequence = Proto().add(1, "s").add(2, 1).add(3, tensor).add(3, tensor);
  auto value = parseSequence(sequence.span(), "s.pb", "");
  ASSERT_TRUE(value.ok()) << value.status().message();
  EXPECT_EQ(value->kind, Value::Kind::Sequence);
  EXPECT_EQ(value->items.size(), 2u);
  Proto optional = Proto().add(1, "o").add(2, 3).add(5, sequence);
  auto outer = parseOptional(optional.span(), "o.pb", "");
  ASSERT_TRUE(outer.ok()) << outer.status().message();
  EXPECT_EQ(outer->items[0].items[1].tensor.name, "x");
  auto two = parseOptional(sequence.span(), "o.pb", "");
  ASSERT_FALSE(two.ok());
  EXPECT_EQ(two.status().message(), "o.pb: an optional of 2 values");
  auto map = parseSequence(Proto().add(6, Proto()).span(), "s.pb", "");
  ASSERT_FALSE(map.ok());
  EXPECT_EQ(map.status().message(), "s.pb: maps are not supported");
}

TEST(OnnxReader, FirstVersionsNeedNoAttributeTypeAndNoOpset) {
  Proto node = nodeProto("Elu", "", {"x"}, {"y"}).add(5, Proto().add(1, "alpha").add(2, 2.0f));
  Proto graph = Proto().add(11, valueProto("x", {1})).add(1, node).add(12, valueProto("y", {1}));
  Proto bytes = Proto().add(1, 1).add(7, graph);
  auto model = parseModel(bytes.span(), "m.onnx", "");
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->graph.nodes[0].attributes[0].type, AttributeType::Float);
}

//===--- Broken files ---===//

TEST(OnnxReader, BrokenWireFormat) {
  EXPECT_EQ(errorOf(Proto()), "m.onnx: holds no graph; is it an ONNX model?");
  EXPECT_EQ(errorOf(Proto{"\x3a\x05"}),
            "m.onnx: broken file: the ModelProto field at byte 0 has a length that reaches "
            "past the end; the file may be truncated");
  EXPECT_CONTAINS(errorOf(Proto{"\x08"}), "has an end in the middle of a number");
  EXPECT_CONTAINS(errorOf(Proto{"\x15\x01"}), "has an end in the middle of a number");
  EXPECT_CONTAINS(errorOf(Proto{"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"}),
                  "has a number of more than 64 bits");
  EXPECT_CONTAINS(errorOf(Proto{"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"}),
                  "has a number of more than 64 bits");
  EXPECT_CONTAINS(errorOf(Proto{std::string("\0\0", 2)}), "has a field number that is not valid");
  EXPECT_CONTAINS(errorOf(Proto{"\x0b"}), "has a group, which ONNX does not use");
  EXPECT_CONTAINS(errorOf(Proto{"\x0e"}), "has an unknown wire type");
  EXPECT_CONTAINS(errorOf(Proto().add(7, 3)), "(number 7) has wire type 0, expected 2");
  EXPECT_CONTAINS(errorOf(Proto().add(7, Proto()).add(7, Proto())), "gives field 7 twice");
  EXPECT_CONTAINS(tensorError(tensorProto("x", 1, {1}).add(4, "abc")),
                  "has a packed field of 3 bytes, not a multiple of 4");
  EXPECT_CONTAINS(tensorError(tensorProto("x", 6, {1}).add(5, "\x80")),
                  "broken file: 'int32_data' has an end in the middle");
  EXPECT_CONTAINS(tensorError(Proto().add(1, "\x80")),
                  "TensorProto field at byte 0 has an end in the middle");
  // The innermost place is named.
  Proto node = nodeProto("Conv", "c1", {}, {}).add(5, Proto().add(1, "pads").add(8, "\x80"));
  EXPECT_CONTAINS(graphError(Proto().add(1, node)),
                  "m.onnx: node 'c1' (Conv): attribute 'pads': broken file: ");
}

TEST(OnnxReader, Limits) {
  Proto graph = Proto().add(2, "leaf");
  for (int i = 0; i < 40; ++i)
    graph = Proto().add(1, nodeProto("If", "n", {}, {}).add(5, attributeProto("a", 5).add(6, graph)));
  EXPECT_CONTAINS(graphError(graph), "messages are nested more than 100 deep");
  Proto many;
  for (int i = 0; i < 5; ++i)
    many.add(1, nodeProto("Relu", "", {"x"}, {}));
  ReadOptions options;
  options.maxNodes = 4;
  EXPECT_EQ(errorOf(modelProto(many), "", options), "m.onnx: more than 4 nodes");
  options = {};
  options.maxObjects = 3;
  EXPECT_CONTAINS(errorOf(modelProto(many), "", options), "more than 3 nodes, values and attributes");
  Proto rank = tensorProto("x", 1, {});
  Proto shape;
  for (int i = 0; i < 65; ++i) {
    rank.add(1, 1);
    shape.add(1, Proto().add(1, 1));
  }
  EXPECT_EQ(tensorError(rank), "t.pb: has 65 dimensions; at most 64 are supported");
  Proto value = Proto().add(1, "v").add(2, Proto().add(1, Proto().add(1, 1).add(2, shape)));
  EXPECT_EQ(graphError(Proto().add(11, value)),
            "m.onnx: value 'v': a type of 65 dimensions; at most 64 are supported");
}

TEST(OnnxReader, EveryTruncationIsRefused) {
  std::string whole = fullModel().bytes;
  size_t accepted = 0;
  for (size_t size = 0; size < whole.size(); ++size) {
    std::string part = whole.substr(0, size);
    accepted += parseModel(std::as_bytes(std::span(part)), "m.onnx", "").ok();
  }
  // A cut between two fields of the model leaves a smaller model.
  EXPECT_LE(accepted, 6u);
}

//===--- Tensors ---===//

TEST(OnnxReader, TensorProblems) {
  EXPECT_EQ(graphError(Proto().add(5, tensorProto("w", 1, {3, 4}).add(9, std::string(40, 'x')))),
            "m.onnx: initializer 'w': shape 3x4 of f32 needs 48 bytes, but holds 40");
  EXPECT_EQ(graphError(Proto().add(5, tensorProto("", 1, {}).add(9, std::string(3, 'x')))),
            "m.onnx: 2 problems:\n  initializer #0: a scalar of f32 needs 4 bytes, but holds 3\n  "
            "initializer #0: has no name");
  EXPECT_EQ(tensorError(tensorProto("w", 21, {3}).add(9, "x")),
            "t.pb: shape 3 of u4 needs 2 bytes, but holds 1");
  EXPECT_EQ(tensorError(tensorProto("w", 7, {3}).packed(7, {1, 2})),
            "t.pb: shape 3 of i64 needs 24 bytes, but holds 16");
  EXPECT_EQ(tensorError(tensorProto("w", 8, {2}).add(6, "x")),
            "t.pb: shape 2 of string needs 2 strings, but holds 1");
  EXPECT_EQ(tensorError(tensorProto("w", 0, {1})), "t.pb: has no element type");
  EXPECT_EQ(tensorError(tensorProto("w", 27, {1})), "t.pb: unknown element type 27");
  EXPECT_EQ(tensorError(tensorProto("w", 1, {2, -1})), "t.pb: has a dimension of -1");
  EXPECT_EQ(tensorError(tensorProto("w", 2, {1 << 30, 1 << 30, 1 << 30})),
            "t.pb: shape 1073741824x1073741824x1073741824 of u8 is too large");
  EXPECT_CONTAINS(tensorError(tensorProto("w", 2, {0, INT64_MAX, 2})), "is too large");
  EXPECT_CONTAINS(tensorError(tensorProto("w", 7, {INT64_MAX / 4})), "is too large");
  EXPECT_EQ(tensorError(tensorProto("w", 1, {1}).add(3, Proto())),
            "t.pb: is stored in segments, which is not supported");
  EXPECT_EQ(tensorError(tensorProto("w", 1, {1}).add(14, 2)), "t.pb: unknown data location 2");
  EXPECT_EQ(tensorError(tensorProto("w", 1, {1}).add(9, "abcd").add(4, 1.0f)),
            "t.pb: holds data in both 'raw_data' and 'float_data'");
  EXPECT_EQ(tensorError(tensorProto("w", 1, {1}).add(5, 1)),
            "t.pb: f32 values in 'int32_data', expected 'float_data' or 'raw_data'");
  EXPECT_EQ(tensorError(tensorProto("w", 8, {1}).add(9, "a")),
            "t.pb: strings in 'raw_data', expected 'string_data'");
  EXPECT_EQ(tensorError(tensorProto("w", 2, {2}).packed(5, {1, 300})),
            "t.pb: value 300 at position 1 of 'int32_data' does not fit u8");
  EXPECT_EQ(tensorError(tensorProto("w", 12, {1}).packed(11, {int64_t(1) << 32})),
            "t.pb: value 4294967296 at position 0 of 'uint64_data' does not fit u32");
}

TEST(OnnxReader, SparseProblems) {
  auto sparse = [](std::initializer_list<int64_t> dims, std::initializer_list<int64_t> indices,
                   int type = 7) {
    Proto values = tensorProto("s", 2, {2}).add(9, "ab");
    Proto out = Proto().add(1, values).add(2, tensorProto("", type, dims).packed(type == 7 ? 7 : 5, indices));
    return Proto().add(15, out.add(3, 2).add(3, 3));
  };
  EXPECT_EQ(graphError(sparse({2}, {0, 6})),
            "m.onnx: initializer 's': sparse tensor of shape 2x3: index 1 is out of range");
  EXPECT_EQ(graphError(sparse({2}, {-1, 2})),
            "m.onnx: initializer 's': sparse tensor of shape 2x3: index 0 is out of range");
  EXPECT_EQ(graphError(sparse({2, 2}, {0, 1, 0, 3})),
            "m.onnx: initializer 's': sparse tensor of shape 2x3: index 1 is out of range");
  EXPECT_EQ(graphError(sparse({2, 2}, {0, 1, 0, 1})),
            "m.onnx: initializer 's': sparse tensor: index 1 is not above the one before it");
  EXPECT_CONTAINS(graphError(sparse({3}, {0, 1, 2})),
                  "sparse tensor of rank 2 has values of shape 2 and i64 indices of shape 3; expected i64 "
                  "indices of shape N or N x rank");
  EXPECT_CONTAINS(graphError(sparse({2}, {0, 1}, 6)), "and i32 indices");
  EXPECT_EQ(graphError(Proto().add(15, Proto().add(1, tensorProto("s", 1, {0})))),
            "m.onnx: initializer 's': sparse tensor without indices");
}

class OnnxExternal : public ::testing::Test {
protected:
  void SetUp() override {
    folder = ::testing::TempDir() + "tessera_onnx_" + std::to_string(getpid());
    std::filesystem::create_directories(folder + "/in/sub");
    ASSERT_TRUE(writeFile(folder + "/in/sub/w.bin", std::string_view("....\1\2\3\4")).ok());
    ASSERT_TRUE(writeFile(folder + "/secret", std::string_view("secret")).ok());
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  static Proto tensor(std::string_view location, const char *offset = nullptr, const char *length = nullptr) {
    Proto out = tensorProto("w", 2, {4}).add(14, 1).add(13, Proto().add(1, "location").add(2, location));
    if (offset)
      out.add(13, Proto().add(1, "offset").add(2, offset));
    if (length)
      out.add(13, Proto().add(1, "length").add(2, length));
    return out;
  }
  std::string error(const Proto &tensor) { return tensorError(tensor, folder + "/in"); }

  std::string folder;
};

TEST_F(OnnxExternal, IsMapped) {
  ASSERT_TRUE(writeFile(folder + "/in/t.pb", std::string_view(tensor("sub/w.bin", "4", "4").bytes)).ok());
  auto read = readTensor(folder + "/in/t.pb");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(integerValues(*read), (std::vector<int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(read->externalLocation, "sub/w.bin");
  // A link within the folder is fine.
  std::filesystem::create_symlink("sub/w.bin", folder + "/in/link");
  EXPECT_TRUE(parseTensor(tensor("link", "4").span(), "t.pb", folder + "/in").ok());
  // So is a model in the same place.
  Proto graph = Proto().add(5, tensor("sub/w.bin", "4")).add(12, valueProto("w", {4}));
  ASSERT_TRUE(writeFile(folder + "/in/m.onnx", std::string_view(modelProto(graph).bytes)).ok());
  auto model = readModel(folder + "/in/m.onnx");
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(integerValues(model->graph.initializers[0]), (std::vector<int64_t>{1, 2, 3, 4}));
}

TEST_F(OnnxExternal, StaysInTheFolder) {
  std::string outside = "' must be a path below the model's folder, without '..'";
  EXPECT_EQ(error(tensor("../secret")), "t.pb: external data '../secret" + outside);
  EXPECT_EQ(error(tensor("sub/../../secret")), "t.pb: external data 'sub/../../secret" + outside);
  EXPECT_EQ(error(tensor("/etc/passwd")), "t.pb: external data '/etc/passwd" + outside);
  EXPECT_EQ(error(tensor("")), "t.pb: external data '" + outside);
  EXPECT_EQ(error(tensor(std::string_view("a\0b", 3))), "t.pb: external data 'a\\x00b" + outside);
  std::filesystem::create_symlink("../secret", folder + "/in/link");
  EXPECT_EQ(error(tensor("link")),
            "t.pb: external data 'link' is a link that leads outside the model's folder");
  std::filesystem::create_directory_symlink("..", folder + "/in/up");
  EXPECT_CONTAINS(error(tensor("up/secret")), "is a link that leads outside");
}

TEST_F(OnnxExternal, Problems) {
  EXPECT_EQ(error(tensor("sub/w.bin", "6")),
            "t.pb: external data 'sub/w.bin' has 8 bytes, expected 4 from byte 6");
  EXPECT_CONTAINS(error(tensor("sub/w.bin", "18446744073709551615")),
                  "has 8 bytes, expected 4 from byte 18446744073709551615");
  EXPECT_EQ(error(tensor("sub/w.bin", "0", "5")),
            "t.pb: shape 4 of u8 needs 4 bytes, but its external data has length 5");
  EXPECT_EQ(error(tensor("sub/w.bin", "-1")), "t.pb: external data has offset '-1', expected a number");
  EXPECT_EQ(error(tensor("sub/w.bin", "0", "4x")), "t.pb: external data has length '4x', expected a number");
  EXPECT_EQ(error(tensor("none")), "t.pb: cannot open external data 'none': No such file or directory");
  EXPECT_EQ(error(tensor("sub")), "t.pb: external data 'sub' is not a file");
  ASSERT_EQ(mkfifo((folder + "/in/pipe").c_str(), 0600), 0);
  EXPECT_EQ(error(tensor("pipe")), "t.pb: external data 'pipe' is not a file");
  EXPECT_EQ(tensorError(tensor("x")), "t.pb: external data 'x' has no folder to be looked for in");
  EXPECT_CONTAINS(tensorError(tensor("x"), folder + "/gone"), "cannot open folder '");
  EXPECT_EQ(error(tensor("sub/w.bin").add(9, "abcd")),
            "t.pb: holds data in both 'external_data' and 'raw_data'");
}

//===--- Structure ---===//

TEST(OnnxReader, ValuesAreDefinedOnceAndBeforeTheirUse) {
  Proto x = Proto().add(11, valueProto("x", {1}));
  EXPECT_EQ(graphError(Proto(x).add(1, nodeProto("Relu", "r", {"w"}, {"y"}))),
            "m.onnx: node 'r' (Relu): uses 'w', which no input, initializer or node defines");
  EXPECT_EQ(
      graphError(
          Proto(x).add(1, nodeProto("Relu", "", {"y"}, {"z"})).add(1, nodeProto("Exp", "e", {"x"}, {"y"}))),
      "m.onnx: node #0 (Relu): uses 'y' before node 'e' (Exp) defines it; nodes must be in topological "
      "order");
  EXPECT_EQ(graphError(Proto(x)
                           .add(1, nodeProto("Add", "a", {"x", "r"}, {"p"}))
                           .add(1, nodeProto("Exp", "b", {"p"}, {"q"}))
                           .add(1, nodeProto("Log", "c", {"q"}, {"r"}))),
            "m.onnx: node 'a' (Add): uses 'r' in a cycle: node 'c' (Log) needs node 'b' (Exp) needs node 'a' "
            "(Add)");
  EXPECT_EQ(graphError(Proto(x).add(1, nodeProto("Exp", "b", {"p"}, {"p"}))),
            "m.onnx: node 'b' (Exp): uses 'p' in a cycle: node 'b' (Exp)");
  EXPECT_EQ(graphError(Proto(x).add(1, nodeProto("Exp", "b", {"x"}, {"x"}))),
            "m.onnx: node 'b' (Exp): defines 'x', which is already defined as input");
  EXPECT_EQ(
      graphError(
          Proto(x).add(1, nodeProto("Exp", "a", {"x"}, {"y"})).add(1, nodeProto("Log", "b", {"x"}, {"y"}))),
      "m.onnx: node 'b' (Log): defines 'y', which is already defined by node 'a' (Exp)");
  EXPECT_EQ(graphError(Proto(x).add(11, valueProto("x", {1}))),
            "m.onnx: input 'x' is already defined as input");
  Proto w = tensorProto("w", 2, {1}).add(9, "a");
  EXPECT_EQ(graphError(Proto().add(5, w).add(5, w)),
            "m.onnx: initializer 'w' is already defined as initializer");
  EXPECT_EQ(graphError(Proto(x).add(12, valueProto("y", {1}))),
            "m.onnx: graph output 'y' is one that no input, initializer or node defines");
  EXPECT_EQ(graphError(Proto().add(11, valueProto("", {1}))), "m.onnx: graph input without a name");
  EXPECT_EQ(graphError(Proto().add(12, valueProto("", {1}))), "m.onnx: graph output without a name");
  EXPECT_EQ(graphError(Proto().add(11, Proto().add(1, "x"))), "m.onnx: graph input 'x' has no type");
  EXPECT_EQ(graphError(Proto().add(11, valueProto("x", {INT64_MAX, 2}))),
            "m.onnx: graph input 'x': its shape is too large");
  EXPECT_CONTAINS(graphError(Proto().add(11, Proto().add(1, "x").add(2, Proto().add(1, Proto().add(1, 99))))),
                  "value 'x': unknown element type 99");
  // An initializer may be the default of an input.
  EXPECT_TRUE(parseModel(modelProto(Proto().add(11, valueProto("w", {1})).add(5, w)).span(), "m", "").ok());
}

TEST(OnnxReader, GraphsInNodes) {
  auto withBranch = [](const Proto &branch) {
    return Proto()
        .add(11, valueProto("x", {1}))
        .add(1, nodeProto("If", "i", {"x"}, {"y"}).add(5, attributeProto("then_branch", 5).add(6, branch)))
        .add(1, nodeProto("Exp", "e", {"y"}, {"z"}));
  };
  EXPECT_TRUE(
      parseModel(modelProto(withBranch(Proto().add(1, nodeProto("Abs", "a", {"x"}, {"b"})))).span(), "m", "")
          .ok());
  EXPECT_EQ(graphError(withBranch(Proto().add(1, nodeProto("Abs", "a", {"q"}, {"b"})))),
            "m.onnx: node 'i' (If): attribute 'then_branch': node 'a' (Abs): uses 'q', which no input, "
            "initializer or node defines");
  EXPECT_EQ(graphError(withBranch(Proto().add(1, nodeProto("Abs", "a", {"z"}, {"b"})))),
            "m.onnx: node 'i' (If): attribute 'then_branch': node 'a' (Abs): uses 'z' in a cycle: node 'e' "
            "(Exp) needs node 'i' (If)");
}

TEST(OnnxReader, NodeAndAttributeProblems) {
  auto nodeError = [](const Proto &node) { return graphError(Proto().add(1, node)); };
  EXPECT_EQ(nodeError(nodeProto("", "n", {}, {})), "m.onnx: node 'n': has an empty op_type");
  EXPECT_EQ(nodeError(nodeProto("Foo", "n", {}, {}).add(7, "com.x")),
            "m.onnx: node 'n' (Foo): domain 'com.x' is not imported");
  auto error = [&](const Proto &attribute) {
    return nodeError(nodeProto("Op", "n", {}, {}).add(5, attribute));
  };
  std::string at = "m.onnx: node 'n' (Op): attribute 'a': ";
  EXPECT_EQ(error(attributeProto("a", 15)), at + "unknown attribute type 15");
  EXPECT_EQ(error(attributeProto("a", 0)), at + "holds no value");
  EXPECT_EQ(error(attributeProto("a", 0).add(2, 1.0f).add(3, 1)),
            at + "holds values of several types and does not say which is meant");
  EXPECT_EQ(error(attributeProto("a", 2).add(2, 1.0f)), at + "is of type int but holds float");
  EXPECT_EQ(error(attributeProto("a", 4)), at + "is of type tensor but holds none");
  EXPECT_EQ(error(attributeProto("a", 2).add(21, "k")), at + "refers to 'k' outside a function");
  EXPECT_CONTAINS(error(attributeProto("a", 2).add(21, "k").add(3, 1)),
                  at.substr(8) + "refers to 'k' but holds a value as well");
  EXPECT_EQ(error(attributeProto("", 2)), "m.onnx: node 'n' (Op): has an attribute without a name");
  EXPECT_EQ(
      nodeError(nodeProto("Op", "n", {}, {}).add(5, attributeProto("a", 2)).add(5, attributeProto("a", 2))),
      at + "is given twice");
  EXPECT_EQ(error(attributeProto("a", 4).add(5, tensorProto("", 1, {2}))),
            at + "shape 2 of f32 needs 8 bytes, but holds 0");
}

TEST(OnnxReader, ModelProblems) {
  EXPECT_EQ(errorOf(Proto().add(1, 10).add(7, Proto())), "m.onnx: imports no opset");
  EXPECT_EQ(errorOf(Proto().add(8, opsetProto(9)).add(7, Proto())),
            "m.onnx: has IR version 0, expected 1 or more");
  EXPECT_EQ(errorOf(modelProto(Proto()).add(8, opsetProto(-1, "d"))),
            "m.onnx: imports opset -1 of 'd', expected 1 or more");
  EXPECT_EQ(errorOf(modelProto(Proto()).add(8, opsetProto(5, "ai.onnx"))),
            "m.onnx: imports two opsets of 'ai.onnx': 21 and 5");
  auto missing = readModel("/nowhere/m.onnx");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().code(), StatusCode::NotFound);
}

TEST(OnnxReader, FunctionProblems) {
  auto function = [](const char *name, const char *callee) {
    return Proto()
        .add(1, name)
        .add(10, "l")
        .add(9, opsetProto(21))
        .add(4, "a")
        .add(5, "b")
        .add(7, nodeProto(callee, "n", {"a"}, {"b"}).add(7, "l"));
  };
  auto error = [](const Proto &f, const Proto &g) {
    return errorOf(modelProto(Proto()).add(25, f).add(25, g));
  };
  Proto leaf = Proto().add(1, "leaf").add(10, "l");
  EXPECT_EQ(error(function("f", "g"), function("g", "f")),
            "m.onnx: function 'f': calls itself, directly or through other functions");
  EXPECT_EQ(error(leaf, leaf), "m.onnx: function 'leaf': is defined twice");
  EXPECT_EQ(error(leaf, Proto().add(10, "l")), "m.onnx: function '': has no name");
  EXPECT_EQ(error(leaf, Proto().add(1, "h").add(6, "k").add(11, attributeProto("k", 2))),
            "m.onnx: function 'h': attribute 'k' is declared twice");
  EXPECT_EQ(error(leaf, Proto().add(1, "h").add(6, "k").add(6, "k")),
            "m.onnx: function 'h': attribute 'k' is declared twice");
  EXPECT_EQ(error(leaf, Proto().add(1, "h").add(5, "y")),
            "m.onnx: function 'h': output 'y' is one that no input, initializer or node defines");
  EXPECT_EQ(error(leaf, Proto().add(1, "h").add(
                            7, nodeProto("Op", "n", {}, {}).add(5, attributeProto("a", 2).add(21, "k")))),
            "m.onnx: function 'h': node 'n' (Op): attribute 'a': refers to 'k', which is not an attribute of "
            "the function");
}

TEST(OnnxReader, ProblemsAreCollected) {
  Proto graph;
  for (int i = 0; i < 3; ++i)
    graph.add(1, nodeProto("Relu", "n" + std::to_string(i), {"w"}, {}));
  std::vector<std::string> problems;
  ReadOptions options;
  options.problems = &problems;
  EXPECT_CONTAINS(errorOf(modelProto(graph), "", options),
                  "m.onnx: 3 problems:\n  node 'n0' (Relu): uses 'w'");
  EXPECT_EQ(problems.size(), 3u);
  for (int i = 3; i < 30; ++i)
    graph.add(1, nodeProto("Relu", "", {"w"}, {}));
  std::string text = errorOf(modelProto(graph), "", options);
  EXPECT_CONTAINS(text, "m.onnx: 30 problems:\n");
  EXPECT_CONTAINS(text, "\n  and 10 more");
  EXPECT_EQ(problems.size(), 20u);
  // The reason to stop is shown also when the list is full.
  for (int i = 0; i < 25; ++i)
    graph.add(5, tensorProto("w", 1, {1}));
  EXPECT_CONTAINS(graphError(graph.add(5, Proto{"\x0b"})), "has a group");
}

TEST(OnnxReader, NamesArePrintable) {
  EXPECT_EQ(printable(std::string_view("a\n\x7f\0b", 5)), "a\\x0a\\x7f\\x00b");
  EXPECT_EQ(printable(std::string(500, 'x')), std::string(120, 'x') + "...");
  EXPECT_CONTAINS(graphError(Proto().add(1, nodeProto("Re\nlu", "a\tb", {"w"}, {}))),
                  "node 'a\\x09b' (Re\\x0alu): uses");
}
