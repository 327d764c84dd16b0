// The settings of single environments, beside those that every environment has: board size, phase
// lengths, komi. An environment declares them once; the registry checks what a user gives (text,
// from a config or the command line) against the declarations. Plain data, no thread rule.
#ifndef LZERO_ENV_ENV_SETTING_H_
#define LZERO_ENV_ENV_SETTING_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace lzero {

// Name -> value as text, as a user writes them.
using EnvSettingTexts = std::map<std::string, std::string>;

// One declared setting.
struct EnvSetting {
  enum class Kind { kInt, kFloat, kChoice, kText };

  std::string name;
  Kind kind = Kind::kInt;
  std::string default_text;
  std::string help;                  // one clause
  double low = 0.0, high = 0.0;      // of numbers, both allowed
  std::vector<std::string> choices;  // of kChoice

  static EnvSetting Int(std::string name, int64_t default_value, int64_t low, int64_t high,
                        std::string help);
  static EnvSetting Float(std::string name, double default_value, double low, double high,
                          std::string help);
  // The first choice is the default.
  static EnvSetting Choice(std::string name, std::vector<std::string> choices, std::string help);

  // Whatever its environment takes, which must check it.
  static EnvSetting Text(std::string name, std::string default_text, std::string help);

  // "an integer from 3 to 19", "a number from -100 to 100", "one of simple, positional",
  // "a text".
  std::string AllowedText() const;
};

// A value for every declared setting.
class EnvSettings {
 public:
  // The given values over the defaults. InvalidArgument names the environment `id`, the setting,
  // what was given and what is allowed, with the nearest name for one that is not declared.
  static absl::StatusOr<EnvSettings> Create(const std::string& id,
                                            const std::vector<EnvSetting>& declared,
                                            const EnvSettingTexts& given);

  // A name that was not declared, or of another kind, is our bug.
  int64_t Int(absl::string_view name) const;
  double Float(absl::string_view name) const;
  const std::string& Choice(absl::string_view name) const;
  const std::string& Text(absl::string_view name) const;

 private:
  EnvSettings() = default;

  template <typename T>
  const T& Get(absl::string_view name) const;

  std::map<std::string, std::variant<int64_t, double, std::string>, std::less<>> values_;
};

}  // namespace lzero

#endif  // LZERO_ENV_ENV_SETTING_H_
