#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The command line: what it prints, what it refuses, its exit status. Needs a sample
# program, written by tessera_sample beside it.
# usage: test.sh TESSERA TESSERA_SAMPLE KERNELS
set -u
tessera=$1 sample=$2 kernels=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
"$sample" "$kernels" . || exit 1
failures=0

# expect STATUS PATTERN COMMAND...: the pattern (fixed text) must be in the output.
expect() {
  status=$1 pattern=$2
  shift 2
  output=$("$@" 2>&1)
  got=$?
  if [ "$got" != "$status" ]; then
    echo "FAIL: $*: expected status $status, but got $got: $output"
    failures=$((failures + 1))
  elif ! printf '%s\n' "$output" | grep -qF -- "$pattern"; then
    echo "FAIL: $*: expected '$pattern' in: $output"
    failures=$((failures + 1))
  fi
}

expect 0 "tessera 0." "$tessera" --version
expect 0 "example: tessera run" "$tessera" --help
expect 0 "example: tessera run" "$tessera" run --help
expect 0 "example: tessera bench" "$tessera" bench --help
expect 1 "unknown command 'rnu'; did you mean 'run'?" "$tessera" rnu
expect 1 "needs the compiler" env PATH=/usr/bin sh -c "mkdir -p alone; cp '$tessera' alone/; alone/tessera compile x.mlir"
expect 1 "needs the compiler" alone/tessera run x.tsr
expect 0 "y: f32 3 min 2 max 4" "$tessera" run sample.tsx --input x=x.npy
expect 0 "" "$tessera" run sample.tsx --input x=x.npy --output y=y.npy
expect 0 "y: f32 3 min 3 max 5" "$tessera" run sample.tsx --input x=y.npy
expect 0 "y: f32 3 min 2 max 4" "$tessera" run sample.tsx --input x.npz --device null
expect 0 "\"name\": \"y\"" "$tessera" run sample.tsx --input x=x.npy --json
expect 0 "GFLOP/s" "$tessera" run sample.tsx --input x=x.npy --profile --repeat 3
expect 0 "" "$tessera" run sample.tsx --input x=x.npy --trace t.json
expect 0 "\"ph\": \"X\"" cat t.json
expect 1 "input 'x' (f32 of shape ?) is missing; give --input name=file.npy" "$tessera" run sample.tsx
expect 1 "input 'x': expected f32 of shape ?, but wide.npy holds f64 of 2x2" "$tessera" run sample.tsx --input x=wide.npy
expect 1 "convert it with array.astype(numpy.float32)" "$tessera" run sample.tsx --input x=wide.npy
expect 1 "unknown input 'xx'; did you mean 'x'? inputs: x" "$tessera" run sample.tsx --input xx=x.npy
expect 1 "input 'x' is given twice" "$tessera" run sample.tsx --input x=x.npy --input x=x.npy
expect 1 "unknown output 'z'; did you mean 'y'? outputs: y" "$tessera" run sample.tsx --input x=x.npy --output z=z.npy
expect 1 "--input: expected name=file, but got 'x.npy'" "$tessera" run sample.tsx --input x.npy
expect 1 "cannot open 'none.npy'" "$tessera" run sample.tsx --input x=none.npy
expect 1 "cannot open 'none.tsx'" "$tessera" run none.tsx
expect 1 "not a Tessera file" "$tessera" run x.npy
expect 1 "unknown device 'gpu'" "$tessera" run sample.tsx --input x=x.npy --device gpu
expect 1 "unknown policy 'fast'" "$tessera" run sample.tsx --input x=x.npy --policy fast
expect 1 "unknown program 'q'" "$tessera" run sample.tsx --program q --input x=x.npy
expect 1 "No such file or directory" "$tessera" run sample.tsx --input x=x.npy --output y=/nonexistent/y.npy
expect 1 "needs CPU features this machine lacks: frobnicate" "$tessera" run other.tsx --input x=x.npy
head -c 5000 sample.tsx >cut.tsx
expect 1 "file is truncated" "$tessera" run cut.tsx --input x=x.npy
expect 1 "run 'tessera run --help' for the options" "$tessera" run sample.tsx --no-such-option
expect 0 "best" "$tessera" bench sample.tsx --dim x:0=100 --repeat 5
expect 0 "\"median_ms\"" "$tessera" bench sample.tsx --batch 8 --repeat 5 --json -
expect 0 "\"energy_source\": \"m" "$tessera" bench sample.tsx --batch 8 --repeat 5 --json -
expect 1 "extent 0 is not fixed by the program; give --dim x:0=N" "$tessera" bench sample.tsx
expect 1 "--dim: expected name:axis=extent, but got 'x=3'" "$tessera" bench sample.tsx --dim x=3
expect 1 "--dim: input 'x' has rank 1, but got axis 4" "$tessera" bench sample.tsx --dim x:4=3
expect 0 "k_add1" "$tessera" explain sample.tsx
expect 0 "\"node\": \"increment\"" "$tessera" explain sample.tsx --json
expect 0 "measured" "$tessera" explain sample.tsx --measure --dim x:0=10
expect 0 "the schedule text" "$tessera" explain sample.tsx --script
expect 0 "// schedule of sample.increment" "$tessera" explain sample.tsx --script
expect 0 "the graph's script" "$tessera" explain sample.tsx --script
expect 0 "the schedule text" "$tessera" explain nested.tsx --script
expect 0 "this file stores no schedule scripts for 'sample'" "$tessera" explain nulls.tsx --script
expect 0 "mode strict" "$tessera" explain sample.tsx
expect 0 "equal parts are stored once: 3 kernels and 2.00 KiB saved" "$tessera" explain sample.tsx
expect 0 "x.0" "$tessera" explain sample.tsx
expect 0 "2.0 M" "$tessera" explain two.tsx
expect 0 "a_node_whose_name_is_longer_than_a_read…  cpu" "$tessera" explain long.tsx
expect 0 "2 x rows as tasks; vector of 16" "$tessera" explain long.tsx
expect 0 "a_node_whose_name_is_longer_than_a_reader_likes" "$tessera" explain long.tsx --json
expect 0 "\"flops\": 2000000" "$tessera" explain two.tsx --json
# Both steps of a node count, so a node with a long and a short step is not as fast as the short one.
measured=$("$tessera" explain two.tsx --measure --json | sed 's/.*"measured_ns": //; s/[,}].*//')
if ! [ "$measured" -gt 2000 ]; then
  echo "FAIL: explain --measure: 100000 additions in $measured ns"
  failures=$((failures + 1))
