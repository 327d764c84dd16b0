#include "tools/bench/table/model_cases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace lzero::model_cases_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

// The tables themselves need torch.
BenchTable StepCases() {
  BenchTable table;
  table.verb = "step";
  table.axes =
      ModelAxes("device embed layers heads batch context support actions runner dtype threads");
  table.presets = StepPresets();
  table.is_left_out = LacksDtype;
  table.check = CheckStepCase;
  return table;
}

BenchTable UpdateCases() {
  BenchTable table;
  table.verb = "train";
  table.axes = ModelAxes(
      "encoder observation embed layers heads batch=256 unroll context support actions=2 threads");
  table.presets = UpdatePresets();
  table.check = CheckUpdateCase;
  return table;
}

std::vector<BenchCase> Swept(const BenchTable& table, const BenchGiven& given) {
  const auto cases = SweepCases(table, given);
  EXPECT_TRUE(cases.ok()) << cases.status();
  return cases.value_or(std::vector<BenchCase>());
}

// The message of the error that this must give.
std::string Refusal(const BenchTable& table, const BenchGiven& given) {
  const auto cases = SweepCases(table, given);
  if (cases.ok()) return "accepted";
  EXPECT_EQ(cases.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(cases.status().message());
}

// The values of these axes in every case: "64 2 2 8".
std::vector<std::string> Values(const std::vector<BenchCase>& cases,
                                const std::vector<std::string>& names) {
  std::vector<std::string> values;
  for (const BenchCase& bench : cases) {
    values.push_back(absl::StrJoin(names, " ", [&](std::string* out, const std::string& name) {
      absl::StrAppend(out, bench.Word(name));
    }));
  }
  return values;
}

// A case with the defaults, but for what is given.
BenchCase OneCase(const BenchTable& table, BenchGiven given) {
  given.emplace("embed", std::vector<std::string>{"64"});
  if (table.verb == "step") given.emplace("runner", std::vector<std::string>{"packed"});
  return Swept(table, given).front();
}

TEST(ModelCasesTest, StepsHaveTheStandardTable) {
  const auto cases = Swept(StepCases(), {});
  EXPECT_THAT(Values(cases, {"context", "support", "actions"}), Each("8 101 6"));
  std::vector<BenchCase> sizes;
  for (size_t i = 0; i < cases.size(); i += 3) sizes.push_back(cases[i]);
  EXPECT_THAT(
      Values(sizes, {"embed", "layers", "heads", "batch"}),
      ElementsAre("64 2 2 1", "64 2 2 8", "64 2 2 32", "64 2 2 128", "256 4 8 8", "768 2 8 8"));
  EXPECT_THAT(Values({cases.end() - 3, cases.end()}, {"runner", "dtype", "threads"}),
              ElementsAre("eager fp32 1", "packed fp32 1", "packed bf16 2"));
}

TEST(ModelCasesTest, OneCoreHasTheStandardTablesWithOneThread) {
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  const auto steps = Swept(StepCases(), {}), updates = Swept(UpdateCases(), {});
  ASSERT_EQ(sched_setaffinity(0, sizeof(all), &all), 0);
  EXPECT_EQ(steps.size(), 18u);
  EXPECT_EQ(updates.size(), 4u);
  EXPECT_THAT(Values(steps, {"threads"}), Each("1"));
  EXPECT_THAT(Values(updates, {"threads"}), Each("1"));
}

TEST(ModelCasesTest, AGpuHasATableOfItsOwn) {
  const auto cases = Swept(StepCases(), {{"device", {"cuda"}}});
  ASSERT_EQ(cases.size(), 24u);
  EXPECT_THAT(
      Values({cases[0], cases[1], cases[23]}, {"embed", "layers", "batch", "runner", "dtype"}),
      ElementsAre("64 2 8 eager fp32", "64 2 8 cuda_graph fp32", "768 8 256 cuda_graph fp32"));
}

TEST(ModelCasesTest, UpdatesHaveTheStandardTable) {
  EXPECT_THAT(
      Values(Swept(UpdateCases(), {}),
             {"encoder", "observation", "embed", "layers", "heads", "batch", "unroll", "context",
              "support", "actions", "threads"}),
      ElementsAre("vector 4 64 2 2 64 5 8 101 2 1", "vector 4 64 2 2 256 5 8 101 2 1",
                  "vector 4 64 2 2 256 10 8 101 2 1", "image 3x64x64 768 2 8 64 10 8 101 2 2"));
  // What is no size sweeps it.
  EXPECT_EQ(Swept(UpdateCases(), {{"support", {"21", "51"}}, {"threads", {"2"}}}).size(), 8u);
  EXPECT_EQ(Swept(UpdateCases(), {{"layers", {"2"}}}).size(), 1u);
}

TEST(ModelCasesTest, EagerHasNoBf16) {
  const BenchGiven both = {{"embed", {"64"}}, {"dtype", {"fp32", "bf16"}}};
  EXPECT_THAT(Values(Swept(StepCases(), both), {"runner", "dtype"}),
              ElementsAre("eager fp32", "packed fp32", "packed bf16"));
  EXPECT_EQ(Refusal(StepCases(), {{"runner", {"eager"}}, {"dtype", {"bf16"}}}),
            "--dtype bf16: runner eager has fp32 alone; use --runner packed, or on a CUDA device "
            "cuda_graph");
}

// By hand from the layers of the model (nn/transformer.h, nn/layers.h), for E 64, L 2, S 101, A 6,
// B 8.
TEST(ModelCasesTest, CountsTheWorkOfAStep) {
  const int64_t block = 64 * 192 + 64 * 64 + 64 * 256 + 256 * 64;
  const int64_t heads = 4 * 64 * 256 + 256 * (6 + 101 + 101 + 64);
  BenchWork work = StepWork(OneCase(StepCases(), {}));
  EXPECT_EQ(work.flops, 8 * 2 * (2 * 2 * block + heads));
  EXPECT_EQ(work.flops, 5308416);
  EXPECT_EQ(work.read_bytes, 1327104);   // 4 (2 * 2 * block + heads), whatever the batch is
  EXPECT_EQ(work.weight_bytes, 933888);  // 4 (2 * block + heads)
  work = StepWork(OneCase(StepCases(), {{"dtype", {"bf16"}}}));
  EXPECT_EQ(work.flops, 5308416);
  EXPECT_EQ(work.read_bytes, 1327104 / 2);
  EXPECT_EQ(work.weight_bytes, 933888 / 2);
  work = StepWork(OneCase(StepCases(), {{"embed", {"768"}}, {"heads", {"8"}}}));
  EXPECT_EQ(work.flops, 651952128);
  EXPECT_EQ(work.read_bytes, 162988032);
  EXPECT_EQ(work.weight_bytes, 106364928);
}

TEST(ModelCasesTest, CountsTheWorkOfAnUpdate) {  // E 64, L 2, S 101, A 2, N 256, U 5
  const int64_t first = 4 * 128, rest = 128 * 64;
  const int64_t blocks = 2 * (64 * 192 + 64 * 64 + 64 * 256 + 256 * 64);
  const int64_t value_head = 64 * 256 + 256 * 101;
  const int64_t heads = 4 * 64 * 256 + 256 * (2 + 101 + 101 + 64);
  const int64_t learned = 3 * (first + rest + 2 * blocks + heads) - first;
  const int64_t target = 2 * (first + rest) + blocks + value_head;
  const BenchWork work = UpdateWork(OneCase(UpdateCases(), {}));
  EXPECT_EQ(work.flops, 2 * 256 * 5 * (learned + target));
  EXPECT_EQ(work.read_bytes, 0);
}

TEST(ModelCasesTest, CountsTheConvolutionsOfImages) {
  const BenchWork image =
      UpdateWork(OneCase(UpdateCases(), {{"encoder", {"image"}}, {"observation", {"3x64x64"}}}));
  const BenchWork board =
      UpdateWork(OneCase(UpdateCases(), {{"encoder", {"board"}}, {"observation", {"64x8x8"}}}));
  // 64 channels: the stem at 32x32, a block at 16x16 and two at 8x8, the linear layer; against a
  // board's 32 channels: stem and one block.
  const int64_t stem = 27 * 64 * 1024;
  const int64_t rest = 18 * 64 * 64 * (256 + 64 + 64) + 64 * 64 * 64;
  const int64_t board_stem = 9 * 64 * 32 * 64, board_rest = 18 * 32 * 32 * 64 + 32 * 64 * 64;
  EXPECT_EQ(image.flops - board.flops,
            2 * 256 * 5 * (4 * stem + 5 * rest - 4 * board_stem - 5 * board_rest));
}

TEST(ModelCasesTest, TheConfigHasTheSizesOfTheCase) {
  const auto config = BenchConfig(OneCase(UpdateCases(), {{"embed", {"96"}},
                                                          {"layers", {"3"}},
                                                          {"heads", {"4"}},
                                                          {"batch", {"5"}},
                                                          {"unroll", {"7"}},
                                                          {"context", {"6"}},
                                                          {"support", {"21"}},
                                                          {"encoder", {"board"}},
                                                          {"observation", {"3x8x8"}},
                                                          {"threads", {"2"}}}));
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->model.embed_dim, 96);
  EXPECT_EQ(config->model.num_layers, 3);
  EXPECT_EQ(config->model.num_heads, 4);
  EXPECT_EQ(config->model.context_length, 6);
  EXPECT_EQ(config->model.support_size, 21);
  EXPECT_FALSE(config->model.head_dim.has_value());  // 4 E, as the work is counted
  EXPECT_EQ(config->model.encoder, EncoderKind::kBoard);
  EXPECT_EQ(config->train.batch_size, 5);
  EXPECT_EQ(config->train.num_threads, 2);
  EXPECT_EQ(config->replay.num_unroll_steps, 7);
}

