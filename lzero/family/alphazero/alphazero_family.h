// AlphaZero behind ModelFamily: a network for policy and value, and a search that plays its steps
// in environments of its own. For environments that can be saved and draw no random numbers.
#ifndef LZERO_FAMILY_ALPHAZERO_ALPHAZERO_FAMILY_H_
#define LZERO_FAMILY_ALPHAZERO_ALPHAZERO_FAMILY_H_

#include "lzero/family/model_family.h"

namespace lzero {

const ModelFamily& AlphaZeroFamily();

}  // namespace lzero

#endif  // LZERO_FAMILY_ALPHAZERO_ALPHAZERO_FAMILY_H_
