#include "lzero/replay/saved/replay_export.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::replay_export_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

template <typename T>
std::vector<T> Values(const std::vector<NamedArray>& arrays, const std::string& name) {
  auto values = ReadArray<T>(arrays, name);
  EXPECT_TRUE(values.ok()) << values.status().message();
  return std::move(values).value();
}

// Two environments, segments of two steps: one episode of three steps that terminated, one of one
// step still going on.
TEST(ReplayExport, WritesEverythingInTheNamedLayout) {
  ReplayConfig config;
  config.capacity = 50;
  config.segment_length = 2;
  config.num_unroll_steps = 1;
  config.td_steps = 3;
  const ReplayShape shape{{1, 2}, 2, TerminalMode::kAbsorb};
  ReplayStore store(config, shape);
  const std::vector<uint8_t> legal = {1, 0};
  EXPECT_TRUE(store.BeginEpisode(EnvId(1), {50.0f}, {0, 1}, 1).ok());
  EXPECT_TRUE(store.BeginEpisode(EnvId(0), {0.0f}, legal, 0).ok());
  for (const int env : {0, 0, 1, 0}) {
    const float number = static_cast<float>(store.counters().num_appended + 1);
    const std::vector<float> observation = {number};
    const std::vector<float> policy = {number, 0.5f};
    Transition step;
    step.action = env;
    step.reward = number * 10;
    step.policy = policy;
    step.root_value = -number;
    step.observation = observation;
    step.legal_action_mask = legal;
    step.terminated = number == 4;
    EXPECT_TRUE(store.Append(EnvId(env), step).ok());
  }
  const std::vector<NamedArray> arrays = Materialize(ExportReplay(config, shape, store));
  for (const NamedArray& array : arrays) {
    EXPECT_EQ(array.num_elements() * ArrayTypeSize(array.type),
              static_cast<int64_t>(array.bytes.size()))
        << array.name;
  }
  EXPECT_THAT(Values<int64_t>(arrays, "replay.settings"),
              ElementsAre(2, 1, 0, 1, 2, 0, 0, 2, 50, 2, 1, 3, 1, 0, 0));
  EXPECT_THAT(Values<double>(arrays, "replay.exponent"), ElementsAre(0.6));
  EXPECT_THAT(Values<int64_t>(arrays, "replay.counters"), ElementsAre(4, 0, 1, 2));
  EXPECT_THAT(Values<double>(arrays, "replay.max_priority"), ElementsAre(1.0));
  EXPECT_THAT(Values<int64_t>(arrays, "replay.segments"),
              ElementsAre(0, 1, 0, 2, 0, 0,    // first two steps, run on
                          0, 1, 2, 1, 1, 0,    // the third, terminated
                          1, 0, 0, 1, 0, 1));  // open
  EXPECT_THAT(Values<float>(arrays, "replay.observations"), ElementsAre(0, 1, 2, 2, 4, 50, 3));
  EXPECT_THAT(Values<uint8_t>(arrays, "replay.legal_action_masks"),
              ElementsAre(1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0));
  EXPECT_THAT(Values<uint8_t>(arrays, "replay.to_play"), ElementsAre(0, 0, 0, 0, 0, 1, 0));
  EXPECT_THAT(Values<int32_t>(arrays, "replay.actions"), ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(Values<float>(arrays, "replay.rewards"), ElementsAre(10, 20, 40, 30));
  EXPECT_THAT(Values<float>(arrays, "replay.root_values"), ElementsAre(-1, -2, -4, -3));
  EXPECT_THAT(Values<float>(arrays, "replay.policies"),
              ElementsAre(1, 0.5f, 2, 0.5f, 4, 0.5f, 3, 0.5f));
  EXPECT_THAT(Values<int32_t>(arrays, "replay.leaves"), ElementsAre(0, 1, 3, 2));
  EXPECT_THAT(Values<int64_t>(arrays, "replay.sequences"), ElementsAre(0, 1, 3, 2));
  EXPECT_THAT(Values<double>(arrays, "replay.weights"), ElementsAre(1, 1, 1, 0));
  EXPECT_THAT(Values<uint32_t>(arrays, "replay.generations"), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(Values<int32_t>(arrays, "replay.free_leaves"), IsEmpty());
  EXPECT_EQ(arrays.size(), 17u);  // without context steps nothing is written for them
}

// Three stacked frames of one byte, segments of two steps: the stack of each segment's first
// observation, then one frame for each step.
TEST(ReplayExport, WritesStackedBytesOnce) {
  ReplayConfig config;
  config.capacity = 50;
  config.segment_length = 2;
  ReplayShape shape{{3, 1}, 1, TerminalMode::kAbsorb};
  shape.observation_type = ObservationType::kUint8;
  shape.frame_stack = 3;
  ReplayStore store(config, shape);
  const auto stack = [](float k) {
    return std::vector<float>{k / 255.0f, (k + 1) / 255.0f, (k + 2) / 255.0f};
  };
  const std::vector<uint8_t> legal = {1};
  const std::vector<float> policy = {1.0f};
  ASSERT_TRUE(store.BeginEpisode(EnvId(0), stack(10), legal, 0).ok());
  for (int t = 1; t <= 3; ++t) {
    const std::vector<float> observation = stack(10.0f + static_cast<float>(t));
    Transition step;
    step.policy = policy;
    step.observation = observation;
    step.legal_action_mask = legal;
    ASSERT_TRUE(store.Append(EnvId(0), step).ok());
  }
  // Pictures are not copied before it is asked for.
  for (const NamedArray& array : ExportReplay(config, shape, store)) {
    if (array.name != "replay.observations") continue;
    EXPECT_NE(array.parts, nullptr);
    EXPECT_EQ(array.bytes, "");
  }
  const std::vector<NamedArray> arrays = Materialize(ExportReplay(config, shape, store));
  EXPECT_THAT(Values<uint8_t>(arrays, "replay.observations"),
              ElementsAre(10, 11, 12, 13, 14, 12, 13, 14, 15));
  EXPECT_THAT(FindArray(arrays, "replay.observations")->shape, ElementsAre(9, 1));
  const std::vector<int64_t> settings = Values<int64_t>(arrays, "replay.settings");
  EXPECT_EQ(settings[2], 1);  // uint8
  EXPECT_EQ(settings[3], 3);
}

}  // namespace
}  // namespace lzero::replay_export_test
