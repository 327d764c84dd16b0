#include "lzero/env/check/env_speed.h"

#include <utility>

#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/stopwatch.h"
#include "lzero/base/thread_pool.h"
#include "lzero/env/check/episode_record.h"
#include "lzero/env/vector_env.h"

namespace lzero {
namespace {

constexpr int kStepsBetweenClocks = 256;

absl::StatusOr<EnvSpeed> MeasureOne(Env& env, double seconds) {
  RandomStream random(0, "env speed");
  EnvSpeed speed;
  const double start = MonotonicSeconds();
  TimeStep last = env.Reset(static_cast<uint64_t>(speed.num_episodes++));
  while (speed.seconds < seconds) {
    for (int i = 0; i < kStepsBetweenClocks; ++i) {
      if (last.ended()) last = env.Reset(static_cast<uint64_t>(speed.num_episodes++));
      LZ_ASSIGN_OR_RETURN(const Action action,
                          RandomAction(env.spec(), last.legal_action_mask, random));
      LZ_ASSIGN_OR_RETURN(last, env.Step(action));
    }
    speed.num_steps += kStepsBetweenClocks;
    speed.seconds = MonotonicSeconds() - start;
  }
  return speed;
}

absl::StatusOr<EnvSpeed> MeasureTogether(VectorEnv& envs, double seconds) {
  RandomStream random(0, "env speed");
  EnvSpeed speed;
  std::vector<EnvId> ids;
  for (int i = 0; i < envs.num_envs(); ++i) ids.push_back(EnvId(i));
  std::vector<Action> actions(ids.size());
  const double start = MonotonicSeconds();
  for (const EnvId id : ids) envs.Reset(id, static_cast<uint64_t>(speed.num_episodes++));
  while (speed.seconds < seconds) {
    for (size_t i = 0; i < ids.size(); ++i) {
      if (envs.last(ids[i]).ended()) {
        envs.Reset(ids[i], static_cast<uint64_t>(speed.num_episodes++));
      }
      LZ_ASSIGN_OR_RETURN(actions[i],
                          RandomAction(envs.spec(), envs.last(ids[i]).legal_action_mask, random));
    }
    LZ_RETURN_IF_ERROR(envs.Step(ids, actions));
    speed.num_steps += static_cast<int64_t>(ids.size());
    speed.seconds = MonotonicSeconds() - start;
  }
  return speed;
}

}  // namespace

absl::StatusOr<EnvSpeed> MeasureEnvSpeed(std::vector<std::unique_ptr<Env>> envs, double seconds) {
  if (envs.size() == 1) return MeasureOne(*envs[0], seconds);
  ThreadPool pool(1);
  LZ_ASSIGN_OR_RETURN(const auto together, VectorEnv::Create(std::move(envs), &pool));
  return MeasureTogether(*together, seconds);
}

}  // namespace lzero