TEST(ModelCasesTest, GraphsAreRequiredOfRunnersMadeOfThemAndOffForEager) {
  const auto inference = [](const BenchGiven& given) {
    return BenchConfig(OneCase(StepCases(), given))->inference;
  };
  InferenceConfig config = inference({{"device", {"cuda"}}, {"runner", {"cuda_graph"}}});
  EXPECT_EQ(config.device, Device::kCuda);
  EXPECT_EQ(config.runner, Runner::kCudaGraph);
  EXPECT_EQ(config.graphs, Graphs::kRequired);
  EXPECT_EQ(inference({{"runner", {"eager"}}}).graphs, Graphs::kOff);
  config = inference({{"dtype", {"bf16"}}, {"threads", {"2"}}});
  EXPECT_EQ(config.device, Device::kCpu);
  EXPECT_EQ(config.runner, Runner::kPacked);
  EXPECT_EQ(config.dtype, InferenceDtype::kBf16);
  EXPECT_EQ(config.num_threads, 2);
}

TEST(ModelCasesTest, RefusesWhatNoConfigCanHave) {
  const struct {
    BenchGiven given;
    const char* part;
  } bad_cases[] = {
      {{{"runner", {"cuda_graph"}}}, "--runner cuda_graph needs --device cuda; got --device cpu"},
      {{{"runner", {"eagre"}}}, "inference.runner=eagre: unknown choice; got 'eagre'; allowed: "},
      {{{"dtype", {"fp16"}}}, "inference.dtype=fp16: unknown choice; got 'fp16'"},
      {{{"device", {"cuda"}}, {"runner", {"packed"}}},
       "packed runs on the CPU; got packed on device"},
      {{{"device", {"tpu"}}}, "inference.device=tpu: unknown choice"},
      {{{"layers", {"257"}}}, "--layers: got '257', allowed: an integer from 1 to 256"},
      {{{"heads", {"3"}}}, "must divide embed_dim; got num_heads 3, embed_dim 64"},
      {{{"embed", {"6"}}}, "heads of even size"},
      {{{"context", {"7"}}}, "model.context_length=7: must be even"},
      {{{"support", {"100"}}}, "model.support_size=100: must be odd"},
  };
  for (const auto& [given, part] : bad_cases)
    EXPECT_THAT(Refusal(StepCases(), given), HasSubstr(part));
  EXPECT_THAT(Refusal(UpdateCases(), {{"encoder", {"imge"}}}),
              HasSubstr("model.encoder=imge: unknown choice; got 'imge'"));
  EXPECT_THAT(Refusal(UpdateCases(), {{"heads", {"3"}}}), HasSubstr("must divide embed_dim"));
}

