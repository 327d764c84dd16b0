// `lzero bench step`: the recurrent step of a runner, beside the machine's peaks.
// `lzero bench train`: updates of the learner on batches that are sampled from a replay buffer of
// synthetic episodes. What is timed here blocks; one thread.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "lzero/base/status_macros.h"
#include "lzero/base/stopwatch.h"
#include "lzero/family/packed/families.h"
#include "lzero/family/unizero/runners/runners.h"
#include "lzero/family/unizero/world_model.h"
#include "lzero/graph/cuda_graph_library.h"
#include "lzero/nn/threads.h"
#include "lzero/replay/replay_buffer.h"
#include "lzero/tensor/torch.h"
#include "lzero/train/learner.h"
#include "tools/bench/bench_device.h"
#include "tools/bench/table/model_cases.h"

namespace lzero {
namespace {

struct BenchStep {
  EngineDevice device;  // one unload unit a step
  std::shared_ptr<WorldModel> weights;
  std::unique_ptr<RecurrentStep> step;
};

// Bytes of the weights of one model; nothing is allocated.
absl::StatusOr<int64_t> WeightBytes(const ModelConfig& config, const WorldModelShape& shape) {
  LZ_ASSIGN_OR_RETURN(const auto model, WorldModel::Create(config, shape, /*seed=*/0, at::kMeta));
  return model->num_parameters() * int64_t{sizeof(float)};
}

// With full contexts of random tokens. A round is the mean of many steps, whose first is not
// counted.
absl::StatusOr<BenchSubject> PrepareStep(const BenchCase& bench) {
  constexpr double kMeasuredSeconds = 0.02;
  constexpr int64_t kMinSteps = 3;
  LZ_ASSIGN_OR_RETURN(const ExperimentConfig config, BenchConfig(bench));
  LZ_ASSIGN_OR_RETURN(const BenchDevice* device, BenchDevice::Open(bench.Word("device")));
  const WorldModelShape shape = {{4}, bench.Int("actions")};
  if (device->is_cpu()) {
    LZ_ASSIGN_OR_RETURN(const int64_t weights, WeightBytes(config.model, shape));
    LZ_ASSIGN_OR_RETURN(const RunnerChoice choice, ChooseRunner(config.inference, nullptr));
    LZ_RETURN_IF_ERROR(
        CheckBenchMemory(weights + RunnersBytes(choice.runner, config.inference, config.model,
                                                shape, bench.Int("batch"))));
  }
  // Model and step, with full contexts.
  const auto model = std::make_shared<BenchStep>();
  LZ_ASSIGN_OR_RETURN(model->device, MakeEngineDevice(config.inference.device));
  LZ_ASSIGN_OR_RETURN(model->weights,
                      WorldModel::Create(config.model, shape, /*seed=*/0, device->device()));
  model->weights->eval();
  LZ_ASSIGN_OR_RETURN(model->step, MakeRecurrentStep(config.inference, *model->weights,
                                                     bench.Int("batch"), model->device));
  model->step->buffers().contexts.tokens.normal_();
  model->step->buffers().contexts.lengths.fill_(bench.Int("context") - 1);
  LZ_RETURN_IF_ERROR(device->Wait());  // the step runs on a stream of its own
  // A round, of which the first warms up.
  BenchSubject subject;
  subject.work = StepWork(bench);
  subject.run_round = [=](std::vector<double>* seconds) -> absl::Status {
    const auto run = [&] { return model->step->Run(bench.Int("batch")); };
    absl::StatusOr<double> mean = 0.0;
    const auto time = [&]() -> absl::StatusOr<double> {
      LZ_RETURN_IF_ERROR(run());
      return TimeRuns(*device, kMinSteps, kMeasuredSeconds, run);
    };
    SetTensorThreads(static_cast<int>(bench.Int("threads")));
    if (device->is_cpu()) {
      mean = time();
    } else {
      LZ_RETURN_IF_ERROR(model->device.backend->OnStream([&] { mean = time(); }));
    }
    LZ_RETURN_IF_ERROR(mean.status());
    seconds->push_back(*mean);
    return absl::OkStatus();
  };
  std::vector<double> first;
  LZ_RETURN_IF_ERROR(subject.run_round(&first));
  return subject;
}

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

struct BenchUpdates {
  ExperimentConfig config;
  std::unique_ptr<ReplayBuffer> replay = nullptr;
  std::unique_ptr<Learner> learner = nullptr;
  TrainBatch batch = {};
  RandomStream sampler = RandomStream(0, "bench_train_sampler");
  std::vector<double> seconds = {}, sample_seconds = {};  // of every update of all rounds

