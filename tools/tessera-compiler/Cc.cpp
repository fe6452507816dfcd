// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tessera cc`: a C++ compiler whose marked tasks and loops become graphs. Unknown flags are Clang's.
#include "Commands.h"

#include "tessera/driver/Compiler.h"
#include "tessera/frontends/heterocpp/Compile.h"

#include "llvm/Support/Path.h"

using namespace tessera;
using namespace tessera::cli;

int cli::runCc(const std::vector<std::string> &args) {
  if (args.empty())
    return fail("'tessera cc' expects files, as a C++ compiler does; example: tessera cc app.cpp -O2 -o app");
  Session session;
  heterocpp::CompileSetup setup;
  setup.context = &session.context();
  setup.headers = heterocpp::getHeaders();
  setup.library = executableFolder() + "/../lib";
  setup.installer = executableFolder() + "/tessera";
  setup.makeObject = [&](ModuleOp graphs, const std::string &source) -> std::optional<std::string> {
    Portable program;
    program.module = OwningOpRef<ModuleOp>(cast<ModuleOp>(graphs->clone()));
    program.source = llvm::sys::path::filename(source).str();
    if (failed(runGraphStage(*program.module)))
      return std::nullopt;
    Result<std::string> bytes = portableBytes(program);
    if (!bytes.ok()) {
      fail(bytes.status().message());
      return std::nullopt;
    }
    return bytes.take();
  };
  return heterocpp::runDriver(args, setup);
}
