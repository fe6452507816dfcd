// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Knob.h.
#include "tessera/base/Knob.h"

#include "tessera/base/Diag.h"

#include <array>
#include <charconv>
#include <vector>

using namespace tessera;
using Precision = Knob::Precision;
using Structure = Knob::Structure;

namespace {

constexpr std::array<std::string_view, 7> precisionNames = {"f32",  "f16",  "bf16",    "int8",
                                                            "int7", "int4", "f16-math"};

/// What follows a structure's name.
enum class Form { Nothing, Ratio, Kept, Number, Share };

struct Word {
  std::string_view name, example;
  Structure structure;
  Form form;
  int64_t least = 0, most = 0; ///< of the rate or the number
};

constexpr std::array<Word, 17> words = {{
    {"perforate-rows", "perforate-rows:1/2@0", Structure::PerforateRows, Form::Ratio, 2, 16},
    {"perforate-cols", "perforate-cols:1/3@2", Structure::PerforateCols, Form::Ratio, 2, 16},
    {"perforate-both", "perforate-both:1/2@0", Structure::PerforateBoth, Form::Ratio, 2, 16},
    {"cubic-rows", "cubic-rows:3/4@0", Structure::CubicRows, Form::Ratio, 2, 16},
    {"sample-filter", "sample-filter:1/4@1", Structure::SampleFilter, Form::Ratio, 2, 16},
    {"sample", "sample:1/2@0", Structure::Sample, Form::Ratio, 2, 16},
    {"low-rank", "low-rank:16", Structure::LowRank, Form::Number, 1, 1 << 20},
    {"prune", "prune:2/4", Structure::Prune, Form::Kept, 2, 16},
    {"prune-blocks", "prune-blocks:0.5", Structure::PruneBlocks, Form::Share, 0, 0},
    {"direct", "direct", Structure::Direct, Form::Nothing, 0, 0},
    {"winograd", "winograd:4", Structure::Winograd, Form::Number, 2, 4},
    {"split", "split", Structure::Split, Form::Nothing, 0, 0},
    {"promise", "promise:3", Structure::Promise, Form::Number, 1, 7},
    {"reuse", "reuse:1/2@1", Structure::Reuse, Form::Ratio, 2, 16},
    {"version", "version:1", Structure::Version, Form::Number, 1, 64},
    {"stale", "stale:1", Structure::Stale, Form::Number, 1, 8},
    {"bit-errors", "bit-errors:1e-06", Structure::BitErrors, Form::Share, 0, 0},
}};

} // namespace

