// Start maps that tools/record/record_minigrid_traces.py wrote with the reference: reads the file
// and compares with what an environment shows. Functions without state, no thread rule.
#ifndef LZERO_TESTS_ENVS_GRID_START_MAPS_H_
#define LZERO_TESTS_ENVS_GRID_START_MAPS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lzero/env/env_registry.h"

namespace lzero {

struct StartMap {
  std::string name;  // the line that introduces it
  std::string env;
  uint64_t seed = 0;
  EnvSettingTexts settings;
  std::string text;  // lines, each with its '\n'
};

// Blocks of a line "map ENV SEED setting=value ...", the map, and an empty line. InvalidArgument
// names the line that is something else.
inline absl::StatusOr<std::vector<StartMap>> ParseStartMaps(const std::string& text) {
  std::vector<StartMap> maps;
  bool in_map = false;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (line.empty()) {
      in_map = false;
    } else if (in_map) {
      absl::StrAppend(&maps.back().text, line, "\n");
    } else {
      const std::vector<std::string> words = absl::StrSplit(line, ' ');
      StartMap map;
      if (words.size() < 3 || words[0] != "map" || !absl::SimpleAtoi(words[2], &map.seed)) {
        return absl::InvalidArgumentError(absl::StrCat("not the head of a map: ", line));
      }
      map.name = std::string(line);
      map.env = words[1];
      for (size_t i = 3; i < words.size(); ++i) {
        map.settings.insert(absl::StrSplit(words[i], absl::MaxSplits('=', 1)));
      }
      maps.push_back(std::move(map));
      in_map = true;
    }
  }
  return maps;
}

// What the environment shows at the map's seed; equal to the map when it agrees.
inline absl::StatusOr<std::string> ShownMap(const EnvRegistry& registry, const StartMap& map) {
  EnvOptions options;
  options.settings = map.settings;
  const absl::StatusOr<std::unique_ptr<Env>> env = registry.Make(map.env, options);
  if (!env.ok()) return env.status();
  (*env)->Reset(map.seed);
  absl::StatusOr<std::string> text = (*env)->RenderText();
  if (!text.ok()) return text.status();
  constexpr char kEnd[] = "carrying: nothing\n";
  const size_t end = text->rfind(kEnd);
  if (end == std::string::npos) return absl::InternalError(absl::StrCat("no last line: ", *text));
  return text->substr(0, end);
}

}  // namespace lzero

#endif  // LZERO_TESTS_ENVS_GRID_START_MAPS_H_
