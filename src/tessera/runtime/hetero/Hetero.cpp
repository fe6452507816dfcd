// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches of graphs that an executable carries. At the first one the portable object is specialised for this
// machine by the `tessera` program and kept in the cache; the process itself never sees the compiler.
#include "tessera/base/CachePath.h"
#include "tessera/base/File.h"
#include "tessera/base/Status.h"
#include "tessera/runtime/hetero/HeteroLaunch.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
/// Of a program under the address sanitizer: the first byte that may not be touched.
extern "C" void *__asan_region_is_poisoned(void *first, size_t bytes) __attribute__((weak));

using namespace tessera;
using namespace tessera::hetero;

std::atomic<bool> hetero::stopped = false;

void hetero::stop(const char *graph, const std::string &text) {
  stopped = true;
  std::fflush(stdout);
  std::fprintf(stderr, "error: launch of '%s': %s\n", graph, text.c_str());
  std::exit(1);
}

// Runs `tessera install` on a portable object. The one that compiled the program is asked first, then the one
// on the path.
static Status installObject(const char *installer, const std::string &object, const CacheEntry &installed) {
  const char *named = std::getenv("TESSERA");
  std::string tool = named ? named : access(installer, X_OK) == 0 ? installer : "tessera";
  std::vector<std::string> words = {tool,           "install",     object,       "-o",
                                    installed.path, "--cache-key", installed.key};
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
static Result<std::shared_ptr<const Module>> findInstalled(const tsr_hetero_graph &graph) {
  std::span<const std::byte> bytes(static_cast<const std::byte *>(graph.object), graph.size);
  TESSERA_TRY(openCacheFolder());
  CacheEntry entry = cacheEntry(bytes, "fast");
  if (auto cached = Module::loadCached(entry); cached.ok())
    return cached;
  std::string object = entry.path.substr(0, entry.path.size() - 4) + "." + std::to_string(getpid()) + ".tsr";
  TESSERA_TRY(writeFile(object, bytes));
  Status status = installObject(graph.installer, object, entry);
  unlink(object.c_str());
  if (!status.ok())
    return status;
  return Module::loadCached(entry);
}

// All graphs of one source file share a module.
static Result<tsr_module *> loadModule(const tsr_hetero_graph &graph) {
  // Never destroyed: what only they know of would look lost to a sanitizer.
  static auto *modules = new std::map<const void *, tsr_module *>;
  tsr_module *&module = (*modules)[graph.object];
  if (module)
    return module;
  TESSERA_ASSIGN(std::shared_ptr<const Module> loaded, findInstalled(graph));
  return module = wrapModule(std::move(loaded));
}

static Status prepare(tsr_hetero_graph &graph) {
  TESSERA_ASSIGN(tsr_module * module, loadModule(graph));
  auto ready = std::make_unique<Ready>();
  tsr_options options;
  tsr_options_init(&options);
  options.profile = reportProfile();
  if (tsr_program_open(module, graph.name, &options, &ready->program))
    return fail(StatusCode::Internal, tsr_last_error());
  reportAtExit(ready->program);
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

Ready &hetero::getReady(tsr_hetero_graph &graph) {
  if (void *state = __atomic_load_n(&graph.state, __ATOMIC_ACQUIRE))
    return *static_cast<Ready *>(state);
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  if (!graph.state)
    if (Status status = prepare(graph); !status.ok())
      stop(graph.name, status.message());
  return *static_cast<Ready *>(graph.state);
}

namespace {

/// Launches that are under way. Few: they are looked through one by one.
struct Pending {
  std::mutex mutex;
  std::vector<std::unique_ptr<Launch>> launches;
  std::atomic<size_t> count = 0;
};

} // namespace

// Never destroyed: launches may end after static destructors have begun.
static Pending &getPending() {
  static Pending *pending = [] {
    std::atexit([] {
      while (getPending().count)
        tsr_hetero_wait(getPending().launches.front().get());
    });
    return new Pending;
  }();
  return *pending;
}

static tsr_buffer *wrap(const char *graph, const char *what, tsr_type type, size_t rank,
                        const int64_t *slot) {
  // A scalar is an input of rank 0 whose memory is the slot itself.
  void *memory = rank ? reinterpret_cast<void *>(static_cast<intptr_t>(*slot)) : const_cast<int64_t *>(slot);
  tsr_buffer *buffer = nullptr;
  if (tsr_buffer_wrap(type, rank, slot + 1, memory, 0, &buffer))
    stop(graph, std::string(what) + ": " + tsr_last_error());
  return buffer;
}

void Launch::bind(const int64_t *values, uint64_t count) {
  const int64_t *slot = values;
  auto note = [&](size_t rank, tsr_buffer *buffer, bool written) {
    if (rank)
      memory.push_back(
          {static_cast<uintptr_t>(*slot), static_cast<uintptr_t>(*slot) + tsr_buffer_bytes(buffer), written});
    slot += 1 + rank;
  };
  for (const Ready::Input &input : ready.inputs) {
    inputs.push_back(wrap(name, input.name, input.type, input.rank, slot));
    note(input.rank, inputs.back(), input.written);
  }
  for (const Ready::Output &output : ready.outputs) {
    if (output.input) {
      outputs.push_back(inputs[*output.input]);
      continue;
    }
    outputs.push_back(wrap(name, "an output", output.type, output.rank, slot));
    note(output.rank, outputs.back(), true);
  }
  if (slot != values + count)
    stop(name, "the executable and its portable object do not fit together; compile it again");
}

// What was computed on another device comes home into the caller's memory.
void Launch::finish() {
  void *host = nullptr;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (ready.inputs[i].written && tsr_buffer_map(inputs[i], TSR_READ, &host))
      stop(name, tsr_last_error());
    tsr_buffer_free(inputs[i]);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (ready.outputs[i].input)
      continue;
    if (tsr_buffer_map(outputs[i], TSR_READ, &host))
      stop(name, tsr_last_error());
    tsr_buffer_free(outputs[i]);
  }
}

bool Launch::conflicts(const Launch &other) const {
  for (const Range &a : memory)
    for (const Range &b : other.memory)
      if ((a.written || b.written) && a.first < b.last && b.first < a.last)
        return true;
  return false;
}

// Waits for the launches under way that `matches` holds for.
template <typename Test> static void waitFor(Test matches) {
  Pending &pending = getPending();
  while (pending.count) {
    Launch *found = nullptr;
    {
      std::lock_guard<std::mutex> lock(pending.mutex);
      for (auto &launch : pending.launches)
        if (!found && matches(*launch))
          found = launch.get();
    }
    if (!found)
      return;
    tsr_hetero_wait(found);
  }
}

void hetero::waitForConflicts(const Launch &launch) {
  waitFor([&](const Launch &other) { return launch.conflicts(other); });
}

static void waitForMemory(const void *memory, size_t bytes, bool writes) {
  uintptr_t first = reinterpret_cast<uintptr_t>(memory);
  waitFor([&](const Launch &launch) {
    for (const Launch::Range &range : launch.memory)
      if ((writes || range.written) && range.first < first + bytes && first < range.last)
        return true;
    return false;
  });
}

/// Sizes of what tsr_hetero_malloc gave out.
static std::map<const void *, size_t> &getAllocations(std::unique_lock<std::mutex> &lock) {
  static auto *mutex = new std::mutex;
  static auto *sizes = new std::map<const void *, size_t>;
  lock = std::unique_lock<std::mutex>(*mutex);
  return *sizes;
}

extern "C" {

void *tsr_hetero_launch(tsr_hetero_graph *graph, const int64_t *slots, uint64_t count) {
  Launch launch(*graph);
  launch.bind(slots, count);
  waitForConflicts(launch);
  if (tsr_run(launch.ready.program, launch.inputs.data(), launch.inputs.size(), launch.outputs.data(),
              launch.outputs.size()))
    stop(graph->name, tsr_last_error());
  launch.finish();
  return graph;
}

void *tsr_hetero_start(tsr_hetero_graph *graph, const int64_t *slots, uint64_t count) {
  auto launch = std::make_unique<Launch>(*graph);
  launch->slots.assign(slots, slots + count);
  launch->bind(launch->slots.data(), count);
  waitForConflicts(*launch);
  if (tsr_run_async(launch->ready.program, launch->inputs.data(), launch->inputs.size(),
                    launch->outputs.data(), launch->outputs.size(), &launch->running))
    stop(graph->name, tsr_last_error());
  Pending &pending = getPending();
  std::lock_guard<std::mutex> lock(pending.mutex);
  pending.launches.push_back(std::move(launch));
  pending.count = pending.launches.size();
  return pending.launches.back().get();
}

// A launch that the host waits for at once has ended already; it is not among those under way.
void tsr_hetero_wait(void *handle) {
  if (endStream(handle))
    return;
  Pending &pending = getPending();
  std::unique_ptr<Launch> launch;
  {
    std::lock_guard<std::mutex> lock(pending.mutex);
    for (size_t i = 0; i < pending.launches.size() && !launch; ++i)
      if (pending.launches[i].get() == handle) {
        launch = std::move(pending.launches[i]);
        pending.launches.erase(pending.launches.begin() + static_cast<ptrdiff_t>(i));
      }
    pending.count = pending.launches.size();
  }
  if (!launch)
    return;
  if (tsr_wait(launch->running))
    stop(launch->name, tsr_last_error());
  launch->finish();
}

void tsr_hetero_check(const tsr_hetero_graph *graph, const char *buffer, const void *memory,
                      uint64_t declared, uint64_t known, uint64_t needed) {
  std::unique_lock<std::mutex> lock;
  auto &sizes = getAllocations(lock);
  if (auto it = sizes.upper_bound(memory); it != sizes.begin()) {
    --it;
    size_t offset =
        static_cast<size_t>(static_cast<const char *>(memory) - static_cast<const char *>(it->first));
    if (offset < it->second && it->second - offset < known)
      known = it->second - offset;
  }
  lock.unlock();
  // The address sanitizer knows where any memory ends.
  if (__asan_region_is_poisoned)
    if (auto *first = static_cast<const char *>(memory),
        *bad = static_cast<const char *>(
            __asan_region_is_poisoned(const_cast<char *>(first), std::min(declared, known)));
        bad)
      known = static_cast<uint64_t>(bad - first);
  std::string name = std::string("buffer '") + buffer + "' ";
  if (known < declared)
    stop(graph->name, name + "is declared with " + std::to_string(declared) + " bytes, but its memory has " +
                          std::to_string(known));
  if (needed > declared)
    stop(graph->name, name + "is declared with " + std::to_string(declared) + " bytes, but the loops write " +
                          std::to_string(needed));
}

void *tsr_hetero_malloc(size_t bytes) {
  size_t rounded = (bytes + 63) / 64 * 64;
  void *memory = rounded < bytes ? nullptr : std::aligned_alloc(64, rounded ? rounded : 64);
  std::unique_lock<std::mutex> lock;
  if (memory)
    getAllocations(lock)[memory] = bytes;
  return memory;
}
void tsr_hetero_free(void *memory) {
  std::unique_lock<std::mutex> lock;
  auto &sizes = getAllocations(lock);
  size_t bytes = 0;
  if (auto it = sizes.find(memory); it != sizes.end()) {
    bytes = it->second;
    sizes.erase(it);
  }
  lock.unlock();
  waitForMemory(memory, bytes, /*writes=*/true);
  std::free(memory);
}
void tsr_hetero_copy(void *to, const void *from, size_t bytes) {
  waitForMemory(from, bytes, /*writes=*/false);
  waitForMemory(to, bytes, /*writes=*/true);
  std::memmove(to, from, bytes);
}
void tsr_hetero_request(void *memory, size_t bytes) { waitForMemory(memory, bytes, /*writes=*/false); }

} // extern "C"
