// What a key means, in words: type, range, default, unit, help, source. Stateless, thread-safe.
#ifndef LZERO_CONFIG_EXPLAIN_H_
#define LZERO_CONFIG_EXPLAIN_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace lzero {

// Explains one key ("train.batch_size"), all keys of a section ("train"), all keys with a name
// ("batch_size"), or everything (""). NotFound names the nearest key.
absl::StatusOr<std::string> ExplainKey(absl::string_view key);

}  // namespace lzero

#endif  // LZERO_CONFIG_EXPLAIN_H_
