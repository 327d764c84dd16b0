#include <cstdio>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "lzero/config/dump.h"
#include "lzero/config/load.h"
#include "lzero/config/schema.h"
#include "nlohmann/json.hpp"
#include "tools/verbs/plain/plain_verbs.h"
#include "tools/verbs/support/interrupt.h"
#include "tools/verbs/support/verb_support.h"

namespace lzero {
namespace {

constexpr int kConfigError = 2;

void Write(std::FILE* stream, absl::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

int Fail(const absl::Status& status) { return PrintError(status, kConfigError); }

nlohmann::ordered_json FieldJson(const ConfigField& field) {
  return std::visit(
      [&field](auto stored) -> nlohmann::ordered_json {
        if constexpr (std::is_same_v<decltype(stored), ChoiceIndex>) {
          return field.choices.at(static_cast<size_t>(stored.Get()));
        } else if constexpr (std::is_same_v<decltype(stored), Device*>) {
          return DeviceText(*stored);
        } else if constexpr (std::is_same_v<decltype(stored), std::optional<Device>*>) {
          return stored->has_value() ? nlohmann::ordered_json(DeviceText(**stored))
                                     : nlohmann::ordered_json();
        } else if constexpr (requires { stored->has_value(); }) {
          return stored->has_value() ? nlohmann::ordered_json(**stored) : nlohmann::ordered_json();
        } else {
          return *stored;
        }
      },
      field.value);
}

// Sections as objects; tasks, each whole, as a list.
nlohmann::ordered_json ConfigObject(ExperimentConfig config) {
  nlohmann::ordered_json json;
  if (!config.name.empty()) json["name"] = config.name;
  for (const ConfigField& field : FieldsOf(config)) {
    nlohmann::ordered_json& section =
        field.section.empty() ? json : json[std::string(field.section)];
    section[std::string(field.name)] = FieldJson(field);
  }
  for (const ExperimentConfig& task : config.tasks) json["tasks"].push_back(ConfigObject(task));
  return json;
}

// Texts are bytes, JSON is UTF-8.
std::string ConfigJson(const ExperimentConfig& config) {
  return ConfigObject(config).dump(-1, ' ', false,
                                   nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

}  // namespace

int ConfigShow(const std::string& path, absl::Span<const std::string> overrides, bool json) {
  const absl::StatusOr<LoadedConfig> loaded = LoadConfig(path, overrides);
  if (!loaded.ok()) return Fail(loaded.status());
  Write(stdout, json ? ConfigJson(loaded->config) : ResolvedYaml(loaded->config));
  return kExitOk;
}

int ConfigExplain(absl::Span<const std::string> words) {
  const std::vector<std::string> everything = {""};
  int code = kExitOk;
  const char* separator = "";
  for (const std::string& word : words.empty() ? absl::MakeConstSpan(everything) : words) {
    const absl::StatusOr<std::string> text = ExplainKey(word);
    if (text.ok()) {
      Write(stdout, absl::StrCat(separator, *text));
      separator = "\n";
    } else {
      code = Fail(text.status());
    }
  }
  return code;
}

int ConfigValidate(absl::Span<const std::string> paths, const ConfigRule& rule) {
  if (paths.empty())
    return Fail(absl::InvalidArgumentError("no config given; allowed: one or more files"));
  int code = kExitOk;
  for (const std::string& path : paths) {
    const absl::StatusOr<LoadedConfig> loaded = LoadConfig(path, {}, rule);
    if (loaded.ok()) {
      Write(stdout, absl::StrCat(path, ": ok\n"));
    } else {
      code = Fail(loaded.status());
    }
  }
  return code;
}

int ConfigDiff(const std::string& a, const std::string& b) {
  const absl::StatusOr<LoadedConfig> loaded_a = LoadConfig(a, {});
  const absl::StatusOr<LoadedConfig> loaded_b = LoadConfig(b, {});
  if (!loaded_a.ok()) Fail(loaded_a.status());
  if (!loaded_b.ok()) Fail(loaded_b.status());
  if (!loaded_a.ok() || !loaded_b.ok()) return kConfigError;
  for (const ConfigDifference& difference : DiffConfigs(loaded_a->config, loaded_b->config)) {
    Write(stdout, absl::StrCat(difference.key, ": ", difference.a, " -> ", difference.b, "\n"));
  }
  return kExitOk;
}

}  // namespace lzero
