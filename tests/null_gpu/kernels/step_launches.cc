#include "tests/null_gpu/kernels/step_launches.h"

#include <functional>
#include <utility>
#include <vector>

#include "lzero/inference/device/step_tasks.h"
#include "tests/null_gpu/settings.h"
#include "tests/support/one_token_lane.h"

namespace lzero::null_gpu {
namespace {

constexpr OneTokenLane kLane;

// Calls body(row, operand), operand a float or a Bfloat16, for every row. Nothing at level control,
// where rows name slots that nobody wrote.
template <typename Body>
std::function<void()> OverRows(int rows, bool is_bf16, Body body) {
  if (GetSettings().level == Level::kControl) return nullptr;
  return [=] {
    for (int row = 0; row < rows; ++row) {
      if (is_bf16) {
        body(row, Bfloat16(0.0f));
      } else {
        body(row, 0.0f);
      }
    }
  };
}

Range Operands(const void* begin, int64_t count, bool is_bf16, bool writes) {
  return {begin, static_cast<size_t>(count) * (is_bf16 ? 2 : 4), writes};
}

Range RowsOf(const StepRows& rows, int count) {
  return Reads(rows.numbers, int64_t{count} * rows.row_size);
}

Work PutActions(const Launch& launch, bool is_bf16) {
  const auto task = launch.Argument<PutActionTask>(0);
  const int rows = launch.rows();
  const int64_t count = int64_t{rows} * task.size;
  return {"lzero::PutAction",
          OverRows(rows, is_bf16,
                   [=](int row, auto operand) { PutAction<decltype(operand)>(kLane, task, row); }),
          {RowsOf(task.rows, rows), Writes(task.x, count), Reads(task.table, task.size),
           Operands(task.normal, count, is_bf16, true)}};
}

// The pool is not named: which slots are used is not known before the kernel runs.
Work AttendAll(const Launch& launch, bool is_bf16) {
  const auto task = launch.Argument<AttendTask>(0);
  const int rows = launch.rows();
  const int64_t size = int64_t{task.num_heads} * task.head_size;
  return {"lzero::Attend",
          OverRows(rows, is_bf16,
                   [=](int row, auto operand) {
                     for (int head = 0; head < task.num_heads; ++head) {
                       Attend<decltype(operand)>(kLane, task, row, head);
                     }
                   }),
          {RowsOf(task.rows, rows), Reads(task.qkv, rows * 3 * size), Writes(task.pool, 1),
           Reads(task.rotations, (int64_t{task.rows.window} + 1) * task.head_size),
           Operands(task.mixed, rows * size, is_bf16, true)}};
}

Work AddAndNormalizeAll(const Launch& launch, bool is_bf16) {
  const auto task = launch.Argument<AddAndNormalizeTask>(0);
  const int rows = launch.rows();
  const int64_t count = int64_t{rows} * task.size;
  return {"lzero::AddAndNormalize",
          OverRows(
              rows, is_bf16,
              [=](int row, auto operand) { AddAndNormalize<decltype(operand)>(kLane, task, row); }),
          {Reads(task.bias, task.size), Writes(task.x, count),
           Operands(task.normal, count, is_bf16, true)}};
}

Work HeadsGeluAll(const Launch& launch, bool is_bf16) {
  const auto task = launch.Argument<HeadsGeluTask>(0);
  const int rows = launch.rows();
  const int64_t count = int64_t{rows} * 2 * task.size;
  return {"lzero::HeadsGelu",
          OverRows(rows, is_bf16,
                   [=](int row, auto operand) {
                     for (const int head : {0, 1}) {
                       HeadsGelu<decltype(operand)>(kLane, task, row, head);
                     }
                   }),
          {Reads(task.hidden, count), Reads(task.bias, 2 * task.size),
           Operands(task.active, count, is_bf16, true)}};
}

Range Logits(const DecodeTask& task, int rows) {
  return Reads(task.logits, int64_t{rows} * task.support.size);
}

Work ReadActions(const Launch& launch, bool is_bf16) {
  const auto task = launch.Argument<ReadActionTask>(0);
  const int rows = launch.rows();
  const int64_t count = int64_t{rows} * task.size;
  return {
      "lzero::ReadAction",
      OverRows(rows, is_bf16,
               [=](int row, auto operand) { ReadAction<decltype(operand)>(kLane, task, row); }),
      {Logits(task.rewards, rows), Writes(task.rewards.values, rows), Reads(task.latents, count),
       Writes(task.x, count), Operands(task.normal, count, is_bf16, true)}};
}

Work ReadLatents(const Launch& launch, bool /*is_bf16*/) {
  const auto task = launch.Argument<ReadLatentTask>(0);
  const int rows = launch.rows();
  const int64_t count = int64_t{rows} * task.policy_size;
  return {"lzero::ReadLatent",
          OverRows(rows, false, [=](int row, auto /*operand*/) { ReadLatent(kLane, task, row); }),
          {Logits(task.values, rows), Writes(task.values.values, rows), Reads(task.policy, count),
           Writes(task.prior_logits, count)}};
}

}  // namespace

std::optional<Work> WorkOfStep(const std::string& name, const Launch& launch) {
  constexpr std::pair<const char*, Work (*)(const Launch&, bool)> kKernels[] = {
      {"PutActionKernel", PutActions},
      {"AttendKernel", AttendAll},
      {"AddAndNormalizeKernel", AddAndNormalizeAll},
      {"HeadsGeluKernel", HeadsGeluAll},
      {"ReadActionKernel", ReadActions},
      {"ReadLatentKernel", ReadLatents}};
  const bool is_bf16 = name.find("Bfloat16") != std::string::npos;
  for (const auto& [kernel, make] : kKernels) {
    if (name.find(kernel) != std::string::npos) return make(launch, is_bf16);
  }
  return std::nullopt;
}

}  // namespace lzero::null_gpu
