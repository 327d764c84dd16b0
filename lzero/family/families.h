// All model families; FamilyOf finds the one of a config. Each is made in its own folder and lives
// as long as the program; families do not know each other. Any thread.
#ifndef LZERO_FAMILY_FAMILIES_H_
#define LZERO_FAMILY_FAMILIES_H_

#include "lzero/config/experiment_config.h"
#include "lzero/family/model_family.h"

namespace lzero {

// UniZeroFamily(), MuZeroFamily(), ...: one for each line of LZ_FAMILIES.
#define LZ_DECLARE_FAMILY(name, text) const ModelFamily& name##Family();
LZ_FAMILIES(LZ_DECLARE_FAMILY)
#undef LZ_DECLARE_FAMILY

const ModelFamily& FamilyOf(const ModelConfig& config);

}  // namespace lzero

#endif  // LZERO_FAMILY_FAMILIES_H_
