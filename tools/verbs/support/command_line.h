// How verbs are added to the command line: options that live as long as the program, ranges in the
// words of our errors. For the files that take the command line apart; no verb includes this.
#ifndef LZERO_TOOLS_VERBS_SUPPORT_COMMAND_LINE_H_
#define LZERO_TOOLS_VERBS_SUPPORT_COMMAND_LINE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own
class App;
class Validator;
}  // namespace CLI

namespace lzero {

// What the chosen verb will do, set while the command line is parsed.
using VerbAction = std::function<int()>;

// Options that CLI11 fills live as long as the program.
template <typename T>
T* Keep() {
  static auto& kept = *new std::deque<T>();  // never destroyed
  return &kept.emplace_back();
}

// CLI::Range in the words of our errors, before the text is read as a number.
CLI::Validator InRange(int low, int high);
CLI::Validator InRange(double low, double high);

// Adds an option that takes a list: 8,32,128. Integers are from 1 to `most`.
void AddList(CLI::App* verb, const char* name, std::vector<int>* values, const std::string& help,
             int most = 1000000000);
void AddList(CLI::App* verb, const char* name, std::vector<int64_t>* values,
             const std::string& help, int most = 1000000000);
void AddList(CLI::App* verb, const char* name, std::vector<std::string>* values,
             const std::string& help);

// Adds --plugin FILE, which may be given again.
void AddPlugins(CLI::App* verb, std::vector<std::string>* plugins, const std::string& help);

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_SUPPORT_COMMAND_LINE_H_
