// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `run` of a portable object: installs it into the user's cache, once for each machine and content, and hands
// over to the LLVM-free half. `--target oracle` interprets it instead.
#include "Commands.h"
#include "KernelStore.h"
#include "Oracle.h"

#include "tessera/base/CachePath.h"
#include "tessera/base/Diag.h"
#include "tessera/base/File.h"
#include "tessera/base/Output.h"
#include "tessera/base/Trust.h"
#include "tessera/driver/Compiler.h"
#include "tessera/driver/Components.h"
#include "tessera/runtime/program/Module.h"

#include "tessera/frontends/heterocpp/Host.h"

#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

using namespace tessera;
using namespace tessera::cli;

static Result<CacheEntry> findEntry(const std::string &path, const std::string &mode) {
  TESSERA_ASSIGN(Container file, Container::open(path));
  // Whatever the cache has of it was perhaps made when nobody asked for a signature.
  TESSERA_TRY(checkTrust(file));
  return cacheEntry(file.file()->bytes(), mode);
}

// Makes the installed program for `in` unless the cache has it, unharmed.
static int installCached(const std::string &in, const CacheEntry &cached, const TargetOptions &target) {
  if (Status opened = openCacheFolder(); !opened.ok())
    return fail(opened.message());
  if (Module::loadCached(cached).ok())
    return 0;
  Result<Store *> store = openKernelStore();
  if (!store.ok())
    return fail(store.status().message());
  // The folder was made before the child is confined: what is not there cannot be named to the kernel.
  return supervise(mayWrite({cacheFolder()}), [&] {
    umask(0077);
    Session session;
    std::vector<Portable> programs;
    {
      TimeLimit limited(TimeLimit::Reading);
      Result<Portable> program = readPortable(session, in);
      if (!program.ok())
        return fail(program.status().message());
      programs.push_back(program.take());
    }
    InstallOptions options;
    options.target = target;
    options.target.store = *store;
    options.cacheKey = cached.key;
    FailureOr<Installed> installed = failure();
    {
      TimeLimit limited(TimeLimit::Installing);
      installed = install(session, programs, options);
    }
    if (failed(installed))
      return fail("nothing was installed");
    Status written = writeInstalled(*installed, cached.path);
    return written.ok() ? 0 : fail(written.message());
  });
}

bool cli::isExecutable(const std::string &path) {
  auto file = MappedFile::open(path);
  if (!file.ok() || (*file)->bytes().size() < 4)
    return false;
  return std::memcmp((*file)->bytes().data(),
                     "\x7f"
                     "ELF",
                     4) == 0;
}

int cli::installExecutable(const std::string &path) {
  auto file = llvm::object::ObjectFile::createObjectFile(path);
  if (!file)
    return fail("'" + path + "': " + llvm::toString(file.takeError()));
  std::vector<std::string> installed;
  for (const llvm::object::SectionRef &section : file->getBinary()->sections()) {
    llvm::Expected<llvm::StringRef> name = section.getName(), content = section.getContents();
    bool ours = name && content && *name == heterocpp::objectSection;
    llvm::consumeError(name.takeError());
    llvm::consumeError(content.takeError());
    if (!ours)
      continue;
    llvm::StringRef rest = *content;
    while (rest.size() >= heterocpp::objectAlignment) {
      uint64_t size = llvm::support::endian::read64le(rest.data());
      rest = rest.drop_front(heterocpp::objectAlignment);
      if (size == 0 || size > rest.size())
        return fail("'" + path + "': its graphs are damaged; compile it again");
      llvm::StringRef object = rest.take_front(size);
      std::span<const std::byte> bytes(reinterpret_cast<const std::byte *>(object.data()), object.size());
      CacheEntry cached = cacheEntry(bytes, "fast");
      if (Status opened = openCacheFolder(); !opened.ok())
        return fail(opened.message());
      std::string portable = cached.path + "." + std::to_string(getpid()) + ".tsr";
      if (Status written = writeFile(portable, bytes); !written.ok())
        return fail(written.message());
      int status = installCached(portable, cached, TargetOptions());
      llvm::sys::fs::remove(portable);
      if (status)
        return status;
      installed.push_back(cached.path);
      rest =
          rest.drop_front(std::min<uint64_t>(rest.size(), llvm::alignTo(size, heterocpp::objectAlignment)));
    }
  }
  if (installed.empty())
    return fail("'" + path + "' carries no graphs; 'tessera cc' makes executables that do");
  std::printf("%s: %zu file%s with graphs installed; to look at:\n", path.c_str(), installed.size(),
              installed.size() == 1 ? "" : "s");
  for (const std::string &each : installed)
    std::printf("  tessera explain %s\n", each.c_str());
  return 0;
}

