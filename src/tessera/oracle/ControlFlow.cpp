// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of functions and assertions. (Branches between blocks are part of the walk in Interpreter.cpp.)
#include "tessera/oracle/Interpreter.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace tessera;
using namespace tessera::oracle;

LogicalResult Interpreter::callFunction(Exec &x, const Inst &inst, func::FuncOp function,
                                        MutableArrayRef<Val> args, Vals &results) {
  if (function.isDeclaration())
    return x.error(inst, "calls '" + function.getName() + "', which has no body");
  // Well before the host's stack (or a fiber's) would end.
  if (x.depth >= 200)
    return x.error(inst, "nests calls more than 200 deep");
  const Code &code = getCode(function);
  std::vector<Val> frame(code.slots);
  Val *saved = std::exchange(x.frame, frame.data());
  ++x.depth;
  LogicalResult result = x.run(code.region, args, results);
  --x.depth;
  x.frame = saved;
  return result;
}

static LogicalResult call(Exec &x, const Inst &inst) {
  auto op = cast<func::CallOp>(inst.op);
  auto callee = dyn_cast_or_null<func::FuncOp>(x.interpreter.lookup(op, op.getCalleeAttr()));
  if (!callee)
    return x.error(inst, "calls '" + op.getCallee() + "', which is no function");
  Vals args, results;
  for (unsigned i = 0; i < inst.in.size(); ++i)
    args.push_back(x.take(inst, i));
  if (failed(x.interpreter.callFunction(x, inst, callee, args, results)))
    return failure();
  for (unsigned i = 0; i < inst.out.size(); ++i)
    x.out(inst, i) = std::move(results[i]);
  return success();
}

static LogicalResult check(Exec &x, const Inst &inst) {
  const Val &flag = x.in(inst, 0);
  if (flag.isUndef())
    return x.undefined(inst);
  if (!flag.getBits())
    return x.error(inst, "fails: " + cast<cf::AssertOp>(inst.op).getMsg());
  return success();
}

void oracle::addControlFlow(HandlerTable &table) {
  table.add("func.call", call);
  table.add("cf.assert", check);
}