TEST(ModelCasesTest, RefusesObservationsThatAreNone) {
  for (const char* bad : {"", "x", "4x", "0", "-3", "4y4", "3x4096x4096x4096", "99999999999"}) {
    EXPECT_THAT(Refusal(UpdateCases(), {{"observation", {bad}}}),
                HasSubstr(absl::StrCat("--observation ", bad, ": allowed are")));
  }
  EXPECT_EQ(Refusal(UpdateCases(),
                    {{"batch", {"4"}}, {"encoder", {"image"}}, {"observation", {"3x8x8"}}}),
            "--observation 3x8x8: encoder image needs observations [channels, height, width] with "
            "sides of 16 or more");
}

// Two roots, two actions.
SearchResult TwoRoots() {
  SearchResult result;
  result.num_roots = 2;
  result.num_actions = 2;
  result.visit_counts = {6, 4, 1, 9};
  result.root_values = {0.5f, -2.0f};
  result.network_values = {0.25f, 4.0f};
  result.best_actions = {0, 1};
  return result;
}

// What was found stays.
BenchCase MetricsOf(const SearchResult& got) {
  return SearchDifferences({got, TwoRoots()}, {TwoRoots(), TwoRoots()});
}

TEST(ModelCasesTest, DifferencesAreRelativeToTheLargestValue) {
  SearchResult got = TwoRoots();
  got.network_values[0] = 0.75f;
  got.root_values[1] = -1.0f;
  got.visit_counts = {4, 6, 1, 9};
  got.best_actions[0] = 1;
  using Member = BenchCase::Member;
  EXPECT_THAT(
      MetricsOf(got).members(),
      ElementsAre(Member("value_error_ratio", 0.125), Member("search_value_error_ratio", 0.25),
                  Member("changed_roots_share", 0.25), Member("moved_visits_share", 0.05),
                  Member("changed_actions_share", 0.25)));
}

TEST(ModelCasesTest, WhatIsNotFiniteStaysSo) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    SearchResult got = TwoRoots();
    got.network_values[0] = bad;
    EXPECT_FALSE(std::isfinite(std::get<double>(MetricsOf(got).members()[0].second)));
    got = TwoRoots();
    got.root_values[0] = bad;
    EXPECT_EQ(std::get<double>(MetricsOf(got).members()[0].second), 0.0);
    EXPECT_FALSE(std::isfinite(std::get<double>(MetricsOf(got).members()[1].second)));
  }
}

}  // namespace
}  // namespace lzero::model_cases_test
