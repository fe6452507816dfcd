// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The words of `--mode`.
#include "tessera/base/Diag.h"
#include "tessera/driver/Compiler.h"

using namespace tessera;

Status tessera::parseMode(const std::string &text, bool check, TargetOptions &options) {
  bool unchecked = false;
  SmallVector<StringRef> words;
  StringRef(text).split(words, ',');
  for (StringRef word : words) {
    if (word == "strict" || word == "fast")
      options.strict = word == "strict";
    else if (word == "unchecked")
      unchecked = true;
    else
      return Status::error(StatusCode::InvalidArgument,
                           "--mode: expected 'fast' or 'strict', and 'unchecked' behind a comma, but got '" +
                               text + "'");
  }
  if (unchecked && check)
    return Status::error(StatusCode::InvalidArgument,
                         "--check and --mode unchecked exclude each other; leave one out");
  options.checks = check ? Checks::All : unchecked ? Checks::None : Checks::Data;
  return Status();
}

std::string tessera::spellMode(const TargetOptions &options) {
  std::string text = options.strict ? "strict" : "fast";
  if (options.checks == Checks::None)
    text += ",unchecked";
  if (options.checks == Checks::All)
    text += ",check";
  return text;
}
