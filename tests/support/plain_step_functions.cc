#include "tests/support/plain_step_functions.h"

#include <vector>

#include "tests/support/one_token_lane.h"

namespace lzero {

struct Products {
  ProductType type;
};

namespace {

// x [rows, in] with rows x_stride apart, as float32.
template <typename Operand>
float Dot(const Operand* x, const Operand* weight, int count) {
  float sums[8] = {};
  for (int i = 0; i < count; ++i) {
    sums[i % 8] += static_cast<float>(x[i]) * static_cast<float>(weight[i]);
  }
  float sum = 0.0f;
  for (const float part : sums) sum += part;
  return sum;
}

template <typename Operand>
void Multiply(const ProductTask& task) {
  const auto* x = static_cast<const Operand*>(task.x);
  const auto* weight = static_cast<const Operand*>(task.weight);
  const auto* bias = static_cast<const Operand*>(task.gelu_bias);
  for (int64_t row = 0; row < task.rows; ++row) {
    for (int64_t out = 0; out < task.out; ++out) {
      const float sum = Dot(x + row * task.x_stride, weight + out * task.in, task.in);
      const int64_t at = row * task.out + out;
      if (bias != nullptr) {
        static_cast<Operand*>(task.y)[at] = Operand(GeluOf(sum + static_cast<float>(bias[out])));
      } else {
        float& y = static_cast<float*>(task.y)[at];
        y = task.adds ? y + sum : sum;
      }
    }
  }
}

int Product(Products* products, const ProductTask* task, DeviceStream) {
  products->type == ProductType::kBf16 ? Multiply<Bfloat16>(*task) : Multiply<float>(*task);
  return 0;
}

// Calls body(row, float()) or body(row, Bfloat16) for each row.
template <typename Body>
int ForRows(ProductType type, int num_rows, const Body& body) {
  for (int row = 0; row < num_rows; ++row) {
    type == ProductType::kBf16 ? body(row, Bfloat16(0.0f)) : body(row, 0.0f);
  }
  return 0;
}

constexpr OneTokenLane kLane;

}  // namespace

const StepFunctions& PlainStepFunctions() {
  static const StepFunctions functions = {
      [](int) { return "no error"; },
      [](ProductType type, void*, size_t, Products** products) {
        *products = new Products{type};
        return 0;
      },
      [](Products* products) { delete products; },
      Product,
      [](ProductType type, const PutActionTask* task, int num_rows, DeviceStream) {
        return ForRows(type, num_rows, [&](int row, auto operand) {
          PutAction<decltype(operand)>(kLane, *task, row);
        });
      },
      [](ProductType type, const AttendTask* task, int num_rows, DeviceStream) {
        return ForRows(type, num_rows, [&](int row, auto operand) {
          for (int head = 0; head < task->num_heads; ++head) {
            Attend<decltype(operand)>(kLane, *task, row, head);
          }
        });
      },
      [](ProductType type, const AddAndNormalizeTask* task, int num_rows, DeviceStream) {
        return ForRows(type, num_rows, [&](int row, auto operand) {
          AddAndNormalize<decltype(operand)>(kLane, *task, row);
        });
      },
      [](ProductType type, const HeadsGeluTask* task, int num_rows, DeviceStream) {
        return ForRows(type, num_rows, [&](int row, auto operand) {
          for (const int head : {0, 1}) HeadsGelu<decltype(operand)>(kLane, *task, row, head);
        });
      },
      [](ProductType type, const ReadActionTask* task, int num_rows, DeviceStream) {
        return ForRows(type, num_rows, [&](int row, auto operand) {
          ReadAction<decltype(operand)>(kLane, *task, row);
        });
      },
      [](const ReadLatentTask* task, int num_rows, DeviceStream) {
        for (int row = 0; row < num_rows; ++row) ReadLatent(kLane, *task, row);
        return 0;
      }};
  return functions;
}

}  // namespace lzero
