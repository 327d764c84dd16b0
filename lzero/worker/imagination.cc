#include "lzero/worker/imagination.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/worker/episode_tracker.h"

namespace lzero {
namespace {

constexpr float kForetoldWin = 0.5f;  // a reward above it

// One imagined step: the child's number is its place among the steps of its root, from 1 on.
struct ImaginedStep {
  int32_t parent = 0;
  int32_t action = 0;
  int depth = 0;      // of a move that is judged; 0: of a path
  bool wins = false;  // so the rules say
  // A path keeps the legal moves behind it, where moves of depth `next_depth` begin.
  int next_depth = 0;
  std::vector<uint8_t> legal = {};
};

// A position of a game and what is imagined behind it.
struct Scene {
  EpisodeTracker tracker;
  TimeStep step;
  std::string state;
  std::vector<ImaginedStep> steps;
};

int32_t RandomLegal(const TimeStep& step, RandomStream* random) {
  std::vector<int32_t> legal;
  for (size_t a = 0; a < step.legal_action_mask.size(); ++a) {
    if (step.legal_action_mask[a] != 0) legal.push_back(static_cast<int32_t>(a));
  }
  return legal[static_cast<size_t>(random->UniformInt(static_cast<int64_t>(legal.size())))];
}

// Plays `action` at the position that `state` saves.
absl::StatusOr<TimeStep> StepFrom(const std::string& state, int32_t action, Env* env) {
  LZ_RETURN_IF_ERROR(env->Load(state));
  return env->Step(Action::Discrete(action));
}

// All that is asked behind the scene's position: every legal move, a random one that does not end
// the game, every move behind it, and so on.
absl::Status FillSteps(int max_depth, Env* env, RandomStream* random, Scene* scene) {
  TimeStep at = scene->step;
  std::string state = scene->state;
  int32_t node = 0;
  for (int depth = 1; depth <= max_depth; ++depth) {
    for (size_t a = 0; a < at.legal_action_mask.size(); ++a) {
      if (at.legal_action_mask[a] == 0) continue;
      LZ_ASSIGN_OR_RETURN(const TimeStep next, StepFrom(state, static_cast<int32_t>(a), env));
      scene->steps.push_back({node, static_cast<int32_t>(a), depth, next.reward > kForetoldWin});
    }
    if (depth == max_depth) break;
    const int32_t action = RandomLegal(at, random);
    LZ_ASSIGN_OR_RETURN(at, StepFrom(state, action, env));
    if (at.ended()) break;
    LZ_ASSIGN_OR_RETURN(state, env->Save());
    scene->steps.push_back({node, action, 0, false, depth + 1, at.legal_action_mask});
    node = static_cast<int32_t>(scene->steps.size());
  }
  return absl::OkStatus();
}

// The softmax of `logits` on moves that are not legal.
double IllegalPolicy(absl::Span<const float> logits, const std::vector<uint8_t>& legal) {
  const float largest = *std::max_element(logits.begin(), logits.end());
  double all = 0.0, illegal = 0.0;
  for (size_t a = 0; a < logits.size(); ++a) {
    const double weight = std::exp(static_cast<double>(logits[a] - largest));
    all += weight;
    if (legal[a] == 0) illegal += weight;
  }
  return illegal / all;
}

// `value` of the position behind, as it counts at the step's own.
void Judge(const ImaginedStep& step, float reward, float value, absl::Span<const float> logits,
           ImaginationReport* report) {
  if (step.depth == 0) {
    ImaginedMoves& moves = report->depths[static_cast<size_t>(step.next_depth - 1)];
    ++moves.num_nodes;
    moves.illegal_policy += IllegalPolicy(logits, step.legal);
    return;
  }
  ImaginedMoves& moves = report->depths[static_cast<size_t>(step.depth - 1)];
  const bool is_foretold = reward > kForetoldWin;
  ++moves.num_moves;
  moves.num_wins += step.wins;
  if (step.wins) moves.value_behind += std::abs(static_cast<double>(value));
  moves.num_found += step.wins && is_foretold;
  moves.num_false_alarms += !step.wins && is_foretold;
}

// Runs the steps of all scenes, one of each at a time.
absl::Status Imagine(absl::Span<const Scene> scenes, InferenceModel* model,
                     ImaginationReport* report) {
  const size_t count = scenes.size(), width = static_cast<size_t>(model->num_actions());
  std::vector<Root> roots;
  size_t num_steps = 0;
  for (size_t i = 0; i < count; ++i) {
    roots.push_back(scenes[i].tracker.MakeRoot(EnvId(static_cast<int64_t>(i)), scenes[i].step));
    roots.back().state = scenes[i].state;
    model->EndEpisode(roots.back().env);
    num_steps = std::max(num_steps, scenes[i].steps.size());
  }
  std::vector<float> logits(count * width), values(count), rewards(count), discounts(count);
  model->BeginSearch({});
  LZ_RETURN_IF_ERROR(
      model->InitialInference(roots, absl::MakeSpan(logits), absl::MakeSpan(values)));
  std::vector<NodeId> parents(count), children(count);
  std::vector<int32_t> actions(count);
  for (size_t s = 0; s < num_steps; ++s) {
    // A scene that has no more steps repeats its first one, which nobody judges.
    for (size_t i = 0; i < count; ++i) {
      const std::vector<ImaginedStep>& steps = scenes[i].steps;
      const ImaginedStep& step = s < steps.size() ? steps[s] : steps[0];
      parents[i] = NodeId(step.parent);
      actions[i] = step.action;
      children[i] = NodeId(static_cast<int32_t>(s + 1));
    }
    LZ_RETURN_IF_ERROR(model->RecurrentInference(parents, actions, children,
                                                 absl::MakeSpan(rewards), absl::MakeSpan(discounts),
                                                 absl::MakeSpan(values), absl::MakeSpan(logits)));
    for (size_t i = 0; i < count; ++i) {
      if (s >= scenes[i].steps.size()) continue;
      Judge(scenes[i].steps[s], rewards[i], discounts[i] * values[i],
            absl::MakeConstSpan(logits).subspan(i * width, width), report);
    }
  }
  report->num_positions += static_cast<int64_t>(count);
  return absl::OkStatus();
}

absl::Status CheckGame(const EnvSpec& spec, const InferenceModel& model) {
  if (spec.num_players != 2 || spec.num_chance_outcomes > 0 || model.num_chance_outcomes() > 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "imagination is measured in games for two players without chance; this agent plays ",
        spec.id));
  }
  if (model.sampled_actions() != nullptr) {
    return absl::FailedPreconditionError(
        "imagination is measured where all actions are searched, and this agent samples them; add "
        "search.num_sampled_actions=null");
  }
  if (spec.can_save) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat("environment '", spec.id, "' cannot be saved"));
}

}  // namespace

