#include "lzero/run/status_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "absl/strings/str_join.h"
#include "lzero/base/check.h"
#include "lzero/base/files.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/text/json_reader.h"
#include "nlohmann/json.hpp"

namespace lzero {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr const char* kTimeFormat = "%Y-%m-%dT%H:%M:%E3SZ";
constexpr absl::string_view kStates[] = {"running", "finished", "interrupted", "failed", "stopped"};

std::string PathOf(const std::string& run_dir) { return JoinPath(run_dir, "status.json"); }

template <typename T>
OrderedJson OrNull(const std::optional<T>& value) {
  return value.has_value() ? OrderedJson(*value) : OrderedJson(nullptr);
}

}  // namespace

absl::string_view RunStateName(RunState state) {
  const auto index = static_cast<size_t>(state);
  LZ_CHECK(index < std::size(kStates), "state ", index);
  return kStates[index];
}

absl::Status WriteStatusFile(const std::string& run_dir, const RunStatus& status) {
  OrderedJson json;
  json["state"] = std::string(RunStateName(status.state));
  json["env_steps"] = status.env_steps;
  json["updates"] = status.updates;
  json["eval_return"] = OrNull(status.eval_return);
  json["eval_env_steps"] = OrNull(status.eval_env_steps);
  json["eta_seconds"] = OrNull(status.eta_seconds);
  json["process_id"] = status.process_id;
  json["updated_time"] = absl::FormatTime(kTimeFormat, status.updated_time, absl::UTCTimeZone());
  json["message"] = status.message;
  return WriteFileAtomic(PathOf(run_dir),
                         json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n");
}

void MarkStopped(const char* path) {
  // "stopped" has the place of "running", where WriteStatusFile puts the first value.
  constexpr absl::string_view kBefore = "{\n  \"state\": \"running\"";
  char start[kBefore.size()];
  const int file = ::open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  if (::pread(file, start, sizeof(start), 0) == ssize_t{sizeof(start)} &&
      std::memcmp(start, kBefore.begin(), sizeof(start)) == 0) {
    const auto place = static_cast<off_t>(kBefore.find("running"));
    [[maybe_unused]] const ssize_t written = ::pwrite(file, "stopped", 7, place);
  }
  ::close(file);
}

absl::StatusOr<RunStatus> ReadStatusFile(const std::string& run_dir) {
  const std::string path = PathOf(run_dir);
  LZ_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  LZ_ASSIGN_OR_RETURN(const JsonReader json,
                      JsonReader::Parse(text, {path, absl::StatusCode::kDataLoss}));
  RunStatus status;
  std::string state, updated_time;
  json.Read("state", &state);
  json.Read("env_steps", &status.env_steps);
  json.Read("updates", &status.updates);
  json.Read("eval_return", &status.eval_return);
  json.Read("eval_env_steps", &status.eval_env_steps);
  json.Read("eta_seconds", &status.eta_seconds);
  json.Read("process_id", &status.process_id);
  json.Read("updated_time", &updated_time);
  json.Read("message", &status.message);
  const auto known = std::find(std::begin(kStates), std::end(kStates), state);
  if (known == std::end(kStates)) return json.Wrong("state", absl::StrJoin(kStates, ", "));
  status.state = static_cast<RunState>(known - std::begin(kStates));
  std::string error;
  if (!absl::ParseTime(kTimeFormat, updated_time, &status.updated_time, &error)) {
    return json.Wrong("updated_time", "a time like 2030-01-31T12:00:00.000Z");
  }
  LZ_RETURN_IF_ERROR(json.status());
  return status;
}

}  // namespace lzero
