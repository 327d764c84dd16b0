// Where games of a registered board begin, for tests.
#ifndef LZERO_TESTS_ENVS_BOARDS_START_BOARD_H_
#define LZERO_TESTS_ENVS_BOARDS_START_BOARD_H_

#include <memory>

#include "envs/boards/board_env.h"
#include "envs/entries.h"

namespace lzero {

inline std::unique_ptr<Board> StartBoard(const EnvRegistry::Entry& entry,
                                         const EnvSettingTexts& settings = {}) {
  EnvOptions options;
  options.settings = settings;
  const auto env = *entry.factory(options);
  return dynamic_cast<const BoardEnv&>(*env).start().Clone();
}

inline std::unique_ptr<Board> GomokuBoard(int size) {
  return StartBoard(GomokuEntry(), {{"board_size", std::to_string(size)}});
}

}  // namespace lzero

#endif  // LZERO_TESTS_ENVS_BOARDS_START_BOARD_H_
