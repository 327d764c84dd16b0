#include "lzero/pipe/policy_server.h"

#include <map>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/mcts/tree/tree.h"
#include "tests/worker/evaluator_testing.h"

namespace lzero::policy_server_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kMaxBatch = 3;

struct Row {
  int32_t id = 0;
  std::vector<float> observation = {1.0f, 2.0f, 3.0f};
  std::vector<uint8_t> legal = {1, 1, 1, 1};
};

// A server of walks, and the frames that it is asked.
struct Served {
  explicit Served(const ShownModelOptions& options = {})
      : model(options),
        agent(MakeAgent(WalkEnv::kNumActions, kMaxBatch + 1)),
        server(WalkEnv({}).spec(), kMaxPast, kMaxBatch, agent.get(), &model) {}

  absl::StatusOr<std::string> Ask(FrameType type, const std::vector<Row>& rows, uint8_t flags = 0,
                                  const std::string& rest = "") {
    FrameWriter body(type);
    body.Add(static_cast<uint32_t>(rows.size()));
    for (const Row& row : rows) body.Add(row.id);
    for (size_t i = 0; i < rows.size(); ++i) body.Add(int32_t{0});
    for (const Row& row : rows) body.Add(absl::MakeConstSpan(row.observation));
    const std::string before = body.Take().substr(4);
    std::string masks;
    for (const Row& row : rows) masks.append(row.legal.begin(), row.legal.end());
    const bool has_played = (flags & kHasPlayed) != 0;
    const std::string whole = before + (has_played ? rest + masks : masks + rest);
    return server.Answer({type, static_cast<uint8_t>(flags | kHasLegal), whole});
  }
  // The actions of a decision.
  std::vector<int32_t> Act(const std::vector<Row>& rows, uint8_t flags = 0,
                           const std::string& rest = "") {
    const auto answer = Ask(FrameType::kAct, rows, flags, rest);
    EXPECT_TRUE(answer.ok()) << answer.status();
    std::vector<int32_t> actions;
    BodyReader body(absl::string_view(*answer).substr(4 + 16));
    EXPECT_TRUE(body.Read(rows.size(), &actions));
    return actions;
  }
  void Reset(const std::string& ids) {
    EXPECT_TRUE(server.Answer({FrameType::kPolicyReset, 0, ids}).ok());
  }

  ShownModel model;
  std::unique_ptr<Agent> agent;
  PolicyServer server;
};

std::string Number(int32_t number) {
  return std::string(reinterpret_cast<const char*>(&number), sizeof(number));
}

// One walk for each episode, played through the server; the return of each seed. With `searches`
// each decision is preceded by two searches that must not matter.
std::vector<double> PlayWalks(Served* served, const std::vector<uint64_t>& seeds, bool searches) {
  std::map<int32_t, std::pair<std::unique_ptr<WalkEnv>, TimeStep>> walks;
  std::vector<double> returns(seeds.size());
  served->Reset("");
  for (size_t i = 0; i < seeds.size(); ++i) {
    auto env = std::make_unique<WalkEnv>(WalkOptions());
    TimeStep start = env->Reset(seeds[i]);
    walks[static_cast<int32_t>(i)] = {std::move(env), std::move(start)};
  }
  while (!walks.empty()) {
    std::vector<Row> rows;
    for (const auto& [id, walk] : walks) {
      rows.push_back({id, walk.second.observation, walk.second.legal_action_mask});
    }
    if (searches) {
      EXPECT_TRUE(served->Ask(FrameType::kSearch, {rows[0]}).ok());
      EXPECT_TRUE(served->Ask(FrameType::kSearch, {rows[0]}, kAlone).ok());
    }
    const std::vector<int32_t> actions = served->Act(rows);
    for (size_t i = 0; i < rows.size(); ++i) {
      auto& [env, last] = walks[rows[i].id];
      last = env->Step(Action::Discrete(actions[i])).value();
      returns[static_cast<size_t>(rows[i].id)] = last.episode_return;
      if (last.ended()) walks.erase(rows[i].id);
    }
  }
  return returns;
}

