// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C interface over the runtime's classes. Nothing but translation; running out of
// memory inside is the only exception there can be, and it becomes a status here.
#include "tessera/base/Diag.h"
#include "tessera/base/Trust.h"
#include "tessera/runtime.h"
#include "tessera/runtime/device/Queue.h"
#include "tessera/runtime/hetero/HeteroLaunch.h"
#include "tessera/runtime/program/Program.h"
#include "tessera/runtime/stream/Stream.h"
#include "tessera/runtime/trace/Trace.h"

#include <cstring>
#include <new>
#include <thread>

using namespace tessera;

struct tsr_module {
  std::shared_ptr<const Module> ref;
};
struct tsr_program {
  std::shared_ptr<Program> ref;
  std::vector<std::vector<int64_t>> inputShapes, outputShapes;
};
struct tsr_buffer {
  BufferRef ref;
};
struct tsr_launch {
  EventRef event;
};
struct tsr_stream {
  std::shared_ptr<Program> program;
  std::unique_ptr<Stream> ref;
};

tsr_module *hetero::wrapModule(std::shared_ptr<const Module> module) {
  return new tsr_module{std::move(module)};
}

static thread_local std::string lastError;

static tsr_status report(const Status &status) {
  if (!status.ok())
    lastError = status.message();
  return static_cast<tsr_status>(status.code());
}

template <typename F> static tsr_status guarded(F body) {
  try {
    return report(body());
  } catch (const std::bad_alloc &) {
    lastError = "host: out of memory";
    return TSR_OUT_OF_MEMORY;
  } catch (const std::exception &error) {
    lastError = error.what();
    return TSR_INTERNAL;
  }
}

template <typename... Ts> static Status invalid(const Ts &...parts) {
  return fail(StatusCode::InvalidArgument, parts...);
}

// A pointer that the caller has to give: `what` is "a program" and the like.
static Status given(const void *pointer, const char *what) {
  return pointer ? Status() : invalid("expected ", what, ", but got a null pointer");
}

// What `read` says of an object; without one `fallback`, and the failure is that of this thread.
template <typename T, typename R, typename F>
static R getter(const T *object, const char *what, R fallback, F read) {
  if (object)
    return read(*object);
  return guarded([&] { return given(nullptr, what); }) == TSR_OK ? R() : fallback;
}

// Looked at before any array is: a wrong count says nothing about how long the array is.
static Status checkCounts(const Program &program, const void *inputs, size_t inputCount, const void *outputs,
                          size_t outputCount, bool outputsNeeded = true) {
  const ProgramPlan &plan = program.plan();
  if (inputCount != plan.inputs.size() || outputCount != plan.outputs.size())
    return invalid("program '", plan.name, "' has ", plan.inputs.size(), " inputs and ", plan.outputs.size(),
                   " outputs, but got ", inputCount, " and ", outputCount);
  if (inputCount)
    TESSERA_TRY(given(inputs, "an array of inputs"));
  return outputCount && outputsNeeded ? given(outputs, "an array of outputs") : Status();
}

