// UniZero behind ModelFamily: a transformer world model that is searched through cached contexts.
#ifndef LZERO_TRAIN_UNIZERO_FAMILY_H_
#define LZERO_TRAIN_UNIZERO_FAMILY_H_

#include "lzero/train/model_family.h"

namespace lzero {

const ModelFamily& UniZeroFamily();

}  // namespace lzero

#endif  // LZERO_TRAIN_UNIZERO_FAMILY_H_
