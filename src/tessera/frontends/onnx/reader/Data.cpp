// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tensor's elements: from raw bytes, from the typed fields or from a file beside the model to one dense
// form, without a copy wherever the file already has it.
#include "tessera/base/Diag.h"
#include "tessera/frontends/onnx/reader/Parser.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace tessera::onnx {

namespace {

/// The typed field of TensorProto that holds elements of a type.
struct TypedField {
  const char *name;
  std::vector<Bytes> RawTensor::*runs;
};

TypedField typedField(DataType type) {
  switch (type) {
  case DataType::F32:
  case DataType::Complex64:
    return {"float_data", &RawTensor::floats};
  case DataType::F64:
  case DataType::Complex128:
    return {"double_data", &RawTensor::doubles};
  case DataType::I64:
    return {"int64_data", &RawTensor::int64s};
  case DataType::U32:
  case DataType::U64:
    return {"uint64_data", &RawTensor::uint64s};
  default:
    return {"int32_data", &RawTensor::int32s};
  }
}

/// Bytes that live as long as the tensor does.
std::byte *allocate(Tensor &out, size_t size) {
  auto memory = std::make_shared<std::vector<std::byte>>(size);
  std::byte *data = memory->data();
  out.data = *memory;
  out.owner = std::move(memory);
  return data;
}

std::string shapeOf(DataType type, std::span<const int64_t> dims) {
  if (dims.empty())
    return concat("a scalar of ", dataTypeName(type));
  return concat("shape ", formatShape(dims), " of ", dataTypeName(type));
}

} // namespace

bool Parser::checkShape(const Tensor &tensor) {
  if (tensor.dims.size() > options.maxRank) {
    problem(concat("has ", tensor.dims.size(), " dimensions; at most ", options.maxRank, " are supported"));
    return false;
  }
  for (int64_t extent : tensor.dims)
    if (extent < 0) {
      problem(concat("has a dimension of ", extent));
      return false;
    }
  std::optional<int64_t> count = elementCount(tensor.dims);
  bool fits = count && (tensor.type == DataType::String || byteSize(tensor.type, *count));
  if (!fits)
    problem(concat(shapeOf(tensor.type, tensor.dims), " is too large"));
  return fits;
}

void Parser::finishTensor(RawTensor &raw, Tensor &out) {
  if (raw.dataType == 0)
    return problem("has no element type");
  out.type = dataType(raw.dataType);
  if (out.type == DataType::Undefined || !checkShape(out))
    return;
  if (raw.hasSegment)
    return problem("is stored in segments, which is not supported");
  if (raw.dataLocation != 0 && raw.dataLocation != 1)
    return problem(concat("unknown data location ", raw.dataLocation));

  TypedField own = typedField(out.type);
  const char *found = nullptr;
  auto source = [&](const char *name, bool present) {
    if (present && found)
      problem(concat("holds data in both '", found, "' and '", name, "'"));
    if (present && !found)
      found = name;
    return present;
  };
  size_t before = problems.count();
  source("external_data", raw.dataLocation == 1);
  source("raw_data", raw.raw && !raw.raw->empty());
  source("float_data", !raw.floats.empty());
  source("int32_data", !raw.int32s.empty());
  source("string_data", !raw.strings.empty());
  source("int64_data", !raw.int64s.empty());
  source("double_data", !raw.doubles.empty());
  source("uint64_data", !raw.uint64s.empty());
  if (problems.count() != before)
    return;

  int64_t count = out.count();
  if (out.type == DataType::String) {
    if (found && std::string_view(found) != "string_data")
      return problem(concat("strings in '", found, "', expected 'string_data'"));
    return readStrings(raw, count, out);
  }
  int64_t needed = *byteSize(out.type, count);
  if (raw.dataLocation == 1)
    readExternal(raw, needed, out);
  else if (!found || std::string_view(found) == "raw_data")
    out.data = raw.raw.value_or(Bytes());
  else if (std::string_view(found) != own.name)
    return problem(
        concat(dataTypeName(out.type), " values in '", found, "', expected '", own.name, "' or 'raw_data'"));
  else if (own.runs == &RawTensor::floats || own.runs == &RawTensor::doubles)
    readWords(raw.*own.runs, out);
  else
    readVarints(raw.*own.runs, own.name, out);
  if (problems.count() != before || problems.isFatal())
    return;
  if (out.data.size() != static_cast<size_t>(needed)) {
    problem(concat(shapeOf(out.type, out.dims), " needs ", needed, " bytes, but holds ", out.data.size()));
    out.data = {};
    return;
  }
  if (out.type == DataType::Bool)
    normalizeBools(out);
}

