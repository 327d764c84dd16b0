// The composition root: what is refused, and that roles do not disturb each other.
#include "lzero/train/build.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/inference/tensor/network_weights.h"
#include "lzero/nn/threads.h"
#include "lzero/replay/replay_plan.h"
#include "lzero/tensor/torch.h"
#include "lzero/train/run_plan.h"
#include "lzero/train/trainer.h"
#include "tests/train/train_testing.h"

namespace lzero::build_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Every way to build something from a config that cannot work gives this error.
void ExpectRefused(const ExperimentConfig& config, const EnvRegistry& registry,
                   absl::StatusCode code, const std::string& words) {
  ThreadPool pool(1);
  for (const absl::Status& status : {BuildCollector(config, registry, &pool).status(),
                                     BuildEvaluator(config, registry, 1, 2, &pool).status(),
                                     Trainer::Create(config, registry, nullptr).status()}) {
    EXPECT_EQ(status.code(), code);
    EXPECT_THAT(std::string(status.message()), HasSubstr(words));
  }
}

TEST(BuildTest, BoxActionsWithoutSamplesAreRefused) {
  EnvRegistry registry;
  registry.Register(
      {"steering", "for tests", [](const EnvOptions&) -> absl::StatusOr<std::unique_ptr<Env>> {
         return std::make_unique<BoxEnv>();
       }});
  ExperimentConfig config = TinyConfig();
  config.env.id = "steering";
  const absl::Status refused = PlanRun(config, registry).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("steering has box actions"));
  config.search.num_sampled_actions = 6;
  const RunPlan plan = PlanRun(config, registry).value();
  EXPECT_EQ(BuildWorldModelShape(plan.envs[0]).action_dim, plan.envs[0].action.dim());
  EXPECT_EQ(BuildReplayShape(config, plan.envs[0]).num_actions, 6);
  EXPECT_EQ(NumSlots(config.search, BuildWorldModelShape(plan.envs[0])), 6);
}

TEST(BuildTest, AnUnknownEnvironmentIsRefusedWithTheNearestName) {
  ExperimentConfig config = TinyConfig();
  config.env.id = "cartpol";
  ExpectRefused(config, NativeRegistry(), absl::StatusCode::kNotFound, "did you mean 'cartpole'");
  EXPECT_EQ(BuildEnvSpec(config, NativeRegistry()).status().code(), absl::StatusCode::kNotFound);
}

TEST(BuildTest, AnEncoderThatDoesNotFitTheObservationsIsRefused) {
  ExperimentConfig config = TinyConfig();
  config.model.encoder = EncoderKind::kBoard;
  ExpectRefused(config, NativeRegistry(), absl::StatusCode::kInvalidArgument,
                "model.encoder: board needs observations [channels, height, width]; this "
                "environment gives [4]; use encoder: vector");
}

// Segments keep what a root at their first step is rebuilt from: L (W - 1) / 2 steps.
TEST(BuildTest, TheReplayKeepsThePastOfRoots) {
  ExperimentConfig config = TinyConfig();
  config.model.num_layers = 3;
  config.model.context_length = 6;
  const EnvSpec spec = BuildEnvSpec(config, NativeRegistry()).value();
  const ReplayShape shape = BuildReplayShape(config, spec);
  EXPECT_EQ(shape.num_root_past_steps, 8);  // 7.5, rounded up
  EXPECT_EQ(ReplayContextSteps(config.replay, shape), 8);
}

// Self-play, matches and single positions, which have no past, are searched alike.
TEST(BuildTest, RootsOfTwoPlayersHaveNoPast) {
  const ExperimentConfig config = BoardConfig();
  const EnvSpec spec = BuildEnvSpec(config, NativeRegistry()).value();
  EXPECT_EQ(BuildReplayShape(config, spec).num_root_past_steps, 0);
  ThreadPool pool(1);
  const auto role = BuildEvaluator(config, NativeRegistry(), 1, 2, &pool).value();
  EXPECT_EQ(role.evaluator->max_past_steps(), 0);
  const auto self_play = BuildCollector(config, NativeRegistry(), &pool).value();
  const auto replay = ReplayBuffer::Create(config.replay, BuildReplayShape(config, spec)).value();
  for (int step = 0; step < 3; ++step) {
    ASSERT_TRUE(self_play.collector->Step(0).ok());
    ASSERT_TRUE(self_play.collector->staged().MoveTo(*replay).ok());
  }
  const std::vector<NamedArray> state = self_play.collector->Export().value();
  EXPECT_THAT(ReadArray<int32_t>(state, "env0.actions").value(), IsEmpty());
}

