// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reader's entry points: map, parse, verify, report.
#include "tessera/frontends/onnx/reader/Reader.h"
#include "tessera/frontends/onnx/reader/Parser.h"

#include <filesystem>

namespace tessera::onnx {

// Runs `parse` with a parser over `bytes`; the answer is `value` or all problems.
template <typename T, typename Parse>
static Result<T> parseAs(Bytes bytes, const std::string &name, const std::string &folder,
                         const ReadOptions &options, Parse parse) {
  T value;
  Problems problems(options);
  Parser parser(bytes, folder, options, problems);
  parse(parser, value, problems);
  if (options.problems)
    *options.problems = problems.all();
  if (!problems.empty())
    return problems.status(name);
  return Result<T>(std::move(value));
}

// Maps `path`, then `parse(bytes, folder)`; the value keeps the mapping.
template <typename T, typename Parse> static Result<T> readAs(const std::string &path, Parse parse) {
  TESSERA_ASSIGN(std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  std::string folder = std::filesystem::path(path).parent_path().string();
  Result<T> value = parse(file->bytes(), folder.empty() ? "." : folder);
  if (value.ok() && !value->owner)
    value->owner = file;
  return value;
}

Result<Model> parseModel(Bytes bytes, const std::string &name, const std::string &folder,
                         const ReadOptions &options) {
  return parseAs<Model>(bytes, name, folder, options, [&](Parser &parser, Model &model, Problems &problems) {
    parser.model(bytes, model);
    if (!problems.isFatal())
      verifyModel(model, problems);
  });
}

Result<Model> readModel(const std::string &path, const ReadOptions &options) {
  return readAs<Model>(
      path, [&](Bytes bytes, const std::string &folder) { return parseModel(bytes, path, folder, options); });
}

Result<Tensor> parseTensor(Bytes bytes, const std::string &name, const std::string &folder,
                           const ReadOptions &options) {
  return parseAs<Tensor>(bytes, name, folder, options,
                         [&](Parser &parser, Tensor &tensor, Problems &) { parser.tensor(bytes, tensor); });
}

Result<Tensor> readTensor(const std::string &path, const ReadOptions &options) {
  return readAs<Tensor>(path, [&](Bytes bytes, const std::string &folder) {
    return parseTensor(bytes, path, folder, options);
  });
}

Result<Value> parseSequence(Bytes bytes, const std::string &name, const std::string &folder,
                            const ReadOptions &options) {
  return parseAs<Value>(bytes, name, folder, options, [&](Parser &parser, Value &value, Problems &) {
    parser.sequence(bytes, value, false);
  });
}

Result<Value> readSequence(const std::string &path, const ReadOptions &options) {
  return readAs<Value>(path, [&](Bytes bytes, const std::string &folder) {
    return parseSequence(bytes, path, folder, options);
  });
}

Result<Value> parseOptional(Bytes bytes, const std::string &name, const std::string &folder,
                            const ReadOptions &options) {
  return parseAs<Value>(bytes, name, folder, options, [&](Parser &parser, Value &value, Problems &) {
    parser.sequence(bytes, value, true);
  });
}

Result<Value> readOptional(const std::string &path, const ReadOptions &options) {
  return readAs<Value>(path, [&](Bytes bytes, const std::string &folder) {
    return parseOptional(bytes, path, folder, options);
  });
}

} // namespace tessera::onnx
