// An engine of UniZero, packed or in libtorch, as the options say.
#ifndef LZERO_TESTS_FAMILY_UNIZERO_ANY_ENGINE_H_
#define LZERO_TESTS_FAMILY_UNIZERO_ANY_ENGINE_H_

#include <memory>

#include "lzero/family/packed/eager_rules.h"
#include "lzero/family/unizero/engine/unizero_inference.h"
#include "lzero/family/unizero/unizero_engine.h"

namespace lzero {

inline absl::StatusOr<std::unique_ptr<UniZeroInference>> AnyUniZero(const EngineOptions& options) {
  return RunsPacked(options.inference) ? MakePackedUniZero(options) : MakeUniZeroEngine(options);
}

inline int64_t AnyUniZeroBytes(const EngineOptions& options) {
  return RunsPacked(options.inference) ? PackedUniZeroBytes(options).value()
                                       : UniZeroEngineBytes(options).value();
}

}  // namespace lzero

#endif  // LZERO_TESTS_FAMILY_UNIZERO_ANY_ENGINE_H_
