// The kernels of a recorded step by many lanes against the same by one, whose numbers the tests of
// family/unizero hold against the model: sums of another order, so close and not equal. The lanes
// take turns, see fiber_lanes.h.
#include "lzero/inference/device/token_kernels.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/base/rng.h"
#include "tests/support/fiber_lanes.h"
#include "tests/support/one_token_lane.h"

namespace lzero::token_kernels_test {
namespace {

constexpr int kRows = 4, kWindow = 5;
constexpr int kRowSize = kWindow + 4;  // of which two hold an action of up to four numbers
constexpr int64_t kSlots = 8;
constexpr int kLayers = 2, kAtoms = 21;

template <int NumLanes, int NumPairs>
struct TokenFibers : FiberLanes<NumLanes> {
  static constexpr int kMostPairs = NumPairs;
  explicit TokenFibers(const FiberLanes<NumLanes>& lanes) : FiberLanes<NumLanes>(lanes) {}
};

std::vector<float> Normals(RandomStream* stream, int64_t count) {
  std::vector<float> numbers(static_cast<size_t>(count));
  for (float& number : numbers) number = static_cast<float>(stream->Normal());
  return numbers;
}

// Rows with an empty context, a part of one, a whole one, and an idle row.
std::vector<int64_t> RowNumbers(RandomStream* stream, int action_dim) {
  std::vector<int64_t> numbers;
  for (int row = 0; row < kRows; ++row) {
    for (int i = 0; i < kWindow; ++i) numbers.push_back(stream->UniformInt(kSlots));
    numbers.push_back(row == 3 ? kWindow : std::min(2 * row, kWindow));
    numbers.push_back(row == 3 ? kIdleSlot : kSlots + 2 * row);
    int64_t action[2] = {row % 3, 0};
    if (action_dim > 0) {
      const std::vector<float> box = Normals(stream, 4);
      std::memcpy(action, box.data(), sizeof(action));
    }
    numbers.insert(numbers.end(), action, action + 2);
  }
  return numbers;
}

// What each kernel reads and writes, for embeddings of `num_heads` times `head_size`. The kernels
// write into arrays of their own, put_action and add_and_normalize into the same x.
template <typename Operand>
struct Tasks {
  Tasks(uint64_t seed, int num_heads, int head_size, int action_dim)
      : stream(seed, "token kernels"), numbers(RowNumbers(&stream, action_dim)) {
    const int64_t embed = num_heads * head_size, of_rows = kRows * embed;
    const auto in = [this](int64_t count) { return Add(&floats, Normals(&stream, count)); };
    const auto out = [this](int64_t count) {
      return Add(&floats, std::vector<float>(static_cast<size_t>(count)));
    };
    const auto normal = [this](int64_t count) {
      return Add(&operands, std::vector<Operand>(static_cast<size_t>(count), Operand(0.0f)));
    };
    const auto size = static_cast<int32_t>(embed);
    const StepRows rows = {numbers.data(), kWindow, kRowSize};
    const NormPointers norm = {in(2 * embed), in(2 * embed)};
    const ValueSupport support = EvenSupport(-1.0, 2.0, kAtoms);
    const float *bias = in(3 * embed), *table = in(5 * embed), *inputs = in(3 * of_rows);
    const float *rotations = in(int64_t{kWindow + 1} * head_size), *logits = in(kRows * kAtoms);
    float* const pool = in((kSlots + 2 * kRows) * kLayers * 2 * embed);
    put = {rows, table, action_dim, size, norm, out(of_rows), normal(of_rows)};
    for (const int token : {0, 1}) {
      attend.push_back({rows, token, /*layer=*/1, kLayers, num_heads, head_size, inputs, bias,
                        rotations, pool, normal(of_rows)});
    }
    add = {bias, size, norm, put.x, normal(of_rows)};
    gelu = {inputs, bias, norm, size, normal(2 * of_rows)};
    for (const int norm_group : {0, 4}) {
      read_action.push_back({{logits, bias, support, out(kRows)},
                             inputs,
                             bias,
                             size,
                             norm_group,
                             norm,
                             out(of_rows),
                             normal(of_rows)});
    }
    read_latent = {{logits, bias, support, out(kRows)}, inputs, bias, 3, out(kRows * 3)};
  }

