// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a perforated convolution computed, with the rows and columns between: one pass over the result.
#include "tessera/targets/cpu/packed/KernelBuilder.h"

using namespace tessera;
using namespace tessera::cpu;
using namespace tessera::cpu::packed;

namespace {

/// A row (or column) among the parts. Its number is group * rate + a constant.
struct Source {
  int64_t part = 0;
  Value row;
};
/// One that was computed, or two whose mean is taken.
using Sources = SmallVector<Source, 2>;

/// One dimension of the result: runs of `rate` rows that look alike, but for the first and the last.
class Dimension {
public:
  Dimension(Gen &g, bool split, int64_t extent, int64_t rate, int64_t offset)
      : g(g), extent(extent), rate(split ? rate : 4), offset(split ? offset : -1) {}

  /// Calls `f(row, sources)` for each row.
  void each(function_ref<void(Value, ArrayRef<Source>)> f) {
    int64_t groups = (extent + rate - 1) / rate, last = std::max<int64_t>(1, groups - 2);
    group(g.index(0), 0, f);
    g.each(1, last, 1, [&](Value i) { group(i, 1, f); });
    for (int64_t i = last; i < groups; ++i)
      group(g.index(i), i, f);
  }

private:
  // The rows of one group; `like` is a group whose rows have the same neighbours.
  void group(Value at, int64_t like, function_ref<void(Value, ArrayRef<Source>)> f) {
    for (int64_t r = 0; r < rate && like * rate + r < extent; ++r)
      f(g.add(g.mul(at, rate), r), sources(at, like, r));
  }
  Source source(Value at, int64_t r) {
    // One before or behind the group is in its neighbour.
    int64_t group = r < 0 ? -1 : r >= rate ? 1 : 0;
    r -= group * rate;
    if (offset < 0)
      return {0, g.add(g.mul(g.add(at, group), rate), r)};
    return {r - (r > offset), g.add(at, group)};
  }
  Sources sources(Value at, int64_t like, int64_t r) {
    if (r != offset)
      return {source(at, r)};
    Sources both;
    if (like * rate + r > 0)
      both.push_back(source(at, r - 1));
    if (like * rate + r + 1 < extent)
      both.push_back(source(at, r + 1));
    return both;
  }

  Gen &g;
  int64_t extent, rate, offset;
};

} // namespace

LogicalResult packed::lowerInterpolate(RewriterBase &rewriter, InterpolateOp op, std::string &why) {
  FailureOr<Output> output = Output::follow(rewriter, op, why);
  if (failed(output))
    return failure();
  Gen g{rewriter, op.getLoc()};
  SmallVector<Input> parts;
  for (Value part : op.getParts())
    parts.push_back(inputOf(rewriter, part));
  ArrayRef<int64_t> shape = output->shape();
  int64_t lanes = shape[4], columnParts = op.getColumns() ? op.getRate() - 1 : 1;
  Type type = vectorOf(typeOf(op.getY()).getElementType(), lanes);
  Value batch = batchOf(g, parts[0].memory);
  output->begin(g, batch);
  auto mean = [&](ArrayRef<Value> values) {
    if (values.size() == 1)
      return values[0];
    Value sum = arith::AddFOp::create(g.b, g.loc, values[0], values[1]);
    return Value(arith::MulFOp::create(g.b, g.loc, sum, g.splat(type, 0.5)));
  };
  g.tasks({getAsOpFoldResult(batch), rewriter.getIndexAttr(shape[1])}, [&](ValueRange ids) {
    Value n = ids[0], block = ids[1];
    Dimension rows(g, op.getRows(), shape[2], op.getRate(), op.getOffset()),
        columns(g, op.getColumns(), shape[3], op.getRate(), op.getOffset());
    rows.each([&](Value i, ArrayRef<Source> above) {
      columns.each([&](Value j, ArrayRef<Source> beside) {
        SmallVector<Value, 2> means;
        for (const Source &column : beside) {
          SmallVector<Value, 2> values;
          for (const Source &row : above) {
            const Input &part = parts[row.part * columnParts + column.part];
            Value at = g.add(row.row, part.top), left = g.add(column.row, part.left);
            values.push_back(cursorAt(g, part.memory, {n, block, at, left, g.index(0)}).load(g, 0, lanes));
          }
          means.push_back(mean(values));
        }
        output->store(g, {n, block, i, j, g.index(0)}, mean(means));
      });
    });
    output->border(g, n, block, g.index(0), g.index(shape[2]));
  });
  output->finish(rewriter, op);
  return success();
}
