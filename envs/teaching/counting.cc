#include "envs/teaching/counting.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "envs/support/canvas.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

constexpr Color kPaper = {247, 244, 236};
constexpr Color kInk = {52, 60, 74};
constexpr Color kOpenBox = {222, 216, 202};
constexpr Color kCountedBox = {84, 158, 112};

}  // namespace

absl::StatusOr<std::unique_ptr<Env>> Counting::Create(const EnvOptions& options) {
  EnvSpec spec;
  spec.id = "counting";
  spec.observation = {{kTarget + 1}, {0.0f}, {1.0f}};
  spec.action.num_actions = kNumActions;
  spec.max_episode_steps = options.max_episode_steps;
  spec.can_save = true;
  LZ_RETURN_IF_ERROR(CheckStepCap(spec.id, options));
  LZ_RETURN_IF_ERROR(CheckNoRandomOpenings(spec.id, options));
  return std::unique_ptr<Env>(new Counting(std::move(spec)));
}

void Counting::StartGame(uint64_t) { count_ = 0; }

EpisodeEnv::Outcome Counting::Advance(const Action& action) {
  if (action.index != count_ % kNumActions) return {0.0f, true};
  ++count_;
  return {1.0f, count_ == kTarget};
}

void Counting::Observe(absl::Span<float> observation) const {
  std::fill(observation.begin(), observation.end(), 0.0f);
  observation[count_] = 1.0f;
}

void Counting::SaveGame(StateWriter& writer) const { writer.Write(static_cast<int32_t>(count_)); }

absl::Status Counting::LoadGame(StateReader& reader) {
  const int32_t count = reader.Read<int32_t>();
  LZ_RETURN_IF_ERROR(reader.Finish());
  if (count < 0 || count > kTarget) return reader.Impossible(absl::StrCat("count ", count));
  count_ = count;
  return absl::OkStatus();
}

absl::StatusOr<std::string> Counting::RenderText() const {
  return absl::StrCat("count ", count_, " of ", kTarget, "\n");
}

absl::StatusOr<Image> Counting::RenderRgb() const {
  constexpr int kSide = 18;
  constexpr int kPitch = 22;
  constexpr int kMargin = (240 - (kTarget - 1) * kPitch - kSide) / 2;
  Image image(240, 88, kPaper);
  Canvas canvas(&image);
  constexpr int kTextScale = 4;
  const std::string text = absl::StrCat(count_, " / ", kTarget);
  canvas.Text((image.width - Canvas::TextWidth(kTextScale, text)) / 2, 14, kTextScale, text, kInk);
  for (int i = 0; i < kTarget; ++i) {
    canvas.FillRectangle(kMargin + i * kPitch, 56, kSide, kSide,
                         i < count_ ? kCountedBox : kOpenBox);
  }
  return image;
}

}  // namespace lzero
