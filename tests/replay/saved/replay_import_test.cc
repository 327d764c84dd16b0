#include "lzero/replay/saved/replay_import.h"

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/replay/replay_buffer.h"
#include "tests/replay/replay_model.h"

namespace lzero::replay_import_test {
namespace {

using ::testing::HasSubstr;

void ExpectSameArrays(const std::vector<NamedArray>& a, const std::vector<NamedArray>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].name, b[i].name);
    EXPECT_EQ(a[i].shape, b[i].shape) << a[i].name;
    EXPECT_TRUE(a[i].bytes == b[i].bytes) << a[i].name;
  }
}

void ExpectSameBatch(const TrainBatch& a, const TrainBatch& b) {
  EXPECT_EQ(a.observations, b.observations);
  EXPECT_EQ(a.actions, b.actions);
  EXPECT_EQ(a.context_mask, b.context_mask);
  EXPECT_EQ(a.rewards, b.rewards);
  EXPECT_EQ(a.policies, b.policies);
  EXPECT_EQ(a.value_mask, b.value_mask);
  EXPECT_EQ(a.partial_returns, b.partial_returns);
  EXPECT_EQ(a.bootstrap_observations, b.bootstrap_observations);
  EXPECT_EQ(a.importance_weights, b.importance_weights);
  EXPECT_EQ(a.mean_age, b.mean_age);
  for (size_t i = 0; i < a.positions.size(); ++i) {
    EXPECT_EQ(a.positions[i].leaf, b.positions[i].leaf);
    EXPECT_EQ(a.positions[i].generation, b.positions[i].generation);
  }
}

struct Settings {
  ReplayConfig config;
  ReplayShape shape{{3, 2}, 2, TerminalMode::kAbsorb};
  explicit Settings(bool prioritized = true) {
    config.capacity = 120;
    config.max_mebibytes = 1;
    config.segment_length = 7;
    config.num_unroll_steps = 3;
    config.td_steps = 4;
    config.num_context_steps = 5;
    config.prioritized = prioritized;
  }
};

// Plays `num_steps` and samples now and then, feeding priorities back.
void PlayAndSample(ReplayBuffer* buffer, RandomPlay* play, RandomStream* random, int num_steps,
                   TrainBatch* batch) {
  for (int i = 0; i < num_steps; ++i) {
    play->Step(buffer);
    if (i % 5 != 4 || !buffer->Sample(6, *random, batch).ok()) continue;
    std::vector<float> priorities(6);
    for (int j = 0; j < 6; ++j) priorities[j] = 0.1f + 3.0f * static_cast<float>(random->Uniform());
    buffer->UpdatePriorities(batch->positions, priorities);
  }
}

// Saved at any moment and loaded elsewhere: from then on both buffers do exactly the same.
TEST(ReplayImport, TheLoadedBufferGoesOnAsTheSavedOne) {
  for (const bool prioritized : {false, true}) {
    for (const int num_steps : {0, 1, 7, 50, 119, 120, 300, 777}) {
      SCOPED_TRACE(num_steps);
      const Settings setup(prioritized);
      const auto saved = MakeBuffer(setup.config, setup.shape);
      const auto loaded = MakeBuffer(setup.config, setup.shape);
      RandomPlay play(setup.shape, {.num_players = 2, .abandon = 0.03}, num_steps);
      RandomPlay other_play(setup.shape, {}, 1);
      RandomStream random(5);
      TrainBatch batch, other_batch;
      PlayAndSample(saved.get(), &play, &random, num_steps, &batch);
      PlayAndSample(loaded.get(), &other_play, &random, 60, &batch);  // to be overwritten
      const std::vector<NamedArray> arrays = saved->Export();
      const absl::Status status = loaded->Import(arrays);
      ASSERT_TRUE(status.ok()) << status.message();
      ExpectSameArrays(loaded->Export(), arrays);
      EXPECT_EQ(loaded->stats().bytes, saved->stats().bytes);

      RandomPlay same_play = play;
      RandomStream same_random = random;
      PlayAndSample(saved.get(), &play, &random, 200, &batch);
      PlayAndSample(loaded.get(), &same_play, &same_random, 200, &other_batch);
      ExpectSameBatch(batch, other_batch);
      ExpectSameArrays(loaded->Export(), saved->Export());
      EXPECT_EQ(loaded->stats().num_sampled, saved->stats().num_sampled);
    }
  }
}

TEST(ReplayImport, OtherArraysAreIgnored) {
  const Settings setup;
  const auto buffer = MakeBuffer(setup.config, setup.shape);
  std::vector<NamedArray> arrays = buffer->Export();
  arrays.insert(arrays.begin(), MakeNamedArray<float>("weights", {1.0f}));
  EXPECT_TRUE(buffer->Import(arrays).ok());
}

// Replay of a longer run fits a buffer that may hold more bytes, and settings of later samples may
// change.
TEST(ReplayImport, SettingsOfLaterSamplesMayDiffer) {
  Settings setup;
  const auto saved = MakeBuffer(setup.config, setup.shape);
  setup.config.max_mebibytes = 2;
  setup.config.discount = 0.5;
  setup.config.num_context_steps = 0;
  setup.config.importance_exponent = 1.0;
  setup.shape.terminal = TerminalMode::kMask;
  EXPECT_TRUE(MakeBuffer(setup.config, setup.shape)->Import(saved->Export()).ok());
}

