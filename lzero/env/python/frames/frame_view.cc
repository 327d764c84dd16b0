#include "lzero/env/python/frames/frame_view.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"

namespace lzero {

FrameView::FrameView(const WorkerSpec& spec)
    : spec_(spec),
      observation_(static_cast<size_t>(spec.observation.size()), 0.0f),
      incoming_(spec.observation.type == ObservationType::kFloat32 ? observation_.size() : 0) {}

absl::Status FrameView::Keep(const WorkerResult& result) {
  if (spec_.observation.type == ObservationType::kUint8) {
    BytesToFractions(result.frames.first(observation_.size()), observation_.data());
    return absl::OkStatus();
  }
  std::memcpy(incoming_.data(), result.frames.data(), incoming_.size() * sizeof(float));
  for (size_t i = 0; i < incoming_.size(); ++i) {
    if (!std::isfinite(incoming_[i])) {
      return absl::InternalError(
          absl::StrCat("the environment gives observation[", i, "] = ", incoming_[i]));
    }
  }
  observation_.swap(incoming_);
  return absl::OkStatus();
}

absl::StatusOr<ViewedStep> FrameView::Next(const WorkerResult& result) {
  LZ_RETURN_IF_ERROR(Keep(result));
  return ViewedStep{result.reward, result.terminated, result.truncated};
}

void FrameView::Observe(absl::Span<float> observation) const {
  std::copy(observation_.begin(), observation_.end(), observation.begin());
}

}  // namespace lzero
