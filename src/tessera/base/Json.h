// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON with strings of any bytes. File names, names of ONNX nodes and symbols of MLIR need not be UTF-8,
// which JSON requires. Bytes that are no UTF-8 are written as characters without other use, and read back
// unchanged. All that writes or reads JSON does it through these functions.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera {

/// `bytes` as UTF-8: a byte b that is not part of valid UTF-8 becomes the character U+10FF00 + b. So do the
/// bytes of those characters themselves, and nothing is lost.
std::string toUtf8(std::string_view bytes);
/// What toUtf8 made `text` of.
std::string fromUtf8(std::string_view text);

namespace detail {
// Applies `change` to all strings, also those that name fields. Not by recursion: the text may be hostile.
template <typename J> void changeStrings(J &json, std::string (*change)(std::string_view)) {
  std::vector<J *> left = {&json};
  while (!left.empty()) {
    J &value = *left.back();
    left.pop_back();
    if (value.is_string())
      value = change(value.template get_ref<const std::string &>());
    if (value.is_object()) {
      J renamed = J::object();
      for (auto &[key, item] : value.items())
        renamed[change(key)] = std::move(item);
      value = std::move(renamed);
    }
    if (value.is_structured())
      for (J &item : value)
        left.push_back(&item);
  }
}
} // namespace detail

/// `json` as text, in lines when `indent` is not negative.
template <typename J> std::string dumpJson(J json, int indent = -1) {
  detail::changeStrings(json, toUtf8);
  return json.dump(indent);
}

/// The value of `text`; is_discarded() when it is not JSON.
template <typename J = nlohmann::json> J parseJson(std::string_view text) {
  J json = J::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  detail::changeStrings(json, fromUtf8);
  return json;
}

/// A string of JSON, with quotes.
std::string quoteJson(std::string_view text);

} // namespace tessera
