// Contexts of the roots of one role on their way into the role's KVCacheManager: cut to the window,
// each token with the version of the weights that computed it; exported and put back for exact
// resume. Tokens are float32; no gradients. Belongs to one thread.
#ifndef LZERO_FAMILY_UNIZERO_ENGINE_ROOT_CONTEXTS_H_
#define LZERO_FAMILY_UNIZERO_ENGINE_ROOT_CONTEXTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/base/ids.h"
#include "lzero/base/named_array.h"
#include "lzero/kv_cache/kv_cache_manager.h"

namespace lzero {

// The context of one root among those of others: the newest W - 1 of `count` rows that end before
// `end_row`, of which the last `num_new` were computed with the weights of now.
struct RootTokens {
  EnvId env;
  int64_t step = 0;
  int64_t end_row = 0;
  int64_t count = 0;
  int64_t num_new = 0;
};

class RootContexts {
 public:
  // `cache` outlives the object.
  explicit RootContexts(KVCacheManager* cache);

  // Makes these the only contexts of their environments, which differ, from `tokens` [rows, L, 2,
  // E]. The number of operations does not depend on that of the roots. Errors as StoreInits.
  absl::Status Store(absl::Span<const RootTokens> roots, Rows<const float> tokens);
  // The same for one of a cache on the CPU, whose tokens lie apart: those of an earlier context,
  // `earlier` [n, L, 2, E], then those that were computed now, `computed` [m, L, 2, E]. Allocates
  // nothing.
  absl::Status StoreRows(EnvId env, int64_t step, absl::Span<const float> earlier,
                         absl::Span<const float> computed);

  // The weights have changed: drops the contexts of older ones or, with root_context carry, marks
  // them as older.
  void OnWeightsChanged();

  // Every context that can be read now, with the age of each token: how often the weights have
  // changed since it was computed.
  absl::StatusOr<std::vector<NamedArray>> Export() const;
  // Puts back what Export gave; contexts held now are forgotten. The weights of now must be those
  // of that moment. InvalidArgument when it does not fit this cache (names the environment); some
  // contexts may be missing then.
  absl::Status Import(absl::Span<const NamedArray> arrays);

 private:
  // Makes versions_[env] those of a context of `count` tokens: the last `num_new` have the weights
  // of now, the others keep the versions they had.
  void MoveVersions(EnvId env, int64_t count, int64_t num_new);
  // The entry that the cache stores for this root. Call it after MoveVersions.
  InitTokens EntryOf(EnvId env, int64_t step, int64_t first_row, int64_t count);
  absl::Status ImportOne(EnvId env, int64_t step, absl::Span<const NamedArray> arrays);

  KVCacheManager* cache_;
  int64_t window_;           // W - 1
  std::vector<float> rows_;  // [W - 1, L, 2, E] of StoreRows
  int64_t weight_version_ = 0;
  // By environment, of its newest context: its step, and the weights that computed each token.
  std::vector<int64_t> steps_;
  std::vector<std::vector<int64_t>> versions_;
  std::vector<InitTokens> entries_;  // scratch of Store
};

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_ENGINE_ROOT_CONTEXTS_H_
