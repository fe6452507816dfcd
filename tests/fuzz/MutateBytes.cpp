// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mutations that know nothing of the format: bits, bytes, pieces of another input, numbers.
#include "Fuzz.h"

#include <cstring>

void fuzzMutateBytes(std::string &text, const std::string &other, std::mt19937_64 &random) {
  static const char *const words[] = {"-1",
                                      "9223372036854775807",
                                      "-9223372036854775808",
                                      "0",
                                      "[]",
                                      "{}",
                                      "null",
                                      "1e308",
                                      "\"\"",
                                      "4294967296",
                                      ",",
                                      "]",
                                      "}"};
  for (uint64_t n = 1 + random() % 4; n; --n) {
    size_t at = text.empty() ? 0 : random() % text.size();
    switch (random() % 8) {
    case 0:
      if (!text.empty())
        text[at] = static_cast<char>(text[at] ^ (1 << random() % 8));
      break;
    case 1:
      if (!text.empty())
        text[at] = static_cast<char>(random());
      break;
    case 2:
      text.resize(at);
      break;
    case 3:
      text.erase(at, random() % 16);
      break;
    case 4:
      text.insert(at, other, other.empty() ? 0 : random() % other.size(), random() % 32);
      break;
    case 5: {
      const char *word = words[random() % (sizeof words / sizeof *words)];
      text.replace(at, random() % 4, word);
      break;
    }
    case 6: {
      // A number of a binary format: small, huge, or nearly right.
      uint64_t value = random() % 3 == 0   ? random()
                       : random() % 3 == 0 ? UINT64_MAX - random() % 64
                                           : random() % 256;
      size_t size = size_t(1) << random() % 4;
      if (at + size <= text.size())
        std::memcpy(text.data() + at, &value, size);
      break;
    }
    default: {
      // One digit of a JSON number, the likeliest place for a wrong index.
      size_t digit = text.find_first_of("0123456789", at);
      if (digit != std::string::npos)
        text[digit] = static_cast<char>('0' + random() % 10);
    }
    }
  }
}
