// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams of launches. What an item reads and writes is the host's memory, so finished items cost nothing to
// keep: a push into a full stream takes the oldest item out instead of waiting for somebody to pop it. It
// still waits until that item is computed, which is the back pressure.
#include "tessera/runtime/hetero/HeteroLaunch.h"

#include <bit>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

using namespace tessera::hetero;

namespace {

class ItemStream {
public:
  ItemStream(tsr_hetero_graph &graph, void (*place)(const int64_t *, int64_t *), uint64_t slots,
             const char *kinds, const int64_t *values, uint64_t output)
      : graph(graph), place(place), slotCount(slots), kinds(kinds),
        values(values, values + this->kinds.size()), output(output) {
    if (tsr_stream_open(getReady(graph).program, &stream))
      stop(graph.name, tsr_last_error());
  }
  ~ItemStream() { tsr_stream_free(stream); }

  void push(const char *given, const int64_t *values);
  void *pop();
  void close();
  /// Closes the stream and waits for all items.
  void finish();

private:
  struct Item {
    std::unique_ptr<Launch> launch;
    void *result; ///< what pop returns
  };
  void takeOldest(std::unique_lock<std::mutex> &lock);
  bool conflicts(const Launch &launch) const;

  tsr_hetero_graph &graph;
  void (*place)(const int64_t *, int64_t *);
  uint64_t slotCount;
  std::string kinds;
  std::vector<int64_t> values; ///< of the opening
  uint64_t output;
  tsr_stream *stream = nullptr;

  std::mutex pushMutex; ///< one push at a time
  std::mutex mutex;     ///< guards what follows; never held while waiting
  std::condition_variable changed;
  std::deque<Item> flight;    ///< in the stream, the oldest first
  std::deque<void *> results; ///< of items that are done, the oldest first
  bool taking = false;        ///< one thread waits for the oldest item
  bool closed = false;
};

/// Streams that are open.
struct Open {
  std::mutex mutex;
  std::map<void *, std::unique_ptr<ItemStream>> streams;
};

} // namespace

// Never destroyed: streams may end after static destructors have begun.
static Open &getOpen() {
  static Open *open = [] {
    std::atexit([] {
      while (!stopped && !getOpen().streams.empty())
        endStream(getOpen().streams.begin()->first);
    });
    return new Open;
  }();
  return *open;
}

static ItemStream &find(void *handle) {
  Open &open = getOpen();
  std::lock_guard<std::mutex> lock(open.mutex);
  auto it = open.streams.find(handle);
  if (it == open.streams.end())
    stop("a stream", "the handle is no open stream; push and pop before '__hetero_wait'");
  return *it->second;
}

// A number as the stream was opened with it: what is written as 2 may be pushed for 2.0.
static int64_t convert(int64_t v, char from, char to) {
  if (from == to || (from != 'f' && to != 'f'))
    return v;
  if (to == 'f')
    return std::bit_cast<int64_t>(from == 'u' ? static_cast<double>(static_cast<uint64_t>(v))
                                              : static_cast<double>(v));
  double real = std::bit_cast<double>(v);
  return to == 'u' && real >= 0x1p63 ? static_cast<int64_t>(static_cast<uint64_t>(real))
                                     : static_cast<int64_t>(real);
}

// Waits for the oldest item; one thread does, others wait until it is done.
void ItemStream::takeOldest(std::unique_lock<std::mutex> &lock) {
  if (taking) {
    changed.wait(lock, [&] { return !taking; });
    return;
  }
  taking = true;
  lock.unlock();
  std::vector<tsr_buffer *> outputs(getReady(graph).outputs.size());
  if (tsr_stream_pop(stream, outputs.data(), outputs.size()))
    stop(graph.name, tsr_last_error());
  for (tsr_buffer *buffer : outputs)
    tsr_buffer_free(buffer);
  lock.lock();
  Item item = std::move(flight.front());
  flight.pop_front();
  item.launch->finish();
  results.push_back(item.result);
  taking = false;
  changed.notify_all();
}

