#include "tools/verbs/support/picture_output.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lzero/base/files.h"
#include "lzero/env/env.h"
#include "tests/base/picture/picture_reader.h"

namespace lzero::picture_output_test {
namespace {

// Draws 8 x 4 pixels, of which the first `red` ones are red.
class Painter : public Env {
 public:
  explicit Painter(int num_players = 1) {
    spec_.id = "painter:of/Reds-v1";
    spec_.num_players = num_players;
  }
  const EnvSpec& spec() const override { return spec_; }
  TimeStep Reset(uint64_t) override { return {}; }
  absl::StatusOr<TimeStep> Step(const Action&) override { return TimeStep(); }
  absl::StatusOr<Image> RenderRgb() const override { return Picture(red); }

  static Image Picture(int red) {
    Image image(8, 4);
    for (int i = 0; i < red; ++i) image.set(i % 8, i / 8, {255, 0, 0});
    return image;
  }

  int red = 0;

 private:
  EnvSpec spec_;
};

class Blind : public Painter {
 public:
  absl::StatusOr<Image> RenderRgb() const override { return Env::RenderRgb(); }
};

class PictureOutputTest : public testing::Test {
 protected:
  PictureOutputTest() {
    folder_ = absl::StrCat(testing::TempDir(), "/lzero_picture_output_", getpid());
    EXPECT_TRUE(MakeDirectories(folder_).ok());
  }
  ~PictureOutputTest() override { (void)RemoveTree(folder_); }

  std::string Path(const std::string& name) const { return JoinPath(folder_, name); }
  std::string FormatError(const PictureOptions& options,
                          std::vector<absl::string_view> formats = {"text", "png", "gif"}) {
    const absl::Status status = CheckPictureOptions(options, formats);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  }