TEST(PolicyServerTest, PlaysAsAnEvaluationDoesAndItsRootsAreTheSame) {
  const std::vector<uint64_t> seeds = {5, 3, 1000000007};
  Walks walks(kMaxBatch);
  std::vector<double> expected;
  for (const EvaluatedEpisode& episode : walks.Run(seeds)) {
    expected.push_back(episode.episode_return);
  }
  Served served;
  EXPECT_EQ(PlayWalks(&served, seeds, /*searches=*/false), expected);
  ASSERT_EQ(served.model.seen.size(), walks.model.seen.size());
  for (size_t i = 0; i < walks.model.seen.size(); ++i) {
    const SeenRoot &got = served.model.seen[i], &want = walks.model.seen[i];
    EXPECT_EQ(got.env, want.env) << i;
    EXPECT_EQ(got.step, want.step) << i;
    EXPECT_EQ(got.observations, want.observations) << i;
    EXPECT_EQ(got.actions, want.actions) << i;
    EXPECT_EQ(got.legal_action_mask, want.legal_action_mask) << i;
  }
}

TEST(PolicyServerTest, SearchesBetweenDecisionsChangeNothing) {
  const std::vector<uint64_t> seeds = {4, 12};
  Served plain, searched;
  EXPECT_EQ(PlayWalks(&searched, seeds, true), PlayWalks(&plain, seeds, false));
  EXPECT_EQ(searched.agent->num_searches(), plain.agent->num_searches());
  // They are of an environment of their own, which begins anew; with and without the past.
  searched.model.kept = {0, 1, kMaxBatch};
  searched.model.seen.clear();
  searched.Reset("");
  searched.model.kept = {0, 1, kMaxBatch};
  searched.Act({{0, {1, 1, 1}}});
  ASSERT_TRUE(searched.Ask(FrameType::kSearch, {{0, {2, 2, 2}}}).ok());
  ASSERT_TRUE(searched.Ask(FrameType::kSearch, {{0, {2, 2, 2}}}, kAlone).ok());
  EXPECT_THAT(searched.model.kept, ElementsAre(0, 1));
  EXPECT_EQ(searched.model.seen[1].env, kMaxBatch);
  EXPECT_THAT(searched.model.seen[1].observations, ElementsAre(1, 1, 1, 2, 2, 2));
  EXPECT_THAT(searched.model.seen[2].observations, ElementsAre(2, 2, 2));
}

TEST(PolicyServerTest, ATreeIsConsistentAndItsRootIsTheDecision) {
  Served served;
  const auto answer = served.Ask(FrameType::kSearch, {{0}}, kAlone);
  ASSERT_TRUE(answer.ok()) << answer.status();
  BodyReader body(absl::string_view(*answer).substr(4));
  uint32_t num_rows = 0, policy_size = 0, num_nodes = 0;
  double seconds = 0.0;
  std::vector<int32_t> best, root_visits, parents, actions, visits;
  std::vector<float> policy, root_value, network_value, q_values, priors, values, network_values,
      rewards;
  ASSERT_TRUE(body.Read(&num_rows) && body.Read(&policy_size) && body.Read(&seconds));
  ASSERT_EQ(num_rows, 1u);
  ASSERT_EQ(policy_size, 4u);
  ASSERT_TRUE(body.Read(1, &best) && body.Read(4, &policy) && body.Read(1, &root_value) &&
              body.Read(1, &network_value) && body.Read(4, &root_visits) && body.Read(&num_nodes));
  EXPECT_EQ(num_nodes, 9u);  // the root and 8 simulations
  for (auto* column : {&parents, &actions, &visits}) ASSERT_TRUE(body.Read(num_nodes, column));
  for (auto* column : {&q_values, &priors, &values, &network_values, &rewards}) {
    ASSERT_TRUE(body.Read(num_nodes, column));
  }
  EXPECT_TRUE(body.at_end());
  EXPECT_EQ(parents[0], -1);
  EXPECT_EQ(visits[0], 9);
  EXPECT_EQ(network_values[0], network_value[0]);
  EXPECT_FLOAT_EQ(values[0], root_value[0]);
  std::vector<int32_t> below(num_nodes, 1);  // the node itself, and what its children count
  std::vector<float> prior_sums(num_nodes, 0.0f);
  for (size_t n = 1; n < num_nodes; ++n) {
    ASSERT_LT(parents[n], static_cast<int32_t>(n));
    below[static_cast<size_t>(parents[n])] += visits[n];
    prior_sums[static_cast<size_t>(parents[n])] += priors[n];
    EXPECT_FLOAT_EQ(q_values[n], rewards[n] + 0.9f * values[n]) << n;  // the model's discount
    if (parents[n] == 0) {
      EXPECT_EQ(root_visits[static_cast<size_t>(actions[n])], visits[n]) << n;
    }
  }
  EXPECT_EQ(below, visits);
  for (const float sum : prior_sums) EXPECT_LE(sum, 1.0f + 1e-5f);
}

