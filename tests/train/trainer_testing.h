// A training run of a few hundred milliseconds in a folder of its own, and what it left there.
#ifndef LZERO_TESTS_TRAIN_TRAINER_TESTING_H_
#define LZERO_TESTS_TRAIN_TRAINER_TESTING_H_

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "lzero/base/files.h"
#include "lzero/train/checkpoint_store.h"
#include "lzero/train/trainer.h"
#include "nlohmann/json.hpp"
#include "tests/train/test_folder.h"
#include "tests/train/train_testing.h"

namespace lzero {

// The environment "probe": episodes of six steps that pay what the probe of the test says.
inline ExperimentConfig ProbeConfig() {
  ExperimentConfig config = TinyConfig();
  config.env.id = "probe";
  config.env.max_episode_steps = 0;
  return config;
}

// Updates that are owed after so many steps, at a ratio of numerator / denominator.
inline int64_t ExpectedUpdates(int64_t env_steps, int64_t start, int64_t numerator,
                               int64_t denominator) {
  return env_steps <= start ? 0 : (env_steps - start) * numerator / denominator;
}

class TestRun {
 public:
  explicit TestRun(const ExperimentConfig& config, Probe probe = {})
      : config_(config), probe_(std::move(probe)) {}

  const std::string& dir() const { return folder_.path(); }
  std::atomic<bool>& stop() { return stop_; }
  void set_probe(Probe probe) { probe_ = std::move(probe); }

  // A trainer on a registry of its own, which lives as long as this object.
  absl::StatusOr<std::unique_ptr<Trainer>> Make() {
    registries_.push_back(std::make_unique<EnvRegistry>(ProbeRegistry(config_, probe_)));
    auto outputs = RunOutputs::Create(dir(), config_.checkpoint.keep);
    if (!outputs.ok()) return outputs.status();
    return Trainer::Create(config_, *registries_.back(), *std::move(outputs), &stop_);
  }

  // From the beginning.
  absl::StatusOr<TrainOutcome> Run() {
    auto trainer = Make();
    if (!trainer.ok()) return trainer.status();
    return (*trainer)->Run();
  }

  // From a checkpoint (of this folder or another run's), as a new process would.
  absl::StatusOr<TrainOutcome> Resume(const std::string& checkpoint) {
    const auto loaded = ReadCheckpoint(checkpoint);
    if (!loaded.ok()) return loaded.status();
    auto trainer = Make();
    if (!trainer.ok()) return trainer.status();
    const absl::Status restored = (*trainer)->Restore(loaded->content);
    if (!restored.ok()) return restored;
    return (*trainer)->Run();
  }

  // All files of another run, as they are.
  void CopyFrom(const TestRun& other) {
    std::filesystem::copy(
        other.dir(), dir(),
        std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
  }

  std::string Read(const std::string& name) const {
    const auto content = ReadFile(JoinPath(dir(), name));
    EXPECT_TRUE(content.ok()) << content.status();
    return content.ok() ? *content : "";
  }

  // The lines of metrics.jsonl.
  std::vector<nlohmann::json> Metrics() const {
    std::vector<nlohmann::json> lines;
    for (const auto& line : absl::StrSplit(Read("metrics.jsonl"), '\n', absl::SkipEmpty())) {
      lines.push_back(nlohmann::json::parse(std::string(line)));
    }
    return lines;
  }

  LoadedCheckpoint Latest() const {
    auto loaded = ReadCheckpoint(dir());
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    return loaded.ok() ? *std::move(loaded) : LoadedCheckpoint();
  }

 private:
  TestFolder folder_;
  ExperimentConfig config_;
  Probe probe_;
  std::atomic<bool> stop_{false};
  std::vector<std::unique_ptr<EnvRegistry>> registries_;
};

// state.json without the times, which differ from run to run.
inline nlohmann::json TimelessState(const CheckpointContent& content) {
  nlohmann::json state = nlohmann::json::parse(content.state_json);
  state.erase("wall_seconds");
  state.erase("solved_wall_seconds");
  return state;
}

}  // namespace lzero

#endif  // LZERO_TESTS_TRAIN_TRAINER_TESTING_H_
