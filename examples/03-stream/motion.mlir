// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lesson 3: a stream with state. Each frame is compared with the one before; the answer is how much of the picture moved.

dfg.graph @motion(%frame: tensor<48x64xf32>) -> (change: tensor<48x64xf32>, moved: i32) {
  %h = arith.constant 48 : index
  %w = arith.constant 64 : index
  %black = arith.constant dense<0.0> : tensor<48x64xf32>

  // Black before the first frame; afterwards what `dfg.update` was given in the activation before.
  %last = dfg.state init(%black : tensor<48x64xf32>) : tensor<48x64xf32>

  // `depth` bounds the queue that leaves this node: two results may wait, then the producer does.
  %change = dfg.node @difference grid(%i = %h, %j = %w) (each %a = %frame : tensor<48x64xf32>, each %b = %last : tensor<48x64xf32>) -> tensor<48x64xf32> attributes {depth = 2 : i64} {
    %d = arith.subf %a, %b : f32
    %m = math.absf %d : f32
    dfg.yield %m : f32
  }
  dfg.update %last, %frame : tensor<48x64xf32>

  %moved = dfg.node @count grid(%i = %h, %j = %w) (each %m = %change : tensor<48x64xf32>) -> i32 reduce<addi> {
    %threshold = arith.constant 0.5 : f32
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %far = arith.cmpf ogt, %m, %threshold : f32
    %v = arith.select %far, %one, %zero : i32
    dfg.yield %v : i32
  }
  dfg.return %change, %moved : tensor<48x64xf32>, i32
}
