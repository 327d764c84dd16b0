// An update whose numbers are not finite: what is kept of it, what is said, and the way back.
#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/files.h"
#include "lzero/kernels/parallel.h"
#include "lzero/nn/threads.h"
#include "lzero/run/safetensors.h"
#include "lzero/train/trainer.h"
#include "tests/train/trainer_testing.h"

namespace lzero::bad_update_test {
namespace {

using testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The reward of collected steps `first` .. `last` of the whole process.
Probe PoisonSteps(int64_t first, int64_t last, float reward = kNan) {
  return [=](ProbeStep& step) {
    if (!step.is_evaluator && step.num_steps >= first && step.num_steps <= last) {
      step.reward = reward;
    }
  };
}

// The number of the one folder bad_update_N of a run, 0 if there is none.
int64_t BadUpdateOf(const TestRun& run) {
  int64_t number = 0;
  const std::vector<std::string> names = ListDirectory(run.dir()).value();
  for (const std::string& name : names) {
    if (name.rfind("bad_update_", 0) != 0) continue;
    EXPECT_EQ(number, 0) << "more than one";
    number = std::stoll(name.substr(11));
  }
  return number;
}

bool HasNonFinite(const std::string& path, const std::vector<std::string>& names) {
  const auto content = ReadSafetensors(path);
  EXPECT_TRUE(content.ok()) << content.status();
  for (const std::string& name : names) {
    const std::vector<float> values = ReadArray<float>(content->arrays, name).value();
    for (const float value : values) {
      if (!std::isfinite(value)) return true;
    }
  }
  return false;
}

void ExpectStopped(const ExperimentConfig& config, float reward) {
  TestRun run(config, PoisonSteps(61, 120, reward));
  const auto outcome = run.Run();
  EXPECT_EQ(outcome.status().code(), absl::StatusCode::kAborted);
  const int64_t number = BadUpdateOf(run);
  ASSERT_GT(number, 0);
  const std::string folder = run.dir() + "/bad_update_" + std::to_string(number);
  const std::string message(outcome.status().message());
  EXPECT_THAT(message, HasSubstr(absl::StrCat(" of update ", number, " is ")));
  EXPECT_THAT(message, HasSubstr("; the batch and the weights before it are in " + folder));
  EXPECT_TRUE(HasNonFinite(folder + "/batch.safetensors", {"rewards", "partial_returns"}));

  const auto status = ReadStatusFile(run.dir());
  ASSERT_TRUE(status.ok()) << status.status();
  EXPECT_EQ(status->state, RunState::kFailed);
  EXPECT_EQ(status->message, message);

  // The weights are those after the update before: a clean run of so many updates ends with them.
  ExperimentConfig shorter = config;
  shorter.stop.max_updates = number - 1;
  TestRun clean(shorter, PoisonSteps(61, 120, reward));
  const auto before = clean.Run();
  ASSERT_TRUE(before.ok()) << before.status();
  const CheckpointContent expected = clean.Latest().content;
  for (const char* name : {"model", "target", "optimizer"}) {
    const auto kept = ReadSafetensors(folder + "/" + name + ".safetensors");
    ASSERT_TRUE(kept.ok()) << kept.status();
    ExpectSameBytes({{name, kept->arrays}}, {{name, expected.files.at(name)}});
  }
}

TEST(BadUpdateTest, ARewardThatIsNotANumberStopsTheRunAndIsKept) {
  ExpectStopped(ProbeConfig(), kNan);
  ExperimentConfig overlapped = ProbeConfig();
  overlapped.deterministic = false;
  ExpectStopped(overlapped, kNan);
}

TEST(BadUpdateTest, AnInfiniteRewardStopsTheRunAndIsKept) {
  ExpectStopped(ProbeConfig(), kInfinity);
  ExperimentConfig prioritized = ProbeConfig();
  prioritized.replay.prioritized = true;
  ExpectStopped(prioritized, -kInfinity);
}

// Updates run on the threads of training although the collector has set its own before.
TEST(BadUpdateTest, ABadUpdateBesideTheLastStepIsKeptToo) {
  ExperimentConfig config = ProbeConfig();
  config.train.batch_size = 64;
  config.train.num_threads = 2;
  config.train.start_env_steps = 114;  // the only updates are those beside the last step
  config.train.updates_per_env_step = 1.0;
  TestRun run(config, PoisonSteps(40, 110));
  const auto outcome = run.Run();
  EXPECT_EQ(outcome.status().code(), absl::StatusCode::kAborted);
  EXPECT_EQ(KernelThreads(), 2);
  SetTensorThreads(1);
  EXPECT_EQ(BadUpdateOf(run), 1);
  EXPECT_THAT(std::string(outcome.status().message()), HasSubstr(run.dir() + "/bad_update_1"));
  EXPECT_EQ(ReadStatusFile(run.dir())->state, RunState::kFailed);
}

// Finite rewards so large that errors of their sums are not: no priority can be made of them.
TEST(BadUpdateTest, ValueErrorsThatOverflowEndAPrioritizedRun) {
  ExperimentConfig config = ProbeConfig();
  config.replay.prioritized = true;
  TestRun run(config, PoisonSteps(61, 120, 1e38f));
  const auto outcome = run.Run();
  EXPECT_EQ(outcome.status().code(), absl::StatusCode::kAborted);
  const int64_t number = BadUpdateOf(run);
  ASSERT_GT(number, 0);
  EXPECT_THAT(std::string(outcome.status().message()),
              HasSubstr(absl::StrCat("the largest value error of update ", number, " is inf; ")));
  EXPECT_EQ(ReadStatusFile(run.dir())->state, RunState::kFailed);
}

TEST(BadUpdateTest, AFailingDumpDoesNotHideTheBadUpdate) {
  const ExperimentConfig config = ProbeConfig();
  TestRun dumped(config, PoisonSteps(61, 120)), run(config, PoisonSteps(61, 120));
  EXPECT_FALSE(dumped.Run().ok());
  const int64_t number = BadUpdateOf(dumped);
  const std::string place = absl::StrCat(run.dir(), "/bad_update_", number);
  ASSERT_TRUE(WriteFileAtomic(place, "a file where the folder should be").ok());
  const auto outcome = run.Run();
  EXPECT_EQ(outcome.status().code(), absl::StatusCode::kAborted);
  const std::string message(outcome.status().message());
  EXPECT_THAT(message, HasSubstr(absl::StrCat(" of update ", number, " is ")));
  EXPECT_THAT(message, HasSubstr("could not be kept: cannot create folder " + place));
  EXPECT_EQ(ReadStatusFile(run.dir())->message, message);
}

// A step size that throws the weights out of all bounds: whoever meets them first, the next update
// or the next search, the run ends as failed and says why.
TEST(BadUpdateTest, WeightsThatExplodeEndTheRun) {
  for (const double updates_per_step : {1.0, 1.0 / 3.0}) {
    ExperimentConfig config = ProbeConfig();
    config.train.learning_rate = 1e30;
    config.train.updates_per_env_step = updates_per_step;
    TestRun run(config);
    const auto outcome = run.Run();
    ASSERT_FALSE(outcome.ok());
    const std::string message(outcome.status().message());
    if (updates_per_step == 1.0) {
      EXPECT_EQ(outcome.status().code(), absl::StatusCode::kAborted);
      EXPECT_GT(BadUpdateOf(run), 0);
    } else {
      EXPECT_THAT(message, HasSubstr("only finite numbers can be searched"));
    }
    const auto status = ReadStatusFile(run.dir());
    ASSERT_TRUE(status.ok()) << status.status();
    EXPECT_EQ(status->state, RunState::kFailed);
    EXPECT_EQ(status->message, message);
  }
}

// The poison comes a few steps after the checkpoint of update 12, is met as soon as its episodes
// end, and before the checkpoint of update 24 would keep it.
ExperimentConfig RollbackConfig() {
  ExperimentConfig config = ProbeConfig();
  config.train.on_nan = OnNan::kRollback;
  config.train.batch_size = 64;
  config.checkpoint.every_updates = 12;
  config.evaluate.every_updates = 0;
  return config;
}

TEST(BadUpdateTest, ARollbackGoesOnFromTheLastCheckpoint) {
  for (const bool deterministic : {true, false}) {
    ExperimentConfig config = RollbackConfig();
    config.deterministic = deterministic;
    TestRun run(config, PoisonSteps(61, 63));  // the environments recover
    const auto outcome = run.Run();
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_EQ(outcome->reason, StopReason::kLimit);
    EXPECT_EQ(outcome->state.updates, ExpectedUpdates(outcome->state.env_steps - 3, 30, 1, 2));
    EXPECT_GT(BadUpdateOf(run), 0);
    EXPECT_EQ(ReadStatusFile(run.dir())->state, RunState::kFinished);
    double before = 0.0;
    for (const MetricsLine& line : run.Metrics()) {
      EXPECT_GE(*line.at("env_steps"), before);
      before = *line.at("env_steps");
      for (const auto& [name, value] : line) {
        EXPECT_TRUE(value.has_value()) << name << " is not finite after the roll-back";
      }
    }
    EXPECT_FALSE(HasNonFinite(run.Latest().path + "/model.safetensors", {"action_embedding"}));
  }
}

// One update for ten steps: update 2 and its checkpoint at 54 steps, update 3 at 60, and update 4
// at 72 meets the poison of steps 55 .. 57. The next six steps follow the weights of the
// checkpoint.
TEST(BadUpdateTest, ARollbackUndoesEverythingSinceTheCheckpoint) {
  ExperimentConfig config = RollbackConfig();
  config.train.updates_per_env_step = 0.1;
  config.checkpoint.every_updates = 2;
  TestRun rolled_back(config);
  rolled_back.set_probe([&rolled_back](ProbeStep& step) {
    if (step.is_evaluator) return;
    if (step.num_steps >= 55 && step.num_steps <= 57) step.reward = kNan;
    if (step.num_steps == 72 + 6) rolled_back.stop() = true;
  });
  const auto outcome = rolled_back.Run();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(BadUpdateOf(rolled_back), 4);
  EXPECT_EQ(outcome->state.env_steps, 60);
  EXPECT_EQ(outcome->state.updates, 2);

  TestRun resumed(config);
  resumed.CopyFrom(rolled_back);
  resumed.set_probe([&resumed](ProbeStep& step) {
    if (step.num_steps == 6) resumed.stop() = true;
  });
  const auto expected = resumed.Resume(resumed.dir() + "/checkpoints/step_000000054");
  ASSERT_TRUE(expected.ok()) << expected.status();
  EXPECT_EQ(expected->state.env_steps, 60);
  ExpectSameBytes(rolled_back.Latest().content.files, resumed.Latest().content.files);
  EXPECT_EQ(rolled_back.Read("metrics.jsonl"), resumed.Read("metrics.jsonl"));
}

TEST(BadUpdateTest, ThreeRollbacksAreEnough) {
  TestRun run(RollbackConfig(), PoisonSteps(61, 1000000));
  const auto outcome = run.Run();
  EXPECT_EQ(outcome.status().code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(outcome.status().message()), HasSubstr("gave up after 3 rollbacks"));
  EXPECT_EQ(ReadStatusFile(run.dir())->state, RunState::kFailed);
}

TEST(BadUpdateTest, ARollbackWithoutACheckpointSaysBoth) {
  TestRun run(RollbackConfig(), PoisonSteps(1, 1000000));
  const auto outcome = run.Run();
  EXPECT_FALSE(outcome.ok());
  const std::string message(outcome.status().message());
  EXPECT_THAT(message, HasSubstr(" of update 1 is "));
  EXPECT_THAT(message, HasSubstr(run.dir() + "/bad_update_1"));
  EXPECT_THAT(message, HasSubstr("holds no checkpoint"));
  EXPECT_EQ(ReadStatusFile(run.dir())->state, RunState::kFailed);
}

}  // namespace
}  // namespace lzero::bad_update_test
