#include "lzero/env/vector_env.h"

#include <gtest/gtest.h>

#include "tests/env/walk_env.h"

namespace lzero::vector_env_test {
namespace {

std::unique_ptr<VectorEnv> MakeVector(int num_envs, ThreadPool* pool) {
  std::vector<std::unique_ptr<Env>> envs;
  for (int i = 0; i < num_envs; ++i) envs.push_back(std::make_unique<WalkEnv>());
  return *VectorEnv::Create(std::move(envs), pool);
}

TEST(VectorEnvTest, NeedsAtLeastOneEnvironment) {
  ThreadPool pool(1);
  EXPECT_EQ(VectorEnv::Create({}, &pool).status().message(),
            "a vector environment needs at least 1 environment, got 0");
}

TEST(VectorEnvTest, RefusesUnequalSpecs) {
  ThreadPool pool(1);
  std::vector<std::unique_ptr<Env>> envs;
  envs.push_back(std::make_unique<WalkEnv>());
  EnvSpec other = WalkSpec();
  other.max_episode_steps = 30;
  envs.push_back(std::make_unique<WalkEnv>(other));
  EXPECT_EQ(VectorEnv::Create(std::move(envs), &pool).status().message(),
            "environment 1 ('walk') has another spec than environment 0 ('walk'); a vector "
            "environment needs equal ids, shapes, bounds and caps");
}

// Many threads and many environments, each checked against one stepped alone. Environment i walks
// right at step t when (i + t) is divisible by 3, else stays.
TEST(VectorEnvTest, ThreadsGiveWhatEachEnvironmentGivesAlone) {
  constexpr int kNumEnvs = 37;
  ThreadPool pool(4);
  const auto envs = MakeVector(kNumEnvs, &pool);
  std::vector<WalkEnv> alone(kNumEnvs);
  std::vector<EnvId> ids;
  for (int i = 0; i < kNumEnvs; ++i) {
    ids.push_back(EnvId(kNumEnvs - 1 - i));  // any order of ids
    envs->Reset(EnvId(i), i);
    alone[i].Reset(i);
  }
  for (int t = 0; t < 10; ++t) {
    std::vector<Action> actions;
    for (const EnvId id : ids) actions.push_back(Action::Discrete((id.value + t) % 3 == 0 ? 2 : 1));
    ASSERT_TRUE(envs->Step(ids, actions).ok());
    for (size_t k = 0; k < ids.size(); ++k) {
      const auto expected = alone[ids[k].value].Step(actions[k]);
      ASSERT_TRUE(expected.ok());
      EXPECT_EQ(envs->last(ids[k]).observation, expected->observation);
      EXPECT_EQ(envs->last(ids[k]).reward, expected->reward);
      EXPECT_EQ(envs->last(ids[k]).terminated, expected->terminated);
    }
  }
}

TEST(VectorEnvTest, OnlyTheNamedEnvironmentsStep) {
  ThreadPool pool(2);
  const auto envs = MakeVector(3, &pool);
  for (int i = 0; i < 3; ++i) envs->Reset(EnvId(i), 0);
  ASSERT_TRUE(envs->Step({EnvId(1)}, {Action::Discrete(2)}).ok());
  EXPECT_EQ(envs->last(EnvId(0)).observation[0], 0.0f);
  EXPECT_EQ(envs->last(EnvId(1)).observation[0], 1.0f);
  EXPECT_EQ(envs->last(EnvId(2)).observation[0], 0.0f);
  ASSERT_TRUE(envs->Step({}, {}).ok());
}

TEST(VectorEnvTest, TheFirstErrorIsNamedAndTheOthersHaveStepped) {
  ThreadPool pool(3);
  const auto envs = MakeVector(4, &pool);
  for (int i = 0; i < 4; ++i) envs->Reset(EnvId(i), 0);
  const Action right = Action::Discrete(2);
  const absl::Status status = envs->Step({EnvId(3), EnvId(2), EnvId(1), EnvId(0)},
                                         {right, Action::Discrete(7), Action::Discrete(0), right});
  EXPECT_EQ(status.message(), "environment 2: action 7 is out of range; 'walk' takes 0 .. 2");
  EXPECT_EQ(envs->last(EnvId(0)).observation[0], 1.0f);
  EXPECT_EQ(envs->last(EnvId(1)).observation[0], 0.0f);
  EXPECT_EQ(envs->last(EnvId(2)).observation[0], 0.0f);
  EXPECT_EQ(envs->last(EnvId(3)).observation[0], 1.0f);
}

// Steps its environments in one call and remembers how many there were.
class CountingBatch : public EnvBatch {
 public:
  void Begin(absl::Span<Env* const> envs, absl::Span<const Action> actions) override {
    sizes.push_back(static_cast<int>(envs.size()));
    envs_.assign(envs.begin(), envs.end());
    actions_.assign(actions.begin(), actions.end());
  }
  void Finish(absl::Span<absl::StatusOr<TimeStep>> results) override {
    for (size_t i = 0; i < envs_.size(); ++i) results[i] = envs_[i]->Step(actions_[i]);
  }
  std::vector<int> sizes;

 private:
  std::vector<Env*> envs_;
  std::vector<Action> actions_;
};

class BatchedWalk : public WalkEnv {
 public:
  explicit BatchedWalk(EnvBatch* batch) : batch_(batch) {}
  EnvBatch* batch() override { return batch_; }