extern "C" {

const char *tsr_version(void) { return TESSERA_VERSION; }
const char *tsr_last_error(void) { return lastError.c_str(); }

tsr_status tsr_module_load(const char *path, tsr_module **module) {
  return guarded([&]() -> Status {
    if (!path || !module)
      return invalid("expected a path and a place for the module");
    auto loaded = Module::load(path);
    if (!loaded.ok())
      return loaded.status();
    *module = new tsr_module{loaded.take()};
    return Status();
  });
}

tsr_status tsr_module_load_memory(const void *bytes, size_t size, tsr_module **module) {
  return guarded([&]() -> Status {
    if (!bytes || !module)
      return invalid("expected bytes and a place for the module");
    TESSERA_ASSIGN(Container container,
                   Container::parse({static_cast<const std::byte *>(bytes), size}, "memory"));
    TESSERA_TRY(checkTrust(container));
    auto loaded = Module::load(std::move(container));
    if (!loaded.ok())
      return loaded.status();
    *module = new tsr_module{loaded.take()};
    return Status();
  });
}

void tsr_module_free(tsr_module *module) { delete module; }
size_t tsr_module_program_count(const tsr_module *module) {
  return getter(module, "a module", size_t(0), [](auto &m) { return m.ref->plan().programs.size(); });
}
const char *tsr_module_program_name(const tsr_module *module, size_t index) {
  return getter<tsr_module, const char *>(module, "a module", nullptr, [&](auto &m) {
    const auto &programs = m.ref->plan().programs;
    return index < programs.size() ? programs[index].name.c_str() : nullptr;
  });
}

void tsr_options_init(tsr_options *options) {
  if (!options)
    return;
  std::memset(options, 0, sizeof *options);
  options->size = sizeof *options;
}

static Status readOptions(const tsr_options *options, ProgramOptions &out) {
  if (!options)
    return Status();
  if (options->size != sizeof *options)
    return invalid("options of ", options->size, " bytes are not known; call tsr_options_init first");
  if (options->policy < TSR_POLICY_STATIC || options->policy > TSR_POLICY_ENERGY)
    return invalid("unknown policy ", static_cast<int>(options->policy));
  out.threads = options->threads;
  out.policy = static_cast<Policy>(options->policy);
  out.profile = options->profile != 0;
  std::string word;
  for (const char *c = options->devices; c && (*c || !word.empty()); ++c) {
    if (*c && *c != ',') {
      word += *c;
      continue;
    }
    if (!word.empty())
      out.devices.push_back(std::exchange(word, ""));
    if (!*c)
      break;
  }
  return Status();
}

tsr_status tsr_program_open(tsr_module *module, const char *name, const tsr_options *options,
                            tsr_program **program) {
  return guarded([&]() -> Status {
    if (!module || !program)
      return invalid("expected a module and a place for the program");
    ProgramOptions read;
    TESSERA_TRY(readOptions(options, read));
    auto opened = Program::open(module->ref, name ? name : "", read);
    if (!opened.ok())
      return opened.status();
    auto made = std::make_unique<tsr_program>();
    made->ref = opened.take();
    const ProgramPlan &plan = made->ref->plan();
    auto declared = [&](const Port &port) {
      const ValueInfo &value = plan.values[static_cast<size_t>(port.value)];
      std::vector<int64_t> shape = value.shape;
      if (value.kind != ValueKind::Input)
        for (int64_t &extent : shape) {
          const Expr &expr = plan.exprs[static_cast<size_t>(extent)];
          extent = expr.op == ExprOp::Const ? expr.constant : -1;
        }
      return shape;
    };
    for (const Port &port : plan.inputs)
      made->inputShapes.push_back(declared(port));
    for (const Port &port : plan.outputs)
      made->outputShapes.push_back(declared(port));
    *program = made.release();
    return Status();
  });
}

tsr_status tsr_program_load(const char *path, const char *name, const tsr_options *options,
                            tsr_program **program) {
  tsr_module *module = nullptr;
  if (tsr_status status = guarded([&] { return given(program, "a place for the program"); }))
    return status;
  if (tsr_status status = tsr_module_load(path, &module))
    return status;
  tsr_status status = tsr_program_open(module, name, options, program);
  tsr_module_free(module);
  return status;
}

void tsr_program_free(tsr_program *program) { delete program; }
const char *tsr_program_name(const tsr_program *program) {
  return getter<tsr_program, const char *>(program, "a program", nullptr,
                                           [](auto &p) { return p.ref->plan().name.c_str(); });
}
size_t tsr_program_input_count(const tsr_program *program) {
  return getter(program, "a program", size_t(0), [](auto &p) { return p.ref->plan().inputs.size(); });
}
size_t tsr_program_output_count(const tsr_program *program) {
  return getter(program, "a program", size_t(0), [](auto &p) { return p.ref->plan().outputs.size(); });
}

static Status portInfo(const tsr_program *program, const std::vector<Port> ProgramPlan::*kind,
                       const std::vector<std::vector<int64_t>> tsr_program::*declared, size_t index,
                       tsr_port_info *info) {
  TESSERA_TRY(given(program, "a program"));
  TESSERA_TRY(given(info, "a place for the port"));
  const ProgramPlan &plan = program->ref->plan();
  const std::vector<Port> &ports = plan.*kind;
  const std::vector<std::vector<int64_t>> &shapes = program->*declared;
  if (index >= ports.size())
    return invalid("program '", plan.name, "' has no port ", index, " of this kind");
  const Port &port = ports[index];
  *info = {port.name.c_str(), static_cast<tsr_type>(plan.values[static_cast<size_t>(port.value)].type),
           shapes[index].size(), shapes[index].data(), port.written};
  return Status();
}

tsr_status tsr_program_input_info(const tsr_program *program, size_t index, tsr_port_info *info) {
  return guarded(
      [&] { return portInfo(program, &ProgramPlan::inputs, &tsr_program::inputShapes, index, info); });
}
tsr_status tsr_program_output_info(const tsr_program *program, size_t index, tsr_port_info *info) {
  return guarded(
      [&] { return portInfo(program, &ProgramPlan::outputs, &tsr_program::outputShapes, index, info); });
}

static int isUnsigned(const tsr_program *program, const std::vector<Port> ProgramPlan::*kind, size_t index) {
  if (!program)
    return 0;
  const std::vector<Port> &ports = program->ref->plan().*kind;
  return index < ports.size() && ports[index].isUnsigned;
}
int tsr_program_input_is_unsigned(const tsr_program *program, size_t index) {
  return isUnsigned(program, &ProgramPlan::inputs, index);
}
int tsr_program_output_is_unsigned(const tsr_program *program, size_t index) {
  return isUnsigned(program, &ProgramPlan::outputs, index);
}
const char *tsr_program_output_word(const tsr_program *program, size_t index, size_t word) {
  if (!program || index >= program->ref->plan().outputs.size())
    return nullptr;
  const std::vector<std::string> &words = program->ref->plan().outputs[index].words;
  return word < words.size() ? words[word].c_str() : nullptr;
}

static Status findPort(const tsr_program *program, const std::vector<Port> ProgramPlan::*ofKind,
                       const char *kind, const char *plural, const char *name, size_t *index) {
  TESSERA_TRY(given(program, "a program"));
  TESSERA_TRY(given(name, "a name"));
  TESSERA_TRY(given(index, "a place for the index"));
  const std::vector<Port> &ports = program->ref->plan().*ofKind;
  std::vector<std::string> names;
  for (size_t i = 0; i < ports.size(); ++i) {
    names.push_back(ports[i].name);
    if (ports[i].name == name) {
      *index = i;
      return Status();
    }
  }
  return Status::error(StatusCode::NotFound, unknownName(kind, name, plural, names));
}

tsr_status tsr_program_find_input(const tsr_program *program, const char *name, size_t *index) {
  return guarded([&] { return findPort(program, &ProgramPlan::inputs, "input", "inputs", name, index); });
}
tsr_status tsr_program_find_output(const tsr_program *program, const char *name, size_t *index) {
  return guarded([&] { return findPort(program, &ProgramPlan::outputs, "output", "outputs", name, index); });
}

size_t tsr_program_node_count(const tsr_program *program) {
  return getter(program, "a program", size_t(0), [](auto &p) { return p.ref->plan().nodes.size(); });
}

tsr_status tsr_program_profile(const tsr_program *program, size_t node, tsr_node_profile *profile) {
  return guarded([&]() -> Status {
    TESSERA_TRY(given(program, "a program"));
    TESSERA_TRY(given(profile, "a place for the profile"));
    if (!program->ref->profile())
      return invalid("the program was opened without 'profile'");
    auto all = program->ref->profile()->snapshot();
    if (node >= all.size())
      return invalid("program has no node ", node);
    const NodeProfile &p = all[node];
    *profile = {};
    profile->name = program->ref->plan().nodes[node].name.c_str();
    profile->source = program->ref->plan().nodes[node].loc.c_str();
    std::strncpy(profile->device, p.device.c_str(), sizeof profile->device - 1);
    profile->count = p.count;
    profile->total_ns = p.totalNs;
    profile->min_ns = p.minNs;
    profile->bytes_moved = p.bytesMoved;
    profile->retries = p.retries;
    profile->flops = p.flops;
    profile->bytes = p.bytes;
    return Status();
  });
}

static Status makeBuffer(tsr_type type, size_t rank, const int64_t *shape, tsr_buffer **buffer, bool wrap,
                         void *memory, bool readOnly) {
  if (type < TSR_I1 || type > TSR_F64)
    return invalid("unknown element type ", static_cast<int>(type));
  if (!buffer || (rank && !shape) || rank > 16)
    return invalid("expected a shape of at most 16 extents and a place for the buffer");
  std::vector<int64_t> extents(shape, shape + rank);
  auto made = wrap ? Buffer::wrap(static_cast<ElementType>(type), std::move(extents), memory, readOnly)
                   : Buffer::create(static_cast<ElementType>(type), std::move(extents));
  if (!made.ok())
    return made.status();
  *buffer = new tsr_buffer{made.take()};
  return Status();
}

tsr_status tsr_buffer_create(tsr_type type, size_t rank, const int64_t *shape, tsr_buffer **buffer) {
  return guarded([&] { return makeBuffer(type, rank, shape, buffer, false, nullptr, false); });
}
tsr_status tsr_buffer_wrap(tsr_type type, size_t rank, const int64_t *shape, void *memory, int read_only,
                           tsr_buffer **buffer) {
  return guarded([&] { return makeBuffer(type, rank, shape, buffer, true, memory, read_only != 0); });
}
tsr_buffer *tsr_buffer_retain(tsr_buffer *buffer) {
  return getter<tsr_buffer, tsr_buffer *>(buffer, "a buffer", nullptr,
                                          [](auto &b) { return new (std::nothrow) tsr_buffer{b.ref}; });
}
void tsr_buffer_free(tsr_buffer *buffer) { delete buffer; }
tsr_type tsr_buffer_type(const tsr_buffer *buffer) {
  return getter(buffer, "a buffer", TSR_TYPE_LIMIT,
                [](auto &b) { return static_cast<tsr_type>(b.ref->type()); });
}
size_t tsr_buffer_rank(const tsr_buffer *buffer) {
  return getter(buffer, "a buffer", size_t(0), [](auto &b) { return b.ref->shape().size(); });
}
const int64_t *tsr_buffer_shape(const tsr_buffer *buffer) {
  return getter<tsr_buffer, const int64_t *>(buffer, "a buffer", nullptr,
                                             [](auto &b) { return b.ref->shape().data(); });
}
size_t tsr_buffer_bytes(const tsr_buffer *buffer) {
  return getter(buffer, "a buffer", size_t(0), [](auto &b) { return b.ref->bytes(); });
}

tsr_status tsr_buffer_map_range(tsr_buffer *buffer, size_t offset, size_t bytes, tsr_access access,
                                void **memory) {
  return guarded([&]() -> Status {
    if (!buffer || !memory)
      return invalid("expected a buffer and a place for the pointer");
    size_t size = buffer->ref->bytes();
    if (offset > size || bytes > size - offset)
      return invalid("range of ", bytes, " bytes at ", offset, " lies outside the buffer of ", size,
                     " bytes");
    if (access < TSR_READ || access > TSR_READ_WRITE)
      return invalid("unknown access ", static_cast<int>(access));
    if ((access & TSR_WRITE) && buffer->ref->readOnly())
      return invalid("the buffer is read-only");
    ByteRange range{offset, offset + bytes};
    auto host = access == TSR_READ ? buffer->ref->hostRead(range)
                                   : buffer->ref->hostWrite(range, /*discard=*/access == TSR_WRITE);
    if (!host.ok())
      return host.status();
    *memory = *host + offset;
    return Status();
  });
}
tsr_status tsr_buffer_map(tsr_buffer *buffer, tsr_access access, void **memory) {
  if (buffer && memory && access == TSR_READ)
    if (std::byte *host = buffer->ref->onlyHostMemory()) {
      *memory = host;
      return TSR_OK;
    }
  return tsr_buffer_map_range(buffer, 0, buffer ? buffer->ref->bytes() : 0, access, memory);
}

static Status run(Program &program, std::span<tsr_buffer *const> inputs, std::span<tsr_buffer *> outputs) {
  // Most programs have few ports: no allocation for them.
  constexpr size_t few = 16;
  Buffer *fewInputs[few];
  BufferRef fewOutputs[few];
  std::vector<Buffer *> manyInputs(inputs.size() > few ? inputs.size() : 0);
  std::vector<BufferRef> manyOutputs(outputs.size() > few ? outputs.size() : 0);
  std::span<Buffer *> in(inputs.size() > few ? manyInputs.data() : fewInputs, inputs.size());
  std::span<BufferRef> out(outputs.size() > few ? manyOutputs.data() : fewOutputs, outputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    in[i] = inputs[i] ? inputs[i]->ref.get() : nullptr;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i])
      out[i] = outputs[i]->ref;
  TESSERA_TRY(program.launch(in, out));
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!outputs[i])
      outputs[i] = new tsr_buffer{std::move(out[i])};
  return Status();
}

