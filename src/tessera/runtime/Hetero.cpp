// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches of graphs that an executable carries. At the first one the portable object is specialised for this
// machine by the `tessera` program and kept in the cache; the process itself never sees the compiler.
#include "tessera/runtime/Hetero.h"
#include "tessera/base/CachePath.h"
#include "tessera/base/File.h"
#include "tessera/base/Status.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern char **environ;

using namespace tessera;

namespace {

/// A program that is ready to run, and what its inputs look like.
struct Ready {
  tsr_program *program = nullptr;
  struct Input {
    tsr_type type;
    size_t rank;
    bool written;
    const char *name;
  };
  std::vector<Input> inputs;
  /// The input whose memory each output is, or its rank and type when it has memory of its own.
  struct Output {
    std::optional<size_t> input;
    tsr_type type;
    size_t rank;
  };
  std::vector<Output> outputs;
};

[[noreturn]] void stop(const char *graph, const std::string &text) {
  std::fflush(stdout);
  std::fprintf(stderr, "error: launch of '%s': %s\n", graph, text.c_str());
  std::exit(1);
}

} // namespace

static Status makeFolders(const std::string &path) {
  for (size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    std::string part = path.substr(0, at);
    if (mkdir(part.c_str(), 0777) != 0 && errno != EEXIST)
      return fail(StatusCode::Io, "cannot create the cache folder '", path, "': ", std::strerror(errno),
                  "; set TESSERA_CACHE");
    if (at == std::string::npos)
      return Status();
  }
}