template <typename T> static bool parseWhole(std::string_view text, T &value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

// "A/B" into two numbers.
static bool parseRatio(std::string_view text, int64_t &a, int64_t &b) {
  size_t slash = text.find('/');
  return slash != std::string_view::npos && parseWhole(text.substr(0, slash), a) &&
         parseWhole(text.substr(slash + 1), b);
}

static bool parseParameters(const Word &word, std::string_view text, Knob &knob) {
  auto within = [&](int64_t v) { return v >= word.least && v <= word.most; };
  switch (word.form) {
  case Form::Nothing:
    return text.empty();
  case Form::Ratio: {
    size_t at = text.find('@');
    if (at == std::string_view::npos || !parseRatio(text.substr(0, at), knob.skip, knob.rate) ||
        !parseWhole(text.substr(at + 1), knob.offset) || !within(knob.rate))
      return false;
    const bool isReuse = word.structure == Structure::Reuse,
               several = isReuse || word.structure == Structure::PerforateRows ||
                         word.structure == Structure::CubicRows;
    // The first activation has nothing to reuse.
    const int64_t first = isReuse ? 1 : 0, last = isReuse ? knob.rate - knob.skip : knob.rate - 1;
    return knob.skip >= 1 && knob.skip < knob.rate && (knob.skip == 1 || several) && knob.offset >= first &&
           knob.offset <= last;
  }
  case Form::Kept:
    return parseRatio(text, knob.value, knob.rate) && within(knob.rate) && knob.value >= 1 &&
           knob.value < knob.rate;
  case Form::Number:
    return parseWhole(text, knob.value) && within(knob.value) &&
           (word.structure != Structure::Winograd || knob.value != 3);
  case Form::Share:
    return parseWhole(text, knob.share) && knob.share > 0 && knob.share < 1;
  }
  return false;
}

// One part into what `knob` has not got yet.
static Status parsePart(std::string_view part, Knob &knob, bool &hasPrecision) {
  for (size_t i = 0; i < precisionNames.size(); ++i)
    if (part == precisionNames[i]) {
      if (hasPrecision)
        return fail(StatusCode::InvalidArgument, "a knob has at most one precision, but got '", part,
                    "' as well");
      hasPrecision = true;
      knob.precision = static_cast<Precision>(i);
      return Status::success();
    }
  size_t colon = part.find(':');
  std::string_view name = part.substr(0, colon);
  std::string_view parameters = colon == std::string_view::npos ? std::string_view() : part.substr(colon + 1);
  for (const Word &word : words) {
    if (name != word.name)
      continue;
    if (knob.structure != Structure::None)
      return fail(StatusCode::InvalidArgument, "a knob has at most one structure, but got '", part,
                  "' as well");
    if ((colon != std::string_view::npos) == (word.form == Form::Nothing) ||
        !parseParameters(word, parameters, knob))
      return fail(StatusCode::InvalidArgument, "the knob '", part,
                  "' is malformed; expected something like '", word.example, "'");
    knob.structure = word.structure;
    return Status::success();
  }
  std::vector<std::string> names(precisionNames.begin(), precisionNames.end());
  for (const Word &word : words)
    names.emplace_back(word.name);
  return Status::error(StatusCode::InvalidArgument, unknownName("knob", name, "knobs", names));
}

Result<Knob> Knob::parse(std::string_view text) {
  Knob knob;
  bool hasPrecision = false;
  for (size_t from = 0; from <= text.size();) {
    size_t plus = std::min(text.find('+', from), text.size());
    TESSERA_TRY(parsePart(text.substr(from, plus - from), knob, hasPrecision));
    from = plus + 1;
  }
  // f32 is what is meant without a precision; one knob has one spelling.
  if (hasPrecision && knob.precision == Precision::F32 && knob.structure != Structure::None)
    return fail(StatusCode::InvalidArgument, "'f32' stands alone, but got '", text, "'; leave it out");
  return knob;
}

std::string Knob::str() const {
  std::string text;
  if (precision != Precision::F32 || structure == Structure::None)
    text = precisionNames[static_cast<size_t>(precision)];
  for (const Word &word : words) {
    if (word.structure != structure)
      continue;
    if (!text.empty())
      text += '+';
    text += word.name;
    switch (word.form) {
    case Form::Nothing:
      break;
    case Form::Ratio:
      text += concat(':', skip, '/', rate, '@', offset);
      break;
    case Form::Kept:
      text += concat(':', value, '/', rate);
      break;
    case Form::Number:
      text += concat(':', value);
      break;
    case Form::Share: {
      char digits[32];
      auto [end, error] = std::to_chars(digits, digits + sizeof(digits), share);
      text += concat(':', std::string_view(digits, end - digits));
      break;
    }
    }
  }
  return text;
}

Result<KnobMap> tessera::parseKnobMap(std::string_view text) {
  KnobMap map;
  for (size_t from = 0; from <= text.size();) {
    size_t comma = std::min(text.find(',', from), text.size());
    std::string_view item = text.substr(from, comma - from);
    // Names may hold '='; knobs do not.
    size_t equal = item.rfind('=');
    if (equal == std::string_view::npos || equal == 0)
      return fail(StatusCode::InvalidArgument, "expected operation=knob, but got '", item,
                  "'; for example all=int8");
    Result<Knob> knob = Knob::parse(item.substr(equal + 1));
    if (!knob.ok())
      return knob.status();
    if (!map.emplace(item.substr(0, equal), knob->str()).second)
      return fail(StatusCode::InvalidArgument, "the operation '", item.substr(0, equal), "' has two knobs");
    from = comma + 1;
  }
  return map;
}
