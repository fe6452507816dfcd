// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Statements: loops of all kinds, jumps out of them, switches, conditions with effects.
#include "agree.hpp"

#include <initializer_list>

void loops(int *in, size_t inBytes, int *out, size_t outBytes, int n) {
  EACH("loops")
  int v = in[i], r = 0;
  unsigned u = unsigned(v) & 31;
  for (int k = -3; k <= 3; ++k)
    r += k * v;
  for (int k = 10; k > -10; k -= 3)
    r ^= k;
  for (unsigned k = u; k-- > 0;)
    r += int(k);
  for (uint8_t k = 250; k >= 240; --k)
    r += k;
  for (long k = 0, m = 100; k < m; k += 7, m -= 5)
    r += int(k * m);
  for (int k = 0; k < 20; ++k) {
    if (k % 3 == 0)
      continue;
    if (k > v)
      break;
    for (int m = k; m < 20; m += k) {
      if (m == 12)
        break;
      if (m & 1)
        continue;
      r += m;
    }
    k += r & 1; // a counter that changes in the body
  }
  int bound = v & 15;
  for (int k = 0; k < bound; ++k)
    if (k == 5)
      bound -= 2; // and a bound
    else
      r += k;
  int k = 0;
  for (;;) {
    if (++k > 9)
      break;
    r += k;
  }
  while (int left = 12 - k) {
    r += left;
    ++k;
  }
  do {
    if (k-- == 7)
      continue;
    r += 2;
  } while (k > 3 && r % 11 != 0);
  do
    r++;
  while (false);
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) {
      int c = a;
      while (true) {
        if (c > 5)
          break;
        c += b + 1;
        if (c == 4)
          continue;
        r += c;
      }
      if (r < -1000000)
        break;
    }
  for (int value : {3, 1, 4})
    r = r * 5 + value;
  // Comparisons in another type than the counter's.
  unsigned limit = 3;
  for (int a = v & 1; a < limit; ++a)
    r += a;
  for (int a = -1; a < limit; ++a)
    r += 1000; // never: -1 is a large number here
  for (short a = 0; a != 5; a++)
    r += a;
  for (size_t a = 5; a != 0; --a)
    r += int(a);
  out[i] = r;
}
}
// Bounds that change under another name.
void aliases(int *in, size_t inBytes, int *out, size_t outBytes, int n) {
  EACH("aliases")
  int r = 0, one = 10, two = 10, three = 10, v[1] = {6};
  int &ref = one, *p = &two, *w = v;
  auto less = [&] { three--; };
  struct {
    int count;
  } all{10};
  auto &same = all;
  for (int k = 0; k < one; ++k)
    ref--, r += k;
  for (int k = 0; k < two; ++k)
    (*p)--, r += k * 100;
  for (int k = 0; k < three; ++k)
    less(), r += k * 10000;
  for (int k = 0; k < all.count; ++k)
    same.count--, r += k * 1000000;
  for (int k = 0; k < v[0]; ++k)
    w[0]--, r ^= k;
  out[i] = r + in[i];
}
}
static int firstAbove(const int *values, int count, int limit) {
  for (int i = 0; i < count; ++i)
    if (values[i] > limit)
      return i;
  return -1;
}
static int classify(int v) {
  if (v < 0) {
    if (v < -40)
      return -2;
    return -1;
  }
  switch (v % 4) {
  case 0:
    return 10;
  case 1:
    if (v > 20)
      return 11;
    break;
  default:
    while (v > 0) {
      v -= 7;
      if (v == 5)
        return 12;
    }
  }
  do {
    if (v & 1)
      return 13;
  } while (++v < 3);
  return 14;
}
static void until(int *values, int count) {
  for (int i = 0; i < count; ++i) {
    if (values[i] == 3)
      return;
    values[i] += 10;
  }
  values[0] = 99;
}
void returns(int *in, size_t inBytes, int *out, size_t outBytes, int n) {
  EACH("returns")
  int values[8];
  for (int k = 0; k < 8; ++k)
    values[k] = (in[i] + k * 5) % 9;
  int r = firstAbove(values, 8, in[i] & 7) * 100 + classify(in[i]) * 1000;
  until(values, 8);
  for (int v : values)
    r = r * 3 + v;
  if (in[i] == 7) {
    out[i] = -7;
    continue;
  }
  out[i] = r + 1;
}
}
void switches(int *in, size_t inBytes, int *out, size_t outBytes, int n) {
  EACH("switches")
  int v = in[i], r = 0, count = 0;
  switch (v) {
  case -50 ... - 20:
    r = 1;
    break;
  case 3:
  case 5:
    r = 2;
    [[fallthrough]];
  case 7: {
    int t = r + 3;
    r += t;
    break;
  }
  case 8:
  default:
    r = 100;
  }
  switch (unsigned(v)) {
  case 0u ... 10u:
    r += 1000;
    break;
  case 4294967290u ... 4294967295u:
    r += 2000;
  }
  for (int k = 0; k < 6; ++k) {
    switch ((v + k) & 3) {
    case 0:
      continue;
    case 1:
      r += 5;
      break;
    case 2:
      for (int m = 0;; ++m) {
        if (m == k)
          break;
        r += m;
      }
      if (r & 1)
        break;
      r += 7;
    default:
      r += 9;
      int extra = count++;
      r += extra;
    }
    r ^= k << 2;
  }
  switch (char c = char(v & 3); c) {
  case 'a':
    r = -1;
    break;
  case 1:
    switch (v & 4) {
    case 4:
      r += 11;
      break;
    default:
      r += 12;
    }
    r += 13;
  }
  switch (v & 1)
  case 1:
    r += 17;
  switch (long(v) << 33) {
  case 0:
    r += 19;
    break;
  case 1l << 33:
    r += 23;
  }
  out[i] = r + count * 31;
}
}
void conditions(int *in, size_t inBytes, int *out, size_t outBytes, int n) {
  EACH("conditions")
  int v = in[i], a = 0, b = 0, r = 0;
  if (v > 0 && a++ == 0 && v < 30)
    b++;
  if (v < 0 || (b += 2, v > 20) || !(v & 1))
    a += 10;
  if (int half = v / 2; half > 5 && half < 20)
    r += half;
  else if (half == 0)
    r -= 1;
  else {
    r += half & 3;
  }
  r += v > 3 ? a++ : b++;
  r += v & 1 ? v & 2 ? 1 : 2 : v & 4 ? 3 : 4;
  bool t = v > 0 ? (a += 3, true) : false;
  r += t && (b = 5) ? a : -b;
  r += (v > 10) == (v < 30) ? 6 : 7;
  r += (a > 3 || b > 3) && !(a == b) ? (v, 8) : 9;
  if (v % 2)
    if (v % 3)
      r += 100;
    else
      r += 200;
  if constexpr (sizeof(int) == 4)
    r += 1;
  else
    r += 2;
  out[i] = r + a * 1000 + b * 10000;
}
}

int main() {
  int n = 160;
  std::vector<int> v(n), w(n);
  for (int i = 0; i < n; ++i)
    v[i] = i * 37 % 101 - 50;
  BOTH(loops, v, w);
  BOTH(aliases, v, w);
  BOTH(switches, v, w);
  BOTH(conditions, v, w);
  BOTH(returns, v, w);
  std::printf("%d bad\n", bad);
}
