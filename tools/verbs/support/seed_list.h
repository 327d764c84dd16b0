// Seeds as the user lists them, for the option --seeds. Pure function.
#ifndef LZERO_TOOLS_VERBS_SUPPORT_SEED_LIST_H_
#define LZERO_TOOLS_VERBS_SUPPORT_SEED_LIST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace lzero {

// "0..4", "3", "0,3,7" and mixtures, in the order given. InvalidArgument for anything else, a seed
// that stands twice, and more than 100,000 of them.
absl::StatusOr<std::vector<uint64_t>> ParseSeedList(const std::string& text);

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_SUPPORT_SEED_LIST_H_
