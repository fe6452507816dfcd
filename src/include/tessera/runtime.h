/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The C interface of Tessera's runtime: load an installed program (.tsx), give it
 * buffers, run it once, many times, from several threads or as a stream. Needs no
 * compiler. All functions may be called from any thread; objects may be shared, except
 * that one buffer must not be written by two calls at once.
 *
 * Functions that can fail return a tsr_status; tsr_last_error() then holds one line of
 * text for a person, of the last failed call of this thread. A null pointer where
 * something is needed, and a count that is not the program's, are such failures.
 * Functions that return what they know of an object return 0 or NULL for a null one
 * (tsr_buffer_type: TSR_TYPE_LIMIT); tsr_..._free, _init and _cancel do nothing.
 */
#ifndef TESSERA_RUNTIME_H
#define TESSERA_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TSR_API __attribute__((visibility("default")))
#else
#define TSR_API
#endif

/** Version of this interface. Functions are only ever added to version 1. */
#define TSR_API_VERSION 1

typedef enum tsr_status {
  TSR_OK = 0,
  TSR_INVALID_ARGUMENT = 1, /**< The caller's mistake: wrong shape, unknown name. */
  TSR_NOT_FOUND = 2,        /**< A file, program or device that is not there. */
  TSR_CORRUPT = 3,          /**< A file that is damaged. */
  TSR_UNSUPPORTED = 4,      /**< A version, machine or feature that is not handled. */
  TSR_OUT_OF_MEMORY = 5,
  TSR_IO = 6,
  TSR_DEVICE_FAILED = 7,
  TSR_CANCELLED = 8, /**< An item of a stream that was cancelled. */
  TSR_TIMEOUT = 9,
  TSR_CLOSED = 10, /**< A stream that is closed and has nothing left. */
  TSR_INTERNAL = 11,
  TSR_DEVICE_LOST = 12 /**< A device answers no more; what only it held is gone. */
} tsr_status;

/** Element types. Integers are signless; TSR_I1 takes one byte, TSR_INDEX eight. */
typedef enum tsr_type {
  TSR_I1 = 0,
  TSR_I8 = 1,
  TSR_I16 = 2,
  TSR_I32 = 3,
  TSR_I64 = 4,
  TSR_INDEX = 5,
  TSR_F16 = 6,
  TSR_BF16 = 7,
  TSR_F32 = 8,
  TSR_F64 = 9,
  TSR_TYPE_LIMIT = 0x7fffffff /**< Makes every int a valid value of the type. */
} tsr_type;

typedef enum tsr_policy {
  TSR_POLICY_STATIC = 0,
  TSR_POLICY_EFT = 1,
  TSR_POLICY_ENERGY = 2,
  TSR_POLICY_LIMIT = 0x7fffffff
} tsr_policy;

typedef enum tsr_access {
  TSR_READ = 1,       /**< Content is brought to the host; copies elsewhere stay valid. */
  TSR_WRITE = 2,      /**< All of the range will be written; nothing is brought. */
  TSR_READ_WRITE = 3, /**< Content is brought; copies elsewhere become invalid in the range. */
  TSR_ACCESS_LIMIT = 0x7fffffff
} tsr_access;

typedef struct tsr_module tsr_module;
typedef struct tsr_program tsr_program;
typedef struct tsr_buffer tsr_buffer;
typedef struct tsr_launch tsr_launch;
typedef struct tsr_stream tsr_stream;

/** How a program is opened. Set with tsr_options_init, then change what matters. */
typedef struct tsr_options {
  size_t size;         /**< sizeof(tsr_options): lets the struct grow. */
  unsigned threads;    /**< 0: one for each processor. */
  tsr_policy policy;   /**< How devices are chosen. */
  const char *devices; /**< "cpu,null"; NULL: all real devices. */
  int profile;         /**< 1: keep times for tsr_program_profile. */
} tsr_options;