void Parser::readStrings(RawTensor &raw, int64_t count, Tensor &out) {
  if (raw.strings.size() != static_cast<size_t>(count))
    return problem(
        concat(shapeOf(out.type, out.dims), " needs ", count, " strings, but holds ", raw.strings.size()));
  out.strings = std::move(raw.strings);
}

void Parser::readWords(const std::vector<Bytes> &runs, Tensor &out) {
  if (runs.size() == 1) {
    out.data = runs.front();
    return;
  }
  size_t size = 0;
  for (Bytes run : runs)
    size += run.size();
  std::byte *at = allocate(out, size);
  for (Bytes run : runs)
    at = std::copy(run.begin(), run.end(), at);
}

// Varints hold the element's value, sign-extended, or its bits; two or four elements of a sub-byte type share
// one.
void Parser::readVarints(const std::vector<Bytes> &runs, const char *field, Tensor &out) {
  size_t count = 0;
  for (Bytes run : runs)
    count += static_cast<size_t>(
        std::count_if(run.begin(), run.end(), [](std::byte b) { return b < std::byte(128); }));
  size_t bits = std::max(8u, dataTypeBits(out.type));
  std::byte *at = allocate(out, count * bits / 8);
  const std::byte *end = at + out.data.size();
  bool word32 = std::string_view(field) == "int32_data";
  for (Bytes run : runs) {
    WireReader packed(run);
    for (uint64_t value; !packed.atEnd();) {
      if (!packed.varint(value))
        return problems.fatal(context, concat("broken file: '", field, "' has ", packed.error()));
      int64_t number =
          word32 ? static_cast<int32_t>(static_cast<uint32_t>(value)) : static_cast<int64_t>(value);
      if (bits < 64 && (number < -(int64_t(1) << (bits - 1)) || number >= int64_t(1) << bits)) {
        size_t index = (out.data.size() - static_cast<size_t>(end - at)) / (bits / 8);
        return problem(concat("value ", number, " at position ", index, " of '", field, "' does not fit ",
                              dataTypeName(out.type)));
      }
      std::memcpy(at, &number, bits / 8);
      at += bits / 8;
    }
  }
}

// Code that tests a bool's lowest bit and code that compares it with zero must agree.
void Parser::normalizeBools(Tensor &out) {
  if (std::all_of(out.data.begin(), out.data.end(), [](std::byte b) { return b <= std::byte(1); }))
    return;
  Bytes old = out.data;
  std::shared_ptr<const void> keep = out.owner;
  std::byte *at = allocate(out, old.size());
  std::transform(old.begin(), old.end(), at, [](std::byte b) { return std::byte(b != std::byte(0)); });
}

//===--- External data ---===//

Result<std::shared_ptr<const MappedFile>> ExternalFiles::open(const std::string &location) {
  namespace fs = std::filesystem;
  std::string shown = printable(location);
  if (folder.empty())
    return fail(StatusCode::InvalidArgument, "external data '", shown, "' has no folder to be looked for in");
  if (auto it = files.find(location); it != files.end())
    return it->second;
  fs::path relative(location);
  bool climbs = std::find(relative.begin(), relative.end(), "..") != relative.end();
  if (location.empty() || location.find('\0') != std::string::npos || relative.is_absolute() || climbs)
    return fail(StatusCode::InvalidArgument, "external data '", shown,
                "' must be a path below the model's folder, without '..'");
  std::error_code error;
  fs::path root = fs::canonical(folder, error);
  if (error)
    return fail(StatusCode::NotFound, "cannot open folder '", folder, "': ", error.message());
  fs::path target = fs::canonical(root / relative, error);
  if (error)
    return fail(StatusCode::NotFound, "cannot open external data '", shown, "': ", error.message());
  // Links were followed: what they lead to must still be below the folder.
  if (std::mismatch(root.begin(), root.end(), target.begin(), target.end()).first != root.end())
    return fail(StatusCode::InvalidArgument, "external data '", shown,
                "' is a link that leads outside the model's folder");
  // A pipe or device would be waited for.
  if (!fs::is_regular_file(target, error))
    return fail(StatusCode::InvalidArgument, "external data '", shown, "' is not a file");
  TESSERA_ASSIGN(std::shared_ptr<const MappedFile> file, MappedFile::open(target.string()));
  files.emplace(location, file);
  return file;
}

