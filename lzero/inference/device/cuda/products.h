// Products of a captured step by cuBLASLt, which is found at run time: libtorch brings it.
#ifndef LZERO_INFERENCE_DEVICE_CUDA_PRODUCTS_H_
#define LZERO_INFERENCE_DEVICE_CUDA_PRODUCTS_H_

#include <cstddef>

#include "lzero/inference/device/step_functions.h"

namespace lzero {

// As in StepFunctions. Errors of cuBLASLt are kProductError + its status.
inline constexpr int kProductError = 100000;
inline constexpr int kNoProductLibrary = kProductError - 1;
int MakeProducts(ProductType type, void* workspace, size_t workspace_bytes, Products** products);
void FreeProducts(Products* products);
int RunProduct(Products* products, const ProductTask* task, DeviceStream stream);

}  // namespace lzero

#endif  // LZERO_INFERENCE_DEVICE_CUDA_PRODUCTS_H_