  // One update on a sampled batch.
  absl::Status Run() {
    const double start = MonotonicSeconds();
    LZ_RETURN_IF_ERROR(replay->Sample(static_cast<int>(config.train.batch_size), sampler, &batch));
    sample_seconds.push_back(MonotonicSeconds() - start);
    LZ_RETURN_IF_ERROR(learner->Update(batch, config.train.learning_rate, nullptr));
    seconds.push_back(MonotonicSeconds() - start);
    return absl::OkStatus();
  }
};

double MedianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// A round is the time of each of its updates.
absl::StatusOr<BenchSubject> PrepareUpdates(const BenchCase& bench) {
  constexpr double kMeasuredSeconds = 0.3;
  constexpr int64_t kMinUpdates = 2;
  const std::vector<int64_t> observation = ObservationShape(bench);
  const auto updates = std::make_shared<BenchUpdates>();
  LZ_ASSIGN_OR_RETURN(updates->config, BenchConfig(bench));
  const WorldModelShape model_shape = {observation, bench.Int("actions")};
  LZ_ASSIGN_OR_RETURN(const int64_t weights, WeightBytes(updates->config.model, model_shape));
  // Gradient, two moments and target beside them.
  LZ_RETURN_IF_ERROR(CheckBenchMemory(
      5 * weights + FamilyOf(updates->config.model).update_bytes(updates->config, model_shape)));
  // A replay buffer of about the same bytes for every size of observation.
  ReplayShape shape;
  shape.observation_size = 1;
  for (const int64_t length : observation) shape.observation_size *= static_cast<int>(length);
  if (bench.Word("encoder") == "image") shape.observation_type = ObservationType::kUint8;
  shape.num_actions = static_cast<int>(bench.Int("actions"));
  shape.num_envs = 1;
  const int64_t fitting = kObservationBytes / (int64_t{sizeof(float)} * shape.observation_size);
  const int64_t num_transitions = std::clamp<int64_t>(fitting, 10 * kEpisodeLength, 20000);
  ReplayConfig& replay = updates->config.replay;
  replay.capacity = 2 * (num_transitions + replay.num_unroll_steps);
  replay.max_mebibytes = 1 << 16;
  LZ_ASSIGN_OR_RETURN(updates->replay, ReplayBuffer::Create(replay, shape));
  LZ_RETURN_IF_ERROR(FillReplay(shape, num_transitions, *updates->replay));
  // The learner, warmed up.
  LZ_ASSIGN_OR_RETURN(updates->learner, Learner::Create(updates->config, model_shape));
  SetTensorThreads(static_cast<int>(bench.Int("threads")));
  for (int i = 0; i < kWarmUpUpdates; ++i) LZ_RETURN_IF_ERROR(updates->Run());
  updates->seconds.clear();
  updates->sample_seconds.clear();
  // A round, and how much of it is sampling.
  BenchSubject subject;
  subject.work = UpdateWork(bench);
  subject.run_round = [=](std::vector<double>* seconds) -> absl::Status {
    SetTensorThreads(static_cast<int>(bench.Int("threads")));
    const double start = MonotonicSeconds();
    for (int64_t i = 0; i < kMinUpdates || MonotonicSeconds() - start < kMeasuredSeconds; ++i) {
      LZ_RETURN_IF_ERROR(updates->Run());
    }
    *seconds = updates->seconds;
    return absl::OkStatus();
  };
  subject.metrics = [=]() -> BenchCase {
    const double sample = MedianOf(updates->sample_seconds);
    return {{"updates", static_cast<int64_t>(updates->seconds.size())},
            {"sample_ms_median", sample * 1e3},
            {"sample_share", sample / MedianOf(updates->seconds)}};
  };
  return subject;
}

}  // namespace

BenchTable StepTable() {
  BenchTable table;
  table.verb = "step";
  table.help = "The recurrent step beside the machine's peaks; without sizes: the standard table";
  table.unit = "us";
  table.axes =
      ModelAxes("device embed layers heads batch context support actions runner dtype threads");
  table.presets = StepPresets();
  table.is_left_out = LacksDtype;
  table.check = CheckStepCase;
  table.prepare = PrepareStep;
  return table;
}

BenchTable TrainTable() {
  BenchTable table;
  table.verb = "train";
  table.help = "One update of the learner on a sampled batch; without sizes: the standard table";
  table.unit = "ms";
  table.axes = ModelAxes(
      "encoder observation embed layers heads batch=256 unroll context support actions=2 threads");
  table.axes[5].help = "Samples of an update N";
  table.presets = UpdatePresets();
  table.check = CheckUpdateCase;
  table.prepare = PrepareUpdates;
  return table;
}

}  // namespace lzero