void Parser::readExternal(const RawTensor &raw, int64_t needed, Tensor &out) {
  uint64_t offset = 0, length = static_cast<uint64_t>(needed);
  for (const auto &[key, value] : raw.external) {
    if (key == "location")
      out.externalLocation = value;
    if (key != "offset" && key != "length")
      continue;
    uint64_t &number = key == "offset" ? offset : length;
    const char *last = value.data() + value.size();
    auto [end, error] = std::from_chars(value.data(), last, number);
    if (error != std::errc() || end != last)
      return problem(concat("external data has ", key, " '", printable(value), "', expected a number"));
  }
  if (length != static_cast<uint64_t>(needed))
    return problem(concat(shapeOf(out.type, out.dims), " needs ", needed,
                          " bytes, but its external data has length ", length));
  auto file = external.open(out.externalLocation);
  if (!file.ok())
    return problem(file.status().message());
  Bytes all = (*file)->bytes();
  if (offset > all.size() || length > all.size() - offset)
    return problem(concat("external data '", printable(out.externalLocation), "' has ", all.size(),
                          " bytes, expected ", length, " from byte ", offset));
  out.data = all.subspan(static_cast<size_t>(offset), static_cast<size_t>(length));
  out.owner = *file;
}

//===--- Sparse tensors ---===//

void Parser::finishSparse(SparseTensor &out) {
  Tensor shape;
  shape.type = out.values.type;
  shape.dims = out.dims;
  if (out.values.type == DataType::Undefined || out.indices.type == DataType::Undefined || !checkShape(shape))
    return;
  int64_t count = out.values.count(), rank = static_cast<int64_t>(out.dims.size());
  const std::vector<int64_t> &dims = out.indices.dims;
  bool linear = dims.size() == 1 && dims[0] == count;
  bool coordinates = dims.size() == 2 && dims[0] == count && dims[1] == rank;
  if (out.values.dims.size() != 1 || out.indices.type != DataType::I64 || (!linear && !coordinates))
    return problem(concat("sparse tensor of rank ", rank, " has values of shape ",
                          formatShape(out.values.dims), " and ", dataTypeName(out.indices.type),
                          " indices of shape ", formatShape(dims),
                          "; expected i64 indices of shape N or N x rank"));
  // A problem with the indices' data was reported; what is left of it says nothing.
  if (out.indices.data.size() != static_cast<size_t>(out.indices.count()) * 8)
    return;
  int64_t total = *elementCount(out.dims), previous = -1;
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = 0;
    bool inside = true;
    if (linear) {
      at = static_cast<int64_t>(elementBits(out.indices, i));
      inside = at >= 0 && at < total;
    } else {
      for (int64_t d = 0; d < rank && inside; ++d) {
        int64_t index = static_cast<int64_t>(elementBits(out.indices, i * rank + d));
        inside = index >= 0 && index < out.dims[static_cast<size_t>(d)];
        // Cannot overflow: it stays below the product of the extents so far, which fits.
        if (inside)
          at = at * out.dims[static_cast<size_t>(d)] + index;
      }
    }
    if (!inside)
      return problem(
          concat("sparse tensor of shape ", formatShape(out.dims), ": index ", i, " is out of range"));
    if (at <= previous)
      return problem(concat("sparse tensor: index ", i, " is not above the one before it"));
    previous = at;
  }
}

} // namespace tessera::onnx
