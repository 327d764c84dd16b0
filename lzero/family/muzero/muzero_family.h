// MuZero behind ModelFamily: recurrent latent dynamics, no memory beyond the latent state: the
// baseline that shows what UniZero's transformer buys.
#ifndef LZERO_FAMILY_MUZERO_MUZERO_FAMILY_H_
#define LZERO_FAMILY_MUZERO_MUZERO_FAMILY_H_

#include "lzero/family/model_family.h"

namespace lzero {

const ModelFamily& MuZeroFamily();

}  // namespace lzero

#endif  // LZERO_FAMILY_MUZERO_MUZERO_FAMILY_H_
