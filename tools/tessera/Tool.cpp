// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared parts of the subcommands: opening programs, reading inputs, the way to the
// compiler.
#include "Tool.h"
#include "tessera/base/Diag.h"
#include "tessera/base/File.h"
#include "tessera/base/Half.h"
#include "tessera/runtime/memory/Arrays.h"
#include "tessera/tune/curve/CurveFile.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <random>
#include <unistd.h>

namespace tessera::tool {

int finish(const Status &status) {
  if (status.ok())
    return 0;
  std::fprintf(stderr, "error: %s\n", status.message().c_str());
  return 1;
}

Result<std::pair<std::string, std::string>> splitPair(const std::string &text, const char *option) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return fail(StatusCode::InvalidArgument, option, ": expected name=file, but got '", text, "'");
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

std::vector<std::string> splitList(const std::string &text) {
  std::vector<std::string> words;
  std::string word;
  for (char c : text + ",")
    if (c != ',')
      word += c;
    else if (!word.empty())
      words.push_back(std::exchange(word, ""));
  return words;
}

void OpenOptions::add(CLI::App &app) {
  app.add_option("file", file, "installed program (.tsx)")->required();
  app.add_option("--program", program, "which program of the file, when it holds several");
  app.add_option("--configuration", configuration,
                 "which configuration of a tuned program: 'baseline' is exact; default: the one that was "
                 "chosen when it was installed");
  app.add_option("--threads", threads, "number of threads (default: one for each processor)")
      ->check(CLI::Range(1, 256));
  app.add_option("--policy", policy, "how devices are chosen: static, eft (earliest finish) or energy");
  app.add_option("--device", devices, "devices to use, separated by commas (see 'tessera targets')");
}

Result<std::shared_ptr<Program>> OpenOptions::open(bool profile) const {
  ProgramOptions options;
  options.threads = threads;
  options.profile = profile;
  options.devices = splitList(devices);
  TESSERA_ASSIGN(options.policy, parsePolicy(policy));
  TESSERA_ASSIGN(std::shared_ptr<const Module> module, Module::load(file));
  if (configuration.empty())
    return Program::open(module, program, options);
  TESSERA_ASSIGN(std::optional<tune::Curve> curve, tune::readCurve(module->file()));
  if (!curve)
    return fail(StatusCode::InvalidArgument, "--configuration: '", file,
                "' has none; tune the program and install it with --loss");
  std::vector<std::string> names;
  for (const tune::Configuration &c : curve->configurations)
    if (c.shipped)
      names.push_back(c.name);
  if (std::find(names.begin(), names.end(), configuration) == names.end())
    return Status::error(StatusCode::NotFound,
                         unknownName("configuration", configuration, "configurations", names));
  return Program::open(module, curve->programName(*curve->find(configuration)), options);
}

void Inputs::add(CLI::App &app, bool random) {
  app.add_option(
      "--input", files,
      "name=file.npy, name=number for a scalar, or a .npz file whose arrays have the inputs' names");
  if (random) {
    app.add_option("--dim", dims, "extent of a random input: name:0=512");
    app.add_option("--seed", seed, "seed of random inputs");
  }
}

std::vector<std::string> fileNames(std::span<const std::string> texts, std::vector<std::string> more) {
  for (const std::string &text : texts)
    more.push_back(text.substr(text.find('=') + 1));
  return more;
}

// A number on the command line as an array of rank 0. Without a value: `text` is not a number, so it is the
// name of a file.
static Result<std::optional<NpyArray>> parseScalar(const std::string &text, ElementType type) {
  const std::string_view name = elementTypeName(type);
  const char *end = text.data() + text.size();
  auto read = [&](auto &value) {
    auto [stop, error] = std::from_chars(text.data(), end, value);
    return stop == end ? error : std::errc::invalid_argument;
  };
  auto misfit = [&] { return fail(StatusCode::InvalidArgument, text, " does not fit ", name); };
  const bool isReal = type == ElementType::F16 || type == ElementType::BF16 || type == ElementType::F32 ||
                      type == ElementType::F64;
  double real = 0;
  uint64_t bits = 0;
  if (type == ElementType::I1 && (text == "true" || text == "false")) {
    bits = text == "true";
  } else if (std::errc error = read(real); error == std::errc::invalid_argument) {
    return std::optional<NpyArray>();
  } else if (isReal) {
    float single = static_cast<float>(real);
    uint16_t half = type == ElementType::BF16 ? floatToBfloat(single) : floatToHalf(single);
    double kept = type == ElementType::F64   ? real
                  : type == ElementType::F32 ? static_cast<double>(single)
                  : type == ElementType::F16 ? static_cast<double>(halfToFloat(half))
                                             : static_cast<double>(bfloatToFloat(half));
    // Too small becomes zero, as everywhere; too large is a mistake.
    if ((error == std::errc::result_out_of_range && text.find("e-") == std::string::npos) ||
        (std::isinf(kept) && !std::isinf(real)))
      return misfit();
    if (type == ElementType::F64)
      std::memcpy(&bits, &real, sizeof real);
    else if (type == ElementType::F32)
      std::memcpy(&bits, &single, sizeof single);
    else
      bits = half;
  } else {
    // Integers are signless: both readings of the bits are accepted.
    int64_t integer = 0;
    std::errc whole = read(integer);
    bits = static_cast<uint64_t>(integer);
    if (whole == std::errc::result_out_of_range && text[0] != '-')
      whole = read(bits);
    else if (whole == std::errc())
      if (unsigned width = type == ElementType::I1 ? 1 : static_cast<unsigned>(8 * elementSize(type));
          width < 64)
        if (integer < (width == 1 ? 0 : -(int64_t(1) << (width - 1))) || integer >= int64_t(1) << width)
          return misfit();
    if (whole == std::errc::invalid_argument)
      return fail(StatusCode::InvalidArgument, "expected an integer for ", name, ", but got ", text);
    if (whole != std::errc() || (elementSize(type) < 8 && bits >> 63 && integer >= 0))
      return misfit();
  }
  std::byte *storage;
  NpyArray array = NpyArray::allocate(npyTypeFor(type), {}, &storage);
  std::memcpy(storage, &bits, elementSize(type));
  return std::optional<NpyArray>(std::move(array));
}

static void fillRandom(Buffer &buffer, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::byte *memory = *buffer.hostWrite();
  size_t count = buffer.bytes() / elementSize(buffer.type());
  for (size_t i = 0; i < count; ++i) {
    uint64_t bits = random();
    float real = static_cast<float>(bits >> 40) * 0x1p-23f - 1.0f; // [-1, 1)
    switch (buffer.type()) {
    case ElementType::F32:
      std::memcpy(memory + 4 * i, &real, 4);
      break;
    case ElementType::F64: {
      double wide = real;
      std::memcpy(memory + 8 * i, &wide, 8);
      break;
    }
    case ElementType::F16:
    case ElementType::BF16: {
      uint16_t half = buffer.type() == ElementType::F16 ? floatToHalf(real) : floatToBfloat(real);
      std::memcpy(memory + 2 * i, &half, 2);
      break;
    }
    default: {
      uint64_t small = buffer.type() == ElementType::I1 ? bits & 1 : bits % 128;
      std::memcpy(memory + elementSize(buffer.type()) * i, &small, elementSize(buffer.type()));
    }
    }
  }
}

static Status randomShape(const ProgramPlan &plan, size_t i, const std::vector<std::string> &dims,
                          std::vector<int64_t> &shape) {
  const std::string &name = plan.inputs[i].name;
  for (const std::string &text : dims) {
    size_t colon = text.rfind(':'), equals = text.find('=', colon == std::string::npos ? 0 : colon);
    size_t axis = 0;
    int64_t extent = 0;
    if (colon == std::string::npos || equals == std::string::npos ||
        std::from_chars(text.data() + colon + 1, text.data() + equals, axis).ptr != text.data() + equals ||
        std::from_chars(text.data() + equals + 1, text.data() + text.size(), extent).ptr !=
            text.data() + text.size() ||
        extent < 0)
      return fail(StatusCode::InvalidArgument, "--dim: expected name:axis=extent, but got '", text, "'");
    if (text.substr(0, colon) != name)
      continue;
    if (axis >= shape.size())
      return fail(StatusCode::InvalidArgument, "--dim: input '", name, "' has rank ", shape.size(),
                  ", but got axis ", axis);
    shape[axis] = extent;
  }
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] < 0)
      return fail(StatusCode::InvalidArgument, "input '", name, "': extent ", d,
                  " is not fixed by the program; give --dim ", name, ":", d, "=N or --input ", name,
                  "=file.npy");
  return Status();
}

