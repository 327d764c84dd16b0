#include "lzero/family/unizero/engine/root_runner.h"

namespace lzero {

int64_t NumRootPastSteps(const ModelConfig& config) {
  return (config.num_layers * (config.context_length - 1) + 1) / 2;
}

}  // namespace lzero
