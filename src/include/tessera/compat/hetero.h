/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Another name that programs for HPVM include the markers by.
 */
#include "heterocc.h"
