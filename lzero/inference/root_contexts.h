// Contexts of the roots of one role on their way into the role's KVCacheManager: cut to the window,
// each token with the version of the weights that computed it; exported and put back for exact
// resume. Belongs to one thread.
#ifndef LZERO_INFERENCE_ROOT_CONTEXTS_H_
#define LZERO_INFERENCE_ROOT_CONTEXTS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "ATen/core/Tensor.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/base/ids.h"
#include "lzero/base/named_array.h"
#include "lzero/kv_cache/kv_cache_manager.h"

namespace lzero {

class RootContexts {
 public:
  // `cache` outlives the object. Errors as KVCache::Create.
  static absl::StatusOr<std::unique_ptr<RootContexts>> Create(KVCacheManager* cache);

  // Makes the newest W - 1 of `tokens` [n, L, 2, E], of which the last `num_new` were
  // computed with the weights of now, the one context of `env`, at `step`. Errors as StoreInit.
  absl::Status Store(EnvId env, int64_t step, const at::Tensor& tokens, int64_t num_new);
  // The same for tokens in host memory, each [L, 2, E]: those of an earlier context, then those
  // that were computed now. Allocates nothing. For a cache on the CPU.
  absl::Status StoreRows(EnvId env, int64_t step, absl::Span<const float> earlier,
                         absl::Span<const float> computed);

  // Other weights from now on: contexts of older ones are dropped or, with root_context carry,
  // known as older.
  void OnWeightsChanged();

  // Every context that can be read now, with the age of each token: how often the weights have
  // changed since it was computed.
  absl::StatusOr<std::vector<NamedArray>> Export() const;
  // Puts back what Export gave; contexts held now are forgotten. The weights of now must be those
  // of that moment. InvalidArgument when it does not fit this cache (names the environment); some
  // contexts may be missing then.
  absl::Status Import(absl::Span<const NamedArray> arrays);

 private:
  RootContexts(KVCacheManager* cache, at::Tensor rows);

  // The ages of `count` tokens of which the last `num_new` are of now, after those of the context
  // before: versions_[env] becomes theirs.
  void MoveVersions(EnvId env, int64_t count, int64_t num_new);
  // Stores the first `count` of `tokens` [n, L, 2, E]; versions_[env] is theirs already.
  absl::Status Put(EnvId env, int64_t step, const at::Tensor& tokens, int64_t count);
  absl::Status ImportOne(EnvId env, int64_t step, absl::Span<const NamedArray> arrays);

  KVCacheManager* cache_;
  at::Tensor rows_;  // [W - 1, L, 2, E] of StoreRows
  int64_t weight_version_ = 0;
  // By environment, of its newest context: its step, and the weights that computed each token.
  std::vector<int64_t> steps_;
  std::vector<std::vector<int64_t>> versions_;
};

}  // namespace lzero

#endif  // LZERO_INFERENCE_ROOT_CONTEXTS_H_
