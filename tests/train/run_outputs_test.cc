// What a run writes through RunOutputs, read back with other tools than the writers where it can
// be.
#include "lzero/train/run_outputs.h"

#include <unistd.h>

#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/files.h"
#include "lzero/player/episode_rows.h"
#include "lzero/run/safetensors.h"
#include "nlohmann/json.hpp"
#include "tests/model/random_batch.h"
#include "tests/run/test_folder.h"
#include "tests/train/train_testing.h"

namespace lzero::run_outputs_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using Json = nlohmann::json;

class RunOutputsTest : public testing::Test {
 protected:
  std::string dir() const { return folder_.path(); }

  std::unique_ptr<RunOutputs> Make(int64_t keep = 2) {
    auto outputs = RunOutputs::Create(dir(), keep);
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    return std::move(outputs).value();
  }

  std::string Read(const std::string& name) const { return ReadFile(dir() + "/" + name).value(); }

  TestFolder folder_;
};

CheckpointContent Content(float number) {
  CheckpointContent content;
  content.files["model"] = {MakeNamedArray("w", absl::Span<const float>(&number, 1))};
  content.state_json = "{}";
  return content;
}

float NumberIn(const CheckpointContent& content) {
  return ReadArray<float>(content.files.at("model"), "w").value().at(0);
}

std::vector<EvaluatedEpisode> Episodes() {
  return {{7, 2.0, 5, true, false}, {9, -1.0, 4, false, true}, {1, 0.5, 3, true, true}};
}

TEST_F(RunOutputsTest, TheRowsOfAnEvaluationAreItsEpisodes) {
  const std::vector<EpisodeRow> rows = ToRows(Episodes());
  ASSERT_THAT(rows, SizeIs(3));
  EXPECT_EQ(rows[1].seed, 9u);
  EXPECT_EQ(rows[1].episode_return, -1.0);
  EXPECT_EQ(rows[1].length, 4);
  EXPECT_FALSE(rows[1].terminated);
  EXPECT_TRUE(rows[1].truncated);
  EXPECT_TRUE(rows[2].terminated);
}

TEST_F(RunOutputsTest, ScalarsAreLinesOfMetricsThatCanBeCutOff) {
  const auto outputs = Make();
  EXPECT_EQ(outputs->run_dir(), dir());
  EXPECT_EQ(*outputs->SyncMetrics(), 0);
  ASSERT_TRUE(outputs->WriteScalars(10, 2, {{"loss/total", 0.5}, {"a", 1.0}}).ok());
  const int64_t after_first = *outputs->SyncMetrics();
  EXPECT_EQ(after_first, static_cast<int64_t>(Read("metrics.jsonl").size()));
  ASSERT_TRUE(outputs->WriteScalars(20, 4, {{"loss/total", 0.25}}).ok());
  const std::vector<std::string> lines = absl::StrSplit(Read("metrics.jsonl"), '\n');
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_EQ(Json::parse(lines[0]),
            Json({{"env_steps", 10}, {"updates", 2}, {"loss/total", 0.5}, {"a", 1.0}}));
  EXPECT_EQ(Json::parse(lines[1]), Json({{"env_steps", 20}, {"updates", 4}, {"loss/total", 0.25}}));
  ASSERT_TRUE(outputs->WriteCheckpoint(10, Content(1.0f)).ok());
  ASSERT_TRUE(outputs->Rewind(10, after_first).ok());
  EXPECT_EQ(Read("metrics.jsonl"), lines[0] + "\n");
  EXPECT_EQ(*outputs->SyncMetrics(), after_first);
  EXPECT_FALSE(FileExists(dir() + "/metrics.jsonl.aside"));  // nothing else was undone
  EXPECT_THAT(ListDirectory(dir() + "/tb").value(), SizeIs(1));
}

TEST_F(RunOutputsTest, GoingBackSetsLaterCheckpointsAndEvaluationsAside) {
  const auto outputs = Make(/*keep=*/5);
  for (const int64_t step : {10, 20, 30}) {
    ASSERT_TRUE(outputs->WriteEvaluation(step, Episodes()).ok());
    ASSERT_TRUE(outputs->WriteCheckpoint(step, Content(1.0f)).ok());
  }
  ASSERT_TRUE(outputs->WriteScalars(30, 3, {{"a", 1.0}}).ok());
  EXPECT_EQ(outputs->Rewind(20, 5).code(), absl::StatusCode::kInvalidArgument);  // inside a line
  EXPECT_THAT(ListDirectory(dir() + "/eval").value(),
              ElementsAre("step_000000010", "step_000000020", "step_000000030"));
  const std::string metrics = Read("metrics.jsonl");
  ASSERT_TRUE(outputs->Rewind(20, 0).ok());
  EXPECT_EQ(Read("metrics.jsonl"), "");
  EXPECT_EQ(Read("metrics.jsonl.aside"), metrics);
  EXPECT_THAT(ListDirectory(dir() + "/checkpoints").value(),
              ElementsAre("latest", "step_000000010", "step_000000020", "step_000000030.aside"));
  EXPECT_THAT(ListDirectory(dir() + "/eval").value(),
              ElementsAre("step_000000010", "step_000000020", "step_000000030.aside"));
}

