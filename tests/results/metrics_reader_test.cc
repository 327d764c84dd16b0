// The reader of metrics.jsonl against lines written out by hand.
#include "lzero/results/metrics_reader.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/files.h"
#include "tests/run/test_folder.h"

namespace lzero::metrics_reader_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

bool IsLoss(absl::string_view name) { return name.substr(0, 5) == "loss/"; }

class MetricsReaderTest : public testing::Test {
 protected:
  absl::StatusOr<RunMetrics> Read(const std::string& text) {
    LZ_CHECK(WriteFileAtomic(JoinPath(folder_.path(), "metrics.jsonl"), text).ok(), "disk");
    return ReadMetrics(folder_.path(), IsLoss);
  }

  TestFolder folder_;
};

TEST_F(MetricsReaderTest, ReadsTheWantedSeries) {
  // Three kinds of lines, two at the same env steps; a value that was not finite.
  const auto metrics = Read(
      "{\"env_steps\":10,\"updates\":1,\"loss/a\":1.5,\"other\":7,\"loss/b\":-2e-3}\n"
      "{\"env_steps\":10,\"updates\":1,\"eval/x\":3}\n"
      "{\"env_steps\":20,\"updates\":2,\"loss/a\":null,\"other\":7,\"loss/b\":4}\n"
      "{\"env_steps\":30,\"loss/b\":5,\"loss/a\":0.1}\n");
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  ASSERT_EQ(metrics->size(), 2u);
  EXPECT_THAT(metrics->at("loss/a").env_steps, ElementsAre(10, 30));
  EXPECT_THAT(metrics->at("loss/a").values, ElementsAre(1.5, 0.1));
  EXPECT_THAT(metrics->at("loss/b").env_steps, ElementsAre(10, 20, 30));
  EXPECT_THAT(metrics->at("loss/b").values, ElementsAre(-2e-3, 4, 5));
}

TEST_F(MetricsReaderTest, ALineBeingWrittenIsIgnored) {
  const auto metrics = Read("{\"env_steps\":1,\"loss/a\":1}\n{\"env_steps\":2,\"loss/a\":2");
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  EXPECT_THAT(metrics->at("loss/a").values, ElementsAre(1));
  EXPECT_TRUE(Read("")->empty());
}

TEST_F(MetricsReaderTest, OtherJsonIsRead) {
  const auto metrics = Read(
      "{ \"loss/a\" : 3, \"note\": \"a,b}\", \"list\": [1, 2], \"env_steps\": 4 }\n"
      "{\"env_steps\":5,\"note\":\"x\",\"loss/\\u0061\":6}\n");
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  EXPECT_THAT(metrics->at("loss/a").env_steps, ElementsAre(4, 5));
  EXPECT_THAT(metrics->at("loss/a").values, ElementsAre(3, 6));
}

TEST_F(MetricsReaderTest, ADamagedLineIsNamed) {
  const std::string good = "{\"env_steps\":1,\"loss/a\":1}\n";
  for (const std::string bad :
       {"", "{", "nonsense", "{\"env_steps\":1,\"loss/a\":}", "{\"env_steps\":1,\"loss/a\":1x}",
        "{\"env_steps\":1,\"loss/a\":1,}", "{\"env_steps\":\"1\"}", "{\"updates\":1}", "[1]",
        "{\"env_steps\":1 \"loss/a\":1}", "{\"env_steps\":2,\"loss/a\":1}{\"env_steps\":3}"}) {
    const absl::Status status = Read(good + bad + "\n" + good).status();
    EXPECT_TRUE(absl::IsDataLoss(status)) << bad;
    EXPECT_THAT(std::string(status.message()), HasSubstr("metrics.jsonl:2: is no line of metrics"));
  }
  EXPECT_TRUE(absl::IsNotFound(ReadMetrics(folder_.path() + "/none", IsLoss).status()));
}

TEST_F(MetricsReaderTest, LinesMayBeLongerThanAChunk) {
  std::string text, padding(9 << 20, 'x');
  text += "{\"env_steps\":1,\"note\":\"" + padding + "\",\"loss/a\":1}\n";
  for (int i = 2; i < 200000; ++i) {
    text += "{\"env_steps\":" + std::to_string(i) + ",\"updates\":0,\"loss/a\":0.25}\n";
  }
  const auto metrics = Read(text);
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  const MetricSeries& series = metrics->at("loss/a");
  ASSERT_EQ(series.values.size(), 199999u);
  for (size_t i = 0; i < series.values.size(); ++i) {
    ASSERT_EQ(series.env_steps[i], static_cast<double>(i + 1));
  }
}

}  // namespace
}  // namespace lzero::metrics_reader_test
