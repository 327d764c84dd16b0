// A good plugin for tests: two environments, one of them a class that is called like one of the
// program's; settings; a log line; a Status with a payload. `walk` is also what the damaged copies
// of plugin_test are made of.
#include <csignal>
#include <cstdlib>
#include <exception>
#include <stdexcept>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "envs/support/canvas.h"
#include "lzero/base/log.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/plugin.h"

namespace lzero {

// Right (1) until position `length`; the program's BoardEnv is another class.
class BoardEnv : public EpisodeEnv {
 public:
  static std::vector<EnvSetting> Settings() {
    return {EnvSetting::Int("length", 5, 2, 50, "steps to the end"),
            EnvSetting::Choice("fault", {"none", "throw", "throw_at_reset", "segfault", "abort"},
                               "what goes wrong")};
  }
  static absl::StatusOr<std::unique_ptr<Env>> Create(const EnvOptions& options) {
    LZ_ASSIGN_OR_RETURN(const EnvSettings settings,
                        EnvSettings::Create(options.id, Settings(), options.settings));
    if (settings.Int("length") == 13) {
      absl::Status refused = absl::InvalidArgumentError("length 13 brings bad luck");
      refused.SetPayload("tests/reason", absl::Cord("superstition"));
      return refused;
    }
    LZ_RETURN_IF_ERROR(CheckStepCap(options.id, options));
    EnvSpec spec;
    spec.id = options.id;
    spec.observation = {{1}, {0.0f}, {50.0f}};
    spec.action.num_actions = 2;
    spec.max_episode_steps = options.max_episode_steps > 0 ? options.max_episode_steps : 100;
    spec.can_save = true;
    return std::unique_ptr<Env>(
        new BoardEnv(std::move(spec), settings.Int("length"), settings.Choice("fault")));
  }
  absl::StatusOr<std::string> RenderText() const override {
    return absl::StrCat("walked ", position_, "\n");
  }
  absl::StatusOr<Image> RenderRgb() const override {
    Image image(20, 20);
    Canvas(&image).FillRectangle(0, 0, 20, static_cast<double>(position_), Color{9, 8, 7});
    return image;
  }

 protected:
  void StartGame(uint64_t seed) override {
    if (fault_ == "throw_at_reset") std::rethrow_exception(std::make_exception_ptr(7));
    position_ = RandomStream(seed, "walk start").UniformInt(2);
    if (seed == 12345) LZ_LOG_INFO("walk starts at ", position_);
  }
  Outcome Advance(const Action& action) override {
    if (fault_ == "throw") {
      std::rethrow_exception(std::make_exception_ptr(std::runtime_error("it \x1b[31mbroke")));
    }
    if (fault_ == "segfault") raise(SIGSEGV);
    if (fault_ == "abort") std::abort();
    position_ = action.index == 1 ? position_ + 1 : std::max<int64_t>(0, position_ - 1);
    return {position_ == length_ ? 1.0f : 0.0f, position_ == length_};
  }
  void Observe(absl::Span<float> observation) const override {
    observation[0] = static_cast<float>(position_);
  }
  void SaveGame(StateWriter& writer) const override { writer.Write(position_); }
  absl::Status LoadGame(StateReader& reader) override {
    const auto position = reader.Read<int64_t>();
    LZ_RETURN_IF_ERROR(reader.Finish());
    if (position < 0 || position > length_) {
      return reader.Impossible(absl::StrCat("position ", position));
    }
    position_ = position;
    return absl::OkStatus();
  }

 private:
  BoardEnv(EnvSpec spec, int64_t length, const std::string& fault)
      : EpisodeEnv(std::move(spec)), length_(length), fault_(fault) {}

  int64_t length_;
  std::string fault_;
  int64_t position_ = 0;
};

}  // namespace lzero

LZ_PLUGIN(envs) {
  for (const absl::string_view name : absl::StrSplit("walk,walk_again", ',')) {
    envs.Register({.id = std::string(name),
                   .summary = "walk to the right",
                   .factory = lzero::BoardEnv::Create,
                   .settings = lzero::BoardEnv::Settings()});
  }
}
