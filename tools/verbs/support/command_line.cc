#include "tools/verbs/support/command_line.h"

#include <type_traits>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "tools/verbs/support/usage_error.h"

namespace lzero {
namespace {

template <typename T>
CLI::Validator RangeOf(T low, T high) {
  const auto check = [=](const std::string& text) {
    if constexpr (std::is_floating_point_v<T>) {
      return NumberError(text, low, high);
    } else {
      return IntegerError(text, low, high);
    }
  };
  return CLI::Validator(check, absl::StrCat("[", low, " .. ", high, "]"));
}

template <typename T>
CLI::Option* AddListOf(CLI::App* verb, const char* name, std::vector<T>* values,
                       const std::string& help) {
  CLI::Option* option = verb->add_option(name, *values, help)->delimiter(',');
  if (!values->empty()) option->capture_default_str();
  return option;
}

}  // namespace

CLI::Validator InRange(int low, int high) { return RangeOf(low, high); }
CLI::Validator InRange(double low, double high) { return RangeOf(low, high); }

void AddList(CLI::App* verb, const char* name, std::vector<int>* values, const std::string& help,
             int most) {
  AddListOf(verb, name, values, help)->check(InRange(1, most));
}

void AddList(CLI::App* verb, const char* name, std::vector<int64_t>* values,
             const std::string& help, int most) {
  AddListOf(verb, name, values, help)->check(InRange(1, most));
}

void AddList(CLI::App* verb, const char* name, std::vector<std::string>* values,
             const std::string& help) {
  AddListOf(verb, name, values, help);
}

void AddPlugins(CLI::App* verb, std::vector<std::string>* plugins, const std::string& help) {
  const auto is_named = [](const std::string& text) {
    return text.empty() ? "got '', allowed: a file" : std::string();
  };
  verb->add_option("--plugin", *plugins, help)
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->check(is_named);
}

}  // namespace lzero
