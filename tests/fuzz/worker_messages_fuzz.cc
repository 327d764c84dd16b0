// libFuzzer target of the messages with workers: any text gives an answer or an error, a spec that
// is taken makes sense, and any settings become JSON that says the same.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "lzero/base/check.h"
#include "lzero/env/python/worker_messages.h"
#include "nlohmann/json.hpp"

namespace lzero {
namespace {

void CheckBounds(const std::vector<float>& low, const std::vector<float>& high, int64_t size) {
  LZ_CHECK(low.size() == high.size(), low.size(), " and ", high.size(), " bounds");
  LZ_CHECK(low.size() == 1 || static_cast<int64_t>(low.size()) == size, low.size(), " of ", size);
  for (size_t i = 0; i < low.size(); ++i) {
    LZ_CHECK(low[i] <= high[i], low[i], " .. ", high[i]);
    LZ_CHECK(std::isfinite(low[i]) || low[i] < 0.0f, low[i]);
    LZ_CHECK(std::isfinite(high[i]) || high[i] > 0.0f, high[i]);
  }
}

void CheckReaders(absl::string_view text) {
  WorkerRefusal refusal;
  const absl::Status answer = ReadAnswer(text, &refusal);
  LZ_CHECK(answer.ok() || !answer.message().empty(), "an error without a message");
  const auto spec = ReadSpec(text, &refusal);
  LZ_CHECK(answer.ok() || !spec.ok(), "a spec without an answer");
  if (spec.ok()) {
    const int64_t size = spec->observation.size();
    LZ_CHECK(size >= 1 && size <= int64_t{1} << 26, size);
    CheckBounds(spec->observation.low, spec->observation.high, size);
    if (spec->action.kind == ActionKind::kBox) {
      LZ_CHECK(!spec->action.low.empty(), "no action");
      CheckBounds(spec->action.low, spec->action.high,
                  static_cast<int64_t>(spec->action.low.size()));
    } else {
      LZ_CHECK(spec->action.num_actions >= 1, spec->action.num_actions);
    }
    LZ_CHECK(spec->max_episode_steps >= 0, spec->max_episode_steps);
  }
  const auto traceback = ReadTraceback(text);
  LZ_CHECK(traceback.ok() == answer.ok(), traceback.status().message());
  const auto picture = ReadBlankPicture(text);
  if (picture.ok()) {
    const int64_t num_bytes = int64_t{3} * picture->width * picture->height;
    LZ_CHECK(num_bytes > 0 && num_bytes <= kMaxWorkerPicture, num_bytes);
  }
}

// Lines "name=value" are settings, any other is the id.
void CheckWriters(absl::string_view text) {
  WorkerTask task;
  task.kind = "gymnasium";
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::pair<std::string, std::string> parts = absl::StrSplit(line, absl::MaxSplits('=', 1));
    if (line.find('=') == line.npos) {
      task.id = std::string(line);
    } else {
      task.settings[parts.first] = parts.second;
    }
  }
  const auto json = nlohmann::json::parse(MakeText(task, 3), nullptr, false);
  LZ_CHECK(json.is_object() && json["op"] == "make" && json["num_envs"] == 3, MakeText(task, 3));
  LZ_CHECK(json["settings"].size() <= task.settings.size(), MakeText(task, 3));
  for (const auto& [name, value] : json["settings"].items()) {
    LZ_CHECK(value.is_primitive(), name);
    LZ_CHECK(!value.is_number_float() || std::isfinite(value.get<double>()), name);
  }
}

}  // namespace
}  // namespace lzero

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(bytes), size);
  lzero::CheckReaders(text);
  lzero::CheckWriters(text);
  return 0;
}
