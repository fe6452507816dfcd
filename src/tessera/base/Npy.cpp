// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `.npy` reader and writer. The header is a Python dict literal; a small strict
// parser reads exactly what NumPy writes.
#include "tessera/base/Npy.h"
#include "tessera/base/Diag.h"
#include "tessera/base/File.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tessera {

static_assert(std::endian::native == std::endian::little, "the byte order conversion assumes little endian");

static constexpr struct {
  char kind;
  uint8_t size;
  std::string_view name;
} types[] = {{'b', 1, "bool"}, {'i', 1, "i8"},  {'u', 1, "u8"},  {'i', 2, "i16"},
             {'u', 2, "u16"},  {'i', 4, "i32"}, {'u', 4, "u32"}, {'i', 8, "i64"},
             {'u', 8, "u64"},  {'f', 2, "f16"}, {'f', 4, "f32"}, {'f', 8, "f64"}};

size_t npySize(NpyType type) { return types[static_cast<size_t>(type)].size; }
std::string_view npyTypeName(NpyType type) { return types[static_cast<size_t>(type)].name; }

bool npyHolds(NpyType type, ElementType element) {
  switch (element) {
  case ElementType::I1:
    return type == NpyType::B1;
  case ElementType::I8:
    return type == NpyType::I1 || type == NpyType::U1;
  case ElementType::I16:
    return type == NpyType::I2 || type == NpyType::U2;
  case ElementType::I32:
    return type == NpyType::I4 || type == NpyType::U4;
  case ElementType::I64:
  case ElementType::Index:
    return type == NpyType::I8 || type == NpyType::U8;
  case ElementType::F16:
    return type == NpyType::F2;
  case ElementType::BF16:
    return type == NpyType::U2;
  case ElementType::F32:
    return type == NpyType::F4;
  case ElementType::F64:
    return type == NpyType::F8;
  }
  return false;
}

NpyType npyTypeFor(ElementType element, bool isUnsigned) {
  switch (element) {
  case ElementType::I1:
    return NpyType::B1;
  case ElementType::I8:
    return isUnsigned ? NpyType::U1 : NpyType::I1;
  case ElementType::I16:
    return isUnsigned ? NpyType::U2 : NpyType::I2;
  case ElementType::I32:
    return isUnsigned ? NpyType::U4 : NpyType::I4;
  case ElementType::I64:
  case ElementType::Index:
    return isUnsigned ? NpyType::U8 : NpyType::I8;
  case ElementType::F16:
    return NpyType::F2;
  case ElementType::BF16:
    return NpyType::U2;
  case ElementType::F32:
    return NpyType::F4;
  case ElementType::F64:
    return NpyType::F8;
  }
  return NpyType::U1;
}

std::string NpyArray::describe() const { return concat(npyTypeName(type), " of shape ", formatShape(shape)); }

int64_t NpyArray::elements() const { return static_cast<int64_t>(data.size() / npySize(type)); }

NpyArray NpyArray::allocate(NpyType type, std::vector<int64_t> shape, std::byte **storage) {
  size_t bytes = npySize(type);
  for (int64_t extent : shape)
    bytes *= static_cast<size_t>(extent);
  // Aligned to 64 like every buffer of the kernel ABI, so that it can be bound without a copy.
  size_t rounded = (bytes + 63) / 64 * 64;
  auto *memory = static_cast<std::byte *>(::operator new(rounded ? rounded : 64, std::align_val_t(64)));
  std::memset(memory, 0, bytes);
  std::shared_ptr<const void> owner(memory, [](void *p) { ::operator delete(p, std::align_val_t(64)); });
  *storage = memory;
  return {type, std::move(shape), {memory, bytes}, std::move(owner)};
}

namespace {
/// Strict reader of the header's dict literal.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : rest(text) {}

  bool parse() {
    if (!eat('{'))
      return false;
    while (!eat('}')) {
      std::string_view key;
      if (!string(key) || !eat(':'))
        return false;
      if (key == "descr"           ? !string(descr)
          : key == "fortran_order" ? !boolean()
          : key == "shape"         ? !tuple()
                                   : true)
        return false;
      if (!eat(',')) {
        if (!eat('}'))
          return false;
        break;
      }
    }
    skipSpace();
    return rest.empty() && !descr.empty() && haveShape && haveOrder;
  }

