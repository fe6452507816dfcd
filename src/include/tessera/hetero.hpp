// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hetero-C++ without markers: loops are lambdas, memory is spans with extents, and nothing is counted.
//
//   tessera::span x(px, n);
//   tessera::span y(py, n);
//   tessera::parallel_for(tessera::extent(n), [=](size_t i) { y[i] = a * x[i] + y[i]; });
//
// `tessera cc` makes of each call the graph that the markers of hetero.h would give: what the lambda captures
// are the inputs. docs/hetero-cpp.md has the list of all there is.
#ifndef TESSERA_HETERO_HPP
#define TESSERA_HETERO_HPP

#if __cplusplus < 202002L
#error "tessera/hetero.hpp needs C++20: add -std=c++20"
#endif

#include <tessera/hetero.h>

#include <concepts>
#include <cstddef>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>

// The mark tells the compiler that what is inside is its own, also after preprocessing.
namespace [[clang::annotate("tessera.own")]] tessera {

/// A text as an argument of a template: the name of a loop, or the targets that it may run on.
template <size_t Size> struct text {
  char characters[Size];
  consteval text(const char (&from)[Size]) {
    for (size_t i = 0; i < Size; ++i)
      characters[i] = from[i];
  }
};

/// How often a loop runs, in up to three dimensions. Below zero is not at all.
template <size_t Rank> struct extents {
  static_assert(Rank >= 1 && Rank <= 3, "a loop has one to three dimensions");
};
template <> struct extents<1> {
  size_t n;
};
template <> struct extents<2> {
  size_t n, m;
};
template <> struct extents<3> {
  size_t n, m, l;
};
template <std::integral... N> extents<sizeof...(N)> extent(N... n) { return {static_cast<size_t>(n)...}; }

/// A vector, an array, or whatever keeps its elements side by side.
template <typename R>
concept elements = requires(R &range) {
  { *std::data(range) };
  { std::size(range) } -> std::convertible_to<size_t>;
};

/// Memory with its extents, for lambdas to capture: v[i], v(i, j), v(i, j, k).
template <typename T, size_t Rank = 1> struct span {
  T *memory __hetero_count(rows * columns * depth);
  size_t rows, columns = 1, depth = 1;

  static_assert(Rank >= 1 && Rank <= 3, "a span has one to three extents");
  span(T *memory, size_t n)
    requires(Rank == 1)
      : memory(memory), rows(n) {}
  span(T *memory, size_t n, size_t m)
    requires(Rank == 2)
      : memory(memory), rows(n), columns(m) {}
  span(T *memory, size_t n, size_t m, size_t l)
    requires(Rank == 3)
      : memory(memory), rows(n), columns(m), depth(l) {}
  template <elements R>
    requires(Rank == 1)
  explicit span(R &range) : memory(std::data(range)), rows(std::size(range)) {}

  size_t size() const { return rows * columns * depth; }
  T &operator[](size_t i) const { return memory[i]; }
  T &operator()(size_t i) const { return memory[i]; }
  T &operator()(size_t i, size_t j) const {
    static_assert(Rank >= 2, "this span has one dimension");
    return memory[i * columns + j];
  }
  T &operator()(size_t i, size_t j, size_t k) const {
    static_assert(Rank == 3, "this span has fewer than three dimensions");
    return memory[(i * columns + j) * depth + k];
  }
};
template <typename T, typename... N> span(T *, N...) -> span<T, sizeof...(N)>;
template <elements R> span(R &range) -> span<std::remove_reference_t<decltype(*std::data(range))>, 1>;

/// How values of iterations combine.
struct sum_of {
  template <typename T> static T combine(T a, T b) { return a + b; }
};
struct product_of {
  template <typename T> static T combine(T a, T b) { return a * b; }
};
struct minimum_of {
  template <typename T> static T combine(T a, T b) { return b < a ? b : a; }
};
struct maximum_of {
  template <typename T> static T combine(T a, T b) { return a < b ? b : a; }
};
struct and_of {
  template <typename T> static T combine(T a, T b) { return a & b; }
};
struct or_of {
  template <typename T> static T combine(T a, T b) { return a | b; }
};
struct xor_of {
  template <typename T> static T combine(T a, T b) { return a ^ b; }
};
inline constexpr sum_of sum;
inline constexpr product_of product;
inline constexpr minimum_of minimum;
inline constexpr maximum_of maximum;
inline constexpr and_of bits_and;
inline constexpr or_of bits_or;
inline constexpr xor_of bits_xor;

/// An operation of one's own: associative and commutative, with an identity that changes nothing.
/// `tessera::operation<0.0f>([](float a, float b) { return std::hypot(a, b); })`
template <auto Identity, typename F> struct operation_of {
  static constexpr auto identity = Identity;
  template <typename T> static T combine(T a, T b) { return F{}(a, b); }
};
template <auto Identity, typename F> constexpr operation_of<Identity, F> operation(F) {
  static_assert(std::is_empty_v<F>, "an operation captures nothing: it depends on its two numbers alone");
  return {};
}

namespace detail {

template <typename Op, typename T> void combine(T *all, T one) {
  if constexpr (requires { Op::identity; })
    __hetero_combine(all, one, Op::combine, Op::identity);
  else
    *all = Op::combine(*all, one);
}

template <text Targets> inline constexpr bool hinted = Targets.characters[0] != 0;

/// The loops themselves: what the markers would say. A lambda is passed as what it is, a structure of its
/// captures.
template <text Name, text Targets, typename F> struct loop {
  static void parallel_for(size_t n, F *body, size_t bytes) {
    for (size_t x = 0; x < n; ++x) {
      __hetero_parallel_loop(1, 2, n, body, bytes, 1, body, bytes, Name.characters);
      if constexpr (hinted<Targets>)
        __hetero_hint(Targets.characters);
      (*body)(x);
    }
  }
  static void parallel_for_2(size_t n, size_t m, F *body, size_t bytes) {
    for (size_t y = 0; y < n; ++y)
      for (size_t x = 0; x < m; ++x) {
        __hetero_parallel_loop(2, 3, n, m, body, bytes, 1, body, bytes, Name.characters);
        if constexpr (hinted<Targets>)
          __hetero_hint(Targets.characters);
        (*body)(y, x);
      }
  }
  static void parallel_for_3(size_t n, size_t m, size_t l, F *body, size_t bytes) {
    for (size_t z = 0; z < n; ++z)
      for (size_t y = 0; y < m; ++y)
        for (size_t x = 0; x < l; ++x) {
          __hetero_parallel_loop(3, 4, n, m, l, body, bytes, 1, body, bytes, Name.characters);
          if constexpr (hinted<Targets>)
            __hetero_hint(Targets.characters);
          (*body)(z, y, x);
        }
  }
  static void task(F *body, size_t bytes) {
    void *task = __hetero_task_begin(1, body, bytes, 1, body, bytes, Name.characters);
    if constexpr (hinted<Targets>)
      __hetero_hint(Targets.characters);
    (*body)();
    __hetero_task_end(task);
  }
  static void graph(F *body, size_t) { (*body)(); }
};

template <text Name, text Targets, typename Op, typename T, typename F> struct reduction {
  static void reduce(size_t n, T *all, size_t allBytes, F *body, size_t bytes) {
    for (size_t x = 0; x < n; ++x) {
      __hetero_parallel_loop(1, 3, n, all, allBytes, body, bytes, 1, all, allBytes, Name.characters);
      if constexpr (hinted<Targets>)
        __hetero_hint(Targets.characters);
      combine<Op, T>(all, (*body)(x));
    }
  }
  static void reduce_2(size_t n, size_t m, T *all, size_t allBytes, F *body, size_t bytes) {
    for (size_t y = 0; y < n; ++y)
      for (size_t x = 0; x < m; ++x) {
        __hetero_parallel_loop(2, 4, n, m, all, allBytes, body, bytes, 1, all, allBytes, Name.characters);
        if constexpr (hinted<Targets>)
          __hetero_hint(Targets.characters);
        combine<Op, T>(all, (*body)(y, x));
      }
  }
  static void reduce_3(size_t n, size_t m, size_t l, T *all, size_t allBytes, F *body, size_t bytes) {
    for (size_t z = 0; z < n; ++z)
      for (size_t y = 0; y < m; ++y)
        for (size_t x = 0; x < l; ++x) {
          __hetero_parallel_loop(3, 5, n, m, l, all, allBytes, body, bytes, 1, all, allBytes,
                                 Name.characters);
          if constexpr (hinted<Targets>)
            __hetero_hint(Targets.characters);
          combine<Op, T>(all, (*body)(z, y, x));
        }
  }
  static void launch(extents<1> e, T &all, F &body) {
    __hetero_wait(__hetero_launch((void *)reduce, 3, e.n, &all, sizeof(T), &body, sizeof(F), 1, &all,
                                  sizeof(T), Name.characters));
  }
  static void launch(extents<2> e, T &all, F &body) {
    __hetero_wait(__hetero_launch((void *)reduce_2, 4, e.n, e.m, &all, sizeof(T), &body,
                                  sizeof(F), 1, &all, sizeof(T), Name.characters));
  }
  static void launch(extents<3> e, T &all, F &body) {
    __hetero_wait(__hetero_launch((void *)reduce_3, 5, e.n, e.m, e.l, &all, sizeof(T),
                                  &body, sizeof(F), 1, &all, sizeof(T), Name.characters));
  }
};

} // namespace detail

/// Runs `body(i…)` for all indices, in any order and at the same time. The lambda captures what it uses:
/// numbers, `tessera::span`, `std::span`, and by reference vectors and numbers that the iterations combine.
template <text Name = "parallel_for", text Targets = "", typename F>
void parallel_for(extents<1> e, F body) {
  static_assert(!std::is_empty_v<F>, "the loop has no effect: let the lambda capture what it writes");
  __hetero_wait(__hetero_launch((void *)detail::loop<Name, Targets, F>::parallel_for, 2, e.n, &body,
                                sizeof(F), 1, &body, sizeof(F), Name.characters));
}
template <text Name = "parallel_for", text Targets = "", typename F>
void parallel_for(extents<2> e, F body) {
  static_assert(!std::is_empty_v<F>, "the loop has no effect: let the lambda capture what it writes");
  __hetero_wait(__hetero_launch((void *)detail::loop<Name, Targets, F>::parallel_for_2, 3, e.n, e.m, &body,
                                sizeof(F), 1, &body, sizeof(F), Name.characters));
}
template <text Name = "parallel_for", text Targets = "", typename F>
void parallel_for(extents<3> e, F body) {
  static_assert(!std::is_empty_v<F>, "the loop has no effect: let the lambda capture what it writes");
  __hetero_wait(__hetero_launch((void *)detail::loop<Name, Targets, F>::parallel_for_3, 4, e.n, e.m, e.l,
                                &body, sizeof(F), 1, &body, sizeof(F), Name.characters));
}

/// Runs `body()` once: a task of a graph.
template <text Name = "task", text Targets = "", typename F> void task(F body) {
  static_assert(!std::is_empty_v<F>, "the task has no effect: let the lambda capture what it writes");
  __hetero_wait(__hetero_launch((void *)detail::loop<Name, Targets, F>::task, 1, &body, sizeof(F), 1, &body,
                                sizeof(F), Name.characters));
}

/// One graph of the loops and tasks that the lambda calls, in the order of their data; waits for it.
template <text Name = "graph", typename F> void run(F body) {
  static_assert(!std::is_empty_v<F>, "the graph has no effect: let the lambda capture what it writes");
  __hetero_wait(__hetero_launch((void *)detail::loop<Name, "", F>::graph, 1, &body, sizeof(F), 1, &body,
                                sizeof(F), Name.characters));
}

/// `start` combined with `body(i…)` of all indices, in any order.
template <text Name = "reduce", text Targets = "", typename Op, size_t Rank, typename T, typename F>
T reduce(Op, extents<Rank> count, T start, F body) {
  detail::reduction<Name, Targets, Op, T, F>::launch(count, start, body);
  return start;
}

/// Memory as it is passed to the function of a graph: a pointer and a size in bytes.
template <typename T, bool Written> struct object {
  T *memory;
  size_t bytes;
};
template <typename T, std::integral... N> object<const T, false> in(const T *memory, N... n) {
  static_assert(sizeof...(N) != 0, "how many elements? pass their number after the pointer");
  return {memory, (sizeof(T) * ... * static_cast<size_t>(n))};
}
template <typename T, std::integral... N> object<T, true> inout(T *memory, N... n) {
  static_assert(sizeof...(N) != 0, "how many elements? pass their number after the pointer");
  static_assert(!std::is_const_v<T>, "what is written cannot be const");
  return {memory, (sizeof(T) * ... * static_cast<size_t>(n))};
}
/// Memory that the graph writes and does not read.
template <typename T, std::integral... N> auto out(T *memory, N... n) { return inout(memory, n...); }
template <elements R> auto in(const R &range) { return in(std::data(range), std::size(range)); }
template <elements R> auto inout(R &range) { return inout(std::data(range), std::size(range)); }
template <elements R> auto out(R &range) { return inout(range); }
template <typename T, size_t Rank> auto in(span<T, Rank> s) { return in(s.memory, s.size()); }
template <typename T, size_t Rank> auto inout(span<T, Rank> s) { return inout(s.memory, s.size()); }
template <typename T, size_t Rank> auto out(span<T, Rank> s) { return inout(s.memory, s.size()); }

/// Memory between the tasks of a stream: each item has its own.
template <typename T> struct memory_between {
  size_t bytes;
};
template <typename T, std::integral... N> memory_between<T> between(N... n) {
  return {(sizeof(T) * ... * static_cast<size_t>(n))};
}

/// A launch that may still run; waits for it when it goes away.
class launch {
public:
  explicit launch(void *handle) : handle(handle) {}
  launch(launch &&other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  launch &operator=(launch &&other) noexcept {
    wait();
    handle = std::exchange(other.handle, nullptr);
    return *this;
  }
  ~launch() { wait(); }
  void wait() {
    if (handle)
      __hetero_wait(std::exchange(handle, nullptr));
  }

private:
  void *handle;
};

namespace detail {

/// An argument of a graph's function: what the launch passes, and the parameters that it is for. What is
/// passed as const is no output.
template <typename A> struct argument {
  static_assert(std::is_arithmetic_v<A> || std::is_enum_v<A>,
                "pass numbers, and memory as tessera::in, out or inout");
  using parameters = std::tuple<A>;
  static constexpr bool isOutput = false, isBetween = false;
  static std::tuple<A> pass(const A &a) { return {a}; }
};
template <typename T, bool Written> struct argument<object<T, Written>> {
  using parameters = std::tuple<T *, size_t>;
  static constexpr bool isOutput = Written, isBetween = false;
  static parameters pass(const object<T, Written> &o) { return {o.memory, o.bytes}; }
};
template <typename T> struct argument<memory_between<T>> {
  using parameters = std::tuple<T *, size_t>;
  static constexpr bool isOutput = false, isBetween = true;
  static std::tuple<const T *, size_t> pass(const memory_between<T> &m) { return {nullptr, m.bytes}; }
};

/// Whether the parameters of a function begin with these.
template <typename F, typename P> inline constexpr bool beginsWith = false;
template <typename... Q, typename... P>
inline constexpr bool beginsWith<void (*)(Q...), std::tuple<P...>> = [] {
  if constexpr (sizeof...(P) > sizeof...(Q))
    return false;
  else
    return []<size_t... K>(std::index_sequence<K...>) {
      return (true && ... && std::is_convertible_v<P, std::tuple_element_t<K, std::tuple<Q...>>>);
    }(std::index_sequence_for<P...>());
}();

template <typename... A>
using parameters = decltype(std::tuple_cat(std::declval<typename argument<A>::parameters>()...));

/// The launches themselves, with all arguments side by side.
template <auto Root, unsigned Objects> struct rooted {
  template <typename... I> static void run(I... i) {
    __hetero_wait(__hetero_launch((void *)Root, Objects, i..., Objects, i...));
  }
  template <typename... I> static void *start(I... i) {
    return __hetero_launch((void *)Root, Objects, i..., Objects, i...);
  }
  template <typename... I> static void *open(I... i) {
    return __hetero_launch_stream((void *)Root, Objects, i..., Objects, i...);
  }
  template <typename... I> static void push(void *stream, I... i) { __hetero_push(stream, Objects, i...); }
};

template <typename... A> auto pass(const A &...arguments) {
  return std::tuple_cat(argument<A>::pass(arguments)...);
}

} // namespace detail

/// The graph that a function with tasks and loops describes: built when the program is compiled, launched as
/// often as one likes. `tessera::graph<normalise> g; g(tessera::in(x), tessera::out(y), n);`
template <auto Root> class graph {
public:
  /// Runs it and waits.
  template <typename... A> void operator()(const A &...arguments) const {
    check<A...>();
    std::apply([](auto... each) { detail::rooted<Root, sizeof...(A)>::run(each...); },
               detail::pass(arguments...));
  }
  /// Runs it while the host goes on.
  template <typename... A> [[nodiscard]] launch start(const A &...arguments) const {
    check<A...>();
    return launch(std::apply([](auto... each) { return detail::rooted<Root, sizeof...(A)>::start(each...); },
                             detail::pass(arguments...)));
  }

private:
  template <typename... P> static consteval size_t arity(void (*)(P...)) { return sizeof...(P); }
  template <typename... A> static consteval void check() {
    static_assert(std::tuple_size_v<detail::parameters<A...>> == arity(Root) &&
                      detail::beginsWith<decltype(Root), detail::parameters<A...>>,
                  "the arguments are not those of the graph's function: a pointer and a size for memory, "
                  "numbers as they are");
    static_assert((false || ... || detail::argument<A>::isOutput),
                  "the graph has no effect: pass what it writes as tessera::out or inout");
    static_assert(!(false || ... || detail::argument<A>::isBetween),
                  "only a stream makes memory between tasks: pass tessera::inout");
  }
};

/// The graph of a function for one item after the other, several at the same time. It is opened with the
/// arguments of an item; a push takes the same, or the first of them.
template <auto Root> class stream {
public:
  template <typename... A>
  explicit stream(const A &...arguments)
      : handle(std::apply([](auto... each) { return detail::rooted<Root, sizeof...(A)>::open(each...); },
                          detail::pass(arguments...))) {
    static_assert(detail::beginsWith<decltype(Root), detail::parameters<A...>>,
                  "the arguments are not those of the stream's function: a pointer and a size for memory, "
                  "numbers as they are");
    static_assert((false || ... || detail::argument<A>::isOutput),
                  "the items of the stream have no effect: pass what they write as tessera::out or inout");
  }
  stream(const stream &) = delete;
  stream &operator=(const stream &) = delete;
  /// Waits for all items.
  ~stream() { __hetero_wait(handle); }
  /// One more item. Waits while the stream is full.
  template <typename... A> void push(const A &...arguments) {
    static_assert(detail::beginsWith<decltype(Root), detail::parameters<A...>>,
                  "an item is not what the stream's function begins with: push its arguments in their order");
    std::apply([&](auto... each) { detail::rooted<Root, sizeof...(A)>::push(handle, each...); },
               detail::pass(arguments...));
  }
  /// Waits for the oldest item and returns where its first output is; null after the last one.
  template <typename T = void> T *pop() { return static_cast<T *>(__hetero_pop(handle)); }
  /// No more items.
  void close() { __hetero_close(handle); }

private:
  void *handle;
};

} // namespace tessera

#endif
