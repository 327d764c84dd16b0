// What the tests of the memory tasks share: reading observations and pictures back, and a player
// that looks for nothing but symbols in view. Used by one thread.
#ifndef LZERO_TESTS_ENVS_MEMORY_MAZE_TESTING_H_
#define LZERO_TESTS_ENVS_MEMORY_MAZE_TESTING_H_

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lzero/env/env.h"
#include "lzero/env/env_setting.h"

namespace lzero {

enum Direction : int32_t { kUp, kDown, kLeft, kRight };

// The 25 symbols of an observation, row after row; '?' for a colour that none has.
inline std::string ViewOf(const TimeStep& step) {
  static const std::vector<std::pair<char, std::array<float, 3>>> colors = {
      {' ', {0.8f, 0.8f, 0.8f}},  {'#', {0.1f, 0.1f, 0.1f}},       {'+', {0.898f, 0.584f, 0.43f}},
      {'a', {0.55f, 0.7f, 0.0f}}, {'b', {0.0f, 0.0f, 1.0f}},       {'c', {0.0f, 1.0f, 0.0f}},
      {'e', {1.0f, 0.0f, 0.0f}},  {'k', {0.627f, 0.321f, 0.176f}}, {'d', {0.529f, 0.808f, 0.922f}},
      {'i', {1.0f, 1.0f, 1.0f}}};
  std::string view(25, '?');
  for (size_t i = 0; i < view.size(); ++i) {
    const std::array<float, 3> color = {step.observation[i], step.observation[25 + i],
                                        step.observation[50 + i]};
    for (const auto& [symbol, its_color] : colors) {
      if (color == its_color) view[i] = symbol;
    }
  }
  return view;
}

// The 5 x 5 part of a picture of 7 lines around the player, beyond it floor.
inline std::string ViewFromPicture(const std::string& picture, int row, int column) {
  std::string view;
  for (int r = row - 2; r <= row + 2; ++r) {
    for (int c = column - 2; c <= column + 2; ++c) {
      view += r >= 0 && r < 7 && c >= 0 && c < 11 ? picture[r * 12 + c] : ' ';
    }
  }
  return view;
}

// The 7 lines of the map.
inline std::string PictureOf(const Env& env) { return env.RenderText()->substr(0, 7 * 12); }

// "explore, frame 0 of 1".
inline std::string PhaseOf(const Env& env) {
  const std::string text = *env.RenderText();
  return text.substr(7 * 12, text.size() - 7 * 12 - 1);
}

// Plays the moves, each `count` times; returns the last time step.
inline TimeStep Walk(Env& env, const std::vector<std::pair<Direction, int>>& moves) {
  TimeStep last;
  for (const auto& [direction, count] : moves) {
    for (int i = 0; i < count; ++i) {
      const auto step = env.Step(Action::Discrete(direction));
      EXPECT_TRUE(step.ok()) << step.status();
      if (!step.ok()) return last;
      last = *step;
    }
  }
  return last;
}

// Up and down in turn, until the phase begins that way.
inline TimeStep WalkTo(Env& env, const std::string& phase) {
  TimeStep last;
  for (int i = 0; i < 1000 && PhaseOf(env).rfind(phase, 0) != 0; ++i) {
    last = Walk(env, {{i % 2 == 0 ? kUp : kDown, 1}});
  }
  return last;
}

}  // namespace lzero

#endif  // LZERO_TESTS_ENVS_MEMORY_MAZE_TESTING_H_