namespace {
struct RunArgs {
  std::string in, target = hostTargetName().str(), mode = "fast", program;
  bool check = false;
  std::vector<std::string> inputs, outputs;
};
} // namespace

// Hands over to the half without LLVM: `command` on the installed program, with all other options as they
// are.
static int runCached(const std::string &command, const RunArgs &args,
                     const std::vector<std::string> &extras) {
  if (args.target != hostTargetName()) {
    std::vector<std::string> names = {hostTargetName().str(), "oracle"};
    return fail(unknownName("target", args.target, "targets of '" + command + "'", names));
  }
  TargetOptions target;
  if (Status mode = parseMode(args.mode, args.check, target); !mode.ok())
    return fail(mode.message());
  if (!StringRef(args.in).ends_with(".tsr"))
    return fail("'" + args.in +
                "' is not a portable object; make one with 'tessera compile', or give --target oracle");
  Result<CacheEntry> cached = findEntry(args.in, spellMode(target));
  if (!cached.ok())
    return fail(cached.status().message());
  if (int status = installCached(args.in, *cached, target))
    return status;
  std::vector<std::string> words = {executableFolder() + "/tessera", command, cached->path};
  auto add = [&](const char *flag, const std::vector<std::string> &list) {
    for (const std::string &item : list)
      words.insert(words.end(), {flag, item});
  };
  if (!args.program.empty())
    words.insert(words.end(), {"--program", args.program});
  add("--input", args.inputs);
  add("--output", args.outputs);
  words.insert(words.end(), extras.begin(), extras.end());
  std::vector<char *> argv;
  for (std::string &word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  return fail("cannot start '" + words[0] + "'");
}

// The files of "name=file".
static std::vector<std::string> fileNames(std::vector<std::string> texts) {
  for (std::string &text : texts)
    text = text.substr(text.find('=') + 1);
  return texts;
}

static void addCommand(CLI::App &app, Action &action, const std::string &name, const std::string &summary,
                       const std::string &example) {
  CLI::App *sub = app.add_subcommand(name, summary);
  auto args = std::make_shared<RunArgs>();
  sub->add_option("file", args->in, "portable object (.tsr), or with --target oracle a source file")
      ->required();
  sub->add_option("--target", args->target,
                  hostTargetName().str() + ", or oracle: the reference interpreter");
  sub->add_option("--mode", args->mode, modeHelp);
  sub->add_flag("--check", args->check, checkHelp);
  sub->add_option("--program", args->program, "the graph to run, when the file holds several");
  sub->add_option("--input", args->inputs, "name=file.npy or, for a scalar, name=number");
  sub->add_option("--output", args->outputs, "name=file.npy");
  sub->allow_extras();
  sub->footer("example: " + example);
  sub->callback([sub, name, args, &action] {
    std::vector<std::string> extras = sub->remaining();
    action = [name, args, extras] {
      std::vector<std::string> read = fileNames(args->inputs);
      read.push_back(args->in);
      if (Status places = checkOutputs(read, fileNames(args->outputs)); !places.ok())
        return fail(places.message());
      if (args->target == "oracle" && name == "run") {
        if (!extras.empty())
          return fail("--target oracle: unexpected '" + extras.front() +
                      "'; it takes --program, --input and --output");
        return supervise(mayWrite(fileNames(args->outputs)),
                         [&] { return runOracle(args->in, args->program, args->inputs, args->outputs); });
      }
      return runCached(name, *args, extras);
    };
  });
}

void cli::addRun(CLI::App &app, Action &action) {
  addCommand(
      app, action, "run", "run a portable object: install it into the cache, then run it",
      "tessera run edge.tsr --target oracle --input image=photo.npy --input theta=0.1 --output edges=e.npy");
  addCommand(app, action, "bench", "measure a portable object: install it into the cache, then measure it",
             "tessera bench edge.tsr --dim image:0=1080 --dim image:1=1920");
  addCommand(app, action, "eval",
             "measure a portable object's accuracy: install it into the cache, then measure it",
             "tessera eval lenet.tsr --data mnist:data/mnist");
}
