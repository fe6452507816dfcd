// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The toy device's own bytecode: what Assemble.cpp writes and Device.cpp runs. Registers hold 64 bits:
// integers sign extended, floats as their bits, memory as the number that the device gave. Kernels begin with
// their arguments in the first registers.
#pragma once

#include <cstdint>

namespace tessera::toy {

enum class Element : uint8_t { I1, I8, I16, I32, I64, F32, F64 };

/// Bytes of an element in memory.
inline unsigned bytesOf(Element type) {
  constexpr unsigned bytes[] = {1, 1, 2, 4, 8, 4, 8};
  return bytes[static_cast<unsigned>(type)];
}
inline bool isFloat(Element type) { return type >= Element::F32; }

enum class Opcode : uint8_t {
  Word,   ///< d = words[a]
  Move,   ///< d = a
  Jump,   ///< to a
  Branch, ///< to b when a is true, else to c
  Return,
  Load,     ///< d = element b of memory a
  Store,    ///< element b of memory a = c
  Constant, ///< d = the memory of constant a of the image
  Take,     ///< d = new memory of a bytes, until the kernel ends
  Select,   ///< d = a ? b : c
  Convolve, ///< convolutions[a]
  Add,      ///< d = a op b, from here on
  Sub,
  Mul,
  Div,
  DivUnsigned,
  Rem,
  RemUnsigned,
  And,
  Or,
  Xor,
  Shl,
  Shr,
  ShrUnsigned,
  Max,
  Min,
  MaxUnsigned,
  MinUnsigned,
  MaxNumber, ///< of floats: the other one where one is no number
  MinNumber,
  CompareInt,   ///< sub: 0 to 9 as arith::CmpIPredicate
  CompareFloat, ///< sub: 0 to 15 as arith::CmpFPredicate
  Negate,       ///< d = op a, from here on
  Abs,
  Sqrt,
  Floor,
  Ceil,
  Extend, ///< `type` is the result's, sub the operand's, for all conversions
  ExtendUnsigned,
  Truncate,
  ToFloat,
  ToFloatUnsigned,
  ToInt,
  ToIntUnsigned,
  Bits, ///< the same bits as another type
};

struct Instruction {
  Opcode op;
  Element type = Element::I64;
  uint8_t sub = 0, unused = 0;
  uint32_t d = 0, a = 0, b = 0, c = 0;
};

/// nn.conv of f32 in two dimensions as one instruction: the numbers are registers but for those that it
/// knows.
struct Convolution {
  uint32_t x, w, bias, y; ///< registers of memory; bias is ~0u where there is none
  uint32_t batch;         ///< a register
  int64_t channels, height, width, features, kernel[2], strides[2], pads[4], dilations[2], groups;
};

/// An image is, number by number of 32 bits unless said otherwise: magic; number of constants, and for each
/// its bytes and their number (64 bits); number of kernels, and for each: its name with its length in front,
/// registers, arguments, instructions, words (64 bits each) and convolutions, lists with their lengths in
/// front.
inline constexpr uint32_t imageMagic = 0x31594f54;

} // namespace tessera::toy
