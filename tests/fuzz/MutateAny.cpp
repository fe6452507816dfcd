// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For formats whose structure no mutation has to know.
#include "Fuzz.h"

void fuzzMutate(std::string &input, const std::string &other, std::mt19937_64 &random) {
  fuzzMutateBytes(input, other, random);
}
