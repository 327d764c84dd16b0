// AlphaZero behind ModelFamily: a network for policy and value, and a search that plays its steps
// in environments of its own. For environments that can be saved and draw no random numbers.
#ifndef LZERO_TRAIN_ALPHAZERO_FAMILY_H_
#define LZERO_TRAIN_ALPHAZERO_FAMILY_H_

#include "lzero/train/model_family.h"

namespace lzero {

const ModelFamily& AlphaZeroFamily();

}  // namespace lzero

#endif  // LZERO_TRAIN_ALPHAZERO_FAMILY_H_
