// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers of schedule operations: written down, or from a parameter, as a tuner's knob gives them.
#ifndef TESSERA_TRANSFORMS_SCHEDULE_NUMBERS_TD
#define TESSERA_TRANSFORMS_SCHEDULE_NUMBERS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def NumberParam
    : Type<CPred<"::tessera::schedule::isNumber($_self)">, "a parameter of a 64-bit number", "::mlir::transform::ParamType">,
      BuildableType<"::mlir::transform::ParamType::get($_builder.getContext(), $_builder.getI64Type())">;

// An operation has its parameters as its last operands, in the order in which it spells its numbers. In place of each
// stands ShapedType::kDynamic.
defvar NumberParams = Variadic<NumberParam>;

// A number that is at least so large, also when a parameter gives it (then it is looked at when the step runs).
class NumberFrom<int least>
    : ConfinedAttr<I64Attr, [AttrConstraint<
          CPred<"::llvm::cast<::mlir::IntegerAttr>($_self).getInt() >= " # least #
                " || ::mlir::ShapedType::isDynamic(::llvm::cast<::mlir::IntegerAttr>($_self).getInt())">,
          "whose minimum value is " # least>]>;

// As many parameters as numbers need.
def TakesNumbers : NativeOpTrait<"TakesNumbers"> { let cppNamespace = "::tessera::schedule"; }
// Consumes its handles, reads its parameters, makes new handles.
def ConsumesHandles : NativeOpTrait<"ConsumesHandles"> { let cppNamespace = "::tessera::schedule"; }

#endif
