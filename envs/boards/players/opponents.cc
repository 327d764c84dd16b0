#include "envs/boards/players/opponents.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "envs/boards/players/alpha_beta.h"
#include "envs/boards/players/uct.h"
#include "lzero/base/check.h"
#include "lzero/base/nearest.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/scalar_text.h"

namespace lzero {
namespace {

constexpr char kRandom[] = "random";
constexpr char kAlphaBeta[] = "alpha_beta";
constexpr char kMcts[] = "mcts";

absl::StatusOr<int64_t> ParseStrength(const std::string& name, const std::string& kind,
                                      int64_t highest, const char* what) {
  const std::string text = name.size() > kind.size() ? name.substr(kind.size() + 1) : "";
  int64_t number = 0;
  const bool plain =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (plain && absl::SimpleAtoi(text, &number) && number >= 1 && number <= highest) return number;
  return absl::InvalidArgumentError(absl::StrCat("player ", QuotedForMessage(name), ": ", kind,
                                                 " takes the ", what, ", 1 .. ", highest,
                                                 ", after a colon, as in ", kind, ":4"));
}

}  // namespace

int RandomPlayer::ChooseAction(const Board& board) {
  mask_.resize(board.num_actions());
  board.FillLegalActions(absl::MakeSpan(mask_));
  int64_t left = random_.UniformInt(std::count(mask_.begin(), mask_.end(), 1));
  for (int action = 0; action < board.num_actions(); ++action) {
    if (mask_[action] != 0 && left-- == 0) return action;
  }
  LZ_CHECK(false, "no legal action on\n", board.ToText());
  return -1;
}

const std::vector<std::string>& OpponentKinds() {
  static const auto* kinds = new std::vector<std::string>{kRandom, kAlphaBeta, kMcts};
  return *kinds;
}

absl::StatusOr<std::unique_ptr<Player>> MakeOpponent(const std::string& name, uint64_t seed) {
  const std::string kind = name.substr(0, name.find(':'));
  if (kind == kRandom) {
    if (name == kRandom) return std::make_unique<RandomPlayer>(seed);
    return absl::InvalidArgumentError(
        absl::StrCat("player ", QuotedForMessage(name), ": random takes nothing after it"));
  }
  if (kind == kAlphaBeta) {
    LZ_ASSIGN_OR_RETURN(const int64_t depth, ParseStrength(name, kind, AlphaBetaPlayer::kMaxDepth,
                                                           "plies of its look-ahead"));
    return std::make_unique<AlphaBetaPlayer>(static_cast<int>(depth), seed);
  }
  if (kind == kMcts) {
    LZ_ASSIGN_OR_RETURN(
        const int64_t simulations,
        ParseStrength(name, kind, UctPlayer::kMaxSimulations, "simulations a move"));
    return std::make_unique<UctPlayer>(simulations, seed);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no player ", QuotedForMessage(name), DidYouMean(kind, OpponentKinds()),
                   " (known: random, alpha_beta:PLIES, mcts:SIMULATIONS)"));
}

}  // namespace lzero
