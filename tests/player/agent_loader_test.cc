// From a run folder to an agent, and every way in which the folder can be wrong.
#include "lzero/player/agent_loader.h"

#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/files.h"
#include "lzero/config/dump.h"
#include "lzero/family/packed/families.h"
#include "lzero/family/tensor_families.h"
#include "lzero/inference/tensor/network_weights.h"
#include "lzero/nn/threads.h"
#include "lzero/tensor/torch.h"
#include "lzero/train/learner.h"
#include "tests/run/test_folder.h"
#include "tests/train/train_testing.h"

namespace lzero::agent_loader_test {
namespace {

using testing::HasSubstr;

// What an engine says of a root: a value and prior logits.
std::vector<float> SaidBy(InferenceEngine& engine) {
  const std::vector<float> observation = {0.3f, -0.2f, 0.1f, 0.7f};
  Root root;
  root.observations = observation;
  std::vector<float> logits(2), value(1);
  EXPECT_TRUE(engine.InitialInference({root}, absl::MakeSpan(logits), absl::MakeSpan(value)).ok());
  return {value[0], logits[0], logits[1]};
}

std::vector<float> SaidBy(const ExperimentConfig& config, const Network& network) {
  EngineOptions options;
  options.model = config.model;
  options.shape = network.shape();
  options.num_envs = 1;
  const auto engine = MakeEngine(options, nullptr).value();
  EXPECT_TRUE(engine->CopyWeightsFrom(NetworkWeights(network)).ok());
  return SaidBy(*engine);
}

class AgentLoaderTest : public testing::Test {
 protected:
  AgentLoaderTest() : run_(JoinPath(folder_.path(), "run")) {
    SetTensorThreads(1);
    RegisterAllEnvs(registry_);
    LZ_CHECK(MakeDirectories(run_).ok(), run_);
  }

  // A checkpoint with the config `config_yaml_` whose weights are a function of the step.
  void WriteStep(int64_t step, bool is_best = false) {
    CheckpointContent content;
    content.files = LearnerOf(step)->Export();
    content.files["replay"] = {};
    content.state_json = "{}";
    content.config_yaml = config_yaml_;
    ASSERT_TRUE(WriteCheckpoint(run_, step, content, 10).ok());
    if (is_best) {
      ASSERT_TRUE(MarkBestCheckpoint(run_, step).ok());
    }
  }

  static std::unique_ptr<Learner> LearnerOf(int64_t step) {
    ExperimentConfig config = TinyConfig();
    config.seed = step;
    auto learner = Learner::Create(config, {{4}, 2}).value();
    // Fresh heads are zero.
    const torch::NoGradGuard no_grad;
    torch::manual_seed(static_cast<uint64_t>(step));
    for (at::Tensor& weight : learner->model().parameters()) weight.normal_(0.0, 0.3);
    return learner;
  }

  absl::StatusOr<LoadedAgent> Load(const std::string& path) {
    return LoadAgent(path, registry_, {.make_engine = MakeEngine}, &pool_);
  }

  void ExpectWeightsOfStep(const std::string& path, int64_t step) {
    const auto agent = Load(path);
    ASSERT_TRUE(agent.ok()) << agent.status();
    EXPECT_EQ(agent->env_steps, step);
    EXPECT_THAT(agent->checkpoint_path, testing::EndsWith("/step_00000000" + std::to_string(step)));
    EXPECT_EQ(SaidBy(*agent->role.inference), SaidBy(agent->config, LearnerOf(step)->model()));
  }

  std::string Checkpoint(int64_t step) const {
    return run_ + "/checkpoints/step_00000000" + std::to_string(step);
  }