tsr_status tsr_run(tsr_program *program, tsr_buffer *const *inputs, size_t input_count, tsr_buffer **outputs,
                   size_t output_count) {
  return guarded([&]() -> Status {
    TESSERA_TRY(given(program, "a program"));
    TESSERA_TRY(checkCounts(*program->ref, inputs, input_count, outputs, output_count));
    return run(*program->ref, {inputs, input_count}, {outputs, output_count});
  });
}

// Of buffers that the launch itself holds. Outputs that are made go to the caller.
static Status runHeld(Program &program, std::span<const BufferRef> inputs, std::span<BufferRef> outputs,
                      tsr_buffer **made) {
  std::vector<Buffer *> in;
  for (const BufferRef &input : inputs)
    in.push_back(input.get());
  std::vector<bool> wanted;
  for (const BufferRef &output : outputs)
    wanted.push_back(!output);
  TESSERA_TRY(program.launch(in, outputs));
  for (size_t i = 0; i < outputs.size(); ++i)
    if (wanted[i])
      made[i] = new tsr_buffer{outputs[i]};
  return Status();
}

tsr_status tsr_run_async(tsr_program *program, tsr_buffer *const *inputs, size_t input_count,
                         tsr_buffer **outputs, size_t output_count, tsr_launch **launch) {
  return guarded([&]() -> Status {
    TESSERA_TRY(given(program, "a program"));
    TESSERA_TRY(given(launch, "a place for the launch"));
    TESSERA_TRY(checkCounts(*program->ref, inputs, input_count, outputs, output_count));
    auto made = std::make_unique<tsr_launch>();
    made->event = std::make_shared<Event>();
    // The launch holds its own references: the caller may free its buffers at once.
    auto in = std::make_shared<std::vector<BufferRef>>(), out = std::make_shared<std::vector<BufferRef>>();
    for (size_t i = 0; i < input_count; ++i)
      in->push_back(inputs[i] ? inputs[i]->ref : nullptr);
    for (size_t i = 0; i < output_count; ++i)
      out->push_back(outputs[i] ? outputs[i]->ref : nullptr);
    runOnHost([event = made->event, in, out, ref = program->ref, outputs] {
      try {
        event->complete(runHeld(*ref, *in, *out, outputs));
      } catch (const std::exception &) {
        event->complete(fail(StatusCode::OutOfMemory, "host: out of memory"));
      }
    });
    *launch = made.release();
    return Status();
  });
}

