// Counting: a toy that any learner must solve. The count starts at 0; the right action at count n
// is n modulo 3, pays 1 and counts on; a wrong action pays 0 and ends the episode, and so does
// reaching 10. Optimal return: 10 (the cap, when that is smaller); random play: about 0.5.
// Observation {11}: one-hot of the count. The seed changes nothing.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "envs/entries.h"
#include "envs/support/canvas.h"
#include "lzero/env/episode_env.h"

namespace lzero {
namespace {

constexpr int kTarget = 10;
constexpr int kNumActions = 3;
constexpr Color kPaper = {247, 244, 236};
constexpr Color kInk = {52, 60, 74};
constexpr Color kOpenBox = {222, 216, 202};
constexpr Color kCountedBox = {84, 158, 112};

class Counting : public EpisodeEnv {
 public:
  explicit Counting(EnvSpec spec) : EpisodeEnv(std::move(spec)) {}

  absl::StatusOr<std::string> RenderText() const override {
    return absl::StrCat("count ", count_, " of ", kTarget, "\n");
  }
  // 240 x 88 pixels: the count in figures, and a box for each step of the way.
  absl::StatusOr<Image> RenderRgb() const override {
    constexpr int kSide = 18;
    constexpr int kPitch = 22;
    constexpr int kMargin = (240 - (kTarget - 1) * kPitch - kSide) / 2;
    Image image(240, 88, kPaper);
    Canvas canvas(&image);
    constexpr int kTextScale = 4;
    const std::string text = absl::StrCat(count_, " / ", kTarget);
    canvas.Text((image.width - Canvas::TextWidth(kTextScale, text)) / 2, 14, kTextScale, text,
                kInk);
    for (int i = 0; i < kTarget; ++i) {
      canvas.FillRectangle(kMargin + i * kPitch, 56, kSide, kSide,
                           i < count_ ? kCountedBox : kOpenBox);
    }
    return image;
  }
  void StartGame(uint64_t) override { count_ = 0; }
  Outcome Advance(const Action& action) override {
    if (action.index != count_ % kNumActions) return {0.0f, true};
    ++count_;
    return {1.0f, count_ == kTarget};
  }
  void Observe(absl::Span<float> observation) const override {
    std::fill(observation.begin(), observation.end(), 0.0f);
    observation[count_] = 1.0f;
  }
  void SaveGame(StateWriter& writer) const override { writer.Write(static_cast<int32_t>(count_)); }
  absl::Status LoadGame(StateReader& reader) override {
    const int32_t count = reader.Read<int32_t>();
    LZ_RETURN_IF_ERROR(reader.Finish());
    if (count < 0 || count > kTarget) return reader.Impossible(absl::StrCat("count ", count));
    count_ = count;
    return absl::OkStatus();
  }

 private:
  int count_ = 0;
};

}  // namespace

EnvRegistry::Entry CountingEntry() {
  EnvSpec spec;
  spec.observation = {{kTarget + 1}, {0.0f}, {1.0f}};
  spec.action.num_actions = kNumActions;
  return CappedEntry<Counting>("counting",
                               "toy: count to 10 by choosing the right one of 3 actions", spec,
                               /*default_cap=*/0);
}

}  // namespace lzero