  std::string_view descr;
  bool fortran = false;
  std::vector<int64_t> shape;

private:
  void skipSpace() {
    while (!rest.empty() && (rest[0] == ' ' || rest[0] == '\n' || rest[0] == '\t'))
      rest.remove_prefix(1);
  }
  bool eat(char c) {
    skipSpace();
    if (rest.empty() || rest[0] != c)
      return false;
    rest.remove_prefix(1);
    return true;
  }
  bool string(std::string_view &out) {
    skipSpace();
    if (rest.empty() || (rest[0] != '\'' && rest[0] != '"'))
      return false;
    size_t end = rest.find(rest[0], 1);
    if (end == std::string_view::npos)
      return false;
    out = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
    return true;
  }
  bool boolean() {
    skipSpace();
    haveOrder = true;
    for (bool value : {true, false}) {
      std::string_view word = value ? "True" : "False";
      if (rest.substr(0, word.size()) == word) {
        rest.remove_prefix(word.size());
        fortran = value;
        return true;
      }
    }
    return false;
  }
  bool tuple() {
    haveShape = true;
    shape.clear();
    if (!eat('('))
      return false;
    while (!eat(')')) {
      skipSpace();
      int64_t value = 0;
      size_t digits = 0;
      for (; digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9'; ++digits)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, rest[digits] - '0', &value))
          return false;
      if (digits == 0 || shape.size() >= 32)
        return false;
      rest.remove_prefix(digits);
      if (!rest.empty() && rest[0] == 'L') // Python 2 wrote long integers so.
        rest.remove_prefix(1);
      shape.push_back(value);
      if (!eat(',')) {
        if (!eat(')'))
          return false;
        break;
      }
    }
    return true;
  }

  std::string_view rest;
  bool haveShape = false, haveOrder = false;
};
} // namespace

static std::optional<NpyType> parseDescr(std::string_view descr, bool &swapped) {
  if (descr.size() < 2)
    return std::nullopt;
  char order = descr[0];
  if (order == '<' || order == '>' || order == '|' || order == '=')
    descr.remove_prefix(1);
  else
    order = '=';
  if (descr == "?")
    descr = "b1";
  if (descr == "V2")
    descr = "u2";
  if (descr.size() != 2)
    return std::nullopt;
  for (size_t i = 0; i < std::size(types); ++i)
    if (types[i].kind == descr[0] && types[i].size == descr[1] - '0') {
      swapped = order == '>' && types[i].size > 1;
      return static_cast<NpyType>(i);
    }
  return std::nullopt;
}

// Copies a Fortran-ordered array into row-major order, one element at a time.
static void transposeFortran(const std::byte *from, std::byte *to, std::span<const int64_t> shape,
                             size_t size) {
  size_t rank = shape.size();
  std::vector<size_t> index(rank, 0), stride(rank);
  size_t total = 1;
  for (size_t d = 0; d < rank; ++d) {
    stride[d] = total;
    total *= static_cast<size_t>(shape[d]);
  }
  size_t source = 0;
  for (size_t i = 0; i < total; ++i) {
    std::memcpy(to + i * size, from + source * size, size);
    for (size_t d = rank; d-- > 0;) {
      source += stride[d];
      if (++index[d] < static_cast<size_t>(shape[d]))
        break;
      source -= stride[d] * index[d];
      index[d] = 0;
    }
  }
}

Result<NpyArray> parseNpy(std::span<const std::byte> bytes, std::string_view name,
                          std::shared_ptr<const void> keepAlive) {
  auto corrupt = [&](const auto &...parts) { return fail(StatusCode::Corrupt, "'", name, "': ", parts...); };
  if (bytes.size() < 10 || std::memcmp(bytes.data(), "\x93NUMPY", 6) != 0)
    return corrupt("not a .npy file (expected '\\x93NUMPY' at its start)");
  auto byteAt = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(bytes[i])); };
  size_t version = byteAt(6), headerLength = byteAt(8) | byteAt(9) << 8, start = 10;
  if (version < 1 || version > 3)
    return fail(StatusCode::Unsupported, "'", name, "': .npy version ", version,
                " is not supported; versions 1 to 3 are");
  if (version > 1) {
    if (bytes.size() < 12)
      return corrupt("header is truncated");
    headerLength |= byteAt(10) << 16 | byteAt(11) << 24;
    start = 12;
  }
  if (headerLength > bytes.size() - start || headerLength > (1 << 20))
    return corrupt("header is truncated");
  HeaderParser header({reinterpret_cast<const char *>(bytes.data()) + start, headerLength});
  if (!header.parse())
    return corrupt("malformed header; write the array again with numpy.save");
  bool swapped = false;
  auto type = parseDescr(header.descr, swapped);
  if (!type)
    return fail(StatusCode::Unsupported, "'", name, "': element type '", header.descr,
                "' is not supported; convert the array to a bool, integer or float type");
  // NpyType I1 … F8 have the sizes of these element types.
  int64_t size = static_cast<int64_t>(npySize(*type));
  auto count = checkedByteSize(ElementType::I8, header.shape);
  int64_t total = 0;
  if (!count || __builtin_mul_overflow(*count, size, &total))
    return corrupt("shape ", formatShape(header.shape), " is too large");
  std::span<const std::byte> data = bytes.subspan(start + headerLength);
  if (data.size() != static_cast<size_t>(total))
    return corrupt("expected ", total, " bytes of data for ", npyTypeName(*type), " of shape ",
                   formatShape(header.shape), ", but got ", data.size());
  bool reorder = header.fortran && std::count_if(header.shape.begin(), header.shape.end(),
                                                 [](int64_t e) { return e != 1; }) > 1;
  bool aligned = reinterpret_cast<uintptr_t>(data.data()) % 64 == 0;
  if (!reorder && !swapped && aligned)
    return NpyArray{*type, std::move(header.shape), data, std::move(keepAlive)};

  std::byte *storage = nullptr;
  NpyArray array = NpyArray::allocate(*type, std::move(header.shape), &storage);
  if (total == 0)
    return array;
  if (reorder)
    transposeFortran(data.data(), storage, array.shape, static_cast<size_t>(size));
  else
    std::memcpy(storage, data.data(), data.size());
  if (swapped)
    for (size_t i = 0; i < data.size(); i += static_cast<size_t>(size))
      std::reverse(storage + i, storage + i + size);
  return array;
}

