// What of a model family is libtorch: the network that learns, and engines that run it, on any
// device. Beside ModelFamily (packed/model_family.h). Pure functions, any thread.
#ifndef LZERO_FAMILY_TENSOR_FAMILY_H_
#define LZERO_FAMILY_TENSOR_FAMILY_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "ATen/core/Tensor.h"
#include "absl/status/statusor.h"
#include "lzero/config/experiment_config.h"
#include "lzero/env/env.h"
#include "lzero/inference/inference_engine.h"
#include "lzero/model/network.h"

namespace lzero {

struct TensorFamily {
  // A network of fresh float32 weights on `device`, a function of `seed` alone. On device meta it
  // has sizes alone and allocates nothing: for num_parameters. InvalidArgument when the encoder
  // does not fit the observations; ResourceExhausted when the memory is not there.
  std::function<absl::StatusOr<std::shared_ptr<Network>>(
      const ModelConfig& config, const WorldModelShape& shape, uint64_t seed, at::Device device)>
      make_network = {};

  // Bytes that an engine keeps for good, as ModelFamily::engine_bytes.
  std::function<absl::StatusOr<int64_t>(const EngineOptions& options, const EnvFactory& make_env)>
      engine_bytes = {};
  // Nodes of the graphs that an engine records on a CUDA device; 0: it runs one operation after the
  // other there.
  std::function<int64_t(const EngineOptions& options)> graph_nodes = [](const auto&) {
    return int64_t{0};
  };
  std::function<absl::StatusOr<std::unique_ptr<InferenceEngine>>(const EngineOptions& options,
                                                                 const EnvFactory& make_env)>
      make_engine = {};
};

}  // namespace lzero

#endif  // LZERO_FAMILY_TENSOR_FAMILY_H_
