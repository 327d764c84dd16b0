#include "tools/bench/bench_train.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "lzero/base/status_macros.h"
#include "lzero/base/stopwatch.h"
#include "lzero/nn/threads.h"
#include "lzero/replay/replay_buffer.h"
#include "lzero/tensor/torch.h"
#include "lzero/train/learner.h"
#include "tools/bench/bench_rounds.h"
#include "tools/bench/table/bench_train_report.h"

namespace lzero {
namespace {

constexpr double kMeasuredSeconds = 0.3;  // of one case in one round
constexpr int64_t kMinUpdates = 2;        // likewise
constexpr int64_t kWarmUpUpdates = 3;
constexpr int64_t kObservationBytes = int64_t{128} << 20;  // in the replay buffer, about
constexpr int kEpisodeLength = 150;

// A case with what it times and what was measured so far.
struct Subject {
  BenchTrainResult result;
  ExperimentConfig config;
  std::unique_ptr<ReplayBuffer> replay;
  std::unique_ptr<Learner> learner;
  TrainBatch batch;
  RandomStream sampler{0, "bench_train_sampler"};
};

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
      for (float& value : observation) value = ByteFractions()[random.UniformInt(256)];
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

absl::StatusOr<Subject> MakeSubject(const BenchTrainCase& train) {
  Subject subject;
  subject.result.train = train;
  subject.config = BenchTrainConfig(train);
  ReplayShape shape;
  shape.observation_size = 1;
  for (const int64_t length : ObservationShape(train)) {
    shape.observation_size *= static_cast<int>(length);
  }
  if (train.encoder == "image") shape.observation_type = ObservationType::kUint8;
  shape.num_actions = static_cast<int>(train.actions);
  shape.num_envs = 1;
  ReplayConfig& config = subject.config.replay;
  const int64_t fitting = kObservationBytes / (int64_t{sizeof(float)} * shape.observation_size);
  const int64_t num_transitions = std::clamp<int64_t>(fitting, 10 * kEpisodeLength, 20000);
  config.capacity = 2 * (num_transitions + config.num_unroll_steps);
  config.max_mebibytes = 1 << 16;
  LZ_ASSIGN_OR_RETURN(subject.replay, ReplayBuffer::Create(config, shape));
  LZ_RETURN_IF_ERROR(FillReplay(shape, num_transitions, *subject.replay));
  LZ_ASSIGN_OR_RETURN(subject.learner,
                      Learner::Create(subject.config, {ObservationShape(train), train.actions}));
  return subject;
}

// One update on a sampled batch: seconds of the sampling, and of both.
absl::StatusOr<std::pair<double, double>> TimeUpdate(Subject& subject) {
  const double start = MonotonicSeconds();
  LZ_RETURN_IF_ERROR(subject.replay->Sample(static_cast<int>(subject.config.train.batch_size),
                                            subject.sampler, &subject.batch));
  const double sampled = MonotonicSeconds();
  LZ_RETURN_IF_ERROR(
      subject.learner->Update(subject.batch, subject.config.train.learning_rate, nullptr));
  return std::pair(sampled - start, MonotonicSeconds() - start);
}

absl::Status RunRound(Subject& subject) {
  SetTensorThreads(static_cast<int>(subject.result.train.threads));
  const double start = MonotonicSeconds();
  for (int64_t i = 0; i < kMinUpdates || MonotonicSeconds() - start < kMeasuredSeconds; ++i) {
    LZ_ASSIGN_OR_RETURN(const auto seconds, TimeUpdate(subject));
    subject.result.sample_seconds.push_back(seconds.first);
    subject.result.seconds.push_back(seconds.second);
  }
  return absl::OkStatus();
}

// The machine's peaks of this round; a case keeps the best it has seen.
void MeasurePeaks(std::vector<Subject>& subjects) {
  std::map<int64_t, double> gflops;  // [threads]
  for (Subject& subject : subjects) {
    const int64_t threads = subject.result.train.threads;
    const auto [peak, is_first] = gflops.try_emplace(threads, 0.0);
    if (is_first) peak->second = MeasurePeakGflops(threads);
    subject.result.peak_gflops = std::max(subject.result.peak_gflops, peak->second);
  }
}

absl::Status WarmUp(Subject& subject) {
  SetTensorThreads(static_cast<int>(subject.result.train.threads));
  for (int64_t i = 0; i < kWarmUpUpdates; ++i) LZ_RETURN_IF_ERROR(TimeUpdate(subject).status());
  return absl::OkStatus();
}

}  // namespace

int BenchTrain(const BenchTrainOptions& options) {
  const auto cases = BenchTrainCases(options);
  if (!cases.ok()) return PrintError(cases.status(), kExitUsage);
  BenchSteps<BenchTrainCase, Subject, BenchTrainResult> steps;
  steps.verb = "train";
  steps.make = MakeSubject;
  steps.warm_up = WarmUp;
  steps.measure_peaks = [](std::vector<Subject>& subjects) {
    MeasurePeaks(subjects);
    return absl::OkStatus();
  };
  steps.time_round = RunRound;
  steps.json = BenchTrainJson;
  steps.table = BenchTrainTable;
  return RunBench(steps, *cases, options.rounds, /*gpu=*/"", options.output);
}

}  // namespace lzero
