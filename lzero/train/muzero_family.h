// MuZero behind ModelFamily: recurrent latent dynamics, no memory beyond the latent state: the
// baseline that shows what UniZero's transformer buys.
#ifndef LZERO_TRAIN_MUZERO_FAMILY_H_
#define LZERO_TRAIN_MUZERO_FAMILY_H_

#include "lzero/train/model_family.h"

namespace lzero {

const ModelFamily& MuZeroFamily();

}  // namespace lzero

#endif  // LZERO_TRAIN_MUZERO_FAMILY_H_
