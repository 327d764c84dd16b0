#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "envs/register_all.h"
#include "lzero/base/files.h"
#include "lzero/env/episode_env.h"
#include "tests/base/picture/picture_reader.h"
#include "tools/verbs/plain/envs_verb.h"

namespace lzero::envs_render_test {
namespace {

// `envs rollout` as a user calls it, with --render.
class EnvsRenderTest : public testing::Test {
 protected:
  EnvsRenderTest() {
    RegisterAllEnvs(registry_);
    folder_ = absl::StrCat(testing::TempDir(), "/lzero_envs_render_", getpid());
    EXPECT_TRUE(MakeDirectories(folder_).ok());
  }
  ~EnvsRenderTest() override { (void)RemoveTree(folder_); }

  std::string Path(const std::string& name) const { return JoinPath(folder_, name); }
  std::string Out() { return std::exchange(out_, std::ostringstream()).str(); }
  std::string Err() { return std::exchange(err_, std::ostringstream()).str(); }

  int Rollout(const std::string& id, PictureOptions picture, const std::string& out_path,
              std::optional<int64_t> num_steps, const std::string& actions = "random") {
    EnvsRolloutOptions options;
    options.target.id = id;
    options.actions = actions;
    options.num_steps = num_steps;
    options.out_path = out_path;
    options.picture = std::move(picture);
    return EnvsRollout(registry_, options, console_);
  }

  EnvRegistry registry_;
  std::ostringstream out_;
  std::ostringstream err_;
  Console console_{out_, err_};
  std::string folder_;
};

TEST_F(EnvsRenderTest, TextShowsEveryStateBelowWhatLedToIt) {
  ASSERT_TRUE(WriteFileAtomic(Path("actions.txt"), "0 1 0 0").ok());
  EXPECT_EQ(Rollout("counting", {"text"}, "", std::nullopt, Path("actions.txt")), 0);
  const std::string text =
      "episode 0, seed 0\n"
      "count 0 of 10\n\n"
      "step 1, action 0, reward 1, return 1\n"
      "count 1 of 10\n\n"
      "step 2, action 1, reward 1, return 2\n"
      "count 2 of 10\n\n"
      "step 3, action 0, reward 0, return 2 (terminated)\n"
      "count 2 of 10\n\n"
      "episode 1, seed 1\n"
      "count 0 of 10\n\n"
      "step 1, action 0, reward 1, return 1\n"
      "count 1 of 10\n\n";
  EXPECT_EQ(Out(), text);
  EXPECT_EQ(Rollout("counting", {"text"}, Path("a.txt"), std::nullopt, Path("actions.txt")), 0);
  EXPECT_EQ(Out(),
            absl::StrCat("counting: 4 steps, 1 episodes ended, written to ", Path("a.txt"), "\n"));
  EXPECT_EQ(*ReadFile(Path("a.txt")), text);
  EXPECT_EQ(Err(), "");
}

TEST_F(EnvsRenderTest, TextNamesTheValuesOfABoxAction) {
  ASSERT_TRUE(WriteFileAtomic(Path("actions.txt"), "0.5\n-1.25\n").ok());
  EXPECT_EQ(Rollout("pendulum", {"text"}, "", std::nullopt, Path("actions.txt")), 0);
  const std::string text = Out();
  EXPECT_NE(text.find("step 1, action 0.5, reward -"), std::string::npos) << text;
  EXPECT_NE(text.find("step 2, action -1.25, reward -"), std::string::npos) << text;
}

TEST_F(EnvsRenderTest, AGifShowsResetsAndSteps) {
  EXPECT_EQ(Rollout("catch", {"gif"}, Path("catch.gif"), 12), 0);
  const std::string content = *ReadFile(Path("catch.gif"));
  EXPECT_EQ(Out().rfind(absl::StrCat("catch: 12 steps, 1 episodes ended, written to ",
                                     Path("catch.gif"), " (14 pictures of 120 x 240 pixels, "),
                        0),
            0u);
  const auto shown = ReadGif(content);
  ASSERT_TRUE(shown.has_value());
  ASSERT_EQ(shown->frames.size(), 14u);  // 1 + 9 of the first episode, 1 + 3 of the second
  EXPECT_TRUE(shown->loops_for_ever);
  EXPECT_EQ(shown->frames[9].delay_ms, 600);
  EXPECT_EQ(shown->frames[13].delay_ms, 100);
  // The environment itself: the same actions show the same pictures.
  const auto env = *registry_.Make("catch", {});
  env->Reset(0);
  EXPECT_EQ(shown->frames[0].picture.pixels, env->RenderRgb()->pixels);
  env->Reset(1);
  EXPECT_EQ(shown->frames[10].picture.pixels, env->RenderRgb()->pixels);
}

TEST_F(EnvsRenderTest, ActionsOfAFileAreShown) {
  ASSERT_TRUE(WriteFileAtomic(Path("actions.txt"), "0 1 2").ok());
  EXPECT_EQ(Rollout("counting", {"png", std::nullopt, 2}, Path("counting"), std::nullopt,
                    Path("actions.txt")),
            0);
  const auto env = *registry_.Make("counting", {});
  env->Reset(0);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(env->Step(Action::Discrete(i)).ok());
  const Image last = *env->RenderRgb();
  const auto shown = ReadPng(*ReadFile(Path("counting/frame_0003.png")));
  ASSERT_TRUE(shown.has_value());
  ASSERT_EQ(shown->width, 2 * last.width);
  for (int y = 0; y < last.height; ++y) {
    for (int x = 0; x < last.width; ++x) ASSERT_EQ(shown->at(2 * x + 1, 2 * y + 1), last.at(x, y));
  }
  EXPECT_EQ(ListDirectory(Path("counting"))->size(), 4u);
}

TEST_F(EnvsRenderTest, RandomRolloutsAreShort) {
  EXPECT_EQ(Rollout("counting", {"text"}, Path("a.txt"), std::nullopt), 0);
  EXPECT_NE(Out().find("counting: 200 steps, "), std::string::npos);
  EXPECT_EQ(Rollout("counting", {"gif"}, Path("a.gif"), 5001), 2);
  EXPECT_EQ(Err(),
            "error: 5001 steps are to be played; allowed with --render: 1 to 5000, see "
            "--steps\n");
  EXPECT_FALSE(FileExists(Path("a.gif")));
}

TEST_F(EnvsRenderTest, WrongUsageIsToldAndWritesNothing) {
  const auto error = [&](PictureOptions picture, const std::string& id = "catch") {
    EXPECT_EQ(Rollout(id, std::move(picture), Path("a.gif"), 5), 2);
    EXPECT_EQ(Out(), "");
    EXPECT_FALSE(FileExists(Path("a.gif")));
    return Err();
  };
  EXPECT_EQ(error({"jpeg"}), "error: --render: got 'jpeg', allowed: text, png, gif\n");
  EXPECT_EQ(error({"gif", 0}), "error: --fps is 0; allowed: an integer from 1 to 50\n");
  EXPECT_EQ(error({"gif", 5, 0}), "error: --scale is 0; allowed: an integer from 1 to 16\n");
  EXPECT_EQ(error({"", 5}), "error: --fps is of an animation; add --render gif\n");
  EXPECT_NE(error({"gif"}, "catsh").find("no environment 'catsh'; did you mean 'catch'?"),
            std::string::npos);
  ASSERT_TRUE(WriteFileAtomic(Path("actions.txt"), "0 7").ok());
  EXPECT_EQ(Rollout("catch", {"gif"}, Path("a.gif"), std::nullopt, Path("actions.txt")), 2);
  EXPECT_EQ(Err(), "error: action number 2: action 7 is out of range; 'catch' takes 0 .. 2\n");
  EXPECT_FALSE(FileExists(Path("a.gif")));
}

// An environment that cannot be seen.
class Invisible : public EpisodeEnv {
 public:
  Invisible() : EpisodeEnv(Spec()) {}

