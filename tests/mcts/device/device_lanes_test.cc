// The steps of a device search by the lanes of a warp against those by one lane: the same bytes in
// every tree and result. The lanes of the host take turns, see fiber_lanes.h. Random
// answers stand for the model, some of them no numbers.
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/base/lanes/one_lane.h"
#include "lzero/mcts/device/device_functions.h"
#include "lzero/mcts/device/device_steps.h"
#include "lzero/mcts/rules.h"
#include "tests/mcts/random_setting.h"
#include "tests/mcts/same_trees.h"
#include "tests/support/fiber_lanes.h"
#include "tests/support/plain_functions.h"

namespace lzero::device_lanes_test {
namespace {

constexpr int kRows = 3;  // the last is idle
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// What the model answers in every simulation, row by row; the roots' answers come first.
struct Answers {
  std::vector<float> prior_logits;                // [N + 1, kRows, A]
  std::vector<float> rewards, discounts, values;  // [N + 1, kRows]

  DeviceStepOutputs At(int simulation, int num_actions) const {
    const ptrdiff_t row = ptrdiff_t{simulation} * kRows;
    return {rewards.data() + row, discounts.data() + row, values.data() + row,
            prior_logits.data() + row * num_actions};
  }
};

Answers RandomAnswers(const Setting& setting, RandomStream* stream) {
  Answers answers;
  const bool has_ties = stream->Uniform() < 0.4;  // all numbers are 0
  const auto number = [stream, has_ties] {
    return has_ties ? 0.0f : static_cast<float>(stream->Normal());
  };
  const auto num_rows = static_cast<size_t>(setting.config.num_simulations + 1) * kRows;
  for (size_t row = 0; row < num_rows; ++row) {
    answers.rewards.push_back(number());
    answers.discounts.push_back(setting.model.discount);
    answers.values.push_back(number());
    for (int a = 0; a < setting.model.num_actions; ++a) {
      // One action of a node is there for sure.
      const bool is_missing = row >= kRows && a > 0 && stream->Uniform() < 0.2;
      answers.prior_logits.push_back(is_missing ? -kInfinity : number());
    }
  }
  const auto any = [stream](const std::vector<float>& row) {
    return static_cast<size_t>(stream->UniformInt(static_cast<int64_t>(row.size())));
  };
  if (stream->Uniform() < 0.2) answers.prior_logits[any(answers.prior_logits)] = kNan;
  if (stream->Uniform() < 0.2) answers.values[any(answers.values)] = kNan;
  return answers;
}

// The memory of one search, with inputs drawn from `stream`.
class Trees {
 public:
  Trees(const Setting& setting, const SearchRules& rules, RandomStream stream)
      : queries_(3 * kRows), functions_(PlainFunctions()) {
    const int num_actions = setting.model.num_actions;
    EXPECT_EQ(functions_.create(&rules.view(), rules.num_considered_visits(), num_actions, kRows,
                                &memory_),
              0);
    const DeviceInputs& inputs = *functions_.host_inputs(memory_);
    *inputs.switches = {kRows - 1, stream.Uniform() < 0.5, stream.Uniform() < 0.5};
    for (int b = 0; b < kRows; ++b) {
      inputs.envs[b] = b;
      inputs.tie_keys[b] = stream.NextUint64();
      for (int a = 0; a < num_actions; ++a) {
        inputs.noise[b * num_actions + a] = stream.Gumbel();
        inputs.legal[b * num_actions + a] = b > 0 || setting.legal[static_cast<size_t>(a)];
      }
    }
    functions_.upload(memory_, nullptr);
  }
  ~Trees() { functions_.destroy(memory_); }

