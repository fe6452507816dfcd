// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See CpuBackend.h. The runtime is used through its public C interface, as an embedding program would.
#include "CpuBackend.h"

#include "tessera/base/Container.h"
#include "tessera/base/ElementType.h"
#include "tessera/runtime.h"

#include "llvm/Support/raw_ostream.h"

using namespace tessera;
using namespace tessera::conformance;

static std::optional<tsr_type> typeOf(Type type) {
  std::optional<ElementType> element = parseElementType(plan::typeName(type));
  return element ? std::optional(static_cast<tsr_type>(*element)) : std::nullopt;
}

namespace {
/// Frees what the C interface hands out.
struct Handles {
  tsr_module *module = nullptr;
  tsr_program *program = nullptr;
  std::vector<tsr_buffer *> buffers;
  ~Handles() {
    for (tsr_buffer *b : buffers)
      if (b)
        tsr_buffer_free(b);
    if (program)
      tsr_program_free(program);
    if (module)
      tsr_module_free(module);
  }
};
} // namespace

FailureOr<std::vector<oracle::Array>> conformance::runInstalled(Session &session, ModuleOp module, StringRef graph,
                                                                ArrayRef<oracle::Array> inputs,
                                                                const BackendOptions &options) {
  std::vector<Portable> programs(1);
  programs[0].module = cast<ModuleOp>(module->clone());
  programs[0].source = "test";
  if (failed(runGraphStage(*programs[0].module)))
    return failure();
  InstallOptions install;
  install.target.strict = options.strict;
  install.targets = {"cpu"};
  if (options.device != "cpu")
    install.targets.insert(install.targets.begin(), options.device);
  auto graphOp = module.lookupSymbol<dfg::GraphOp>(graph);
  FailureOr<Installed> installed = tessera::install(session, programs, install);
  if (failed(installed))
    return failure();
  ContainerWriter writer(ContainerKind::InstalledProgram, 0);
  writer.add("plan", installed->plan);
  writer.add("code", installed->code);
  writer.add("const", installed->constants);
  writer.add("meta", installed->meta);
  std::string bytes = writer.bytes();
  auto fail = [&](const Twine &what) -> FailureOr<std::vector<oracle::Array>> {
    llvm::errs() << what << ": " << tsr_last_error() << "\n";
    return failure();
  };
  Handles h;
  if (tsr_module_load_memory(bytes.data(), bytes.size(), &h.module))
    return fail("load");
  tsr_options open;
  tsr_options_init(&open);
  open.threads = options.threads;
  std::string devices = options.device == "cpu" ? "cpu" : options.device + ",cpu";
  open.devices = devices.c_str();
  if (tsr_program_open(h.module, graph.str().c_str(), &open, &h.program))
    return fail("open");
  std::vector<tsr_buffer *> in;
  for (const oracle::Array &a : inputs) {
    std::optional<tsr_type> type = typeOf(a.elementType);
    tsr_buffer *buffer = nullptr;
    void *memory = nullptr;
    if (!type || tsr_buffer_create(*type, a.shape.size(), a.shape.data(), &buffer))
      return fail("input");
    h.buffers.push_back(buffer);
    in.push_back(buffer);
    if (tsr_buffer_map(buffer, TSR_WRITE, &memory))
      return fail("map");
    std::memcpy(memory, a.bytes.data(), a.bytes.size());
  }
  std::vector<tsr_buffer *> out(graphOp.getResultTypes().size(), nullptr);
  if (tsr_run(h.program, in.data(), in.size(), out.data(), out.size()))
    return fail("run");
  std::vector<oracle::Array> results;
  for (auto [buffer, type] : llvm::zip(out, graphOp.getResultTypes())) {
    h.buffers.push_back(buffer);
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
  return results;
}
