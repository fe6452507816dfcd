// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function of another file that launches a graph.
#pragma once

void scale(int *values, int count, int factor);
