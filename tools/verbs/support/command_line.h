// How verbs are added to the command line: options that live as long as the program, ranges in the
// words of our errors. For the files that take the command line apart; no verb includes this.
#ifndef LZERO_TOOLS_VERBS_SUPPORT_COMMAND_LINE_H_
#define LZERO_TOOLS_VERBS_SUPPORT_COMMAND_LINE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tools/verbs/support/picture_output.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own
class App;
class Option;
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

// What a number is read into; help shows those that stand before, but for optional ones.
using NumberPointer =
    std::variant<int*, int64_t*, double*, std::optional<int64_t>*, std::optional<double>*>;

// Adds an option that takes a number from `low` to `high`, checked before it is read, in the words
// of our errors.
CLI::Option* AddNumber(CLI::App* verb, const char* name, const NumberPointer& number, double low,
                       double high, const std::string& help);

// Adds --seed.
void AddSeed(CLI::App* verb, uint64_t* seed, const std::string& help);

// Refuses an empty text where `allowed` is meant, as "a file".
CLI::Validator NotEmpty(const std::string& allowed);

// Refuses what is not one of `names`; names the nearest.
CLI::Validator OneOf(const std::vector<std::string>& names);

// Adds --plugin FILE, which may be given again.
void AddPlugins(CLI::App* verb, std::vector<std::string>* plugins, const std::string& help);

// Adds --verbose.
void AddVerbose(CLI::App* verb);

// Adds --device, a text that ParseDevice takes; "": as the run.
void AddDevice(CLI::App* verb, std::string* device);
// --task NAME, which task of a run of several.
void AddTask(CLI::App* verb, std::string* task);

// Adds --fps and --scale, the options that belong to --render, of verbs that show environments.
void AddPictureOptions(CLI::App* verb, PictureOptions* options);

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_SUPPORT_COMMAND_LINE_H_
