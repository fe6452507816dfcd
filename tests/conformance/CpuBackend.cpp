// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See CpuBackend.h. The runtime is used through its public C interface, as an embedding program would; on
// other machines through the command line.
#include "CpuBackend.h"

#include "tessera/base/ElementType.h"
#include "tessera/base/File.h"
#include "tessera/base/Npy.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace tessera;
using namespace tessera::conformance;

FailureOr<std::string> conformance::installModule(Session &session, ModuleOp module,
                                                  const BackendOptions &options) {
  std::vector<Portable> programs(1);
  programs[0].module = cast<ModuleOp>(module->clone());
  programs[0].source = "test";
  if (failed(runGraphStage(*programs[0].module)))
    return failure();
  InstallOptions install;
  install.target = options.machine;
  install.target.strict = options.strict;
  install.targets = {"cpu"};
  if (options.device != "cpu")
    install.targets.insert(install.targets.begin(), options.device);
  FailureOr<Installed> installed = tessera::install(session, programs, install);
  if (failed(installed))
    return failure();
  return installedBytes(*installed);
}

static std::string deviceList(const BackendOptions &options) {
  return options.device == "cpu" ? "cpu" : options.device + ",cpu";
}

OpenProgram::~OpenProgram() {
  if (program)
    tsr_program_free(program);
  if (module)
    tsr_module_free(module);
}

std::string OpenProgram::open(const std::string &installed, dfg::GraphOp graph,
                              const BackendOptions &options) {
  if (tsr_module_load_memory(installed.data(), installed.size(), &module))
    return std::string("load: ") + tsr_last_error();
  tsr_options open;
  tsr_options_init(&open);
  open.threads = options.threads;
  open.policy = options.policy == "eft"      ? TSR_POLICY_EFT
                : options.policy == "energy" ? TSR_POLICY_ENERGY
                                             : TSR_POLICY_STATIC;
  std::string devices = deviceList(options);
  open.devices = devices.c_str();
  if (tsr_program_open(module, graph.getSymName().str().c_str(), &open, &program))
    return std::string("open: ") + tsr_last_error();
  types.assign(graph.getResultTypes().begin(), graph.getResultTypes().end());
  return "";
}

std::string OpenProgram::run(ArrayRef<oracle::Array> inputs, std::vector<oracle::Array> &results) {
  std::vector<tsr_buffer *> in, out(types.size(), nullptr);
  llvm::scope_exit release([&] {
    for (auto *list : {&in, &out})
      for (tsr_buffer *buffer : *list)
        if (buffer)
          tsr_buffer_free(buffer);
  });
  auto fail = [](const char *what) { return std::string(what) + ": " + tsr_last_error(); };
  for (const oracle::Array &a : inputs) {
    std::optional<ElementType> type = plan::elementTypeOf(a.elementType);
    tsr_buffer *buffer = nullptr;
    void *memory = nullptr;
    if (!type || tsr_buffer_create(static_cast<tsr_type>(*type), a.shape.size(), a.shape.data(), &buffer))
      return fail("input");
    in.push_back(buffer);
    if (tsr_buffer_map(buffer, TSR_WRITE, &memory))
      return fail("map");
    std::memcpy(memory, a.bytes.data(), a.bytes.size());
  }
  if (tsr_run(program, in.data(), in.size(), out.data(), out.size()))
    return fail("run");
  for (auto [buffer, type] : llvm::zip(out, types)) {
    oracle::Array a;
    a.elementType = getElementTypeOrSelf(type);
    const int64_t *shape = tsr_buffer_shape(buffer);
    a.shape.assign(shape, shape + tsr_buffer_rank(buffer));
    void *memory = nullptr;
    if (tsr_buffer_map(buffer, TSR_READ, &memory))
      return fail("map");
    const char *data = static_cast<const char *>(memory);
    a.bytes.assign(data, data + tsr_buffer_bytes(buffer));
    results.push_back(std::move(a));
  }
  return "";
}

