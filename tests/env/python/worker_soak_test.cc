// A long run over environments whose workers are killed at random: no step, no episode, no process
// and no descriptor is lost. Prints what it counted.
#include <gtest/gtest.h>

#include <cstdio>
#include <thread>

#include "lzero/base/rng.h"
#include "lzero/base/thread_pool.h"
#include "lzero/env/check/rollout.h"
#include "lzero/env/vector_env.h"
#include "tests/env/python/open_things.h"
#include "tests/env/python/python_tests.h"

namespace lzero::worker_soak_test {
namespace {

constexpr int kNumEnvs = 8;
constexpr int kNumSteps = 10000;
constexpr int kNumKills = 20;

struct Counts {
  int steps = 0;  // answered by an environment
  int started = 0, ended = 0, interrupted = 0;
  int64_t kills = 0, restarts = 0;
  double slowest_s = 0.0;
};

// kill -9 of one of the two workers a moment from now, perhaps in the midst of a step.
class Killer {
 public:
  Killer(Env& env, RandomStream& random) {
    const pid_t pid = static_cast<WorkerGroup*>(env.batch())->pid();
    const auto delay = std::chrono::microseconds(random.UniformInt(1000));
    if (pid <= 0) return;
    did_kill_ = true;
    thread_ = std::thread([pid, delay] {
      std::this_thread::sleep_for(delay);
      kill(pid, SIGKILL);
    });
  }
  ~Killer() {
    if (thread_.joinable()) thread_.join();
  }
  bool did_kill() const { return did_kill_; }

 private:
  bool did_kill_ = false;
  std::thread thread_;
};

void Reset(VectorEnv& envs, EnvId id, Counts& counts) {
  envs.Reset(id, static_cast<uint64_t>(counts.started++));
}

Counts Soak(VectorEnv& envs, RandomStream& random) {
  Counts counts;
  std::vector<EnvId> ids;
  for (int i = 0; i < kNumEnvs; ++i) ids.push_back(EnvId(i));
  for (const EnvId id : ids) Reset(envs, id, counts);
  int next_kill = 0;
  for (int calls = 0; calls < kNumSteps; calls += kNumEnvs) {
    std::vector<Action> actions;
    for (const EnvId id : ids) {
      if (envs.last(id).ended()) Reset(envs, id, counts);
      actions.push_back(*RandomAction(envs.spec(), envs.last(id).legal_action_mask, random));
    }
    std::unique_ptr<Killer> killer;
    if (calls >= next_kill && counts.kills < kNumKills) {
      next_kill += kNumSteps / (kNumKills + 1);
      killer = std::make_unique<Killer>(
          envs.env(EnvId(static_cast<int32_t>(random.UniformInt(kNumEnvs)))), random);
      counts.kills += killer->did_kill() ? 1 : 0;
    }
    const double start = MonotonicSeconds();
    const absl::Status status = envs.Step(ids, actions);
    counts.slowest_s = std::max(counts.slowest_s, MonotonicSeconds() - start);
    EXPECT_TRUE(status.ok()) << status;
    for (const EnvId id : ids) {
      const TimeStep& last = envs.last(id);
      counts.interrupted += last.interrupted ? 1 : 0;
      counts.steps += last.interrupted ? 0 : 1;
      counts.ended += last.ended() ? 1 : 0;
    }
  }
  // A last look: the deaths that nobody has stepped on yet.
  for (const EnvId id : ids) {
    if (envs.last(id).ended()) Reset(envs, id, counts);
  }
  counts.restarts =
      static_cast<WorkerGroup*>(envs.env(EnvId(0)).batch())->num_restarts() +
      static_cast<WorkerGroup*>(envs.env(EnvId(kNumEnvs - 1)).batch())->num_restarts();
  return counts;
}

TEST(WorkerSoakTest, LosesNothingWhenWorkersAreKilled) {
  LZ_NEEDS_GYMNASIUM();
  const int descriptors = NumDescriptors();
  RandomStream random(12, "soak");
  ThreadPool pool(1);
  EnvOptions options;
  options.workers.num_workers = 2;
  options.workers.max_restarts = 1000;
  options.workers.step_timeout_s = 20.0;
  Counts counts;
  const double start = MonotonicSeconds();
  {
    EnvRegistry registry;
    RegisterWorkerEnvs(registry);
    auto made = registry.MakeGroup("gymnasium:CartPole-v1", options, kNumEnvs);
    ASSERT_TRUE(made.ok()) << made.status();
    const auto envs = VectorEnv::Create(*std::move(made), &pool);
    counts = Soak(**envs, random);
    EXPECT_LE(Children().size(), 2u);
  }
  const double seconds = MonotonicSeconds() - start;
  std::printf(
      "| steps asked | answered | interrupted | episodes | kills | restarts | slowest step "
      "| seconds |\n|---|---|---|---|---|---|---|---|\n"
      "| %d | %d | %d | %d | %d | %d | %.2f s | %.1f |\n",
      kNumSteps, counts.steps, counts.interrupted, counts.started, static_cast<int>(counts.kills),
      static_cast<int>(counts.restarts), counts.slowest_s, seconds);
  EXPECT_EQ(counts.steps + counts.interrupted, kNumSteps);
  EXPECT_EQ(counts.started, counts.ended + kNumEnvs) << "those that end, and those that run now";
  EXPECT_EQ(counts.kills, kNumKills);
  EXPECT_LE(counts.restarts, kNumKills);
  EXPECT_GE(counts.restarts, kNumKills - 2) << "but deaths of the last moment";
  // A kill ends those of four episodes that no Reset was about to end anyway.
  EXPECT_LE(counts.interrupted, 4 * kNumKills);
  EXPECT_GE(counts.interrupted, kNumKills);
  EXPECT_LT(counts.slowest_s, 10.0);
  EXPECT_TRUE(Children().empty());
  EXPECT_EQ(NumDescriptors(), descriptors);
  EXPECT_EQ(NumMappings("lzero_worker"), 0);
}

}  // namespace
}  // namespace lzero::worker_soak_test
