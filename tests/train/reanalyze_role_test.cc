// The reanalyzer that build.cc puts together, with a real engine: with the collector's weights and
// its noise, every stored position, however deep in its episode and whether or not the segment
// before it is still stored, is searched again to the very policy and root value that are stored.
#include <map>

#include "gtest/gtest.h"
#include "lzero/inference/tensor/network_weights.h"
#include "lzero/mcts/search.h"
#include "lzero/nn/threads.h"
#include "lzero/train/build.h"
#include "tests/family/unizero/runners/random_model.h"
#include "tests/train/train_testing.h"

namespace lzero::reanalyze_role_test {
namespace {

// Roots need more past than a segment has steps; most of what is collected is evicted.
ExperimentConfig DeepConfig() {
  ExperimentConfig config = TinyConfig();
  config.model.num_layers = 3;
  config.model.context_length = 6;  // L (W - 1) / 2 = 7.5 past steps
  config.replay.segment_length = 5;
  config.replay.capacity = 60;
  config.replay.reanalyze_ratio = 1.0;
  return config;
}

// Collects with weights that never change, and stores.
class Roles {
 public:
  Roles(const ExperimentConfig& config, int num_steps) : config_(config) {
    SetTensorThreads(1);
    const EnvRegistry registry = NativeRegistry();
    spec_ = BuildEnvSpec(config, registry).value();
    collector_ = BuildCollector(config, registry, &pool_).value();
    reanalyzer_ = BuildReanalyzer(config, registry).value();
    replay_ = ReplayBuffer::Create(config.replay, BuildReplayShape(config, spec_)).value();
    weights_ = RandomModel(config.model, BuildWorldModelShape(spec_), 3);
    EXPECT_TRUE(reanalyzer_.inference->CopyWeightsFrom(NetworkWeights(*weights_)).ok());
    for (int i = 0; i < num_steps; ++i) {
      // Drops contexts, so that the collector rebuilds its roots as after every update.
      EXPECT_TRUE(collector_.inference->CopyWeightsFrom(NetworkWeights(*weights_)).ok());
      EXPECT_TRUE(collector_.collector->Step(0).ok());
      EXPECT_TRUE(collector_.collector->staged().MoveTo(*replay_).ok());
    }
    EXPECT_LT(replay_->stats().num_transitions, replay_->stats().num_appended / 2);
  }

  // One batch of roots with the noise of the collector.
  Reanalyzer WithNoiseOfCollector(int batch_size) {
    const AgentOptions options = {StreamKey(static_cast<uint64_t>(config_.seed), "collector"),
                                  config_.deterministic, spec_.action.num_actions};
    return {batch_size,
            std::make_unique<Agent>(
                Search::Create(config_.search, reanalyzer_.inference->num_actions(), batch_size)
                    .value(),
                options),
            reanalyzer_.inference.get()};
  }

  std::map<int64_t, PositionHandle> Stored() const {
    RandomStream random(1);
    std::vector<PositionHandle> drawn;
    std::vector<StoredRoot> roots;
    replay_->DrawPositions(3000, random, &drawn);
    replay_->ReadRoots(drawn, &roots);
    std::map<int64_t, PositionHandle> stored;
    const ReplayStats stats = replay_->stats();
    for (const StoredRoot& root : roots) {
      stored[stats.num_appended - 1 - root.age] = root.position;
      deepest_ = std::max(deepest_, root.step);
    }
    EXPECT_EQ(static_cast<int64_t>(stored.size()), stats.num_transitions);
    return stored;
  }
  int64_t deepest() const { return deepest_; }

  std::map<std::string, std::string> Content() const {
    return BytesOf({{"replay", replay_->Export()}});
  }
  // Root values and policies differ from those of `before` by less than rounding.
  void ExpectClose(const std::vector<NamedArray>& before) const {
    const std::vector<NamedArray> after = replay_->Export();
    for (const char* name : {"replay.root_values", "replay.policies"}) {
      const auto a = *ReadArray<float>(after, name), b = *ReadArray<float>(before, name);
      ASSERT_EQ(a.size(), b.size());
      for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-4) << name << " " << i;
    }
  }

  ReplayBuffer& replay() { return *replay_; }
  ReanalyzerRole& role() { return reanalyzer_; }
  const WorldModel& weights() const { return *weights_; }

