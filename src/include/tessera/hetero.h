/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The marker functions of Hetero-C++. A program that is compiled by `tessera cc` marks tasks and parallel
 * loops with them; the compiler turns what they enclose into graphs. They are declarations only: no call of a
 * marker is left in the executable. docs/hetero-cpp.md says what each one takes.
 */
#ifndef TESSERA_HETERO_H
#define TESSERA_HETERO_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#define TESSERA_NOTHROW noexcept
#else
#define TESSERA_NOTHROW
#endif

/* An object is a pointer followed by its size in bytes, or a scalar. A list is the number of objects and the
 * objects; most markers take a list of inputs, a list of outputs and, at the end, an optional name. */

/** Starts the graph that function `root` describes; its parameters are the inputs, in their order. */
void *__hetero_launch(void *root, ...) TESSERA_NOTHROW;
/** Starts the graph between this call and __hetero_launch_end. */
void *__hetero_launch_begin(unsigned inputs, ...) TESSERA_NOTHROW;
void __hetero_launch_end(void *launch) TESSERA_NOTHROW;
/** Waits for a launch; its outputs are valid afterwards. */
void __hetero_wait(void *launch) TESSERA_NOTHROW;

/** A stream: the graph runs for each item that is pushed, several at the same time. Nothing runs before. What
 * is listed as an output is written for each item; other memory that the graph writes belongs to the item and
 * has no content at its beginning. */
void *__hetero_launch_stream(void *root, ...) TESSERA_NOTHROW;
/** One more item: the objects of the stream's inputs, or the first of them; the others are as at the launch.
 * Waits while the stream is full, and for items before it that write the same memory. */
void __hetero_push(void *stream, ...) TESSERA_NOTHROW;
/** Waits for the oldest item and returns the address of its first output; NULL after the last one of a closed
 * stream. */
void *__hetero_pop(void *stream) TESSERA_NOTHROW;
/** No more items. __hetero_wait(stream) closes the stream, waits for all items and ends it. */
void __hetero_close(void *stream) TESSERA_NOTHROW;

/** What is between are tasks and parallel loops, which may run at the same time where no data connects them.
 */
void *__hetero_section_begin(void) TESSERA_NOTHROW;
void __hetero_section_end(void *section) TESSERA_NOTHROW;
void *__hetero_task_begin(unsigned inputs, ...) TESSERA_NOTHROW;
void __hetero_task_end(void *task) TESSERA_NOTHROW;
/** First statement of the innermost of `loops` perfectly nested loops whose iterations are independent. */
void __hetero_parallel_loop(unsigned loops, ...) TESSERA_NOTHROW;

/** Where a task or loop may run: a device of `enum Target`, or in C++ a string such as "cpu,cuda". */
void __hetero_hint(int target) TESSERA_NOTHROW;
/** Objects that each task or iteration has for itself. */
void __hetero_priv(unsigned count, ...) TESSERA_NOTHROW;
/** The loop around this call runs at least once. */
void __hetero_isNonZeroLoop(long loop, ...) TESSERA_NOTHROW;

/** Memory that graphs use without a copy. */
void *__hetero_malloc(size_t bytes) TESSERA_NOTHROW;
void __hetero_free(void *memory) TESSERA_NOTHROW;
void __hetero_copy_mem(void *to, void *from, size_t bytes) TESSERA_NOTHROW;
/** Makes the content of memory valid on the host. */
void __hetero_request_mem(void *memory, size_t bytes) TESSERA_NOTHROW;

/** At a pointer in a structure: how many elements it points to, as a sum of products of constants and integer
 * members beside it. `float *values __hetero_count(rows * cols);` */
#ifdef __clang__
#define __hetero_count(elements) __attribute__((annotate("tessera.count=" #elements)))
#else
#define __hetero_count(elements)
#endif

/** Inside a parallel loop: all iterations of the loop come here before one goes on. */
void __hetero_barrier(void) TESSERA_NOTHROW;
/** Inside a parallel loop: memory that all iterations share, of constant size. */
void *__hetero_scratch(size_t bytes) TESSERA_NOTHROW;

/* The older spellings. */
void *__hpvm_launch(void *root, ...) TESSERA_NOTHROW;
void *__hpvm_launch_begin(unsigned inputs, ...) TESSERA_NOTHROW;
void __hpvm_launch_end(void *launch) TESSERA_NOTHROW;
void __hpvm_wait(void *launch) TESSERA_NOTHROW;
void *__hpvm_parallel_section_begin(void) TESSERA_NOTHROW;
void __hpvm_parallel_section_end(void *section) TESSERA_NOTHROW;
void *__hpvm_task_begin(unsigned inputs, ...) TESSERA_NOTHROW;
void __hpvm_task_end(void *task) TESSERA_NOTHROW;
void __hpvm_parallel_loop(unsigned loops, ...) TESSERA_NOTHROW;
void __hpvm_priv(unsigned count, ...) TESSERA_NOTHROW;

#ifdef __cplusplus
}

/** Where a task or loop may run, by the names of targets. */
void __hetero_hint(const char *targets) noexcept __asm__("__hetero_hint");

/* Atomic updates of an element of a buffer, of any type of number; each returns the value before. */
#define TESSERA_ATOMIC(name)                                                                                 \
  template <typename T, typename V> inline T __hetero_atomic_##name(T *element, V value) noexcept {          \
    return __atomic_fetch_##name(element, static_cast<T>(value), __ATOMIC_RELAXED);                          \
  }
TESSERA_ATOMIC(add)
TESSERA_ATOMIC(sub)
TESSERA_ATOMIC(min)
TESSERA_ATOMIC(max)
TESSERA_ATOMIC(and)
TESSERA_ATOMIC(or)
TESSERA_ATOMIC(xor)
#undef TESSERA_ATOMIC
template <typename T, typename V> inline T __hetero_atomic_xchg(T *element, V value) noexcept {
  T next = static_cast<T>(value), seen;
  __atomic_exchange(element, &next, &seen, __ATOMIC_RELAXED);
  return seen;
}
/** Stores `desired` where the element is `expected`. */
template <typename T, typename E, typename V>
inline T __hetero_atomic_cas(T *element, E expected, V desired) noexcept {
  T seen = static_cast<T>(expected), next = static_cast<T>(desired);
  __atomic_compare_exchange(element, &seen, &next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return seen;
}

/** Inside a parallel loop: `*all = combine(*all, one)` by an operation of one's own, a function or a lambda
 * of two numbers. It is associative and commutative, and a combination with `identity`, a constant, changes
 * nothing: iterations are combined in any order. */
template <typename T> struct __hetero_number {
  typedef T type;
};
template <typename T>
inline void __hetero_combine(T *all, typename __hetero_number<T>::type one,
                             typename __hetero_number<T>::type (*combine)(typename __hetero_number<T>::type,
                                                                          typename __hetero_number<T>::type),
                             typename __hetero_number<T>::type) {
  *all = combine(*all, one);
}
#endif

#endif