tsr_status tsr_wait(tsr_launch *launch) {
  tsr_status status = guarded([&]() -> Status {
    TESSERA_TRY(given(launch, "a launch"));
    return launch->event->wait();
  });
  delete launch;
  return status;
}

tsr_status tsr_stream_open(tsr_program *program, tsr_stream **stream) {
  return guarded([&]() -> Status {
    TESSERA_TRY(given(program, "a program"));
    TESSERA_TRY(given(stream, "a place for the stream"));
    auto opened = Stream::open(program->ref);
    if (!opened.ok())
      return opened.status();
    *stream = new tsr_stream{program->ref, opened.take()};
    return Status();
  });
}

void tsr_stream_free(tsr_stream *stream) { delete stream; }
size_t tsr_stream_capacity(const tsr_stream *stream) {
  return getter(stream, "a stream", size_t(0), [](auto &s) { return s.ref->capacity(); });
}

static Status push(tsr_stream *stream, tsr_buffer *const *inputs, size_t inputCount,
                   tsr_buffer *const *outputs, size_t outputCount, Stream::Timeout timeout) {
  TESSERA_TRY(given(stream, "a stream"));
  TESSERA_TRY(checkCounts(*stream->program, inputs, inputCount, outputs, outputCount,
                          /*outputsNeeded=*/false));
  constexpr size_t few = 8;
  const BufferRef *fewRefs[few];
  const size_t count = inputCount + outputCount;
  std::vector<const BufferRef *> many(count > few ? count : 0);
  std::span<const BufferRef *> refs(count > few ? many.data() : fewRefs, count);
  for (size_t i = 0; i < inputCount; ++i)
    refs[i] = inputs[i] ? &inputs[i]->ref : nullptr;
  for (size_t i = 0; i < outputCount; ++i)
    refs[inputCount + i] = outputs && outputs[i] ? &outputs[i]->ref : nullptr;
  return stream->ref->pushRefs(refs.first(inputCount), refs.subspan(inputCount), timeout);
}