  // One block of a device after the other.
  template <typename Lanes>
  void Run(const Lanes& lanes) const {
    for (int row = 0; row < kRows; ++row) {
      PutAction<Operand>(lanes, put, row);
      lanes.Join();
      for (const AttendTask& task : attend) {
        for (int head = 0; head < task.num_heads; ++head) {
          Attend<Operand>(lanes, task, row, head);
          lanes.Join();
        }
      }
      AddAndNormalize<Operand>(lanes, add, row);
      lanes.Join();
      for (const int head : {0, 1}) {
        HeadsGelu<Operand>(lanes, gelu, row, head);
        lanes.Join();
      }
      for (const ReadActionTask& task : read_action) {
        ReadAction<Operand>(lanes, task, row);
        lanes.Join();
      }
      ReadLatent(lanes, read_latent, row);
      lanes.Join();
    }
  }

  template <typename T>
  static T* Add(std::vector<std::vector<T>>* arrays, std::vector<T> array) {
    return arrays->emplace_back(std::move(array)).data();
  }

  RandomStream stream;
  std::vector<int64_t> numbers;
  std::vector<std::vector<float>> floats;
  std::vector<std::vector<Operand>> operands;
  PutActionTask put;
  std::vector<AttendTask> attend;  // of both tokens
  AddAndNormalizeTask add;
  HeadsGeluTask gelu;
  std::vector<ReadActionTask> read_action;  // with a LayerNorm, with a SimNorm
  ReadLatentTask read_latent;
};

template <typename T>
void ExpectNear(const std::vector<T>& expected, const std::vector<T>& got, float tolerance,
                const std::string& what) {
  ASSERT_EQ(expected.size(), got.size()) << what;
  for (size_t i = 0; i < expected.size(); ++i) {
    const auto a = static_cast<float>(expected[i]), b = static_cast<float>(got[i]);
    ASSERT_NEAR(a, b, tolerance * std::max(1.0f, std::fabs(a))) << what << ", number " << i;
  }
}

template <typename Operand, int NumLanes, int NumPairs>
void ExpectNumbersOfOneLane(int num_heads, int head_size, int action_dim, float tolerance) {
  const auto seed = static_cast<uint64_t>(head_size + 1000 * action_dim);
  const Tasks<Operand> expected(seed, num_heads, head_size, action_dim);
  const Tasks<Operand> got(seed, num_heads, head_size, action_dim);
  expected.Run(OneTokenLane());
  FiberLanes<NumLanes>::Run(
      [&](const auto& lanes) { got.Run(TokenFibers<NumLanes, NumPairs>(lanes)); });
  SCOPED_TRACE(testing::Message() << num_heads << " heads of " << head_size << ", box of "
                                  << action_dim << ", " << NumLanes << " lanes");
  for (size_t i = 0; i < expected.floats.size(); ++i) {
    ExpectNear(expected.floats[i], got.floats[i], 1e-5f, "floats " + std::to_string(i));
  }
  for (size_t i = 0; i < expected.operands.size(); ++i) {
    ExpectNear(expected.operands[i], got.operands[i], tolerance, "operands " + std::to_string(i));
  }
}

// Heads that fill all lanes, leave some without a pair, and give some more than one.
TEST(TokenKernelsTest, LanesThatShareARowComputeWhatOneComputes) {
  for (const int action_dim : {0, 3}) {
    ExpectNumbersOfOneLane<float, 8, 1>(2, 16, action_dim, 1e-5f);
    ExpectNumbersOfOneLane<float, 8, 1>(3, 4, action_dim, 1e-5f);
    ExpectNumbersOfOneLane<float, 8, 8>(2, 36, action_dim, 1e-5f);
    ExpectNumbersOfOneLane<float, 32, 1>(1, 64, action_dim, 1e-5f);
    ExpectNumbersOfOneLane<float, 32, 8>(1, 512, action_dim, 1e-5f);
  }
}

// A number that lies between two of bfloat16 may go either way.
TEST(TokenKernelsTest, OperandsOfSixteenBitsAreRoundedByEachLane) {
  ExpectNumbersOfOneLane<Bfloat16, 8, 8>(2, 36, 0, 1.0f / 128);
}

}  // namespace
}  // namespace lzero::token_kernels_test
