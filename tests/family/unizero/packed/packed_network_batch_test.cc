// What surrounds the numbers of a step: batches, threads, errors, memory. The numbers themselves
// are in packed_network_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "lzero/family/unizero/packed/packed_network.h"
#include "lzero/kernels/parallel.h"
#include "tests/family/unizero/packed/random_network.h"
#include "tests/kernels/kernel_testing.h"
#include "tests/support/counted_new.h"

namespace lzero::packed::packed_network_batch_test {
namespace {

class PackedNetworkBatchTest : public InstructionSetTest {};
LZ_TEST_ALL_INSTRUCTION_SETS(PackedNetworkBatchTest);

constexpr WeightType kTypes[] = {WeightType::kFp32, WeightType::kBf16};

NetworkOptions SmallOptions(WeightType type, int64_t max_batch, int num_threads) {
  NetworkOptions options;
  options.shape = SmallShape();
  options.shape.embed_dim = 12;
  options.shape.num_layers = 1;
  options.shape.head_dim = 20;
  options.shape.value_support = options.shape.reward_support = SqueezedSupport(5);
  options.type = type;
  options.max_batch = max_batch;
  options.num_threads = num_threads;
  return options;
}

// Threads share columns: 17 panels of the width, one of the support.
NetworkOptions WideOptions(WeightType type, int64_t max_batch, int num_threads) {
  NetworkOptions options = SmallOptions(type, max_batch, num_threads);
  options.shape.embed_dim = 264;
  options.shape.num_heads = 4;
  return options;
}

void Step(PackedNetwork* network, StepMemory* memory, int64_t batch_size) {
  const absl::Status status = network->Step(memory->arrays(), batch_size);
  ASSERT_TRUE(status.ok()) << status;
}

// The outputs of all rows.
std::vector<std::vector<float>> AllOutputs(const StepMemory& memory) {
  std::vector<std::vector<float>> outputs;
  for (int64_t row = 0; row < memory.num_rows(); ++row) outputs.push_back(memory.Outputs(row));
  return outputs;
}

bool Same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && SameBits(a.data(), b.data(), static_cast<int64_t>(a.size()));
}

TEST_P(PackedNetworkBatchTest, GivesARowTheSameBitsInAnyBatch) {
  for (const WeightType type : kTypes) {
    const NetworkOptions options = SmallOptions(type, 70, 1);
    const RandomNetwork model(options.shape, 1);
    PackedNetwork network(options);
    network.Load(model.weights());
    StepMemory all(options.shape, 70, 2);
    Step(&network, &all, 70);
    std::mt19937 random(3);
    std::vector<int64_t> order(70);
    std::iota(order.begin(), order.end(), 0);
    for (const int64_t batch_size : {1, 2, 4, 5, 7, 9, 31, 32, 33, 64, 70}) {
      std::shuffle(order.begin(), order.end(), random);
      StepMemory some(options.shape, batch_size, 4);
      for (int64_t i = 0; i < batch_size; ++i) some.CopyInputs(all, order[i], i);
      Step(&network, &some, batch_size);
      for (int64_t i = 0; i < batch_size; ++i) {
        ASSERT_TRUE(Same(some.Outputs(i), all.Outputs(order[i]))) << batch_size << " rows, " << i;
      }
    }
  }
}

TEST_P(PackedNetworkBatchTest, GivesTheSameBitsForAnyNumberOfThreads) {
  for (const WeightType type : kTypes) {
    const NetworkShape shape = SmallOptions(type, 70, 1).shape;
    const RandomNetwork model(shape, 5);
    std::vector<std::vector<float>> expected;
    for (const int num_threads : {1, 2, 3}) {
      PackedNetwork network(SmallOptions(type, 70, num_threads));
      EXPECT_FALSE(network.shares_columns());
      network.Load(model.weights());
      StepMemory all(shape, 70, 6);
      Step(&network, &all, 70);
      if (expected.empty()) expected = AllOutputs(all);
      ASSERT_EQ(std::equal(expected.begin(), expected.end(), AllOutputs(all).begin(), Same), true);
      for (const int64_t batch_size : {1, 2, 5, 33}) {  // fewer rows than threads, and more
        all.Poison();
        Step(&network, &all, batch_size);
        for (int64_t row = 0; row < batch_size; ++row) {
          ASSERT_TRUE(Same(all.Outputs(row), expected[static_cast<size_t>(row)])) << row;
        }
        for (int64_t row = batch_size; row < 70; ++row) ASSERT_TRUE(all.IsUntouched(row));
      }
    }
  }
}

void ExpectSameBitsWhenThreadsShareColumns(WeightType type) {
  const NetworkShape shape = WideOptions(type, 2, 1).shape;
  const RandomNetwork model(shape, 7);
  std::vector<float> expected;
  for (const int num_threads : {1, 3}) {
    PackedNetwork network(WideOptions(type, 2, num_threads));
    EXPECT_EQ(network.shares_columns(), num_threads > 1);
    network.Load(model.weights());
    StepMemory memory(shape, 2, 8);
    Step(&network, &memory, 1);
    if (expected.empty()) expected = memory.Outputs(0);
    EXPECT_TRUE(Same(memory.Outputs(0), expected)) << num_threads << " threads";
    // The same network by itself, while another thread needs the cores.
    memory.Poison();
    std::atomic<int> num_working = 1;
    const SharesCores shares(&num_working);
    Step(&network, &memory, 1);
    EXPECT_TRUE(Same(memory.Outputs(0), expected)) << num_threads << " threads, alone";
    EXPECT_TRUE(memory.IsUntouched(1));
  }
}

TEST_P(PackedNetworkBatchTest, GivesTheSameBitsWhenThreadsShareColumns) {
  ExpectSameBitsWhenThreadsShareColumns(WeightType::kFp32);
}

TEST_P(PackedNetworkBatchTest, GivesTheSameBitsWhenThreadsShareColumnsOfBf16) {
  ExpectSameBitsWhenThreadsShareColumns(WeightType::kBf16);
}

// Two blocks of rows with shared columns; for the best kernels alone, the others take too long.
TEST(PackedNetworkWideTest, GivesTheSameBitsForMoreRowsThanGoThroughAtOnce) {
  const NetworkShape shape = WideOptions(WeightType::kFp32, 65, 2).shape;
  const RandomNetwork model(shape, 9);
  PackedNetwork network(WideOptions(WeightType::kFp32, 65, 2));
  network.Load(model.weights());
  StepMemory all(shape, 65, 10);
  Step(&network, &all, 65);
  for (const int64_t row : {0, 31, 32, 64}) {
    StepMemory alone(shape, 1, 11);
    alone.CopyInputs(all, row, 0);
    Step(&network, &alone, 1);
    EXPECT_TRUE(Same(alone.Outputs(0), all.Outputs(row))) << row;
  }
}

TEST_P(PackedNetworkBatchTest, LeavesRowsBeyondTheBatchAlone) {
  const NetworkOptions options = SmallOptions(WeightType::kFp32, 10, 2);
  const RandomNetwork model(options.shape, 12);
  PackedNetwork network(options);
  network.Load(model.weights());
  StepMemory memory(options.shape, 10, 13);
  for (int64_t batch_size = 0; batch_size <= 10; ++batch_size) {
    memory.Poison();
    Step(&network, &memory, batch_size);
    for (int64_t row = 0; row < 10; ++row) {
      ASSERT_EQ(memory.IsUntouched(row), row >= batch_size) << batch_size << " rows, " << row;
      for (const float number : memory.Outputs(row)) {
        ASSERT_EQ(std::isfinite(number), row < batch_size);
      }
    }
  }
}

TEST_P(PackedNetworkBatchTest, LoadsOtherWeights) {
  for (const WeightType type : kTypes) {
    const NetworkOptions options = SmallOptions(type, 4, 1);
    const RandomNetwork first(options.shape, 14), second(options.shape, 15);
    StepMemory memory(options.shape, 4, 16);
    PackedNetwork fresh(options), used(options);
    fresh.Load(second.weights());
    Step(&fresh, &memory, 4);
    const std::vector<std::vector<float>> expected = AllOutputs(memory);
    used.Load(first.weights());
    Step(&used, &memory, 4);
    EXPECT_FALSE(Same(memory.Outputs(0), expected[0]));
    used.Load(second.weights());
    Step(&used, &memory, 4);
    for (int64_t row = 0; row < 4; ++row) {
      EXPECT_TRUE(Same(memory.Outputs(row), expected[static_cast<size_t>(row)])) << row;
    }
  }
}

// A NaN of the newest context token reaches all that depends on it, and no other row.
TEST_P(PackedNetworkBatchTest, LetsNanThroughInItsRowAlone) {
  const NetworkOptions options = SmallOptions(WeightType::kFp32, 6, 1);
  const int64_t token_size = options.shape.token_size();
  const RandomNetwork model(options.shape, 17);
  PackedNetwork network(options);
  network.Load(model.weights());
  StepMemory memory(options.shape, 6, 18);
  memory.lengths = {1, 3, 0, 2, 1, 3};
  for (int64_t row = 0; row < 6; ++row) std::fill_n(memory.context(row), 3 * token_size, 0.5f);
  Step(&network, &memory, 6);
  const std::vector<std::vector<float>> expected = AllOutputs(memory);
  memory.context(3)[2 * token_size + 5] = kNan;
  memory.Poison();
  Step(&network, &memory, 6);
  for (int64_t row = 0; row < 6; ++row) {
    const std::vector<float> outputs = memory.Outputs(row);
    EXPECT_EQ(Same(outputs, expected[static_cast<size_t>(row)]), row != 3) << row;
    // Reward, value, prior logits.
    for (size_t i = 0; i < 7; ++i) EXPECT_EQ(std::isnan(outputs[i]), row == 3) << row << " " << i;
  }
}

// A row with a mistake in front of a good one: the step says which, and writes nothing.
TEST(PackedNetworkErrorTest, RefusesInputsThatCannotBe) {
  const NetworkOptions options = SmallOptions(WeightType::kFp32, 6, 2);
  PackedNetwork network(options);
  network.Load(RandomNetwork(options.shape, 20).weights());
  const auto expect_refused = [&](StepMemory* memory, int64_t batch_size,
                                  const std::string& message) {
    const absl::Status status = network.Step(memory->arrays(), batch_size);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(), message);
    for (int64_t row = 0; row < memory->num_rows(); ++row) EXPECT_TRUE(memory->IsUntouched(row));
  };
  StepMemory good(options.shape, 6, 21);
  expect_refused(&good, -1, "a step of -1 rows, made for at most 6");
  expect_refused(&good, 7, "a step of 7 rows, made for at most 6");
  for (const int64_t action : {-1, 5, 1000000007}) {
    StepMemory memory(options.shape, 6, 22);
    memory.actions[2] = action;
    expect_refused(&memory, 6,
                   "row 2 of a step: action " + std::to_string(action) + "; allowed: 0 .. 4");
    Step(&network, &memory, 2);  // the row is not part of this step
  }
  for (const int64_t length : {-1, 4, 1000000007}) {
    StepMemory memory(options.shape, 6, 23);
    memory.lengths[5] = length;
    expect_refused(
        &memory, 6,
        "row 5 of a step: a context of " + std::to_string(length) + " tokens; allowed: 0 .. 3");
  }
  StepMemory both(options.shape, 6, 24);
  both.actions[4] = 9;
  both.lengths[1] = 9;
  expect_refused(&both, 6, "row 1 of a step: a context of 9 tokens; allowed: 0 .. 3");
}

