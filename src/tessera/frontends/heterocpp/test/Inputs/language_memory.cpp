// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory: pointers, arrays, structures, unions, in every way that C++ reaches them.
#include "agree.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

struct Point {
  float x, y, z;
};
struct Record {
  int16_t code;
  Point at;
  int8_t tags[5];
  struct {
    double weight;
    int grid[2][3];
  } inner;
};
struct Line {
  int cells[4];
  int last;
};
union Word {
  uint32_t all;
  uint8_t part[4];
  float real;
};

// Constants of the program, with padding and all.
struct Entry {
  int8_t kind;
  float weight;
  struct {
    int16_t low, high;
  } range[2];
};
static constexpr Entry entries[3] = {{1, 0.5f, {{1, 2}, {3, 4}}}, {2, -1.25f, {{5, 6}}}, {-3, 8, {}}};
static constexpr Entry single{7, 2.5f, {{8, 9}, {10, 11}}};

void constants(int *in, size_t inBytes, int *out, size_t outBytes, int n) {
  EACH("constants")
  const Entry &entry = entries[unsigned(in[i]) % 3];
  const auto *p = &entries[i % 3];
  out[i] = entry.kind + int(entry.weight * 4) * 10 + entry.range[i & 1].high * 100 + p->range[0].low * 1000 +
           single.kind + int(single.weight) + single.range[i & 1].low;
}
}
// What the library does with arrays, and bindings.
void algorithms(int *in, size_t inBytes, int *out, size_t outBytes, int n) {
  EACH("algorithms")
  int v[6] = {5, in[i], 3, 8, in[i] & 7, 1}, w[6];
  std::transform(v, v + 6, w, [](int x) { return x * 2; });
  std::transform(w, w + 3, v, w, [](int x, int y) { return x - y; });
  int r = std::accumulate(w, w + 6, 0) + *std::max_element(v, v + 6) + int(std::count(v, v + 6, 1));
  std::fill(w + 2, w + 4, r & 15);
  std::copy(w, w + 3, v + 3);
  std::reverse(v, v + 5);
  std::span<int> all(v), part = all.subspan(1, 3);
  for (int x : part)
    r = r * 3 + x;
  auto [a, b] = std::make_pair(r, 7);
  auto &[x, y, z, q] = reinterpret_cast<int (&)[4]>(v);
  y += 4;
  auto [s, t] = std::tuple<int, short>(v[1], short(a));
  (void)++r;
  out[i] = a * b + x + y * 2 + z * 3 + q + s + t + r + int(all.size());
}
}
void pointers(int *in, size_t inBytes, int *out, size_t outBytes, int n) {
  EACH("pointers")
  int *p = in + i, *q = &out[i];
  const int *end = in + n;
  int r = *p + p[0] + *(in + i) + i[in];
  if (p + 1 < end) {
    r += *++p;
    r -= *p--;
  }
  r += int(p - in) + (p == in + i) + (p != end) + int(end - p);
  if (i > 0)
    r += p[-1] + *(p - 1);
  int local[6] = {1, 2, 3}, *w = local;
  *w++ += r & 7;
  *w++ = *w + 1;
  (*w)++;
  ++*w;
  for (int *s = local; s != local + 6; ++s)
    r += *s * int(s - local + 1);
  int k = 0;
  int first = local[k++] = local[k] + 5;
  r += first * 3 + k;
  k = 0;
  int second = ++local[k++];
  r += second * 5 + k;
  k = 1;
  (local[k++] += 7) *= 2;
  r += local[1] + k;
  int a, b, c;
  a = b = c = r & 15;
  (a += 3) -= 1;
  r += a * b + c;
  *q = 0;
  *q += r;
}
}
// Constant inner extents: a pointer to rows, to planes.
static int sumOf(const int (&row)[4]) { return row[0] + row[1] * 2 + row[2] * 3 + row[3] * 4; }
static void fill(int values[], int count, int with) {
  for (int i = 0; i < count; ++i)
    values[i] = with + i;
}
void arrays(int *in, size_t inBytes, int *out, size_t outBytes, int n) {
  EACH("arrays")
  int cube[2][3][4], flat[24] = {};
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 3; ++b)
      for (int c = 0; c < 4; ++c)
        cube[a][b][c] = in[i] + a * 100 + b * 10 + c;
  int r = sumOf(cube[1][2]) + *cube[0][1] + (*(*cube + 1))[2] + cube[i & 1][i % 3][i & 3];
  int (*rows)[4] = cube[1];
  r += rows[2][3] + (*rows)[1];
  fill(flat + 3, 7, in[i]);
  fill(cube[0][0], 4, 9);
  for (int v : flat)
    r = r * 3 + v;
  for (auto &plane : cube)
    for (auto &row : plane)
      for (int &v : row)
        v = -v;
  r += cube[1][1][1] + int(sizeof(cube) / sizeof(cube[0][0]));
  std::array<std::array<int, 3>, 2> grid{{{1, 2, 3}, {4, 5, 6}}};
  grid[i & 1][2] += r;
  std::swap(grid[0], grid[1]);
  std::pair<int, short> pair{r, short(3)};
  pair.first += pair.second;
  const static int odd[] = {1, 3, 5};
  constexpr int even[] = {2, 4, 6};
  out[i] = pair.first + grid[0][1] + grid[i & 1][2] * 7 + odd[i % 3] * even[(i + 1) % 3];
}
}
void planes(int (*in)[3][4], size_t inBytes, int (*out)[3][4], size_t outBytes, int n) {
  EACH("planes")
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 4; ++b)
      out[i][a][b] = in[i][2 - a][3 - b] + (i + 1 < n ? in[i + 1][a][b] : 0);
  out[i][1][1] += **in[i];
}
}
static Point middle(Point a, const Point &b) { return {(a.x + b.x) / 2, (a.y + b.y) / 2, (a.z + b.z) / 2}; }
static void move(Point *p, float by) {
  p->x += by;
  (*p).y -= by;
}
void structures(Record *in, size_t inBytes, Record *out, size_t outBytes, int n) {
  EACH("structures")
  const Record &from = in[i];
  Record *to = out + i;
  Record copy = from;
  copy.code = int16_t(copy.code * 3);
  copy.at = middle(copy.at, in[(i + 1) % n].at);
  move(&copy.at, 0.5f);
  copy.tags[i % 5] ^= 0x2a;
  copy.inner.grid[i & 1][2] = copy.inner.grid[1][i % 3] + 1;
  *to = copy;
  to->at.z = from.at.x;
  move(&to->at, 2);
  Point *p = &to->at;
  p->z *= 2;
  float &ref = to->at.x;
  ref += 1;
  to->inner.weight += from.inner.weight;
  int8_t *tag = to->tags;
  tag[4] = 7;
  Line none = Line(), empty{};
  to->inner.grid[0][0] += none.cells[i & 3] + empty.cells[2] + none.last;
  Line one{{1, 2, 3, 4}, from.code}, two{{5, 6, 7, 8}, 0};
  std::swap(one, two);
  Line three = i & 1 ? one : two;
  Line lines[2] = {three, one};
  lines[1].cells[i & 3] += lines[0].last;
  std::swap(lines[0], lines[1]);
  for (int k = 0; k < 4; ++k)
    to->inner.grid[k & 1][k % 3] += lines[0].cells[k] * 10 + lines[1].cells[3 - k] + two.cells[k];
}
}
void unions(Word *in, size_t inBytes, Word *out, size_t outBytes, int n) {
  EACH("unions")
  Word w = in[i];
  w.part[1] ^= 0xff;
  Word local;
  local.real = float(i) * 0.25f;
  out[i].all = w.all ^ local.all ^ in[i].part[3];
  out[i].part[2] += 3;
}
}
void chosen(int *in, size_t inBytes, int *out, size_t outBytes, int n) {
  EACH("chosen")
  int local[4] = {1, 2, 3, 4};
  (in[i] & 1 ? local[0] : local[2]) = 9;
  int &one = in[i] & 2 ? local[1] : local[3];
  one += 5;
  int *from = in[i] & 4 ? in + i : in + (n - 1 - i);
  out[i] = local[0] + local[1] * 10 + local[2] * 100 + local[3] * 1000 + *from;
}
}

