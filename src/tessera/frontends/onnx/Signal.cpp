// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transforms of signals as products with constant matrices, windows, and determinants.
#include "tessera/frontends/onnx/Importer.h"

using namespace tessera;
using namespace tessera::onnximport;

/// Elements of a transform's matrix at most.
static constexpr int64_t maxMatrix = int64_t(1) << 24;

static Known numbers(DataType type, ArrayRef<int64_t> dims, ArrayRef<double> values) {
  Known known;
  known.type = type;
  known.dims.assign(dims.begin(), dims.end());
  for (double value : values) {
    Scalar s;
    if (isFloat(type))
      s.f = roundTo(type, value);
    else
      s.i = static_cast<int64_t>(value);
    known.elements.push_back(s);
  }
  return known;
}

//===----------------------------------------------------------------------===//
// Fourier transforms
//===----------------------------------------------------------------------===//

namespace {
struct Transform {
  int64_t length = 0;      ///< of the signal
  int64_t rows = 0;        ///< elements that come in along the axis
  int64_t columns = 0;     ///< and go out
  int64_t in = 1, out = 2; ///< 1 for real numbers, 2 for complex ones
  bool inverse = false;
  bool mirrored = false; ///< what comes in is the first half of a spectrum of real numbers
};
} // namespace

// (rows * in) x (columns * out): y[k] = sum x[n] e^(-+ 2 pi i k n / length).
static Value matrix(NodeContext &c, const Transform &t, DataType type) {
  if (t.length < 1 || t.rows < 1 || t.columns < 1 || t.rows > maxMatrix || t.columns > maxMatrix ||
      t.rows * t.in > maxMatrix / (t.columns * t.out))
    return c.fail("the transform is empty or too long"), Value();
  std::vector<double> m(t.rows * t.in * t.columns * t.out);
  auto at = [&](int64_t n, int64_t part, int64_t k, int64_t result) -> double & {
    return m[((n * t.in + part) * t.columns + k) * t.out + result];
  };
  for (int64_t n = 0; n < t.rows; ++n)
    for (int64_t k = 0; k < t.columns; ++k) {
      double angle = 2 * M_PI * double((n * k) % t.length) / double(t.length);
      double cosine = std::cos(angle), sine = t.inverse ? std::sin(angle) : -std::sin(angle);
      double factor = t.inverse ? 1.0 / double(t.length) : 1;
      if (t.mirrored && n != 0 && 2 * n != t.length)
        factor *= 2;
      at(n, 0, k, 0) = factor * cosine;
      if (t.out == 2)
        at(n, 0, k, 1) = factor * sine;
      if (t.in == 2) {
        at(n, 1, k, 0) = -factor * sine;
        if (t.out == 2)
          at(n, 1, k, 1) = factor * cosine;
      }
    }
  return c.constant(type, {t.rows * t.in, t.columns * t.out}, m);
}

// The innermost dimensions (rows, in) become (columns, out).
static Value transform(NodeContext &c, Value x, const Transform &t, DataType type) {
  Value m = matrix(c, t, type);
  if (!m || !x)
    return {};
  int64_t rank = c.rank(x);
  Value flat = c.collapse(x, rank - 2, rank);
  Exts shape = c.exts(x);
  shape[rank - 2] = Ext(t.columns);
  shape[rank - 1] = Ext(t.out);
  // One product of two matrices, however many signals there are.
  flat = c.rank(flat) == 1 ? c.unsqueeze(flat, {0}) : c.collapse(flat, 0, c.rank(flat) - 1);
  return c.reshape(c.matmul(flat, m), shape);
}

