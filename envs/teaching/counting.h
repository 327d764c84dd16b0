// Counting: a toy that any learner must solve. The count starts at 0; the right action at count n
// is n modulo 3, pays 1 and counts on; a wrong action pays 0 and ends the episode, and so does
// reaching 10. Optimal return: 10 (the cap, when that is smaller); random play: about 0.5.
// Observation {11}: one-hot of the count. The seed changes nothing.
#ifndef LZERO_ENVS_TEACHING_COUNTING_H_
#define LZERO_ENVS_TEACHING_COUNTING_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "lzero/env/env_registry.h"
#include "lzero/env/episode_env.h"

namespace lzero {

class Counting : public EpisodeEnv {
 public:
  static constexpr int kTarget = 10;
  static constexpr int kNumActions = 3;

  // InvalidArgument for a negative cap or random openings.
  static absl::StatusOr<std::unique_ptr<Env>> Create(const EnvOptions& options);

  absl::StatusOr<std::string> RenderText() const override;
  // 240 x 88 pixels: the count in figures, and a box for each step of the way.
  absl::StatusOr<Image> RenderRgb() const override;

 protected:
  void StartGame(uint64_t seed) override;
  Outcome Advance(const Action& action) override;
  void Observe(absl::Span<float> observation) const override;
  void SaveGame(StateWriter& writer) const override;
  absl::Status LoadGame(StateReader& reader) override;

 private:
  explicit Counting(EnvSpec spec) : EpisodeEnv(std::move(spec)) {}

  int count_ = 0;
};

}  // namespace lzero

#endif  // LZERO_ENVS_TEACHING_COUNTING_H_
