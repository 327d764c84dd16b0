// How actions enter a network: a row of a table for each discrete action, or a linear map of the
// numbers of a box action. All tables float32. Pure functions, any thread.
#ifndef LZERO_NN_ACTION_TABLE_H_
#define LZERO_NN_ACTION_TABLE_H_

#include <cstdint>

#include "ATen/core/Tensor.h"

namespace lzero {

// A fresh table on the CPU, float32, not yet a parameter. Discrete: [num_actions, width], normal
// numbers of that deviation. Box (action_dim > 0): [action_dim + 1, width], uniform as in a linear
// layer, the bias last: tokens of different actions differ from the start.
at::Tensor MakeActionTable(int64_t num_actions, int64_t action_dim, int64_t width,
                           double deviation);
// Tokens of their own, which are normalised before they are read.
inline constexpr double kTokenDeviation = 0.02;
// Inputs beside latents, whose numbers have this deviation.
inline constexpr double kInputDeviation = 1.0;

// actions [...] int32 or int64 -> [..., width] float32; box: actions [..., D] float32 -> [...,
// width]. `table` is one of MakeActionTable. Gradients flow to the table and to box actions.
at::Tensor EmbedActions(const at::Tensor& table, int64_t action_dim, const at::Tensor& actions);

}  // namespace lzero

#endif  // LZERO_NN_ACTION_TABLE_H_