tsr_status tsr_stream_push(tsr_stream *stream, tsr_buffer *const *inputs, size_t input_count,
                           tsr_buffer *const *outputs, size_t output_count) {
  return guarded([&] { return push(stream, inputs, input_count, outputs, output_count, Stream::forever); });
}
tsr_status tsr_stream_try_push(tsr_stream *stream, tsr_buffer *const *inputs, size_t input_count,
                               tsr_buffer *const *outputs, size_t output_count, uint64_t timeout_us) {
  return guarded([&] {
    return push(stream, inputs, input_count, outputs, output_count,
                std::chrono::microseconds(std::min<uint64_t>(timeout_us, INT64_MAX / 2000)));
  });
}

static Status pop(tsr_stream *stream, tsr_buffer **outputs, size_t count, Stream::Timeout timeout) {
  TESSERA_TRY(given(stream, "a stream"));
  const ProgramPlan &plan = stream->program->plan();
  if (count != plan.outputs.size())
    return invalid("program '", plan.name, "' has ", plan.outputs.size(), " outputs, but got ", count);
  if (count)
    TESSERA_TRY(given(outputs, "an array of outputs"));
  if (count == 1) {
    auto made = std::make_unique<tsr_buffer>();
    TESSERA_TRY(stream->ref->pop({&made->ref, 1}, timeout));
    outputs[0] = made.release();
    return Status();
  }
  constexpr size_t few = 4;
  BufferRef fewOutputs[few];
  std::vector<BufferRef> many(count > few ? count : 0);
  std::span<BufferRef> out(count > few ? many.data() : fewOutputs, count);
  TESSERA_TRY(stream->ref->pop(out, timeout));
  for (size_t i = 0; i < count; ++i)
    outputs[i] = new tsr_buffer{std::move(out[i])};
  return Status();
}

