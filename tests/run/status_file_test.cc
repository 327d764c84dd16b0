// status.json: what is written reads back, and damage is named.
#include "lzero/run/status_file.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/files.h"
#include "tests/run/test_folder.h"

namespace lzero::status_file_test {
namespace {

using ::testing::HasSubstr;

class StatusFileTest : public testing::Test {
 protected:
  TestFolder test_folder_;
  std::string run_dir_ = test_folder_.path();
};

RunStatus Example() {
  RunStatus status;
  status.env_steps = 1200;
  status.updates = 300;
  status.eval_return = 195.5;
  status.eval_env_steps = 1000;
  status.process_id = 42;
  status.updated_time = absl::FromUnixMillis(1700000000123);
  return status;
}

constexpr const char* kExampleText = R"({
  "state": "running",
  "env_steps": 1200,
  "updates": 300,
  "eval_return": 195.5,
  "eval_env_steps": 1000,
  "eta_seconds": null,
  "process_id": 42,
  "updated_time": "2023-11-14T22:13:20.123Z",
  "message": ""
}
)";

TEST_F(StatusFileTest, WritesReadableJson) {
  ASSERT_TRUE(WriteStatusFile(run_dir_, Example()).ok());
  EXPECT_EQ(*ReadFile(run_dir_ + "/status.json"), kExampleText);
  EXPECT_EQ(ListDirectory(run_dir_)->size(), 1u);  // no temporary is left
}

TEST_F(StatusFileTest, ARunningRunIsMarkedAsStopped) {
  const std::string path = run_dir_ + "/status.json";
  MarkStopped(path.c_str());  // there is none yet
  EXPECT_FALSE(FileExists(path));
  ASSERT_TRUE(WriteStatusFile(run_dir_, Example()).ok());
  MarkStopped(path.c_str());
  EXPECT_EQ(*ReadFile(path), absl::StrReplaceAll(kExampleText, {{"running", "stopped"}}));
  EXPECT_EQ(ReadStatusFile(run_dir_)->state, RunState::kStopped);
  RunStatus status = Example();
  status.state = RunState::kFinished;
  ASSERT_TRUE(WriteStatusFile(run_dir_, status).ok());
  MarkStopped(path.c_str());
  EXPECT_EQ(ReadStatusFile(run_dir_)->state, RunState::kFinished);
}

TEST_F(StatusFileTest, ReadsBack) {
  RunStatus status = Example();
  status.state = RunState::kFailed;
  status.eta_seconds = 12.5;
  status.eval_return = {};
  status.message = "the loss is NaN";
  ASSERT_TRUE(WriteStatusFile(run_dir_, status).ok());
  const auto read = ReadStatusFile(run_dir_);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->state, RunState::kFailed);
  EXPECT_EQ(read->env_steps, 1200);
  EXPECT_EQ(read->updates, 300);
  EXPECT_FALSE(read->eval_return.has_value());
  EXPECT_EQ(read->eval_env_steps, 1000);
  EXPECT_EQ(read->eta_seconds, 12.5);
  EXPECT_EQ(read->process_id, 42);
  EXPECT_EQ(read->updated_time, status.updated_time);
  EXPECT_EQ(read->message, "the loss is NaN");
}

TEST_F(StatusFileTest, NamesTheStates) {
  EXPECT_EQ(RunStateName(RunState::kRunning), "running");
  EXPECT_EQ(RunStateName(RunState::kFinished), "finished");
  EXPECT_EQ(RunStateName(RunState::kInterrupted), "interrupted");
  EXPECT_EQ(RunStateName(RunState::kFailed), "failed");
}

TEST_F(StatusFileTest, NamesTheDamagedField) {
  EXPECT_TRUE(absl::IsNotFound(ReadStatusFile(run_dir_).status()));
  const struct {
    const char* from;
    const char* to;
    const char* message;
  } cases[] = {
      {"{\n", "[\n", "broken JSON at byte "},
      {"\"running\"", "\"asleep\"",
       "state is \"asleep\"; allowed: running, finished, interrupted, failed"},
      {"\"running\"", "3", "state is 3; allowed: a text"},
      {"1200", "1.5", "env_steps is 1.5; allowed: a whole number"},
      {"195.5", "\"much\"", "eval_return is \"much\"; allowed: a number or null"},
      {"\"process_id\"", "\"pid\"", "process_id is missing; allowed: a whole number"},
      {"\"eta_seconds\"", "\"eta\"", "eta_seconds is missing; allowed: a number or null"},
      {"2023-11", "2023/11",
       "updated_time is \"2023/11-14T22:13:20.123Z\"; allowed: a time like "
       "2030-01-31T12:00:00.000Z"},
  };
  for (const auto& damaged : cases) {
    SCOPED_TRACE(damaged.message);
    const std::string text = absl::StrReplaceAll(kExampleText, {{damaged.from, damaged.to}});
    ASSERT_TRUE(WriteFileAtomic(run_dir_ + "/status.json", text).ok());
    const absl::Status status = ReadStatusFile(run_dir_).status();
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(damaged.message));
    EXPECT_THAT(std::string(status.message()), HasSubstr(run_dir_ + "/status.json"));
  }
}

}  // namespace
}  // namespace lzero::status_file_test
