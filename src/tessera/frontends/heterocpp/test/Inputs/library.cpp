// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of the library, in a loop of a graph and on the host.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <tessera/hetero.hpp>
#include <tuple>
#include <utility>
#include <vector>

static int functions = 0;

// `f` takes a row of floats and a row of integers.
template <tessera::text Name, typename F> static void check(const char *name, F f) {
  std::vector<float> reals(17 * 16);
  std::vector<int> integers(17 * 16);
  for (size_t i = 0; i < reals.size(); ++i) {
    reals[i] = (i * 7 + i / 5) % 9;
    integers[i] = (i * 5 + i / 3) % 10;
  }
  std::vector<double> results(17);
  tessera::span a(reals);
  tessera::span k(integers);
  tessera::span r(results);
  tessera::parallel_for<Name>(tessera::extent(17),
                              [=](size_t i) { r[i] = f(a.memory + 16 * i, k.memory + 16 * i); });
  for (size_t i = 0; i < 17; ++i) {
    double expected = f(&reals[16 * i], &integers[16 * i]);
    if (!(std::fabs(results[i] - expected) <= 2e-6 * std::fabs(expected)) && expected == expected)
      std::printf("%s differs in row %zu: %g, but expected %g\n", name, i, results[i], expected);
  }
  ++functions;
}

#define CHECK(name, ...)                                                                                     \
  check<#name>(#name, [](const float *a, const int *k) {                                                     \
    double r = 0;                                                                                            \
    __VA_ARGS__ return r;                                                                                    \
  })

int main() {
  CHECK(lower_bound, float t[8] = {0, 1, 2, 3, 4, 5, 6, 7}; r = std::lower_bound(t, t + 8, a[0]) - t;);
  CHECK(binary_search, int t[8] = {0, 1, 2, 3, 4, 5, 6, 9}; r = std::binary_search(t, t + 8, k[0]););
  CHECK(equal, r = std::equal(k, k + 8, k + 8););
  CHECK(array_cmp, std::array<int, 2> t = {k[0], k[1]}, u = {k[2], k[3]}; r = t == u;);
  CHECK(memcmp, r = std::memcmp(k, k + 1, 4) == 0;);
  CHECK(memmove_right, int t[16]; std::memcpy(t, k, sizeof t); std::memmove(t + 2, t, 10 * sizeof(int));
        for (int q = 0; q < 16; ++q) r = r * 3 + t[q];);
  CHECK(memmove_bytes, unsigned char t[16]; for (int q = 0; q < 16; ++q) t[q] = k[q];
        std::memmove(t + 1, t, 10); for (int q = 0; q < 16; ++q) r = r * 3 + t[q];);
  CHECK(copy_backward, int t[16]; std::copy(k, k + 16, t); std::copy_backward(t, t + 10, t + 12);
        for (int q = 0; q < 16; ++q) r = r * 3 + t[q];);
  CHECK(copy_overlap_left, int t[16]; std::copy(k, k + 16, t); std::copy(t + 2, t + 12, t);
        for (int q = 0; q < 16; ++q) r = r * 3 + t[q];);
  CHECK(memset_odd, unsigned t[4] = {0xffffffff, 0xffffffff, 3, 4}; std::memset(t, 0, 6);
        r = t[1] % 1000003;);
  CHECK(memset_ff, int t[4] = {1, 2, 3, 4}; std::memset(t, 0xff, 8); r = t[0] + 10 * t[3];);
  CHECK(fill_bytes, unsigned char t[16]; std::fill(t, t + 16, (unsigned char)7); r = t[5];);
  CHECK(minmax, auto p = std::minmax(a[0], a[1]); r = p.first + 100 * p.second;);
  CHECK(min_cmp, r = std::min(a[0], a[1], [](float x, float y) { return x > y; }););
  CHECK(clamp_cmp, r = std::clamp(a[0], 3.0f, 1.0f, std::greater<>()););
  CHECK(sort, int t[16]; std::copy(k, k + 16, t); std::sort(t, t + 16);
        r = t[0] + 100 * t[7] + 1000 * t[15];);
  CHECK(array_sort, std::array<int, 4> t = {k[0], k[1], k[2], k[3]}; std::sort(t.begin(), t.end());
        r = t[0] + 10 * t[3];);
  CHECK(nth_element, int t[16]; std::copy(k, k + 16, t); std::nth_element(t, t + 8, t + 16); r = t[8];);
  CHECK(heap, int t[16]; std::copy(k, k + 16, t); std::make_heap(t, t + 16); r = t[0];
        std::pop_heap(t, t + 16); r += 100 * t[0];);
  CHECK(gcd, r = std::gcd(k[0], k[1] + 6););
  CHECK(lcm, r = std::lcm(k[0] + 1, k[1] + 6););
  CHECK(pair_less, std::pair<int, float> p(k[0], a[0]), q(k[1], a[1]); r = p < q;);
  CHECK(tuple_cmp, r = std::make_tuple(k[0], k[1]) < std::make_tuple(k[2], k[3]););
  CHECK(div, auto d = std::div(k[0] + 17, 5); r = d.quot + 10 * d.rem;);
  CHECK(byteswap, r = __builtin_bswap32(k[0]) % 1000003;);
  CHECK(bitreverse, r = __builtin_bitreverse32(k[0]) % 1000003;);
  CHECK(parity, r = __builtin_parity(k[0]););
  CHECK(ffs, r = __builtin_ffs(k[0]););
  CHECK(clrsb, r = __builtin_clrsb(k[0]););
  CHECK(add_overflow, int s; bool o = __builtin_add_overflow(k[0], 2147483640, &s); r = o + s % 1000;);
  CHECK(mul_overflow, int s; bool o = __builtin_mul_overflow(k[0], 400000000, &s); r = o;);
  CHECK(m_isless_float, r = std::isless((float)a[0], (float)a[1] + 1););
  CHECK(m_isnormal_double, r = std::isnormal((double)a[0]););
  CHECK(m_fpclassify_float, r = std::fpclassify((float)a[0]););
  CHECK(m_remainder_float, r = std::remainder((float)a[0], (float)a[1] + 1););
  CHECK(m_remainder_double, r = std::remainder((double)a[0], (double)a[1] + 1););
  CHECK(m_nextafter_float, r = std::nextafter((float)a[0], (float)a[1] + 1););
  CHECK(m_exp10, r = exp10(a[0] / 8););
  std::printf("%d functions\n", functions);
}
