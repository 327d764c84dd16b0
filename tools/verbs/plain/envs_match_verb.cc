#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "envs/boards/players/match.h"
#include "envs/boards/players/opponents.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/text/printable.h"
#include "lzero/base/thread_pool.h"
#include "tools/verbs/plain/envs_verb.h"
#include "tools/verbs/support/interrupt.h"
#include "tools/verbs/support/match_report.h"

namespace lzero {
namespace {

absl::StatusOr<MatchReport> RunMatch(const EnvRegistry& registry, const EnvsMatchOptions& options) {
  LZ_ASSIGN_OR_RETURN(const EnvOptions env_options, OptionsOf(options.target));
  LZ_ASSIGN_OR_RETURN(const std::unique_ptr<BoardEnv> env,
                      MakeMatchEnv(registry, options.target.id, env_options));
  if (options.num_games < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("--games is ", options.num_games, "; allowed: 1 or more"));
  }
  ThreadPool pool(1);
  LZ_ASSIGN_OR_RETURN(
      const std::unique_ptr<MatchSide> first,
      MakeOpponentSide(options.first, StreamKey(options.seed, "match player", 0), &pool));
  LZ_ASSIGN_OR_RETURN(
      const std::unique_ptr<MatchSide> second,
      MakeOpponentSide(options.second, StreamKey(options.seed, "match player", 1), &pool));
  MatchReport report;
  report.game = GameText(options.target.id, options.target.settings);
  report.sides[0].name = options.first;
  report.sides[1].name = options.second;
  report.plan.num_games = options.num_games;
  report.plan.seed = options.seed;
  LZ_ASSIGN_OR_RETURN(report.result, PlayMatch(*env, *first, *second, report.plan));
  return report;
}

}  // namespace

int EnvsMatch(const EnvRegistry& registry, const EnvsMatchOptions& options,
              const Console& console) {
  const absl::StatusOr<MatchReport> report = RunMatch(registry, options);
  if (!report.ok()) {
    console.err << "error: " << PrintableMessage(report.status().message()) << "\n";
    return kExitUsage;
  }
  console.out << MatchTable(*report);
  return kExitOk;
}

}  // namespace lzero
