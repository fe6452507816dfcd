// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Structures that hold pointers: each program runs as a graph and as Clang compiles it.
#include "heterocc.h"

#include <cstdio>
#include <span>
#include <vector>

static int mistakes = 0;
static void expect(bool holds, const char *what) {
  if (!holds) {
    ++mistakes;
    std::printf("wrong: %s\n", what);
  }
}

struct Mesh {
  int cells;
  unsigned short sides;
  double *volume __hetero_count(cells);
  int *neighbour __hetero_count(cells *sides);
  float *flux __hetero_count(2 * cells + 1);
  const char *title; // nobody uses it in a graph
  double total(int cell) const {
    double sum = 0;
    for (int s = 0; s < sides; ++s)
      if (int other = neighbour[cell * sides + s]; other >= 0)
        sum += volume[other];
    return sum;
  }
};

// Through a pointer, with a method and numbers of the structure as bounds.
void flow(Mesh *mesh, size_t bytes) {
  void *section = __hetero_section_begin();
  for (int i = 0; i < mesh->cells; ++i) {
    __hetero_parallel_loop(1, 1, mesh, bytes, 1, mesh, bytes, "flow");
    mesh->flux[2 * i] = float(mesh->total(i));
    mesh->flux[2 * i + 1] = float(mesh->volume[i]) - mesh->flux[2 * i];
  }
  void *last = __hetero_task_begin(1, mesh, bytes, 1, mesh, bytes, "last");
  mesh->flux[2 * mesh->cells] = float(mesh->cells);
  mesh->sides += 1;
  __hetero_task_end(last);
  __hetero_section_end(section);
}

// Each iteration writes its own element: the result's extent is a number of the structure, not the structure.
void doubled(Mesh *mesh, size_t bytes, double *twice, size_t twiceBytes) {
  for (int i = 0; i < mesh->cells; ++i) {
    __hetero_parallel_loop(1, 2, mesh, bytes, twice, twiceBytes, 1, twice, twiceBytes, "doubled");
    twice[i] = 2 * mesh->volume[i];
  }
}

static Mesh makeMesh(int cells) {
  Mesh mesh{cells, 3, new double[cells], new int[3 * cells], new float[2 * cells + 1], "mesh"};
  for (int i = 0; i < cells; ++i) {
    mesh.volume[i] = 1 + i % 7;
    for (int s = 0; s < 3; ++s)
      mesh.neighbour[3 * i + s] = (i * 5 + s * 11) % (cells + 1) - 1;
  }
  return mesh;
}

static void testBound() {
  Mesh mesh = makeMesh(57);
  std::vector<double> twice(60, -1);
  __hetero_wait(__hetero_launch((void *)doubled, 2, &mesh, sizeof(mesh), twice.data(), 60 * sizeof(double), 1,
                                twice.data(), 60 * sizeof(double)));
  bool good = true;
  for (int i = 0; i < 60; ++i)
    good &= twice[i] == (i < 57 ? 2 * mesh.volume[i] : -1);
  expect(good, "a bound of the structure");
}

static void testMesh() {
  Mesh a = makeMesh(101), b = makeMesh(101);
  void *h = __hetero_launch((void *)flow, 1, &a, sizeof(a), 1, &a, sizeof(a));
  __hetero_wait(h);
  flow(&b, sizeof(b));
  for (int i = 0; i <= 202; ++i)
    expect(a.flux[i] == b.flux[i], "flux");
  expect(a.sides == 4 && b.sides == 4, "sides");
}

// A size that the launch declares, and a structure in a structure.
struct Inner {
  float scale;
  float *data;
};
struct Outer {
  char tag;
  Inner left, right;
};
static void testDeclared() {
  int n = 57;
  Outer o{'x', {2, new float[n]}, {3, new float[n]}};
  for (int i = 0; i < n; ++i)
    o.left.data[i] = float(i);
  size_t bytes = n * sizeof(float);
  void *h =
      __hetero_launch_begin(4, &o, sizeof(o), o.left.data, bytes, o.right.data, bytes, n, 1, &o, sizeof(o));
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 2, &o, sizeof(o), n, 1, &o, sizeof(o));
    o.right.data[i] = o.left.scale * o.left.data[i] + o.right.scale;
  }
  __hetero_launch_end(h);
  __hetero_wait(h);
  for (int i = 0; i < n; ++i)
    expect(o.right.data[i] == 2 * float(i) + 3, "declared");
}

// Pointers to structures that hold pointers.
struct Image {
  int width, height;
  unsigned char *pixels __hetero_count(width *height);
};
struct Pair {
  Image *from __hetero_count(1);
  Image *to __hetero_count(1);
};
static void invert(Pair *pair, size_t pairBytes, int width, int height) {
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      __hetero_parallel_loop(2, 3, pair, pairBytes, width, height, 1, pair, pairBytes, "invert");
      const Image &from = *pair->from;
      Image *to = pair->to;
      to->pixels[y * to->width + x] = (unsigned char)(255 - from.pixels[y * from.width + x]);
    }
}
static void testNested() {
  Image from{31, 17, new unsigned char[31 * 17]}, to{31, 17, new unsigned char[31 * 17]};
  for (int i = 0; i < 31 * 17; ++i)
    from.pixels[i] = (unsigned char)(i * 7);
  Pair pair{&from, &to};
  void *h = __hetero_launch((void *)invert, 3, &pair, sizeof(pair), 31, 17, 1, &pair, sizeof(pair));
  __hetero_wait(h);
  for (int i = 0; i < 31 * 17; ++i)
    expect(to.pixels[i] == 255 - from.pixels[i], "nested");
}

