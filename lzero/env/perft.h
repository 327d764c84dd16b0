// Counts move sequences: the classic test of a rule book against published numbers. Needs an
// environment that saves its state and draws no random numbers. Blocks; one thread.
#ifndef LZERO_ENV_PERFT_H_
#define LZERO_ENV_PERFT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "lzero/env/env.h"

namespace lzero {

// result[d - 1] is the number of sequences of d legal actions from Reset(seed), d = 1 .. depth.
// InvalidArgument when depth < 1; Unimplemented when the environment cannot be counted.
absl::StatusOr<std::vector<int64_t>> Perft(Env& env, int depth, uint64_t seed = 0);

}  // namespace lzero

#endif  // LZERO_ENV_PERFT_H_