TEST(BuildTest, TheReplayKnowsWhatObservationsAre) {
  EnvSpec spec = BuildEnvSpec(TinyConfig(), NativeRegistry()).value();
  ReplayShape shape = BuildReplayShape(TinyConfig(), spec);
  EXPECT_EQ(shape.observation_type, ObservationType::kFloat32);
  EXPECT_EQ(shape.frame_stack, 1);
  EXPECT_EQ(shape.observation_shape, std::vector<int64_t>({4}));
  spec.observation.shape = {4, 96, 96};
  spec.observation.type = ObservationType::kUint8;
  spec.observation.frame_stack = 4;
  shape = BuildReplayShape(TinyConfig(), spec);
  EXPECT_EQ(shape.observation_size, 4 * 96 * 96);
  EXPECT_EQ(shape.observation_type, ObservationType::kUint8);
  EXPECT_EQ(shape.frame_stack, 4);
  EXPECT_EQ(shape.observation_shape, std::vector<int64_t>({4, 96, 96}));
}

TEST(BuildTest, OptionsThatDoNotFitTheEnvironmentAreRefused) {
  ExperimentConfig config = TinyConfig();
  config.env.random_opening_fraction = 0.5;  // boards only
  EXPECT_EQ(BuildEnvSpec(config, NativeRegistry()).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(BuildTest, ASearchThatCannotBeMadeIsRefused) {
  ExperimentConfig config = TinyConfig();
  config.search.temperature = -1.0;
  ExpectRefused(config, NativeRegistry(), absl::StatusCode::kInvalidArgument, "temperature");
}

TEST(BuildTest, GraphsThatNoRunnerRecordsAreRefused) {
  ExperimentConfig config = TinyConfig();
  config.inference.graphs = Graphs::kRequired;
  ExpectRefused(config, NativeRegistry(), absl::StatusCode::kInvalidArgument,
                "inference.graphs: no graph runner on device cpu");
}

TEST(BuildTest, SpecModelAndReplayHaveTheSizesOfTheEnvironment) {
  const EnvRegistry registry = NativeRegistry();
  const ExperimentConfig config = BoardConfig();
  const auto spec = BuildEnvSpec(config, registry);
  ASSERT_TRUE(spec.ok()) << spec.status();
  const WorldModelShape shape = BuildWorldModelShape(*spec);
  EXPECT_THAT(shape.observation_shape, ElementsAre(3, 3, 3));
  EXPECT_EQ(shape.num_actions, 9);
  const auto replay = ReplayBuffer::Create(config.replay, BuildReplayShape(config, *spec));
  ASSERT_TRUE(replay.ok()) << replay.status();
  const std::vector<float> observation(27, 1.0f);
  const std::vector<uint8_t> legal(9, 1);
  EXPECT_TRUE(
      (*replay)->BeginEpisode(EnvId(config.env.num_collectors - 1), observation, legal, 0).ok());

  ExperimentConfig too_small = config;
  too_small.replay.capacity = 5;
  EXPECT_EQ(
      ReplayBuffer::Create(too_small.replay, BuildReplayShape(too_small, *spec)).status().code(),
      absl::StatusCode::kInvalidArgument);
}

// 2048 says where a symmetry takes its chance outcomes, which only stochastic_muzero stores.
TEST(BuildTest, SymmetriesFitAFamilyWithoutChanceNodes) {
  ExperimentConfig config = TinyConfig();
  config.env.id = "2048";
  config.replay.augment_symmetries = true;
  const EnvSpec spec = BuildEnvSpec(config, NativeRegistry()).value();
  for (const Family family : {Family::kUniZero, Family::kMuZero, Family::kStochasticMuZero}) {
    config.model.family = family;
    const ReplayShape shape = BuildReplayShape(config, spec);
    ASSERT_EQ(shape.symmetries.size(), 8u);
    EXPECT_EQ(shape.symmetries[1].chance_image.size(),
              static_cast<size_t>(shape.num_chance_outcomes));
    const auto replay = ReplayBuffer::Create(config.replay, BuildReplayShape(config, spec));
    EXPECT_TRUE(replay.ok()) << replay.status();
  }
}

TEST(BuildTest, TheReplayBufferKnowsTheSymmetriesOfTheEnvironment) {
  const EnvRegistry registry = NativeRegistry();
  ExperimentConfig board = BoardConfig();
  board.replay.augment_symmetries = true;
  const auto replay =
      ReplayBuffer::Create(board.replay, BuildReplayShape(board, *BuildEnvSpec(board, registry)));
  EXPECT_TRUE(replay.ok()) << replay.status();
  ExperimentConfig pole = TinyConfig();
  pole.replay.augment_symmetries = true;
  EXPECT_EQ(PlanRun(pole, registry).status().message(),
            "replay.augment_symmetries: got true, but the environment declares no symmetries");
}

// A fresh network finds all actions equal; one simulation visits the one that the tie falls to.
TEST(BuildTest, EqualActionsAreDrawnUnlessTheRunIsDeterministic) {
  const EnvRegistry registry = NativeRegistry();
  for (const bool deterministic : {true, false}) {
    ExperimentConfig config = TinyConfig();
    config.deterministic = deterministic;
    config.search.num_simulations = 1;
    config.search.root_noise_fraction = 0.0;
    ThreadPool pool(1);
    auto role = BuildCollector(config, registry, &pool);
    ASSERT_TRUE(role.ok()) << role.status();
    for (int step = 0; step < 20; ++step) ASSERT_TRUE(role->collector->Step(step).ok());
    auto replay = ReplayBuffer::Create(config.replay,
                                       BuildReplayShape(config, *BuildEnvSpec(config, registry)));
    ASSERT_TRUE(replay.ok()) << replay.status();
    EXPECT_TRUE(role->collector->staged().MoveTo(**replay).ok());
    RandomStream random(1);
    TrainBatch batch;
    ASSERT_TRUE((*replay)->Sample(64, random, &batch).ok());
    int num_second = 0;
    for (size_t i = 1; i < batch.policies.size(); i += 2) num_second += batch.policies[i] > 0.5f;
    EXPECT_EQ(num_second == 0, deterministic) << num_second;
  }
}

TEST(BuildTest, AShareOfTheSearchesOfCollectionIsCheap) {
  const EnvRegistry registry = NativeRegistry();
  for (const double fraction : {0.0, 0.5}) {
    ExperimentConfig config = TinyConfig();
    config.search.cheap_fraction = fraction;
    config.search.cheap_num_simulations = 1;
    ThreadPool pool(1);
    auto role = BuildCollector(config, registry, &pool).value();
    int num_without_policy = 0;
    for (int step = 0; step < 20; ++step) ASSERT_TRUE(role.collector->Step(step).ok());
    auto replay = ReplayBuffer::Create(config.replay,
                                       BuildReplayShape(config, *BuildEnvSpec(config, registry)))
                      .value();
    ASSERT_TRUE(role.collector->staged().MoveTo(*replay).ok());
    RandomStream random(1);
    TrainBatch batch;
    ASSERT_TRUE(replay->Sample(64, random, &batch).ok());
    // At the first step of each sample, where no episode is over yet.
    for (size_t i = 0; i < batch.policy_mask.size(); i += batch.policy_mask.size() / 64) {
      num_without_policy += batch.policy_mask[i] == 0.0f;
    }
    EXPECT_EQ(num_without_policy > 0, fraction > 0.0);
  }
}

TEST(BuildTest, RolesHaveTheNumberOfEnvironmentsTheyAreAskedFor) {
  const EnvRegistry registry = NativeRegistry();
  ThreadPool pool(1);
  const auto collector = BuildCollector(TinyConfig(), registry, &pool);
  ASSERT_TRUE(collector.ok()) << collector.status();
  EXPECT_EQ(collector->collector->num_envs(), 3);
  EXPECT_EQ(collector->inference->num_actions(), 2);
  EXPECT_EQ(UniZeroOf(*collector).cache().config().num_envs, 3);
  EXPECT_EQ(UniZeroOf(*collector).cache().config().nodes_per_env, 5);
  const auto evaluator = BuildEvaluator(TinyConfig(), registry, 7, 9, &pool);
  ASSERT_TRUE(evaluator.ok()) << evaluator.status();
  EXPECT_EQ(UniZeroOf(*evaluator).cache().config().num_envs, 7);
  EXPECT_EQ(UniZeroOf(*evaluator).cache().config().nodes_per_env, 10);
  EXPECT_EQ(evaluator->evaluator->spec().id, "cartpole");
  EXPECT_EQ(evaluator->evaluator->spec().max_episode_steps, 40);
}

TEST(BuildTest, OnlyTheCollectorPlaysRandomOpenings) {
  SetTensorThreads(1);
  const EnvRegistry registry = NativeRegistry();
  ThreadPool pool(1);
  ExperimentConfig config = BoardConfig();
  config.env.random_opening_fraction = 1.0;
  const auto evaluator = BuildEvaluator(config, registry, 2, 2, &pool);
  ASSERT_TRUE(evaluator.ok()) << evaluator.status();
  bool is_first = true;
  const auto on_step = [&](Env&, const TimeStep& step) {
    if (is_first) {
      EXPECT_THAT(step.legal_action_mask, testing::Each(1)) << "the board is not empty";
    }
    is_first = step.ended();
  };
  const std::vector<uint64_t> seeds = {1, 2, 3, 4, 5, 6};
  ASSERT_TRUE(evaluator->evaluator->Run(seeds, on_step).ok());
  EXPECT_TRUE(is_first);

  config.env.num_collectors = 6;
  const auto collector = BuildCollector(config, registry, &pool);
  ASSERT_TRUE(collector.ok()) << collector.status();
  const auto replay =
      ReplayBuffer::Create(config.replay, BuildReplayShape(config, *BuildEnvSpec(config, registry)))
          .value();
  for (int step = 0; step < 9; ++step) ASSERT_TRUE(collector->collector->Step(0).ok());
  // A game from the empty board lasts 5 to 9 moves; openings of up to 6 plies leave fewer.
  int64_t shortest = 9;
  for (const FinishedEpisode& episode : collector->collector->stats().episodes) {
    shortest = std::min(shortest, episode.length);
  }
  EXPECT_LT(shortest, 5);
}

// Collects `num_steps`; after each, `between` may do what it likes with other roles.
ArrayFiles Collect(const ExperimentConfig& config, const WorldModel& weights, int num_steps,
                   const std::function<void()>& between) {
  const EnvRegistry registry = NativeRegistry();
  ThreadPool pool(1);
  auto role = BuildCollector(config, registry, &pool).value();
  const auto replay =
      ReplayBuffer::Create(config.replay, BuildReplayShape(config, *BuildEnvSpec(config, registry)))
          .value();
  EXPECT_TRUE(role.inference->CopyWeightsFrom(NetworkWeights(weights)).ok());
  for (int step = 0; step < num_steps; ++step) {
    EXPECT_TRUE(role.collector->Step(0).ok());
    between();
  }
  EXPECT_TRUE(role.collector->staged().MoveTo(*replay).ok());
  return {{"replay", replay->Export()}, {"collector", role.collector->Export().value()}};
}

TEST(BuildTest, EvaluationLeavesCollectionBitIdentical) {
  SetTensorThreads(1);
  const EnvRegistry registry = NativeRegistry();
  const ExperimentConfig config = TinyConfig();
  const auto weights = WorldModel::Create(config.model, {{4}, 2}, 3).value();
  {
    // Fresh heads are zero, and every tree would look alike.
    const torch::NoGradGuard no_grad;
    torch::manual_seed(1);
    for (at::Tensor& parameter : weights->parameters()) parameter.normal_(0.0, 0.3);
  }
  ThreadPool pool(1);
  auto evaluator = BuildEvaluator(config, registry, 2, 3, &pool).value();
  ASSERT_TRUE(evaluator.inference->CopyWeightsFrom(NetworkWeights(*weights)).ok());
  const std::vector<uint64_t> seeds = {1, 2, 3};
  int num_calls = 0;
  const auto evaluate = [&] {
    if (++num_calls % 5 != 0) return;
    EXPECT_TRUE(evaluator.evaluator->Run(seeds).ok());
  };
  ExpectSameBytes(Collect(config, *weights, 40, evaluate), Collect(config, *weights, 40, [] {}));
  EXPECT_EQ(num_calls, 40);
}

}  // namespace
}  // namespace lzero::build_test
