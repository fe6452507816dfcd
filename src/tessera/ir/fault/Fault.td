// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Faults: what a running kernel finds wrong with its data.
#ifndef TESSERA_IR_FAULT_FAULT_TD
#define TESSERA_IR_FAULT_FAULT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "tessera/ir/note/NoteBase.td"

// It keeps its notes while it becomes one of LLVM's.
def Fault_NoteOnDivision : NoteOn<["arith.", "llvm."], "a division">;

def Fault_Notes : NotesOf<"fault", [
  Note<"guarded", "guarded", NoteMark, Fault_NoteOnDivision,
       "the divisor was made safe by a `fault.require` before">,
  Note<"site", "site", NoteNumber, Fault_NoteOnDivision,
       "the number of the division's site among those of its kernel">
]>;

def Fault_Dialect : Dialect {
  let name = "fault";
  let cppNamespace = "::tessera::fault";
  let summary = "what a running kernel asks of its data";
  let description = !strconcat([{
    Conditions that no launch can check beforehand, because they depend on what a kernel reads: an index of another tensor, a divisor.
    A target makes each a cheap note in the node's fault cells (`docs/decisions/0021-faults.md`); the launch then fails with a message.
  }], Fault_Notes.doc);
  let extraClassDeclaration = Fault_Notes.cpp;
}

def Fault_RequireOp : Op<Fault_Dialect, "require", [
    NoMemoryEffect, Elementwise, Scalarizable, Vectorizable, Tensorizable,
    AllTypesMatch<["value", "instead", "result"]>, AllTypesMatch<["reported", "limit"]>]> {
  let summary = "`value` where `ok` holds; elsewhere `instead`, and the launch fails";
  let description = [{
    `instead` is something that does no harm: the kernel goes on with it to its end. `reported` and `limit` are the numbers of the
    message, `kind` (see `runtime/plan/Fault.h`) and `what` its words, until `site` stands for both. It has no effect that orders it among others,
    and disappears with its last use; but it is not moved to where the program would not come: out of a branch, or of a loop that may not run.
  }];
  let arguments = (ins BoolLike:$ok, SignlessIntegerOrIndexLike:$value, SignlessIntegerOrIndexLike:$instead,
                       SignlessIntegerOrIndexLike:$reported, SignlessIntegerOrIndexLike:$limit,
                       OptionalAttr<StrAttr>:$kind, OptionalAttr<StrAttr>:$what, OptionalAttr<I64Attr>:$site);
  let results = (outs SignlessIntegerOrIndexLike:$result);
  let assemblyFormat = [{
    $ok `,` $value `else` $instead `reports` $reported `of` $limit attr-dict `:` type($ok) `,` type($result) `,` type($limit)
  }];
  let hasFolder = 1;
}

#endif
