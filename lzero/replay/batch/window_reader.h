// Reads from segments what value targets are made of. Keeps scratch arrays between calls; not
// thread-safe.
#ifndef LZERO_REPLAY_BATCH_WINDOW_READER_H_
#define LZERO_REPLAY_BATCH_WINDOW_READER_H_

#include <cstdint>
#include <vector>

#include "lzero/replay/batch/targets.h"
#include "lzero/replay/position_index.h"

namespace lzero {

class WindowReader {
 public:
  // Reads at most `max_steps` steps at a time.
  explicit WindowReader(int max_steps)
      : max_steps_(max_steps),
        rewards_(max_steps),
        root_values_(max_steps),
        to_play_(max_steps + 1) {}

  // The steps of the episode from `place` on, as many as are known. Valid until the next call.
  StepWindow Read(const PositionIndex::Place& place);

 private:
  const int max_steps_;
  std::vector<float> rewards_;
  std::vector<float> root_values_;
  std::vector<uint8_t> to_play_;
};

}  // namespace lzero

#endif  // LZERO_REPLAY_BATCH_WINDOW_READER_H_
