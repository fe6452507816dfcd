// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A number or an address that a marker's call passes. The walker of the AST describes it, the rewriter of the
// host module reads it.
#pragma once

namespace tessera::heterocpp {

/// An argument of a call that a list names, and how it travels: 'p' an address, 'i' and 'u' integers, 'f'
/// other numbers.
struct Word {
  unsigned argument;
  char kind;
};

} // namespace tessera::heterocpp
