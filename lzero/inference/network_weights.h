// The weights of a network by name, for packed models. Not kept: a source lives while they are
// packed.
#ifndef LZERO_INFERENCE_NETWORK_WEIGHTS_H_
#define LZERO_INFERENCE_NETWORK_WEIGHTS_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "lzero/model/network.h"
#include "lzero/packed/weight_source.h"

namespace lzero {

class NetworkWeights : public packed::WeightSource {
 public:
  // The parameters of `network`, which outlives this; those of another device are copied here.
  explicit NetworkWeights(const Network& network);
  ~NetworkWeights() override;
  absl::Span<const float> Get(const std::string& name) const override;

 private:
  struct Parameters;
  std::unique_ptr<Parameters> parameters_;
};

}  // namespace lzero

#endif  // LZERO_INFERENCE_NETWORK_WEIGHTS_H_