// The same where the length is only known at launch: the matrix is computed there. x is (…, rows, in), with
// as many rows as the transform has.
static Value transformOpen(NodeContext &c, Value x, Ext length, Ext columns, bool inverse, DataType type) {
  using nn::BinaryKind;
  int64_t rank = c.rank(x), in = c.dim(x, rank - 1);
  Ext rows = c.ext(x, rank - 2);
  Value n = c.unsqueeze(c.places(rows, Ext(0), 1), {1}), k = c.places(columns, Ext(0), 1);
  // Whole turns are taken off while they are exact.
  Value turns = c.binary(BinaryKind::mod, c.mul(n, k), c.number(length));
  Value size = c.castTo(c.number(length), DataType::I64, type);
  Value angle = c.mul(c.div(c.castTo(turns, DataType::I64, type), size), c.scalar(2 * M_PI, type));
  Value cosine = c.unary(nn::UnaryKind::cos, angle), sine = c.unary(nn::UnaryKind::sin, angle);
  if (inverse) {
    cosine = c.div(cosine, size);
    sine = c.div(sine, size);
  }
  auto product = [&](int64_t part, Value m) {
    Value of = c.squeeze(c.slice(x, rank - 1, part, 1), {rank - 1});
    Exts shape = c.exts(of);
    shape.back() = columns;
    of = c.rank(of) == 1 ? c.unsqueeze(of, {0}) : c.collapse(of, 0, c.rank(of) - 1);
    return c.unsqueeze(c.reshape(c.matmul(of, m), shape), {rank - 1});
  };
  // (a + bi)(cos -+ i sin)
  Value minus = c.unary(nn::UnaryKind::neg, sine), real = product(0, cosine),
        imaginary = product(0, inverse ? sine : minus);
  if (in == 2) {
    real = c.add(real, product(1, inverse ? minus : sine));
    imaginary = c.add(imaginary, product(1, cosine));
  }
  return c.concat({real, imaginary}, rank - 1);
}

// The first `rows` elements along an axis, with zeros behind where there are fewer.
static Value fit(NodeContext &c, Value x, int64_t axis, Ext rows, DataType type) {
  Ext extent = c.ext(x, axis);
  if (c.same(extent, rows))
    return x;
  Exts border = c.exts(x), shape = border;
  border[axis] = c.max(c.sub(rows, extent), Ext(0));
  shape[axis] = rows;
  x = c.part(x, axis, Ext(0), c.min(extent, rows));
  if (!border[axis].is(0))
    x = c.concat({x, c.full(border, 0, type)}, axis);
  return c.reshape(x, shape);
}

static void dft(NodeContext &c) {
  DataType type = c.type(0);
  Value x = c.v(0);
  int64_t rank = c.rank(x), given = c.attrInt("axis", 1);
  if (c.opset >= 20) {
    given = -2;
    if (c.has(2)) {
      std::optional<int64_t> a = c.oneInt(2, "axis");
      if (!a)
        return;
      given = *a;
    }
  }
  std::optional<int64_t> axis = c.axis(given, rank);
  if (!axis)
    return;
  int64_t parts = c.dim(x, rank - 1);
  if (rank < 2 || *axis == rank - 1 || (parts != 1 && parts != 2))
    return void(c.fail("expected real or complex numbers in the last dimension"));
  bool inverse = c.attrInt("inverse", 0), onesided = c.attrInt("onesided", 0), mirrored = inverse && onesided;
  Ext extent = c.ext(x, *axis), length = mirrored ? c.mul(Ext(2), c.sub(extent, Ext(1))) : extent;
  if (c.has(1)) {
    KnownPtr n = c.known(1, "dft_length");
    if (!n)
      return;
    if (n->count() != 1)
      return void(c.fail("dft_length (input 1): expected one element, but got " + Twine(n->count())));
    length = n->elements[0].dynamic ? Ext(n->elements[0].dynamic) : Ext(n->elements[0].i);
  }
  if (length.isStatic() && length.size < 1)
    return void(c.fail("expected a positive length, but got " + Twine(length.size)));
  if (mirrored && !length.isStatic())
    return void(
        c.fail("half a spectrum needs a length that is known when compiling; give dft_length, or export "
               "the model with a fixed extent along the axis"));
  Ext half = c.add(c.floordiv(length, Ext(2)), Ext(1)), rows = mirrored ? half : length,
      columns = !inverse && onesided ? half : length;
  x = fit(c, x, *axis, rows, type);
  Ints there = range(0, rank);
  std::swap(there[*axis], there[rank - 2]);
  x = c.transpose(x, there);
  Value y;
  if (length.isStatic()) {
    Transform t;
    t.inverse = inverse;
    t.mirrored = mirrored;
    t.in = parts;
    t.out = mirrored ? 1 : 2;
    t.length = length.size;
    t.rows = rows.size;
    t.columns = columns.size;
    y = transform(c, x, t, type);
  } else {
    y = transformOpen(c, x, length, columns, inverse, type);
  }
  c.set(0, c.transpose(y, there), type);
}