  TestFolder folder_;
  std::string run_;
  std::string config_yaml_ = ResolvedYaml(TinyConfig());
  EnvRegistry registry_;
  ThreadPool pool_{1};
};

TEST_F(AgentLoaderTest, ARunMeansItsBestCheckpoint) {
  WriteStep(1);
  WriteStep(2, /*is_best=*/true);
  WriteStep(3);
  ExpectWeightsOfStep(run_, 2);
  ExpectWeightsOfStep(run_ + "/", 2);
}

TEST_F(AgentLoaderTest, ARunWithoutBestMeansItsLatestCheckpoint) {
  WriteStep(1);
  WriteStep(3);
  ExpectWeightsOfStep(run_, 3);
}

TEST_F(AgentLoaderTest, ACheckpointMeansItself) {
  WriteStep(1);
  WriteStep(2, /*is_best=*/true);
  WriteStep(3);
  ExpectWeightsOfStep(Checkpoint(1), 1);
  ExpectWeightsOfStep(Checkpoint(1) + "/", 1);
  ExpectWeightsOfStep(run_ + "/checkpoints/latest", 3);
  ExpectWeightsOfStep(run_ + "/checkpoints/best", 2);
}

TEST_F(AgentLoaderTest, PathsMayBeRelative) {
  WriteStep(1);
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(Checkpoint(1));
  ExpectWeightsOfStep(".", 1);
  std::filesystem::current_path(run_ + "/checkpoints");
  ExpectWeightsOfStep("step_000000001", 1);
  std::filesystem::current_path(run_);
  ExpectWeightsOfStep(".", 1);
  std::filesystem::current_path(before);
}

TEST_F(AgentLoaderTest, ASearchMayHaveMoreRootsThanThereAreEnvironments) {
  WriteStep(1);
  LoadAgentOptions options;
  options.make_engine = MakeEngine;
  options.num_envs = 1;
  options.num_roots = 3;
  const auto agent = LoadAgent(run_, registry_, options, &pool_);
  ASSERT_TRUE(agent.ok()) << agent.status();
  Evaluator& evaluator = *agent->role.evaluator;
  const std::vector<float> observation(evaluator.spec().observation.size(), 0.0f);
  const std::vector<uint8_t> legal(evaluator.spec().action.num_actions, 1);
  std::vector<Root> roots(4);
  for (int b = 0; b < 4; ++b) {
    roots[b].env = EnvId(b);
    roots[b].observations = observation;
    roots[b].legal_action_mask = legal;
  }
  Decision decision;
  const auto act = [&](int num_roots) {
    return evaluator.agent()->Act(*evaluator.model(), absl::MakeSpan(roots).first(num_roots),
                                  ActMode::kEvaluate, 0, &decision);
  };
  EXPECT_TRUE(act(3).ok());
  EXPECT_EQ(decision.actions.size(), 3u);
  EXPECT_TRUE(absl::IsInvalidArgument(act(4)));
}

TEST_F(AgentLoaderTest, SimulationsAndEnvironmentsAreAsTheRunEvaluatesUnlessGiven) {
  WriteStep(1);
  auto agent = Load(run_);
  ASSERT_TRUE(agent.ok()) << agent.status();
  EXPECT_EQ(agent->num_simulations, 4);
  EXPECT_EQ(UniZeroOf(agent->role).cache().config().num_envs, 2);
  EXPECT_EQ(agent->config.seed, 5);

  ExperimentConfig config = TinyConfig();
  config.evaluate.num_simulations = 6;
  config_yaml_ = ResolvedYaml(config);
  WriteStep(1);
  agent = Load(run_);
  ASSERT_TRUE(agent.ok()) << agent.status();
  EXPECT_EQ(agent->num_simulations, 6);

  agent = LoadAgent(run_, registry_, {MakeEngine, 9, 3, std::nullopt}, &pool_);
  ASSERT_TRUE(agent.ok()) << agent.status();
  EXPECT_EQ(agent->num_simulations, 9);
  EXPECT_EQ(UniZeroOf(agent->role).cache().config().num_envs, 3);
  EXPECT_EQ(UniZeroOf(agent->role).cache().config().nodes_per_env, 10);
  const std::vector<uint64_t> seeds = {1, 2, 3, 4};
  const auto episodes = agent->role.evaluator->Run(seeds);
  ASSERT_TRUE(episodes.ok()) << episodes.status();
  EXPECT_EQ(episodes->size(), 4u);
}

// Trained on a server, watched on a laptop.
TEST_F(AgentLoaderTest, SettingsOfSearchGoOverThoseOfTheRun) {
  WriteStep(1);
  const auto load = [this](const std::string& setting) {
    LoadAgentOptions options;
    options.make_engine = MakeEngine;
    options.settings = {setting};
    return LoadAgent(run_, registry_, options, &pool_);
  };
  const auto agent = load("search.q_transform=min_max");
  ASSERT_TRUE(agent.ok()) << agent.status();
  EXPECT_EQ(agent->config.search.q_transform, QTransform::kMinMax);
  EXPECT_EQ(agent->config.name, Load(run_)->config.name);
  // Also where the run says how many simulations evaluations have.
  ExperimentConfig config = TinyConfig();
  config.evaluate.num_simulations = 6;
  config.search.cheap_fraction = 0.5;  // of collection, which bounds no evaluation
  config.search.cheap_num_simulations = config.search.num_simulations;
  config_yaml_ = ResolvedYaml(config);
  WriteStep(2);
  EXPECT_EQ(load("search.num_simulations=3")->num_simulations, 3);
  EXPECT_EQ(load("search.q_transform=min_max")->num_simulations, 6);
  const auto error = [&](const char* setting) {
    const absl::Status status = load(setting).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  };
  EXPECT_EQ(error("model.embed_dim=8"),
            "settings: model.embed_dim=8: not of how a checkpoint plays; allowed: "
            "search.NAME=VALUE, inference.NAME=VALUE");
  EXPECT_THAT(error("search.q_transfrom=min_max"), HasSubstr("did you mean 'search.q_transform'"));
  // What `train` would refuse here, what does nothing here, and what is said twice.
  EXPECT_THAT(error("search.num_sampled_actions=3"), HasSubstr("cartpole has 2 actions"));
  EXPECT_THAT(error("search.temperature=0.5"),
              HasSubstr("search.temperature=0.5: only collection reads it"));
  LoadAgentOptions twice;
  twice.make_engine = MakeEngine;
  twice.simulations = 5;
  twice.settings = {"search.num_simulations=3"};
  EXPECT_THAT(LoadAgent(run_, registry_, twice, &pool_).status().message(),
              HasSubstr("search.num_simulations: --sims or RUN@N says it already"));
}

TEST_F(AgentLoaderTest, ThreadsOfTheNetworkAreThoseOfTheRunUnlessSaid) {
  WriteStep(1);
  const LoadAgentOptions options = {.make_engine = MakeEngine, .num_threads = 3};
  EXPECT_EQ(LoadAgent(run_, registry_, options, &pool_)->config.inference.threads(), 3);
  EXPECT_EQ(Load(run_)->config.inference.threads(), TinyConfig().inference.threads());
}

// What a run has that no rule allows any more stays as it is.
TEST_F(AgentLoaderTest, SettingsAreRefusedForThemselvesAlone) {
  ExperimentConfig config = TinyConfig();
  config.search.uniform_sample_fraction = 0.5;  // of box actions
  config_yaml_ = ResolvedYaml(config);
  WriteStep(1);
  LoadAgentOptions options;
  options.make_engine = MakeEngine;
  options.settings = {"search.pb_c_init=2"};
  EXPECT_EQ(LoadAgent(run_, registry_, options, &pool_).status(), absl::OkStatus());
  options.settings = {"search.uniform_sample_fraction=0.25"};
  EXPECT_THAT(LoadAgent(run_, registry_, options, &pool_).status().message(),
              HasSubstr("got 0.25, which is for box actions"));
  config.env.id = "nowhere";
  config_yaml_ = ResolvedYaml(config);
  WriteStep(2);
  EXPECT_THAT(LoadAgent(run_, registry_, options, &pool_).status().message(),
              testing::Not(HasSubstr("settings")));
}

TEST_F(AgentLoaderTest, WithoutLibtorchARunOfAnotherRunnerIsPacked) {
  ExperimentConfig config = TinyConfig();
  LoadAgentOptions options;
  options.make_engine = MakePackedEngine;
  options.packed_alone = true;
  const auto runner = [&] {
    config_yaml_ = ResolvedYaml(config);
    WriteStep(1);
    const auto agent = LoadAgent(run_, registry_, options, &pool_);
    return agent.ok() ? agent->role.inference->runner_name() : agent.status().ToString();
  };
  config.inference.runner = Runner::kEager;
  EXPECT_EQ(runner(), "packed");
  config.inference.runner = Runner::kCudaSearchGraph;
  config.inference.device = Device::kCuda;
  EXPECT_EQ(runner(), "packed");
  options.settings = {"inference.runner=eager"};  // asked for
  EXPECT_THAT(runner(), HasSubstr("built without libtorch"));
}

TEST_F(AgentLoaderTest, ARunOfAGpuPlaysOnTheCpu) {
  ExperimentConfig config = TinyConfig();
  config.inference.device = Device::kCuda;
  config.inference.runner = Runner::kCudaSearchGraph;
  config.inference.graphs = Graphs::kRequired;
  config_yaml_ = ResolvedYaml(config);
  WriteStep(1);
  LoadAgentOptions options;
  options.make_engine = MakeEngine;
  options.device = Device::kCpu;
  const auto agent = LoadAgent(run_, registry_, options, &pool_);
  ASSERT_TRUE(agent.ok()) << agent.status();
  EXPECT_EQ(SaidBy(*agent->role.inference), SaidBy(agent->config, LearnerOf(1)->model()));
  const std::vector<uint64_t> seeds = {1, 2};
  EXPECT_TRUE(agent->role.evaluator->Run(seeds).ok());

  // The device of the run changes nothing.
  config_yaml_ = ResolvedYaml(TinyConfig());
  WriteStep(2);
  EXPECT_TRUE(LoadAgent(run_, registry_, options, &pool_).ok());
}

TEST_F(AgentLoaderTest, WhatIsMissingIsNamed) {
  const absl::Status no_folder = Load(run_ + "/nowhere").status();
  EXPECT_EQ(no_folder.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(no_folder.message()), HasSubstr("no such folder: " + run_ + "/nowhere"));

  const absl::Status no_checkpoint = Load(run_).status();
  EXPECT_EQ(no_checkpoint.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(no_checkpoint.message()), HasSubstr(run_ + " holds no checkpoint"));

  WriteStep(1);
  ASSERT_TRUE(RemoveTree(Checkpoint(1) + "/model.safetensors").ok());
  const absl::Status no_weights = Load(run_).status();
  EXPECT_FALSE(no_weights.ok());
  EXPECT_THAT(std::string(no_weights.message()), HasSubstr("model.safetensors"));
}

TEST_F(AgentLoaderTest, ACopiedCheckpointNeedsNothingElse) {
  WriteStep(1);
  const std::string copy = folder_.path() + "/copied";
  std::filesystem::copy(Checkpoint(1), copy, std::filesystem::copy_options::recursive);
  ASSERT_TRUE(RemoveTree(run_).ok());
  const auto agent = Load(copy);
  ASSERT_TRUE(agent.ok()) << agent.status();
  EXPECT_EQ(SaidBy(*agent->role.inference), SaidBy(agent->config, LearnerOf(1)->model()));
  EXPECT_EQ(agent->config.seed, 5);
}

TEST_F(AgentLoaderTest, ACheckpointWithoutItsConfigIsNamed) {
  WriteStep(1);
  ASSERT_TRUE(RemoveTree(Checkpoint(1) + "/config.resolved.yaml").ok());
  const absl::Status status = Load(run_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(Checkpoint(1) + "/config.resolved.yaml: is missing"));
}

TEST_F(AgentLoaderTest, AConfigThatCannotBeReadIsNamedWithItsLine) {
  config_yaml_ = "seed: many\n";
  WriteStep(1);
  const absl::Status status = Load(run_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(Checkpoint(1) + "/config.resolved.yaml:1:7"));
}

TEST_F(AgentLoaderTest, ADamagedFileIsRefusedAndTheOneBeforeOffered) {
  WriteStep(1);
  WriteStep(2);
  const std::string path = Checkpoint(2) + "/model.safetensors";
  std::string bytes = ReadFile(path).value();
  bytes[bytes.size() - 20] = static_cast<char>(bytes[bytes.size() - 20] ^ 1);
  ASSERT_TRUE(WriteFileAtomic(path, bytes).ok());
  const absl::Status status = Load(run_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("damaged checkpoint: " + path));
  EXPECT_THAT(std::string(status.message()), HasSubstr(Checkpoint(1)));
}

// Evaluation needs the weights alone.
TEST_F(AgentLoaderTest, DamageInAFileThatIsNotNeededDoesNotMatter) {
  WriteStep(1);
  ASSERT_TRUE(AppendFile(Checkpoint(1) + "/replay.safetensors", "x").ok());
  ExpectWeightsOfStep(run_, 1);
}

TEST_F(AgentLoaderTest, WeightsOfAnotherArchitectureAreListed) {
  ExperimentConfig config = TinyConfig();
  config.model.embed_dim = 16;
  config_yaml_ = ResolvedYaml(config);
  WriteStep(1);
  const absl::Status status = Load(run_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  const std::string message(status.message());
  EXPECT_THAT(message, HasSubstr(Checkpoint(1) + "/model.safetensors"));
  EXPECT_THAT(message, HasSubstr("action_embedding: F32 [2, 8], must be F32 [2, 16]"));
}

TEST_F(AgentLoaderTest, AnEnvironmentThatIsNotThereIsNamed) {
  WriteStep(1);
  const auto agent = LoadAgent(run_, EnvRegistry(), {.make_engine = MakeEngine}, &pool_);
  EXPECT_EQ(agent.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(agent.status().message()), HasSubstr("cartpole"));
}

TEST_F(AgentLoaderTest, APluginThatIsGoneIsNamedUnlessAnotherTakesItsPlace) {
  ExperimentConfig config = TinyConfig();
  config.plugins = {"/no/such/libx.so"};
  config_yaml_ = ResolvedYaml(config);
  WriteStep(1);
  EXPECT_EQ(Load(run_).status().message(),
            "plugins: /no/such/libx.so: no such plugin; there is no folder /no/such");
  LoadAgentOptions options;
  options.make_engine = MakeEngine;
  options.plugins = {"/no/other/liby.so"};
  EXPECT_EQ(LoadAgent(run_, registry_, options, &pool_).status().message(),
            "plugins: /no/other/liby.so: no such plugin; there is no folder /no/other");
}

}  // namespace
}  // namespace lzero::agent_loader_test