fi
expect 0 "GFLOP/s" "$tessera" explain two.tsx --measure
# scalar NAME=VALUE...: runs with these scalars and fixed ones for the rest.
scalar() {
  status=$1 pattern=$2
  shift 2
  set -- "$status" "$pattern" "$tessera" run scalars.tsx "$@"
  for rest in i1=true i8=1 i32=7 i64=-9223372036854775808 f16=0.5 f32=0.12 f64=1e300; do
    case " $* " in *" ${rest%%=*}="*) ;; *) set -- "$@" --input "$rest" ;; esac
  done
  expect "$@"
}
scalar 0 "of32: f32 scalar = 0.12"
scalar 0 "oi1: i1 scalar = 1"
scalar 0 "oi1: i1 scalar = 0" --input i1=false
scalar 0 "oi64: i64 scalar = -9.22337e+18"
scalar 0 "oi8: i8 scalar = -128" --input i8=-128
scalar 0 "oi8: i8 scalar = -1" --input i8=255
scalar 1 "input 'i8': 300 does not fit i8" --input i8=300
scalar 1 "input 'i8': -129 does not fit i8" --input i8=-129
scalar 1 "input 'i1': 2 does not fit i1" --input i1=2
scalar 1 "input 'i32': 99999999999999999999 does not fit i32" --input i32=99999999999999999999
scalar 1 "input 'i32': expected an integer for i32, but got 0.5" --input i32=0.5
scalar 1 "input 'f32': 1e39 does not fit f32" --input f32=1e39
scalar 1 "input 'f64': 1e999 does not fit f64" --input f64=1e999
scalar 1 "input 'f16': 70000 does not fit f16" --input f16=70000
scalar 1 "cannot open 'yes'" --input f32=yes
# Accuracy: nine of ten are right, whatever the type, the layout and the batch.
for data in bytes floats; do
  expect 0 "classifier on $data.npz: 9 of 10 right, top-1 90.00 % (95 % interval 59.58 to 98.21)" "$tessera" eval classifier.tsx --data $data.npz
  expect 0 "9 of 10 right" "$tessera" eval classifier.tsx --data $data.npz --batch 3
  expect 0 "9 of 10 right" "$tessera" eval classifier-flat.tsx --data $data.npz
  expect 0 "9 of 10 right" "$tessera" eval classifier-four.tsx --data $data.npz
  expect 0 "4 of 4 right, top-1 100.00 % (95 % interval 51.01 to 100.00)" "$tessera" eval classifier.tsx --data $data.npz --limit 4
  expect 0 "0 of 1 right, top-1 0.00 % (95 % interval 0.00 to 79.35)" "$tessera" eval classifier.tsx --data $data.npz --skip 9
  expect 0 "9 of 10 right" "$tessera" eval classifier.tsx --data $data.npz --normalise imagenet
  # Means and deviations that move the largest of each row to channel 2.
  expect 0 "2 of 10 right" "$tessera" eval classifier.tsx --data $data.npz --normalise 0,0,-9/1,1,1
  # Channels last: numbers lie elsewhere, so only classes 0 and 5 stay where they are.
  expect 0 "3 of 10 right" "$tessera" eval classifier-last.tsx --data $data.npz
