// What comes through worker processes against the same seeds and actions played in a plain Python
// loop (play_directly.py, play_atari.py): equal to the last bit, with any number of environments
// and processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "absl/strings/str_join.h"
#include "lzero/base/files.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/check/rollout.h"
#include "tests/env/python/python_tests.h"

namespace lzero::worker_reference_test {
namespace {

constexpr uint64_t kFirstSeed = uint64_t{1} << 33;

std::string TestPath(const std::string& name) {
  return absl::StrCat(testing::TempDir(), "/lzero_reference_", getpid(), "_", name);
}

// Runs a script over a plan; what it wrote, or why it did not.
absl::StatusOr<std::string> PlayInPython(const std::string& script, const std::string& plan) {
  const std::string plan_path = TestPath("plan.json"), results_path = TestPath("results");
  LZ_RETURN_IF_ERROR(WriteFileAtomic(plan_path, plan));
  LZ_ASSIGN_OR_RETURN(const auto child,
                      ChildProcess::Start({PythonInterpreter("auto"), "-B",
                                           absl::StrCat(LZ_TEST_DATA, "/env/python/", script),
                                           plan_path, results_path},
                                          {}));
  child->WaitForEnd(-1.0);
  const auto results = ReadFile(results_path);
  std::remove(plan_path.c_str());
  std::remove(results_path.c_str());
  if (child->end_text() == "exited with status 0") return results;
  const std::string output = absl::StrCat(child->end_text(), ": ", child->OutputTail(3000));
  if (child->end_text() == "exited with status 77") return absl::NotFoundError(output);
  return absl::InternalError(output);
}

// One time step as the scripts write it.
void Append(const TimeStep& step, bool as_bytes, std::string* bytes) {
  if (as_bytes) {
    for (const float value : step.observation) {
      bytes->push_back(static_cast<char>(std::lround(value * 255.0f)));
    }
  } else {
    bytes->append(reinterpret_cast<const char*>(step.observation.data()),
                  step.observation.size() * sizeof(float));
  }
  bytes->append(reinterpret_cast<const char*>(&step.reward), sizeof(float));
  bytes->push_back(step.terminated ? 1 : 0);
  bytes->push_back(step.truncated ? 1 : 0);
}

void ExpectSameBytes(const std::string& got, const std::string& expected, size_t step_size) {
  ASSERT_EQ(got.size(), expected.size());
  ASSERT_EQ(got.size() % step_size, 0u);
  if (got == expected) return;
  const auto [at, wanted] = std::mismatch(got.begin(), got.end(), expected.begin());
  const size_t place = static_cast<size_t>(at - got.begin());
  ADD_FAILURE() << "time step " << place / step_size << " of " << got.size() / step_size
                << ": byte " << place % step_size << " of " << step_size << " is " << int{*at}
                << ", in Python " << int{*wanted};
}

struct Played {
  std::vector<std::vector<Action>> actions;
  std::vector<std::string> bytes;
};

// Plays `num_episodes` episodes of random actions, of at most `max_steps`, on as many environments
// as there are, all at once. What is played does not depend on how many there are.
Played Play(std::vector<std::unique_ptr<Env>> envs, int num_episodes, int max_steps) {
  Played played;
  played.actions.resize(static_cast<size_t>(num_episodes));
  played.bytes.resize(static_cast<size_t>(num_episodes));
  const int num_envs = static_cast<int>(envs.size());
  for (int first = 0; first < num_episodes; first += num_envs) {
    std::vector<TimeStep> last;
    std::vector<RandomStream> random;
    for (int i = 0; i < num_envs; ++i) {
      random.emplace_back(static_cast<uint64_t>(first + i), "actions");
      last.push_back(envs[i]->Reset(kFirstSeed + static_cast<uint64_t>(first + i)));
      Append(last[i], false, &played.bytes[first + i]);
    }
    for (int t = 0; t < max_steps; ++t) {
      std::vector<Action> actions(envs.size());
      for (int i = 0; i < num_envs; ++i) {
        if (last[i].ended()) continue;
        actions[i] = *RandomAction(envs[i]->spec(), last[i].legal_action_mask, random[i]);
        played.actions[first + i].push_back(actions[i]);
      }
      // Those of one process together, both processes at the same time.
      std::vector<std::vector<int>> members;
      for (int i = 0; i < num_envs; ++i) {
        if (last[i].ended()) continue;
        if (members.empty() || envs[members.back()[0]]->batch() != envs[i]->batch()) {
          members.emplace_back();
        }
        members.back().push_back(i);
      }
      for (const auto& group : members) {
        std::vector<Env*> stepped;
        std::vector<Action> chosen;
        for (const int i : group) stepped.push_back(envs[i].get());
        for (const int i : group) chosen.push_back(actions[i]);
        stepped[0]->batch()->Begin(stepped, chosen);
      }
      for (const auto& group : members) {
        std::vector<absl::StatusOr<TimeStep>> results(group.size(), absl::UnknownError(""));
        envs[group[0]]->batch()->Finish(absl::MakeSpan(results));
        for (size_t k = 0; k < group.size(); ++k) {
          EXPECT_TRUE(results[k].ok()) << results[k].status();
          if (!results[k].ok()) return played;
          last[group[k]] = *results[k];
          Append(last[group[k]], false, &played.bytes[first + group[k]]);
        }
      }
    }
  }
  return played;
}

std::string ActionText(const Action& action) {
  if (action.values.empty()) return absl::StrCat(action.index);
  std::string text = "[";
  for (const float value : action.values) {
    char digits[32];
    std::snprintf(digits, sizeof(digits), "%s%.9g", text.size() > 1 ? "," : "", value);
    text += digits;
  }
  return text + "]";
}

std::string PlanText(const std::string& id, const Played& played) {
  std::string text = absl::StrCat(R"({"id":")", id, R"(","episodes":[)");
  for (size_t i = 0; i < played.actions.size(); ++i) {
    std::vector<std::string> actions;
    for (const Action& action : played.actions[i]) actions.push_back(ActionText(action));
    absl::StrAppend(&text, i > 0 ? "," : "", R"({"seed":)", kFirstSeed + i, R"(,"actions":[)",
                    absl::StrJoin(actions, ","), "]}");
  }
  return text + "]}";
}

// On one environment, and on one for each episode in one process and in two.
void ExpectEqualToPython(const std::string& id, const std::string& gymnasium_id, int max_steps,
                         int num_episodes = 8) {
  EnvRegistry registry;
  RegisterWorkerEnvs(registry);
  Played played;
  size_t step_size = 0;
  for (const auto& [num_envs, num_workers] :
       {std::pair(1, 1), std::pair(num_episodes, 1), std::pair(num_episodes, 2)}) {
    EnvOptions options;
    options.workers.num_workers = num_workers;
    auto envs = registry.MakeGroup(id, options, num_envs);
    ASSERT_TRUE(envs.ok()) << envs.status();
    step_size = static_cast<size_t>((*envs)[0]->spec().observation.size()) * 4 + 6;
    const Played now = Play(*std::move(envs), num_episodes, max_steps);
    for (int i = 0; i < num_episodes && !played.bytes.empty(); ++i) {
      ExpectSameBytes(now.bytes[i], played.bytes[i], step_size);
    }
    played = now;
  }
  const auto expected = PlayInPython("play_directly.py", PlanText(gymnasium_id, played));
  ASSERT_TRUE(expected.ok()) << expected.status();
  ExpectSameBytes(absl::StrJoin(played.bytes, ""), *expected, step_size);
  std::printf("| %s | %d | %zu |\n", id.c_str(), num_episodes, expected->size() / step_size);
}

TEST(WorkerReferenceTest, CartPoleIsGymnasiums) {
  LZ_NEEDS_GYMNASIUM();
  ExpectEqualToPython("gymnasium:CartPole-v1", "CartPole-v1", 500, 40);
}

TEST(WorkerReferenceTest, PendulumIsGymnasiums) {  // to its cap
  LZ_NEEDS_GYMNASIUM();
  ExpectEqualToPython("gymnasium:Pendulum-v1", "Pendulum-v1", 200);
}

TEST(WorkerReferenceTest, FrozenLakeIsGymnasiums) {  // its transitions are random
  LZ_NEEDS_GYMNASIUM();
  ExpectEqualToPython("gymnasium:FrozenLake-v1", "FrozenLake-v1", 100, 100);
}

TEST(WorkerReferenceTest, AcrobotIsGymnasiums) {
  LZ_NEEDS_GYMNASIUM();
  ExpectEqualToPython("gymnasium:Acrobot-v1", "Acrobot-v1", 60);
}

TEST(WorkerReferenceTest, MountainCarContinuousIsGymnasiums) {
  LZ_NEEDS_GYMNASIUM();
  ExpectEqualToPython("gymnasium:MountainCarContinuous-v0", "MountainCarContinuous-v0", 150);
}

TEST(WorkerReferenceTest, RawAtariFramesAreTheEmulators) {
  LZ_NEEDS(WhyNoModules("numpy gymnasium ale_py"));
  ExpectEqualToPython("gymnasium:ale_py:ALE/Breakout-v5", "ALE/Breakout-v5", 12, 2);
}

TEST(WorkerReferenceTest, MiniGridIsMiniGrids) {
  LZ_NEEDS(WhyNoModules("numpy gymnasium minigrid"));
  ExpectEqualToPython("gymnasium:MiniGrid-DoorKey-5x5-v0", "MiniGrid-DoorKey-5x5-v0", 60);
}

struct Preset {
  std::string name;
  bool is_training = false;
  bool is_grey = false;
  int num_stacked = 1;
  int screen_size = 64;
};

// 300 steps of random actions, over as many episodes as they take.
void ExpectEqualFrames(const std::string& game, const Preset& preset) {
  EnvRegistry registry;
  RegisterWorkerEnvs(registry);
  EnvOptions options;
  options.is_training = preset.is_training;
  options.settings = {{"preset", preset.name},
                      {"colors", preset.is_grey ? "grey" : "rgb"},
                      {"stack", absl::StrCat(preset.num_stacked)},
                      {"screen_size", absl::StrCat(preset.screen_size)}};
  const auto env = registry.Make(absl::StrCat("gymnasium:ALE/", game, "-v5"), options);
  ASSERT_TRUE(env.ok()) << env.status();
  RandomStream random(1, game);
  std::string bytes;
  std::vector<uint64_t> seeds = {kFirstSeed};
  std::vector<int32_t> actions;
  TimeStep last = (*env)->Reset(kFirstSeed);
  Append(last, true, &bytes);
  for (int t = 0; t < 300; ++t) {
    const Action action = *RandomAction((*env)->spec(), last.legal_action_mask, random);
    actions.push_back(action.index);
    const auto step = (*env)->Step(action);
    ASSERT_TRUE(step.ok()) << step.status();
    last = *step;
    Append(last, true, &bytes);
    if (!last.ended()) continue;
    seeds.push_back(random.NextUint64());
    last = (*env)->Reset(seeds.back());
    Append(last, true, &bytes);
  }
  const bool is_short = preset.name == "100k";
  const std::string plan = absl::StrCat(
      R"({"game":")", game, R"(","grey":)", preset.is_grey ? "true" : "false", R"(,"all_actions":)",
      is_short ? "false" : "true", R"(,"max_noops":)", is_short ? 30 : 0, R"(,"sticky":)",
      is_short ? 0.0 : 0.25, R"(,"is_training":)", preset.is_training ? "true" : "false",
      R"(,"ends_at_lost_life":)", is_short ? "true" : "false", R"(,"size":)", preset.screen_size,
      R"(,"stack":)", preset.num_stacked, R"(,"skip":4,"seeds":[)", absl::StrJoin(seeds, ","),
      R"(],"actions":[)", absl::StrJoin(actions, ","), "]}");
  const auto expected = PlayInPython("play_atari.py", plan);
  ASSERT_TRUE(expected.ok()) << expected.status();
  ExpectSameBytes(bytes, *expected, last.observation.size() + 6);
  std::printf("| ALE/%s-v5, %s | %zu | %zu |\n", game.c_str(), preset.name.c_str(), seeds.size(),
              expected->size() / (last.observation.size() + 6));
}

TEST(WorkerReferenceTest, PongIsThatOfAPlainLoop) {
  LZ_NEEDS(WhyNoModules("numpy gymnasium ale_py"));
  ExpectEqualFrames("Pong", {"100k", true, true, 4, 96});
}

TEST(WorkerReferenceTest, BreakoutIsThatOfAPlainLoop) {  // loses lives
  LZ_NEEDS(WhyNoModules("numpy gymnasium ale_py"));
  ExpectEqualFrames("Breakout", {"100k", true, false, 1, 64});
}

TEST(WorkerReferenceTest, StickyBreakoutIsThatOfAPlainLoop) {
  LZ_NEEDS(WhyNoModules("numpy gymnasium ale_py"));
  ExpectEqualFrames("Breakout", {"200m", false, true, 4, 84});
}

TEST(WorkerReferenceTest, StickySeaquestIsThatOfAPlainLoop) {
  LZ_NEEDS(WhyNoModules("numpy gymnasium ale_py"));
  ExpectEqualFrames("Seaquest", {"200m", true, false, 2, 64});
}

}  // namespace
}  // namespace lzero::worker_reference_test
