// Where the random numbers of ties begin: a key for the ties of one root in one search. What is
// drawn with it is in ties.h. Pure functions of the host, which tells a device its keys.
#ifndef LZERO_MCTS_TIE_KEY_H_
#define LZERO_MCTS_TIE_KEY_H_

#include <cstdint>

#include "lzero/base/rng.h"

namespace lzero {

inline uint64_t TieKey(uint64_t seed, uint64_t search_index, int32_t env) {
  return StreamKey(StreamKey(seed, "search ties", search_index), "environment",
                   static_cast<uint64_t>(static_cast<uint32_t>(env)));
}

}  // namespace lzero

#endif  // LZERO_MCTS_TIE_KEY_H_
