// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dialect `tessera`: notes of passes and schedule scripts that belong to no other dialect.
#pragma once

#include "tessera/ir/note/Note.h"

#include "mlir/IR/Dialect.h"

#include "tessera/ir/note/Notes.h.inc"

namespace tessera {
using SharedNotes = TesseraDialect::Notes;
} // namespace tessera
