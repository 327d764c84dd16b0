#include "lzero/env/python/frames/atari_view.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/env/python/frames/atari_frames.h"

namespace lzero::atari_view_test {
namespace {

std::unique_ptr<FrameView> MakeView(const WorkerSpec& spec, const AtariOptions& options) {
  return MakeAtariView(spec, options).value();
}

absl::Status CheckSpec(const WorkerSpec& spec, const AtariOptions& options) {
  return MakeAtariView(spec, options).status();
}

// The stacked pictures as bytes, oldest first.
std::vector<uint8_t> Frames(const FrameView& view) {
  std::vector<float> fractions(static_cast<size_t>(view.observation().size()));
  view.Observe(absl::MakeSpan(fractions));
  std::vector<uint8_t> bytes(fractions.size());
  EXPECT_EQ(FractionsToBytes(fractions, bytes.data()), -1);
  return bytes;
}

// The brightness of each of them.
std::vector<int> Stack(const FrameView& view) {
  const std::vector<uint8_t> frames = Frames(view);
  std::vector<int> brightness;
  for (size_t i = 0; i < frames.size(); i += 4) brightness.push_back(frames[i]);
  return brightness;
}

// Begins a game whose first picture is this bright.
void Begin(FrameView& view, uint8_t brightness, int32_t lives = 3) {
  ASSERT_TRUE(view.BeginEpisode(0));
  const GameAnswer first(0, brightness, 1, lives);
  ASSERT_TRUE(view.First(first.result).ok());
  ASSERT_TRUE(view.Prelude().empty());
}

TEST(AtariViewTest, RefusesWhatIsNoGame) {
  AtariOptions options = SmallGameOptions();
  EXPECT_TRUE(CheckSpec(SmallGameSpec(), options).ok());
  EXPECT_EQ(CheckSpec(SmallGameSpec(3), options),
            absl::InvalidArgumentError(
                "an Atari game gives pictures of bytes, 1 channels and at least 2 rows and columns "
                "(screen_size); got [4, 3, 3]"));
  options.is_grey = false;
  EXPECT_TRUE(CheckSpec(SmallGameSpec(3), options).ok());
  EXPECT_FALSE(CheckSpec(SmallGameSpec(), options).ok());
  options = SmallGameOptions();
  options.screen_size = 4;  // more than 3 columns
  EXPECT_FALSE(CheckSpec(SmallGameSpec(), options).ok());
  options = SmallGameOptions();
  WorkerSpec spec = SmallGameSpec();
  spec.observation.type = ObservationType::kFloat32;
  EXPECT_FALSE(CheckSpec(spec, options).ok());
  spec = SmallGameSpec();
  spec.observation.shape = {4, 3};
  EXPECT_FALSE(CheckSpec(spec, options).ok());
  spec = SmallGameSpec();
  spec.observation.shape = {4096, 4096, 1};
  EXPECT_FALSE(CheckSpec(spec, options).ok());
  spec = SmallGameSpec();
  spec.action.kind = ActionKind::kBox;
  EXPECT_FALSE(CheckSpec(spec, options).ok());
}

TEST(AtariViewTest, SaysWhatItShows) {
  AtariOptions options = SmallGameOptions();
  options.is_grey = false;
  options.num_stacked = 4;
  options.max_noops = 30;
  const auto view = MakeView(SmallGameSpec(3), options);
  EXPECT_EQ(view->observation().shape, std::vector<int64_t>({12, 2, 2}));
  EXPECT_EQ(view->observation().type, ObservationType::kUint8);
  EXPECT_EQ(view->observation().frame_stack, 4) << "the oldest picture first, one new at each step";
  EXPECT_EQ(view->observation().low, std::vector<float>({0.0f}));
  EXPECT_EQ(view->observation().high, std::vector<float>({1.0f}));
  EXPECT_EQ(view->num_frames(), 2);
  EXPECT_EQ(view->max_repeat(), 30) << "as many no-ops in one message";
  options.max_noops = 3;
  EXPECT_EQ(MakeView(SmallGameSpec(3), options)->max_repeat(), 4) << "a step of 4 frames";
  EXPECT_EQ(view->max_episode_steps(), 0);
}

TEST(AtariViewTest, ShowsTheBrighterOfTheLastTwoFrames) {
  const auto view = MakeView(SmallGameSpec(), SmallGameOptions());
  Begin(*view, 9);
  EXPECT_EQ(Stack(*view), std::vector<int>({9})) << "the first picture alone, not the one before";
  ASSERT_TRUE(view->Next(GameAnswer(50, 20, 4).result).ok());
  EXPECT_EQ(Stack(*view), std::vector<int>({50}));
  ASSERT_TRUE(view->Next(GameAnswer(30, 40, 2).result).ok());
  EXPECT_EQ(Stack(*view), std::vector<int>({40}));
  // A game that ends after one frame: the other buffer holds nothing of this step.
  ASSERT_TRUE(view->Next(GameAnswer(99, 5, 1).result).ok());
  EXPECT_EQ(Stack(*view), std::vector<int>({5}));
}

TEST(AtariViewTest, TakesTheMaximumOfEachPixel) {
  const auto view = MakeView(SmallGameSpec(), SmallGameOptions());
  Begin(*view, 0);
  GameAnswer answer(0, 0, 4);
  // The upper half (two rows of three) is bright in one frame, the lower in the other.
  std::fill(answer.pictures.begin(), answer.pictures.begin() + 6, 100);
  std::fill(answer.pictures.begin() + 18, answer.pictures.end(), 60);
  ASSERT_TRUE(view->Next(answer.result).ok());
  EXPECT_EQ(Frames(*view), std::vector<uint8_t>({100, 100, 60, 60}));
}

TEST(AtariViewTest, StacksTheNewestPicturesOldestFirst) {
  AtariOptions options = SmallGameOptions();
  options.num_stacked = 3;
  const auto view = MakeView(SmallGameSpec(), options);
  Begin(*view, 10);
  EXPECT_EQ(Stack(*view), std::vector<int>({10, 10, 10}));
  for (const uint8_t brightness : {20, 30, 40}) {
    ASSERT_TRUE(view->Next(GameAnswer(0, brightness, 4).result).ok());
  }
  EXPECT_EQ(Stack(*view), std::vector<int>({20, 30, 40}));
  ASSERT_TRUE(view->Next(GameAnswer(0, 50, 4).result).ok());
  EXPECT_EQ(Stack(*view), std::vector<int>({30, 40, 50}));
  std::vector<float> observation(12);
  view->Observe(absl::MakeSpan(observation));
  EXPECT_EQ(observation[0], 30.0f / 255.0f);
  EXPECT_EQ(observation[4], 40.0f / 255.0f);
  EXPECT_EQ(observation[11], 50.0f / 255.0f);
  Begin(*view, 7);
  EXPECT_EQ(Stack(*view), std::vector<int>({7, 7, 7})) << "nothing of the episode before";
}

TEST(AtariViewTest, BeginsWithNoopsByTheSeed) {
  AtariOptions options = SmallGameOptions();
  options.max_noops = 5;
  const auto view = MakeView(SmallGameSpec(), options), other = MakeView(SmallGameSpec(), options);
  std::map<size_t, int> counts;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    ASSERT_TRUE(view->BeginEpisode(seed));
    const std::vector<int32_t> noops = view->Prelude();
    for (const int32_t action : noops) EXPECT_EQ(action, 0);
    ++counts[noops.size()];
    ASSERT_TRUE(other->BeginEpisode(seed));
    EXPECT_EQ(other->Prelude(), noops) << "seed " << seed;
    other->Repeats(2);  // what is drawn later does not matter
  }
  // 1 .. 5 with 200 expected of each, deviation sqrt(1000 / 5 * 4 / 5) = 12.6; 5 of them allowed.
  ASSERT_EQ(counts.size(), 5u);
  for (size_t n = 1; n <= 5; ++n) EXPECT_NEAR(counts[n], 200, 64) << n;
}

TEST(AtariViewTest, ShowsThePictureAfterTheNoops) {
  AtariOptions options = SmallGameOptions();
  options.max_noops = 5;
  const auto view = MakeView(SmallGameSpec(), options);
  ASSERT_TRUE(view->BeginEpisode(1));
  ASSERT_TRUE(view->First(GameAnswer(0, 10, 1).result).ok());
  const auto count = static_cast<uint32_t>(view->Prelude().size());
  ASSERT_TRUE(view->First(GameAnswer(30, 20, count).result).ok());
  EXPECT_EQ(Stack(*view), std::vector<int>({20}));
}

TEST(AtariViewTest, PlaysAnActionForSomeFrames) {
  AtariOptions options = SmallGameOptions();
  options.frame_skip = 3;
  const auto view = MakeView(SmallGameSpec(), options);
  Begin(*view, 0);
  EXPECT_EQ(view->Repeats(5), std::vector<int32_t>({5, 5, 5}));
  EXPECT_EQ(view->Repeats(1), std::vector<int32_t>({1, 1, 1}));
}

// Actions differ from step to step, so a repeated one is seen at the first frame; within a step it
// is seen only after a repetition.
TEST(AtariViewTest, RepeatsTheActionOfTheFrameBeforeWithItsProbability) {
  AtariOptions options = SmallGameOptions();
  options.sticky_probability = 0.25;
  options.frame_skip = 2;
  const auto view = MakeView(SmallGameSpec(), options);
  Begin(*view, 0);
  int first_stuck = 0, second_stuck = 0, second_chances = 0;
  int32_t before = 0;
  constexpr int kSteps = 4000;
  for (int step = 0; step < kSteps; ++step) {
    const int32_t action = 1 + step % 5;
    const std::vector<int32_t> played = view->Repeats(action);
    ASSERT_EQ(played.size(), 2u);
    ASSERT_TRUE(played[0] == action || played[0] == before) << "step " << step;
    ASSERT_TRUE(played[1] == action || played[1] == played[0]) << "step " << step;
    if (before != action) first_stuck += played[0] == before ? 1 : 0;
    if (played[0] != action) {
      ++second_chances;
      second_stuck += played[1] != action ? 1 : 0;
    }
    before = played[1];
  }
  // `before` is never the action: it is one of the steps before, and those are other actions. 0.25
  // of 4000, deviation sqrt(4000 * 0.25 * 0.75) = 27.4; 5 of them allowed.
  EXPECT_NEAR(first_stuck, 1000, 137);
  EXPECT_NEAR(second_stuck, second_chances * 0.25, 5 * std::sqrt(second_chances * 0.1875));
}

TEST(AtariViewTest, SticksToTheNoopAtTheBeginning) {
  AtariOptions options = SmallGameOptions();
  options.sticky_probability = 1.0;
  const auto view = MakeView(SmallGameSpec(), options);
  Begin(*view, 0);
  EXPECT_EQ(view->Repeats(3), std::vector<int32_t>({0, 0, 0, 0}));
  EXPECT_EQ(view->Repeats(4), std::vector<int32_t>({0, 0, 0, 0}));
}

TEST(AtariViewTest, SticksTheSameWayBySeed) {
  AtariOptions options = SmallGameOptions();
  options.sticky_probability = 0.5;
  const auto view = MakeView(SmallGameSpec(), options);
  const auto play = [&](uint64_t seed) {
    view->Forget();
    EXPECT_TRUE(view->BeginEpisode(seed));
    std::vector<int32_t> all;
    for (int32_t action = 0; action < 50; ++action) {
      for (const int32_t played : view->Repeats(action)) all.push_back(played);
    }
    return all;
  };
  const std::vector<int32_t> first = play(11);
  EXPECT_EQ(play(11), first) << "nothing is kept of the episode before";
  EXPECT_NE(play(12), first);
}

TEST(AtariViewTest, ClipsRewardsInTrainingOnly) {
  for (const bool is_training : {false, true}) {
    AtariOptions options = SmallGameOptions();
    options.is_training = is_training;
    const auto view = MakeView(SmallGameSpec(), options);
    Begin(*view, 0);
    const std::map<double, double> expected = {{7.0, 1.0}, {0.25, 1.0}, {0.0, 0.0}, {-400.0, -1.0}};
    for (const auto& [given, clipped] : expected) {
      const auto step = view->Next(GameAnswer(0, 0, 4).Pays(given).result);
      EXPECT_EQ(step->reward, is_training ? clipped : given);
    }
  }
  AtariOptions options = SmallGameOptions();
  options.is_training = true;
  options.clips_rewards = false;
  const auto view = MakeView(SmallGameSpec(), options);
  Begin(*view, 0);
  EXPECT_EQ(view->Next(GameAnswer(0, 0, 4).Pays(7.0).result)->reward, 7.0);
}

TEST(AtariViewTest, EndsATrainingEpisodeAtALostLifeAndGoesOnWithTheGame) {
  AtariOptions options = SmallGameOptions();
  options.is_training = true;
  options.num_stacked = 2;
  options.max_noops = 30;
  const auto view = MakeView(SmallGameSpec(), options);
  ASSERT_TRUE(view->BeginEpisode(5));
  ASSERT_TRUE(view->First(GameAnswer(0, 1, 1, 3).result).ok());
  ASSERT_TRUE(view->First(GameAnswer(0, 1, 2, 3).result).ok());
  EXPECT_FALSE(view->Next(GameAnswer(0, 2, 4, 3).result)->terminated);
  const auto lost = view->Next(GameAnswer(0, 3, 4, 2).Pays(1.0).result);
  EXPECT_TRUE(lost->terminated);
  EXPECT_FALSE(lost->truncated);
  EXPECT_EQ(lost->reward, 1.0);
  EXPECT_EQ(Stack(*view), std::vector<int>({2, 3}));

  EXPECT_FALSE(view->BeginEpisode(6)) << "the game is not over";
  EXPECT_EQ(view->Prelude(), std::vector<int32_t>({0})) << "one no-op instead of many";
  ASSERT_TRUE(view->First(GameAnswer(0, 4, 1, 2).result).ok());
  EXPECT_EQ(Stack(*view), std::vector<int>({4, 4}));
  EXPECT_FALSE(view->Next(GameAnswer(0, 5, 4, 2).result)->terminated)
      << "that life was lost before";
  EXPECT_FALSE(view->Next(GameAnswer(0, 5, 4, 3).result)->terminated) << "a life was won";
  EXPECT_TRUE(view->Next(GameAnswer(0, 5, 4, 2).result)->terminated);
  EXPECT_FALSE(view->BeginEpisode(7));
  // The last life: the game itself ends.
  ASSERT_TRUE(view->First(GameAnswer(0, 6, 1, 1).result).ok());
  EXPECT_TRUE(view->Next(GameAnswer(0, 6, 4, 0).Terminates().result)->terminated);
  EXPECT_TRUE(view->BeginEpisode(8));
}

TEST(AtariViewTest, DoesNotTakeNoLivesLeftForALostLife) {
  // Some games count to 0 while they go on, and those without lives say 0 all the time.
  AtariOptions options = SmallGameOptions();
  options.is_training = true;
  const auto view = MakeView(SmallGameSpec(), options);
  Begin(*view, 0, 1);
  EXPECT_FALSE(view->Next(GameAnswer(0, 0, 4, 0).result)->terminated);
  EXPECT_FALSE(view->Next(GameAnswer(0, 0, 4, 0).result)->terminated);
}

TEST(AtariViewTest, PlaysWholeGamesInEvaluationAndByChoice) {
  for (const bool is_training : {false, true}) {
    AtariOptions options = SmallGameOptions();
    options.is_training = is_training;
    options.ends_at_lost_life = !is_training;
    const auto view = MakeView(SmallGameSpec(), options);
    Begin(*view, 0);
    EXPECT_FALSE(view->Next(GameAnswer(0, 0, 4, 2).result)->terminated);
    EXPECT_FALSE(view->Next(GameAnswer(0, 0, 4, 1).result)->terminated);
    EXPECT_TRUE(view->Next(GameAnswer(0, 0, 4, 0).Terminates().result)->terminated);
    EXPECT_TRUE(view->BeginEpisode(1));
  }
}

TEST(AtariViewTest, ResetsAfterItWasToldToForget) {
  AtariOptions options = SmallGameOptions();
  options.is_training = true;
  const auto view = MakeView(SmallGameSpec(), options);
  Begin(*view, 0);
  ASSERT_TRUE(view->Next(GameAnswer(0, 0, 4, 2).result)->terminated);
  view->Forget();
  EXPECT_TRUE(view->BeginEpisode(1));
}

// Frames are those that were played; the picture after a reset is none.
TEST(AtariViewTest, TruncatesAGameAfterItsFrames) {
  AtariOptions options = SmallGameOptions();
  options.max_frames = 10;
  const auto view = MakeView(SmallGameSpec(), options);
  for (int game = 0; game < 2; ++game) {
    Begin(*view, 0);
    EXPECT_FALSE(view->Next(GameAnswer(0, 0, 4).result)->truncated);
    EXPECT_FALSE(view->Next(GameAnswer(0, 0, 4).result)->truncated);
    EXPECT_FALSE(view->Next(GameAnswer(0, 0, 1).result)->truncated) << "9 frames";
    const auto last = view->Next(GameAnswer(0, 0, 1).result);
    EXPECT_TRUE(last->truncated) << "10 frames";
    EXPECT_FALSE(last->terminated);
  }
}

TEST(AtariViewTest, CountsNoopsAsFrames) {
  AtariOptions options = SmallGameOptions();
  options.max_noops = 3;
  options.max_frames = 7;
  const auto view = MakeView(SmallGameSpec(), options);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    ASSERT_TRUE(view->BeginEpisode(seed));
    ASSERT_TRUE(view->First(GameAnswer(0, 0, 1).result).ok());
    const auto noops = static_cast<uint32_t>(view->Prelude().size());
    ASSERT_TRUE(view->First(GameAnswer(0, 0, noops).result).ok());
    for (uint32_t frames = noops + 1; frames <= 7; ++frames) {
      EXPECT_EQ(view->Next(GameAnswer(0, 0, 1).result)->truncated, frames == 7)
          << noops << " no-ops, " << frames << " frames";
    }
  }
}