TEST(PackedNetworkDeathTest, NeedsRowsAndThreads) {
  EXPECT_DEATH(PackedNetwork(SmallOptions(WeightType::kFp32, 0, 1)), "a batch of 0");
  EXPECT_DEATH(PackedNetwork(SmallOptions(WeightType::kFp32, 1, 0)), "a team of 0");
}

void ExpectNoAllocation(const NetworkOptions& options) {
  const RandomNetwork model(options.shape, 25);
  PackedNetwork network(options);
  network.Load(model.weights());
  StepMemory memory(options.shape, options.max_batch, 26);
  const StepArrays arrays = memory.arrays();
  Step(&network, &memory, options.max_batch);
  const int64_t before = NumAllocations();
  ASSERT_GT(before, 0) << "the counter counts";
  bool ok = true;
  for (int64_t batch_size = 0; batch_size <= options.max_batch; batch_size += 13) {
    ok = ok && network.Step(arrays, batch_size).ok();
  }
  ok = ok && network.Step(arrays, options.max_batch).ok();
  network.Load(model.weights());
  EXPECT_EQ(NumAllocations(), before);
  EXPECT_TRUE(ok);
}

TEST_P(PackedNetworkBatchTest, AllocatesNothingInAWarmStep) {
  for (const WeightType type : kTypes) {
    for (const int num_threads : {1, 3}) {
      ExpectNoAllocation(SmallOptions(type, 40, num_threads));
    }
  }
}

TEST(PackedNetworkWideTest, AllocatesNothingInAWarmStep) {
  for (const WeightType type : kTypes) ExpectNoAllocation(WideOptions(type, 1, 2));
}

// Bytes() counts the arrays; beside them come the rounding of each to a register, vectors of blocks
// and the threads.
TEST(PackedNetworkBytesTest, AreThoseThatItAllocates) {
  for (const WeightType type : kTypes) {
    for (const int num_threads : {1, 3}) {
      for (const bool wide : {false, true}) {
        NetworkOptions options =
            wide ? WideOptions(type, 50, num_threads) : SmallOptions(type, 50, num_threads);
        options.shape.context_length = 100;  // tables and windows count
        const int64_t bytes = AllocatedBytes(), allocations = NumAllocations();
        const PackedNetwork network(options);
        const int64_t counted = AllocatedBytes() - bytes;
        const int64_t most_beside = 64 * (NumAllocations() - allocations) + 6000;
        EXPECT_GE(counted, PackedNetwork::Bytes(options));
        EXPECT_LE(counted, PackedNetwork::Bytes(options) + most_beside);
      }
    }
  }
}

}  // namespace
}  // namespace lzero::packed::packed_network_batch_test
