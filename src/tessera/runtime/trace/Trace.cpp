// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rings of events, one for each thread, and their JSON.
#include "tessera/runtime/trace/Trace.h"
#include "tessera/base/File.h"
#include "tessera/base/Json.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

namespace tessera::trace {

std::atomic<bool> enabledFlag{false};

namespace {
struct Event {
  char name[48];
  char category[16];
  uint64_t begin, end;
};

struct Ring {
  std::vector<Event> events;
  std::atomic<uint64_t> written{0};
  uint64_t generation = 0;
  std::string threadName;
};

struct Registry {
  std::mutex mutex;
  std::vector<std::shared_ptr<Ring>> rings;
  std::atomic<uint64_t> generation{0};
  size_t capacity = 0;
  uint64_t origin = 0;
};
} // namespace

static Registry &registry() {
  static Registry *instance = new Registry;
  return *instance;
}

static thread_local std::shared_ptr<Ring> localRing;
static thread_local std::string localName;

void start(size_t capacity) {
  Registry &r = registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  r.rings.clear();
  r.capacity = std::max<size_t>(capacity, 16);
  r.origin = nowNanoseconds();
  ++r.generation;
  enabledFlag = true;
}

void stop() { enabledFlag = false; }

void nameThread(std::string_view name) { localName = name; }

static void copyText(char *to, size_t size, std::string_view from) {
  size_t n = std::min(size - 1, from.size());
  std::memcpy(to, from.data(), n);
  to[n] = '\0';
}

void record(std::string_view name, std::string_view category, uint64_t begin, uint64_t end) {
  Registry &r = registry();
  if (!localRing || localRing->generation != r.generation.load(std::memory_order_relaxed)) {
    std::lock_guard<std::mutex> lock(r.mutex);
    localRing = std::make_shared<Ring>();
    localRing->events.resize(r.capacity);
    localRing->generation = r.generation;
    localRing->threadName = localName;
    r.rings.push_back(localRing);
  }
  Ring &ring = *localRing;
  uint64_t slot = ring.written.load(std::memory_order_relaxed);
  Event &event = ring.events[slot % ring.events.size()];
  copyText(event.name, sizeof event.name, name);
  copyText(event.category, sizeof event.category, category);
  event.begin = begin;
  event.end = end;
  ring.written.store(slot + 1, std::memory_order_release);
}

std::string toJson() {
  Registry &r = registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  std::string out = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [";
  bool first = true;
  for (size_t t = 0; t < r.rings.size(); ++t) {
    const Ring &ring = *r.rings[t];
    out += first ? "\n" : ",\n";
    first = false;
    out += concat("{\"ph\": \"M\", \"pid\": 1, \"tid\": ", t,
                  ", \"name\": \"thread_name\", \"args\": {\"name\": ");
    out += quoteJson(ring.threadName.empty() ? concat("thread ", t) : ring.threadName);
    out += "}}";
    uint64_t end = ring.written.load(std::memory_order_acquire);
    uint64_t begin = end > ring.events.size() ? end - ring.events.size() : 0;
    for (uint64_t i = begin; i < end; ++i) {
      const Event &e = ring.events[i % ring.events.size()];
      char numbers[128];
      uint64_t from = e.begin > r.origin ? e.begin - r.origin : 0;
      std::snprintf(numbers, sizeof numbers, ", \"ts\": %.3f, \"dur\": %.3f}",
                    static_cast<double>(from) / 1000, static_cast<double>(e.end - e.begin) / 1000);
      out += concat(",\n{\"ph\": \"X\", \"pid\": 1, \"tid\": ", t, ", \"name\": ");
      out += concat(quoteJson(e.name), ", \"cat\": ", quoteJson(e.category));
      out += numbers;
    }
  }
  out += "\n]}\n";
  return out;
}

Status write(const std::string &path) { return writeFile(path, std::string_view(toJson())); }

} // namespace tessera::trace
