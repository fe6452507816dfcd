// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C++ layer over tessera/runtime.h: header-only, RAII, spans. Every failure is a
// tsr::Error, thrown; code that must not use exceptions calls the C interface instead.
// Objects are handles: they can be moved, not copied, except buffers, which are shared.
#pragma once

#include "tessera/runtime.h"

#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tsr {

/// A failed call: its status and one line of text.
class Error : public std::runtime_error {
public:
  Error(tsr_status status, const std::string &text) : std::runtime_error(text), code(status) {}
  tsr_status status() const { return code; }

private:
  tsr_status code;
};

namespace detail {
inline void check(tsr_status status) {
  if (status != TSR_OK)
    throw Error(status, tsr_last_error());
}
template <typename T> constexpr tsr_type typeOf() {
  if constexpr (std::is_same_v<T, bool>)
    return TSR_I1;
  else if constexpr (std::is_same_v<T, float>)
    return TSR_F32;
  else if constexpr (std::is_same_v<T, double>)
    return TSR_F64;
  else {
    static_assert(std::is_integral_v<T>, "no element type for this C++ type");
    return sizeof(T) == 1 ? TSR_I8 : sizeof(T) == 2 ? TSR_I16 : sizeof(T) == 4 ? TSR_I32 : TSR_I64;
  }
}
template <typename T> bool holds(tsr_type type) {
  // index is stored as i64.
  return type == typeOf<T>() || (type == TSR_INDEX && typeOf<T>() == TSR_I64);
}
} // namespace detail

/// A buffer, shared by its copies.
class Buffer {
public:
  explicit Buffer(tsr_buffer *handle) : handle(handle, tsr_buffer_free) {}
  Buffer(tsr_type type, std::span<const int64_t> shape) {
    tsr_buffer *made = nullptr;
    detail::check(tsr_buffer_create(type, shape.size(), shape.data(), &made));
    handle.reset(made, tsr_buffer_free);
  }
  /// A buffer with a copy of `content`.
  template <typename T> static Buffer of(std::vector<int64_t> shape, std::span<const T> content) {
    Buffer buffer(detail::typeOf<T>(), shape);
    std::span<T> memory = buffer.write<T>();
    if (memory.size() != content.size())
      throw Error(TSR_INVALID_ARGUMENT, "content and shape have different sizes");
    std::copy(content.begin(), content.end(), memory.begin());
    return buffer;
  }
  template <typename T> static Buffer of(std::vector<int64_t> shape, std::initializer_list<T> content) {
    return of<T>(std::move(shape), std::span<const T>(content.begin(), content.size()));
  }
  /// A buffer over the caller's memory, which must outlive it.
  template <typename T> static Buffer wrap(std::vector<int64_t> shape, std::span<T> memory) {
    size_t count = 1;
    for (int64_t extent : shape)
      count *= static_cast<size_t>(extent);
    if (count != memory.size())
      throw Error(TSR_INVALID_ARGUMENT, "memory and shape have different sizes");
    tsr_buffer *made = nullptr;
    detail::check(tsr_buffer_wrap(detail::typeOf<std::remove_const_t<T>>(), shape.size(), shape.data(),
                                  const_cast<std::remove_const_t<T> *>(memory.data()), std::is_const_v<T>,
                                  &made));
    return Buffer(made);
  }
  template <typename T> static Buffer wrap(std::vector<int64_t> shape, std::vector<T> &memory) {
    return wrap<T>(std::move(shape), std::span<T>(memory));
  }

  tsr_type type() const { return tsr_buffer_type(handle.get()); }
  std::span<const int64_t> shape() const {
    return {tsr_buffer_shape(handle.get()), tsr_buffer_rank(handle.get())};
  }
  /// The content on the host. Valid until the buffer is written elsewhere.
  template <typename T> std::span<const T> read() const { return map<T>(TSR_READ); }
  /// The memory to be overwritten in full; the old content is not brought.
  template <typename T> std::span<T> write() { return map<T>(TSR_WRITE); }
  /// The content, to be changed in place.
  template <typename T> std::span<T> update() { return map<T>(TSR_READ_WRITE); }
  tsr_buffer *get() const { return handle.get(); }

private:
  template <typename T> std::span<T> map(tsr_access access) const {
    if (!detail::holds<T>(type()))
      throw Error(TSR_INVALID_ARGUMENT, "the buffer holds elements of another type");
    void *memory = nullptr;
    detail::check(tsr_buffer_map(handle.get(), access, &memory));
    return {static_cast<T *>(memory), tsr_buffer_bytes(handle.get()) / sizeof(T)};
  }
  std::shared_ptr<tsr_buffer> handle;
};

/// Options of a program; each setter returns the object.
class Options {
public:
  Options() { tsr_options_init(&raw); }
  Options &threads(unsigned count) { return raw.threads = count, *this; }
  Options &policy(tsr_policy policy) { return raw.policy = policy, *this; }
  Options &profile(bool on = true) { return raw.profile = on, *this; }
  /// Names with commas between.
  Options &devices(std::string names) {
    deviceNames = std::move(names);
    return *this;
  }
  tsr_options get() const {
    tsr_options copy = raw;
    copy.devices = deviceNames.empty() ? nullptr : deviceNames.c_str();
    return copy;
  }

private:
  tsr_options raw;
  std::string deviceNames;
};

