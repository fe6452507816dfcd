// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the importer says about nodes of com.microsoft that it cannot convert.
#include "tessera/frontends/onnx/ImportErrors.h"

using namespace tessera;
using namespace tessera::onnximport::testing;

static void expectOf(std::initializer_list<Case> cases) {
  for (Case c : cases) {
    std::string op = std::string("com.microsoft:") + c.op;
    c.op = op.c_str();
    expectProblems(c);
  }
}

TEST(OnnxContribErrors, WhatIsNotHonoured) {
  expectOf({
      {"Frobnicate", "f2", "", "the operator is not supported; no function of the model defines it either"},
      {"FusedMatMul", "f2x3 f3x2", "beta=1.5", "attribute 'beta' is not supported"},
      {"FusedMatMul", "f2x3 f3x2 f2", "", "input 2 is not supported"},
      {"FusedGemm", "f2x3 f3x2", "activation='Mish'", "activation 'Mish' is not supported"},
      {"CDist", "f2x3 f2x3", "metric='cosine'", "metric 'cosine' is not supported"},
      {"CDist", "f2x3 f2", "", "expected matrices, but got 2 and 1 dimensions"},
  });
}

TEST(OnnxContribErrors, Norms) {
  expectOf({
      {"SkipLayerNormalization", "f2 f2 f2", "", "expected an operand of two or three dimensions, but got 1"},
      {"SimplifiedLayerNormalization", "f2x3 f3", "stash_type=10", "expected stash_type to be 1, but got 10"},
      {"EmbedLayerNormalization", "i2 - f9x4 f9x4 - f4 f4", "", "expected ids of two dimensions, but got 1"},
      {"EmbedLayerNormalization", "i2x3 i2x3 f9x4 f9x4 - f4 f4", "",
       "expected segment_ids and segment_embedding both, or neither"},
  });
}

TEST(OnnxContribErrors, QuantisedTensors) {
  expectOf({
      {"QLinearAdd", "u2 f b u2 f u f u", "", "expected a zero point of the operand's type"},
      {"QLinearAdd", "u2 f u u2 f u f2 u", "", "expected one scale and one zero point of the result"},
      {"QLinearConcat", "f u u2 f", "",
       "expected a tensor, a scale and a zero point for each operand, but got 4 inputs"},
      {"QLinearGlobalAveragePool", "u1x2 f u f u", "",
       "expected an operand with spatial dimensions, but got 2 dimensions"},
      {"MatMulIntegerToFloat", "u2x3 u3x2 f2 f", "", "expected one scale of the first operand"},
      {"QGemm", "u2 f u u2x3 f u", "", "expected matrices, but got 1 and 2 dimensions"},
  });
}

TEST(OnnxContribErrors, WeightsOfAFewBits) {
  expectOf({
      {"MatMulNBits", "f1x16 u[1] f1", "K=16 N=1 bits=3 block_size=16",
       "expected weights of 2, 4 or 8 bits, but got 3"},
      {"MatMulNBits", "f1x16 u[1] f1", "K=16 N=1 block_size=16 weight_prepacked=1",
       "weights that were packed for another device are not supported"},
      {"MatMulNBits", "f1x16 u[1] f1", "K=16 N=0 block_size=16", "K, N or block_size are out of range"},
      {"MatMulNBits", "f1x16 u[1] f1 - i16", "K=16 N=1 block_size=16",
       "weights that are reordered (g_idx) are not supported; quantise without act_order"},
      {"MatMulNBits", "f1x16 u[1] f1", "K=16 N=1 block_size=16", "expected 8 constant bytes as input 1"},
      {"MatMulNBits", "f1x16 u[1,2,3,4,5,6,7,8] f2", "K=16 N=1 block_size=16", "expected 1 scales"},
      {"MatMulNBits", "f1x16 u[1,2,3,4,5,6,7,8] f1 f2", "K=16 N=1 block_size=16", "expected 1 zero points"},
      {"MatMulNBits", "f u[1,2,3,4,5,6,7,8] f1", "K=16 N=1 block_size=16",
       "expected operands of at least one dimension"},
  });
}

