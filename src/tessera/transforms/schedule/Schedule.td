// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All families of our schedule operations, for the reference page.
#ifndef TESSERA_TRANSFORMS_SCHEDULE_SCHEDULE_TD
#define TESSERA_TRANSFORMS_SCHEDULE_SCHEDULE_TD

include "tessera/transforms/schedule/GraphOps.td"
include "tessera/transforms/schedule/LeafOps.td"

#endif
