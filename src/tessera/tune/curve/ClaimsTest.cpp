// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/tune/curve/Claims.h"

#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::tune;

TEST(Claims, WorseEndOfTheIntervalDecides) {
  const Estimate claimed{3, 2.9, 3.1};
  EXPECT_EQ(compareClaim(claimed, {2.95, 2.9, 3}, true, 0), Verdict::Holds);
  EXPECT_EQ(compareClaim(claimed, {5, 4, 6}, true, 0), Verdict::Holds);
  EXPECT_EQ(compareClaim(claimed, {2.8, 2.6, 2.9}, true, 0), Verdict::Doubtful);
  EXPECT_EQ(compareClaim(claimed, {2.8, 2.7, 2.85}, true, 0), Verdict::Broken);
  EXPECT_EQ(compareClaim(claimed, {2.8, 2.7, 2.85}, true, 0.05), Verdict::Holds);
  // Of errors, losses and joules less is better.
  EXPECT_EQ(compareClaim(claimed, {1, 0.9, 1.1}, false, 0), Verdict::Holds);
  EXPECT_EQ(compareClaim(claimed, {3.2, 3, 3.4}, false, 0), Verdict::Doubtful);
  EXPECT_EQ(compareClaim(claimed, {3.2, 3.15, 3.4}, false, 0), Verdict::Broken);
  EXPECT_EQ(compareClaim(claimed, {3.2, 3.15, 3.4}, false, 0.05), Verdict::Holds);
  // A loss may be negative.
  EXPECT_EQ(compareClaim({-0.2, -0.4, -0.1}, {-0.15, -0.3, 0}, false, 0), Verdict::Holds);
  EXPECT_EQ(compareClaim({-0.2, -0.4, -0.1}, {0.2, 0.1, 0.3}, false, 0), Verdict::Broken);
}

TEST(Claims, EachFigureOfAConfiguration) {
  Configuration c;
  c.name = "c1";
  c.measured = {98, 97.5, 98.5, 0.5, 0.9, 4000, 0.1};
  c.installed = {100, {2.5, 2.4, 2.6}, {0.25, 0.24, 0.26}, 16, "modelled"};
  const Configuration::Measured found{97.8, 97.3, 98.3, 1.5, 1.9, 4000, 1.1};
  std::vector<Claim> claims =
      checkClaims(c, found, true, {110, {2.45, 2.4, 2.5}, {0.3, 0.28, 0.32}, "modelled"}, 0.05);
  auto verdicts = [&] {
    std::string text;
    for (const Claim &claim : claims)
      text += claim.figure + " " + verdictName(claim.verdict) + ", ";
    return text;
  };
  EXPECT_EQ(verdicts(), "quality holds, loss broken, speedup holds, energy broken, ");
  claims = checkClaims(c, found, true, {110, {2.2, 2.1, 2.4}, {0.1, 0.1, 0.1}, "measured"}, 0);
  EXPECT_EQ(verdicts(), "quality holds, loss broken, speedup in doubt, energy not compared, ");
  // Nothing was installed: nothing is claimed of speed.
  c.installed.reset();
  EXPECT_EQ(checkClaims(c, found, true, {}, 0).size(), 2u);
}
