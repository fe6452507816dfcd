/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The header under the name that programs for HPVM include; `tessera cc` finds it without a flag.
 */
#ifndef TESSERA_COMPAT_HETEROCC_H
#define TESSERA_COMPAT_HETEROCC_H

#include "../hetero.h"
#include "hpvm.h"

#endif
