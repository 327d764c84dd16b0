#include "tools/verbs/player/eval_measures.h"

#include <atomic>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lzero/base/text/printable.h"
#include "lzero/player/build_player.h"
#include "lzero/statistics/bootstrap.h"
#include "lzero/worker/chance_calibration.h"
#include "lzero/worker/imagination.h"
#include "lzero/worker/move_grading.h"
#include "nlohmann/json.hpp"
#include "tools/verbs/support/interrupt.h"
#include "tools/verbs/support/usage_error.h"
#include "tools/verbs/support/verb_support.h"

namespace lzero {
namespace {

using OrderedJson = nlohmann::ordered_json;

// One object of what was evaluated, then what was `measured`. Paths are bytes; JSON is UTF-8.
void PrintJson(const LoadedAgent& agent, const OrderedJson& measured) {
  OrderedJson json = {{"checkpoint", agent.checkpoint_path},
                      {"env", agent.config.env.id},
                      {"env_steps", agent.env_steps}};
  if (!agent.config.name.empty()) json["task"] = agent.config.name;
  json.update(measured);
  std::printf("%s\n", json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace).c_str());
}

void PrintChance(const LoadedAgent& agent, size_t num_episodes, const ChanceReport& report) {
  std::printf("checkpoint    %s\n", EscapedForMessage(agent.checkpoint_path).c_str());
  std::printf("positions     %lld of %zu episodes, %d chance outcomes\n",
              static_cast<long long>(report.num_positions), num_episodes, report.num_outcomes);
  std::printf("log-loss      %.4f nats; the least possible %.4f, knowing nothing %.4f\n",
              report.cross_entropy, report.entropy, report.uniform_loss);
  std::printf("divergence    %.4f nats from the truth; %.2f %% given to what cannot come\n",
              report.divergence(), 100.0 * report.impossible);
  std::printf("calibration   error %.2f %%\n", 100.0 * report.calibration_error);
  std::printf("  predicted          pairs   mean predicted   mean true\n");
  for (const CalibrationBin& bin : report.bins) {
    if (bin.count == 0) continue;
    std::printf("  %.3f .. %.3f  %9lld          %7.4f     %7.4f\n", bin.lower, bin.upper,
                static_cast<long long>(bin.count), bin.mean_predicted, bin.mean_true);
  }
}

OrderedJson ChanceToJson(size_t num_episodes, const ChanceReport& report) {
  OrderedJson bins = OrderedJson::array();
  for (const CalibrationBin& bin : report.bins) {
    bins.push_back({{"lower", bin.lower},
                    {"upper", bin.upper},
                    {"pairs", bin.count},
                    {"mean_predicted", bin.mean_predicted},
                    {"mean_true", bin.mean_true}});
  }
  return {{"episodes", num_episodes},
          {"positions", report.num_positions},
          {"outcomes", report.num_outcomes},
          {"log_loss", report.cross_entropy},
          {"entropy", report.entropy},
          {"uniform_loss", report.uniform_loss},
          {"divergence", report.divergence()},
          {"impossible", report.impossible},
          {"calibration_error", report.calibration_error},
          {"bins", bins}};
}

OrderedJson CountsToJson(const GradeCounts& counts) {
  return {{"positions", counts.num_positions},
          {"optimal", counts.num_optimal},
          {"optimal_fraction", counts.optimal_fraction()},
          {"nontrivial", counts.num_nontrivial},
          {"nontrivial_optimal", counts.num_nontrivial_optimal}};
}

OrderedJson GradeToJson(const char* player, const GradeReport& grade) {
  OrderedJson blunders = OrderedJson::array();
  for (const Blunder& blunder : grade.blunders) {
    blunders.push_back({{"position", blunder.position},
                        {"action", blunder.action},
                        {"optimal", blunder.optimal_actions},
                        {"value_lost", blunder.value_lost}});
  }
  OrderedJson json = {{"player", player}};
  json.update(CountsToJson(grade));
  if (grade.has_lines()) {
    json["lines_as_first"] = grade.num_lines_as_first;
    json["lines_as_second"] = grade.num_lines_as_second;
    json["lost_lines_as_first"] = grade.lost_lines_as_first;
    json["lost_lines_as_second"] = grade.lost_lines_as_second;
  }
  for (const GradeGroup& group : grade.groups) {
    OrderedJson counts = {{"name", group.name}};
    counts.update(CountsToJson(group));
    json["groups"].push_back(counts);
  }
  json["blunders"] = blunders;
  return json;
}

std::string RecallText(const ImaginedMoves& moves) {
  return moves.num_wins > 0 ? absl::StrFormat("%.2f", 100.0 * moves.recall()) : "-";
}

// One line without its end.
void PrintCounts(const char* name, const GradeCounts& counts) {
  std::printf("%-18s  optimal moves %d of %d (%.2f %%), non-trivial %d of %d", name,
              static_cast<int>(counts.num_optimal), static_cast<int>(counts.num_positions),
              100.0 * counts.optimal_fraction(), static_cast<int>(counts.num_nontrivial_optimal),
              static_cast<int>(counts.num_nontrivial));
}

void PrintGrade(const char* player, const GradeReport& grade) {
  PrintCounts(player, grade);
  if (grade.has_lines()) {
    std::printf(
        "; lines lost as first %d of %d, as second %d of %d",
        static_cast<int>(grade.lost_lines_as_first), static_cast<int>(grade.num_lines_as_first),
        static_cast<int>(grade.lost_lines_as_second), static_cast<int>(grade.num_lines_as_second));
  }
  std::printf("\n");
  for (const GradeGroup& group : grade.groups) {
    PrintCounts(absl::StrCat("  ", group.name).c_str(), group);
    std::printf("\n");
  }
}

}  // namespace