TEST(OnnxContribErrors, Attention) {
  expectOf({
      {"Attention", "f2x3 f3x6 f6", "num_heads=1",
       "expected an operand of three dimensions and a matrix of weights"},
      {"QAttention", "u2x3 u3x6 f6 f f", "num_heads=1",
       "expected an operand of three dimensions and a matrix of weights"},
      {"Attention", "f1x2x3 f3x6 f6", "num_heads=1 qkv_hidden_sizes=[2,2,3]",
       "the sizes of query, key and value do not make up the 6 columns of the weights"},
      {"Attention", "f1x2x3 f3x6 f6 - f3x1x1x1x2", "num_heads=1",
       "expected 'past' to have two parts of four dimensions"},
      {"Attention", "f2x2x3 f3x6 f6 i8", "num_heads=1",
       "a mask of cumulated lengths is not supported; give a mask of two dimensions"},
      {"Attention", "f2x2x3 f3x6 f6 i2x1x2x2", "num_heads=1",
       "a mask of 4 dimensions is not supported; expected 1, 2 or 3"},
      {"MultiHeadAttention", "f1x2x4", "num_heads=1",
       "expected query, key and value of three dimensions, keys of four, or a packed tensor"},
      {"MultiHeadAttention", "f1x2x4 f1x1x2x4 f1x1x2x4 f12", "num_heads=1",
       "a bias beside keys of four dimensions is not supported"},
      {"MultiHeadAttention", "f1x2x1x3x4 - - f12", "num_heads=1",
       "a bias of packed operands is not supported"},
      {"MultiHeadAttention", "f1x2x4 f1x2x4 f1x2x4 - - - f1x1x2x4", "num_heads=1",
       "expected past_key and past_value both, or neither"},
      {"MultiHeadAttention", "f1x2x4 f1x2x4 f1x2x4", "num_heads=1", "output 3 (the scores) is not supported",
       4},
      {"RotaryEmbedding", "f1x2x4 l1 f9x2 f9x2", "scale=2.0",
       "packed batches and scales other than 1 are not supported"},
      {"RotaryEmbedding", "f1x2 l1 f9x2 f9x2", "", "expected an operand of three or four dimensions"},
      {"RotaryEmbedding", "f1x2x4 l1 f9x2 f9x2", "rotary_embedding_dim=2 num_heads=1",
       "expected a table with a column for each pair of rotated elements"},
      {"RotaryEmbedding", "f1x2x4 l1 f9x2 f9x2", "num_heads=3",
       "'num_heads' does not divide the last dimension"},
      {"RotaryEmbedding", "f1x1x2x2 l1 f9x2 f9x2", "", "its table has more angles than a head has pairs"},
  });
}

TEST(OnnxContribErrors, GroupedAttention) {
  expectOf({
      {"GroupQueryAttention", "f1x2x8", "num_heads=3 kv_num_heads=2",
       "expected a query of three dimensions and 'num_heads' to be a multiple of 'kv_num_heads'"},
      {"GroupQueryAttention", "f1x2x8 - - - - i1 i=2", "num_heads=2 kv_num_heads=1 k_quant_type='PER_TENSOR'",
       "quantised keys and values are not supported"},
      {"GroupQueryAttention", "f1x2x9 - - - - i1 i=2", "num_heads=2 kv_num_heads=1",
       "the numbers of heads do not divide the last dimension"},
      {"GroupQueryAttention", "f1x2x8 f1x2x4 - - - i1 i=2", "num_heads=2 kv_num_heads=1",
       "expected key and value both, or neither"},
      {"GroupQueryAttention", "f1x2x8 - - - - i1 i[2,2]", "num_heads=2 kv_num_heads=1",
       "expected one total_sequence_length, but got 2"},
      {"GroupQueryAttention", "f1x2x8 - - f1x1x2x2 - i1 i=2", "num_heads=2 kv_num_heads=1",
       "expected past_key and past_value both, or neither"},
      {"GroupQueryAttention", "f1x2x8 - - - - i1 i=2 f9x2 f9x2", "num_heads=2 kv_num_heads=1 do_rotary=1",
       "its table has more angles than a head has pairs"},
      {"GroupQueryAttention", "f1x2x8 - - - - i1 i=2", "num_heads=2 kv_num_heads=1",
       "output 3 (the scores) is not supported", 4},
  });
}
