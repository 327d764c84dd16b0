#include "tools/envs_match_verb.h"

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "envs/boards/board_env.h"
#include "envs/boards/match.h"
#include "envs/boards/opponents.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

constexpr int kOk = 0;
constexpr int kUsage = 2;

absl::StatusOr<MatchResult> RunMatch(const EnvRegistry& registry, const EnvsMatchOptions& options) {
  LZ_ASSIGN_OR_RETURN(const EnvOptions env_options, OptionsOf(options.target));
  LZ_ASSIGN_OR_RETURN(const std::unique_ptr<Env> env,
                      registry.Make(options.target.id, env_options));
  auto* board_env = dynamic_cast<BoardEnv*>(env.get());
  if (board_env == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("environment '", options.target.id, "' is no board game for two players"));
  }
  if (options.num_games < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("--games is ", options.num_games, "; allowed: 1 or more"));
  }
  LZ_ASSIGN_OR_RETURN(const std::unique_ptr<Player> first,
                      MakeOpponent(options.first, StreamKey(options.seed, "match player", 0)));
  LZ_ASSIGN_OR_RETURN(const std::unique_ptr<Player> second,
                      MakeOpponent(options.second, StreamKey(options.seed, "match player", 1)));
  return PlayMatch(*board_env, *first, *second, options.num_games, options.seed);
}

std::string ScoreLine(absl::string_view games, const MatchScore& score) {
  return absl::StrFormat("%-10s %5d games: %d won, %d drawn, %d lost", games, score.num_games(),
                         score.wins, score.draws, score.losses);
}

}  // namespace

int EnvsMatch(const EnvRegistry& registry, const EnvsMatchOptions& options,
              const Console& console) {
  const absl::StatusOr<MatchResult> result = RunMatch(registry, options);
  if (!result.ok()) {
    console.err << "error: " << std::string(result.status().message()) << "\n";
    return kUsage;
  }
  const MatchScore total = result->total();
  console.out << absl::StrFormat(
      "%s: %s against %s, %.1f moves a game (seed %d)\n", options.target.id, options.first,
      options.second,
      static_cast<double>(result->num_plies) / static_cast<double>(total.num_games()),
      options.seed);
  console.out << ScoreLine("as first", result->by_color[0]) << "\n";
  console.out << ScoreLine("as second", result->by_color[1]) << "\n";
  console.out << ScoreLine("all", total)
              << absl::StrFormat("; %s takes %.1f %% of the points\n", options.first,
                                 100.0 * total.points_fraction());
  return kOk;
}

}  // namespace lzero
