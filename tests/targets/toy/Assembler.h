// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From functions of branches, memory and arithmetic to an image of bytecode.
#pragma once

#include "Bytecode.h"

#include "tessera/ir/dfg/Dfg.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tessera::toy {

/// The toy's name of an element type; none for those it has not.
std::optional<Element> typeOf(mlir::Type type);
/// True for arithmetic that is one instruction.
bool hasInstruction(Operation *op);

/// On a call of `convolutionName`: the numbers of a Convolution, in its order.
inline constexpr llvm::StringLiteral convolutionAttr = "toy.convolution", convolutionName = "toy.convolve";
/// On an argument: a scalar that comes as memory.
inline constexpr llvm::StringLiteral indirectAttr = "toy.indirect";

/// The image for all functions of a module that have a body. Emits a diagnostic for what the toy cannot do.
FailureOr<std::string> assemble(ModuleOp module);

} // namespace tessera::toy