/** An input or output of a program. Pointers live as long as the program. */
typedef struct tsr_port_info {
  const char *name;
  tsr_type type;
  size_t rank;
  const int64_t *shape; /**< -1: any extent (inputs), or known only at launch (outputs). */
  int written;          /**< 1 for an input whose memory the program changes. */
} tsr_port_info;

/** What one node cost so far. */
typedef struct tsr_node_profile {
  const char *name;   /**< Lives as long as the program. */
  const char *source; /**< "blur.cpp:12:3", "" when unknown; likewise. */
  char device[32];    /**< Where it ran last. */
  uint64_t count, total_ns, min_ns, bytes_moved, retries;
  double flops, bytes; /**< Of one run, as estimated; 0 when unknown. */
} tsr_node_profile;

/** "0.1.0". */
TSR_API const char *tsr_version(void);
/** The text of this thread's last failure, "" when there was none. Valid until the next failure. */
TSR_API const char *tsr_last_error(void);

/* Modules: a .tsx file in memory. */
TSR_API tsr_status tsr_module_load(const char *path, tsr_module **module);
/** `bytes` must stay valid until the module and its programs are freed. */
TSR_API tsr_status tsr_module_load_memory(const void *bytes, size_t size, tsr_module **module);
TSR_API void tsr_module_free(tsr_module *module);
TSR_API size_t tsr_module_program_count(const tsr_module *module);
TSR_API const char *tsr_module_program_name(const tsr_module *module, size_t index);

/* Programs. A program keeps its module alive. */
TSR_API void tsr_options_init(tsr_options *options);
/** Opens the program `name` (NULL: the only one); `options` may be NULL. */
TSR_API tsr_status tsr_program_open(tsr_module *module, const char *name, const tsr_options *options,
                                    tsr_program **program);
/** tsr_module_load and tsr_program_open in one. */
TSR_API tsr_status tsr_program_load(const char *path, const char *name, const tsr_options *options,
                                    tsr_program **program);
TSR_API void tsr_program_free(tsr_program *program);
TSR_API const char *tsr_program_name(const tsr_program *program);
TSR_API size_t tsr_program_input_count(const tsr_program *program);
TSR_API size_t tsr_program_output_count(const tsr_program *program);
TSR_API tsr_status tsr_program_input_info(const tsr_program *program, size_t index, tsr_port_info *info);
TSR_API tsr_status tsr_program_output_info(const tsr_program *program, size_t index, tsr_port_info *info);
/** 1 when the integers of an input or output are unsigned; types do not say. */
TSR_API int tsr_program_input_is_unsigned(const tsr_program *program, size_t index);
TSR_API int tsr_program_output_is_unsigned(const tsr_program *program, size_t index);
/** Of an output of strings: what its elements (i64) with the value `word` stand for. NULL behind the last
   one, and for outputs of numbers. */
TSR_API const char *tsr_program_output_word(const tsr_program *program, size_t index, size_t word);
/** The index of a port by name; fails with a suggestion when there is none. */
TSR_API tsr_status tsr_program_find_input(const tsr_program *program, const char *name, size_t *index);
TSR_API tsr_status tsr_program_find_output(const tsr_program *program, const char *name, size_t *index);
TSR_API size_t tsr_program_node_count(const tsr_program *program);
TSR_API tsr_status tsr_program_profile(const tsr_program *program, size_t node, tsr_node_profile *profile);

/* Buffers: memory that may have copies on several devices. Content moves only when needed. */
TSR_API tsr_status tsr_buffer_create(tsr_type type, size_t rank, const int64_t *shape, tsr_buffer **buffer);
/** Over the caller's memory, which must outlive the buffer (aligned to 64 bytes it is used in place,
 * otherwise launches copy it). After a launch on other devices, map the buffer before looking at the memory.
 */
TSR_API tsr_status tsr_buffer_wrap(tsr_type type, size_t rank, const int64_t *shape, void *memory,
                                   int read_only, tsr_buffer **buffer);