double ImaginedMoves::recall() const {
  return num_wins == 0 ? 1.0 : static_cast<double>(num_found) / static_cast<double>(num_wins);
}

double ImaginedMoves::false_alarm_rate() const {
  const int64_t others = std::max<int64_t>(1, num_moves - num_wins);
  return static_cast<double>(num_false_alarms) / static_cast<double>(others);
}

int64_t ImaginedNodes(int64_t num_actions, int max_depth) { return max_depth * (num_actions + 1); }

absl::StatusOr<ImaginationReport> MeasureImagination(Evaluator& evaluator,
                                                     const EnvFactory& make_env,
                                                     absl::Span<const uint64_t> seeds,
                                                     int max_depth,
                                                     const std::function<bool()>& stop) {
  LZ_RETURN_IF_ERROR(CheckGame(evaluator.spec(), *evaluator.model()));
  LZ_ASSIGN_OR_RETURN(const auto env, make_env());
  ImaginationReport report;
  report.depths.resize(static_cast<size_t>(max_depth));
  std::vector<Scene> scenes;
  const auto imagine = [&] {
    const absl::Status imagined = Imagine(scenes, evaluator.model(), &report);
    scenes.clear();
    return imagined;
  };
  for (const uint64_t seed : seeds) {
    if (stop && stop()) return absl::CancelledError("measurement interrupted");
    RandomStream random(seed, "imagination");
    TimeStep step = env->Reset(seed);
    EpisodeTracker tracker(evaluator.max_past_steps(), evaluator.spec().observation.size());
    tracker.Begin(step.observation);
    while (!step.ended()) {
      LZ_ASSIGN_OR_RETURN(std::string state, env->Save());
      scenes.push_back({tracker, step, state, {}});
      LZ_RETURN_IF_ERROR(FillSteps(max_depth, env.get(), &random, &scenes.back()));
      const int32_t action = RandomLegal(step, &random);
      LZ_ASSIGN_OR_RETURN(step, StepFrom(state, action, env.get()));
      tracker.Add(action, {}, step.observation);
      if (static_cast<int>(scenes.size()) == evaluator.num_envs()) LZ_RETURN_IF_ERROR(imagine());
    }
  }
  if (!scenes.empty()) LZ_RETURN_IF_ERROR(imagine());
  for (ImaginedMoves& moves : report.depths) {
    moves.illegal_policy /= static_cast<double>(std::max<int64_t>(1, moves.num_nodes));
    moves.value_behind /= static_cast<double>(std::max<int64_t>(1, moves.num_wins));
  }
  return report;
}

}  // namespace lzero
