#include "lzero/config/model/encoder_rules.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace lzero {

std::vector<PlaneSize> ImageEncoderSizes(int64_t height, int64_t width) {
  std::vector<PlaneSize> sizes;
  while (std::max(height, width) > kImageCells) {
    height = (height + 1) / 2;
    width = (width + 1) / 2;
    sizes.push_back({height, width});
  }
  return sizes;
}

std::optional<EncoderMisfit> FindEncoderMisfit(EncoderKind kind,
                                               const std::vector<int64_t>& observation_shape) {
  if (kind == EncoderKind::kVector) return std::nullopt;
  const bool is_image = kind == EncoderKind::kImage;
  const std::string needs =
      absl::StrCat(is_image ? "image" : "board", " needs observations [channels, height, width]");
  if (observation_shape.size() != 3) return EncoderMisfit{needs, "vector"};
  const int64_t side = std::min(observation_shape[1], observation_shape[2]);
  if (is_image && side < kSmallestImage) {
    return EncoderMisfit{absl::StrCat(needs, " with sides of ", kSmallestImage, " or more"),
                         "board, vector"};
  }
  return std::nullopt;
}

absl::Status CheckEncoder(const ModelConfig& config,
                          const std::vector<int64_t>& observation_shape) {
  const auto misfit = FindEncoderMisfit(config.encoder, observation_shape);
  if (!misfit.has_value()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("model.encoder: ", misfit->needs, "; this environment gives [",
                   absl::StrJoin(observation_shape, ", "), "]; use encoder: ", misfit->allowed));
}

}  // namespace lzero
