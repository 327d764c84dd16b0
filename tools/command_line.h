// How verbs are added to the command line: options that live as long as the program, ranges in the
// words of our errors. For the files that take the command line apart; no verb includes this.
#ifndef LZERO_TOOLS_COMMAND_LINE_H_
#define LZERO_TOOLS_COMMAND_LINE_H_

#include <functional>
#include <string>
#include <type_traits>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "tools/usage_error.h"

namespace lzero {

// What the chosen verb will do, set while the command line is parsed.
using VerbAction = std::function<int()>;

// Options that CLI11 fills live as long as the program.
template <typename T>
T* Keep() {
  return new T();
}

// CLI::Range in the words of our errors, before the text is read as a number.
template <typename T>
CLI::Validator InRange(T low, T high) {
  const auto check = [=](const std::string& text) {
    if constexpr (std::is_floating_point_v<T>) {
      return NumberError(text, low, high);
    } else {
      return IntegerError(text, low, high);
    }
  };
  return CLI::Validator(check, absl::StrCat("[", low, " .. ", high, "]"));
}

// Adds an option that takes a list: 8,32,128. Integers from 1 to `most`.
template <typename T>
void AddList(CLI::App* verb, const char* name, T* values, const std::string& help,
             int most = 1000000000) {
  CLI::Option* option = verb->add_option(name, *values, help)->delimiter(',');
  if constexpr (std::is_integral_v<typename T::value_type>) {
    option->check(InRange(1, most));
  }
  if (!values->empty()) option->capture_default_str();
}

}  // namespace lzero

#endif  // LZERO_TOOLS_COMMAND_LINE_H_
