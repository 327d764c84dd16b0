#include "lzero/env/vector_env.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/saved_state.h"

namespace lzero {
namespace {

constexpr absl::string_view kOwner = "vector_env";

bool SameSpec(const EnvSpec& a, const EnvSpec& b) {
  return a.id == b.id && a.observation.shape == b.observation.shape &&
         a.observation.low == b.observation.low && a.observation.high == b.observation.high &&
         a.action.kind == b.action.kind && a.action.num_actions == b.action.num_actions &&
         a.action.low == b.action.low && a.action.high == b.action.high &&
         a.num_players == b.num_players && a.num_chance_outcomes == b.num_chance_outcomes &&
         a.max_episode_steps == b.max_episode_steps;
}

void WriteTimeStep(StateWriter& writer, const EnvSpec& spec, const TimeStep& step) {
  writer.WriteVector(step.observation);
  writer.WriteVector(step.legal_action_mask);
  writer.Write(static_cast<int32_t>(step.to_play));
  writer.Write(step.reward);
  writer.Write(step.terminated);
  writer.Write(step.truncated);
  writer.Write(step.episode_return);
  if (spec.num_chance_outcomes > 0) writer.Write(step.chance_outcome);
}

TimeStep ReadTimeStep(StateReader& reader, const EnvSpec& spec) {
  TimeStep step;
  step.observation = reader.ReadVector<float>();
  step.legal_action_mask = reader.ReadVector<uint8_t>();
  step.to_play = reader.Read<int32_t>();
  step.reward = reader.Read<float>();
  step.terminated = reader.Read<bool>();
  step.truncated = reader.Read<bool>();
  step.episode_return = reader.Read<double>();
  if (spec.num_chance_outcomes > 0) step.chance_outcome = reader.Read<int32_t>();
  return step;
}

bool FitsSpec(const TimeStep& step, const EnvSpec& spec) {
  return static_cast<int64_t>(step.observation.size()) == spec.observation.size() &&
         step.to_play >= 0 && step.to_play < spec.num_players &&
         step.chance_outcome < std::max(1, spec.num_chance_outcomes) &&
         (spec.action.kind == ActionKind::kBox ||
          static_cast<int>(step.legal_action_mask.size()) == spec.action.num_actions);
}

}  // namespace

VectorEnv::VectorEnv(std::vector<std::unique_ptr<Env>> envs, ThreadPool* pool)
    : envs_(std::move(envs)), last_(envs_.size()), pool_(pool) {}

absl::StatusOr<std::unique_ptr<VectorEnv>> VectorEnv::Create(std::vector<std::unique_ptr<Env>> envs,
                                                             ThreadPool* pool) {
  LZ_CHECK(pool != nullptr, "VectorEnv needs a pool");
  if (envs.empty()) {
    return absl::InvalidArgumentError("a vector environment needs at least 1 environment, got 0");
  }
  for (size_t i = 1; i < envs.size(); ++i) {
    if (!SameSpec(envs[0]->spec(), envs[i]->spec())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "environment ", i, " ('", envs[i]->spec().id, "') has another spec than environment 0 ('",
          envs[0]->spec().id, "'); a vector environment needs equal ids, shapes, bounds and caps"));
    }
  }
  return std::unique_ptr<VectorEnv>(new VectorEnv(std::move(envs), pool));
}

void VectorEnv::Reset(EnvId id, uint64_t seed) { last_[id.value] = envs_[id.value]->Reset(seed); }

absl::Status VectorEnv::Step(absl::Span<const EnvId> ids, absl::Span<const Action> actions) {
  LZ_CHECK(ids.size() == actions.size(), ids.size(), " ids and ", actions.size(), " actions");
  // Check the ids and part the environments.
  std::vector<uint8_t> named(envs_.size(), 0);
  jobs_.clear();
  alone_.clear();
  for (size_t i = 0; i < ids.size(); ++i) {
    const int id = ids[i].value;
    LZ_CHECK(id >= 0 && id < num_envs(), "environment ", id, " of ", num_envs());
    LZ_CHECK(named[id] == 0, "environment ", id, " is stepped twice in one call");
    named[id] = 1;
    EnvBatch* const batch = envs_[id]->batch();
    if (batch == nullptr) {
      alone_.push_back(i);
      continue;
    }
    auto job = std::find_if(jobs_.begin(), jobs_.end(),
                            [batch](const Job& other) { return other.batch == batch; });
    if (job == jobs_.end()) job = jobs_.insert(job, {batch, {}, {}, {}});
    job->members.push_back(i);
    job->envs.push_back(envs_[id].get());
    job->actions.push_back(actions[i]);
  }
  // Start worker processes, step the others on the pool, then collect the workers' answers.
  for (const Job& job : jobs_) job.batch->Begin(job.envs, job.actions);
  std::vector<absl::StatusOr<TimeStep>> results(ids.size(), absl::UnknownError("not stepped"));
  pool_->Run(static_cast<int64_t>(alone_.size()), [&](int64_t k) {
    const size_t i = alone_[k];
    results[i] = envs_[ids[i].value]->Step(actions[i]);
  });
  for (const Job& job : jobs_) {
    std::vector<absl::StatusOr<TimeStep>> stepped(job.members.size(),
                                                  absl::UnknownError("not stepped"));
    job.batch->Finish(absl::MakeSpan(stepped));
    for (size_t k = 0; k < stepped.size(); ++k) results[job.members[k]] = std::move(stepped[k]);
  }
  // Keep what was reached; the first error is returned.
  absl::Status first = absl::OkStatus();
  for (size_t i = 0; i < ids.size(); ++i) {
    if (results[i].ok()) {
      last_[ids[i].value] = std::move(results[i]).value();
    } else if (first.ok()) {
      first = Annotate(results[i].status(), absl::StrCat("environment ", ids[i].value));
    }
  }
  return first;
}

absl::StatusOr<std::string> VectorEnv::Save(EnvId id) const {
  absl::StatusOr<std::string> state = envs_[id.value]->Save();
  if (!state.ok()) return Annotate(state.status(), absl::StrCat("environment ", id.value));
  StateWriter writer(kOwner);
  writer.WriteString(*state);
  WriteTimeStep(writer, spec(), last_[id.value]);
  return writer.Take();
}

absl::Status VectorEnv::Load(EnvId id, const std::string& state) {
  const std::string where = absl::StrCat("environment ", id.value);
  StateReader reader(kOwner, state);
  const std::string env_state = reader.ReadString();
  TimeStep last = ReadTimeStep(reader, spec());
  LZ_RETURN_IF_ERROR(Annotate(reader.Finish(), where));
  // Before the first Reset there is no time step yet.
  if (!last.observation.empty() && !FitsSpec(last, spec())) {
    return Annotate(reader.Impossible("its last time step does not fit the environment"), where);
  }
  LZ_RETURN_IF_ERROR(Annotate(envs_[id.value]->Load(env_state), where));
  last_[id.value] = std::move(last);
  return absl::OkStatus();
}

}  // namespace lzero
