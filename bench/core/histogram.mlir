// How often each of the 256 values of a byte occurs.
dfg.graph @histogram(%x: tensor<?xi8>) -> (counts: memref<256xi32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %n = tensor.dim %x, %c0 : tensor<?xi8>
  %empty = dfg.buffer() fill(%zero : i32) : memref<256xi32>
  %counts = dfg.node @count grid(%i = %n) (each %e = %x : tensor<?xi8>, acc<addi> %h = %empty : memref<256xi32>) {
    %one = arith.constant 1 : i32
    %k = arith.index_castui %e : i8 to index
    dfg.accumulate %one, %h[%k] : memref<256xi32>
  }
  dfg.return %counts : memref<256xi32>
}
