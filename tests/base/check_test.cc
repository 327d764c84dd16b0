#include "lzero/base/check.h"

#include <gtest/gtest.h>

namespace lzero::check_test {
namespace {

TEST(CheckTest, PassesWithoutEvaluatingTheMessage) {
  int evaluated = 0;
  LZ_CHECK(1 + 1 == 2, "message ", ++evaluated);
  EXPECT_EQ(evaluated, 0);
}

TEST(CheckDeathTest, PrintsPlaceExpressionAndMessage) {
  const int batch = -3;
  EXPECT_DEATH(LZ_CHECK(batch > 0, "batch of ", batch),
               "check_test.cc:[0-9]+: check failed: batch > 0 batch of -3");
}

TEST(CheckDeathTest, NeedsNoMessage) { EXPECT_DEATH(LZ_CHECK(false), "check failed: false"); }

TEST(CheckDeathTest, DebugChecksFollowTheBuild) {
#ifdef NDEBUG
  LZ_DCHECK(false, "off");
#else
  EXPECT_DEATH(LZ_DCHECK(false, "on"), "check failed: false on");
#endif
}

}  // namespace
}  // namespace lzero::check_test