 protected:
  void StartGame(uint64_t) override {}
  Outcome Advance(const Action&) override { return {1.0f, true}; }
  void Observe(absl::Span<float> observation) const override { observation[0] = 0.0f; }

 private:
  static EnvSpec Spec() {
    EnvSpec spec;
    spec.id = "invisible";
    spec.observation = {{1}, {0.0f}, {1.0f}};
    spec.action.num_actions = 2;
    return spec;
  }
};

TEST_F(EnvsRenderTest, AnEnvironmentWithoutPicturesSaysSo) {
  registry_.Register(
      {"invisible", "for tests", [](const EnvOptions&) -> absl::StatusOr<std::unique_ptr<Env>> {
         return std::make_unique<Invisible>();
       }});
  EXPECT_EQ(Rollout("invisible", {"gif"}, Path("a.gif"), 5), 2);
  EXPECT_EQ(Err(), "error: environment 'invisible' cannot draw a picture\n");
  EXPECT_EQ(Rollout("invisible", {"png"}, Path("a"), 5), 2);
  EXPECT_EQ(Err(), "error: environment 'invisible' cannot draw a picture\n");
  EXPECT_EQ(Rollout("invisible", {"text"}, "", 5), 2);
  EXPECT_EQ(Err(), "error: environment 'invisible' cannot draw itself as text\n");
  EXPECT_EQ(Out(), "");
  EXPECT_TRUE(ListDirectory(folder_)->empty());
}

TEST_F(EnvsRenderTest, NoFolderIsAWrongCommandAndAnUnwritableOneAFailure) {
  const std::string gif = Path("no/such/folder/a.gif");
  EXPECT_EQ(Rollout("catch", {"gif"}, gif, 5), 2);
  EXPECT_EQ(Err(), absl::StrCat("error: cannot create ", gif, ": no folder ",
                                Path("no/such/folder"), "\n"));
  const std::string text = Path("no/such/folder/a.txt");
  EXPECT_EQ(Rollout("catch", {"text"}, text, 5), 2);
  EXPECT_NE(Err().find(absl::StrCat("cannot create ", text, ": no folder ")), std::string::npos);
  EXPECT_EQ(Rollout("catch", {"png"}, "/proc/lzero/frames", 5), 1);
  EXPECT_NE(Err().find("cannot create folder /proc/lzero/frames: "), std::string::npos);
}

}  // namespace
}  // namespace lzero::envs_render_test