TEST(AtariViewTest, CountsTheFramesOfAGameOverItsLives) {
  AtariOptions options = SmallGameOptions();
  options.is_training = true;
  options.max_frames = 13;
  const auto view = MakeView(SmallGameSpec(), options);
  Begin(*view, 0);
  EXPECT_TRUE(view->Next(GameAnswer(0, 0, 4, 2).result)->terminated);  // 4 frames
  ASSERT_FALSE(view->BeginEpisode(1));
  ASSERT_EQ(view->Prelude().size(), 1u);
  ASSERT_TRUE(view->First(GameAnswer(0, 0, 1, 2).result).ok());        // 5
  EXPECT_FALSE(view->Next(GameAnswer(0, 0, 4, 2).result)->truncated);  // 9
  // A life is lost and the frames are used up: the game does not go on.
  const auto last = view->Next(GameAnswer(0, 0, 4, 1).result);  // 13
  EXPECT_TRUE(last->truncated);
  EXPECT_FALSE(last->terminated);
  EXPECT_TRUE(view->BeginEpisode(2));
}

TEST(AtariViewTest, DoesNotTruncateWhatTerminates) {
  AtariOptions options = SmallGameOptions();
  options.max_frames = 4;
  const auto view = MakeView(SmallGameSpec(), options);
  Begin(*view, 0);
  const auto last = view->Next(GameAnswer(0, 0, 4, 0).Terminates().result);
  EXPECT_TRUE(last->terminated);
  EXPECT_FALSE(last->truncated);
}

TEST(AtariViewTest, PassesOnThatTheEmulatorTruncates) {
  AtariOptions options = SmallGameOptions();
  options.is_training = true;
  const auto view = MakeView(SmallGameSpec(), options);
  Begin(*view, 0);
  const auto last = view->Next(GameAnswer(0, 0, 4, 2).Truncates().result);
  EXPECT_TRUE(last->truncated);
  EXPECT_FALSE(last->terminated) << "a life lost at the same time ends nothing more";
  EXPECT_TRUE(view->BeginEpisode(1));
}

}  // namespace
}  // namespace lzero::atari_view_test