// A saved state with a finished chain, evictions, free leaves and open segments, to be damaged.
class DamagedState : public testing::Test {
 protected:
  DamagedState() : buffer_(MakeBuffer(setup_.config, setup_.shape)) {
    RandomPlay play(setup_.shape, {.terminate = 0.02, .truncate = 0.02}, 42);
    TrainBatch batch;
    RandomStream random(6);
    PlayAndSample(buffer_.get(), &play, &random, 333, &batch);
    do {
      play.Step(buffer_.get());
      arrays_ = buffer_->Export();
    } while (!BothOpen());
  }

  // Whether both environments are some steps into a segment.
  bool BothOpen() {
    const int64_t num_rows = Array("segments").shape[0];
    for (int64_t i = num_rows - 2; i < num_rows; ++i) {
      if (Get<int64_t>("segments", i * 6 + 3) == 0) return false;
      if (Get<int64_t>("segments", i * 6 + 5) != 1) return false;
    }
    return true;
  }

  NamedArray& Array(const std::string& name) {
    for (NamedArray& array : arrays_) {
      if (array.name == "replay." + name) return array;
    }
    ADD_FAILURE() << name;
    return arrays_[0];
  }

  template <typename T>
  T Get(const std::string& name, int64_t index) {
    T value;
    std::memcpy(&value, Array(name).bytes.data() + index * sizeof(T), sizeof(T));
    return value;
  }

  template <typename T>
  void Set(const std::string& name, int64_t index, T value) {
    std::memcpy(Array(name).bytes.data() + index * sizeof(T), &value, sizeof(T));
  }

  // First row of "segments" for which the test is true.
  int64_t RowWhere(const std::function<bool(const int64_t* row)>& test) {
    const int64_t num_rows = Array("segments").shape[0];
    for (int64_t i = 0; i < num_rows; ++i) {
      int64_t row[6];
      std::memcpy(row, Array("segments").bytes.data() + i * sizeof(row), sizeof(row));
      if (test(row)) return i;
    }
    ADD_FAILURE() << "no such segment";
    return 0;
  }

  // Import refuses with this message, changes nothing; then the state is whole again.
  void ExpectRefused(const std::string& message) {
    const std::vector<NamedArray> before = buffer_->Export();
    const absl::Status status = buffer_->Import(arrays_);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << message;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
    ExpectSameArrays(buffer_->Export(), before);
    arrays_ = before;
  }

  Settings setup_;
  std::unique_ptr<ReplayBuffer> buffer_;
  std::vector<NamedArray> arrays_;
};

TEST_F(DamagedState, MissingAndMisshapenArrays) {
  for (size_t i = 0; i < arrays_.size(); ++i) {
    const std::string name = arrays_[i].name;
    arrays_[i].name = "elsewhere";
    ExpectRefused("no array '" + name + "'");
    arrays_[i].type = arrays_[i].type == ArrayType::kF32 ? ArrayType::kF64 : ArrayType::kF32;
    ExpectRefused("array '" + name + "' holds F");
    arrays_[i].shape.push_back(1);
    ExpectRefused("array '" + name + "' has shape [");
    arrays_[i].bytes.resize(arrays_[i].bytes.size() + 1);
    ExpectRefused("array '" + name + "' holds " + std::to_string(arrays_[i].bytes.size()) +
                  " bytes, which is not shape [");
  }
  Array("segments").shape[0] = int64_t{1} << 61;
  ExpectRefused("which is not shape [2305843009213693952, 6]");
  Array("actions").shape[0] -= 1;
  ExpectRefused("array 'replay.actions' has shape [");
}

TEST_F(DamagedState, OtherSettings) {
  const char* names[] = {"format",
                         "observation size",
                         "observation type (0 float32, 1 uint8)",
                         "frame_stack of the observations",
                         "number of actions",
                         "numbers of an action",
                         "chance outcomes",
                         "env.num_collectors",
                         "replay.capacity",
                         "replay.segment_length",
                         "replay.num_unroll_steps",
                         "replay.td_steps",
                         "replay.value_bootstrap",
                         "replay.sample_from",
                         "replay.prioritized"};
  for (int i = 0; i < 15; ++i) {
    Set<int64_t>("settings", i, 99);
    ExpectRefused(std::string("replay state: ") + names[i] + " is ");
  }
  Set<int64_t>("settings", 8, 99);
  ExpectRefused("replay.capacity is 120 here and 99 in the saved state");
  Set<double>("exponent", 0, 0.5);
  ExpectRefused("replay.priority_exponent is 0.6 here and 0.5 in the saved state");
}

