// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tessera-onnx-suite: runs the ONNX backend suite and writes or checks the table of what is supported. Exit
// status 77 means that the suite's data is not there.
#include "Suite.h"

#include "tessera/base/File.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace tessera;
using namespace tessera::suite;

static const char usage[] =
    "usage: tessera-onnx-suite [--data DIR] [--target cpu|oracle|import] [--strict] [--check-all] "
    "[--dynamic] [--filter "
    "TEXT]... [--every N]\n"
    "                          [--table FILE] [--check FILE] [-j N] [--timeout SECONDS] [--verbose]\n"
    "DIR is onnx/backend/test/data of the onnx package; without it the environment's TESSERA_ONNX_DATA.\n"
    "--dynamic hides the first extent of each input from the compiler. --filter keeps cases whose name holds "
    "TEXT, --every N each N-th. --check fails when a case that FILE lists as\n"
    "passed does not. --table writes the table; cases that are not run keep what it said before.\n";

static bool readText(const std::string &path, std::string &text) {
  std::ifstream stream(path);
  text.assign(std::istreambuf_iterator<char>(stream), {});
  return bool(stream);
}

// The table with the new verdicts; those of other cases stay.
static bool updateTable(const std::string &path, const std::vector<Case> &cases,
                        const std::vector<Case> &chosen, const std::vector<Verdict> &verdicts) {
  std::string text;
  readText(path, text);
  std::map<std::string, Verdict> rows = readTable(text);
  for (size_t i = 0; i < chosen.size(); ++i)
    rows[chosen[i].title()] = verdicts[i];
  std::vector<Case> listed;
  std::vector<Verdict> all;
  for (const Case &test : cases) {
    auto it = rows.find(test.title());
    if (it == rows.end())
      continue;
    if (it->second.operators.empty())
      if (Result<onnx::Model> model = onnx::readModel(test.model); model.ok())
        it->second.operators = operatorsOf(*model);
    listed.push_back(test);
    all.push_back(it->second);
  }
  Status status = writeFile(path, writeTable(listed, all));
  if (!status.ok())
    std::fprintf(stderr, "error: %s\n", status.message().c_str());
  return status.ok();
}

int main(int argc, char **argv) {
  const char *environment = std::getenv("TESSERA_ONNX_DATA");
  std::string data = environment ? environment : "", table, check;
  std::vector<std::string> filters;
  size_t every = 1;
  ParallelOptions options;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    auto value = [&]() -> std::string {
      if (i + 1 < argc)
        return argv[++i];
      std::fprintf(stderr, "error: '%s' needs a value\n%s", word.c_str(), usage);
      std::exit(2);
    };
    if (word == "--data")
      data = value();
    else if (word == "--target")
      options.run.target = value();
    else if (word == "--strict")
      options.run.strict = true;
    else if (word == "--check-all")
      options.run.checkAll = true;
    else if (word == "--dynamic")
      options.run.dynamic = true;
    else if (word == "--filter")
      filters.push_back(value());
    else if (word == "--every")
      every = std::max(1, std::atoi(value().c_str()));
    else if (word == "--table")
      table = value();
    else if (word == "--check")
      check = value();
    else if (word == "-j")
      options.jobs = unsigned(std::max(1, std::atoi(value().c_str())));
    else if (word == "--timeout")
      options.seconds = unsigned(std::max(1, std::atoi(value().c_str())));
    else if (word == "--verbose")
      options.verbose = true;
    else {
      std::fprintf(stderr, "error: unknown option '%s'\n%s", word.c_str(), usage);
      return 2;
    }
  }
  if (data.empty() || !std::filesystem::is_directory(data)) {
    std::printf(
        "SKIPPED: no data of the ONNX suite; scripts/onnx_suite fetches it, or set TESSERA_ONNX_DATA\n");
    return 77;
  }
  // A full run replaces the reduced one.
  if (std::getenv("TESSERA_FULL"))
    every = 1;
  std::vector<Case> cases = findCases(data);
  std::vector<Case> chosen;
  for (size_t i = 0, kept = 0; i < cases.size(); ++i) {
    // A spread is for a short run: whole networks are left to the full one.
    bool keep = filters.empty() && (every == 1 || cases[i].kind != "light");
    for (const std::string &filter : filters)
      keep |= cases[i].title().find(filter) != std::string::npos;
    if (keep && kept++ % every == 0)
      chosen.push_back(cases[i]);
  }
  std::vector<Verdict> verdicts = runCases(chosen, options);
  int counts[3] = {0, 0, 0};
  for (const Verdict &v : verdicts)
    ++counts[int(v.outcome)];
  int scope = counts[0] + counts[1];
  std::printf("%zu cases on %s: %d passed, %d failed, %d excluded; %.1f %% of those in scope\n",
              chosen.size(), options.run.target.c_str(), counts[0], counts[1], counts[2],
              scope ? 100.0 * counts[0] / scope : 0.0);
  if (!table.empty() && !updateTable(table, cases, chosen, verdicts))
    return 1;
  if (check.empty())
    return 0;
  std::string text;
  if (!readText(check, text)) {
    std::fprintf(stderr, "error: cannot read '%s'\n", check.c_str());
    return 1;
  }
  std::map<std::string, Verdict> expected = readTable(text);
  int regressions = 0;
  for (size_t i = 0; i < chosen.size(); ++i)
    if (auto it = expected.find(chosen[i].title()); it != expected.end() &&
                                                    it->second.outcome == Outcome::Passed &&
                                                    verdicts[i].outcome != Outcome::Passed) {
      std::printf("no longer passes: %s: %s\n", chosen[i].title().c_str(), verdicts[i].reason.c_str());
      ++regressions;
    }
  std::printf("%d cases that passed before do not\n", regressions);
  return regressions ? 1 : 0;
}
