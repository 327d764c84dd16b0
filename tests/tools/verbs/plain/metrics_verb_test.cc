#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/verbs/plain/plain_verbs.h"

namespace lzero::metrics_verb_test {
namespace {

TEST(MetricsVerbTest, PrintsWhatItMeansOrFailsAsAUsageError) {
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(Metrics("grad/norm"), 0);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(),
            "grad/norm\n  L2 norm of the gradient before it is clipped.\n");
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(Metrics("grad/nrm"), 2);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "error: no metric 'grad/nrm'; did you mean 'grad/norm'?\n");
}

}  // namespace
}  // namespace lzero::metrics_verb_test
