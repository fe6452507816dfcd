// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tessera keygen` and `tessera sign`: who made a file. `--trusted-keys` of the other commands checks it.
#include "Tool.h"
#include "tessera/base/Output.h"
#include "tessera/base/Trust.h"

#include <CLI/CLI.hpp>
#include <cstdio>

namespace tessera::tool {

namespace {
struct SignOptions {
  std::vector<std::string> files;
  std::string key, out;
};
} // namespace

static Status signCommand(const SignOptions &options) {
  if (!options.out.empty() && options.files.size() != 1)
    return fail(StatusCode::InvalidArgument, "-o: expected one file, but got ", options.files.size());
  TESSERA_TRY(checkOutputs({options.key}, options.files));
  TESSERA_TRY(checkOutputs({options.key}, {options.out}));
  for (const std::string &file : options.files)
    TESSERA_TRY(signFile(file, options.key, options.out.empty() ? file : options.out));
  return Status();
}

void addSign(CLI::App &app, Action &action) {
  auto *keygen = app.add_subcommand("keygen", "make a key to sign programs with");
  auto path = std::make_shared<std::string>();
  keygen->add_option("key", *path, "the secret key goes here, the public one beside it with .pub")
      ->required();
  keygen->footer("example: tessera keygen release.key");
  keygen->callback([path, &action] {
    action = [path] {
      TESSERA_TRY(makeKey(*path));
      std::printf("%s signs programs: keep it secret; %s.pub lets others trust them: give it away\n",
                  path->c_str(), path->c_str());
      return Status();
    };
  });
  auto *sign = app.add_subcommand("sign", "sign portable objects and installed programs");
  auto options = std::make_shared<SignOptions>();
  sign->add_option("files", options->files, ".tsr and .tsx files; each is written again with its signature")
      ->required();
  sign->add_option("--key", options->key, "the secret key that 'tessera keygen' made")->required();
  sign->add_option("-o,--output", options->out, "of one file: write the signed one here instead");
  sign->footer("example: tessera sign net.tsx --key release.key\n"
               "then:    tessera run net.tsx --trusted-keys release.key.pub --input image=photo.npy");
  sign->callback([options, &action] { action = [options] { return signCommand(*options); }; });
}

} // namespace tessera::tool
