// libFuzzer target: the reader of golden search trees, and the replay of small ones. Nothing may
// crash, whatever the bytes are.
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "lzero/mcts/golden/golden.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const auto golden =
      lzero::ParseGoldenTree(absl::string_view(reinterpret_cast<const char*>(bytes), size));
  if (golden.ok() && golden->config.num_simulations <= 200 && golden->num_actions <= 200) {
    (void)lzero::ReplayGoldenTree(*golden);
  }
  return 0;
}
