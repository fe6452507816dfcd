// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the programs in test/*.mlir. A file holds programs separated by `// -----`; each has a function @main
// without arguments and says in comments what comes of it: `// EXPECT: 1, 2; 0.5` the elements of the
// results, bit for bit, or
// `// ERROR: text` a part of the message, or `// NOTE: text` a part of one of its notes. `// UNVERIFIED:`
// keeps the verifier away from programs that it would refuse, `// LIMIT:` sets a limit of operations, `//
// RACES:` switches the detector off.
#include "tessera/oracle/Oracle.h"
#include "tessera/ir/nn/Nn.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::oracle;

namespace {

struct Program {
  std::string file, text;
  unsigned line;
};

std::vector<Program> findPrograms() {
  std::vector<Program> programs;
  std::vector<std::string> paths;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(TESSERA_ORACLE_TESTS, error), end; it != end; it.increment(error))
    if (StringRef(it->path()).ends_with(".mlir"))
      paths.push_back(it->path());
  llvm::sort(paths);
  for (const std::string &path : paths) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    SmallVector<StringRef> parts;
    (*buffer)->getBuffer().split(parts, "// -----\n");
    unsigned line = 1;
    for (StringRef part : parts) {
      programs.push_back({llvm::sys::path::stem(path).str(), part.str(), line});
      line += part.count('\n') + 1;
    }
  }
  return programs;
}

// The texts after `// WORD:`.
std::vector<std::string> findComments(StringRef text, StringRef word) {
  std::vector<std::string> found;
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (StringRef line : lines) {
    line = line.trim();
    if (line.consume_front("// ") && line.consume_front(word) && line.consume_front(":"))
      found.push_back(line.trim().str());
  }
  return found;
}

class Programs : public testing::TestWithParam<Program> {
protected:
  Programs() {
    DialectRegistry registry;
    registerAllDialects(registry);
    registry.insert<dfg::DfgDialect, nn::NnDialect>();
    context.appendDialectRegistry(registry);
    context.getDiagEngine().registerHandler([this](Diagnostic &diag) {
      messages += diag.str() + "\n";
      for (Diagnostic &note : diag.getNotes())
        notes += note.str() + "\n";
      return success();
    });
  }

  void compare(StringRef expected, const Array &array) {
    SmallVector<StringRef> words;
    if (!expected.trim().empty())
      expected.split(words, ',');
    size_t size = elementBytes(array.elementType);
    ASSERT_EQ(words.size(), array.bytes.size() / size) << "number of elements";
    for (size_t e = 0; e < words.size(); ++e) {
      uint64_t bits[2] = {0, 0};
      std::memcpy(bits, &array.bytes[e * size], std::min<size_t>(size, 16));
      unsigned width = array.elementType.isIndex() ? 64 : array.elementType.getIntOrFloatBitWidth();
      APInt actual = APInt(128, bits).trunc(width);
      StringRef word = words[e].trim();
      auto floating = dyn_cast<FloatType>(array.elementType);
      if (floating && word == "nan") {
        EXPECT_TRUE(APFloat(floating.getFloatSemantics(), actual).isNaN()) << "element " << e;
        continue;
      }
      APInt wanted(width, 0);
      if (floating && !word.starts_with("0x")) {
        APFloat number(floating.getFloatSemantics());
        if (word == "inf" || word == "-inf")
          number = APFloat::getInf(floating.getFloatSemantics(), word.starts_with("-"));
        else
          ASSERT_TRUE(!!number.convertFromString(word, APFloat::rmNearestTiesToEven));
        wanted = number.bitcastToAPInt();
      } else {
        bool isNegative = word.consume_front("-");
        APInt value;
        ASSERT_FALSE(word.getAsInteger(0, value)) << word.str();
        wanted = value.zextOrTrunc(width);
        if (isNegative)
          wanted.negate();
      }
      std::string got;
      if (floating) {
        SmallString<32> text;
        APFloat(floating.getFloatSemantics(), actual).toString(text);
        got = text.str().str() + " = ";
      }
      EXPECT_TRUE(actual == wanted) << "element " << e << ": expected " << words[e].trim().str()
                                    << ", but got " << got << llvm::toString(actual, 10, /*Signed=*/true)
                                    << " = 0x" << llvm::toString(actual, 16, /*Signed=*/false);
    }
  }

  MLIRContext context;
  std::string messages, notes;
};

TEST_P(Programs, Run) {
  const Program &program = GetParam();
  ParserConfig config(&context, /*verifyAfterParse=*/findComments(program.text, "UNVERIFIED").empty());
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(program.text, config, program.file);
  ASSERT_TRUE(module) << program.file << ".mlir:" << program.line << ": " << messages;
  auto main = module->lookupSymbol<func::FuncOp>("main");
  ASSERT_TRUE(main) << program.file << ".mlir:" << program.line << ": no function @main";
  Options options;
  if (!findComments(program.text, "LIMIT").empty())
    options.maxSteps = 10000;
  if (!findComments(program.text, "RACES").empty())
    options.detectRaces = false;
  FailureOr<std::vector<Array>> outputs = runFunction(main, {}, options);
  SCOPED_TRACE(program.file + ".mlir:" + std::to_string(program.line));
  std::vector<std::string> errors = findComments(program.text, "ERROR");
  for (const std::string &text : errors)
    EXPECT_NE(messages.find(text), std::string::npos) << "expected '" << text << "' in: " << messages;
  for (const std::string &text : findComments(program.text, "NOTE"))
    EXPECT_NE(notes.find(text), std::string::npos) << "expected '" << text << "' in: " << notes;
  if (!errors.empty()) {
    EXPECT_TRUE(failed(outputs));
    return;
  }
  ASSERT_TRUE(succeeded(outputs)) << messages;
  std::vector<std::string> expected;
  for (const std::string &text : findComments(program.text, "EXPECT")) {
    SmallVector<StringRef> parts;
    StringRef(text).split(parts, ';');
    for (StringRef part : parts)
      expected.push_back(part.str());
  }
  ASSERT_EQ(expected.size(), outputs->size()) << "number of results";
  for (size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE("result " + std::to_string(i));
    compare(expected[i], (*outputs)[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Oracle, Programs, testing::ValuesIn(findPrograms()), [](const auto &info) {
  std::string name = info.param.file + "_" + std::to_string(info.param.line);
  llvm::replace(name, '-', '_');
  return name;
});

} // namespace
