// The functions of a library that runs searches in the memory of a device, as one table that is
// found with one look-up (lz_cuda_search_functions in liblzero_cuda): mcts itself links no CUDA.
// Used through DeviceSearch (device_search.h). All of them return 0 or an error code of the device.
// Those with a stream put work on it and return at once: they allocate and wait for nothing, so
// that they can be captured in a graph. One thread at a time for one search.
#ifndef LZERO_MCTS_DEVICE_DEVICE_FUNCTIONS_H_
#define LZERO_MCTS_DEVICE_DEVICE_FUNCTIONS_H_

#include <cstddef>

#include "lzero/base/host_device.h"
#include "lzero/mcts/device/device_arrays.h"
#include "lzero/mcts/tree/rules_view.h"

namespace lzero {

// A search's memory on the device, and the host's copies of inputs and results. Opaque.
struct DeviceMemory;

struct DeviceFunctions {
  const char* (*error_text)(int error);

  // Allocates on the current device for as many roots. `rules` points to tables of the host, which
  // are copied: exploration [num_simulations + 2], considered_visits [num_considered_visits].
  int (*create)(const RulesView* rules, int num_considered_visits, int num_actions, int max_roots,
                DeviceMemory** memory);
  // No launch that uses the memory may be unfinished, and no graph that holds one may be replayed.
  void (*destroy)(DeviceMemory* memory);
  // Where everything lies: in device memory, and the host's copies of inputs and results.
  const DeviceSearchArrays* (*device_arrays)(const DeviceMemory* memory);
  const DeviceInputs* (*host_inputs)(const DeviceMemory* memory);
  const DeviceResults* (*host_results)(const DeviceMemory* memory);

  // Copies the host's inputs in, and the results out.
  int (*upload)(const DeviceMemory* memory, DeviceStream stream);
  int (*download)(const DeviceMemory* memory, DeviceStream stream);
  // The steps of device_steps.h for rows 0 .. num_rows - 1.
  int (*begin)(const DeviceMemory* memory, int num_rows, const DeviceRootOutputs* outputs,
               DeviceStream stream);
  int (*select)(const DeviceMemory* memory, int num_rows, const DeviceQueries* queries,
                DeviceStream stream);
  int (*expand)(const DeviceMemory* memory, int num_rows, const DeviceStepOutputs* outputs,
                DeviceStream stream);
  // expand, then select, in one launch.
  int (*expand_and_select)(const DeviceMemory* memory, int num_rows,
                           const DeviceStepOutputs* outputs, const DeviceQueries* queries,
                           DeviceStream stream);
  int (*finish)(const DeviceMemory* memory, int num_rows, DeviceStream stream);
};

// Distinguishes builds whose tables or arrays differ: a number to raise when their order or meaning
// changes, and their sizes.
inline constexpr size_t kDeviceFunctionsVersion =
    2 + sizeof(DeviceFunctions) + 1000 * sizeof(DeviceSearchArrays) + 1000000 * sizeof(NodeRecord);

}  // namespace lzero

#endif  // LZERO_MCTS_DEVICE_DEVICE_FUNCTIONS_H_
