/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What `tessera cc` leaves in an executable in place of the markers: a record for each graph and calls of
 * these functions. Not for people; the record's layout is known to src/tessera/frontends/heterocpp/Host.cpp.
 */
#ifndef TESSERA_RUNTIME_HETERO_H
#define TESSERA_RUNTIME_HETERO_H

#include "tessera/runtime.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One graph of an executable. */
typedef struct tsr_hetero_graph {
  const char *name;      /**< Of the program in the portable object. */
  const void *object;    /**< The portable object of its source file. */
  uint64_t size;         /**< Of the object, in bytes. */
  const char *installer; /**< The `tessera` that compiled it: where to look first for one that installs it. */
  void *state;           /**< Filled at the first launch. */
} tsr_hetero_graph;

/** Launches a graph. `slots` holds for each input its value, or its address and its extents. A failure ends
 * the process with a message: the markers have no way to report one. */
TSR_API void *tsr_hetero_launch(tsr_hetero_graph *graph, const int64_t *slots, uint64_t count);
/** The same, but returns at once; the launch has ended after tsr_hetero_wait. A launch that shares memory
 * with it waits, where one of the two writes it. */
TSR_API void *tsr_hetero_start(tsr_hetero_graph *graph, const int64_t *slots, uint64_t count);
TSR_API void tsr_hetero_wait(void *launch);

/** Opens a stream of a graph's launches. `place` turns the inputs of an item, a word each, into `slots` words
 * as tsr_hetero_launch takes them. `kinds` says of each input whether it is an address ('p'), a signed or
 * unsigned integer ('i', 'u') or a number that travels as a double ('f'); `values` are those of the opening,
 * which hold for inputs that a push leaves out. `output` is the input whose address a pop returns. */
TSR_API void *tsr_hetero_stream(tsr_hetero_graph *graph, void (*place)(const int64_t *, int64_t *),
                                uint64_t slots, const char *kinds, const int64_t *values, uint64_t output);
/** Gives a stream one more item: the first inputs, as many as `kinds` has. */
TSR_API void tsr_hetero_push(void *stream, const char *kinds, const int64_t *values);
/** Waits for the oldest item; NULL after the last one of a closed stream. */
TSR_API void *tsr_hetero_pop(void *stream);
/** No more items. */
TSR_API void tsr_hetero_close(void *stream);

/** Ends the process with a message where a buffer is shorter than declared, or than what the loops write.
 * `known` is the size of the memory as the compiler sees it, or the largest number. */
TSR_API void tsr_hetero_check(const tsr_hetero_graph *graph, const char *buffer, const void *memory,
                              uint64_t declared, uint64_t known, uint64_t needed);

/** Gathers what the pointers in an array of structures point to; the result is what tsr_hetero_unpack takes.
 * `shape` says where the pointers and their numbers of elements lie. */
TSR_API void *tsr_hetero_pack(const void *structures, uint64_t count, const int64_t *shape);
/** Puts it back where the graph has written it, and frees it. */
TSR_API void tsr_hetero_unpack(void *pack, bool written);

/** Memory aligned as kernels like it. */
TSR_API void *tsr_hetero_malloc(size_t bytes);
TSR_API void tsr_hetero_free(void *memory);
TSR_API void tsr_hetero_copy(void *to, const void *from, size_t bytes);
TSR_API void tsr_hetero_request(void *memory, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
