// What the null GPU is asked to do, read once from the environment variable LZERO_NULL_GPU: a list
// such as "level=late,seed=3,fail_capture=2". README.md lists the keys.
#ifndef LZERO_TESTS_NULL_GPU_SETTINGS_H_
#define LZERO_TESTS_NULL_GPU_SETTINGS_H_

#include <cstddef>
#include <cstdint>

namespace lzero::null_gpu {

enum class Level {
  kControl,  // kernels of libtorch do nothing
  kNumbers,  // operators run the CPU's kernels, at once
  kLate,     // the same, but work waits until something waits for it
};

struct Settings {
  Level level = Level::kNumbers;
  uint64_t seed = 0;            // of the order of late work; 0: each piece as late as possible
  int fail_capture = 0;         // this capture of the process fails; 0: none
  size_t memory_mib = 81920;    // of each device
  size_t taken_mib = 0;         // of it, by another process once its size was asked for
  int devices = 1;              // each with memory, streams and a context of its own
  bool nothing_left = false;    // what is still allocated at exit is a violation
  bool strict_capture = false;  // a capture that is refused is a violation
  bool print_counts = false;    // at exit
  bool print_nodes = false;     // of each graph, when it is made
};

// The settings of the process. Ends the process where they cannot be understood.
const Settings& GetSettings();

}  // namespace lzero::null_gpu

#endif  // LZERO_TESTS_NULL_GPU_SETTINGS_H_
