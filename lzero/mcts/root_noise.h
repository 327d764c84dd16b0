// The noise of one root, drawn from a stream keyed by (seed, search, environment): Dirichlet in
// PUCT, Gumbel in Gumbel's search. How it enters the root is in root.h. Pure functions of the host.
#ifndef LZERO_MCTS_ROOT_NOISE_H_
#define LZERO_MCTS_ROOT_NOISE_H_

#include <cstdint>

#include "absl/types/span.h"
#include "lzero/base/ids.h"
#include "lzero/config/experiment_config.h"
#include "lzero/mcts/search_request.h"

namespace lzero {

// Whether the roots of such a search have noise at all.
bool HasRootNoise(const SearchConfig& config, const SearchRequest& request);

// Fills `noise` [A] for root number `b`, whose actions are `legal` [A] (1 = legal). PUCT: the first
// (number of legal actions) entries, one for each legal action in order, sum to 1; the others stay.
// Gumbel: one for every action, drawn and scaled, or the given ones. HasRootNoise must hold.
void ComputeRootNoise(const SearchConfig& config, const SearchRequest& request, EnvId env, int b,
                      absl::Span<const uint8_t> legal, absl::Span<double> noise);

}  // namespace lzero

#endif  // LZERO_MCTS_ROOT_NOISE_H_
