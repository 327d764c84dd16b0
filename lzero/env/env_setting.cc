#include "lzero/env/env_setting.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/check.h"
#include "lzero/base/nearest.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/scalar_text.h"

namespace lzero {
namespace {

absl::Status CheckNames(const std::string& id, const std::vector<EnvSetting>& declared,
                        const EnvSettingTexts& given) {
  std::vector<std::string> names;
  for (const EnvSetting& setting : declared) names.push_back(setting.name);
  for (const auto& [name, text] : given) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("'", id, "' has no setting ", QuotedForMessage(name), "; allowed: ",
                     names.empty() ? "none" : absl::StrJoin(names, ", "), DidYouMean(name, names)));
  }
  return absl::OkStatus();
}

}  // namespace

EnvSetting EnvSetting::Int(std::string name, int64_t default_value, int64_t low, int64_t high,
                           std::string help) {
  EnvSetting setting = Float(std::move(name), 0.0, static_cast<double>(low),
                             static_cast<double>(high), std::move(help));
  setting.kind = Kind::kInt;
  setting.default_text = absl::StrCat(default_value);
  return setting;
}

EnvSetting EnvSetting::Float(std::string name, double default_value, double low, double high,
                             std::string help) {
  return {std::move(name), Kind::kFloat, FloatText(default_value), std::move(help), low, high, {}};
}

EnvSetting EnvSetting::Choice(std::string name, std::vector<std::string> choices,
                              std::string help) {
  LZ_CHECK(!choices.empty(), "setting '", name, "' has no choices");
  std::string first = choices[0];
  return {std::move(name),   Kind::kChoice, std::move(first), std::move(help), 0.0, 0.0,
          std::move(choices)};
}

EnvSetting EnvSetting::Text(std::string name, std::string default_text, std::string help) {
  return {std::move(name), Kind::kText, std::move(default_text), std::move(help), 0.0, 0.0, {}};
}

std::string EnvSetting::AllowedText() const {
  switch (kind) {
    case Kind::kText:
      return "a text";
    case Kind::kChoice:
      return absl::StrCat("one of ", absl::StrJoin(choices, ", "));
    case Kind::kInt:
      return absl::StrCat("an integer from ", static_cast<int64_t>(low), " to ",
                          static_cast<int64_t>(high));
    case Kind::kFloat:
      break;
  }
  return absl::StrCat("a number from ", FloatText(low), " to ", FloatText(high));
}

absl::StatusOr<EnvSettings> EnvSettings::Create(const std::string& id,
                                                const std::vector<EnvSetting>& declared,
                                                const EnvSettingTexts& given) {
  // Refuse names that nobody declared.
  LZ_RETURN_IF_ERROR(CheckNames(id, declared, given));
  // Parse each declared setting, or its default.
  EnvSettings settings;
  for (const EnvSetting& setting : declared) {
    const auto found = given.find(setting.name);
    const std::string& text = found == given.end() ? setting.default_text : found->second;
    const auto refused = [&](absl::string_view what, absl::string_view hint = "") {
      return absl::InvalidArgumentError(absl::StrCat(setting.name, " of '", id, "': ", what,
                                                     "; got ", QuotedForMessage(text),
                                                     "; allowed: ", setting.AllowedText(), hint));
    };
    const auto keep = [&](const auto& number) -> absl::Status {
      if (!number.ok()) return refused(number.status().message());
      const double value = static_cast<double>(*number);
      if (!(value >= setting.low && value <= setting.high)) return refused("out of range");
      settings.values_[setting.name] = *number;
      return absl::OkStatus();
    };
    if (setting.kind == EnvSetting::Kind::kInt) {
      LZ_RETURN_IF_ERROR(keep(ParseInt(text)));
    } else if (setting.kind == EnvSetting::Kind::kFloat) {
      LZ_RETURN_IF_ERROR(keep(ParseFloat(text)));
    } else if (const auto& choices = setting.choices;
               setting.kind == EnvSetting::Kind::kChoice &&
               std::find(choices.begin(), choices.end(), text) == choices.end()) {
      return refused("unknown", DidYouMean(text, choices));
    } else {
      settings.values_[setting.name] = text;
    }
  }
  return settings;
}

template <typename T>
const T& EnvSettings::Get(absl::string_view name) const {
  const auto found = values_.find(name);
  const T* const value = found == values_.end() ? nullptr : std::get_if<T>(&found->second);
  LZ_CHECK(value != nullptr, "no setting '", name, "' of this kind is declared");
  return *value;
}

int64_t EnvSettings::Int(absl::string_view name) const { return Get<int64_t>(name); }
double EnvSettings::Float(absl::string_view name) const { return Get<double>(name); }
const std::string& EnvSettings::Choice(absl::string_view name) const {
  return Get<std::string>(name);
}
const std::string& EnvSettings::Text(absl::string_view name) const {
  return Get<std::string>(name);
}

}  // namespace lzero