// Arrays of structures: rows of different lengths.
struct Row {
  short length;
  float *value __hetero_count(length);
  int *column __hetero_count(length);
};
static void multiply(Row *rows, size_t rowBytes, const float *x, size_t xBytes, float *y, size_t yBytes,
                     int n) {
  void *section = __hetero_section_begin();
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 4, rows, rowBytes, x, xBytes, y, yBytes, n, 1, y, yBytes, "multiply");
    const Row &row = rows[i];
    float sum = 0;
    for (int k = 0; k < row.length; ++k)
      sum += row.value[k] * x[row.column[k]];
    y[i] = sum;
  }
  void *task = __hetero_task_begin(3, rows, rowBytes, y, yBytes, n, 1, rows, rowBytes, "scale");
  for (Row *row = rows; row != rows + n; ++row)
    for (int k = 0; k < row->length; ++k)
      row->value[k] *= 2;
  __hetero_task_end(task);
  __hetero_section_end(section);
}
static void testRows() {
  for (int n : {1, 40}) {
    std::vector<Row> rows(n), again(n);
    std::vector<float> x(40), y(n), z(n);
    for (int i = 0; i < 40; ++i)
      x[i] = float(i % 5);
    for (auto *all : {&rows, &again})
      for (int i = 0; i < n; ++i) {
        Row &row = (*all)[i];
        row.length = short(n == 1 ? 4 : i % 4);
        row.value = new float[4];
        row.column = new int[4];
        for (int k = 0; k < 4; ++k) {
          row.value[k] = float(i + k);
          row.column[k] = (i * 3 + k) % 40;
        }
      }
    void *h =
        __hetero_launch((void *)multiply, 4, rows.data(), n * sizeof(Row), x.data(), 160, y.data(),
                        n * sizeof(float), n, 2, y.data(), n * sizeof(float), rows.data(), n * sizeof(Row));
    __hetero_wait(h);
    multiply(again.data(), n * sizeof(Row), x.data(), 160, z.data(), n * sizeof(float), n);
    for (int i = 0; i < n; ++i) {
      expect(y[i] == z[i], "row");
      for (int k = 0; k < 4; ++k)
        expect(rows[i].value[k] == again[i].value[k], "scaled");
    }
  }
}

// The library's own classes know their sizes.
static void testLibrary() {
  std::vector<double> from(73), to(73);
  for (size_t i = 0; i < from.size(); ++i)
    from[i] = double(i);
  std::span<double> view(to);
  double sum = 0;
  void *h = __hetero_launch_begin(3, &from, sizeof(from), &view, sizeof(view), &sum, sizeof(sum), 2, &view,
                                  sizeof(view), &sum, sizeof(sum));
  void *section = __hetero_section_begin();
  for (size_t i = 0; i < view.size(); ++i) {
    __hetero_parallel_loop(1, 2, &from, sizeof(from), &view, sizeof(view), 1, &view, sizeof(view));
    view[i] = 2 * from[i];
  }
  void *task = __hetero_task_begin(2, &from, sizeof(from), &sum, sizeof(sum), 1, &sum, sizeof(sum));
  sum = double(from.size());
  for (double v : from)
    sum += v;
  __hetero_task_end(task);
  __hetero_section_end(section);
  __hetero_launch_end(h);
  __hetero_wait(h);
  expect(sum == 73 + 72 * 73 / 2, "sum of a vector");
  for (size_t i = 0; i < to.size(); ++i)
    expect(to[i] == 2 * double(i), "view");
}

struct Shape {
  int id;
  std::vector<int> corners;
};
static void testVectors() {
  std::vector<Shape> shapes(20);
  std::vector<int> sums(20);
  for (int i = 0; i < 20; ++i)
    for (int k = 0; k < i % 6; ++k)
      shapes[i].corners.push_back(i * k);
  Shape *all = shapes.data();
  size_t bytes = shapes.size() * sizeof(Shape), sumBytes = sums.size() * sizeof(int);
  int *sum = sums.data();
  void *h = __hetero_launch_begin(2, all, bytes, sum, sumBytes, 2, sum, sumBytes, all, bytes);
  for (int i = 0; i < 20; ++i) {
    __hetero_parallel_loop(1, 2, all, bytes, sum, sumBytes, 2, sum, sumBytes, all, bytes);
    sum[i] = int(all[i].corners.size());
    for (int &corner : all[i].corners)
      sum[i] += corner++;
  }
  __hetero_launch_end(h);
  __hetero_wait(h);
  for (int i = 0; i < 20; ++i) {
    int expected = i % 6;
    for (int k = 0; k < i % 6; ++k) {
      expected += i * k;
      expect(shapes[i].corners[k] == i * k + 1, "corner");
    }
    expect(sums[i] == expected, "corners");
  }
}

int main() {
  testVectors();
  testMesh();
  testBound();
  testDeclared();
  testNested();
  testRows();
  testLibrary();
  std::printf("%d mistakes\n", mistakes);
}
