// What the tests of the train floor share: a configuration that trains in a fraction of a second,
// registries with small environments that can be watched and poisoned, and ways to compare weights.
#ifndef LZERO_TESTS_TRAIN_TRAIN_TESTING_H_
#define LZERO_TESTS_TRAIN_TRAIN_TESTING_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "envs/register_all.h"
#include "gtest/gtest.h"
#include "lzero/base/named_array.h"
#include "lzero/config/experiment_config.h"
#include "lzero/env/env_registry.h"
#include "lzero/env/episode_env.h"
#include "lzero/family/unizero/engine/unizero_inference.h"
#include "lzero/family/unizero/world_model.h"
#include "tests/train/film_env.h"

namespace lzero {

// CartPole (long episodes) with the smallest network that has every part.
inline ExperimentConfig TinyConfig() {
  ExperimentConfig config;
  config.env.id = "cartpole";
  config.env.max_episode_steps = 40;
  config.env.num_collectors = 3;
  config.env.num_evaluators = 2;
  config.model.encoder_width = 8;
  config.model.embed_dim = 8;
  config.model.num_layers = 1;
  config.model.num_heads = 1;
  config.model.context_length = 4;
  config.model.support_size = 11;
  config.model.head_dim = 8;
  config.search.num_simulations = 4;
  config.replay.capacity = 1000;
  config.replay.segment_length = 12;
  config.replay.num_unroll_steps = 2;
  config.replay.td_steps = 3;
  config.train.batch_size = 4;
  config.train.updates_per_env_step = 0.5;
  config.train.start_env_steps = 30;
  config.train.log_every_updates = 4;
  config.evaluate.every_updates = 15;
  config.evaluate.episodes = 3;
  config.checkpoint.every_updates = 10;
  config.checkpoint.keep = 50;
  config.stop.max_env_steps = 120;
  config.seed = 5;
  config.deterministic = true;
  return config;
}

// The engine of a role whose family is UniZero.
template <typename Role>
UniZeroInference& UniZeroOf(const Role& role) {
  return dynamic_cast<UniZeroInference&>(*role.inference);
}

// Films through the smallest image encoder.
inline ExperimentConfig FilmConfig() {
  ExperimentConfig config = TinyConfig();
  config.env.id = "film";
  config.env.max_episode_steps = 0;
  config.model.encoder = EncoderKind::kImage;
  config.model.encoder_channels = 4;
  config.replay.segment_length = 4;
  return config;
}

inline EnvRegistry NativeRegistry() {
  EnvRegistry registry;
  RegisterAllEnvs(registry);
  return registry;
}

// TicTacToe through the smallest board encoder.
inline ExperimentConfig BoardConfig() {
  ExperimentConfig config = TinyConfig();
  config.env.id = "tictactoe";
  config.env.max_episode_steps = 0;
  config.model.encoder = EncoderKind::kBoard;
  config.model.encoder_channels = 4;
  config.model.encoder_blocks = 1;
  return config;
}

// What a ProbeEnv does at a step; `is_evaluator` tells the roles apart, `num_steps` counts the
// steps of all environments of that role in this process.
struct ProbeStep {
  bool is_evaluator = false;
  int64_t num_steps = 0;
  float reward = 1.0f;      // may be changed
  bool terminated = false;  // may be changed
};

using Probe = std::function<void(ProbeStep&)>;

// Shared by all environments of a registry.
struct ProbeCounts {
  int64_t num_made = 0;
  std::atomic<int64_t> collector_steps = 0;  // environments may be stepped by several threads
  std::atomic<int64_t> evaluator_steps = 0;
};

// Two actions, observation {2}: the step and a number of the seed. Pays what the probe says.
class ProbeEnv : public EpisodeEnv {
 public:
  ProbeEnv(EnvSpec spec, bool is_evaluator, Probe probe, std::shared_ptr<ProbeCounts> counts)
      : EpisodeEnv(std::move(spec)),
        is_evaluator_(is_evaluator),
        probe_(std::move(probe)),
        counts_(std::move(counts)) {}

