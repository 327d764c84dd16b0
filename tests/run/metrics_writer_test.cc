// metrics.jsonl byte by byte, and its way back to the length of a checkpoint.
#include "lzero/run/metrics_writer.h"

#include <cmath>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/files.h"
#include "tests/run/test_folder.h"

namespace lzero::metrics_writer_test {
namespace {

using ::testing::HasSubstr;

class MetricsWriterTest : public testing::Test {
 protected:
  void SetUp() override {
    run_dir_ = test_folder_.path();
    path_ = run_dir_ + "/metrics.jsonl";
  }
  std::unique_ptr<MetricsWriter> Open() { return *MetricsWriter::Create(run_dir_, nullptr); }

  TestFolder test_folder_;
  std::string run_dir_, path_;
};

TEST_F(MetricsWriterTest, KeepsTheOrderAndTheShortestDigits) {
  EXPECT_EQ(
      FormatMetricsLine(100, 25, {{"loss/total", 0.1}, {"a", 3.0}, {"b", 1e-7}, {"c", -2.5}}),
      "{\"env_steps\":100,\"updates\":25,\"loss/total\":0.1,\"a\":3,\"b\":1e-07,\"c\":-2.5}\n");
  EXPECT_EQ(FormatMetricsLine(0, 0, {{"x", static_cast<double>(0.1f)}}),
            "{\"env_steps\":0,\"updates\":0,\"x\":0.10000000149011612}\n");
}

TEST_F(MetricsWriterTest, StaysJsonForStrangeNamesAndNumbers) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(FormatMetricsLine(1, 2, {{"a\"b", std::nan("")}, {"c", infinity}, {"d", -infinity}}),
            "{\"env_steps\":1,\"updates\":2,\"a\\\"b\":null,\"c\":null,\"d\":null}\n");
}

TEST_F(MetricsWriterTest, EveryLineIsInTheFileAtOnce) {
  const auto writer = Open();
  EXPECT_EQ(writer->offset(), 0);
  ASSERT_TRUE(writer->Write(10, 1, {{"a", 1.0}}).ok());
  EXPECT_EQ(*ReadFile(path_), "{\"env_steps\":10,\"updates\":1,\"a\":1}\n");
  EXPECT_EQ(writer->offset(), 35);
  ASSERT_TRUE(writer->Write(20, 2, {}).ok());
  EXPECT_EQ(*ReadFile(path_),
            "{\"env_steps\":10,\"updates\":1,\"a\":1}\n{\"env_steps\":20,\"updates\":2}\n");
}

TEST_F(MetricsWriterTest, ResumesAtTheOffsetOfTheCheckpoint) {
  int64_t offset = 0;
  {
    const auto writer = Open();
    ASSERT_TRUE(writer->Write(10, 1, {}).ok());
    offset = writer->offset();
    ASSERT_TRUE(writer->Write(20, 2, {}).ok());
  }
  // A killed process may leave half a line.
  ASSERT_TRUE(AppendFile(path_, "{\"env_st").ok());
  const auto writer = Open();
  testing::internal::CaptureStderr();
  ASSERT_TRUE(writer->TruncateTo(offset, 10).ok());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");  // nothing is lost
  EXPECT_EQ(writer->offset(), offset);
  ASSERT_TRUE(writer->Write(15, 2, {}).ok());
  EXPECT_EQ(*ReadFile(path_),
            "{\"env_steps\":10,\"updates\":1}\n{\"env_steps\":15,\"updates\":2}\n");
  ASSERT_TRUE(writer->TruncateTo(0, 0).ok());
  EXPECT_EQ(*ReadFile(path_), "");
}

TEST_F(MetricsWriterTest, RefusesAnOffsetThatDoesNotFit) {
  const auto writer = Open();
  ASSERT_TRUE(writer->Write(10, 1, {}).ok());
  const absl::Status inside = writer->TruncateTo(5, 10);
  EXPECT_TRUE(absl::IsInvalidArgument(inside));
  EXPECT_THAT(std::string(inside.message()), HasSubstr("byte 5"));
  EXPECT_THAT(std::string(inside.message()), HasSubstr("is inside a line"));
  EXPECT_THAT(std::string(inside.message()), HasSubstr("move it away to go on without it"));
  EXPECT_TRUE(absl::IsInvalidArgument(writer->TruncateTo(-1, 10)));
  EXPECT_TRUE(absl::IsInvalidArgument(writer->CopyBehind(5).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(writer->CopyBehind(-1).status()));
  EXPECT_FALSE(FileExists(path_ + ".aside"));
  EXPECT_EQ(writer->offset(), 29);
}

TEST_F(MetricsWriterTest, CopiesWhatAResumeWillCutOff) {
  const auto writer = Open();
  ASSERT_TRUE(writer->Write(10, 1, {}).ok());
  const int64_t offset = writer->offset();
  EXPECT_EQ(*writer->CopyBehind(offset), "");  // nothing to copy
  EXPECT_EQ(*writer->CopyBehind(1000), "");    // less is there than at the checkpoint
  EXPECT_FALSE(FileExists(path_ + ".aside"));
  ASSERT_TRUE(writer->Write(20, 2, {}).ok());
  const std::string second = "{\"env_steps\":20,\"updates\":2}\n";
  EXPECT_EQ(*writer->CopyBehind(offset), path_ + ".aside");
  EXPECT_EQ(*ReadFile(path_ + ".aside"), second);
  EXPECT_EQ(writer->offset(), 2 * offset);  // the file itself is as it was
  EXPECT_EQ(*writer->CopyBehind(0), path_ + ".aside");
  EXPECT_EQ(*ReadFile(path_ + ".aside"), *ReadFile(path_));
}

// What a power cut may leave: the checkpoint, and less of the file than it had then.
TEST_F(MetricsWriterTest, GoesOnWithWhatIsLeftOfAFileThatLostItsEnd) {
  const std::string line = "{\"env_steps\":10,\"updates\":1}\n";
  for (const std::string& left : {line + "{\"env_st", line, std::string()}) {
    ASSERT_TRUE(WriteFileAtomic(path_, left).ok());
    const auto writer = Open();
    testing::internal::CaptureStderr();
    ASSERT_TRUE(writer->TruncateTo(1000, 30).ok());
    const int64_t kept = left.empty() ? 0 : 29;
    EXPECT_THAT(
        testing::internal::GetCapturedStderr(),
        HasSubstr(absl::StrCat(path_, " had 1000 bytes when the checkpoint was made and has ",
                               left.size(), " now: the metrics of the last ", 1000 - kept,
                               " bytes before the checkpoint are lost; the run goes on")));
    EXPECT_EQ(writer->offset(), kept);
    ASSERT_TRUE(writer->Write(40, 4, {}).ok());
    EXPECT_EQ(*ReadFile(path_), line.substr(0, kept) + "{\"env_steps\":40,\"updates\":4}\n");
    EXPECT_EQ(*writer->Sync(), kept + 29);
  }
}

TEST_F(MetricsWriterTest, ReportsAMissingFolder) {
  const absl::Status status = MetricsWriter::Create(run_dir_ + "/none", nullptr).status();
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("cannot open " + run_dir_ + "/none/metrics.jsonl"));
}

TEST_F(MetricsWriterTest, ForwardsToTensorBoard) {
  auto tensorboard = *TensorBoardWriter::Create(run_dir_ + "/tb", [] { return 1700000000.0; });
  const std::string path = tensorboard->path();
  const auto writer = *MetricsWriter::Create(run_dir_, std::move(tensorboard));
  ASSERT_TRUE(writer->Write(10, 1, {{"loss/total", 1.5}}).ok());
  EXPECT_THAT(*ReadFile(path), HasSubstr("loss/total"));
  const size_t size = ReadFile(path)->size();
  ASSERT_TRUE(writer->TruncateTo(0, 0).ok());
  EXPECT_GT(ReadFile(path)->size(), size);  // the restart mark
}

}  // namespace
}  // namespace lzero::metrics_writer_test
