#include "tools/verbs/support/command_line.h"

#include <algorithm>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/log.h"
#include "lzero/base/nearest.h"
#include "lzero/config/device.h"
#include "lzero/config/scalar_text.h"
#include "tools/verbs/support/usage_error.h"

namespace lzero {
CLI::Option* AddNumber(CLI::App* verb, const char* name, const NumberPointer& number, double low,
                       double high, const std::string& help) {
  const bool is_optional = number.index() >= 3;  // the last of NumberPointer
  const bool is_real = std::holds_alternative<double*>(number) ||
                       std::holds_alternative<std::optional<double>*>(number);
  const auto least = static_cast<int64_t>(low), most = static_cast<int64_t>(high);
  const auto check = [=](const std::string& text) {
    return is_real ? NumberError(text, low, high) : IntegerError(text, least, most);
  };
  const std::string range = is_real ? absl::StrCat("[", low, " .. ", high, "]")
                                    : absl::StrCat("[", least, " .. ", most, "]");
  CLI::Option* option =
      std::visit([&](auto* value) { return verb->add_option(name, *value, help); }, number);
  option->check(CLI::Validator(check, range));
  return is_optional ? option : option->capture_default_str();
}

void AddSeed(CLI::App* verb, uint64_t* seed, const std::string& help) {
  verb->add_option("--seed", *seed, help)->check(SeedError)->capture_default_str();
}

CLI::Validator NotEmpty(const std::string& allowed) {
  const auto check = [=](const std::string& text) {
    return text.empty() ? absl::StrCat("got '', allowed: ", allowed) : std::string();
  };
  return CLI::Validator(check, "");
}

CLI::Validator OneOf(const std::vector<std::string>& names) {
  const auto check = [=](const std::string& text) {
    const bool is_known = std::find(names.begin(), names.end(), text) != names.end();
    return is_known
               ? std::string()
               : absl::StrCat("got ", QuotedForMessage(text),
                              ", allowed: ", absl::StrJoin(names, ", "), DidYouMean(text, names));
  };
  return CLI::Validator(check, "");
}

void AddPlugins(CLI::App* verb, std::vector<std::string>* plugins, const std::string& help) {
  verb->add_option("--plugin", *plugins, help)
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->check(NotEmpty("a file"));
}

void AddVerbose(CLI::App* verb) {
  verb->add_flag_callback("--verbose", ShowDetails,
                          "Also say how it is done: runner, caches, memory");
}

void AddTask(CLI::App* verb, std::string* task) {
  verb->add_option("--task", *task, "Which task of a run of several");
}

void AddDevice(CLI::App* verb, std::string* device) {
  const auto check = [](const std::string& text) {
    if (ParseDevice(text).ok()) return std::string();
    return absl::StrCat("got ", QuotedForMessage(text), ", allowed: ", kDeviceNames);
  };
  verb->add_option("--device", *device, "cpu, cuda or cuda:N (default: as the run)")
      ->check(CLI::Validator(check, ""));
}

void AddPictureOptions(CLI::App* verb, PictureOptions* options) {
  AddNumber(verb, "--fps", &options->fps, 1, kMostFramesPerSecond,
            "Pictures a second of a gif (default: 10, of a game for two players 2)");
  AddNumber(verb, "--scale", &options->scale, 1, kMostScale,
            "Magnification of pictures (default: 1)");
}

}  // namespace lzero
