#include "lzero/run/status_file.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/files.h"
#include "lzero/base/status_macros.h"
#include "nlohmann/json.hpp"

namespace lzero {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr const char* kTimeFormat = "%Y-%m-%dT%H:%M:%E3SZ";
constexpr RunState kStates[] = {RunState::kRunning, RunState::kFinished, RunState::kInterrupted,
                                RunState::kFailed};

std::string PathOf(const std::string& run_dir) { return JoinPath(run_dir, "status.json"); }

template <typename T>
OrderedJson OrNull(const std::optional<T>& value) {
  return value.has_value() ? OrderedJson(*value) : OrderedJson(nullptr);
}

// Reads fields one by one and keeps the first complaint.
class FieldReader {
 public:
  FieldReader(const OrderedJson& json, std::string path) : json_(json), path_(std::move(path)) {}

  void Read(const char* name, int64_t* value) {
    const OrderedJson* field = Find(name, "a whole number");
    if (field == nullptr) return;
    if (!field->is_number_integer()) return Complain(name, "a whole number");
    *value = field->get<int64_t>();
  }
  void Read(const char* name, double* value) {
    const OrderedJson* field = Find(name, "a number");
    if (field == nullptr) return;
    if (!field->is_number()) return Complain(name, "a number");
    *value = field->get<double>();
  }
  void Read(const char* name, std::string* value) {
    const OrderedJson* field = Find(name, "text");
    if (field == nullptr) return;
    if (!field->is_string()) return Complain(name, "text");
    *value = field->get<std::string>();
  }
  template <typename T>
  void Read(const char* name, std::optional<T>* value) {
    const OrderedJson* field = Find(name, "a number or null");
    if (field == nullptr || field->is_null()) return;
    Read(name, &value->emplace());
  }
  void Complain(const char* name, absl::string_view expected) {
    if (!status_.ok()) return;
    status_ = absl::DataLossError(absl::StrCat(path_, ": field '", name, "' is not ", expected));
  }
  const absl::Status& status() const { return status_; }

 private:
  const OrderedJson* Find(const char* name, absl::string_view expected) {
    const auto found = json_.find(name);
    if (found != json_.end()) return &*found;
    Complain(name, expected);
    return nullptr;
  }

  const OrderedJson& json_;
  std::string path_;
  absl::Status status_;
};

}  // namespace

absl::string_view RunStateName(RunState state) {
  switch (state) {
    case RunState::kRunning:
      return "running";
    case RunState::kFinished:
      return "finished";
    case RunState::kInterrupted:
      return "interrupted";
    case RunState::kFailed:
      break;
  }
  LZ_CHECK(state == RunState::kFailed, "state ", static_cast<int>(state));
  return "failed";
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

absl::StatusOr<RunStatus> ReadStatusFile(const std::string& run_dir) {
  const std::string path = PathOf(run_dir);
  LZ_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  const OrderedJson json = OrderedJson::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return absl::DataLossError(absl::StrCat(path, " is not a JSON object"));
  RunStatus status;
  FieldReader reader(json, path);
  std::string state, updated_time;
  reader.Read("state", &state);
  reader.Read("env_steps", &status.env_steps);
  reader.Read("updates", &status.updates);
  reader.Read("eval_return", &status.eval_return);
  reader.Read("eval_env_steps", &status.eval_env_steps);
  reader.Read("eta_seconds", &status.eta_seconds);
  reader.Read("process_id", &status.process_id);
  reader.Read("updated_time", &updated_time);
  reader.Read("message", &status.message);
  bool known_state = false;
  for (const RunState candidate : kStates) {
    if (RunStateName(candidate) != state) continue;
    status.state = candidate;
    known_state = true;
  }
  if (!known_state) reader.Complain("state", "running, finished, interrupted or failed");
  std::string error;
  if (!absl::ParseTime(kTimeFormat, updated_time, &status.updated_time, &error)) {
    reader.Complain("updated_time", "a time like 2030-01-31T12:00:00.000Z");
  }
  if (!reader.status().ok()) return reader.status();
  return status;
}

}  // namespace lzero
