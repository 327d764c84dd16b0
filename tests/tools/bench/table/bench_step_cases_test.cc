#include "tools/bench/table/bench_step_cases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"

namespace lzero::bench_step_cases_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The message of the error that `options` must give.
std::string Refusal(const BenchStepOptions& options) {
  const auto cases = BenchStepCases(options);
  if (cases.ok()) return "accepted";
  EXPECT_EQ(cases.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(cases.status().message());
}

TEST(BenchStepCasesTest, NoArgumentIsTheStandardTable) {
  const auto cases = BenchStepCases({});
  ASSERT_TRUE(cases.ok()) << cases.status();
  ASSERT_EQ(cases->size(), 18u);
  std::vector<std::tuple<int64_t, int64_t, int64_t, int64_t>> sizes;
  for (size_t i = 0; i < cases->size(); ++i) {
    const BenchStepCase& step = (*cases)[i];
    EXPECT_EQ(step.context, 8);
    EXPECT_EQ(step.support, 101);
    EXPECT_EQ(step.actions, 6);
    // Three columns for each size: eager, packed, and packed bf16 on two threads.
    EXPECT_EQ(step.runner, i % 3 == 0 ? "eager" : "packed");
    EXPECT_EQ(step.dtype, i % 3 == 2 ? "bf16" : "fp32");
    EXPECT_EQ(step.threads, i % 3 == 2 ? 2 : 1);
    if (i % 3 == 0) sizes.emplace_back(step.embed, step.layers, step.heads, step.batch);
  }
  EXPECT_THAT(sizes, ElementsAre(std::tuple(64, 2, 2, 1), std::tuple(64, 2, 2, 8),
                                 std::tuple(64, 2, 2, 32), std::tuple(64, 2, 2, 128),
                                 std::tuple(256, 4, 8, 8), std::tuple(768, 2, 8, 8)));
}

TEST(BenchStepCasesTest, EagerHasNoBf16) {
  BenchStepOptions options;
  options.embed = {64};
  options.dtypes = {"fp32", "bf16"};
  const auto cases = BenchStepCases(options);
  ASSERT_TRUE(cases.ok()) << cases.status();
  std::vector<std::string> columns;
  for (const BenchStepCase& step : *cases) columns.push_back(step.runner + " " + step.dtype);
  EXPECT_THAT(columns, ElementsAre("eager fp32", "packed fp32", "packed bf16"));
  options.runners = {"eager"};
  options.dtypes = {"bf16"};
  EXPECT_EQ(Refusal(options), "--dtype bf16: runner eager has fp32 alone; use --runner packed");
}

TEST(BenchStepCasesTest, Bf16WeightsAreHalfAsManyBytes) {
  BenchStepCase step;
  step.dtype = "bf16";
  EXPECT_EQ(StepReadBytes(step), 1327104 / 2);
  EXPECT_EQ(StepWeightBytes(step), 933888 / 2);
  EXPECT_EQ(StepFlops(step), 5308416);
}

TEST(BenchStepCasesTest, ListsAreSweptAgainstEachOther) {
  BenchStepOptions options;
  options.embed = {64, 128};
  options.batch = {1, 8, 32};
  options.context = {4, 8};
  options.actions = {2, 18};
  options.runners = {"eager"};
  options.threads = {1, 2};
  const auto cases = BenchStepCases(options);
  ASSERT_TRUE(cases.ok()) << cases.status();
  ASSERT_EQ(cases->size(), 48u);
  EXPECT_EQ(cases->front().embed, 64);
  EXPECT_EQ(cases->front().layers, 2);
  EXPECT_EQ(cases->front().heads, 2);
  EXPECT_EQ((*cases)[0].threads, 1);
  EXPECT_EQ((*cases)[1].threads, 2);
  EXPECT_EQ((*cases)[2].actions, 18);
  EXPECT_EQ(cases->back().embed, 128);
  EXPECT_EQ(cases->back().batch, 32);
  EXPECT_EQ(cases->back().context, 8);
}

TEST(BenchStepCasesTest, OtherListsSweepTheStandardTable) {
  BenchStepOptions options;
  options.support = {21, 101, 601};
  const auto cases = BenchStepCases(options);
  ASSERT_TRUE(cases.ok()) << cases.status();
  EXPECT_EQ(cases->size(), 54u);
}

// By hand from the layers of model.md section 2, for E 64, L 2, S 101, A 6.
TEST(BenchStepCasesTest, CountsTheWorkOfTheSmallModel) {
  const int64_t block = 64 * 192 + 64 * 64 + 64 * 256 + 256 * 64;
  const int64_t heads = 4 * 64 * 256 + 256 * (6 + 101 + 101 + 64);
  EXPECT_EQ(block, 49152);
  EXPECT_EQ(heads, 135168);
  const BenchStepCase step;
  EXPECT_EQ(StepFlops(step), 8 * 2 * (2 * 2 * block + heads));
  EXPECT_EQ(StepFlops(step), 5308416);       // the 5.3 MFLOP of inference.md section 5
  EXPECT_EQ(StepReadBytes(step), 1327104);   // 4 (2 * 2 * block + heads), whatever the batch is
  EXPECT_EQ(StepWeightBytes(step), 933888);  // 4 (2 * block + heads)
}

TEST(BenchStepCasesTest, CountsTheWorkOfTheLargeModel) {
  BenchStepCase step;
  step.embed = 768;
  step.heads = 8;
  EXPECT_EQ(StepReadBytes(step), 162988032);  // the 163 MB of inference.md section 5
  EXPECT_EQ(StepWeightBytes(step), 106364928);
  EXPECT_EQ(StepFlops(step), 651952128);
}

TEST(BenchStepCasesTest, TheModelHasTheSizesOfTheCase) {
  const ModelConfig model = BenchStepModel(
      {.embed = 96, .layers = 3, .heads = 4, .batch = 5, .context = 6, .support = 21});
  EXPECT_EQ(model.embed_dim, 96);
  EXPECT_EQ(model.num_layers, 3);
  EXPECT_EQ(model.num_heads, 4);
  EXPECT_EQ(model.context_length, 6);
  EXPECT_EQ(model.support_size, 21);
  EXPECT_FALSE(model.head_dim.has_value());  // 4 E, as StepFlops counts
}

TEST(BenchStepCasesTest, RefusesWhatThisBuildDoesNotHave) {
  BenchStepOptions options;
  options.runners = {"cuda_graph"};
  EXPECT_THAT(Refusal(options),
              HasSubstr("--runner cuda_graph needs --device cuda; got --device cpu"));
  options.runners = {"eagre"};
  EXPECT_THAT(Refusal(options),
              HasSubstr("inference.runner=eagre: unknown choice; got 'eagre'; allowed: one of"));
  options.runners = {"eager"};
  options.dtypes = {"fp16"};
  EXPECT_THAT(Refusal(options), HasSubstr("inference.dtype=fp16: unknown choice; got 'fp16'"));
  options.dtypes = {};
  options.device = "cuda";
  options.runners = {"packed"};
  EXPECT_THAT(Refusal(options), HasSubstr("packed runs on the CPU; got packed on device cuda"));
  options.device = "tpu";
  EXPECT_THAT(Refusal(options), HasSubstr("inference.device=tpu: unknown choice"));
}

TEST(BenchStepCasesTest, AGpuHasATableOfItsOwn) {
  BenchStepOptions options;
  options.device = "cuda";
  const auto cases = BenchStepCases(options);
  ASSERT_TRUE(cases.ok()) << cases.status();
  ASSERT_EQ(cases->size(), 24u);
  std::vector<std::tuple<int64_t, int64_t, int64_t, int64_t>> sizes;
  for (size_t i = 0; i < cases->size(); ++i) {
    const BenchStepCase& step = (*cases)[i];
    EXPECT_EQ(step.device, "cuda");
    EXPECT_EQ(step.runner, i % 2 == 0 ? "eager" : "cuda_graph");
    EXPECT_EQ(step.dtype, "fp32");
    if (i % 6 == 0) sizes.emplace_back(step.embed, step.layers, step.heads, step.batch);
  }
  EXPECT_THAT(sizes, ElementsAre(std::tuple(64, 2, 2, 8), std::tuple(256, 4, 8, 8),
                                 std::tuple(768, 2, 8, 8), std::tuple(768, 8, 8, 8)));
}

TEST(BenchStepCasesTest, GraphsAreRequiredOfRunnersMadeOfThemAndOffForEager) {
  BenchStepCase step;
  step.device = "cuda";
  step.runner = "cuda_graph";
  InferenceConfig inference = BenchStepInference(step);
  EXPECT_EQ(inference.device, Device::kCuda);
  EXPECT_EQ(inference.runner, Runner::kCudaGraph);
  EXPECT_EQ(inference.graphs, Graphs::kRequired);
  step.runner = "eager";
  EXPECT_EQ(BenchStepInference(step).graphs, Graphs::kOff);
  step.device = "cpu";
  step.runner = "packed";
  step.dtype = "bf16";
  step.threads = 2;
  inference = BenchStepInference(step);
  EXPECT_EQ(inference.device, Device::kCpu);
  EXPECT_EQ(inference.runner, Runner::kPacked);
  EXPECT_EQ(inference.dtype, InferenceDtype::kBf16);
  EXPECT_EQ(inference.num_threads, 2);
}

TEST(BenchStepCasesTest, RefusesCountsOutOfRange) {
  for (const int64_t bad : {-1, 0, 65537}) {
    BenchStepOptions options;
    options.batch = {8, bad};
    EXPECT_EQ(Refusal(options), absl::StrCat("--batch ", bad, ": allowed are 1 .. 65536"));
    options.batch = {8};
    options.actions = {bad};
    EXPECT_EQ(Refusal(options), absl::StrCat("--actions ", bad, ": allowed are 1 .. 65536"));
    options.actions = {6};
    options.threads = {bad};
    EXPECT_EQ(Refusal(options), absl::StrCat("--threads ", bad, ": allowed are 1 .. 256"));
  }
}

struct BadModel {
  BenchStepCase step;
  const char* part;
};

TEST(BenchStepCasesTest, RefusesWhatNoModelCanBe) {
  const BadModel bad_models[] = {
      {{.embed = 0}, "model.embed_dim=0: out of range"},
      {{.layers = 257}, "model.num_layers=257: out of range"},
      {{.heads = 3}, "must divide embed_dim; got num_heads 3, embed_dim 64"},
      {{.embed = 6, .heads = 2}, "heads of even size"},
      {{.context = 7}, "model.context_length: must be even"},
      {{.support = 100}, "model.support_size: must be odd"},
  };
  for (const BadModel& bad : bad_models) {
    BenchStepOptions options;
    options.embed = {64, bad.step.embed};
    options.layers = {bad.step.layers};
    options.heads = {bad.step.heads};
    options.context = {bad.step.context};
    options.support = {bad.step.support};
    EXPECT_THAT(Refusal(options), HasSubstr(bad.part));
  }
}

}  // namespace
}  // namespace lzero::bench_step_cases_test