TEST(PolicyServerTest, WhatWasPlayedReplacesWhatWasDecided) {
  Served served;
  const int32_t decided = served.Act({{0, {1, 1, 1}}})[0];
  const int32_t other = (decided + 1) % WalkEnv::kNumActions;
  served.Act({{0, {2, 2, 2}}}, kHasPlayed, Number(other));
  EXPECT_THAT(served.model.seen.back().actions, ElementsAre(other));
  const int32_t second = served.Act({{0, {3, 3, 3}}})[0];
  EXPECT_EQ(served.model.seen.back().actions.front(), other);
  EXPECT_GE(second, 0);
}

TEST(PolicyServerTest, AfterAnObservationAloneTheActionMustBeTold) {
  Served served;
  const auto observed = served.Ask(FrameType::kAct, {{1, {1, 1, 1}}}, kObserveOnly);
  ASSERT_TRUE(observed.ok()) << observed.status();
  EXPECT_EQ(*observed, FrameWriter(FrameType::kOk).Take());
  EXPECT_THAT(served.model.seen, IsEmpty());
  const auto refused = served.Ask(FrameType::kAct, {{1, {2, 2, 2}}});
  EXPECT_TRUE(absl::IsFailedPrecondition(refused.status()));
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("say what was played there"));
  served.Act({{1, {3, 3, 3}}}, kHasPlayed, Number(2));
  EXPECT_THAT(served.model.seen.back().observations, ElementsAre(1, 1, 1, 3, 3, 3));
  EXPECT_THAT(served.model.seen.back().actions, ElementsAre(2));
}

TEST(PolicyServerTest, ResetEndsEpisodesAndWithoutNumbersCountsSearchesAnew) {
  Served served;
  served.Act({{0}, {1}, {2}});
  served.model.kept = {0, 1, 2};
  served.Reset(Number(1));
  EXPECT_THAT(served.model.kept, ElementsAre(0, 2));
  EXPECT_EQ(served.agent->num_searches(), 1u);
  served.Act({{0}, {1}});
  EXPECT_EQ(served.model.seen[3].step, 1);
  EXPECT_EQ(served.model.seen[4].step, 0);
  served.Reset("");
  EXPECT_THAT(served.model.kept, IsEmpty());
  EXPECT_EQ(served.agent->num_searches(), 0u);
}

TEST(PolicyServerTest, AModelThatSimulatesWithTheEnvironmentNeedsItsState) {
  ShownModelOptions options;
  options.needs_state = true;
  Served served(options);
  const auto refused = served.Ask(FrameType::kAct, {{0}});
  EXPECT_TRUE(absl::IsFailedPrecondition(refused.status())) << refused.status();
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("searches in the environment"));
  served.Act({{0}}, kHasStates, Number(4) + "here");
  EXPECT_EQ(served.model.seen.back().state, "here");
  // One that does not fit is refused, and no part of the episode.
  served.model.failure = absl::InvalidArgumentError("a state of chess");
  const auto wrong = served.Ask(FrameType::kAct, {{0, {7, 7, 7}}}, kHasStates, Number(1) + "x");
  EXPECT_EQ(wrong.status(), served.model.failure);
  served.model.failure = absl::OkStatus();
  served.Act({{0, {2, 2, 2}}}, kHasStates, Number(4) + "here");
  EXPECT_THAT(served.model.seen.back().observations, ElementsAre(1, 2, 3, 2, 2, 2));
}

TEST(PolicyServerTest, AFailedSearchIsAFailureAndAForeignFrameIsMalformed) {
  Served served;
  served.model.failure = absl::InvalidArgumentError("no device");
  EXPECT_TRUE(absl::IsInternal(served.Ask(FrameType::kAct, {{0}}).status()));
  EXPECT_TRUE(absl::IsDataLoss(served.server.Answer({FrameType::kStep, 0, ""}).status()));
}

}  // namespace
}  // namespace lzero::policy_server_test
