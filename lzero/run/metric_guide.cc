#include "lzero/run/metric_guide.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lzero/base/nearest.h"
#include "lzero/config/scalar_text.h"

namespace lzero {
namespace {

struct MetricEntry {
  const char* name;  // K at its end stands for a number
  const char* meaning;
};

constexpr MetricEntry kEntries[] = {
    {"env_steps", "Steps of all collecting environments since the start of the run"},
    {"updates", "Updates of the learner since the start of the run"},
    {"eval/return_mean",
     "Mean undiscounted return of the episodes of one evaluation, played greedily; of a game for "
     "two players that of player 0"},
    {"eval/grade",
     "Share of optimal moves of the search, in a game that is solved (score.measure: grade)"},
    {"score/mean",
     "Mean of the tasks' normalised scores, each within 0 and 1.2 (`score` in the config); where "
     "there are several tasks, what belongs to one begins with task/NAME/"},
    {"score/median", "Median of the same"},
    {"score/iqm", "Interquartile mean of the same"},
    {"score/worst", "Lowest of the same"},
    {"score", "Normalised score of a task, task/NAME/score, not bounded"},
    {"conflict/cosine_min",
     "Lowest cosine between two tasks' gradients of the shared parts, of the tasks that were "
     "served in the last round of updates; not where updates are recorded on a GPU"},
    {"conflict/NAME_A/NAME_B", "That cosine of these two tasks"},
    {"conflict/negative_share", "Share of the pairs of tasks whose cosine is below 0"},
    {"eval/value_bias",
     "Mean of root value minus the discounted return that followed, over the steps of one "
     "evaluation. All values are of one network: the first place to look whether values can be "
     "trusted. Above 0: they promise too much. In a game for two each value and return is the "
     "mover's. With env.count_bonus values "
     "hold the bonus, and returns of evaluations do not. Where an episode was truncated, the last "
     "root "
     "value stands for the rest"},
    {"eval/value_error", "Mean of |root value - discounted return that followed|, as value_bias"},
    {"eval/value_correlation",
     "Correlation of root values with the returns that followed, -1 to 1, as value_bias; 0 where "
     "one of them does not vary"},
    {"calibration/value_K",
     "The steps of one evaluation in ten groups of equal number, by their root value, lowest "
     "first: "
     "mean root value of group K"},
    {"calibration/return_K",
     "Mean discounted return that followed in group K of calibration/value_K. Values that can be "
     "trusted have it equal to them in every group"},
    {"collect/return_mean",
     "Mean undiscounted return of the collected episodes that ended since the last line; with "
     "noise, temperature and random openings"},
    {"collect/length_mean", "Mean steps of the same episodes"},
    {"collect/interrupted_episodes", "Episodes whose environment's process died"},
    {"collect/value_bias",
     "As eval/value_bias, over the episodes that ended since the last line. An episode's first "
     "values are older than its last: while values grow, long episodes show a bias below 0 that "
     "evaluations do not"},
    {"collect/value_error", "As eval/value_error, of the same episodes as collect/value_bias"},
    {"collect/value_correlation",
     "As eval/value_correlation, of the same episodes as collect/value_bias"},
    {"collect/count_bonus", "Reward by env.count_bonus, mean of a step"},
    {"collect/explored_share", "Share of actions that search.epsilon took at random"},
    {"search/root_value", "Mean value of the root after the collector's searches, discounted"},
    {"search/depth_mean", "Mean depth at which a simulation ends, in edges below the root"},
    {"search/entropy", "Mean entropy of the policy that a search gives as target, nats"},
    {"loss/total",
     "What is minimised: the losses below with their weights (loss.*_weight), less that of the "
     "policy's entropy; samples count with their importance weights, which in the terms they do "
     "not. As all numbers of updates, a mean since the last line"},
    {"loss/latent",
     "Distance of predicted from encoded latents, as model.latent_loss says; mean over the valid "
     "positions of each sample, then over the batch, as all losses"},
    {"loss/reward", "Cross-entropy of the reward's distribution over its support, nats"},
    {"loss/value", "Cross-entropy of the value's distribution over its support, nats"},
    {"loss/policy",
     "Cross-entropy of the policy head against the search's policy, nats; of box actions the "
     "negative log density of the sampled actions, which may be below 0"},
    {"loss/chance", "Cross-entropy of the foretold chance outcome, nats (stochastic_muzero)"},
    {"loss/afterstate_value",
     "Cross-entropy of the value after an action and before chance, nats (stochastic_muzero)"},
    {"chance/entropy", "Entropy of the foretold chance outcomes, nats (stochastic_muzero)"},
    {"policy/entropy",
     "Entropy of the policy head over legal actions, nats; near 0 early: it has settled too soon. "
     "For box actions that of the normal distribution before tanh, which may be below 0"},
    {"value/mean", "Mean predicted value over the valid positions of a batch"},
    {"value/error", "Mean of |predicted value - target| over the same positions"},
    {"latent/spread",
     "Standard deviation of latents over a batch, of muzero the imagined ones among them; near 0 "
     "when they have collapsed: all look alike (after 1,000 updates a warning says so)"},
    {"latent/norm",
     "Mean L2 norm of the same latents; with model.latent_norm layer_norm always near the root of "
     "their size"},
    {"open_loop/reward_K",
     "After K imagined steps: mean of |imagined - real reward| of the last one. Grows with K; "
     "where it is as large as rewards are, to search deeper gains nothing. As all open_loop, "
     "measured on a batch of steps that were really played, when 4 train.log_every_updates have "
     "passed"},
    {"open_loop/value_K",
     "After K imagined steps: mean of |value of the imagined state - value of the real one|, both "
     "by the same network"},
    {"open_loop/latent_K",
     "After K imagined steps: mean squared difference between the imagined and the encoded "
     "latent"},
    {"grad/norm", "L2 norm of the gradient before it is clipped"},
    {"grad/clipped", "Share of updates whose gradient was clipped to train.grad_clip"},
    {"train/learning_rate", "Learning rate, mean since the last line"},
    {"replay/size", "Transitions stored now"},
    {"replay/eligible", "Positions that can be sampled now; 0: nothing is learned yet"},
    {"replay/mebibytes", "Memory of the stored steps, MiB"},
    {"replay/reuse",
     "Positions sampled for each transition stored, over the whole run; each begins a sequence of "
     "replay.num_unroll_steps"},
    {"replay/age", "Transitions stored since the sampled ones, mean of a batch"},
    {"replay/fresh_share",
     "Share of the samples whose search is no older than replay.fresh_updates"},
    {"reanalyze/positions", "Stored positions searched again, over the whole run"},
    {"reanalyze/share_of_stored", "Positions searched again since the last line / replay/size"},
    {"reanalyze/value_change", "Mean of |new - old root value|"},
    {"reanalyze/policy_change", "Total variation between new and old policy, 0 to 1"},
    {"reanalyze/age", "Transitions stored since the positions that were searched again, mean"},
    {"cache/mebibytes", "Memory of the collector's key/value cache, MiB"},
    {"cache/roots_rebuilt", "Roots whose context was computed from their past, over this session"},
    {"cache/roots_continued", "Roots that went on from the context of the step before"},
    {"cache/roots_carried",
     "Those among roots_continued with keys of older weights (inference.root_context carry)"},
    {"time/wall_seconds", "Time that the run has taken in all its sessions, seconds"},
    {"time/env_steps_per_s", "Env steps a second since the last line"},
    {"time/updates_per_s", "Updates a second since the last line"},
    {"time/sims_per_s", "Simulations of collector and reanalyzer a second since the last line"},
    {"time/share_env", "Share of the time measured in this session: in environments"},
    {"time/share_tree", "Share in the trees of searches"},
    {"time/share_network", "Share in the network of searches"},
    {"time/share_copy",
     "Share in copying weights, storing and sampling steps, writing checkpoints"},
    {"time/share_learn", "Share in updates"},
    {"time/share_reanalyze", "Share in searching stored positions again"},
    {"time/share_evaluate", "Share in evaluations"},
};

// "open_loop/value_3" -> "open_loop/value_K".
std::string Pattern(absl::string_view name) {
  size_t end = name.size();
  while (end > 0 && absl::ascii_isdigit(static_cast<unsigned char>(name[end - 1]))) --end;
  if (end == name.size() || end == 0 || name[end - 1] != '_') return std::string(name);
  return absl::StrCat(name.substr(0, end), "K");
}

// "task/pong/loss/value" -> "loss/value".
absl::string_view WithoutTask(absl::string_view name) {
  const std::vector<absl::string_view> parts = absl::StrSplit(name, '/');
  if (parts[0] != "task" || parts.size() < 3) return name;
  return name.substr(parts[0].size() + parts[1].size() + 2);
}

// "conflict/pong/boxing".
bool IsPairOfTasks(absl::string_view name) {
  const std::vector<absl::string_view> parts = absl::StrSplit(name, '/');
  return parts[0] == "conflict" && parts.size() == 3;
}

bool IsMeant(const MetricEntry& entry, absl::string_view name) {
  const std::string whole = entry.name;
  return name.empty() || whole == name || absl::StartsWith(whole, absl::StrCat(name, "/")) ||
         absl::EndsWith(whole, absl::StrCat("/", name));
}

}  // namespace

absl::StatusOr<std::string> ExplainMetric(absl::string_view name) {
  const std::string pattern =
      IsPairOfTasks(name) ? "conflict/NAME_A/NAME_B" : Pattern(WithoutTask(name));
  std::string text;
  std::vector<std::string> names;
  for (const MetricEntry& entry : kEntries) {
    names.emplace_back(entry.name);
    if (IsMeant(entry, pattern)) absl::StrAppend(&text, entry.name, "\n  ", entry.meaning, ".\n");
  }
  if (!text.empty()) return text;
  return absl::NotFoundError(
      absl::StrCat("no metric ", QuotedForMessage(name), DidYouMean(pattern, names)));
}

bool IsExplainedMetric(absl::string_view name) {
  const absl::string_view own = WithoutTask(name);
  const std::string pattern = Pattern(own);
  return IsPairOfTasks(own) ||
         std::any_of(std::begin(kEntries), std::end(kEntries),
                     [&](const MetricEntry& entry) { return pattern == entry.name; });
}

}  // namespace lzero
