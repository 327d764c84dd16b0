#include "lzero/nn/action_table.h"

#include <cmath>

#include "lzero/nn/weight_device.h"
#include "lzero/tensor/torch.h"

namespace lzero {
at::Tensor MakeActionTable(int64_t num_actions, int64_t action_dim, int64_t width,
                           double deviation) {
  const at::Tensor table =
      torch::empty({action_dim > 0 ? action_dim + 1 : num_actions, width}, WeightDevice());
  if (action_dim == 0) return table.normal_(0.0, deviation);
  const double bound = 1.0 / std::sqrt(static_cast<double>(action_dim));
  return table.uniform_(-bound, bound);
}

at::Tensor EmbedActions(const at::Tensor& table, int64_t action_dim, const at::Tensor& actions) {
  if (action_dim == 0) return at::embedding(table, actions);
  return at::matmul(actions, table.narrow(0, 0, action_dim)) + table.select(0, action_dim);
}

}  // namespace lzero