Result<NpyArray> readNpy(const std::string &path) {
  auto file = MappedFile::open(path);
  if (!file.ok())
    return file.status();
  std::shared_ptr<const MappedFile> mapped = file.take();
  return parseNpy(mapped->bytes(), path, mapped);
}

// For elements that NumPy describes so.
static std::string headerOf(std::string_view descr, std::span<const int64_t> shape) {
  std::string dict = concat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (");
  for (size_t d = 0; d < shape.size(); ++d)
    dict += concat(shape[d], d + 1 == shape.size() && d > 0 ? "" : d + 1 == shape.size() ? "," : ", ");
  dict += "), }";
  size_t total = (10 + dict.size() + 1 + 63) / 64 * 64;
  dict.resize(total - 11, ' ');
  dict += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(dict.size() & 255);
  out += static_cast<char>(dict.size() >> 8);
  return out + dict;
}

std::string npyHeader(NpyType type, std::span<const int64_t> shape) {
  const auto &t = types[static_cast<size_t>(type)];
  return headerOf(concat(t.size == 1 ? '|' : '<', t.kind, static_cast<int>(t.size)), shape);
}

// Code points of well-formed UTF-8; what is not becomes U+FFFD.
static std::vector<uint32_t> codePoints(std::string_view text) {
  std::vector<uint32_t> points;
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t more = lead < 0x80 ? 0 : lead >> 5 == 6 ? 1 : lead >> 4 == 14 ? 2 : lead >> 3 == 30 ? 3 : 4;
    uint32_t point = more == 0 ? lead : lead & (0x3fU >> more);
    bool isWhole = more < 4 && i + more < text.size();
    for (size_t k = 1; isWhole && k <= more; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      isWhole = next >> 6 == 2;
      point = point << 6 | (next & 0x3f);
    }
    points.push_back(isWhole ? point : 0xfffd);
    i += isWhole ? more + 1 : 1;
  }
  return points;
}

Status writeNpyWords(const std::string &path, std::span<const int64_t> shape, std::span<const int64_t> places,
                     std::span<const std::string> words) {
  std::vector<std::vector<uint32_t>> table;
  size_t width = 1;
  for (const std::string &word : words) {
    table.push_back(codePoints(word));
    width = std::max(width, table.back().size());
  }
  std::vector<uint32_t> elements;
  for (int64_t place : places) {
    if (place < 0 || place >= static_cast<int64_t>(table.size()))
      return Status::error(StatusCode::Internal, "an element stands for string " + std::to_string(place) +
                                                     " of " + std::to_string(table.size()));
    std::vector<uint32_t> word = table[static_cast<size_t>(place)];
    word.resize(width);
    elements.insert(elements.end(), word.begin(), word.end());
  }
  auto file = AtomicFile::create(path);
  if (!file.ok())
    return file.status();
  const std::string header = headerOf("<U" + std::to_string(width), shape);
  TESSERA_TRY(file->write(std::as_bytes(std::span(header.data(), header.size()))));
  TESSERA_TRY(file->write(std::as_bytes(std::span(elements))));
  return file->commit();
}

Status writeNpy(const std::string &path, NpyType type, std::span<const int64_t> shape,
                std::span<const std::byte> data) {
  auto file = AtomicFile::create(path);
  if (!file.ok())
    return file.status();
  std::string header = npyHeader(type, shape);
  TESSERA_TRY(file->write(std::as_bytes(std::span(header.data(), header.size()))));
  TESSERA_TRY(file->write(data));
  return file->commit();
}

} // namespace tessera
