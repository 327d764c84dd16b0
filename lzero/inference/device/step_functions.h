// The functions that put the kernels and products of a captured step on a stream, as one table that
// is found with one look-up (lz_cuda_step_functions in liblzero_cuda): the family itself links no
// CUDA. All return 0 or an error code of the device. Those with a stream return at once: they
// allocate and wait for nothing, so that a graph can capture them.
#ifndef LZERO_INFERENCE_DEVICE_STEP_FUNCTIONS_H_
#define LZERO_INFERENCE_DEVICE_STEP_FUNCTIONS_H_

#include <cstddef>

#include "lzero/base/host_device.h"
#include "lzero/inference/device/step_tasks.h"

namespace lzero {

// How products compute, and with it the type of operands: float32, or bfloat16 for kBf16. Sums are
// float32. kTf32 rounds float32 operands to 10 bits of mantissa on the way in.
enum class ProductType { kFp32, kTf32, kBf16 };

// Head sizes that attention holds in registers.
inline constexpr int kMostHeadSize = 512;

// Makes products of one type with a workspace of the caller. Opaque.
struct Products;

struct StepFunctions {
  const char* (*error_text)(int error);

  // The workspace, memory of the device, must live as long.
  int (*make_products)(ProductType type, void* workspace, size_t workspace_bytes,
                       Products** products);
  // No product may be unfinished.
  void (*free_products)(Products* products);
  int (*product)(Products* products, const ProductTask* task, DeviceStream stream);

  // The functions of token_kernels.h for rows 0 .. num_rows - 1; `type` tells what operands are.
  int (*put_action)(ProductType type, const PutActionTask* task, int num_rows, DeviceStream stream);
  int (*attend)(ProductType type, const AttendTask* task, int num_rows, DeviceStream stream);
  int (*add_and_normalize)(ProductType type, const AddAndNormalizeTask* task, int num_rows,
                           DeviceStream stream);
  int (*heads_gelu)(ProductType type, const HeadsGeluTask* task, int num_rows, DeviceStream stream);
  int (*read_action)(ProductType type, const ReadActionTask* task, int num_rows,
                     DeviceStream stream);
  int (*read_latent)(const ReadLatentTask* task, int num_rows, DeviceStream stream);
};

// Distinguishes builds whose tables or tasks differ: a number to raise when their order or meaning
// changes, and their sizes.
inline constexpr size_t kStepFunctionsVersion =
    1 + sizeof(StepFunctions) + 1000 * sizeof(AttendTask) + 1000000 * sizeof(ReadActionTask) +
    10000 * (sizeof(PutActionTask) + sizeof(AddAndNormalizeTask) + sizeof(HeadsGeluTask) +
             sizeof(ReadLatentTask) + sizeof(ProductTask));

}  // namespace lzero

#endif  // LZERO_INFERENCE_DEVICE_STEP_FUNCTIONS_H_
