// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C++ files for `tessera compile`: the graphs alone, without the host program.
#include "tessera/frontends/Frontend.h"

#include "tessera/frontends/heterocpp/Compile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace tessera;

namespace {

class HeteroFrontend : public Frontend {
public:
  std::string name() const override { return "heterocpp"; }
  std::vector<std::string> extensions() const override { return {".cpp", ".cc", ".cxx"}; }
  FrontendOptions optionHelp() const override { return {{"flags", "flags for Clang, separated by spaces"}}; }

  OwningOpRef<ModuleOp> import(std::shared_ptr<llvm::SourceMgr> sources, const FrontendOptions &options,
                               MLIRContext *context) const override {
    std::vector<std::string> flags;
    for (auto &[name, value] : options) {
      SmallVector<StringRef> words;
      StringRef(value).split(words, ' ', -1, /*KeepEmpty=*/false);
      flags.insert(flags.end(), words.begin(), words.end());
    }
    std::string path = sources->getMemoryBuffer(sources->getMainFileID())->getBufferIdentifier().str();
    // A portable object is for any build.
    TargetNames names = targets;
    names.built.clear();
    return heterocpp::importFile(path, flags, heterocpp::getHeaders(), names, context);
  }
};

} // namespace

namespace tessera {
std::unique_ptr<Frontend> createFrontend_heterocpp() { return std::make_unique<HeteroFrontend>(); }
} // namespace tessera
