// `lzero bench train`: updates of the learner on batches that are sampled from a replay buffer of
// synthetic episodes.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "lzero/base/status_macros.h"
#include "lzero/base/stopwatch.h"
#include "lzero/nn/threads.h"
#include "lzero/replay/replay_buffer.h"
#include "lzero/tensor/torch.h"
#include "lzero/train/learner.h"
#include "tools/bench/model_tables.h"
#include "tools/bench/table/model_cases.h"

namespace lzero {
namespace {

constexpr int64_t kObservationBytes = int64_t{128} << 20;  // in the replay buffer, about
constexpr int kEpisodeLength = 150;
constexpr int kWarmUpUpdates = 3;

// Episodes of one environment with random observations, rewards and search distributions; pictures
// are bytes, as those of environments are.
absl::Status FillReplay(const ReplayShape& shape, int64_t num_transitions, ReplayBuffer& replay) {
  RandomStream random(0, "bench_train_episodes");
  std::vector<float> observation(static_cast<size_t>(shape.observation_size));
  std::vector<float> policy(static_cast<size_t>(shape.num_actions));
  const std::vector<uint8_t> legal(policy.size(), 1);
  const auto fill = [&](std::vector<float>& values, float scale) {
    for (float& value : values) value = scale * static_cast<float>(random.Uniform());
  };
  const EnvId env{0};
  for (int64_t i = 0; i < num_transitions; ++i) {
    if (shape.observation_type == ObservationType::kUint8) {
      for (float& value : observation) {
        value = static_cast<float>(random.UniformInt(256)) / 255.0f;
      }
    } else {
      fill(observation, 1.0f);
    }
    if (i % kEpisodeLength == 0) {
      LZ_RETURN_IF_ERROR(replay.BeginEpisode(env, observation, legal, 0));
    }
    fill(policy, 2.0f / static_cast<float>(shape.num_actions));
    Transition step;
    step.action = static_cast<int32_t>(random.UniformInt(shape.num_actions));
    step.reward = static_cast<float>(random.Uniform());
    step.policy = policy;
    step.observation = observation;
    step.legal_action_mask = legal;
    step.terminated = (i + 1) % kEpisodeLength == 0;
    LZ_RETURN_IF_ERROR(replay.Append(env, step));
  }
  return absl::OkStatus();
}

class TrainSubject final : public BenchSubject {
 public:
  using BenchSubject::BenchSubject;

  absl::Status Prepare() override {
    LZ_ASSIGN_OR_RETURN(config_, BenchConfig(bench_));
    ReplayShape shape;
    shape.observation_size = 1;
    for (const int64_t length : ObservationShape(bench_)) {
      shape.observation_size *= static_cast<int>(length);
    }
    if (bench_.Text("encoder") == "image") shape.observation_type = ObservationType::kUint8;
    shape.num_actions = static_cast<int>(bench_.Int("actions"));
    shape.num_envs = 1;
    const int64_t fitting = kObservationBytes / (int64_t{sizeof(float)} * shape.observation_size);
    const int64_t num_transitions = std::clamp<int64_t>(fitting, 10 * kEpisodeLength, 20000);
    config_.replay.capacity = 2 * (num_transitions + config_.replay.num_unroll_steps);
    config_.replay.max_mebibytes = 1 << 16;
    LZ_ASSIGN_OR_RETURN(replay_, ReplayBuffer::Create(config_.replay, shape));
    LZ_RETURN_IF_ERROR(FillReplay(shape, num_transitions, *replay_));
    LZ_ASSIGN_OR_RETURN(
        learner_, Learner::Create(config_, {ObservationShape(bench_), bench_.Int("actions")}));
    SetTensorThreads(static_cast<int>(bench_.Int("threads")));
    std::vector<double> seconds;
    for (int i = 0; i < kWarmUpUpdates; ++i) LZ_RETURN_IF_ERROR(TimeUpdate(&seconds));
    sample_seconds_.clear();
    return absl::OkStatus();
  }

  // The time of each update.
  absl::Status RunRound(std::vector<double>* seconds) override {
    constexpr double kMeasuredSeconds = 0.3;
    constexpr int64_t kMinUpdates = 2;
    SetTensorThreads(static_cast<int>(bench_.Int("threads")));
    const double start = MonotonicSeconds();
    for (int64_t i = 0; i < kMinUpdates || MonotonicSeconds() - start < kMeasuredSeconds; ++i) {
      LZ_RETURN_IF_ERROR(TimeUpdate(seconds));
    }
    seconds_ = *seconds;
    return absl::OkStatus();
  }

  BenchWork Work() const override { return UpdateWork(bench_); }

  BenchCase Metrics() const override {
    const double sample = MedianOf(sample_seconds_);
    return {{"updates", static_cast<int64_t>(seconds_.size())},
            {"sample_ms_median", sample * 1e3},
            {"sample_share", sample / MedianOf(seconds_)}};
  }

 private:
  // One update on a sampled batch: appends the seconds of both.
  absl::Status TimeUpdate(std::vector<double>* seconds) {
    const double start = MonotonicSeconds();
    LZ_RETURN_IF_ERROR(
        replay_->Sample(static_cast<int>(config_.train.batch_size), sampler_, &batch_));
    sample_seconds_.push_back(MonotonicSeconds() - start);
    LZ_RETURN_IF_ERROR(learner_->Update(batch_, config_.train.learning_rate, nullptr));
    seconds->push_back(MonotonicSeconds() - start);
    return absl::OkStatus();
  }

  static double MedianOf(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  }

  ExperimentConfig config_;
  std::unique_ptr<ReplayBuffer> replay_;
  std::unique_ptr<Learner> learner_;
  TrainBatch batch_;
  RandomStream sampler_{0, "bench_train_sampler"};
  std::vector<double> seconds_, sample_seconds_;  // of every update of all rounds
};

}  // namespace

BenchTable TrainTable() {
  BenchTable table;
  table.verb = "train";
  table.unit = "ms";
  table.axes = UpdateAxes();
  table.presets = UpdatePresets();
  table.check = CheckUpdateCase;
  table.make = MakeSubject<TrainSubject>;
  return table;
}

}  // namespace lzero
