// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hetero-C++ without markers: loops are lambdas, buffers are views with extents, and nothing is counted.
//
//   tessera::parallel_for(tessera::extent(n), [](size_t i, float a, auto x, auto y) { y[i] = a * x[i] + y[i];
//   },
//                         a, tessera::in(x, n), tessera::inout(y, n));
//
// The lambda captures nothing: what it uses follows it and comes back as its parameters, numbers as they are
// and views as views. `tessera cc` makes of each call the graph that the markers of hetero.h would give.
#ifndef TESSERA_HETERO_HPP
#define TESSERA_HETERO_HPP

#include <tessera/hetero.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tessera {

/// How often a loop runs, in up to three dimensions.
template <size_t Rank> struct extents {
  size_t count[Rank];
};
template <std::integral... N> extents<sizeof...(N)> extent(N... n) {
  static_assert(sizeof...(N) >= 1 && sizeof...(N) <= 3, "a loop has one to three dimensions");
  return {{static_cast<size_t>(n)...}};
}

/// Memory with its extents, as a lambda sees it: v[i], v(i, j), v(i, j, k).
template <typename T, size_t Rank> struct view {
  T *memory;
  size_t columns, depth;

  T &operator[](size_t i) const { return memory[i]; }
  T &operator()(size_t i) const { return memory[i]; }
  T &operator()(size_t i, size_t j) const {
    static_assert(Rank >= 2, "this view has one dimension");
    return memory[i * columns + j];
  }
  T &operator()(size_t i, size_t j, size_t k) const {
    static_assert(Rank == 3, "this view has fewer than three dimensions");
    return memory[(i * columns + j) * depth + k];
  }
};

