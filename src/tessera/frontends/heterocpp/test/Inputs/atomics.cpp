// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomic updates in every spelling and for every type, with results that do not depend on the order.
#include "heterocc.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <vector>

static int bad = 0;
static void expect(const char *what, bool right) {
  if (!right) {
    std::printf("%s is wrong\n", what);
    ++bad;
  }
}

constexpr int bins = 7, count = 1000;

// Slot 0: sum, 1: difference, 2: minimum, 3: maximum, 4: and, 5: or, 6: exclusive or.
template <typename T> static void updates(T *bin, size_t binBytes, int n) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 2, bin, binBytes, n, 1, bin, binBytes, "updates");
    __hetero_atomic_add(&bin[0], 1);
    __hetero_atomic_sub(&bin[1], 1);
    __hetero_atomic_min(&bin[2], i % 50);
    __hetero_atomic_max(&bin[3], i % 50);
    if constexpr (T(0.5) == T(0)) {
      __hetero_atomic_and(&bin[4], ~(1 << i % 5));
      __hetero_atomic_or(&bin[5], 1 << i % 5);
      __hetero_atomic_xor(&bin[6], 1 << i % 3);
    }
  }
}
template <typename T> static void testUpdates(const char *name) {
  T bin[bins] = {0, T(100), T(60), 0, T(63), 0, 0};
  int n = 100;
  __hetero_wait(__hetero_launch((void *)updates<T>, 2, bin, sizeof(bin), n, 1, bin, sizeof(bin)));
  expect(name, bin[0] == T(100) && bin[1] == 0 && bin[2] == 0 && bin[3] == T(49));
  if constexpr (T(0.5) == T(0))
    expect(name, bin[4] == T(32) && bin[5] == T(31) && bin[6] == T(6));
}

template <typename T> static void references(T *bin, size_t binBytes, int n) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 2, bin, binBytes, n, 1, bin, binBytes, "references");
    std::atomic_ref<T>(bin[i % 3]).fetch_add(T(2));
    std::atomic_ref<T> last(bin[3]);
    last.fetch_sub(T(1), std::memory_order_relaxed);
  }
}
template <typename T> static void testReferences(const char *name) {
  T bin[4] = {};
  int n = 99;
  __hetero_wait(__hetero_launch((void *)references<T>, 2, bin, sizeof(bin), n, 1, bin, sizeof(bin)));
  expect(name, bin[0] == T(66) && bin[1] == T(66) && bin[2] == T(66) && bin[3] == T(-99));
}

// Each owner is claimed once; who loses sees the winner.
template <typename T>
static void claim(T *owner, size_t ownerBytes, int *won, size_t wonBytes, int *lost, size_t lostBytes,
                  int n) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 4, owner, ownerBytes, won, wonBytes, lost, lostBytes, n, 3, owner, ownerBytes,
                           won, wonBytes, lost, lostBytes, "claim");
    T none = 0;
    if (__atomic_compare_exchange_n(&owner[i % 10], &none, T(1 + i % 100), false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED))
      __atomic_fetch_add(won, 1, __ATOMIC_RELAXED);
    else if (none != 0 && none == owner[i % 10])
      __atomic_fetch_add(lost, 1, __ATOMIC_RELAXED);
  }
}
template <typename T> static void testClaim(const char *name) {
  T owner[10] = {};
  int won = 0, lost = 0, n = count;
  __hetero_wait(__hetero_launch((void *)claim<T>, 4, owner, sizeof(owner), &won, sizeof(won), &lost,
                                sizeof(lost), n, 3, owner, sizeof(owner), &won, sizeof(won), &lost,
                                sizeof(lost)));
  expect(name, won == 10 && lost == count - 10);
}

