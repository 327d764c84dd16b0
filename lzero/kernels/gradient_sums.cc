#include "lzero/kernels/gradient_sums.h"

#include <algorithm>
#include <vector>

#include "lzero/kernels/parallel.h"

namespace lzero {
namespace {

// As many threads can work at once. A part costs a pass over the gradients: four cost one thread
// 2 % of an update at most on Connect Four.
constexpr int64_t kMostParts = 4;

}  // namespace

void SumOverBlocks(absl::Span<const GradientPlace> places, int64_t num_blocks, AddBlock add_block) {
  const int64_t num_parts = std::min(kMostParts, num_blocks);
  const size_t num_places = places.size();
  int64_t size = 0;
  for (const GradientPlace& place : places) size += place.to == nullptr ? 0 : place.size;
  // The first part sums in the places; the memory of the others stays for the next call.
  thread_local std::vector<float> kept_storage;
  std::vector<float>& storage = kept_storage;
  storage.assign(static_cast<size_t>(std::max<int64_t>(0, num_parts - 1) * size), 0.0f);
  std::vector<float*> sums;  // [parts, places]
  float* next = storage.data();
  for (const GradientPlace& place : places) {
    sums.push_back(place.to);
    if (place.to != nullptr) std::fill_n(place.to, place.size, 0.0f);
  }
  for (int64_t part = 1; part < num_parts; ++part) {
    for (const GradientPlace& place : places) {
      sums.push_back(place.to == nullptr ? nullptr : next);
      if (place.to != nullptr) next += place.size;
    }
  }
  ParallelFor(0, num_parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      const int64_t last = (part + 1) * num_blocks / num_parts;
      for (int64_t block = part * num_blocks / num_parts; block < last; ++block) {
        add_block(sums.data() + static_cast<size_t>(part) * num_places, block);
      }
    }
  });
  for (size_t i = num_places; i < sums.size(); ++i) {
    const GradientPlace& place = places[i % num_places];
    if (place.to == nullptr) continue;
    for (int64_t j = 0; j < place.size; ++j) place.to[j] += sums[i][j];
  }
}

}  // namespace lzero
