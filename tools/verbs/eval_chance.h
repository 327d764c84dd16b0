// `lzero eval RUN --chance`: is the chance model calibrated? A table or JSON.
#ifndef LZERO_TOOLS_VERBS_EVAL_CHANCE_H_
#define LZERO_TOOLS_VERBS_EVAL_CHANCE_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "lzero/train/agent_loader.h"

namespace lzero {

// One episode for each seed, until `stop`. Exit codes of Eval; 2 for a model or an environment
// without chance.
int EvalChance(absl::Span<const uint64_t> seeds, bool json, LoadedAgent& agent,
               const std::atomic<bool>* stop);

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_EVAL_CHANCE_H_