  std::string folder_;
};

TEST_F(PictureOutputTest, GifsShowTheEndOfAnEpisodeLonger) {
  Painter env;
  auto recorder = *PictureRecorder::Create({"gif", 20, 3}, Path("a.gif"), env.spec(), {100});
  for (const bool ended : {false, true, false}) {
    ASSERT_TRUE(recorder->Add(env, ended).ok());
    ++env.red;
  }
  EXPECT_FALSE(recorder->is_full());
  EXPECT_FALSE(FileExists(Path("a.gif")));  // nothing half written is ever there
  const std::string written = *recorder->Finish();
  const std::string content = *ReadFile(Path("a.gif"));
  EXPECT_EQ(written, absl::StrCat(Path("a.gif"), " (3 pictures of 24 x 12 pixels, ", content.size(),
                                  " bytes)"));
  const auto shown = ReadGif(content);
  ASSERT_TRUE(shown.has_value());
  ASSERT_EQ(shown->frames.size(), 3u);
  EXPECT_EQ(shown->frames[0].delay_ms, 50);
  EXPECT_EQ(shown->frames[1].delay_ms, 550);
  EXPECT_EQ(shown->frames[2].delay_ms, 50);
  EXPECT_EQ(shown->frames[2].picture.width, 24);
  EXPECT_EQ(shown->frames[2].picture.at(5, 0), (Color{255, 0, 0}));
  EXPECT_EQ(shown->frames[2].picture.at(6, 0), (Color{0, 0, 0}));
}

TEST_F(PictureOutputTest, GamesOfTwoPlayersAreShownSlowly) {
  for (const int num_players : {1, 2}) {
    Painter env(num_players);
    auto recorder = *PictureRecorder::Create({"gif"}, Path("b.gif"), env.spec(), {100});
    ASSERT_TRUE(recorder->Add(env, false).ok());
    ASSERT_TRUE(recorder->Finish().ok());
    EXPECT_EQ(ReadGif(*ReadFile(Path("b.gif")))->frames[0].delay_ms, num_players == 2 ? 500 : 100);
  }
}

TEST_F(PictureOutputTest, PngsAreNumbered) {
  Painter env;
  auto recorder = *PictureRecorder::Create({"png"}, Path("deep/frames"), env.spec(), {100});
  for (; env.red < 3; ++env.red) ASSERT_TRUE(recorder->Add(env, false).ok());
  const std::string written = *recorder->Finish();
  EXPECT_EQ(written.rfind(absl::StrCat(Path("deep/frames"),
                                       "/frame_0000.png .. frame_0002.png (3 pictures of 8 x 4 "
                                       "pixels, "),
                          0),
            0u)
      << written;
  EXPECT_EQ(*ListDirectory(Path("deep/frames")),
            (std::vector<std::string>{"frame_0000.png", "frame_0001.png", "frame_0002.png"}));
  for (int red = 0; red < 3; ++red) {
    const auto read = ReadPng(*ReadFile(Path(absl::StrCat("deep/frames/frame_000", red, ".png"))));
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->pixels, Painter::Picture(red).pixels);
  }
}

TEST_F(PictureOutputTest, TakesNoMoreThanItMay) {
  for (const char* format : {"gif", "png"}) {
    Painter env;
    auto recorder =
        *PictureRecorder::Create({format}, Path(absl::StrCat("few_", format)), env.spec(), {2});
    for (const bool full : {false, false, true, true}) {
      EXPECT_EQ(recorder->is_full(), full);
      ASSERT_TRUE(recorder->Add(env, false).ok());
    }
    EXPECT_NE(recorder->Finish()->find("2 pictures"), std::string::npos);
  }
}

TEST_F(PictureOutputTest, AGifHoldsNoMoreBytesThanItMay) {
  Painter env;
  // 8 x 4 pixels at first, then one that is new each time.
  auto recorder = *PictureRecorder::Create({"gif"}, Path("a.gif"), env.spec(), {100, 3 * 32 + 4});
  for (const bool full : {false, false, false, true}) {
    EXPECT_EQ(recorder->is_full(), full);
    ASSERT_TRUE(recorder->Add(env, false).ok());
    ++env.red;
  }
  EXPECT_NE(recorder->Finish()->find("3 pictures"), std::string::npos);
}

TEST_F(PictureOutputTest, DefaultNamesHoldNoSlashOrColon) {
  EXPECT_EQ(DefaultPicturePath("gymnasium:ALE/Pong-v5", "gif"), "gymnasium_ALE_Pong-v5.gif");
  EXPECT_EQ(DefaultPicturePath("minigrid/empty", "png"), "minigrid_empty_frames");
  EXPECT_EQ(DefaultPicturePath("../x y", "gif"), ".._x_y.gif");
}

TEST_F(PictureOutputTest, WrongOptionsAreNamed) {
  EXPECT_TRUE(CheckPictureOptions({}, {"text"}).ok());
  EXPECT_TRUE(CheckPictureOptions({"gif", 50, 16}, {"gif"}).ok());
  EXPECT_TRUE(CheckPictureOptions({"png", std::nullopt, 1}, {"png"}).ok());
  EXPECT_EQ(FormatError({"jpeg"}), "--render: got 'jpeg', allowed: text, png, gif");
  EXPECT_EQ(FormatError({"png"}, {"text", "gif"}), "--render: got 'png', allowed: text, gif");
  EXPECT_EQ(FormatError({"gif", 0}), "--fps is 0; allowed: an integer from 1 to 50");
  EXPECT_EQ(FormatError({"gif", 51}), "--fps is 51; allowed: an integer from 1 to 50");
  EXPECT_EQ(FormatError({"gif", 1, 0}), "--scale is 0; allowed: an integer from 1 to 16");
  EXPECT_EQ(FormatError({"gif", 1, 17}), "--scale is 17; allowed: an integer from 1 to 16");
  EXPECT_EQ(FormatError({"png", 10}), "--fps is of an animation; add --render gif");
  EXPECT_EQ(FormatError({"", 10}), "--fps is of an animation; add --render gif");
  EXPECT_EQ(FormatError({"text", std::nullopt, 2}),
            "--scale is of pictures; add --render gif or --render png");
  EXPECT_EQ(FormatError({"", std::nullopt, 2}, {"text", "gif"}),
            "--scale is of pictures; add --render gif");
}

TEST_F(PictureOutputTest, WrongPathsAreToldBeforeAnythingIsPlayed) {
  const Painter env;
  const auto error = [&](const char* format, const std::string& path) {
    return PictureRecorder::Create({format}, path, env.spec(), {10}).status();
  };
  EXPECT_EQ(error("gif", Path("no/such/a.gif")),
            absl::InvalidArgumentError(absl::StrCat("cannot create ", Path("no/such/a.gif"),
                                                    ": no folder ", Path("no/such"))));
  EXPECT_EQ(error("png", "a.PNG"),
            absl::InvalidArgumentError("--out: got 'a.PNG', allowed with --render png: a folder, "
                                       "which gets frame_0000.png, frame_0001.png and so on"));
  ASSERT_TRUE(WriteFileAtomic(Path("file"), "x").ok());
  EXPECT_EQ(error("png", Path("file")),
            absl::InvalidArgumentError(absl::StrCat(
                "--out: '", Path("file"), "' is a file; allowed with --render png: a folder")));
  ASSERT_TRUE(MakeDirectories(Path("full")).ok());
  ASSERT_TRUE(WriteFileAtomic(Path("full/notes.txt"), "x").ok());
  EXPECT_TRUE(error("png", Path("full")).ok());
  ASSERT_TRUE(WriteFileAtomic(Path("full/frame_0007.png"), "x").ok());
  EXPECT_EQ(error("png", Path("full")),
            absl::InvalidArgumentError(
                absl::StrCat("--out: folder ", Path("full"),
                             " holds frame_0007.png already; allowed: one without such pictures")));
}

TEST_F(PictureOutputTest, WhatCannotBeDrawnOrWrittenIsAnError) {
  const Blind blind;
  Painter env;
  for (const char* format : {"gif", "png"}) {
    const std::string path = Path(absl::StrCat("blind_", format));
    auto recorder = *PictureRecorder::Create({format}, path, blind.spec(), {10});
    EXPECT_EQ(recorder->Add(blind, false),
              absl::UnimplementedError("environment 'painter:of/Reds-v1' cannot draw a picture"));
    EXPECT_FALSE(FileExists(path));  // no empty folder either
  }
  // A folder that stands where the file shall be.
  ASSERT_TRUE(MakeDirectories(Path("taken.gif")).ok());
  EXPECT_EQ(
      PictureRecorder::Create({"gif"}, Path("taken.gif"), env.spec(), {10}).status(),
      absl::InvalidArgumentError(absl::StrCat("--out: '", Path("taken.gif"),
                                              "' is a folder; allowed with --render gif: a file")));
}

TEST(ShownEpisodesText, SaysWhichEpisodesFitted) {
  EXPECT_EQ(ShownEpisodesText(20, 20), "all 20");
  EXPECT_EQ(ShownEpisodesText(0, 1), "the beginning of the first, then it is full");
  EXPECT_EQ(ShownEpisodesText(9, 4000), "the first 9 of 4000, then it is full");
}

}  // namespace
}  // namespace lzero::picture_output_test