/// Memory with its extents that lambdas may capture.
template <typename T, size_t Rank = 1> struct span {
  T *memory __hetero_count(rows * columns * depth);
  size_t rows, columns = 1, depth = 1;

  template <std::integral... N> explicit span(T *memory, N... n) : memory(memory) {
    static_assert(sizeof...(N) == Rank && Rank >= 1 && Rank <= 3, "a span has one to three extents");
    size_t e[3] = {static_cast<size_t>(n)...};
    rows = e[0];
    if constexpr (Rank > 1)
      columns = e[1];
    if constexpr (Rank > 2)
      depth = e[2];
  }
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

/// Memory as it is passed: read only, or written as well.
template <typename T, size_t Rank, bool Written> struct object {
  T *memory;
  size_t rows, columns, depth;
};
template <typename T, std::integral... N> object<const T, sizeof...(N), false> in(const T *memory, N... n) {
  static_assert(sizeof...(N) >= 1 && sizeof...(N) <= 3, "a view has one to three extents");
  size_t e[3] = {static_cast<size_t>(n)...};
  return {memory, e[0], sizeof...(N) > 1 ? e[1] : 1, sizeof...(N) > 2 ? e[2] : 1};
}
template <typename T, std::integral... N> object<T, sizeof...(N), true> inout(T *memory, N... n) {
  static_assert(!std::is_const_v<T>, "what is written cannot be const");
  static_assert(sizeof...(N) >= 1 && sizeof...(N) <= 3, "a view has one to three extents");
  size_t e[3] = {static_cast<size_t>(n)...};
  return {memory, e[0], sizeof...(N) > 1 ? e[1] : 1, sizeof...(N) > 2 ? e[2] : 1};
}
/// Memory that the loop writes and does not read.
template <typename T, std::integral... N> auto out(T *memory, N... n) { return inout(memory, n...); }

/// How values of iterations combine.
struct sum_of {
  template <typename T> static void combine(T &all, T one) { all += one; }
};
struct product_of {
  template <typename T> static void combine(T &all, T one) { all *= one; }
};
struct minimum_of {
  template <typename T> static void combine(T &all, T one) { all = std::min(all, one); }
};
struct maximum_of {
  template <typename T> static void combine(T &all, T one) { all = std::max(all, one); }
};
struct and_of {
  template <typename T> static void combine(T &all, T one) { all &= one; }
};
struct or_of {
  template <typename T> static void combine(T &all, T one) { all |= one; }
};
inline constexpr sum_of sum;
inline constexpr product_of product;
inline constexpr minimum_of minimum;
inline constexpr maximum_of maximum;
inline constexpr and_of bits_and;
inline constexpr or_of bits_or;

/// From here on: how arguments travel. Written buffers come first, as pairs of a pointer and its size; then,
/// in the order of the call, numbers, other buffers, and the inner extents of all.
namespace detail {

template <typename A> struct traits {
  static_assert(std::is_arithmetic_v<A> || std::is_enum_v<A>,
                "pass numbers, and memory as tessera::in, out or inout");
  static constexpr size_t objects = 1, outs = 0, ins = 1;
  using type = A;
  static std::tuple<> written(const A &) { return {}; }
  static std::tuple<A> rest(const A &a) { return {a}; }
};
template <typename T, size_t Rank, bool Written> struct traits<object<T, Rank, Written>> {
  static constexpr size_t objects = Rank, outs = Written ? 2 : 0, ins = (Written ? 0 : 2) + Rank - 1;
  using type = view<T, Rank>;
  static auto memory(const object<T, Rank, Written> &o) {
    return std::tuple<T *, size_t>(o.memory, o.rows * o.columns * o.depth * sizeof(T));
  }
  static auto inner(const object<T, Rank, Written> &o) {
    if constexpr (Rank == 1)
      return std::tuple<>();
    else if constexpr (Rank == 2)
      return std::tuple<size_t>(o.columns);
    else
      return std::tuple<size_t, size_t>(o.columns, o.depth);
  }
  static auto written(const object<T, Rank, Written> &o) {
    if constexpr (Written)
      return memory(o);
    else
      return std::tuple<>();
  }
  static auto rest(const object<T, Rank, Written> &o) {
    if constexpr (Written)
      return inner(o);
    else
      return std::tuple_cat(memory(o), inner(o));
  }
};

/// Where the K-th argument's pieces are.
template <size_t K, typename... A> struct position {
  static constexpr size_t count(const size_t *each, size_t n) {
    size_t sum = 0;
    for (size_t i = 0; i < n; ++i)
      sum += each[i];
    return sum;
  }
  static constexpr size_t outs[] = {traits<A>::outs..., 0}, ins[] = {traits<A>::ins..., 0};
  static constexpr size_t out = count(outs, K), in = count(outs, sizeof...(A)) + count(ins, K);
};

template <size_t K, typename H, typename... R> inline auto nth(H head, R... rest) {
  if constexpr (K == 0)
    return head;
  else
    return nth<K - 1>(rest...);
}

template <typename A, size_t Out, size_t In> struct argument {
  template <typename... P> static A get(P... flat) { return nth<In>(flat...); }
};
template <typename T, size_t Rank, bool Written, size_t Out, size_t In>
struct argument<object<T, Rank, Written>, Out, In> {
  static constexpr size_t at = In + (Written ? 0 : 2);
  template <typename... P> static view<T, Rank> get(P... flat) {
    if constexpr (Rank == 1)
      return {nth<Written ? Out : In>(flat...), 1, 1};
    else if constexpr (Rank == 2)
      return {nth<Written ? Out : In>(flat...), nth<at>(flat...), 1};
    else
      return {nth<Written ? Out : In>(flat...), nth<at>(flat...), nth<at + 1>(flat...)};
  }
};

template <typename... T> struct list {};

/// The loops themselves: what the markers would say.
template <typename F, typename K, typename A, typename O, typename I> struct loop;
template <typename F, size_t... K, typename... A, typename... O, typename... I>
struct loop<F, std::index_sequence<K...>, list<A...>, std::tuple<O...>, std::tuple<I...>> {
  static constexpr unsigned objects = (0 + ... + traits<A>::objects), outputs = sizeof...(O) / 2;

  static void parallel_for(size_t n, O... o, I... i) {
    for (size_t x = 0; x < n; ++x) {
      __hetero_parallel_loop(1, objects + 1, n, o..., i..., outputs, o..., "loop");
      F body{};
      body(x, argument<A, position<K, A...>::out, position<K, A...>::in>::get(o..., i...)...);
    }
  }
  static void parallel_for_2(size_t n, size_t m, O... o, I... i) {
    for (size_t y = 0; y < n; ++y)
      for (size_t x = 0; x < m; ++x) {
        __hetero_parallel_loop(2, objects + 2, n, m, o..., i..., outputs, o..., "loop");
        F body{};
        body(y, x, argument<A, position<K, A...>::out, position<K, A...>::in>::get(o..., i...)...);
      }
  }
  static void parallel_for_3(size_t n, size_t m, size_t l, O... o, I... i) {
    for (size_t z = 0; z < n; ++z)
      for (size_t y = 0; y < m; ++y)
        for (size_t x = 0; x < l; ++x) {
          __hetero_parallel_loop(3, objects + 3, n, m, l, o..., i..., outputs, o..., "loop");
          F body{};
          body(z, y, x, argument<A, position<K, A...>::out, position<K, A...>::in>::get(o..., i...)...);
        }
  }
  static void launch(extents<1> e, O... o, I... i) {
    __hetero_wait(__hetero_launch((void *)parallel_for, objects + 1, e.count[0], o..., i..., outputs, o...));
  }
  static void launch(extents<2> e, O... o, I... i) {
    __hetero_wait(__hetero_launch((void *)parallel_for_2, objects + 2, e.count[0], e.count[1], o..., i...,
                                  outputs, o...));
  }
  static void launch(extents<3> e, O... o, I... i) {
    __hetero_wait(__hetero_launch((void *)parallel_for_3, objects + 3, e.count[0], e.count[1], e.count[2],
                                  o..., i..., outputs, o...));
  }
};

template <typename Op, typename T, typename F, typename K, typename A, typename I> struct reduction;
template <typename Op, typename T, typename F, size_t... K, typename... A, typename... I>
struct reduction<Op, T, F, std::index_sequence<K...>, list<A...>, std::tuple<I...>> {
  static constexpr unsigned objects = (0 + ... + traits<A>::objects);

  static void reduce(size_t n, T *result, size_t resultBytes, I... i) {
    for (size_t x = 0; x < n; ++x) {
      __hetero_parallel_loop(1, objects + 2, n, result, resultBytes, i..., 1, result, resultBytes, "reduce");
      F body{};
      Op::combine(*result, static_cast<T>(body(
                               x, argument<A, position<K, A...>::out, position<K, A...>::in>::get(i...)...)));
    }
  }
  static T launch(extents<1> e, T start, I... i) {
    __hetero_wait(__hetero_launch((void *)reduce, objects + 2, e.count[0], &start, sizeof(T), i..., 1, &start,
                                  sizeof(T)));
    return start;
  }
};

/// A lambda that captures is passed as what it is, a structure of its captures.
template <typename F> struct captured {
  static void parallel_for(size_t n, F *body, size_t bodyBytes) {
    for (size_t x = 0; x < n; ++x) {
      __hetero_parallel_loop(1, 2, n, body, bodyBytes, 1, body, bodyBytes, "loop");
      (*body)(x);
    }
  }
  static void parallel_for_2(size_t n, size_t m, F *body, size_t bodyBytes) {
    for (size_t y = 0; y < n; ++y)
      for (size_t x = 0; x < m; ++x) {
        __hetero_parallel_loop(2, 3, n, m, body, bodyBytes, 1, body, bodyBytes, "loop");
        (*body)(y, x);
      }
  }
  static void parallel_for_3(size_t n, size_t m, size_t l, F *body, size_t bodyBytes) {
    for (size_t z = 0; z < n; ++z)
      for (size_t y = 0; y < m; ++y)
        for (size_t x = 0; x < l; ++x) {
          __hetero_parallel_loop(3, 4, n, m, l, body, bodyBytes, 1, body, bodyBytes, "loop");
          (*body)(z, y, x);
        }
  }
  static void launch(extents<1> e, F &body) {
    __hetero_wait(
        __hetero_launch((void *)parallel_for, 2, e.count[0], &body, sizeof(F), 1, &body, sizeof(F)));
  }
  static void launch(extents<2> e, F &body) {
    __hetero_wait(__hetero_launch((void *)parallel_for_2, 3, e.count[0], e.count[1], &body, sizeof(F), 1,
                                  &body, sizeof(F)));
  }
  static void launch(extents<3> e, F &body) {
    __hetero_wait(__hetero_launch((void *)parallel_for_3, 4, e.count[0], e.count[1], e.count[2], &body,
                                  sizeof(F), 1, &body, sizeof(F)));
  }
};
template <typename Op, typename T, typename F> struct captured_reduction {
  static void reduce(size_t n, T *result, size_t resultBytes, F *body, size_t bodyBytes) {
    for (size_t x = 0; x < n; ++x) {
      __hetero_parallel_loop(1, 3, n, result, resultBytes, body, bodyBytes, 1, result, resultBytes, "reduce");
      Op::combine(*result, static_cast<T>((*body)(x)));
    }
  }
  static T launch(extents<1> e, T start, F &body) {
    __hetero_wait(__hetero_launch((void *)reduce, 3, e.count[0], &start, sizeof(T), &body, sizeof(F), 1,
                                  &start, sizeof(T)));
    return start;
  }
};

} // namespace detail

/// Runs `body(i…, arguments…)` for all indices, in any order and at the same time. What the lambda uses
/// follows it as arguments, or is captured by value: numbers, and memory as `tessera::span` or `std::span`.
template <size_t Rank, typename F, typename... A>
void parallel_for(extents<Rank> count, F body, const A &...arguments) {
  if constexpr (std::is_empty_v<F>) {
    auto written = std::tuple_cat(detail::traits<A>::written(arguments)...);
    auto rest = std::tuple_cat(detail::traits<A>::rest(arguments)...);
    static_assert(std::tuple_size_v<decltype(written)> != 0,
                  "the loop has no effect: pass what it writes as tessera::out or inout, or capture it");
    using loop = detail::loop<F, std::make_index_sequence<sizeof...(A)>, detail::list<A...>,
                              decltype(written), decltype(rest)>;
    std::apply([&](auto... each) { loop::launch(count, each...); }, std::tuple_cat(written, rest));
  } else {
    static_assert(sizeof...(A) == 0, "a lambda that captures takes no arguments: capture all that it uses");
    detail::captured<F>::launch(count, body);
  }
}

/// `start` combined with `body(i, arguments…)` of all indices, in any order.
template <typename Op, typename T, typename F, typename... A>
T reduce(Op, extents<1> count, T start, F body, const A &...arguments) {
  if constexpr (std::is_empty_v<F>) {
    static_assert((0 + ... + detail::traits<A>::outs) == 0,
                  "a reduction reads its buffers: pass tessera::in");
    auto rest = std::tuple_cat(detail::traits<A>::rest(arguments)...);
    using reduction = detail::reduction<Op, T, F, std::make_index_sequence<sizeof...(A)>, detail::list<A...>,
                                        decltype(rest)>;
    return std::apply([&](auto... each) { return reduction::launch(count, start, each...); }, rest);
  } else {
    static_assert(sizeof...(A) == 0, "a lambda that captures takes no arguments: capture all that it uses");
    return detail::captured_reduction<Op, T, F>::launch(count, start, body);
  }
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

/// An argument of a graph's function as the launch passes it: a number, or a pointer and its size.
template <typename A> struct passed {
  static_assert(std::is_arithmetic_v<A> || std::is_enum_v<A>,
                "pass numbers, and memory as tessera::in, out or inout");
  static constexpr bool isOut = false;
  static std::tuple<A> in(const A &a) { return {a}; }
};
template <typename T, size_t Rank, bool Written> struct passed<object<T, Rank, Written>> {
  static constexpr bool isOut = Written;
  static std::tuple<T *, size_t> in(const object<T, Rank, Written> &o) {
    return {o.memory, o.rows * o.columns * o.depth * sizeof(T)};
  }
};
template <typename A> auto asInput(const A &a) { return passed<A>::in(a); }
template <typename A> auto asOutput(const A &a) {
  if constexpr (passed<A>::isOut)
    return passed<A>::in(a);
  else
    return std::tuple<>();
}

template <auto Root, unsigned Objects, unsigned Outputs, typename I, typename O> struct rooted;
template <auto Root, unsigned Objects, unsigned Outputs, typename... I, typename... O>
struct rooted<Root, Objects, Outputs, std::tuple<I...>, std::tuple<O...>> {
  static_assert(
      std::is_invocable_v<decltype(Root), I...>,
      "the arguments are not those of the graph's function: a pointer and a size for memory, numbers as "
      "they are");
  static void run(I... i, O... o) {
    __hetero_wait(__hetero_launch((void *)Root, Objects, i..., Outputs, o...));
  }
  static void *start(I... i, O... o) { return __hetero_launch((void *)Root, Objects, i..., Outputs, o...); }
};
template <auto Root, typename... A>
using rooted_for = rooted<Root, unsigned(sizeof...(A)), (0u + ... + unsigned(passed<A>::isOut)),
                          decltype(std::tuple_cat(asInput(std::declval<A>())...)),
                          decltype(std::tuple_cat(asOutput(std::declval<A>())...))>;

} // namespace detail

/// The graph that a function with tasks and loops describes: built when the program is compiled, launched as
/// often as one likes. `tessera::graph<normalise> g; g(tessera::in(x, n), tessera::out(y, n), n);`
template <auto Root> class graph {
public:
  /// Runs it and waits.
  template <typename... A> void operator()(const A &...arguments) const {
    std::apply([](auto... each) { detail::rooted_for<Root, A...>::run(each...); }, flat(arguments...));
  }
  /// Runs it while the host goes on.
  template <typename... A> [[nodiscard]] launch start(const A &...arguments) const {
    return launch(std::apply([](auto... each) { return detail::rooted_for<Root, A...>::start(each...); },
                             flat(arguments...)));
  }

private:
  template <typename... A> static auto flat(const A &...arguments) {
    return std::tuple_cat(detail::asInput(arguments)..., detail::asOutput(arguments)...);
  }
};

} // namespace tessera

#endif