tsr_status tsr_stream_pop(tsr_stream *stream, tsr_buffer **outputs, size_t output_count) {
  return guarded([&] { return pop(stream, outputs, output_count, Stream::forever); });
}
tsr_status tsr_stream_try_pop(tsr_stream *stream, tsr_buffer **outputs, size_t output_count,
                              uint64_t timeout_us) {
  return guarded([&] {
    return pop(stream, outputs, output_count,
               std::chrono::microseconds(std::min<uint64_t>(timeout_us, INT64_MAX / 2000)));
  });
}

tsr_status tsr_stream_close(tsr_stream *stream) {
  return guarded([&]() -> Status {
    TESSERA_TRY(given(stream, "a stream"));
    stream->ref->close();
    return Status();
  });
}
void tsr_stream_cancel(tsr_stream *stream) {
  if (stream)
    stream->ref->cancel();
}

void tsr_trace_start(void) { trace::start(); }
void tsr_trace_stop(void) { trace::stop(); }
tsr_status tsr_trace_write(const char *path) {
  return guarded([&]() -> Status {
    TESSERA_TRY(given(path, "a path"));
    return trace::write(path);
  });
}

size_t tsr_device_count(void) { return allDevices().size(); }
const char *tsr_device_name(size_t index) {
  return index < allDevices().size() ? allDevices()[index]->name().c_str() : nullptr;
}
const char *tsr_device_description(size_t index) {
  return index < allDevices().size() ? allDevices()[index]->info().description.c_str() : nullptr;
}

} // extern "C"
