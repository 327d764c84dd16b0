// UniZero behind ModelFamily: a transformer world model that is searched through cached contexts.
#ifndef LZERO_FAMILY_UNIZERO_UNIZERO_FAMILY_H_
#define LZERO_FAMILY_UNIZERO_UNIZERO_FAMILY_H_

#include "lzero/family/model_family.h"

namespace lzero {

const ModelFamily& UniZeroFamily();

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_UNIZERO_FAMILY_H_
