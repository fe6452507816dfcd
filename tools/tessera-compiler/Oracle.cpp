// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Oracle.h.
#include "Oracle.h"
#include "Commands.h"

#include "tessera/base/Diag.h"
#include "tessera/base/Npy.h"
#include "tessera/driver/Compiler.h"
#include "tessera/ir/dfg/DfgPorts.h"
#include "tessera/oracle/Oracle.h"

#include "llvm/ADT/StringExtras.h"

using namespace tessera;
using namespace tessera::cli;

// A number on the command line as a scalar of this type.
static bool parseScalar(const std::string &text, Type type, oracle::Array &out) {
  char *end = nullptr;
  APInt bits;
  if (auto f = dyn_cast<FloatType>(type)) {
    double v = std::strtod(text.c_str(), &end);
    if (end == text.c_str() || *end)
      return false;
    APFloat value(v);
    bool lost = false;
    value.convert(f.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
    bits = value.bitcastToAPInt();
  } else {
    long long v = std::strtoll(text.c_str(), &end, 0);
    if (end == text.c_str() || *end)
      return false;
    bits = APInt(64, static_cast<uint64_t>(v));
  }
  out.shape.clear();
  out.bytes.assign(reinterpret_cast<const char *>(bits.getRawData()),
                   reinterpret_cast<const char *>(bits.getRawData()) + oracle::elementBytes(type));
  return true;
}

static Result<oracle::Array> readInput(const std::string &name, const std::string &text, Type type) {
  oracle::Array array;
  array.elementType = getElementTypeOrSelf(type);
  if (!isa<ShapedType>(type) && parseScalar(text, type, array))
    return array;
  auto file = readNpy(text);
  if (!file.ok())
    return file.status().withContext("input '" + name + "'");
  std::string wanted;
  llvm::raw_string_ostream(wanted) << array.elementType;
  std::optional<ElementType> element = parseElementType(wanted);
  auto shaped = dyn_cast<ShapedType>(type);
  ArrayRef<int64_t> extents = shaped ? shaped.getShape() : ArrayRef<int64_t>();
  bool fits = element && npyHolds(file->type, *element) && file->shape.size() == extents.size();
  for (size_t d = 0; fits && d < extents.size(); ++d)
    fits = ShapedType::isDynamic(extents[d]) || extents[d] == file->shape[d];
  if (!fits) {
    std::vector<int64_t> shape;
    for (int64_t e : extents)
      shape.push_back(ShapedType::isDynamic(e) ? -1 : e);
    return Status::error(StatusCode::InvalidArgument, "input '" + name + "': expected " + wanted +
                                                          " of shape " + formatShape(shape) + ", but '" +
                                                          text + "' holds " + file->describe());
  }
  array.shape = file->shape;
  array.bytes.assign(reinterpret_cast<const char *>(file->data.data()),
                     reinterpret_cast<const char *>(file->data.data()) + file->data.size());
  return array;
}

int cli::runOracle(const std::string &path, const std::string &program,
                   const std::vector<std::string> &inputs, const std::vector<std::string> &outputs) {
  Session session;
  Portable portable;
  if (StringRef(path).ends_with(".tsr")) {
    TimeLimit limited(TimeLimit::Reading);
    Result<Portable> read = readPortable(session, path);
    if (!read.ok())
      return fail(read.status().message());
    portable = read.take();
  } else {
    CompileOptions options;
    options.stopAfter = Stage::Import;
    TimeLimit limited(TimeLimit::Reading);
    FailureOr<Portable> compiled = compileFile(session, path, options);
    if (failed(compiled))
      return fail("'" + path + "' was not compiled");
    portable = std::move(*compiled);
  }
  dfg::GraphOp graph;
  std::vector<std::string> names;
  for (auto g : portable.module->getOps<dfg::GraphOp>()) {
    if (g.getSymVisibility() == "private")
      continue;
    names.push_back(g.getSymName().str());
    if (program.empty() ? !graph : g.getSymName() == program)
      graph = g;
  }
  if (!graph)
    return fail(unknownName("program", program, "programs in the file", names));
  std::map<std::string, std::string> given, wanted;
  auto split = [](const std::vector<std::string> &list, std::map<std::string, std::string> &out) {
    for (const std::string &item : list) {
      size_t equal = item.find('=');
      if (equal == std::string::npos)
        return fail("expected name=file, but got '" + item + "'");
      out[item.substr(0, equal)] = item.substr(equal + 1);
    }
    return 0;
  };
  if (split(inputs, given) || split(outputs, wanted))
    return 1;
  std::vector<oracle::Array> arrays;
  std::vector<std::string> missing;
  for (auto [name, type] : llvm::zip(graph.getArgNames(), graph.getArgumentTypes())) {
    std::string key = cast<StringAttr>(name).str();
    auto it = given.find(key);
    if (it == given.end()) {
      missing.push_back(key);
      continue;
    }
    Result<oracle::Array> array = readInput(key, it->second, type);
    if (!array.ok())
      return fail(array.status().message());
    arrays.push_back(array.take());
    given.erase(it);
  }
  if (!missing.empty())
    return fail("missing input: " + joinNames(missing) + "; give each with --input name=file.npy");
  if (!given.empty()) {
    std::vector<std::string> known;
    for (Attribute name : graph.getArgNames())
      known.push_back(cast<StringAttr>(name).str());
    return fail(unknownName("input", given.begin()->first, "inputs", known));
  }
  auto results = oracle::runGraph(graph, arrays);
  if (failed(results))
    return fail("the oracle stopped");
  for (auto [name, array] : llvm::zip(graph.getResultNames(), *results)) {
    std::string key = cast<StringAttr>(name).str();
    std::string text;
    llvm::raw_string_ostream(text) << array.elementType;
    std::optional<ElementType> element = parseElementType(text);
    std::printf("%s: %s of shape %s\n", key.c_str(), text.c_str(), formatShape(array.shape).c_str());
    auto it = wanted.find(key);
    if (it == wanted.end())
      continue;
    if (!element)
      return fail("output '" + key + "': type " + text + " cannot be written as .npy");
    std::vector<std::string> words = dfg::wordsOf(graph, key);
    std::span places(reinterpret_cast<const int64_t *>(array.bytes.data()),
                     words.empty() ? 0 : array.bytes.size() / sizeof(int64_t));
    Status s = !words.empty() ? writeNpyWords(it->second, array.shape, places, words)
                              : writeNpy(it->second, npyTypeFor(*element, dfg::isUnsigned(graph, key)),
                                         array.shape, std::as_bytes(std::span(array.bytes)));
    if (!s.ok())
      return fail(s.message());
    wanted.erase(it);
  }
  if (!wanted.empty()) {
    std::vector<std::string> known;
    for (Attribute name : graph.getResultNames())
      known.push_back(cast<StringAttr>(name).str());
    return fail(unknownName("output", wanted.begin()->first, "outputs", known));
  }
  return 0;
}
