// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of a matrix times panels of packed narrow weights, by tiles (Amx.h).
#include "tessera/targets/cpu/packed/Amx.h"

using namespace tessera;
using namespace tessera::cpu;
using namespace tessera::cpu::packed;

void MatmulByTiles::rows(Gen &g, Value batch, Value panel, int64_t blocks, int64_t valid) const {
  int64_t bytes = cast<MemRefType>(x.buffer.getType()).getElementTypeBitWidth() / 8, lanes = w.shape[2];
  TileProduct product;
  product.dot = dot;
  product.places = mostPlaces;
  product.lanes = lanes;
  product.ws = blocks;
  int64_t depth = x.shape[1] * bytes, wRow = 4 * lanes;
  product.bytes = partOf(depth);
  Value places = g.min(batch, g.index(mostPlaces));
  product.configure(g, places);
  Type wide = g.b.getI32Type();
  if (dot != Dot::AmxBytes)
    wide = g.b.getF32Type();
  Memory sums = product.allocateSums(g, wide);
  Value xBase = pointerTo(g, x), wBase = pointerTo(g, w);
  Value start = bias.buffer ? pointerBehind(g, pointerTo(g, bias), g.mul(panel, wRow)) : Value();
  g.each(g.index(0), batch, mostPlaces, [&](Value wanted) {
    // The last tile begins earlier, so that it is full; what another has done is not stored again.
    Value first = g.min(wanted, g.sub(batch, places));
    Value xAt = g.mul(first, depth), wAt = g.mul(panel, depth / 4 * wRow);
    product.begin(g, 1, start);
    g.each(0, depth / product.bytes, 1, [&](Value at) {
      Value from = pointerBehind(g, wBase, g.add(wAt, g.mul(at, product.bytes / 4 * wRow)));
      SmallVector<Value> ws;
      for (int64_t k = 0; k < blocks; ++k)
        ws.push_back(pointerBehind(g, from, k * (depth / 4 * wRow)));
      product.step(g, pointerBehind(g, xBase, g.add(xAt, g.mul(at, product.bytes))), depth, ws, wRow);
    });
    product.collect(g, 1, sums);
    g.each(g.sub(wanted, first), places, 1, [&](Value place) {
      Cursor from = cursorAt(g, sums, {g.index(0), place, g.index(0)});
      // As many lanes as there are columns; panels are neighbours in the result.
      for (int64_t k = 0; k < valid; k += lanes)
        out.store(g, {g.add(first, place), g.add(g.mul(panel, lanes), k)},
                  from.load(g, k, std::min(lanes, valid - k)));
    });
  });
}
