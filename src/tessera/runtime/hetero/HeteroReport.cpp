// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an executable tells of its graphs when the environment asks for it: TESSERA_PROFILE=1, a table of
// nodes for each graph on the standard error output when the process ends; TESSERA_TRACE=file.json, a trace
// of all launches.
#include "tessera/base/Diag.h"
#include "tessera/runtime/hetero/HeteroLaunch.h"
#include "tessera/runtime/trace/Trace.h"

#include <cstdio>
#include <cstdlib>

using namespace tessera;

static const char *setting(const char *name) {
  const char *text = std::getenv(name);
  return text && *text ? text : nullptr;
}

bool hetero::reportProfile() {
  const char *text = setting("TESSERA_PROFILE");
  return text && std::string_view(text) != "0";
}

static void printProfile(tsr_program *program) {
  std::vector<std::vector<std::string>> rows = {
      {"node", "source", "device", "runs", "mean", "best", "share"}};
  std::vector<tsr_node_profile> nodes(tsr_program_node_count(program));
  double total = 0;
  for (size_t n = 0; n < nodes.size(); ++n) {
    if (tsr_program_profile(program, n, &nodes[n]))
      return;
    total += static_cast<double>(nodes[n].total_ns);
  }
  for (const tsr_node_profile &node : nodes) {
    if (node.count == 0)
      continue;
    const double time = static_cast<double>(node.total_ns);
    char share[16];
    std::snprintf(share, sizeof share, "%.0f %%", total > 0 ? 100 * time / total : 0);
    std::string source = shortSource(node.source);
    rows.push_back({node.name, source.empty() ? "-" : source, node.device, std::to_string(node.count),
                    formatNanoseconds(time / static_cast<double>(node.count)),
                    formatNanoseconds(static_cast<double>(node.min_ns)), share});
  }
  std::fprintf(stderr, "profile of '%s'\n%s", tsr_program_name(program), formatTable(rows).c_str());
}

// Launches that are under way at the end are waited for before: their handlers are registered later.
void hetero::reportAtExit(tsr_program *program) {
  static std::vector<tsr_program *> *programs = [] {
    if (setting("TESSERA_TRACE"))
      trace::start();
    std::atexit([] {
      std::fflush(stdout);
      if (reportProfile())
        for (tsr_program *each : *programs)
          printProfile(each);
      if (const char *path = setting("TESSERA_TRACE")) {
        trace::stop();
        if (Status status = trace::write(path); !status.ok())
          std::fprintf(stderr, "warning: TESSERA_TRACE: %s\n", status.message().c_str());
      }
    });
    return new std::vector<tsr_program *>; // never destroyed: programs may run after static destructors
  }();
  programs->push_back(program);
}
