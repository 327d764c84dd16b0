// The plan of a run in words.
#include "lzero/train/plan_text.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/run/progress.h"
#include "tests/train/train_testing.h"

namespace lzero::plan_text_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

absl::StatusOr<std::string> PlanText(const ExperimentConfig& config) {
  const auto plan = PlanRun(config, NativeRegistry());
  if (!plan.ok()) return plan.status();
  return DescribePlan(config, *plan, "eager", /*detailed=*/true);
}

TEST(PlanTextTest, ThePlanTellsModelSearchRatioAndMemory) {
  ExperimentConfig config = TinyConfig();
  config.replay.max_mebibytes = 7;
  const auto plan = PlanText(config);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(*plan, HasSubstr("cartpole: observation [4], 2 actions, 1 player\n"));
  EXPECT_THAT(*plan,
              HasSubstr(" parameters, unizero: 1 layer, 1 head, width 8, context of 4 tokens\n"));
  EXPECT_THAT(*plan,
              HasSubstr("\nsearch        puct, 4 simulations a move\nrunner        eager\n"));
  EXPECT_THAT(*plan, HasSubstr("batch 4, unroll 2, 0.5 updates for each env step\n"));
  EXPECT_THAT(*plan, ContainsRegex("\nmemory        [0-9.]+ MiB planned: learner [0-9.]+ KiB, "
                                   "batch [0-9.]+ KiB, an update up to [0-9.]+ .iB, inference "
                                   "[0-9.]+ KiB, search [0-9.]+ KiB, replay up to [0-9.]+ .iB, a "
                                   "checkpoint [0-9.]+ KiB, the program and its libraries "
                                   "[0-9.]+ MiB\n$"));
}

TEST(PlanTextTest, ThePlanInShortTellsWhatANewUserAsks) {
  ExperimentConfig config = TinyConfig();
  config.stop.max_env_steps = 20000;
  config.stop.max_updates = 7;
  config.stop.target_return = 195.5;
  config.stop.patience = 3;
  RunPlan plan = PlanRun(config, NativeRegistry()).value();
  plan.num_parameters = 1234567;
  plan.memory = {};
  plan.memory.replay = int64_t{12} << 30;
  EXPECT_EQ(DescribePlan(config, plan, "eager", /*detailed=*/false),
            "environment   cartpole: observation [4], 2 actions, 1 player\n"
            "model         1,234,567 parameters, unizero: 1 layer, 1 head, width 8, context of 4 "
            "tokens\n"
            "search        puct, 4 simulations a move\n"
            "stops         after 20,000 env steps, or after 7 updates, or with a mean return of "
            "195.5 in 3 evaluations in a row\n"
            "memory        12.0 GiB planned\n");
  config.stop.end_at_target = false;
  config.stop.max_env_steps.reset();
  EXPECT_THAT(DescribePlan(config, plan, "eager", /*detailed=*/false),
              HasSubstr("\nstops         after 7 updates\n"));
}

TEST(PlanTextTest, ThePlanAdvisesAgainstSearchesOnAGpuWithoutGraphs) {
  ExperimentConfig config = TinyConfig();
  const RunPlan plan = PlanRun(config, NativeRegistry()).value();
  const auto is_advised = [&](Device device, Runner asked, const char* chosen) {
    config.inference.device = device;
    config.inference.runner = asked;
    return DescribePlan(config, plan, chosen, /*detailed=*/false).find("\ndevice  ") !=
           std::string::npos;
  };
  EXPECT_TRUE(is_advised(Device::kCuda, Runner::kAuto, "eager"));
  EXPECT_FALSE(is_advised(Device::kCpu, Runner::kAuto, "eager"));
  EXPECT_FALSE(is_advised(Device::kCuda, Runner::kEager, "eager"));
  EXPECT_FALSE(is_advised(Device::kCuda, Runner::kAuto, "cuda_search_graph"));
  config.inference.graphs = Graphs::kOff;
  EXPECT_FALSE(is_advised(Device::kCuda, Runner::kAuto, "eager"));
}