// Counting by compare-exchange alone: each form of it.
static void turns(int *value, size_t valueBytes, int n) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 2, value, valueBytes, n, 1, value, valueBytes, "turns");
    int seen = value[0];
    while (!std::atomic_ref<int>(value[0]).compare_exchange_strong(seen, seen + 1))
      ;
    int old = __atomic_load_n(&value[1], __ATOMIC_RELAXED), last;
    do {
      last = old;
      old = __hetero_atomic_cas(&value[1], last, last + 2);
    } while (old != last);
    while (true) {
      int now = __atomic_load_n(&value[2], __ATOMIC_RELAXED);
      if (__sync_bool_compare_and_swap(&value[2], now, now + 3))
        break;
    }
    int before = __atomic_load_n(&value[3], __ATOMIC_RELAXED), next = before + 4;
    while (!__atomic_compare_exchange(&value[3], &before, &next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      next = before + 4;
  }
}

// A product by compare-exchange, and an exchange.
template <typename T> static void products(T *value, size_t valueBytes, T *seen, size_t seenBytes, int n) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 3, value, valueBytes, seen, seenBytes, n, 2, value, valueBytes, seen, seenBytes,
                           "products");
    T old = std::atomic_ref<T>(value[0]).load(), last;
    while (!std::atomic_ref<T>(value[0]).compare_exchange_weak(old, old * (i % 2 ? T(2) : T(0.5))))
      ;
    old = std::atomic_ref<T>(value[2]).load();
    do {
      last = old;
      old = __hetero_atomic_cas(&value[2], last, last + 1);
    } while (old != last);
    seen[i] = __hetero_atomic_xchg(&value[1], T(i + 1));
  }
}
template <typename T> static void testFloats(const char *name) {
  T value[3] = {3, 0, 0};
  std::vector<T> seen(count);
  int n = count;
  size_t seenBytes = seen.size() * sizeof(T);
  __hetero_wait(__hetero_launch((void *)products<T>, 3, value, sizeof(value), seen.data(), seenBytes, n, 2,
                                value, sizeof(value), seen.data(), seenBytes));
  // Each number has been put in and taken out once, but the last.
  double sum = double(value[1]);
  for (T v : seen)
    sum += double(v);
  expect(name, value[0] == 3 && value[2] == count && sum == double(count) * (count + 1) / 2);
}

// The new value and the old one.
static void tickets(int *counter, size_t counterBytes, int *taken, size_t takenBytes, int n) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 3, counter, counterBytes, taken, takenBytes, n, 2, counter, counterBytes, taken,
                           takenBytes, "tickets");
    int first = __atomic_fetch_add(&counter[0], 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&taken[first], 1, __ATOMIC_RELAXED);
    int second = __atomic_sub_fetch(&counter[1], 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&taken[-second - 1], 1, __ATOMIC_RELAXED);
  }
}

int main() {
  testUpdates<int8_t>("int8_t");
  testUpdates<uint8_t>("uint8_t");
  testUpdates<int16_t>("int16_t");
  testUpdates<uint16_t>("uint16_t");
  testUpdates<int32_t>("int32_t");
  testUpdates<uint32_t>("uint32_t");
  testUpdates<int64_t>("int64_t");
  testUpdates<uint64_t>("uint64_t");
  testUpdates<float>("float");
  testUpdates<double>("double");
  testReferences<int>("atomic_ref<int>");
  testReferences<uint64_t>("atomic_ref<uint64_t>");
  testReferences<float>("atomic_ref<float>");
  testReferences<double>("atomic_ref<double>");
  testFloats<float>("float");
  testFloats<double>("double");
  testClaim<int8_t>("claim int8_t");
  testClaim<uint16_t>("claim uint16_t");
  testClaim<int>("claim int");
  testClaim<uint64_t>("claim uint64_t");
  int value[4] = {}, n = count;
  __hetero_wait(__hetero_launch((void *)turns, 2, value, sizeof(value), n, 1, value, sizeof(value)));
  expect("turns",
         value[0] == count && value[1] == 2 * count && value[2] == 3 * count && value[3] == 4 * count);
  int counter[2] = {};
  std::vector<int> taken(count);
  __hetero_wait(__hetero_launch((void *)tickets, 3, counter, sizeof(counter), taken.data(),
                                taken.size() * sizeof(int), n, 2, counter, sizeof(counter), taken.data(),
                                taken.size() * sizeof(int)));
  bool all = true;
  for (int t : taken)
    all = all && t == 2;
  expect("tickets", all);
  std::printf("%d mistakes\n", bad);
  return bad != 0;
}