/** One more reference to the same buffer, freed by a tsr_buffer_free of its own. */
TSR_API tsr_buffer *tsr_buffer_retain(tsr_buffer *buffer);
TSR_API void tsr_buffer_free(tsr_buffer *buffer);
TSR_API tsr_type tsr_buffer_type(const tsr_buffer *buffer);
TSR_API size_t tsr_buffer_rank(const tsr_buffer *buffer);
TSR_API const int64_t *tsr_buffer_shape(const tsr_buffer *buffer);
TSR_API size_t tsr_buffer_bytes(const tsr_buffer *buffer);
/** The host's memory of the whole buffer. There is no unmap: map again before the next look at it. */
TSR_API tsr_status tsr_buffer_map(tsr_buffer *buffer, tsr_access access, void **memory);
/** The same for `bytes` bytes from `offset`; *memory points at `offset`. */
TSR_API tsr_status tsr_buffer_map_range(tsr_buffer *buffer, size_t offset, size_t bytes, tsr_access access,
                                        void **memory);

/* Launches. Buffers are in the order of the program's ports. An output that is NULL is created: free it. */
TSR_API tsr_status tsr_run(tsr_program *program, tsr_buffer *const *inputs, size_t input_count,
                           tsr_buffer **outputs, size_t output_count);
/** Starts a launch on a thread of the runtime, of which there are a few for each processor; further launches
    wait their turn. `outputs` must stay valid until tsr_wait. */
TSR_API tsr_status tsr_run_async(tsr_program *program, tsr_buffer *const *inputs, size_t input_count,
                                 tsr_buffer **outputs, size_t output_count, tsr_launch **launch);
/** Waits for a launch, returns its result and frees it. */
TSR_API tsr_status tsr_wait(tsr_launch *launch);

/* Streams: items go in and come out in order, several are on their way at once. */
TSR_API tsr_status tsr_stream_open(tsr_program *program, tsr_stream **stream);
/** Cancels what is in flight. */
TSR_API void tsr_stream_free(tsr_stream *stream);
/** Items that may be between push and pop. */
TSR_API size_t tsr_stream_capacity(const tsr_stream *stream);
/** Waits while the stream is full. `outputs` may be NULL: the stream makes them. */
TSR_API tsr_status tsr_stream_push(tsr_stream *stream, tsr_buffer *const *inputs, size_t input_count,
                                   tsr_buffer *const *outputs, size_t output_count);
/** As push, but gives up with TSR_TIMEOUT. */
TSR_API tsr_status tsr_stream_try_push(tsr_stream *stream, tsr_buffer *const *inputs, size_t input_count,
                                       tsr_buffer *const *outputs, size_t output_count, uint64_t timeout_us);
/** The oldest item: its status, and references to its outputs (free them). TSR_CLOSED at the end. */
TSR_API tsr_status tsr_stream_pop(tsr_stream *stream, tsr_buffer **outputs, size_t output_count);
TSR_API tsr_status tsr_stream_try_pop(tsr_stream *stream, tsr_buffer **outputs, size_t output_count,
                                      uint64_t timeout_us);
/** No more pushes; returns when all is computed. */
TSR_API tsr_status tsr_stream_close(tsr_stream *stream);
/** No more pushes; items not yet computed come out as TSR_CANCELLED. */
TSR_API void tsr_stream_cancel(tsr_stream *stream);

/* The trace of everything that runs, in Chrome's format. */
TSR_API void tsr_trace_start(void);
TSR_API void tsr_trace_stop(void);
TSR_API tsr_status tsr_trace_write(const char *path);

/* Devices of this machine. */
TSR_API size_t tsr_device_count(void);
TSR_API const char *tsr_device_name(size_t index);
TSR_API const char *tsr_device_description(size_t index);

#ifdef __cplusplus
}
#endif
#endif