TEST(PlanTextTest, ThePlanTellsWhatReanalyzeCosts) {
  ExperimentConfig config = TinyConfig();
  EXPECT_THAT(PlanText(config).value(), Not(HasSubstr("reanalyze")));
  config.replay.reanalyze_ratio = 0.5;
  EXPECT_THAT(PlanText(config).value(),
              HasSubstr("\nreanalyze     0.5 stored positions searched again for each env step: "
                        "1.5 searches a step in the place of 1\n"));
  config.replay.reanalyze_ratio = 0.0;
  config.replay.fresh_share = 0.5;
  config.replay.fresh_updates = 20;
  config.replay.capacity = 1000;
  config.train.updates_per_env_step = 0.5;
  EXPECT_THAT(PlanText(config).value(),  // ln 2 * 1,000 * 0.5 / 20
              HasSubstr("\nreanalyze     as many stored positions as keep searches of 50 % of the "
                        "samples no older than 20 updates: 17.3 for each env step once replay is "
                        "full\n"));
}

TEST(PlanTextTest, ThePlanCountsTheParametersOfEveryPart) {
  const auto plan = PlanText(TinyConfig());
  ASSERT_TRUE(plan.ok()) << plan.status();
  // E 8, encoder width 8, head 8, 2 actions, 11 atoms, 4 observations; w + b of each linear, two
  // numbers a unit of each LayerNorm.
  const int encoder = (4 * 8 + 8) + 2 * 8 + (8 * 8 + 8);
  const int embedding = 2 * 8;
  const int block = 2 * 8 + (8 * 24 + 24) + (8 * 8 + 8) + 2 * 8 + (8 * 32 + 32) + (32 * 8 + 8);
  const auto head = [](int out) { return 2 * 8 + (8 * 8 + 8) + 2 * 8 + (8 * out + out); };
  const int parameters = encoder + embedding + block + head(2) + head(11) + head(11) + head(8);
  EXPECT_THAT(*plan, HasSubstr("model         " + FormatCount(parameters) + " parameters"));
}

TEST(PlanTextTest, ThePlanOfABoardNamesItsShapeAndPlayers) {
  ExperimentConfig config = BoardConfig();
  config.search.policy = SearchPolicy::kGumbel;
  config.search.q_transform = QTransform::kCompletedByMixValue;
  const auto plan = PlanText(config);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(*plan, HasSubstr("tictactoe: observation [3, 3, 3], 9 actions, 2 players\n"));
  EXPECT_THAT(*plan, HasSubstr("gumbel, 4 simulations"));
}

// One layer, windows of 4 tokens: 2 steps; sequences of 2 steps show 1.
TEST(PlanTextTest, ThePlanWarnsOfRootsThatSeeMoreThanTrainingShows) {
  ExperimentConfig config = TinyConfig();
  EXPECT_THAT(PlanText(config).value(),
              HasSubstr("\ncontext       roots see up to 2 steps of their past, training shows 1: "
                        "raise replay.num_unroll_steps to 3, or raise replay.num_context_steps to "
                        "1, or lower model.context_length to 2\n"));
  // Only what the config may be: no window of no tokens.
  ExperimentConfig narrow = config;
  narrow.replay.num_unroll_steps = 1;
  EXPECT_THAT(PlanText(narrow).value(),
              HasSubstr("training shows 0: raise replay.num_unroll_steps to 3, or raise "
                        "replay.num_context_steps to 2\n"));
  const auto is_covered = [](const ExperimentConfig& covered) {
    return PlanText(covered).value().find("\ncontext ") == std::string::npos;
  };
  ExperimentConfig covered = config;
  covered.replay.num_context_steps = 1;
  EXPECT_TRUE(is_covered(covered));
  covered = config;
  covered.replay.num_unroll_steps = 3;
  EXPECT_TRUE(is_covered(covered));
  covered = config;
  covered.model.context_length = 2;
  EXPECT_TRUE(is_covered(covered));
  covered = config;
  covered.env.max_episode_steps = 2;  // a root has one step before it
  EXPECT_TRUE(is_covered(covered));
  // From starts no context comes, and episodes may be longer.
  covered = config;
  covered.replay.sample_from = SampleFrom::kEpisodeStarts;
  covered.env.id = "2048";  // nobody knows how long
  covered.env.max_episode_steps = 0;
  EXPECT_TRUE(is_covered(covered));
  ExperimentConfig cut = config;
  cut.replay.sample_from = SampleFrom::kEpisodeStarts;
  EXPECT_THAT(PlanText(cut).value(),
              HasSubstr("training shows 1: raise replay.num_unroll_steps to 3, or lower "
                        "model.context_length to 2\n"));
  covered = config;
  covered.model.family = Family::kMuZero;
  EXPECT_TRUE(is_covered(covered));
}

}  // namespace
}  // namespace lzero::plan_text_test
