// The simulator against environments that replay the whole path from the start of the episode:
// board games with and without passes, and one player with a step cap.
#include "lzero/family/alphazero/packed/env_simulator.h"

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "envs/register_all.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/env/env_registry.h"

namespace lzero::env_simulator_test {
namespace {

using testing::HasSubstr;

struct Case {
  const char* id;
  int64_t max_episode_steps;
  int num_prefix_steps;  // of the roots' episodes, at most
};

const Case kCases[] = {{"tictactoe", 0, 6},
                       {"connect4", 0, 30},
                       {"othello", 0, 56},  // passes come late
                       {"cartpole", 12, 9}};

EnvFactory Factory(const Case& of) {
  return [of]() {
    EnvRegistry registry;
    RegisterAllEnvs(registry);
    EnvOptions options;
    options.max_episode_steps = of.max_episode_steps;
    return registry.Make(of.id, options);
  };
}

int32_t RandomLegal(std::mt19937& random, const std::vector<uint8_t>& mask) {
  std::vector<int32_t> legal;
  for (size_t a = 0; a < mask.size(); ++a) {
    if (mask[a] != 0) legal.push_back(static_cast<int32_t>(a));
  }
  return legal.empty() ? 0 : legal[random() % legal.size()];
}

// A node as it should be, by playing its episode from the start.
struct Twin {
  std::vector<int32_t> path;  // from the start of the episode
  TimeStep last;
};

class SimulatorCases : public testing::TestWithParam<Case> {
 protected:
  Twin Play(uint64_t seed, const std::vector<int32_t>& path) {
    Twin twin = {path, env_->Reset(seed)};
    for (const int32_t action : path) twin.last = env_->Step(Action::Discrete(action)).value();
    return twin;
  }
  // An unfinished position after some random moves; env_ stays in it.
  Twin RandomRoot(uint64_t seed, std::mt19937& random) {
    const int length = static_cast<int>(random() % (GetParam().num_prefix_steps + 1));
    std::vector<int32_t> path;
    Twin twin = Play(seed, path);
    for (int step = 0; step < length; ++step) {
      path.push_back(RandomLegal(random, twin.last.legal_action_mask));
      const Twin next = Play(seed, path);
      if (next.last.ended()) {
        path.pop_back();
        return Play(seed, path);
      }
      twin = next;
    }
    return twin;
  }

