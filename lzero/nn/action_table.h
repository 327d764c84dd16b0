// How actions enter a network: a row of a table for each discrete action, or a linear map of the
// numbers of a box action. Pure functions, any thread.
#ifndef LZERO_NN_ACTION_TABLE_H_
#define LZERO_NN_ACTION_TABLE_H_

#include <cstdint>

#include "ATen/core/Tensor.h"

namespace lzero {

// A fresh table: [num_actions, width] small normal numbers (0.02); box (action_dim > 0):
// [action_dim + 1, width], as large as a linear layer's, its last row the bias, so that tokens of
// different actions are told apart from the start.
at::Tensor MakeActionTable(int64_t num_actions, int64_t action_dim, int64_t width);

// actions [...] int32 or int64 -> [..., width]; box: actions [..., D] float32 -> [..., width].
at::Tensor EmbedActions(const at::Tensor& table, int64_t action_dim, const at::Tensor& actions);

}  // namespace lzero

#endif  // LZERO_NN_ACTION_TABLE_H_