// Runs `tessera install` on a portable object. The one that compiled the program is asked first, then the one
// on the path.
static Status installObject(const char *installer, const std::string &object, const std::string &installed) {
  const char *named = std::getenv("TESSERA");
  std::string tool = named ? named : access(installer, X_OK) == 0 ? installer : "tessera";
  std::vector<std::string> words = {tool, "install", object, "-o", installed};
  std::vector<char *> argv;
  for (std::string &word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  if (int error = posix_spawnp(&child, argv[0], nullptr, nullptr, argv.data(), environ))
    return fail(StatusCode::NotFound, "cannot start '", tool,
                "' to specialise the program for this machine: ", std::strerror(error),
                "; run 'tessera install' on the executable elsewhere, or set TESSERA");
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return fail(StatusCode::Internal, "'", tool, " install' failed");
  return Status();
}

// The installed program of a portable object: from the cache, or made now.
static Result<std::string> findInstalled(const tsr_hetero_graph &graph) {
  std::span<const std::byte> bytes(static_cast<const std::byte *>(graph.object), graph.size);
  std::string path = cachePath(bytes, "fast");
  if (fileExists(path))
    return path;
  TESSERA_TRY(makeFolders(cacheFolder()));
  std::string object = path.substr(0, path.size() - 4) + "." + std::to_string(getpid()) + ".tsr";
  TESSERA_TRY(writeFile(object, bytes));
  Status status = installObject(graph.installer, object, path);
  unlink(object.c_str());
  if (!status.ok())
    return status;
  return path;
}

// All graphs of one source file share a module.
static Result<tsr_module *> loadModule(const tsr_hetero_graph &graph) {
  static std::map<const void *, tsr_module *> modules;
  tsr_module *&module = modules[graph.object];
  if (module)
    return module;
  TESSERA_ASSIGN(std::string path, findInstalled(graph));
  if (tsr_module_load(path.c_str(), &module))
    return fail(StatusCode::Internal, tsr_last_error());
  return module;
}

static Status prepare(tsr_hetero_graph &graph) {
  TESSERA_ASSIGN(tsr_module * module, loadModule(graph));
  auto ready = std::make_unique<Ready>();
  if (tsr_program_open(module, graph.name, nullptr, &ready->program))
    return fail(StatusCode::Internal, tsr_last_error());
  for (size_t i = 0; i < tsr_program_input_count(ready->program); ++i) {
    tsr_port_info info;
    if (tsr_program_input_info(ready->program, i, &info))
      return fail(StatusCode::Internal, tsr_last_error());
    ready->inputs.push_back({info.type, info.rank, info.written != 0, info.name});
  }
  for (size_t i = 0; i < tsr_program_output_count(ready->program); ++i) {
    tsr_port_info info;
    if (tsr_program_output_info(ready->program, i, &info))
      return fail(StatusCode::Internal, tsr_last_error());
    Ready::Output output{std::nullopt, info.type, info.rank};
    for (size_t k = 0; k < ready->inputs.size(); ++k)
      if (std::strcmp(ready->inputs[k].name, info.name) == 0)
        output.input = k;
    ready->outputs.push_back(output);
  }
  __atomic_store_n(&graph.state, ready.release(), __ATOMIC_RELEASE);
  return Status();
}

static Ready &getReady(tsr_hetero_graph &graph) {
  if (void *state = __atomic_load_n(&graph.state, __ATOMIC_ACQUIRE))
    return *static_cast<Ready *>(state);
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  if (!graph.state)
    if (Status status = prepare(graph); !status.ok())
      stop(graph.name, status.message());
  return *static_cast<Ready *>(graph.state);
}

extern "C" {

void *tsr_hetero_launch(tsr_hetero_graph *graph, const int64_t *slots, uint64_t count) {
  Ready &ready = getReady(*graph);
  std::vector<tsr_buffer *> inputs, outputs;
  const int64_t *slot = slots;
  for (const Ready::Input &input : ready.inputs) {
    // A scalar is an input of rank 0 whose memory is the slot itself.
    void *memory =
        input.rank ? reinterpret_cast<void *>(static_cast<intptr_t>(*slot)) : const_cast<int64_t *>(slot);
    tsr_buffer *buffer = nullptr;
    if (tsr_buffer_wrap(input.type, input.rank, slot + 1, memory, 0, &buffer))
      stop(graph->name, std::string("input '") + input.name + "': " + tsr_last_error());
    inputs.push_back(buffer);
    slot += 1 + input.rank;
  }
  for (const Ready::Output &output : ready.outputs) {
    if (output.input) {
      outputs.push_back(inputs[*output.input]);
      continue;
    }
    tsr_buffer *buffer = nullptr;
    void *memory = reinterpret_cast<void *>(static_cast<intptr_t>(*slot));
    if (tsr_buffer_wrap(output.type, output.rank, slot + 1, memory, 0, &buffer))
      stop(graph->name, tsr_last_error());
    outputs.push_back(buffer);
    slot += 1 + output.rank;
  }
  if (slot != slots + count)
    stop(graph->name, "the executable and its portable object do not fit together; compile it again");
  if (tsr_run(ready.program, inputs.data(), inputs.size(), outputs.data(), outputs.size()))
    stop(graph->name, tsr_last_error());
  for (size_t i = 0; i < inputs.size(); ++i) {
    // What was computed on another device comes home into the caller's memory.
    void *host = nullptr;
    if (ready.inputs[i].written && tsr_buffer_map(inputs[i], TSR_READ, &host))
      stop(graph->name, tsr_last_error());
    tsr_buffer_free(inputs[i]);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (ready.outputs[i].input)
      continue;
    void *host = nullptr;
    if (tsr_buffer_map(outputs[i], TSR_READ, &host))
      stop(graph->name, tsr_last_error());
    tsr_buffer_free(outputs[i]);
  }
  return graph;
}

// A launch has finished when it returns; the graph itself runs on all threads.
void tsr_hetero_wait(void *) {}

void *tsr_hetero_malloc(size_t bytes) {
  size_t rounded = (bytes + 63) / 64 * 64;
  return rounded < bytes ? nullptr : std::aligned_alloc(64, rounded ? rounded : 64);
}
void tsr_hetero_free(void *memory) { std::free(memory); }
void tsr_hetero_copy(void *to, const void *from, size_t bytes) { std::memmove(to, from, bytes); }
void tsr_hetero_request(void *, size_t) {}

} // extern "C"