void PrintReturns(bool json, const LoadedAgent& agent, const ReturnSummary& summary,
                  absl::Span<const EpisodeRow> episodes) {
  if (json) {
    OrderedJson seeds = OrderedJson::array(), returns = seeds, lengths = seeds;
    for (const EpisodeRow& episode : episodes) {
      seeds.push_back(episode.seed);
      returns.push_back(episode.episode_return);
      lengths.push_back(episode.length);
    }
    return PrintJson(agent, {{"simulations", agent.num_simulations},
                             {"episodes", summary.num_episodes},
                             {"return_mean", summary.mean},
                             {"return_median", summary.median},
                             {"return_iqm", summary.interquartile_mean},
                             {"return_iqm_95", {summary.interval.low, summary.interval.high}},
                             {"return_min", summary.min},
                             {"return_max", summary.max},
                             {"length_mean", summary.mean_length},
                             {"seeds", seeds},
                             {"returns", returns},
                             {"lengths", lengths}});
  }
  std::printf("checkpoint    %s\n", EscapedForMessage(agent.checkpoint_path).c_str());
  std::printf("environment   %s, %d simulations a move\n", agent.config.env.id.c_str(),
              static_cast<int>(agent.num_simulations));
  std::printf("episodes      %d, mean length %.1f\n", static_cast<int>(summary.num_episodes),
              summary.mean_length);
  std::printf("return        mean %.2f, median %.2f, min %.2f, max %.2f\n", summary.mean,
              summary.median, summary.min, summary.max);
  const std::string interval =
      summary.num_episodes < kFewestRunsForInterval
          ? absl::StrFormat("no interval below %d episodes", kFewestRunsForInterval)
          : absl::StrFormat("95%% interval %.2f .. %.2f", summary.interval.low,
                            summary.interval.high);
  std::printf("IQM           %.2f (%s)\n", summary.interquartile_mean, interval.c_str());
}