  std::unique_ptr<Env> env_ = Factory(GetParam())().value();
};

INSTANTIATE_TEST_SUITE_P(All, SimulatorCases, testing::ValuesIn(kCases),
                         [](const auto& param) { return std::string(param.param.id); });

constexpr int kNumRoots = 3;
constexpr int kNumNodes = 60;
constexpr float kTruncatedValue = 0.25f;

// How often each kind of step came up.
struct Seen {
  int terminated = 0, truncated = 0, past_end = 0, same_mover = 0;
};

void ExpectPastEnd(const SimulatedStep& step, const TimeStep& end) {
  // A Q that the tree has seen: that of the edge which ended the episode.
  EXPECT_EQ(step.reward, end.terminated ? end.reward : 0.0f);
  EXPECT_EQ(step.position, nullptr);
  EXPECT_EQ(step.discount, end.terminated ? 0.0f : 1.0f);
  EXPECT_EQ(step.value, end.terminated ? 0.0f : kTruncatedValue);
}

void ExpectStep(const SimulatedStep& step, const TimeStep& from, const TimeStep& to, Seen* seen) {
  EXPECT_EQ(step.reward, to.reward);
  if (to.terminated) {
    EXPECT_EQ(step.discount, 0.0f);
    EXPECT_EQ(step.value, 0.0f);
    EXPECT_EQ(step.position, nullptr);
    ++seen->terminated;
    return;
  }
  seen->truncated += to.truncated ? 1 : 0;
  seen->same_mover += to.to_play == from.to_play ? 1 : 0;
  EXPECT_EQ(step.discount, to.to_play == from.to_play ? 0.9f : -0.9f);
  ASSERT_NE(step.position, nullptr);
  EXPECT_EQ(step.position->observation, to.observation);
  EXPECT_EQ(step.position->legal_action_mask, to.legal_action_mask);
  EXPECT_EQ(step.position->truncated, to.truncated);
}

// Steps of random trees, grown at their newest nodes, also past the end of an episode.
TEST_P(SimulatorCases, EveryNodeIsWhatTheEnvironmentShowsThere) {
  const auto simulator =
      EnvSimulator::Create(Factory(GetParam()), {kNumRoots, kNumNodes, 0.9}).value();
  std::mt19937 random(17);
  Seen seen;
  for (uint64_t search = 0; search < 6; ++search) {
    std::vector<std::vector<Twin>> nodes(kNumRoots);
    std::vector<Root> roots(kNumRoots);
    std::vector<std::string> states(kNumRoots);
    for (int b = 0; b < kNumRoots; ++b) {
      nodes[b].push_back(RandomRoot(10 * search + b, random));
      states[b] = env_->Save().value();
      roots[b].env = EnvId(b);
      roots[b].to_play = nodes[b][0].last.to_play;
      roots[b].state = states[b];
    }
    simulator->Begin(roots);
    for (int n = 1; n < kNumNodes; ++n) {
      std::vector<NodeId> parents;
      std::vector<int32_t> actions;
      for (int b = 0; b < kNumRoots; ++b) {
        parents.push_back(NodeId(n - 1 - static_cast<int>(random() % std::min(n, 4))));
        actions.push_back(RandomLegal(random, nodes[b][parents[b].value].last.legal_action_mask));
      }
      const std::vector<NodeId> children(kNumRoots, NodeId(n));
      ASSERT_TRUE(simulator->Step(parents, actions, children).ok());
      for (int b = 0; b < kNumRoots; ++b) {
        const SimulatedStep& step = simulator->steps()[b];
        const Twin parent = nodes[b][parents[b].value];
        if (parent.last.ended()) {
          nodes[b].push_back(parent);
          ExpectPastEnd(step, parent.last);
          ++seen.past_end;
          continue;
        }
        std::vector<int32_t> path = parent.path;
        path.push_back(actions[b]);
        nodes[b].push_back(Play(10 * search + b, path));
        const TimeStep& to = nodes[b].back().last;
        ExpectStep(step, parent.last, to, &seen);
        if (!to.terminated) simulator->SetValue(b, to.truncated ? kTruncatedValue : 7.0f);
        EXPECT_EQ(step.value, to.terminated ? 0.0f : to.truncated ? kTruncatedValue : 7.0f);
      }
    }
  }
  EXPECT_GT(seen.terminated, 2);
  EXPECT_GT(seen.past_end, 5);
  EXPECT_EQ(seen.truncated > 0, GetParam().max_episode_steps > 0);
  EXPECT_EQ(seen.same_mover > 0, env_->spec().num_players == 1);
}

TEST(EnvSimulator, ARootWithoutAStateIsRefusedWhenItIsPlayed) {
  const auto simulator = EnvSimulator::Create(Factory(kCases[0]), {2, 4, 1.0}).value();
  std::vector<Root> roots(1);
  roots[0].env = EnvId(5);
  simulator->Begin(roots);
  const absl::Status refused = simulator->Step({NodeId(0)}, {0}, {NodeId(1)});
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(refused.message(),
            "environment 5: the root of a search that simulates with the environment has no state; "
            "allowed: what Env::Save gives there (Root::state, TimeStep::state)");
  roots[0].state = "no state of any board";
  simulator->Begin(roots);
  EXPECT_THAT(std::string(simulator->Step({NodeId(0)}, {0}, {NodeId(1)}).message()),
              HasSubstr("environment 5: "));
}

TEST(EnvSimulator, AnErrorOfTheEnvironmentNamesIt) {
  const auto simulator = EnvSimulator::Create(Factory(kCases[0]), {1, 4, 1.0}).value();
  const auto env = Factory(kCases[0])().value();
  env->Reset(0);
  const std::string state = env->Save().value();
  std::vector<Root> roots(1);
  roots[0].env = EnvId(2);
  roots[0].state = state;
  simulator->Begin(roots);
  ASSERT_TRUE(simulator->Step({NodeId(0)}, {4}, {NodeId(1)}).ok());
  EXPECT_THAT(std::string(simulator->Step({NodeId(1)}, {4}, {NodeId(2)}).message()),
              HasSubstr("environment 2: action 4 is illegal here"));
}

// A tictactoe state: its name with a length, phase, steps, return, two sets of stones.
TEST(EnvSimulator, BytesCountTheStateOfEveryNode) {
  const auto env = Factory(kCases[0])().value();
  env->Reset(0);
  const auto size = static_cast<int64_t>(env->Save().value().size());
  const auto bytes = [](int64_t roots, int64_t nodes) {
    return EnvSimulator::Bytes(Factory(kCases[0]), {roots, nodes, 1.0}).value();
  };
  EXPECT_EQ(bytes(6, 10), 60 * bytes(1, 1));
  EXPECT_GE(bytes(1, 1), size + static_cast<int64_t>(sizeof(std::string)));
  EXPECT_LE(bytes(1, 1), size + 128);
}

// Go remembers its moves, two bytes each, and a random game on 9 x 9 has more than 81 of them.
TEST(EnvSimulator, BytesCountStatesThatGrow) {
  const EnvFactory make = Factory({"go", 0, 0});
  const auto env = make().value();
  env->Reset(0);
  const auto size = static_cast<int64_t>(env->Save().value().size());
  EXPECT_GE(EnvSimulator::Bytes(make, {1, 1, 1.0}).value(), size + 2 * 81);
}

TEST(EnvSimulator, WhatCannotBeMadeOrSavedIsRefused) {
  const EnvFactory broken = []() -> absl::StatusOr<std::unique_ptr<Env>> {
    return absl::UnavailableError("no environment today");
  };
  EXPECT_EQ(EnvSimulator::Create(broken, {1, 2, 1.0}).status().message(), "no environment today");
  EXPECT_EQ(EnvSimulator::Bytes(broken, {1, 2, 1.0}).status().message(), "no environment today");

  // Cannot be saved.
  class Forgetful : public Env {
   public:
    Forgetful() { spec_.id = "forgetful"; }
    const EnvSpec& spec() const override { return spec_; }
    TimeStep Reset(uint64_t) override { return {}; }
    absl::StatusOr<TimeStep> Step(const Action&) override { return TimeStep(); }

   private:
    EnvSpec spec_;
  };
  const EnvFactory forgetful = []() -> absl::StatusOr<std::unique_ptr<Env>> {
    return std::make_unique<Forgetful>();
  };
  const absl::Status refused = EnvSimulator::Create(forgetful, {1, 2, 1.0}).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(refused.message(),
            "forgetful cannot be saved; a search that simulates with it needs its states");
}

}  // namespace
}  // namespace lzero::env_simulator_test
