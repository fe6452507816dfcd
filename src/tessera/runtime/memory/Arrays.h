// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays of files as inputs of programs, and elements of buffers as numbers.
#pragma once

#include "tessera/base/Npy.h"
#include "tessera/runtime/memory/Buffer.h"
#include "tessera/runtime/plan/Plan.h"

namespace tessera {

/// What a plan says of a value: "f32 of shape ?x3".
std::string declared(const ValueInfo &value);

/// An array as input `i` of a program: in place where possible, so that `array` must outlive it. `file` is
/// for the message when it does not fit.
Result<BufferRef> bindArray(const ProgramPlan &plan, size_t i, const NpyArray &array,
                            const std::string &file);

/// Element `i` of a buffer's memory as a number.
double elementAsDouble(const Buffer &buffer, const std::byte *memory, size_t i);

} // namespace tessera