bool ItemStream::conflicts(const Launch &launch) const {
  for (const Item &item : flight)
    if (launch.conflicts(*item.launch))
      return true;
  return false;
}

void ItemStream::push(const char *given, const int64_t *pushed) {
  std::lock_guard<std::mutex> order(pushMutex);
  size_t count = std::strlen(given);
  if (count > kinds.size())
    stop(graph.name, "a push has " + std::to_string(count) + " values, but the stream was opened with " +
                         std::to_string(kinds.size()));
  std::vector<int64_t> all = values;
  for (size_t i = 0; i < count; ++i) {
    if ((given[i] == 'p') != (kinds[i] == 'p'))
      stop(graph.name, "value " + std::to_string(i + 1) + " of a push is " +
                           (given[i] == 'p' ? "an address" : "a number") +
                           ", but not where the stream was opened; push its objects in their order");
    all[i] = convert(pushed[i], given[i], kinds[i]);
  }
  auto launch = std::make_unique<Launch>(graph);
  launch->slots.resize(slotCount);
  place(all.data(), launch->slots.data());
  launch->bind(launch->slots.data(), slotCount);
  waitForConflicts(*launch);
  std::unique_lock<std::mutex> lock(mutex);
  if (closed)
    stop(graph.name, "a push into a stream that is closed");
  while (flight.size() >= tsr_stream_capacity(stream) || conflicts(*launch))
    takeOldest(lock);
  void *result = reinterpret_cast<void *>(static_cast<intptr_t>(all[output]));
  Launch &item = *launch;
  flight.push_back({std::move(launch), result});
  lock.unlock();
  if (tsr_stream_push(stream, item.inputs.data(), item.inputs.size(), item.outputs.data(),
                      item.outputs.size()))
    stop(graph.name, tsr_last_error());
  changed.notify_all();
}

void *ItemStream::pop() {
  std::unique_lock<std::mutex> lock(mutex);
  while (results.empty()) {
    if (!flight.empty())
      takeOldest(lock);
    else if (closed)
      return nullptr;
    else
      changed.wait(lock, [&] { return !flight.empty() || !results.empty() || closed; });
  }
  void *result = results.front();
  results.pop_front();
  return result;
}

void ItemStream::close() {
  std::lock_guard<std::mutex> lock(mutex);
  closed = true;
  changed.notify_all();
}

void ItemStream::finish() {
  close();
  std::lock_guard<std::mutex> order(pushMutex);
  std::unique_lock<std::mutex> lock(mutex);
  while (!flight.empty() || taking)
    takeOldest(lock);
}

bool tessera::hetero::endStream(void *handle) {
  Open &open = getOpen();
  std::unique_ptr<ItemStream> stream;
  {
    std::lock_guard<std::mutex> lock(open.mutex);
    auto it = open.streams.find(handle);
    if (it == open.streams.end())
      return false;
    stream = std::move(it->second);
    open.streams.erase(it);
  }
  stream->finish();
  return true;
}

extern "C" {

void *tsr_hetero_stream(tsr_hetero_graph *graph, void (*place)(const int64_t *, int64_t *), uint64_t slots,
                        const char *kinds, const int64_t *values, uint64_t output) {
  auto stream = std::make_unique<ItemStream>(*graph, place, slots, kinds, values, output);
  void *handle = stream.get();
  Open &open = getOpen();
  std::lock_guard<std::mutex> lock(open.mutex);
  open.streams[handle] = std::move(stream);
  return handle;
}

void tsr_hetero_push(void *stream, const char *kinds, const int64_t *values) {
  find(stream).push(kinds, values);
}
void *tsr_hetero_pop(void *stream) { return find(stream).pop(); }
void tsr_hetero_close(void *stream) { find(stream).close(); }

} // extern "C"