 protected:
  void StartGame(uint64_t seed) override {
    shown_ = static_cast<float>(seed % 16) / 16.0f;
    step_ = 0;
  }
  Outcome Advance(const Action&) override {
    ++step_;
    std::atomic<int64_t>& count =
        is_evaluator_ ? counts_->evaluator_steps : counts_->collector_steps;
    ProbeStep step{is_evaluator_, ++count, 1.0f, false};
    if (probe_) probe_(step);
    return {step.reward, step.terminated};
  }
  void Observe(absl::Span<float> observation) const override {
    observation[0] = static_cast<float>(step_) / 8.0f;
    observation[1] = shown_;
  }
  void SaveGame(StateWriter& writer) const override {
    writer.Write(step_);
    writer.Write(shown_);
  }
  absl::Status LoadGame(StateReader& reader) override {
    step_ = reader.Read<int32_t>();
    shown_ = reader.Read<float>();
    return reader.Finish();
  }

 private:
  bool is_evaluator_;
  Probe probe_;
  std::shared_ptr<ProbeCounts> counts_;
  int32_t step_ = 0;
  float shown_ = 0.0f;
};

inline EnvSpec ProbeSpec(const std::string& id, bool can_save) {
  EnvSpec spec;
  spec.id = id;
  spec.observation = {{2}, {0.0f}, {10.0f}};
  spec.action.num_actions = 2;
  spec.max_episode_steps = 6;
  spec.can_save = can_save;
  return spec;
}

// The native environments, films, "probe", and "forgetful", which is the same but cannot be saved.
// One registry serves one Trainer: it makes one environment to look at, then those of the
// collector, then the evaluator's.
inline EnvRegistry ProbeRegistry(const ExperimentConfig& config, Probe probe = {}) {
  EnvRegistry registry;
  RegisterAllEnvs(registry);
  for (const bool is_torn : {false, true}) {
    const std::string id = is_torn ? "torn_film" : "film";
    registry.Register(
        {id, "for tests", [=](const EnvOptions&) -> absl::StatusOr<std::unique_ptr<Env>> {
           return std::make_unique<FilmEnv>(id, is_torn);
         }});
  }
  auto counts = std::make_shared<ProbeCounts>();
  const int64_t num_collectors = config.env.num_collectors;
  for (const bool can_save : {true, false}) {
    const std::string id = can_save ? "probe" : "forgetful";
    registry.Register(
        {id, "for tests", [=](const EnvOptions&) -> absl::StatusOr<std::unique_ptr<Env>> {
           const bool is_evaluator = counts->num_made++ > num_collectors;
           return std::make_unique<ProbeEnv>(ProbeSpec(id, can_save), is_evaluator, probe, counts);
         }});
  }
  return registry;
}

// An environment with box actions, which no agent here can play.
class BoxEnv : public EpisodeEnv {
 public:
  BoxEnv() : EpisodeEnv(Spec()) {}

 protected:
  void StartGame(uint64_t) override {}
  Outcome Advance(const Action&) override { return {}; }
  void Observe(absl::Span<float> observation) const override { observation[0] = 0.0f; }

 private:
  static EnvSpec Spec() {
    EnvSpec spec;
    spec.id = "steering";
    spec.observation = {{1}, {0.0f}, {1.0f}};
    spec.action.kind = ActionKind::kBox;
    spec.action.low = {-1.0f};
    spec.action.high = {1.0f};
    return spec;
  }
};

using ArrayFiles = std::map<std::string, std::vector<NamedArray>>;

// "file/array" -> bytes, so that a difference is named.
inline std::map<std::string, std::string> BytesOf(const ArrayFiles& files) {
  std::map<std::string, std::string> bytes;
  for (const auto& [file, arrays] : files) {
    for (const NamedArray& array : arrays) bytes[file + "/" + array.name] = array.bytes;
  }
  return bytes;
}

inline void ExpectSameBytes(const ArrayFiles& got, const ArrayFiles& expected) {
  const auto a = BytesOf(got), b = BytesOf(expected);
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, bytes] : b) {
    const auto found = a.find(name);
    ASSERT_NE(found, a.end()) << name << " is missing";
    EXPECT_TRUE(found->second == bytes) << name << " differs";
  }
}

// All weights as doubles, in the order of the model's parameters.
inline std::vector<std::vector<double>> WeightsOf(const Network& model) {
  std::vector<std::vector<double>> weights;
  for (const at::Tensor& parameter : model.parameters()) {
    const at::Tensor flat = parameter.detach().contiguous();
    const float* begin = flat.const_data_ptr<float>();
    weights.emplace_back(begin, begin + flat.numel());
  }
  return weights;
}

}  // namespace lzero

#endif  // LZERO_TESTS_TRAIN_TRAIN_TESTING_H_
