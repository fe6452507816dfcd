// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a dialect that the oracle does not know by itself, a target's own, says what its operations mean.
#pragma once

#include "tessera/oracle/Interpreter.h"

#include "mlir/IR/DialectInterface.h"

namespace tessera::oracle {

class Meaning : public DialectInterface::Base<Meaning> {
public:
  explicit Meaning(Dialect *dialect) : Base(dialect) {}
  /// Adds a handler for each operation of the dialect.
  virtual void addTo(HandlerTable &table) const = 0;
};

} // namespace tessera::oracle
