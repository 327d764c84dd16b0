// A step that reads contexts in scattered slots and writes the children's tokens into theirs, with
// the kernels compiled for the host, against EagerStep.
#include "lzero/family/unizero/device/device_network.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/rng.h"
#include "lzero/family/unizero/runners/eager_step.h"
#include "lzero/tensor/torch.h"
#include "tests/family/unizero/runners/random_model.h"
#include "tests/support/plain_step_functions.h"

namespace lzero::device_network_test {
namespace {

constexpr int kRows = 4, kIdleRow = 2, kNumActions = 5;

ModelConfig SmallConfig() {
  ModelConfig config;
  config.embed_dim = 12;
  config.num_heads = 2;
  config.num_layers = 2;
  config.context_length = 6;
  config.support_size = 11;
  config.reward_support = {{"min", "-1"}, {"max", "2"}, {"bins", "6"}};
  config.encoder_width = 8;
  return config;
}

TEST(DeviceNetworkTest, ContextsAreReadWhereTheyLieAndOnlyTheChildrenAreWritten) {
  const auto model = RandomModel(SmallConfig(), {{3}, kNumActions}, 1);
  const auto network =
      DeviceNetwork::Create(*model, kRows, InferenceDtype::kFp32, PlainStepFunctions()).value();
  constexpr int kWindow = 5, kSlots = 100;
  const int row_size = StepRowSize(kWindow, 0);
  RandomStream random(1, "slots");
  std::vector<int64_t> slots(kSlots);
  std::iota(slots.begin(), slots.end(), 0);
  for (int i = kSlots - 1; i > 0; --i) std::swap(slots[i], slots[random.UniformInt(i + 1)]);
  const at::Tensor pool = at::randn({kSlots, 2, 2, 12});
  EagerStep eager(*model, kRows);
  // Children have neighbouring slots, the last ones of the pool.
  std::vector<int64_t> numbers(kRows * row_size);
  at::Tensor shuffled = pool.narrow(0, 0, 80);
  for (int row = 0; row < kRows; ++row) {
    const int64_t length = row + 2;
    for (int position = 0; position < kWindow; ++position) {
      const int64_t slot = slots[row * kWindow + position] % 80;
      numbers[row * row_size + position] = slot;
      eager.buffers().contexts.tokens[row][position].copy_(pool[slot]);
      if (position < kWindow - length) eager.buffers().contexts.tokens[row][position].zero_();
    }
    numbers[row * row_size + kWindow] = length;
    numbers[row * row_size + kWindow + 1] = row == kIdleRow ? kIdleSlot : 80 + 2 * row;
    numbers[row * row_size + kWindow + 2] = row;
    eager.buffers().contexts.lengths[row].fill_(length);
    eager.buffers().actions[row].fill_(row);
  }
  ASSERT_TRUE(eager.Run(kRows).ok());
  at::Tensor expected = pool.clone();
  std::vector<float> rewards(kRows), values(kRows), logits(kRows * kNumActions);
  const StepPlace place = {{numbers.data(), kWindow, row_size},
                           pool.mutable_data_ptr<float>(),
                           rewards.data(),
                           values.data(),
                           logits.data()};
  ASSERT_TRUE(network->LaunchStep(place, kRows, nullptr).ok());
  for (int row = 0; row < kRows; ++row) {
    if (row == kIdleRow) continue;
    expected.narrow(0, 80 + 2 * row, 2).copy_(eager.buffers().tokens[row]);
    EXPECT_NEAR(rewards[row], eager.buffers().rewards[row].item<float>(), 1e-4);
    EXPECT_NEAR(values[row], eager.buffers().values[row].item<float>(), 1e-4);
    for (int action = 0; action < kNumActions; ++action) {
      EXPECT_NEAR(logits[row * kNumActions + action],
                  eager.buffers().prior_logits[row][action].item<float>(), 1e-4);
    }
  }
  EXPECT_LT((pool - expected).abs().max().item<double>(), 1e-4);
  EXPECT_TRUE(at::equal(pool.narrow(0, 0, 80), expected.narrow(0, 0, 80)));
}

TEST(DeviceNetworkTest, HeadsThatAreTooLargeAreRefusedInWords) {
  ModelConfig config = SmallConfig();
  config.embed_dim = 1028;
  const auto model = RandomModel(config, {{3}, 4}, 1);
  const auto network =
      DeviceNetwork::Create(*model, 1, InferenceDtype::kFp32, PlainStepFunctions());
  EXPECT_THAT(std::string(network.status().message()),
              testing::HasSubstr("heads of 514 channels (model.embed_dim / model.num_heads)"));
}

TEST(DeviceNetworkTest, AProductThatIsRefusedIsTold) {
  const auto model = RandomModel(SmallConfig(), {{3}, kNumActions}, 1);
  StepFunctions refusing = PlainStepFunctions();
  refusing.error_text = [](int error) { return error == 7 ? "refused" : "no error"; };
  refusing.product = [](auto, const ProductTask* task, auto) { return task->out == 48 ? 7 : 0; };
  const auto network =
      DeviceNetwork::Create(*model, kRows, InferenceDtype::kFp32, refusing).value();
  std::vector<int64_t> rows(static_cast<size_t>(kRows) * StepRowSize(5, 0));
  rows[6] = rows[14] = kIdleSlot;
  std::vector<float> numbers(64);
  const StepPlace place = {{rows.data(), 5, StepRowSize(5, 0)},
                           nullptr,
                           numbers.data(),
                           numbers.data() + 2,
                           numbers.data() + 4};
  EXPECT_EQ(network->LaunchStep(place, 2, nullptr),
            absl::InternalError("a step on the device: refused ([2, 12] by [12, 48])"));
}

}  // namespace
}  // namespace lzero::device_network_test
