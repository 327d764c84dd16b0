// libFuzzer target of the memory that is shared with workers: whatever bytes a worker writes there,
// reading gives a result that makes sense or an error, and never looks outside of the memory.
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "lzero/base/check.h"
#include "lzero/env/python/frames/atari_view.h"
#include "lzero/env/python/frames/frame_view.h"
#include "lzero/env/python/worker_memory.h"

namespace lzero {
namespace {

// The first bytes of an input, as numbers.
class Choices {
 public:
  Choices(const uint8_t* bytes, size_t size) : bytes_(bytes), size_(size) {}

  int UpTo(int largest) { return at_ < size_ ? bytes_[at_++] % (largest + 1) : 0; }
  const uint8_t* rest() const { return bytes_ + at_; }
  size_t rest_size() const { return size_ - at_; }

 private:
  const uint8_t* bytes_;
  size_t size_;
  size_t at_ = 0;
};

void CheckResult(const WorkerSizes& sizes, const WorkerResult& result) {
  if (result.failed) return;
  LZ_CHECK(std::abs(result.reward) <= std::numeric_limits<float>::max(), result.reward);
  LZ_CHECK(result.num_frames >= 1 && static_cast<int>(result.num_frames) <= sizes.max_repeat,
           result.num_frames);
  LZ_CHECK(!result.has_mask || static_cast<int>(result.mask.size()) == sizes.mask_size,
           result.mask.size());
  for (const uint8_t legal : result.mask) LZ_CHECK(!result.has_mask || legal <= 1, legal);
  const int64_t num_bytes = sizes.num_frames * sizes.frame_bytes;
  LZ_CHECK(static_cast<int64_t>(result.frames.size()) == num_bytes, result.frames.size());
}

// Both views take every result of their sizes.
void CheckViews(const WorkerSizes& sizes, const WorkerResult& result) {
  if (result.failed) return;
  WorkerSpec spec;
  spec.observation.shape = {std::max<int64_t>(1, sizes.frame_bytes / 4)};
  spec.action.num_actions = 2;
  if (sizes.num_frames == 1 && sizes.frame_bytes >= 4) {
    FrameView view(spec);
    std::vector<float> observation(static_cast<size_t>(view.observation().size()));
    (void)view.Next(result);
    view.Observe(absl::MakeSpan(observation));
    for (const float value : observation) LZ_CHECK(std::isfinite(value), value);
  }
  if (sizes.num_frames == 2 && sizes.frame_bytes == 12) {
    spec.observation = {{4, 3, 1}, {0.0f}, {1.0f}, ObservationType::kUint8};
    AtariOptions options;
    options.is_training = true;
    options.is_grey = true;
    options.screen_size = 2;
    const auto view = MakeAtariView(spec, options);
    LZ_CHECK(view.ok(), view.status().message());
    LZ_CHECK((*view)->BeginEpisode(1), "no reset");
    LZ_CHECK((*view)->First(result).ok(), "no first picture");
    const auto step = (*view)->Next(result);
    LZ_CHECK(step.ok() && std::abs(step->reward) <= 1.0, "no step");
  }
}

}  // namespace
}  // namespace lzero

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  lzero::Choices choices(bytes, size);
  lzero::WorkerSizes sizes;
  sizes.num_slots = 1 + choices.UpTo(3);
  sizes.num_frames = 1 + choices.UpTo(1);
  sizes.max_repeat = 1 + choices.UpTo(7);
  sizes.frame_bytes = 4 * choices.UpTo(8);
  sizes.action_size = choices.UpTo(2);
  sizes.mask_size = choices.UpTo(5);
  const auto memory = lzero::WorkerMemory::Create(sizes);
  LZ_CHECK(memory.ok(), memory.status().message());
  const size_t num_bytes = static_cast<size_t>((*memory)->layout().num_bytes);
  void* const mapped =
      mmap(nullptr, num_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, (*memory)->descriptor(), 0);
  LZ_CHECK(mapped != MAP_FAILED, "no second mapping");
  // Two requests, so that each buffer is read; the bytes lie at a place that they choose.
  const size_t offset = static_cast<size_t>(choices.UpTo(255)) * 8 % num_bytes;
  const size_t written = std::min(choices.rest_size(), num_bytes - offset);
  for (int request = 0; request < 2; ++request) {
    (*memory)->BeginRequest();
    for (int slot = 0; slot < sizes.num_slots; ++slot) (*memory)->AskReset(slot, 1, false);
    (*memory)->EndRequest();
    if (written > 0) std::memcpy(static_cast<uint8_t*>(mapped) + offset, choices.rest(), written);
    (void)(*memory)->IsAnswered();
    for (int slot = 0; slot < sizes.num_slots; ++slot) {
      const auto result = (*memory)->Read(slot);
      if (!result.ok()) continue;
      lzero::CheckResult(sizes, *result);
      lzero::CheckViews(sizes, *result);
    }
  }
  munmap(mapped, num_bytes);
  return 0;
}