Result<std::vector<BufferRef>> Inputs::load(const ProgramPlan &plan, bool random) {
  std::vector<BufferRef> buffers(plan.inputs.size());
  std::vector<std::string> names;
  for (const Port &port : plan.inputs)
    names.push_back(port.name);
  auto bind = [&](const std::string &name, NpyArray array, const std::string &file) -> Status {
    int32_t index = plan.findInput(name);
    if (index < 0)
      return Status::error(StatusCode::NotFound, unknownName("input", name, "inputs", names));
    if (buffers[static_cast<size_t>(index)])
      return fail(StatusCode::InvalidArgument, "input '", name, "' is given twice");
    TESSERA_ASSIGN(buffers[static_cast<size_t>(index)],
                   bindArray(plan, static_cast<size_t>(index), array, file));
    keep.push_back(std::move(array));
    return Status();
  };
  for (const std::string &text : files) {
    if (text.ends_with(".npz") && text.find('=') == std::string::npos) {
      auto entries = readNpz(text);
      if (!entries.ok())
        return entries.status();
      for (auto &[name, array] : *entries)
        TESSERA_TRY(bind(name, array, text));
      continue;
    }
    TESSERA_ASSIGN(auto pair, splitPair(text, "--input"));
    if (int32_t index = plan.findInput(pair.first); index >= 0) {
      const ValueInfo &value =
          plan.values[static_cast<size_t>(plan.inputs[static_cast<size_t>(index)].value)];
      if (value.shape.empty()) {
        auto scalar = parseScalar(pair.second, value.type);
        if (!scalar.ok())
          return scalar.status().withContext(concat("input '", pair.first, "'"));
        if (*scalar) {
          TESSERA_TRY(bind(pair.first, **scalar, pair.second));
          continue;
        }
      }
    }
    auto array = readNpy(pair.second);
    if (!array.ok())
      return array.status().withContext(concat("input '", pair.first, "'"));
    TESSERA_TRY(bind(pair.first, array.take(), pair.second));
  }
  std::vector<std::string> missing;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i])
      continue;
    const ValueInfo &value = plan.values[static_cast<size_t>(plan.inputs[i].value)];
    if (!random) {
      missing.push_back(concat("'", names[i], "' (", declared(value), ")"));
      continue;
    }
    std::vector<int64_t> shape = value.shape;
    TESSERA_TRY(randomShape(plan, i, dims, shape));
    TESSERA_ASSIGN(buffers[i], Buffer::create(value.type, shape));
    auto memory = buffers[i]->hostWrite();
    if (!memory.ok())
      return memory.status();
    fillRandom(*buffers[i], seed + i);
  }
  if (!missing.empty())
    return fail(StatusCode::InvalidArgument, missing.size() == 1 ? "input " : "inputs ", joinNames(missing),
                missing.size() == 1 ? " is" : " are", " missing; give --input name=file.npy");
  return buffers;
}

std::string compilerPath() {
  char self[4096];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length <= 0)
    return "";
  std::string folder(self, static_cast<size_t>(length));
  folder.resize(folder.rfind('/'));
  for (const char *place : {"/tessera-compiler", "/../libexec/tessera/tessera-compiler"})
    if (access((folder + place).c_str(), X_OK) == 0)
      return folder + place;
  return "";
}

Status forwardToCompiler(int argc, char **argv) {
  std::string path = compilerPath();
  if (path.empty())
    return fail(StatusCode::NotFound, "'tessera ", argc > 1 ? argv[1] : "",
                "' needs the compiler, but tessera-compiler is not beside this program; build it with "
                "'make build', or copy installed programs (.tsx) here");
  execv(path.c_str(), argv);
  return fail(StatusCode::Io, "cannot start '", path, "': ", std::strerror(errno));
}

} // namespace tessera::tool
