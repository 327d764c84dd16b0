#include "lzero/train/run_rules.h"

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/machine.h"
#include "lzero/config/consistency.h"
#include "lzero/config/model/support_range.h"
#include "lzero/env/env_rules.h"
#include "lzero/family/packed/families.h"
#include "lzero/player/play_rules.h"
#include "lzero/replay/batch/shift_augmenter.h"
#include "lzero/replay/replay_plan.h"
#include "lzero/train/build.h"
#include "lzero/train/run_plan.h"
#include "lzero/train/task/task_rules.h"

namespace lzero {
namespace {

using Errors = std::vector<ConsistencyError>;

void Append(Errors more, Errors* errors) {
  for (ConsistencyError& error : more) errors->push_back(std::move(error));
}

}  // namespace

Errors AugmentErrors(const ReplayConfig& replay, const ReplayShape& shape, const EnvSpec& spec) {
  Errors errors;
  if (replay.augment_symmetries) {
    const std::vector<std::string> keys = {"replay.augment_symmetries", "env.id"};
    Require(!shape.symmetries.empty(), &errors, keys,
            "got true, but the environment declares no symmetries");
    Require(
        shape.action_dim == 0, &errors, keys,
        "got true, but symmetries say nothing of the environment's box actions; allowed: false");
    for (const Symmetry& symmetry : shape.symmetries) {
      const std::string problem = SymmetryProblem(symmetry, shape.observation_size,
                                                  shape.num_actions, shape.num_chance_outcomes);
      Require(problem.empty(), &errors, keys,
              absl::StrCat("a symmetry of the environment is wrong: ", problem));
    }
  }
  const auto need_picture = [&](const char* key, double value) {
    Require(value == 0.0 || spec.observation.type == ObservationType::kUint8, &errors,
            {key, "env.id"},
            absl::StrCat("got ", value, ", but ", spec.id, " shows ",
                         spec.num_players == 2 ? "a board" : "no picture of bytes",
                         ", where every place means something; allowed: 0"));
  };
  if (replay.augment_shift != 0) {
    const std::string problem = ShiftProblem(shape.observation_shape, replay.augment_shift);
    Require(problem.empty(), &errors, {"replay.augment_shift", "env.id"}, problem);
  }
  need_picture("replay.augment_shift", static_cast<double>(replay.augment_shift));
  need_picture("replay.augment_intensity", replay.augment_intensity);
  return errors;
}

Errors ReanalyzeErrors(const ExperimentConfig& config, const ModelFamily& family) {
  const ReplayConfig& replay = config.replay;
  if (!replay.reanalyzes() || family.can_reanalyze) return {};
  const bool by_share = replay.fresh_share > 0.0;
  return {{{by_share ? "replay.fresh_share" : "replay.reanalyze_ratio", "model.family"},
           absl::StrCat("got ", by_share ? replay.fresh_share : replay.reanalyze_ratio,
                        ", but this family searches from the environment's own ",
                        "state, which replay does not store; allowed: 0, or another "
                        "model.family")}};
}

Errors ScoreErrors(const ExperimentConfig& config, const EnvRegistry& registry) {
  const ScoreConfig& score = config.score;
  Errors errors;
  Require(score.random.has_value() == score.expert.has_value(), &errors,
          {"score.random", "score.expert"},
          "a score has both ends; got one of random and expert; allowed: both, or null for both");
  Require(!score.is_set() || *score.random != *score.expert, &errors,
          {"score.expert", "score.random"}, "must differ from random; got ",
          score.expert.value_or(0.0), " for both");
  if (score.measure == ScoreMeasure::kGrade) {
    const auto grader = registry.MakeGrader(config.env.id);
    Require(grader.ok(), &errors, {"score.measure", "env.id"},
            "grade: ", grader.status().message());
  }
  return errors;
}

Errors ThreadErrors(const ExperimentConfig& config, int cores) {
  Errors errors;
  const std::pair<const char*, int64_t> counts[] = {
      {"env.num_threads", config.env.num_threads},
      {"train.num_threads", config.train.threads()},
      {"inference.num_threads", config.inference.threads()}};
  for (const auto& [key, count] : counts) {
    Require(count <= cores, &errors, {key},
            absl::StrCat("got ", count, ", but this machine has ", cores,
                         cores == 1 ? " core" : " cores", "; allowed: 1 to ", cores));
  }
  return errors;
}

namespace {

// What a game for two players does not allow.
Errors GameErrors(const ExperimentConfig& config, const EnvSpec& spec) {
  Errors errors;
  const auto values = ParseSupportRange(config.model.value_support);
  if (values.ok() && values->has_value() &&
      ((*values)->min != -(*values)->max || (*values)->max < 1)) {
    errors.push_back({{"model.value_support", "env.id"},
                      absl::StrCat("got min ", (*values)->min, ", max ", (*values)->max,
                                   ", but a win is worth 1 in ", spec.id,
                                   " and the other's loss -1; allowed: a min of -max, a max of 1 "
                                   "or more")});
  }
  const auto rewards = ParseSupportRange(config.model.reward_support);
  if (rewards.ok() && rewards->has_value() && ((*rewards)->min > 0 || (*rewards)->max < 1)) {
    errors.push_back({{"model.reward_support", "env.id"},
                      absl::StrCat("got min ", (*rewards)->min, ", max ", (*rewards)->max,
                                   ", but the moves of ", spec.id,
                                   " earn 0, a win 1; allowed: a min of 0 or less, a max of 1 or "
                                   "more")});
  }
  if (config.env.count_bonus > 0.0) {
    errors.push_back({{"env.count_bonus", "env.id"},
                      absl::StrCat("got ", config.env.count_bonus, ", but what one player of ",
                                   spec.id, " earns the other loses; allowed: 0")});
  }
  if (config.replay.num_context_steps > 0) {
    errors.push_back({{"replay.num_context_steps", "env.id"},
                      absl::StrCat("got ", config.replay.num_context_steps, ", but roots of ",
                                   spec.id, ", a game for two players, have no past; allowed: 0")});
  }
  return errors;
}

}  // namespace

Errors SpecErrors(const ExperimentConfig& config, const EnvSpec& spec) {
  const ModelFamily& family = FamilyOf(config.model);
  Errors errors = family.model_errors(config.model);
  Append(PlayErrors(config, spec), &errors);
  // The shapes below follow from the actions.
  if (!ActionErrors(config.search, spec).empty()) return errors;
  const ReplayShape shape = BuildReplayShape(config, spec);
  Append(AugmentErrors(config.replay, shape, spec), &errors);
  Append(ReplayErrors(config.replay, shape), &errors);
  Append(ReanalyzeErrors(config, family), &errors);
  if (spec.num_players == 2) Append(GameErrors(config, spec), &errors);
  Require(config.env.count_bonus == 0.0 || family.can_reanalyze, &errors,
          {"env.count_bonus", "model.family"},
          absl::StrCat("got ", config.env.count_bonus, ", but this family searches for the ",
                       "environment's own rewards; allowed: 0, or another model.family"));
  if (config.stop.target_return.has_value() && spec.num_players != 1 &&
      config.score.measure != ScoreMeasure::kGrade) {
    errors.push_back(
        {{"stop.target_return", "env.id"},
         absl::StrCat("got ", *config.stop.target_return, ", but ", spec.id,
                      " is a game for two players: the return of self-play says nothing about "
                      "strength; allowed: null, with stop.max_env_steps or stop.max_updates")});
  }
  return errors;
}

Errors RunErrors(const ExperimentConfig& config, const EnvRegistry& registry) {
  if (!config.tasks.empty()) return TasksErrors(config, registry);
  Errors errors = EnvErrors(config, registry);
  const auto all = RegistryWithPlugins(config, registry);
  if (!all.ok()) return errors;
  const auto spec = BuildEnvSpec(config, *all);
  if (!spec.ok()) {
    if (errors.empty()) errors.push_back({{"env.id"}, std::string(spec.status().message())});
    Append(FamilyOf(config.model).model_errors(config.model), &errors);
    return errors;
  }
  Append(SpecErrors(config, *spec), &errors);
  if (config.name.empty()) Append(SharingErrors({config}, {*spec}), &errors);
  Append(ThreadErrors(config, MachineCores()), &errors);
  Append(ScoreErrors(config, *all), &errors);
  if (!errors.empty()) return errors;
  Append(UnreadSettings(config), &errors);
  Append(UnreadWorkerSettings(config, *all), &errors);
  Append(UnreadErrors(config, FamilyOf(config.model).unread_fields(config.model), "model.family"),
         &errors);
  // No network is made of sizes that the rules between fields refuse; who reads them reports them.
  if (!ConsistencyErrors(config).empty()) return errors;
  const auto memory = PlanMemory(config, *spec, *all);
  if (!memory.ok()) return errors;
  const absl::Status fits = CheckMemoryPlan(*memory, MachineMemoryBytes());
  if (!fits.ok()) errors.push_back({WhatToLower(*memory), std::string(fits.message())});
  return errors;
}

ConfigRule RunRule(const EnvRegistry& registry) {
  return [&registry](const ExperimentConfig& config) { return RunErrors(config, registry); };
}

}  // namespace lzero