 private:
  ExperimentConfig config_;
  ThreadPool pool_{1};
  EnvSpec spec_;
  CollectorRole collector_;
  ReanalyzerRole reanalyzer_;
  std::unique_ptr<ReplayBuffer> replay_;
  std::shared_ptr<WorldModel> weights_;
  mutable int64_t deepest_ = 0;
};

// One environment: position number k was search number k of environment 0.
void ExpectTheSameSearches(ExperimentConfig config, int64_t least_depth = 9) {
  config.env.num_collectors = 1;
  Roles roles(config, 150);
  const auto before = roles.Content();
  Reanalyzer reanalyzer = roles.WithNoiseOfCollector(1);
  for (const auto& [sequence, position] : roles.Stored()) {
    reanalyzer.set_num_searches(static_cast<uint64_t>(sequence));
    ASSERT_TRUE(reanalyzer.Search({position}, roles.replay(), 0).ok());
  }
  reanalyzer.WriteBack(&roles.replay());
  EXPECT_TRUE(roles.Content() == before);
  EXPECT_GE(roles.deepest(), least_depth);
  EXPECT_EQ(UniZeroOf(roles.role()).root_stats().continued, 0);
  const ReanalyzeStats stats = reanalyzer.TakeStats();
  EXPECT_EQ(stats.num_positions, roles.replay().stats().num_transitions);
  EXPECT_EQ(stats.value_change_sum, 0.0);
}

TEST(ReanalyzeRoleTest, PuctWithNoise) {
  for (const Runner runner : {Runner::kPacked, Runner::kEager}) {
    ExperimentConfig config = DeepConfig();
    config.inference.runner = runner;
    ExpectTheSameSearches(config);
  }
}

TEST(ReanalyzeRoleTest, GumbelWithNoise) {
  ExperimentConfig config = DeepConfig();
  config.search.policy = SearchPolicy::kGumbel;
  config.search.q_transform = QTransform::kCompletedByMixValue;
  ExpectTheSameSearches(config);
}

TEST(ReanalyzeRoleTest, BoxActions) {
  ExperimentConfig config = DeepConfig();
  config.env.id = "pendulum";
  config.search.num_sampled_actions = 3;
  ExpectTheSameSearches(config);
}

TEST(ReanalyzeRoleTest, SampledDiscreteActions) {
  ExperimentConfig config = DeepConfig();
  config.search.num_sampled_actions = 2;
  ExpectTheSameSearches(config);
}

TEST(ReanalyzeRoleTest, SelfPlayOfTwo) {
  ExperimentConfig config = DeepConfig();
  config.env.id = "tictactoe";
  config.env.max_episode_steps = 0;
  config.model.encoder = EncoderKind::kBoard;
  config.model.encoder_channels = 4;
  ExpectTheSameSearches(config, 6);
}

// The role itself, its batches put together from many environments and episodes: without noise
// there is nothing that tells one row from another but rounding.
TEST(ReanalyzeRoleTest, BatchesOfPositionsWithoutNoise) {
  ExperimentConfig config = DeepConfig();
  config.search.root_noise_fraction = 0.0;
  Roles roles(config, 50);
  const std::vector<NamedArray> before = roles.replay().Export();
  Reanalyzer& reanalyzer = *roles.role().reanalyzer;
  EXPECT_EQ(reanalyzer.batch_size(), 3);
  std::vector<PositionHandle> positions;
  for (const auto& [sequence, position] : roles.Stored()) positions.push_back(position);
  // Far from each other in one batch.
  for (size_t i = 0; i < positions.size() / 2; ++i) {
    if (i % 3 == 1) std::swap(positions[i], positions[positions.size() - 1 - i]);
  }
  ASSERT_TRUE(reanalyzer.Search(positions, roles.replay(), 0).ok());
  reanalyzer.WriteBack(&roles.replay());
  roles.ExpectClose(before);
  EXPECT_EQ(UniZeroOf(roles.role()).root_stats().continued, 0);
}

TEST(ReanalyzeRoleTest, NoneWithoutARatio) {
  ExperimentConfig config = DeepConfig();
  config.replay.reanalyze_ratio = 0.0;
  const auto role = BuildReanalyzer(config, NativeRegistry());
  ASSERT_TRUE(role.ok());
  EXPECT_EQ(role->inference, nullptr);
  EXPECT_EQ(role->reanalyzer, nullptr);
}

}  // namespace
}  // namespace lzero::reanalyze_role_test