/// A .tsx file in memory.
class Module {
public:
  explicit Module(const std::string &path) {
    tsr_module *made = nullptr;
    detail::check(tsr_module_load(path.c_str(), &made));
    handle.reset(made);
  }
  /// Bytes must stay valid as long as programs of the module.
  Module(const void *bytes, size_t size) {
    tsr_module *made = nullptr;
    detail::check(tsr_module_load_memory(bytes, size, &made));
    handle.reset(made);
  }
  std::vector<std::string> programs() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < tsr_module_program_count(handle.get()); ++i)
      names.push_back(tsr_module_program_name(handle.get(), i));
    return names;
  }
  tsr_module *get() const { return handle.get(); }

private:
  struct Free {
    void operator()(tsr_module *m) const { tsr_module_free(m); }
  };
  std::unique_ptr<tsr_module, Free> handle;
};

/// An input or output.
struct Port {
  std::string name;
  tsr_type type;
  std::vector<int64_t> shape; ///< -1: any.
};

class Program {
public:
  Program(const Module &module, const std::string &name = "", const Options &options = {}) {
    tsr_program *made = nullptr;
    tsr_options raw = options.get();
    detail::check(tsr_program_open(module.get(), name.empty() ? nullptr : name.c_str(), &raw, &made));
    handle.reset(made);
  }
  static Program load(const std::string &path, const std::string &name = "", const Options &options = {}) {
    return Program(Module(path), name, options);
  }
  std::vector<Port> inputs() const { return ports(tsr_program_input_count, tsr_program_input_info); }
  std::vector<Port> outputs() const { return ports(tsr_program_output_count, tsr_program_output_info); }

  /// Runs once and returns the outputs, made by the runtime.
  std::vector<Buffer> run(const std::vector<Buffer> &in) {
    std::vector<tsr_buffer *> rawIn, rawOut(tsr_program_output_count(handle.get()), nullptr);
    for (const Buffer &buffer : in)
      rawIn.push_back(buffer.get());
    detail::check(tsr_run(handle.get(), rawIn.data(), rawIn.size(), rawOut.data(), rawOut.size()));
    return std::vector<Buffer>(rawOut.begin(), rawOut.end());
  }
  /// Runs once into buffers of the caller; allocates nothing when repeated.
  void run(std::span<const Buffer> in, std::span<const Buffer> out) {
    scratchIn.clear();
    scratchOut.clear();
    for (const Buffer &buffer : in)
      scratchIn.push_back(buffer.get());
    for (const Buffer &buffer : out)
      scratchOut.push_back(buffer.get());
    detail::check(
        tsr_run(handle.get(), scratchIn.data(), scratchIn.size(), scratchOut.data(), scratchOut.size()));
  }
  tsr_program *get() const { return handle.get(); }

private:
  template <typename C, typename I> std::vector<Port> ports(C count, I info) const {
    std::vector<Port> out;
    for (size_t i = 0; i < count(handle.get()); ++i) {
      tsr_port_info raw;
      detail::check(info(handle.get(), i, &raw));
      out.push_back({raw.name, raw.type, std::vector<int64_t>(raw.shape, raw.shape + raw.rank)});
    }
    return out;
  }
  struct Free {
    void operator()(tsr_program *p) const { tsr_program_free(p); }
  };
  std::unique_ptr<tsr_program, Free> handle;
  std::vector<tsr_buffer *> scratchIn, scratchOut;
};

class Stream {
public:
  explicit Stream(const Program &program) : outputs(tsr_program_output_count(program.get())) {
    tsr_stream *made = nullptr;
    detail::check(tsr_stream_open(program.get(), &made));
    handle.reset(made);
  }
  /// Waits while the stream is full.
  void push(const std::vector<Buffer> &in) {
    std::vector<tsr_buffer *> raw;
    for (const Buffer &buffer : in)
      raw.push_back(buffer.get());
    detail::check(tsr_stream_push(handle.get(), raw.data(), raw.size(), nullptr, outputs));
  }
  /// The outputs of the oldest item; nothing when the stream is closed and empty. An item that failed throws.
  std::optional<std::vector<Buffer>> pop() {
    std::vector<tsr_buffer *> raw(outputs, nullptr);
    tsr_status status = tsr_stream_pop(handle.get(), raw.data(), outputs);
    if (status == TSR_CLOSED)
      return std::nullopt;
    detail::check(status);
    return std::vector<Buffer>(raw.begin(), raw.end());
  }
  void close() { detail::check(tsr_stream_close(handle.get())); }
  void cancel() { tsr_stream_cancel(handle.get()); }
  size_t capacity() const { return tsr_stream_capacity(handle.get()); }

private:
  struct Free {
    void operator()(tsr_stream *s) const { tsr_stream_free(s); }
  };
  std::unique_ptr<tsr_stream, Free> handle;
  size_t outputs;
};

} // namespace tsr