int main() {
  int n = 100;
  std::vector<int> v(n), w(n);
  for (int i = 0; i < n; ++i)
    v[i] = i * 37 % 101 - 50;
  BOTH(constants, v, w);
  BOTH(algorithms, v, w);
  BOTH(pointers, v, w);
  BOTH(arrays, v, w);
  BOTH(chosen, v, w);
  std::vector<std::array<int, 12>> a(n), b(n);
  for (int i = 0; i < n * 12; ++i)
    a[i / 12][i % 12] = i * 17 % 1009;
  {
    auto *from = (int (*)[3][4])a.data(), *plain = (int (*)[3][4])b.data();
    std::vector<std::array<int, 12>> c(n);
    auto *made = (int (*)[3][4])c.data();
    size_t bytes = n * sizeof(a[0]);
    planes(from, bytes, plain, bytes, n);
    __hetero_wait(__hetero_launch((void *)planes, 3, from, bytes, made, bytes, n, 1, made, bytes));
    compare("planes", b, c);
  }
  std::vector<Record> r(n), s(n);
  std::memset(r.data(), 0, n * sizeof(Record));
  std::memset(s.data(), 0, n * sizeof(Record));
  for (int i = 0; i < n; ++i) {
    r[i].code = int16_t(i * 300);
    r[i].at = {float(i), 2.0f * i, 3.5f};
    for (int k = 0; k < 5; ++k)
      r[i].tags[k] = int8_t(i + k);
    r[i].inner.weight = i * 0.5;
    for (int k = 0; k < 6; ++k)
      r[i].inner.grid[k / 3][k % 3] = i * k;
  }
  BOTH(structures, r, s);
  std::vector<Word> u(n), x(n);
  for (int i = 0; i < n; ++i)
    u[i].all = unsigned(i) * 2654435761u, x[i].all = 0;
  BOTH(unions, u, x);
  std::printf("%d bad\n", bad);
}
