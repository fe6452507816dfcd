// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The words of `tessera cc` before Clang's driver sees them.
#include "tessera/frontends/heterocpp/Compile.h"

#include "clang/Driver/Driver.h"
#include "llvm/Support/raw_ostream.h"

using namespace tessera;

// Response files, `@file`, stand for the words in them. Behind `--` all words are files, also those of ours
// that come after them: there they are written so that nobody takes them for flags.
std::optional<std::vector<std::string>> heterocpp::expandArguments(const std::vector<std::string> &args) {
  llvm::BumpPtrAllocator memory;
  llvm::SmallVector<const char *> words;
  for (const std::string &arg : args)
    words.push_back(arg.c_str());
  if (llvm::Error error = clang::driver::expandResponseFiles(words, /*ClangCLMode=*/false, memory)) {
    llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
    return std::nullopt;
  }
  std::vector<std::string> result;
  bool onlyFiles = false;
  for (const char *word : words) {
    if (!word)
      continue;
    if (!onlyFiles && llvm::StringRef(word) == "--")
      onlyFiles = true;
    else
      result.push_back(onlyFiles && *word == '-' && word[1] ? "./" + std::string(word) : word);
  }
  return result;
}