TEST_F(DamagedState, Counters) {
  Set<int64_t>("counters", 1, -1);
  ExpectRefused("array 'replay.counters' holds -1, allowed are >= 0");
  Set<double>("max_priority", 0, 0.5);
  ExpectRefused("array 'replay.max_priority' holds 0.5, allowed are >= 1");
  Set<int64_t>("counters", 0, 5);
  ExpectRefused("5 by its own count of appended ones");
  Set<int64_t>("counters", 3, 1);
  ExpectRefused("of 1 begun");
}

TEST_F(DamagedState, Segments) {
  Set<int64_t>("segments", 0, 2);
  ExpectRefused("segment 0: replay state: environment 2 of 2");
  Set<int64_t>("segments", 1, -1);
  ExpectRefused("episode -1 of ");
  Set<int64_t>("segments", 2, 8);
  ExpectRefused("begins at step 8, not a multiple of 7");
  Set<int64_t>("segments", 4, 4);
  ExpectRefused("end 4 (allowed 0 to 3)");
  Set<int64_t>("segments", 5, 2);
  ExpectRefused("open 2 (allowed 0 or 1)");
  Set<int64_t>("segments", 3, 8);
  ExpectRefused("8 steps, allowed are ");
  Set<int64_t>("segments", 5, 1);
  ExpectRefused("segment ");
  const int64_t open = RowWhere([](const int64_t* row) { return row[5] == 1; });
  Set<int64_t>("segments", open * 6 + 4, 1);
  ExpectRefused("is open, but ended (1)");
  Set<int64_t>("segments", (open + 1) * 6, 0);
  ExpectRefused("is out of order");
  Set<int64_t>("segments", (open + 1) * 6 + 1, 0);
  ExpectRefused("is of episode 0, after episode ");
}

TEST_F(DamagedState, Chains) {
  // A segment in the middle of an episode that claims to be its end, then one that begins late.
  const int64_t cut =
      RowWhere([&](const int64_t* row) { return row[4] == 0 && row[5] == 0 && row[2] > 0; });
  Set<int64_t>("segments", cut * 6 + 4, 2);
  ExpectRefused("do not follow each other");
  Set<int64_t>("segments", cut * 6 + 2, 7000);
  ExpectRefused("do not follow each other");
  // A last segment that runs on into nothing.
  const int64_t last =
      RowWhere([&](const int64_t* row) { return row[4] != 0 && row[3] == 7 && row[5] == 0; });
  Set<int64_t>("segments", last * 6 + 4, 0);
  ExpectRefused("runs on, but its next segment is missing");
  // The observation shared by two segments: first row of one that continues an earlier one.
  int64_t row_index = 0;
  for (int64_t i = 0; i < cut; ++i) row_index += Get<int64_t>("segments", i * 6 + 3) + 1;
  const int64_t end_row = row_index + Get<int64_t>("segments", cut * 6 + 3);
  Set<float>("observations", end_row * 3 + 1, 99.0f);
  ExpectRefused("disagree about the observation between them");
  Set<uint8_t>("to_play", end_row, 9);
  ExpectRefused("disagree about the observation between them");
}

TEST_F(DamagedState, Fields) {
  Set<int32_t>("actions", 3, 2);
  ExpectRefused("array 'replay.actions' holds 2, allowed are 0 to 1");
  Set<uint8_t>("legal_action_masks", 3, 2);
  ExpectRefused("array 'replay.legal_action_masks' holds 2, allowed are 0 and 1");
  Set<int64_t>("sequences", 0, -1);
  ExpectRefused("array 'replay.sequences' holds -1 to ");
  Set<int64_t>("sequences", 0, Get<int64_t>("sequences", 1));
  ExpectRefused("twice");
  Set<int32_t>("leaves", 0, Get<int32_t>("leaves", 1));
  ExpectRefused("is given twice or outside 0 to 119");
  Set<int32_t>("leaves", 0, 120);
  ExpectRefused("leaf 120 in 'replay.leaves' or 'replay.free_leaves'");
  Array("generations").shape = {1};
  Array("generations").bytes.resize(4);
  ExpectRefused("array 'replay.generations' holds 1 leaves, allowed are ");
}

TEST_F(DamagedState, Weights) {
  const int64_t num_steps = Array("weights").shape[0];
  int64_t last = num_steps - 1;  // the newest of an unfinished episode
  ASSERT_EQ(Get<double>("weights", last), 0.0);
  Set<double>("weights", last, 1.0);
  ExpectRefused("which cannot be sampled");
  Set<double>("weights", 0, 0.0);
  ExpectRefused("which can be sampled");
  Set<double>("weights", 0, -1.0);
  ExpectRefused("array 'replay.weights' holds -1 for step ");
}

TEST(ReplayImport, MoreThanTheBytesIsRefused) {
  Settings setup;
  setup.shape.observation_size = 3000;
  setup.config.max_mebibytes = 4;
  const auto saved = MakeBuffer(setup.config, setup.shape);
  RandomPlay play(setup.shape, {}, 8);
  for (int i = 0; i < 200; ++i) play.Step(saved.get());
  setup.config.max_mebibytes = 1;
  const absl::Status status = MakeBuffer(setup.config, setup.shape)->Import(saved->Export());
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("replay.max_mebibytes"));
}

}  // namespace
}  // namespace lzero::replay_import_test
