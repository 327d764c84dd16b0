// Counts move sequences: the classic test of a rule book against published numbers. Needs an
// environment that saves its state and draws no random numbers. One that counts its moves itself
// is much faster. Blocks; one thread.
#ifndef LZERO_ENV_CHECK_PERFT_H_
#define LZERO_ENV_CHECK_PERFT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/env/env.h"

namespace lzero {

// What an environment can implement beside Env to be counted without steps, as board games do.
class MoveCounter {
 public:
  virtual ~MoveCounter() = default;

  // Adds to counts[d - 1] the number of sequences of d legal actions from where the episode stands,
  // d = 1 .. counts.size(), at least 1. The episode stays there.
  virtual void CountMoves(absl::Span<int64_t> counts) const = 0;
};

// result[d - 1] is the number of sequences of d legal actions from Reset(seed), d = 1 .. depth.
// InvalidArgument when depth < 1; Unimplemented when the environment cannot be counted.
absl::StatusOr<std::vector<int64_t>> Perft(Env& env, int depth, uint64_t seed = 0);

}  // namespace lzero

#endif  // LZERO_ENV_CHECK_PERFT_H_
