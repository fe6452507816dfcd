// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dialect `tessera`: notes of passes and schedule scripts that belong to no other dialect. It has no operations.
#ifndef TESSERA_IR_NOTE_NOTES_TD
#define TESSERA_IR_NOTE_NOTES_TD

include "mlir/IR/OpBase.td"
include "tessera/ir/note/NoteBase.td"

def NoteOnSequence : NoteOn<["transform.named_sequence"], "a sequence of a script">;
def NoteOnStructured : NoteOn<["linalg."], "an operation of linalg">;
def NoteOnLoop : NoteOn<["scf.forall", "scf.for", "scf.parallel"], "a loop">;
// They keep their notes while they become operations of LLVM.
def NoteOnArith : NoteOn<["arith.", "math.", "llvm."], "an operation of arith or math">;

def Tessera_Notes : NotesOf<"tessera", [
  // From the graph to its nodes' code.
  Note<"align", "align", NoteNumber, NoteOn<["dfg.graph", "func.func", "llvm.func"], "a graph or a function">,
       "the alignment in bytes of memory that comes from outside, where it is less than the kernel ABI's">,
  Note<"schedules", "schedules", NoteList, NoteOn<["dfg.node"], "a node">,
       "the names under which a user's script knows the node; what is fused has those of its parts">,
  Note<"inPlace", "in_place", NoteNumber, NoteOnArgumentOfFunction,
       "the number of the argument whose memory this result has, too">,

  // Inside of a node's code.
  Note<"number", "op", NoteNumber, NotePlace<"true", "an operation">,
       "the number of an operation that a schedule may want to find">,
  Note<"reductions", "reductions", NoteList, NoteOnStructured,
       "what each output that came from a leaf's reduction is combined by">,
  Note<"ordered", "ordered", NoteMark, NoteOnStructured,
       "the combination must keep its order">,
  Note<"lanes", "lanes", NoteNumber, NoteOnLoop,
       "how many neighbouring instances it is good to unroll together">,
  Note<"instances", "instances", NoteNumber, NoteOnLoop,
       "the iterations are independent instances; so many at most, -1 where that is not known">,
  Note<"anyOrder", "any_order", NoteMark, NoteOnArith,
       "combines elements whose order does not matter, unless the mode is strict">,
  Note<"approximate", "approximate", NoteMark, NoteOnArith,
       "a few units of the last place do not matter, unless the mode is strict">,
  Note<"ifKnown", "if_known", NoteMark, NoteOn<["cf.assert"], "an assertion">,
       "the plan leaves the check out where it cannot know the extents">,
  Note<"steady", "steady", NoteMark, NoteOn<["scf.while"], "a loop with a condition">,
       "the extents of what the loop carries may stay the same">,

  // In schedule scripts (transforms/schedule/Schedule.md).
  Note<"version", "version", NoteNumber, NoteOnModule,
       "the version of the script">,
  Note<"phase", "phase", NoteText, NoteOnSequence,
       "when the sequence runs: graph, payload or loops">,
  Note<"node", "node", NoteText, NoteOnSequence,
       "the node that the sequence is for">,
  Note<"script", "script", NoteText, NoteOnSequence,
       "what the version of a node calls its script">,
  Note<"graph", "graph", NoteText, NoteOnSequence,
       "the only graph in which the sequence is for that node">,
  Note<"target", "target", NoteText, NoteOnSequence,
       "the only target for which the sequence is">,
  Note<"unsafe", "unsafe", NoteMark, NoteOnSequence,
       "its author vouches for steps that nobody checks">
]>;

def Tessera_Dialect : Dialect {
  let name = "tessera";
  let cppNamespace = "::tessera";
  let summary = "notes of passes and of schedule scripts";
  let description = !strconcat("Notes that belong to no other dialect. It has no operations.", Tessera_Notes.doc);
  let extraClassDeclaration = Tessera_Notes.cpp;
}

#endif
