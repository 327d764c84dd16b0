// A replay store from the named arrays of a checkpoint (layout: replay_export.h). Trusts nothing:
// sizes, ranges and the agreement of the arrays with each other are checked before a store is
// returned. Pure function, any thread.
#ifndef LZERO_REPLAY_SAVED_REPLAY_IMPORT_H_
#define LZERO_REPLAY_SAVED_REPLAY_IMPORT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/base/named_array.h"
#include "lzero/config/experiment_config.h"
#include "lzero/replay/replay_plan.h"
#include "lzero/replay/replay_store.h"

namespace lzero {

// A store with the content of `arrays`; those not named "replay.*" are ignored. InvalidArgument
// (which array, what it holds, what is allowed) when one is missing, misshapen, out of range,
// contradicts another, or does not fit these settings.
absl::StatusOr<std::unique_ptr<ReplayStore>> ImportReplay(const ReplayConfig& config,
                                                          const ReplayShape& shape,
                                                          absl::Span<const NamedArray> arrays);

}  // namespace lzero

#endif  // LZERO_REPLAY_SAVED_REPLAY_IMPORT_H_
