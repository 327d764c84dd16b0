#include "tests/train/trainer_testing.h"

#include <filesystem>

#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "lzero/base/files.h"
#include "nlohmann/json.hpp"

namespace lzero {

ExperimentConfig ProbeConfig() {
  ExperimentConfig config = TinyConfig();
  config.env.id = "probe";
  config.env.max_episode_steps = 0;
  return config;
}

int64_t ExpectedUpdates(int64_t env_steps, int64_t start, int64_t numerator, int64_t denominator) {
  return env_steps <= start ? 0 : (env_steps - start) * numerator / denominator;
}

absl::StatusOr<std::unique_ptr<Trainer>> TestRun::Make() {
  registries_.push_back(std::make_unique<EnvRegistry>(ProbeRegistry(config_, probe_)));
  auto trainer = Trainer::Create(config_, *registries_.back(), &stop_);
  if (!trainer.ok()) return trainer.status();
  auto outputs = RunOutputs::Create(dir(), config_.checkpoint.keep);
  if (!outputs.ok()) return outputs.status();
  (*trainer)->WriteTo(*std::move(outputs));
  return trainer;
}

absl::StatusOr<TrainOutcome> TestRun::Run() {
  auto trainer = Make();
  if (!trainer.ok()) return trainer.status();
  return (*trainer)->Run();
}

absl::StatusOr<TrainOutcome> TestRun::Resume(const std::string& checkpoint) {
  const auto loaded = ReadCheckpoint(checkpoint);
  if (!loaded.ok()) return loaded.status();
  auto trainer = Make();
  if (!trainer.ok()) return trainer.status();
  const absl::Status restored = (*trainer)->Restore(loaded->content);
  if (!restored.ok()) return restored;
  return (*trainer)->Run();
}

void TestRun::CopyFrom(const TestRun& other) {
  std::filesystem::copy(
      other.dir(), dir(),
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
}

std::string TestRun::Read(const std::string& name) const {
  const auto content = ReadFile(JoinPath(dir(), name));
  EXPECT_TRUE(content.ok()) << content.status();
  return content.ok() ? *content : "";
}

std::vector<MetricsLine> TestRun::Metrics() const {
  std::vector<MetricsLine> lines;
  const std::string text = Read("metrics.jsonl");
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    MetricsLine read;
    const auto json = nlohmann::json::parse(std::string(line));
    for (const auto& [name, value] : json.items()) {
      read[name] = value.is_null() ? std::nullopt : std::optional<double>(value.get<double>());
    }
    lines.push_back(std::move(read));
  }
  return lines;
}

LoadedCheckpoint TestRun::Latest() const {
  auto loaded = ReadCheckpoint(dir());
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  return loaded.ok() ? *std::move(loaded) : LoadedCheckpoint();
}

std::map<std::string, std::string> TimelessState(const CheckpointContent& content) {
  std::map<std::string, std::string> fields;
  const auto json = nlohmann::json::parse(content.state_json);
  for (const auto& [name, value] : json.items()) fields[name] = value.dump();
  fields.erase("wall_seconds");
  fields.erase("solved_wall_seconds");
  return fields;
}

int64_t CountIn(const CheckpointContent& content, const std::string& name) {
  return nlohmann::json::parse(content.state_json)[name].get<int64_t>();
}

void ExpectSameEnd(const TestRun& got, const TestRun& expected, bool compare_metrics) {
  const LoadedCheckpoint a = got.Latest(), b = expected.Latest();
  EXPECT_EQ(a.env_steps, b.env_steps);
  ExpectSameBytes(a.content.files, b.content.files);
  auto got_state = TimelessState(a.content), expected_state = TimelessState(b.content);
  if (!compare_metrics) {  // their lines hold times
    got_state.erase("metrics_bytes");
    expected_state.erase("metrics_bytes");
  }
  EXPECT_EQ(got_state, expected_state);
  if (compare_metrics) {
    EXPECT_EQ(got.Read("metrics.jsonl"), expected.Read("metrics.jsonl"));
  }
}

void ExpectExactResume(const ExperimentConfig& config, int stride) {
  TestRun straight(config);
  const auto outcome = straight.Run();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  const auto checkpoints = ListCheckpoints(straight.dir());
  ASSERT_TRUE(checkpoints.ok()) << checkpoints.status();
  ASSERT_GE(checkpoints->size(), 4u);
  int num_resumed = 0;
  for (size_t i = 1; i + 1 < checkpoints->size(); i += stride) {
    const std::string step = std::filesystem::path(checkpoints->at(i).path).filename();
    SCOPED_TRACE("resumed from " + step);
    TestRun resumed(config);
    resumed.CopyFrom(straight);
    const auto second = resumed.Resume(resumed.dir() + "/checkpoints/" + step);
    ASSERT_TRUE(second.ok()) << second.status();
    EXPECT_EQ(second->state.updates, outcome->state.updates);
    EXPECT_EQ(second->state.best_return, outcome->state.best_return);
    ExpectSameEnd(resumed, straight, config.deterministic);
    ++num_resumed;
  }
  EXPECT_GT(num_resumed, 0);
}

}  // namespace lzero
