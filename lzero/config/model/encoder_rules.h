// Which observations an encoder can read, in words: one rule for the check of a config, which knows
// no tensors, and for the constructors of the encoders. Pure function; any thread.
#ifndef LZERO_CONFIG_MODEL_ENCODER_RULES_H_
#define LZERO_CONFIG_MODEL_ENCODER_RULES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "lzero/config/experiment_config.h"

namespace lzero {

// The image encoder halves height and width until neither is more than this.
constexpr int64_t kImageCells = 8;
// The shortest side of an image that it takes: smaller ones are boards.
constexpr int64_t kSmallestImage = 16;

struct PlaneSize {
  int64_t height = 0, width = 0;
};

// The sizes that the image encoder goes through: after its stem, then after each halving block.
// None for an image that is small enough as it is.
std::vector<PlaneSize> ImageEncoderSizes(int64_t height, int64_t width);

// Why an encoder cannot read observations of a shape, and which encoder can.
struct EncoderMisfit {
  std::string needs;    // "board needs observations [channels, height, width]"
  std::string allowed;  // "vector"
};

// Nothing when they fit.
std::optional<EncoderMisfit> FindEncoderMisfit(EncoderKind kind,
                                               const std::vector<int64_t>& observation_shape);

// InvalidArgument when the encoder does not fit the observation's shape (boards and images are
// {channels, height, width}, images of 16 and more cells a side).
absl::Status CheckEncoder(const ModelConfig& config, const std::vector<int64_t>& observation_shape);

}  // namespace lzero

#endif  // LZERO_CONFIG_MODEL_ENCODER_RULES_H_
