// The parts of libtorch that lzero uses. Sources include this in place of torch/torch.h, whose
// other parts (data loading, serialisation, every layer) cost each file about 2 s more even when
// precompiled. Headers name what they need, as ATen/core/Tensor.h.
#ifndef LZERO_TENSOR_TORCH_H_
#define LZERO_TENSOR_TORCH_H_

#include "ATen/ATen.h"                // IWYU pragma: export
#include "torch/nn/module.h"          // IWYU pragma: export
#include "torch/nn/modules/linear.h"  // IWYU pragma: export
#include "torch/optim/adamw.h"        // IWYU pragma: export
#include "torch/types.h"              // IWYU pragma: export
#include "torch/utils.h"              // IWYU pragma: export

#endif  // LZERO_TENSOR_TORCH_H_