  // A whole search; a launch of a device ends with a Join.
  template <typename Lanes>
  void Search(const Lanes& lanes, const Answers& answers) {
    const DeviceSearchArrays& search = arrays();
    const DeviceQueries queries = {&queries_[0], &queries_[kRows], &queries_[2 * kRows]};
    const int num_actions = search.tree.num_actions;
    for (int b = 0; b < kRows; ++b) {
      const DeviceStepOutputs roots = answers.At(0, num_actions);
      BeginRoot(lanes, search, {roots.prior_logits, roots.values}, b);
      lanes.Join();
      SelectRoot(lanes, search, queries, b);
      for (int simulation = 1; simulation <= search.rules.num_simulations; ++simulation) {
        lanes.Join();
        ExpandRoot(lanes, search, answers.At(simulation, num_actions), b);
        if (simulation < search.rules.num_simulations) SelectRoot(lanes, search, queries, b);
      }
      lanes.Join();
      FinishRoot(lanes, search, b);
    }
  }

  const DeviceSearchArrays& arrays() const { return *functions_.device_arrays(memory_); }
  const std::vector<int32_t>& queries() const { return queries_; }

 private:
  std::vector<int32_t> queries_;  // parents, actions, children
  const DeviceFunctions& functions_;
  DeviceMemory* memory_ = nullptr;
};

// Arrays lie in one block; what a search does not write is the same byte in all of them.
void ExpectSameBytes(const Trees& expected, const Trees& got) {
  const auto expect_same = [](const char* what, const void* a, const void* a_end, const void* b) {
    const auto *begin = static_cast<const char*>(a), *end = static_cast<const char*>(a_end);
    EXPECT_TRUE(SameBits(begin, static_cast<const char*>(b), end - begin)) << what;
  };
  const DeviceSearchArrays &a = expected.arrays(), &b = got.arrays();
  expect_same("results", a.results.visit_counts, a.tree.first_nodes, b.results.visit_counts);
  expect_same("trees", a.tree.first_nodes, a.progress, b.tree.first_nodes);
  expect_same("progress", a.progress, a.scores, b.progress);
  expect_same("scores", a.scores, a.scores + kRows * a.tree.padded_actions, b.scores);
  EXPECT_EQ(expected.queries(), got.queries());
}

template <int NumLanes>
void ExpectSameSearches(int num_simulations) {
  RandomStream stream(/*seed=*/20240504, "device lanes");
  for (const int num_actions : {1, 2, 3, 6, 18, 33, 100}) {
    for (const auto policy : {SearchPolicy::kPuct, SearchPolicy::kGumbel}) {
      for (int transform = 0; transform < 4; ++transform) {
        Setting setting = RandomSetting(&stream);
        setting.config.policy = policy;
        setting.config.q_transform = static_cast<QTransform>(transform);
        setting.config.num_simulations = num_simulations;
        setting.model.num_actions = num_actions;
        setting.legal.resize(static_cast<size_t>(num_actions), 1);
        setting.legal[0] = 1;
        const SearchRules rules(setting.config, num_actions,
                                /*has_chance=*/stream.Uniform() < 0.3);
        const Answers answers = RandomAnswers(setting, &stream);
        Trees expected(setting, rules, stream), got(setting, rules, stream);
        expected.Search(OneLane(), answers);
        FiberLanes<NumLanes>::Run([&](const auto& lanes) { got.Search(lanes, answers); });
        SCOPED_TRACE(testing::Message() << num_actions << " actions, policy "
                                        << static_cast<int>(policy) << ", transform " << transform);
        ExpectSameBytes(expected, got);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(DeviceLanesTest, EightLanesWriteTheBytesOfOne) { ExpectSameSearches<8>(30); }

TEST(DeviceLanesTest, AWarpWritesTheBytesOfOneLane) { ExpectSameSearches<32>(6); }

// The weights of actions are rounded to float, which would hide another order.
TEST(DeviceLanesTest, AWarpAddsInTheOrderOfOneLane) {
  const auto value = [](int a) { return 1.0 / (a + 1); };
  const double expected = SumInOrder(OneLane(), 100, value);
  FiberLanes<32>::Run([&](const auto& lanes) {
    const double sum = SumInOrder(lanes, 100, value);
    EXPECT_EQ(sum, expected) << "lane " << lanes.lane();
  });
}

}  // namespace
}  // namespace lzero::device_lanes_test
