// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Json.h.
#include "tessera/base/Json.h"

#include <cstdint>

namespace tessera {

// How many bytes the UTF-8 character at the start of `text` has; 0 when there is none.
static size_t characterLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(i < text.size() ? text[i] : 0); };
  const uint8_t first = byte(0);
  if (first < 0x80)
    return 1;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4)
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80)
      return 0;
  // Too long for what they say, surrogates, and beyond U+10FFFF.
  const bool bad = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f) ||
                   (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f);
  return bad ? 0 : length;
}

// U+10FF80 to U+10FFFF.
static bool standsForByte(std::string_view character) {
  return character.size() == 4 && character.starts_with("\xf4\x8f") && (character[2] & 0xfe) == 0xbe;
}

std::string toUtf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const size_t length = characterLength(bytes);
    if (length && !standsForByte(bytes.substr(0, length))) {
      out += bytes.substr(0, length);
      bytes.remove_prefix(length);
      continue;
    }
    const uint8_t byte = static_cast<uint8_t>(bytes.front());
    out += "\xf4\x8f";
    out += static_cast<char>(0xbe | (byte >> 6 & 1));
    out += static_cast<char>(0x80 | (byte & 0x3f));
    bytes.remove_prefix(1);
  }
  return out;
}

std::string fromUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    if (!standsForByte(text.substr(at, 4))) {
      out += text[at++];
      continue;
    }
    out += static_cast<char>(0x80 | (text[at + 2] & 1) << 6 | (text[at + 3] & 0x3f));
    at += 4;
  }
  return out;
}

std::string quoteJson(std::string_view text) { return nlohmann::json(toUtf8(text)).dump(); }

} // namespace tessera
