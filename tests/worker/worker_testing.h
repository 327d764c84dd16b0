// What the tests of collector and evaluator share: an environment whose episodes depend on the seed
// alone and are logged, and a model whose answers depend on what a root shows, not on which
// environment it belongs to. Not a game. One thread.
#ifndef LZERO_TESTS_WORKER_WORKER_TESTING_H_
#define LZERO_TESTS_WORKER_WORKER_TESTING_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/thread_pool.h"
#include "lzero/env/env.h"
#include "lzero/env/vector_env.h"
#include "lzero/mcts/inference_model.h"

namespace lzero {

// SplitMix64: a hash that shares nothing with the code under test. [Steele et al. 2014]
inline uint64_t MixBits(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// A multiple of 1/64 in [-1, 1).
inline float ToUnit(uint64_t bits) {
  return static_cast<float>(static_cast<int>(MixBits(bits) % 128) - 64) / 64.0f;
}

// One call that an environment received: a reset with a seed, or a step with an action.
struct EnvCall {
  bool is_reset = false;
  uint64_t seed = 0;
  int32_t action = 0;
};

struct WalkOptions {
  bool can_save = true;
  int64_t fail_at_call = -1;       // the step call that fails, counted from 0
  int64_t interrupt_at_call = -1;  // the step call during which its process dies
  std::vector<EnvCall>* log = nullptr;
  int64_t max_episode_steps = 0;  // what the spec says
};

// Observation {3}: a number of the seed, the step, the last action. Episodes end after 2 .. 9 steps
// by termination or truncation; about a third of the actions is illegal.
class WalkEnv : public Env {
 public:
  static constexpr int kNumActions = 4;

  explicit WalkEnv(const WalkOptions& options) : options_(options) {
    spec_.id = "walk";
    spec_.observation = {{3}, {-1.0f}, {100.0f}};
    spec_.action.num_actions = kNumActions;
    spec_.can_save = options.can_save;
    spec_.max_episode_steps = options.max_episode_steps;
  }

  const EnvSpec& spec() const override { return spec_; }

  TimeStep Reset(uint64_t seed) override {
    if (options_.log != nullptr) options_.log->push_back({true, seed, 0});
    state_ = {seed, 0, 0, 0.0};
    return Show(0.0f);
  }

  absl::StatusOr<TimeStep> Step(const Action& action) override {
    if (num_calls_ == options_.interrupt_at_call) {
      ++num_calls_;
      TimeStep step = Show(0.0f);
      step.legal_action_mask.assign(kNumActions, 0);
      step.truncated = step.interrupted = true;
      return step;
    }
    if (num_calls_++ == options_.fail_at_call) return absl::InternalError("the motor is stuck");
    if (action.index < 0 || action.index >= kNumActions || !IsLegal(action.index)) {
      return absl::InvalidArgumentError(absl::StrCat("action ", action.index, " is illegal"));
    }
    if (options_.log != nullptr) options_.log->push_back({false, 0, action.index});
    const float reward = ToUnit(state_.seed ^ MixBits(100 * state_.step + action.index));
    ++state_.step;
    state_.last_action = action.index;
    state_.sum += reward;
    return Show(reward);
  }

  absl::StatusOr<std::string> Save() const override {
    return std::string(reinterpret_cast<const char*>(&state_), sizeof(state_));
  }

  absl::Status Load(const std::string& state) override {
    if (state.size() != sizeof(state_)) return absl::InvalidArgumentError("not a walk");
    std::memcpy(&state_, state.data(), sizeof(state_));
    return absl::OkStatus();
  }

 private:
  struct State {
    uint64_t seed;
    int64_t step;
    int64_t last_action;
    double sum;
  };

  bool IsLegal(int action) const {
    const uint64_t here = MixBits(state_.seed ^ MixBits(state_.step + 7));
    return here % kNumActions == static_cast<uint64_t>(action) || MixBits(here + action) % 2 == 0;
  }

  TimeStep Show(float reward) const {
    TimeStep step;
    step.observation = {ToUnit(state_.seed), static_cast<float>(state_.step),
                        static_cast<float>(state_.last_action)};
    const bool ended = state_.step >= 2 + static_cast<int64_t>(MixBits(state_.seed + 1) % 8);
    for (int a = 0; a < kNumActions; ++a) {
      step.legal_action_mask.push_back(!ended && IsLegal(a) ? 1 : 0);
    }
    step.reward = reward;
    step.terminated = ended && state_.seed % 2 == 0;
    step.truncated = ended && state_.seed % 2 == 1;
    step.episode_return = state_.sum;
    return step;
  }

  WalkOptions options_;
  EnvSpec spec_;
  State state_ = {};
  int64_t num_calls_ = 0;
};

// `logs`, if given, receives one log for each environment and must not move afterwards.
inline std::unique_ptr<VectorEnv> MakeWalks(int num_envs, ThreadPool* pool,
                                            std::vector<std::vector<EnvCall>>* logs = nullptr,
                                            WalkOptions options = {}) {
  if (logs != nullptr) logs->assign(num_envs, {});
  std::vector<std::unique_ptr<Env>> envs;
  for (int i = 0; i < num_envs; ++i) {
    if (logs != nullptr) options.log = &(*logs)[i];
    envs.push_back(std::make_unique<WalkEnv>(options));
  }
  auto made = VectorEnv::Create(std::move(envs), pool);
  LZ_CHECK(made.ok(), made.status().message());
  return std::move(made).value();
}

// A root as the model saw it, copied.
struct SeenRoot {
  int32_t env = 0;
  int64_t step = 0;
  int to_play = 0;
  std::vector<float> observations;
  std::vector<int32_t> actions;
  std::vector<uint8_t> legal_action_mask;
  std::string state;
};

struct ShownModelOptions {
  int num_actions = WalkEnv::kNumActions;
  float value_scale = 1.0f;
  float discount = 0.9f;
  bool needs_state = false;
};

// Answers are a hash of the root's newest observation and the actions from there.
class ShownModel final : public InferenceModel {
 public:
  explicit ShownModel(const ShownModelOptions& options = {}) : options_(options) {}

  int num_actions() const override { return options_.num_actions; }
  bool NeedsState() const override { return options_.needs_state; }
  void EndEpisode(EnvId env) override { kept.erase(env.value); }

  absl::Status InitialInference(absl::Span<const Root> roots, absl::Span<float> prior_logits,
                                absl::Span<float> value) override {
    if (!failure.ok()) return failure;
    hashes_.assign(1, {});
    for (size_t b = 0; b < roots.size(); ++b) {
      const Root& root = roots[b];
      seen.push_back({root.env.value,
                      root.step,
                      root.to_play,
                      {root.observations.begin(), root.observations.end()},
                      {root.actions.begin(), root.actions.end()},
                      {root.legal_action_mask.begin(), root.legal_action_mask.end()},
                      std::string(root.state)});
      hashes_[0].push_back(HashObservation(root));
      Answer(hashes_[0][b], &value[b], &prior_logits[b * options_.num_actions]);
    }
    return absl::OkStatus();
  }

  absl::Status RecurrentInference(absl::Span<const NodeId> parents,
                                  absl::Span<const int32_t> actions,
                                  absl::Span<const NodeId> children, absl::Span<float> rewards,
                                  absl::Span<float> discounts, absl::Span<float> values,
                                  absl::Span<float> prior_logits) override {
    for (size_t b = 0; b < parents.size(); ++b) {
      const size_t child = static_cast<size_t>(children[b].value);
      if (hashes_.size() <= child) hashes_.resize(child + 1);
      hashes_[child].resize(parents.size());
      const uint64_t parent = hashes_[static_cast<size_t>(parents[b].value)][b];
      const uint64_t hash = MixBits(parent ^ MixBits(static_cast<uint64_t>(actions[b]) + 1));
      hashes_[child][b] = hash;
      rewards[b] = options_.value_scale * ToUnit(hash + 5);
      discounts[b] = options_.discount;
      Answer(hash, &values[b], &prior_logits[b * options_.num_actions]);
    }
    return absl::OkStatus();
  }

  // The prior logits at an observation.
  std::vector<float> Logits(const std::vector<float>& observation) const {
    Root root;
    root.observations = observation;
    std::vector<float> logits(options_.num_actions);
    float value = 0.0f;
    Answer(HashObservation(root), &value, logits.data());
    return logits;
  }

  std::vector<SeenRoot> seen;  // all roots so far
  absl::Status failure;        // returned by the next calls, if not ok
  std::set<int32_t> kept;      // environments that a test put here, until their episodes end

 private:
  static uint64_t HashObservation(const Root& root) {
    const size_t size = root.observations.size() / (root.actions.size() + 1);
    uint64_t hash = 1;
    for (const float value : root.observations.last(size)) {
      uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof(bits));
      hash = MixBits(hash ^ bits);
    }
    return hash;
  }

  void Answer(uint64_t hash, float* value, float* logits) const {
    *value = options_.value_scale * ToUnit(hash + 3);
    for (int a = 0; a < options_.num_actions; ++a) logits[a] = 2.0f * ToUnit(hash + 16 + a);
  }

  ShownModelOptions options_;
  std::vector<std::vector<uint64_t>> hashes_;  // [node][root]
};

}  // namespace lzero

#endif  // LZERO_TESTS_WORKER_WORKER_TESTING_H_
