// One number that changes exactly when the behaviour of the search changes: a hash of everything
// that a fixed set of searches with the hash model finds. Not a checksum of the code. Pure.
#ifndef LZERO_MCTS_GOLDEN_SIGNATURE_H_
#define LZERO_MCTS_GOLDEN_SIGNATURE_H_

#include <cstdint>

namespace lzero {

// Runs the fixed searches (both policies, all q transforms, noise, ties, illegal actions, two
// players, a depth limit) and hashes their trees and results. Takes a few milliseconds.
uint64_t SearchSignature();

}  // namespace lzero

#endif  // LZERO_MCTS_GOLDEN_SIGNATURE_H_
