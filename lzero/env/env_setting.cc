#include "lzero/env/env_setting.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/check.h"
#include "lzero/base/nearest.h"
#include "lzero/config/scalar_text.h"

namespace lzero {
namespace {

absl::Status Refused(const std::string& id, const EnvSetting& setting, absl::string_view what,
                     const std::string& text) {
  // "what" may end in "; did you mean", which comes last.
  const size_t hint = what.find("; did you mean");
  return absl::InvalidArgumentError(absl::StrCat(
      setting.name, " of '", id, "': ", what.substr(0, hint), "; got ", QuotedForMessage(text),
      "; allowed: ", setting.AllowedText(), hint == what.npos ? "" : what.substr(hint)));
}

absl::Status CheckRange(const std::string& id, const EnvSetting& setting, double value,
                        const std::string& text) {
  if (value >= setting.low && value <= setting.high) return absl::OkStatus();
  return Refused(id, setting, "out of range", text);
}

template <typename Map>
const typename Map::mapped_type& ValueOf(const Map& values, absl::string_view name) {
  const auto found = values.find(std::string(name));
  LZ_CHECK(found != values.end(), "no setting '", name, "' of this kind is declared");
  return found->second;
}

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
  return {std::move(name),
          Kind::kInt,
          absl::StrCat(default_value),
          std::move(help),
          static_cast<double>(low),
          static_cast<double>(high),
          {}};
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

std::string EnvSetting::AllowedText() const {
  switch (kind) {
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
  const absl::Status known = CheckNames(id, declared, given);
  if (!known.ok()) return known;
  // Parse each declared setting, or its default.
  EnvSettings settings;
  for (const EnvSetting& setting : declared) {
    const auto found = given.find(setting.name);
    const std::string& text = found == given.end() ? setting.default_text : found->second;
    absl::Status status = absl::OkStatus();
    if (setting.kind == EnvSetting::Kind::kChoice) {
      if (std::find(setting.choices.begin(), setting.choices.end(), text) ==
          setting.choices.end()) {
        return Refused(id, setting, absl::StrCat("unknown", DidYouMean(text, setting.choices)),
                       text);
      }
      settings.choices_[setting.name] = text;
    } else if (setting.kind == EnvSetting::Kind::kInt) {
      const absl::StatusOr<int64_t> value = ParseInt(text);
      if (!value.ok()) return Refused(id, setting, value.status().message(), text);
      status = CheckRange(id, setting, static_cast<double>(*value), text);
      settings.ints_[setting.name] = *value;
    } else {
      const absl::StatusOr<double> value = ParseFloat(text);
      if (!value.ok()) return Refused(id, setting, value.status().message(), text);
      status = CheckRange(id, setting, *value, text);
      settings.floats_[setting.name] = *value;
    }
    if (!status.ok()) return status;
  }
  return settings;
}

int64_t EnvSettings::Int(absl::string_view name) const { return ValueOf(ints_, name); }
double EnvSettings::Float(absl::string_view name) const { return ValueOf(floats_, name); }
const std::string& EnvSettings::Choice(absl::string_view name) const {
  return ValueOf(choices_, name);
}

}  // namespace lzero