// A run that was stopped before its first checkpoint begins anew.
TEST_F(RunOutputsTest, GoingBackToTheStartLeavesNoEvaluation) {
  const auto outputs = Make();
  ASSERT_TRUE(outputs->WriteScalars(0, 0, {{"a", 1.0}}).ok());
  ASSERT_TRUE(outputs->WriteEvaluation(0, Episodes()).ok());
  const std::string metrics = Read("metrics.jsonl");
  ASSERT_TRUE(outputs->Rewind(-1, 0).ok());
  EXPECT_EQ(Read("metrics.jsonl"), "");
  EXPECT_EQ(Read("metrics.jsonl.aside"), metrics);
  EXPECT_THAT(ListDirectory(dir() + "/eval").value(), ElementsAre("step_000000000.aside"));
}

TEST_F(RunOutputsTest, AnEvaluationIsASummaryAndATable) {
  const auto outputs = Make();
  ASSERT_TRUE(outputs->WriteEvaluation(1200, Episodes()).ok());
  const Json summary = Json::parse(Read("eval/step_000001200/summary.json"));
  EXPECT_EQ(summary["env_steps"], 1200);
  EXPECT_DOUBLE_EQ(summary["return_mean"].get<double>(), 0.5);
  EXPECT_EQ(Read("eval/step_000001200/episodes.csv"),
            "episode,seed,return,length,terminated,truncated\n"
            "0,7,2,5,1,0\n1,9,-1,4,0,1\n2,1,0.5,3,1,1\n");
}

TEST_F(RunOutputsTest, KeepsTheNewestCheckpointsAndTheBest) {
  const auto outputs = Make(/*keep=*/2);
  for (int64_t step = 1; step <= 5; ++step) {
    ASSERT_TRUE(outputs->WriteCheckpoint(step, Content(static_cast<float>(step))).ok());
    if (step == 2) {
      ASSERT_TRUE(outputs->MarkBest(2).ok());
    }
  }
  EXPECT_THAT(ListDirectory(dir() + "/checkpoints").value(),
              ElementsAre("best", "latest", "step_000000002", "step_000000004", "step_000000005"));
  const auto latest = outputs->ReadLatestCheckpoint();
  ASSERT_TRUE(latest.ok()) << latest.status();
  EXPECT_EQ(NumberIn(*latest), 5.0f);
  EXPECT_EQ(NumberIn(ReadCheckpoint(dir() + "/checkpoints/best")->content), 2.0f);
}

TEST_F(RunOutputsTest, ErrorsOfCheckpointsArePassedOn) {
  const auto outputs = Make();
  EXPECT_EQ(outputs->ReadLatestCheckpoint().status().code(), absl::StatusCode::kNotFound);
  const absl::Status no_such_step = outputs->MarkBest(3);
  EXPECT_EQ(no_such_step.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(no_such_step.message()), HasSubstr("step_000000003"));
}

TEST_F(RunOutputsTest, TheStatusNamesThisProcessAndThisTime) {
  const auto outputs = Make();
  RunStatus status;
  status.state = RunState::kInterrupted;
  status.env_steps = 12;
  status.eval_return = 3.5;
  const absl::Time before = absl::Now();
  ASSERT_TRUE(outputs->WriteStatus(status).ok());
  const auto read = ReadStatusFile(dir());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->state, RunState::kInterrupted);
  EXPECT_EQ(read->env_steps, 12);
  EXPECT_EQ(read->eval_return, 3.5);
  EXPECT_EQ(read->process_id, getpid());
  EXPECT_GE(read->updated_time, before - absl::Milliseconds(1));
  EXPECT_LE(read->updated_time, absl::Now());
}

void ExpectArray(const std::vector<NamedArray>& arrays, const char* name,
                 const std::vector<int64_t>& shape, const std::vector<float>& values) {
  const NamedArray* array = FindArray(arrays, name);
  ASSERT_NE(array, nullptr) << name;
  EXPECT_EQ(array->shape, shape) << name;
  EXPECT_EQ(ReadArray<float>(arrays, name).value(), values) << name;
}

