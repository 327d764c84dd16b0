#include "lzero/replay/batch/intensity_augmenter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace lzero {
namespace {

void Multiply(double factor, absl::Span<uint8_t> bytes) {
  std::array<uint8_t, 256> products;
  for (size_t i = 0; i < products.size(); ++i) {
    products[i] =
        static_cast<uint8_t>(std::clamp(std::round(static_cast<double>(i) * factor), 0.0, 255.0));
  }
  for (uint8_t& byte : bytes) byte = products[byte];
}

}  // namespace

double IntensityAugmenter::Draw(RandomStream& random) const {
  return 1.0 + scale_ * std::clamp(random.Normal(), -2.0, 2.0);
}

void IntensityAugmenter::Apply(double inputs, double targets, int num_inputs, int sample,
                               TrainBatch* batch) const {
  const auto num_bytes =
      static_cast<size_t>(num_inputs) * static_cast<size_t>(batch->observation_size);
  const auto row = RowOf(batch->observation_bytes, sample, batch->num_samples);
  Multiply(inputs, row.first(num_bytes));
  Multiply(targets, row.subspan(num_bytes));
  Multiply(targets, RowOf(batch->bootstrap_observation_bytes, sample, batch->num_samples));
}

}  // namespace lzero