 private:
  EnvBatch* batch_;
};

TEST(VectorEnvTest, EnvironmentsOfABatchStepInOneCall) {
  ThreadPool pool(2);
  CountingBatch even, odd;
  std::vector<std::unique_ptr<Env>> members;
  for (int i = 0; i < 5; ++i) {
    EnvBatch* batch = i == 4 ? nullptr : i % 2 == 0 ? &even : &odd;
    members.push_back(std::make_unique<BatchedWalk>(batch));
  }
  const auto envs = *VectorEnv::Create(std::move(members), &pool);
  std::vector<EnvId> ids;
  for (int i = 0; i < 5; ++i) envs->Reset(EnvId(i), 0), ids.push_back(EnvId(i));
  const Action right = Action::Discrete(2), stay = Action::Discrete(1);
  const absl::Status status = envs->Step(ids, {right, stay, stay, Action::Discrete(0), right});
  EXPECT_EQ(even.sizes, (std::vector<int>{2}));
  EXPECT_EQ(odd.sizes, (std::vector<int>{2}));
  EXPECT_EQ(status.message(), "environment 3: action 0 is illegal here; 'walk' takes now: 1 2");
  EXPECT_EQ(envs->last(EnvId(0)).observation[0], 1.0f);
  EXPECT_EQ(envs->last(EnvId(2)).observation[0], 0.0f);
  EXPECT_EQ(envs->last(EnvId(4)).observation[0], 1.0f);
  ASSERT_TRUE(envs->Step({EnvId(1)}, {right}).ok());
  EXPECT_EQ(odd.sizes, (std::vector<int>{2, 1}));
  EXPECT_EQ(envs->last(EnvId(1)).observation[0], 1.0f);
}

TEST(VectorEnvTest, SavesEnvironmentAndLastStepTogether) {
  ThreadPool pool(1);
  const auto envs = MakeVector(2, &pool);
  envs->Reset(EnvId(0), 1);
  ASSERT_TRUE(envs->Step({EnvId(0)}, {Action::Discrete(2)}).ok());
  const std::string state = *envs->Save(EnvId(0));
  ASSERT_TRUE(envs->Load(EnvId(1), state).ok());
  EXPECT_EQ(envs->last(EnvId(1)).observation[0], 2.0f);
  EXPECT_EQ(envs->last(EnvId(1)).legal_action_mask, (std::vector<uint8_t>{1, 1, 1}));
  ASSERT_TRUE(envs->Step({EnvId(1)}, {Action::Discrete(2)}).ok());
  EXPECT_EQ(envs->last(EnvId(1)).observation[0], 3.0f);
}

TEST(VectorEnvTest, AnUnusedEnvironmentCanBeSaved) {
  ThreadPool pool(1);
  const auto envs = MakeVector(2, &pool);
  ASSERT_TRUE(envs->Load(EnvId(1), *envs->Save(EnvId(0))).ok());
}

TEST(VectorEnvTest, ABrokenStateChangesNothing) {
  ThreadPool pool(1);
  const auto envs = MakeVector(1, &pool);
  envs->Reset(EnvId(0), 1);
  const std::string state = *envs->Save(EnvId(0));
  for (size_t size = 0; size < state.size(); ++size) {
    EXPECT_EQ(envs->Load(EnvId(0), state.substr(0, size)).code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(envs->Load(EnvId(0), "x").message(),
            "environment 0: these 1 bytes are not a saved state of 'vector_env'");
  // A last time step of another environment: three numbers instead of two.
  StateWriter writer("vector_env");
  writer.WriteString("");
  writer.WriteVector(std::vector<float>{1, 2, 3});
  writer.WriteVector(std::vector<uint8_t>{1, 1, 1});
  writer.Write(int32_t{0});
  writer.Write(0.0f);
  writer.Write(false);
  writer.Write(false);
  writer.Write(0.0);
  EXPECT_EQ(envs->Load(EnvId(0), writer.Take()).message(),
            "environment 0: saved state of 'vector_env' is impossible: its last time step does "
            "not fit the environment");
  EXPECT_EQ(*envs->Save(EnvId(0)), state);
}

TEST(VectorEnvTest, EnvironmentsThatCannotSaveSaySo) {
  ThreadPool pool(1);
  EnvSpec spec = WalkSpec();
  spec.can_save = false;
  std::vector<std::unique_ptr<Env>> one;
  one.push_back(std::make_unique<WalkEnv>(spec));
  const auto envs = *VectorEnv::Create(std::move(one), &pool);
  EXPECT_EQ(envs->Save(EnvId(0)).status().message(),
            "environment 0: environment 'walk' cannot save its state");
}

TEST(VectorEnvDeathTest, SteppingTwiceInOneCallIsOurBug) {
  ThreadPool pool(1);
  const auto envs = MakeVector(2, &pool);
  const Action stay = Action::Discrete(1);
  EXPECT_DEATH((void)envs->Step({EnvId(1), EnvId(1)}, {stay, stay}),
               "environment 1 is stepped twice in one call");
  EXPECT_DEATH((void)envs->Step({EnvId(2)}, {stay}), "environment 2 of 2");
  EXPECT_DEATH((void)envs->Step({EnvId(1)}, {}), "1 ids and 0 actions");
}

}  // namespace
}  // namespace lzero::vector_env_test
