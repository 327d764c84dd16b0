// The pool of a cache whose tokens lie in a tensor, on any device. Copies are index operations on
// index tensors that are kept. No gradients. Belongs to one thread.
#ifndef LZERO_KV_CACHE_TENSOR_TENSOR_TOKEN_POOL_H_
#define LZERO_KV_CACHE_TENSOR_TENSOR_TOKEN_POOL_H_

#include <cstdint>

#include "ATen/core/Tensor.h"
#include "lzero/kv_cache/kv_cache_manager.h"
#include "lzero/kv_cache/token_pool.h"
#include "lzero/kv_cache/token_rows.h"

namespace lzero {

// For KVCacheManagerConfig::make_pool. Its pools are written in inference mode or not, whatever the
// mode they were made in.
MakeTokenPool TensorTokenPools(at::Device device);

// Contiguous tensors [rows, ...] as rows: float32, lengths int64. The caller must give such
// (LZ_CHECK).
Rows<float> FloatRows(const at::Tensor& tensor);
ContextBatch ContextsIn(const at::Tensor& tokens, const at::Tensor& lengths);

}  // namespace lzero

#endif  // LZERO_KV_CACHE_TENSOR_TENSOR_TOKEN_POOL_H_
