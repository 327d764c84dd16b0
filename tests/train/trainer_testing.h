// A training run of a few hundred milliseconds in a folder of its own, and what it left there.
#ifndef LZERO_TESTS_TRAIN_TRAINER_TESTING_H_
#define LZERO_TESTS_TRAIN_TRAINER_TESTING_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lzero/run/checkpoint_store.h"
#include "lzero/train/trainer.h"
#include "tests/run/test_folder.h"
#include "tests/train/train_testing.h"

namespace lzero {

// The environment "probe": episodes of six steps that pay what the probe of the test says.
ExperimentConfig ProbeConfig();

// Updates that are owed after so many steps, at a ratio of numerator / denominator.
int64_t ExpectedUpdates(int64_t env_steps, int64_t start, int64_t numerator, int64_t denominator);

// One line of metrics.jsonl; null where a number was not finite.
using MetricsLine = std::map<std::string, std::optional<double>>;

class TestRun {
 public:
  explicit TestRun(const ExperimentConfig& config, Probe probe = {})
      : config_(config), probe_(std::move(probe)) {}

  const std::string& dir() const { return folder_.path(); }
  std::atomic<bool>& stop() { return stop_; }
  void set_probe(Probe probe) { probe_ = std::move(probe); }
  void set_config(const ExperimentConfig& config) { config_ = config; }

  // A trainer on a registry of its own, which lives as long as this object.
  absl::StatusOr<std::unique_ptr<Trainer>> Make();
  // From the beginning.
  absl::StatusOr<TrainOutcome> Run();
  // From a checkpoint (of this folder or another run's), as a new process would.
  absl::StatusOr<TrainOutcome> Resume(const std::string& checkpoint);
  // All files of another run, as they are.
  void CopyFrom(const TestRun& other);

  std::string Read(const std::string& name) const;
  std::vector<MetricsLine> Metrics() const;
  LoadedCheckpoint Latest() const;

 private:
  TestFolder folder_;
  ExperimentConfig config_;
  Probe probe_;
  std::atomic<bool> stop_{false};
  std::vector<std::unique_ptr<EnvRegistry>> registries_;
};

// The fields of state.json as JSON text, without the times, which differ from run to run.
std::map<std::string, std::string> TimelessState(const CheckpointContent& content);

// One field of state.json, a whole number.
int64_t CountIn(const CheckpointContent& content, const std::string& name);

// Whether two runs ended alike: files of the last checkpoint, state, and metrics where asked.
void ExpectSameEnd(const TestRun& got, const TestRun& expected, bool compare_metrics);

// Runs to the end, then again from every `stride`-th checkpoint of that run but the last: all must
// end alike.
void ExpectExactResume(const ExperimentConfig& config, int stride);

}  // namespace lzero

#endif  // LZERO_TESTS_TRAIN_TRAINER_TESTING_H_