done
expect 0 "9 of 10 right" "$tessera" eval classifier-f16.tsx --data bytes.npz
expect 0 "9 of 10 right" "$tessera" eval classifier-f64.tsx --data bytes.npz
expect 0 "\"right\": 9, \"percent\": 90.0000, \"low\": 59.5850, \"high\": 98.2124" "$tessera" eval classifier.tsx --data bytes.npz --json
expect 0 "9 of 10 right" "$tessera" eval classifier-two.tsx --data bytes.npz --output more --at-least 90
expect 1 "--at-least: expected 95.00 %, but got 90.00 %" "$tessera" eval classifier.tsx --data bytes.npz --at-least 95
expect 1 "'classifier' has 2 outputs; say with --output which has the scores: scores, more" "$tessera" eval classifier-two.tsx --data bytes.npz
expect 1 "unknown output 'mor'; did you mean 'more'?" "$tessera" eval classifier-two.tsx --data bytes.npz --output mor
expect 1 "input 'image': expected i32, but bytes.npz holds u8" "$tessera" eval classifier-i32.tsx --data bytes.npz
expect 1 "input 'image': expected f16, but floats.npz holds f32" "$tessera" eval classifier-f16.tsx --data floats.npz
expect 1 "input 'image': takes batches of 0 samples" "$tessera" eval classifier-none.tsx --data bytes.npz
expect 1 "--batch: the program takes batches of 4 only, but got 5" "$tessera" eval classifier-four.tsx --data bytes.npz --batch 5
expect 1 "--skip: bytes.npz has 10 samples, but got 10" "$tessera" eval classifier.tsx --data bytes.npz --skip 10
expect 1 "input 'x': expected samples of ?, but bytes.npz has 10x3x1x2" "$tessera" eval sample.tsx --data bytes.npz
expect 1 "expected a program with one input, but 'scalars' has 7" "$tessera" eval scalars.tsx --data bytes.npz
expect 1 "--normalise: expected 'imagenet' or MEANS/DEVIATIONS" "$tessera" eval classifier.tsx --data bytes.npz --normalise 1
expect 1 "--normalise: expected numbers, but got 'x'" "$tessera" eval classifier.tsx --data bytes.npz --normalise x/1
expect 1 "--normalise: a deviation is 0" "$tessera" eval classifier.tsx --data bytes.npz --normalise 1/0
expect 1 "--normalise: expected 3 means and 3 deviations for samples of u8 of shape 10x3x1x2, but got 2 and 2" "$tessera" eval classifier.tsx --data bytes.npz --normalise 1,2/1,2
expect 1 "data: expected mnist:DIR, cifar10:DIR or a .npz file, but got 'x'" "$tessera" eval classifier.tsx --data x
expect 1 "'x.npz': expected arrays 'x' (samples) and 'y' (classes), but 'y' is missing" "$tessera" eval classifier.tsx --data x.npz
expect 1 "cannot open 'd/t10k-images-idx3-ubyte.gz'" "$tessera" eval classifier.tsx --data mnist:d
expect 1 "needs the compiler" alone/tessera eval x.tsr --data bytes.npz
expect 0 "digraph" "$tessera" explain sample.tsx --dot -
expect 0 "k_add1" "$tessera" explain other.tsx
if command -v dot >/dev/null; then
  expect 0 "" "$tessera" explain sample.tsx --svg g.svg
  expect 0 "<svg" cat g.svg
fi
expect 0 "cpu" "$tessera" targets
expect 0 "\"name\": \"cpu:0\"" "$tessera" targets --json
expect 0 "runtime" "$tessera" doctor
expect 0 "best 3.00 s" env TESSERA_NULL=own_ns=1000000000 "$tessera" bench nulls.tsx --dim x:0=3 --device null --repeat 2
expect 0 '"counters": {"tasks": 3}' env TESSERA_NULL=own_ns=1000 "$tessera" run nulls.tsx --input x=x.npy --device null --profile --json
expect 0 "increment: 3 tasks" env TESSERA_NULL=own_ns=1000 "$tessera" run nulls.tsx --input x=x.npy --device null --profile
expect 0 '"lost": "null:0: it was lost' env TESSERA_NULL=lost=1 "$tessera" targets --all --json
expect 0 '"lost": [{"device": "null:0"' env TESSERA_NULL=lose=increment "$tessera" run sample.tsx --input x=x.npy --device null --profile --json
expect 1 "failed on device 'null:0'" env TESSERA_NULL=fail=increment:1 "$tessera" run nulls.tsx --input x=x.npy --device null
expect 0 "y: f32 3 min 2 max 4" env TESSERA_NULL=fail=increment:1 "$tessera" run sample.tsx --input x=x.npy --device null

[ "$failures" = 0 ] && echo "all passed"
exit "$failures"