TEST_F(RunOutputsTest, ABadUpdateIsKeptWithBatchAndWeights) {
  const auto outputs = Make();
  TrainBatch batch = reference::RandomBatch(4, 2, 3, 1);  // N, C, U; obs 3, A 4
  const float one = 1.5f;
  const std::vector<NamedArray> weights = {MakeNamedArray("w", absl::Span<const float>(&one, 1))};
  const auto folder =
      outputs->DumpBadUpdate(17, {{"batch", &batch}}, {{"model", weights}, {"target", weights}});
  ASSERT_TRUE(folder.ok()) << folder.status();
  EXPECT_EQ(*folder, dir() + "/bad_update_17");
  EXPECT_THAT(ListDirectory(*folder).value(),
              ElementsAre("batch.safetensors", "model.safetensors", "target.safetensors"));

  const auto read = ReadSafetensors(*folder + "/batch.safetensors");
  ASSERT_TRUE(read.ok()) << read.status();
  const std::vector<NamedArray>& arrays = read->arrays;
  EXPECT_THAT(arrays, SizeIs(14));
  ExpectArray(arrays, "observations", {4, 6, 3}, batch.observations);
  ExpectArray(arrays, "context_mask", {4, 2}, batch.context_mask);
  ExpectArray(arrays, "rewards", {4, 3}, batch.rewards);
  ExpectArray(arrays, "reward_mask", {4, 3}, batch.reward_mask);
  ExpectArray(arrays, "latent_mask", {4, 3}, batch.latent_mask);
  ExpectArray(arrays, "policies", {4, 3, 4}, batch.policies);
  ExpectArray(arrays, "policy_mask", {4, 3}, batch.policy_mask);
  ExpectArray(arrays, "value_mask", {4, 3}, batch.value_mask);
  ExpectArray(arrays, "partial_returns", {4, 3}, batch.partial_returns);
  ExpectArray(arrays, "bootstrap_scales", {4, 3}, batch.bootstrap_scales);
  ExpectArray(arrays, "bootstrap_observations", {4, 3, 3}, batch.bootstrap_observations);
  ExpectArray(arrays, "importance_weights", {4}, batch.importance_weights);
  EXPECT_EQ(FindArray(arrays, "actions")->shape, std::vector<int64_t>({4, 5}));
  EXPECT_EQ(ReadArray<int32_t>(arrays, "actions").value(), batch.actions);
  EXPECT_EQ(FindArray(arrays, "legal_action_masks")->shape, std::vector<int64_t>({4, 3, 4}));
  EXPECT_EQ(ReadArray<uint8_t>(arrays, "legal_action_masks").value(), batch.legal_action_masks);
  EXPECT_EQ(ReadSafetensors(*folder + "/model.safetensors")->arrays[0].bytes, weights[0].bytes);
}

TEST_F(RunOutputsTest, ABatchWithoutContextCanBeKept) {
  const TrainBatch batch = reference::RandomBatch(2, 0, 1, 1);
  const auto folder = Make()->DumpBadUpdate(1, {{"batch", &batch}}, {});
  ASSERT_TRUE(folder.ok()) << folder.status();
  const auto read = ReadSafetensors(*folder + "/batch.safetensors");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(FindArray(read->arrays, "context_mask")->shape, std::vector<int64_t>({2, 0}));
}

TEST_F(RunOutputsTest, ABadUpdateOnPicturesKeepsTheirBytes) {
  TrainBatch batch;
  batch.Resize({2, 0, 1, 3, 2, ObservationType::kUint8});
  batch.observation_bytes = {1, 2, 3, 4, 5, 6, 7, 255};
  batch.bootstrap_observation_bytes = {9, 10, 11, 12};
  const auto folder = Make()->DumpBadUpdate(1, {{"batch", &batch}}, {});
  ASSERT_TRUE(folder.ok()) << folder.status();
  const auto read = ReadSafetensors(*folder + "/batch.safetensors");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(FindArray(read->arrays, "observations")->shape, std::vector<int64_t>({2, 2, 2}));
  EXPECT_EQ(ReadArray<uint8_t>(read->arrays, "observations").value(), batch.observation_bytes);
  EXPECT_EQ(ReadArray<uint8_t>(read->arrays, "bootstrap_observations").value(),
            batch.bootstrap_observation_bytes);
}

TEST_F(RunOutputsTest, AFolderThatIsAFileIsNamed) {
  const std::string file = dir() + "/file";
  ASSERT_TRUE(AppendFile(file, "x").ok());
  const auto outputs = RunOutputs::Create(file, 1);
  EXPECT_FALSE(outputs.ok());
  EXPECT_THAT(std::string(outputs.status().message()), HasSubstr(file));
}

}  // namespace
}  // namespace lzero::run_outputs_test