static FailureOr<std::vector<oracle::Array>> runHere(const std::string &bytes, dfg::GraphOp graph,
                                                     ArrayRef<oracle::Array> inputs,
                                                     const BackendOptions &options) {
  OpenProgram program;
  std::vector<oracle::Array> results;
  std::string error = program.open(bytes, graph, options);
  if (error.empty())
    error = program.run(inputs, results);
  if (error.empty())
    return results;
  llvm::errs() << error << "\n";
  return failure();
}

// Everything goes through files in a folder that is removed again.
static FailureOr<std::vector<oracle::Array>> runElsewhere(const std::string &bytes, dfg::GraphOp graph,
                                                          ArrayRef<oracle::Array> inputs,
                                                          const BackendOptions &options, bool &stopped) {
  auto fail = [&](const Twine &what) -> FailureOr<std::vector<oracle::Array>> {
    llvm::errs() << what << "\n";
    return failure();
  };
  SmallString<128> folder;
  if (llvm::sys::fs::createUniqueDirectory("tessera-conformance", folder))
    return fail("cannot create a temporary folder");
  llvm::scope_exit remove([&] { (void)llvm::sys::fs::remove_directories(folder); });
  auto path = [&](const Twine &name) { return (folder + "/" + name).str(); };
  if (Status s = writeFile(path("program.tsx"), std::string_view(bytes)); !s.ok())
    return fail(s.message());
  std::string command = options.runner + " run " + path("program.tsx") + " --program " +
                        graph.getSymName().str() + " --threads " + std::to_string(options.threads) +
                        " --device " + deviceList(options) + " --policy " + options.policy;
  for (auto [i, a] : llvm::enumerate(inputs)) {
    std::optional<ElementType> type = plan::elementTypeOf(a.elementType);
    std::string file = path("in" + Twine(i) + ".npy");
    if (!type)
      return fail("input type");
    if (Status s = writeNpy(file, npyTypeFor(*type), a.shape,
                            std::as_bytes(std::span(a.bytes.data(), a.bytes.size())));
        !s.ok())
      return fail(s.message());
    command += " --input " + cast<StringAttr>(graph.getArgNames()[i]).str() + "=" + file;
  }
  for (auto [i, name] : llvm::enumerate(graph.getResultNames()))
    command += " --output " + cast<StringAttr>(name).str() + "=" + path("out" + Twine(i) + ".npy");
  std::string messages = path("messages");
  if (std::system((command + " 2> " + messages).c_str()) != 0) {
    auto text = llvm::MemoryBuffer::getFile(messages);
    StringRef said = text ? (*text)->getBuffer() : StringRef();
    if (said.starts_with("qemu-") && said.contains("Assertion")) {
      stopped = true;
      return failure();
    }
    return fail(said + "failed: " + command);
  }
  std::vector<oracle::Array> results;
  for (auto [i, type] : llvm::enumerate(graph.getResultTypes())) {
    Result<NpyArray> array = readNpy(path("out" + Twine(i) + ".npy"));
    if (!array.ok())
      return fail(array.status().message());
    oracle::Array a;
    a.elementType = getElementTypeOrSelf(type);
    a.shape = {array->shape.begin(), array->shape.end()};
    const char *data = reinterpret_cast<const char *>(array->data.data());
    a.bytes.assign(data, data + array->data.size());
    results.push_back(std::move(a));
  }
  return results;
}

FailureOr<std::vector<oracle::Array>> conformance::runProgram(const std::string &installed,
                                                              dfg::GraphOp graph,
                                                              ArrayRef<oracle::Array> inputs,
                                                              const BackendOptions &options, bool *stopped) {
  bool ignored = false;
  return options.runner.empty()
             ? runHere(installed, graph, inputs, options)
             : runElsewhere(installed, graph, inputs, options, stopped ? *stopped : ignored);
}

FailureOr<std::vector<oracle::Array>> conformance::runInstalled(Session &session, ModuleOp module,
                                                                StringRef graph,
                                                                ArrayRef<oracle::Array> inputs,
                                                                const BackendOptions &options) {
  FailureOr<std::string> installed = installModule(session, module, options);
  if (failed(installed))
    return failure();
  return runProgram(*installed, module.lookupSymbol<dfg::GraphOp>(graph), inputs, options);
}