static void stft(NodeContext &c) {
  DataType type = c.type(0);
  Value x = c.v(0);
  std::optional<int64_t> step = c.oneInt(1, "frame_step");
  if (!step)
    return;
  Value window = c.optional(2);
  int64_t length = window ? c.dim(window, 0) : 0;
  if (c.has(3)) {
    std::optional<int64_t> given = c.oneInt(3, "frame_length");
    if (!given)
      return;
    length = *given;
  }
  if (c.rank(x) == 2)
    x = c.unsqueeze(x, {2});
  int64_t parts = c.dim(x, 2);
  Ext signal = c.ext(x, 1);
  if (c.bad || c.rank(x) != 3 || *step < 1 || length < 1 || (signal.isStatic() && length > signal.size) ||
      (parts != 1 && parts != 2) || (window && c.dim(window, 0) != length))
    return void(c.fail("expected a signal, and frames of the window's length that fit it"));
  // A launch with a signal that is shorter than a frame has none.
  Ext frames = c.add(c.floordiv(c.max(c.sub(signal, Ext(length)), Ext(-*step)), Ext(*step)), Ext(1));
  if (frames.isStatic() && frames.size > maxMatrix / length)
    return void(c.fail("there are too many frames"));
  Value starts = c.places(frames, Ext(0), *step), within = c.places(Ext(length), Ext(0), 1);
  Value framed = c.gather(x, c.add(c.unsqueeze(starts, {1}), within), 1); // B frames length parts
  if (window)
    framed = c.mul(framed, c.unsqueeze(window, {1}));
  Transform t;
  t.length = t.rows = length;
  t.in = parts;
  t.columns = c.attrInt("onesided", 1) ? length / 2 + 1 : length;
  c.set(0, transform(c, framed, t, type), type);
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

template <typename Function> static void window(NodeContext &c, Function f) {
  std::optional<int64_t> size = c.oneInt(0, "size");
  if (!size)
    return;
  auto type = static_cast<DataType>(c.attrInt("output_datatype", 1));
  if (*size < 0 || *size > maxKnown || !isFloat(type))
    return void(c.fail("its size or type is not supported"));
  double n = c.attrInt("periodic", 1) ? double(*size) : double(*size - 1);
  std::vector<double> values;
  for (int64_t i = 0; i < *size; ++i)
    values.push_back(f(2 * M_PI * double(i) / n));
  c.set(0, numbers(type, {*size}, values));
}
static void hann(NodeContext &c) {
  window(c, [](double x) { return 0.5 - 0.5 * std::cos(x); });
}
static void hamming(NodeContext &c) {
  window(c, [](double x) { return 25.0 / 46 - 21.0 / 46 * std::cos(x); });
}
static void blackman(NodeContext &c) {
  window(c, [](double x) { return 0.42 - 0.5 * std::cos(x) + 0.08 * std::cos(2 * x); });
}

// Triangles that overlap, evenly spaced on the mel scale.
static void melWeightMatrix(NodeContext &c) {
  std::optional<int64_t> bins = c.oneInt(0, "num_mel_bins"), length = c.oneInt(1, "dft_length"),
                         rate = c.oneInt(2, "sample_rate");
  std::optional<double> low = c.oneFloat(3, "lower_edge_hertz"), high = c.oneFloat(4, "upper_edge_hertz");
  auto type = static_cast<DataType>(c.attrInt("output_datatype", 1));
  if (!bins || !length || !rate || !low || !high)
    return;
  int64_t rows = *length / 2 + 1;
  // The edges become places in the spectrum, which must be integers and in order.
  if (*bins < 1 || *length < 1 || *rate < 1 || *bins > maxKnown || rows > maxKnown ||
      rows * *bins > maxKnown || !isFloat(type) || !(*low >= 0 && *low <= *high && *high <= 1e9))
    return void(c.fail("its sizes, edges or type are not supported"));
  auto mel = [](double f) { return 2595 * std::log10(1 + f / 700); };
  double from = mel(*low), step = (mel(*high) - from) / double(*bins + 2);
  SmallVector<int64_t> edges;
  for (int64_t i = 0; i < *bins + 2; ++i) {
    double hertz = 700 * (std::pow(10, (double(i) * step + from) / 2595) - 1);
    edges.push_back(int64_t(std::floor(double(*length + 1) * hertz / double(*rate))));
  }
  std::vector<double> m(rows * *bins);
  auto put = [&](int64_t row, int64_t column, double value) {
    if (row >= 0 && row < rows)
      m[row * *bins + column] = value;
  };
  for (int64_t i = 0; i < *bins; ++i) {
    int64_t left = edges[i], centre = edges[i + 1], right = edges[i + 2];
    if (left == centre)
      put(centre, i, 1);
    for (int64_t j = left; left < centre && j <= centre && j < rows; ++j)
      put(j, i, double(j - left) / double(centre - left));
    for (int64_t j = centre; j < right && j < rows; ++j)
      put(j, i, double(right - j) / double(right - centre));
  }
  c.set(0, numbers(type, {rows, *bins}, m));
}

//===----------------------------------------------------------------------===//
// Determinants
//===----------------------------------------------------------------------===//

// By the first row; `columns` are those that are left.
static Value minorOf(NodeContext &c, Value x, int64_t row, ArrayRef<int64_t> columns) {
  int64_t rank = c.rank(x);
  Value sum;
  for (auto [i, column] : llvm::enumerate(columns)) {
    Value element = c.slice(c.slice(x, rank - 2, row, 1), rank - 1, column, 1);
    Ints rest(columns.begin(), columns.end());
    rest.erase(rest.begin() + i);
    Value term = rest.empty() ? element : c.mul(element, minorOf(c, x, row + 1, rest));
    sum = !sum ? term : i % 2 ? c.sub(sum, term) : c.add(sum, term);
  }
  return sum;
}

static void det(NodeContext &c) {
  Value x = c.v(0);
  int64_t rank = c.rank(x);
  if (rank < 2 || c.dim(x, rank - 1) != c.dim(x, rank - 2) || c.dim(x, rank - 1) < 1 ||
      c.dim(x, rank - 1) > 5)
    return void(c.fail("only square matrices of up to 5 x 5 are supported"));
  Value y = minorOf(c, x, 0, range(0, c.dim(x, rank - 1)));
  c.set(0, c.squeeze(y, {rank - 2, rank - 1}), c.type(0));
}

ArrayRef<OperatorEntry> onnximport::signalOperators() {
  static const OperatorEntry entries[] = {
      {"DFT", 17, lastOpset, dft},
      {"STFT", 17, lastOpset, stft},
      {"HannWindow", 17, lastOpset, hann},
      {"HammingWindow", 17, lastOpset, hamming},
      {"BlackmanWindow", 17, lastOpset, blackman},
      {"MelWeightMatrix", 17, lastOpset, melWeightMatrix},
      {"Det", 11, lastOpset, det},
  };
  return entries;
}
