// What `lzero eval` tells: the returns of episodes; `--grade`, moves in positions with
// known best ones; `--chance`, whether the chance model is calibrated; `--imagination`, whether it
// foresees wins. Each prints a table or JSON.
#ifndef LZERO_TOOLS_VERBS_PLAYER_EVAL_MEASURES_H_
#define LZERO_TOOLS_VERBS_PLAYER_EVAL_MEASURES_H_

#include <atomic>
#include <cstdint>

#include "absl/types/span.h"
#include "lzero/player/agent_loader.h"
#include "lzero/run/evaluation_files.h"

namespace lzero {

// JSON tells every episode, too.
void PrintReturns(bool json, const LoadedAgent& agent, const ReturnSummary& summary,
                  absl::Span<const EpisodeRow> episodes);

// The agent with search, then its policy head alone, until `stop`. Exit codes of `lzero eval`; 2
// for a game without a grader.
int EvalGrade(bool json, LoadedAgent& agent, const std::atomic<bool>* stop);

// One episode for each seed, until `stop`. Exit codes of `lzero eval`; 2 for a model or an
// environment without chance.
int EvalChance(absl::Span<const uint64_t> seeds, bool json, LoadedAgent& agent,
               const std::atomic<bool>* stop);

// How far `--imagination` looks, in moves.
inline constexpr int kImaginedDepth = 4;

// A random game for each seed, until `stop`; the agent must be loaded for ImaginedNodes
// simulations. Exit codes of `lzero eval`; 2 for what is no game for two players.
int EvalImagination(absl::Span<const uint64_t> seeds, bool json, LoadedAgent& agent,
                    const std::atomic<bool>* stop);

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_PLAYER_EVAL_MEASURES_H_