int EvalGrade(bool json, LoadedAgent& agent, const std::atomic<bool>* stop) {
  const auto grader = agent.registry.MakeGrader(agent.config.env.id);
  if (!grader.ok()) return PrintError(grader.status(), kExitUsage);
  // Grade the agent with search, then its policy head alone.
  OrderedJson players = OrderedJson::array();
  for (const bool with_search : {true, false}) {
    const auto grade = GradeMoves(
        **grader, with_search, [stop] { return stop->load(); }, agent.role.evaluator.get());
    if (absl::IsCancelled(grade.status())) return kExitInterrupted;
    if (!grade.ok()) return PrintError(grade.status(), kExitFailure);
    const std::string player =
        with_search ? absl::StrCat("search ", agent.num_simulations) : "policy alone";
    if (json) {
      players.push_back(GradeToJson(player.c_str(), *grade));
    } else {
      PrintGrade(player.c_str(), *grade);
    }
  }
  if (json) PrintJson(agent, {{"simulations", agent.num_simulations}, {"players", players}});
  return kExitOk;
}

int EvalChance(absl::Span<const uint64_t> seeds, bool json, LoadedAgent& agent,
               const std::atomic<bool>* stop) {
  const auto report =
      MeasureChance(*agent.role.evaluator, BuildEnvFactory(agent.config, agent.registry), seeds,
                    [stop] { return stop->load(); });
  if (absl::IsCancelled(report.status())) return kExitInterrupted;
  if (!report.ok()) {
    const bool is_usage =
        absl::IsFailedPrecondition(report.status()) || absl::IsUnimplemented(report.status());
    return PrintError(report.status(), is_usage ? kExitUsage : kExitFailure);
  }
  if (json) {
    PrintJson(agent, ChanceToJson(seeds.size(), *report));
  } else {
    PrintChance(agent, seeds.size(), *report);
  }
  return kExitOk;
}

int EvalImagination(absl::Span<const uint64_t> seeds, bool json, LoadedAgent& agent,
                    const std::atomic<bool>* stop) {
  ExperimentConfig config = agent.config;
  config.env.random_opening_fraction = 0.0;  // every ply of a game counts
  const auto report =
      MeasureImagination(*agent.role.evaluator, BuildEnvFactory(config, agent.registry), seeds,
                         kImaginedDepth, [stop] { return stop->load(); });
  if (absl::IsCancelled(report.status())) return kExitInterrupted;
  if (!report.ok()) {
    const bool is_usage =
        absl::IsFailedPrecondition(report.status()) || absl::IsUnimplemented(report.status());
    return PrintError(report.status(), is_usage ? kExitUsage : kExitFailure);
  }
  OrderedJson depths = OrderedJson::array();
  if (!json) {
    std::printf("positions     %d, of %d random games\n", static_cast<int>(report->num_positions),
                static_cast<int>(seeds.size()));
    std::printf(
        "depth         wins foretold           false alarms              value behind  illegal "
        "policy\n");
  }
  for (size_t i = 0; i < report->depths.size(); ++i) {
    const ImaginedMoves& moves = report->depths[i];
    const std::string who = i == 0 ? "own move" : i == 1 ? "reply" : "";
    if (json) {
      depths.push_back({{"depth", i + 1},
                        {"moves", moves.num_moves},
                        {"wins", moves.num_wins},
                        {"found", moves.num_found},
                        {"recall", moves.num_wins > 0 ? OrderedJson(moves.recall()) : nullptr},
                        {"false_alarms", moves.num_false_alarms},
                        {"false_alarm_rate", moves.false_alarm_rate()},
                        {"value_behind_wins", moves.value_behind},
                        {"illegal_policy", moves.illegal_policy}});
      continue;
    }
    std::printf("%d %-8s    %6s %% of %-12d  %6.3f %% of %-12d", static_cast<int>(i + 1),
                who.c_str(), RecallText(moves).c_str(), static_cast<int>(moves.num_wins),
                100.0 * moves.false_alarm_rate(),
                static_cast<int>(moves.num_moves - moves.num_wins));
    const std::string behind = absl::StrFormat("%.2f", moves.value_behind);
    std::printf("  %12s", moves.num_wins > 0 ? behind.c_str() : "-");
    std::printf(i == 0 ? "\n" : "  %6.2f %%\n", 100.0 * moves.illegal_policy);
  }
  if (json) {
    PrintJson(agent,
              {{"games", seeds.size()}, {"positions", report->num_positions}, {"depths", depths}});
  }
  return kExitOk;
}

}  // namespace lzero
