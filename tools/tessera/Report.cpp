// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tessera report`: a page about a tuned program.
#include "tessera/tune/curve/Report.h"
#include "Tool.h"
#include "tessera/base/File.h"
#include "tessera/base/Output.h"
#include "tessera/base/Trust.h"
#include "tessera/tune/curve/CurveFile.h"

#include <CLI/CLI.hpp>
#include <cstdio>

namespace tessera::tool {

namespace {
struct ReportOptions {
  std::string file, output, log;
};
} // namespace

static Status reportCommand(const ReportOptions &options) {
  TESSERA_TRY(checkOutputs({options.file, options.log}, {options.output}));
  TESSERA_ASSIGN(Container file, Container::open(options.file));
  TESSERA_TRY(checkTrust(file));
  TESSERA_ASSIGN(std::optional<tune::Curve> curve, tune::readCurve(file));
  if (!curve)
    return fail(StatusCode::InvalidArgument, "'", options.file, "' has no curve; run 'tessera tune' first");
  std::shared_ptr<const MappedFile> log;
  std::string_view timeline;
  if (!options.log.empty()) {
    TESSERA_ASSIGN(log, MappedFile::open(options.log));
    timeline = {reinterpret_cast<const char *>(log->bytes().data()), log->bytes().size()};
  }
  Result<std::string> page = tune::reportPage(*curve, timeline);
  if (!page.ok())
    return page.status().withContext(concat("--log: '", options.log, "'"));
  TESSERA_TRY(writeFile(options.output, std::string_view(*page)));
  std::printf("%s: %zu configurations of '%s'\n", options.output.c_str(), curve->configurations.size(),
              curve->network.c_str());
  return Status();
}

void addReport(CLI::App &app, Action &action) {
  auto *command = app.add_subcommand("report", "write an HTML report about a tuned program");
  auto options = std::make_shared<ReportOptions>();
  command->add_option("file", options->file, "tuned program: portable (.tsr) or installed (.tsx)")
      ->required();
  command->add_option("-o,--output", options->output, "the page (.html)")->required();
  command->add_option("--log", options->log,
                      "add a run under a goal: the file that 'tessera eval --log' wrote");
  command->footer("example: tessera report lenet.tsx -o lenet.html");
  command->callback([options, &action] { action = [options] { return reportCommand(*options); }; });
}

} // namespace tessera::tool
