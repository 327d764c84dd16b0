#include "lzero/env/check/native_checks.h"

#include <gtest/gtest.h>

#include "tests/env/walk_env.h"

namespace lzero::native_checks_test {
namespace {

// A walk that draws as it is told to.
class Drawn : public WalkEnv {
 public:
  explicit Drawn(const std::string& picture) : picture_(picture) {}
  absl::StatusOr<std::string> RenderText() const override { return "walk\n"; }
  absl::StatusOr<Image> RenderRgb() const override {
    if (picture_ == "none") return WalkEnv::RenderRgb();
    const int position = static_cast<int>(GetState()->front());
    Image image(picture_ == "grows" ? 6 + position : 6, 1);
    if (picture_ != "blank") image.pixels[picture_ == "still" ? 0 : position * 3] = 200;
    return image;
  }

 private:
  std::string picture_;
};

// What is wrong with such an environment, a check a line.
std::string ProblemsOf(const std::string& picture, bool checks_cap = true) {
  EnvRegistry registry;
  registry.Register({"walk", "for tests", [=](const EnvOptions& options) {
                       using Result = absl::StatusOr<std::unique_ptr<Env>>;
                       const absl::Status cap = CheckStepCap(options.id, options);
                       if (checks_cap && !cap.ok()) return Result(cap);
                       return Result(std::make_unique<Drawn>(picture));
                     }});
  EXPECT_TRUE(IsNative(**registry.Find("walk")));
  std::string problems;
  for (const ConformanceCheck& check : RunNativeChecks(registry, "walk", {})) {
    EXPECT_FALSE(check.hinders);
    if (!check.passed) problems += check.name + ": " + check.detail + "\n";
  }
  return problems;
}

TEST(NativeChecksTest, AskForPicturesOfOneSizeThatChange) {
  EXPECT_EQ(ProblemsOf("good"), "");
  EXPECT_EQ(ProblemsOf("none"), "draws_pictures: environment 'walk' cannot draw a picture\n");
  EXPECT_EQ(ProblemsOf("blank"), "draws_pictures: RenderRgb draws one color alone\n");
  EXPECT_EQ(ProblemsOf("still"),
            "draws_pictures: RenderRgb draws the same picture at every step\n");
  EXPECT_EQ(ProblemsOf("grows").substr(0, 45), "draws_pictures: RenderRgb changes its size, f");
}

TEST(NativeChecksTest, AskForARefusalOfANegativeCap) {
  EXPECT_EQ(ProblemsOf("good", false),
            "negative_cap_refused: max_episode_steps -1 is not refused; CheckStepCap does "
            "(lzero/env/env_registry.h)\n");
}

TEST(NativeChecksTest, AskNothingOfPluginsAndFamilies) {
  EnvRegistry::Entry entry;
  entry.id = "plugin:walk";
  EXPECT_FALSE(IsNative(entry));
  entry.id = "gymnasium:";
  EXPECT_FALSE(IsNative(entry));
}

}  // namespace
}  // namespace lzero::native_checks_test
