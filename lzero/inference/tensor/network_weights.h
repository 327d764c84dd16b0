// The weights of a network by name, for engines that keep them in another form. Not kept: a source
// lives while they are copied.
#ifndef LZERO_INFERENCE_TENSOR_NETWORK_WEIGHTS_H_
#define LZERO_INFERENCE_TENSOR_NETWORK_WEIGHTS_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "lzero/model/network.h"
#include "lzero/packed/weight_source.h"

namespace lzero {

class NetworkWeights : public packed::WeightSource {
 public:
  // The parameters of `network`, which outlives this.
  explicit NetworkWeights(const Network& network);
  ~NetworkWeights() override;
  const Network& network() const { return network_; }
  // Waits for their device, and copies those of another one to the host. InvalidArgument when they
  // lie on several (names two).
  absl::Status Prepare() const override;
  // The caller must give the name and the shape of a parameter (LZ_CHECK).
  absl::Span<const float> Get(const std::string& name,
                              absl::Span<const int64_t> shape) const override;

 private:
  struct Parameters;
  const Network& network_;
  std::unique_ptr<Parameters> parameters_;
};

}  // namespace lzero

#endif  // LZERO_INFERENCE_TENSOR_NETWORK_WEIGHTS_H_
