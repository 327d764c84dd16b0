#include "lzero/config/explain.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::explain_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(ExplainKey, SaysEverythingAboutAKey) {
  EXPECT_EQ(*ExplainKey("train.batch_size"),
            "train.batch_size\n"
            "  Sequences in one update.\n"
            "  allowed: an integer from 1 to 65536\n"
            "  default: 64\n"
            "  unit: sequences\n"
            "  source: prototype runs on CartPole\n");
  EXPECT_EQ(*ExplainKey("deterministic"),
            "deterministic\n"
            "  Collect and learn in turn: the same seed gives the same metrics, byte for byte.\n"
            "  allowed: true or false\n"
            "  default: false\n");
}

TEST(ExplainKey, ExplainsASection) {
  const std::string text = *ExplainKey("checkpoint");
  EXPECT_THAT(text, StartsWith("checkpoint: What is kept to resume from.\n\n"));
  EXPECT_THAT(text, HasSubstr("checkpoint.every_updates\n"));
  EXPECT_THAT(text, HasSubstr("checkpoint.keep\n"));
  EXPECT_THAT(text, Not(HasSubstr("evaluate.every_updates\n")));
}

TEST(ExplainKey, ExplainsAllKeysOfAName) {
  const std::string text = *ExplainKey("num_simulations");
  EXPECT_THAT(text, HasSubstr("search.num_simulations\n"));
  EXPECT_THAT(text, HasSubstr("evaluate.num_simulations\n"));
  EXPECT_THAT(text, HasSubstr("default: null\n"));
}

TEST(ExplainKey, ExplainsEverything) {
  const std::string text = *ExplainKey("");
  EXPECT_THAT(text, StartsWith("env: "));
  EXPECT_THAT(text, HasSubstr("\nseed\n"));
  EXPECT_THAT(text, HasSubstr("search.pb_c_base\n"));
}

TEST(ExplainKey, NamesTheNearestOfAnUnknownKey) {
  const auto text = ExplainKey("train.btach_size");
  EXPECT_TRUE(absl::IsNotFound(text.status()));
  EXPECT_EQ(std::string(text.status().message()),
            "unknown key; got 'train.btach_size'; did you mean 'train.batch_size'?");
}

}  // namespace
}  // namespace lzero::explain_test
