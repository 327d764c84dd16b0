// The list of model families: a new one is a case of FamilyOf here, and a value of config's Family.
#ifndef LZERO_TRAIN_MODEL_FAMILIES_H_
#define LZERO_TRAIN_MODEL_FAMILIES_H_

#include "lzero/config/experiment_config.h"
#include "lzero/family/model_family.h"

namespace lzero {

const ModelFamily& FamilyOf(const ModelConfig& config);

}  // namespace lzero

#endif  // LZERO_TRAIN_MODEL_FAMILIES_H_
