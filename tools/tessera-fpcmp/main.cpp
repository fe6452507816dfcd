// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tessera-fpcmp A.npy B.npy [--rtol R] [--atol A]`: compares two arrays, bit for bit or within a bound, for
// tests and for anyone who wants to know how far two results are apart. Types and shapes must be equal. With
// a bound, elements a and b agree when |a - b| <= atol + rtol * |b|; a NaN agrees with a NaN, an infinity
// with itself only.
#include "tessera/base/Diag.h"
#include "tessera/base/Half.h"
#include "tessera/base/Npy.h"
#include "tessera/base/Output.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace tessera;

static const char usage[] = "usage: tessera-fpcmp A.npy B.npy [--rtol R] [--atol A] [--max-differ N]\n"
                            "Without a bound the arrays must be equal bit for bit.\n"
                            "--max-differ N  this many elements may differ\n"
                            "example: tessera-fpcmp out.npy expected.npy --rtol 1e-6\n";

static int failWith(const std::string &text) {
  std::fprintf(stderr, "error: %s\n", text.c_str());
  return 1;
}

template <typename T> static double as(const std::byte *p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return static_cast<double>(value);
}

static double element(const NpyArray &array, size_t i) {
  const std::byte *p = array.data.data() + i * npySize(array.type);
  switch (array.type) {
  case NpyType::B1:
  case NpyType::U1:
    return as<uint8_t>(p);
  case NpyType::I1:
    return as<int8_t>(p);
  case NpyType::I2:
    return as<int16_t>(p);
  case NpyType::U2:
    return as<uint16_t>(p);
  case NpyType::I4:
    return as<int32_t>(p);
  case NpyType::U4:
    return as<uint32_t>(p);
  case NpyType::I8:
    return as<int64_t>(p);
  case NpyType::U8:
    return as<uint64_t>(p);
  case NpyType::F2: {
    uint16_t bits;
    std::memcpy(&bits, p, sizeof bits);
    return halfToFloat(bits);
  }
  case NpyType::F4:
    return as<float>(p);
  case NpyType::F8:
    return as<double>(p);
  }
  return 0;
}

static std::string indices(const NpyArray &array, size_t flat) {
  std::string text;
  for (size_t d = array.shape.size(); d-- > 0;) {
    auto extent = static_cast<size_t>(array.shape[d]);
    text = std::to_string(flat % extent) + (text.empty() ? "" : ", ") + text;
    flat /= extent;
  }
  return "[" + text + "]";
}

int main(int argc, char **argv) {
  std::vector<std::string> files;
  double rtol = -1, atol = -1, allowed = 0;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word == "--help") {
      std::printf("%s", usage);
      Status printed = flushStandardOutput();
      return printed.ok() ? 0 : failWith(printed.message());
    }
    double *bound = word == "--rtol"         ? &rtol
                    : word == "--atol"       ? &atol
                    : word == "--max-differ" ? &allowed
                                             : nullptr;
    if (!bound) {
      files.push_back(word);
      continue;
    }
    char *end = nullptr;
    const char *text = i + 1 < argc ? argv[++i] : "";
    *bound = std::strtod(text, &end);
    if (end == text || *end || !(*bound >= 0))
      return failWith(word + ": expected a number, but got '" + text + "'");
  }
  if (files.size() != 2) {
    std::fprintf(stderr, "%s", usage);
    return 1;
  }
  auto a = readNpy(files[0]), b = readNpy(files[1]);
  if (!a.ok() || !b.ok())
    return failWith((a.ok() ? b : a).status().message());
  if (a->type != b->type || a->shape != b->shape)
    return failWith("'" + files[0] + "' is " + a->describe() + ", but '" + files[1] + "' is " +
                    b->describe());
  bool exact = rtol < 0 && atol < 0;
  size_t size = npySize(a->type), count = a->data.size() / size, different = 0, first = 0;
  double worst = 0;
  for (size_t i = 0; i < count; ++i) {
    if (std::memcmp(a->data.data() + i * size, b->data.data() + i * size, size) == 0)
      continue;
    double x = element(*a, i), y = element(*b, i), distance = std::fabs(x - y);
    if (!exact && ((std::isnan(x) && std::isnan(y)) ||
                   distance <= std::max(atol, 0.0) + std::max(rtol, 0.0) * std::fabs(y)))
      continue;
    if (different++ == 0)
      first = i;
    worst = std::max(worst, distance);
  }
  if (different == 0 || static_cast<double>(different) <= allowed)
    return 0;
  char text[512];
  std::snprintf(
      text, sizeof text,
      "%zu of %zu elements differ, the first at %s: %.9g, but expected %.9g; largest difference %.3g",
      different, count, indices(*a, first).c_str(), element(*a, first), element(*b, first), worst);
  return failWith(text);
}
