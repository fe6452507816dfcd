#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# check.sh PYTHON filters.tsr photo.npy: every chain against NumPy, and knobs against the oracle, bit for bit.
set -e
python=$1 portable=$2 photo=$3
here=$(dirname "$0")
tessera install "$portable" --mode strict -o strict.tsx
for chain in geo gemo gsm gsme gsmo; do
  "$python" "$here/reference.py" $chain "$photo" numpy.npy
  tessera run strict.tsx --program $chain --input image="$photo" --output filtered=ours.npy
  "$python" "$here/reference.py" psnr ours.npy numpy.npy 100
done
# A piece of the photograph is enough for the oracle; its 49 rows are no multiple of a period.
"$python" -c "import numpy; p = numpy.load('$photo'); numpy.save('piece.npy', p[100:149, 200:237].copy())"
for knob in perforate-rows:1/2@0 perforate-rows:1/3@2 perforate-rows:3/4@1 perforate-rows:7/8@5 f16 bf16+perforate-rows:2/3@1 cubic-rows:1/2@0 cubic-rows:5/6@3; do
  knobs=gaussian.filter=$knob,motion.filter=$knob
  tessera compile "$here/filters.mlir" --knobs $knobs -o knob.tsr
  rm -f knob.tsx
  tessera install knob.tsr --mode strict -o knob.tsx
  tessera run knob.tsr --program gsme --target oracle --input image=piece.npy --output filtered=oracle.npy
  tessera run knob.tsx --program gsme --input image=piece.npy --output filtered=ours.npy
  cmp ours.npy oracle.npy
  echo "$knob agrees"
done
