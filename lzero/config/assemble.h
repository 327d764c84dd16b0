// Puts a config together from layers of YAML and from overrides, and collects everything that is
// wrong on the way, a line each. An entry of `tasks` is one more layer over those of the file, with
// an assembler of its own. Does not read files (load.h does). Belongs to one thread.
#ifndef LZERO_CONFIG_ASSEMBLE_H_
#define LZERO_CONFIG_ASSEMBLE_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "lzero/config/consistency.h"
#include "lzero/config/experiment_config.h"
#include "lzero/config/fields.h"
#include "lzero/config/schema.h"
#include "lzero/config/yaml/yaml_tree.h"

namespace lzero {

struct LoadedConfig {
  ExperimentConfig config;
  std::vector<std::string> files;             // the chain of extends, the named file first
  std::map<std::string, std::string> set_at;  // key path -> "file:line:column" or "command line"
};

// Rules on a config that reads well, from floors above this one.
using ConfigRule = std::function<std::vector<ConsistencyError>(const ExperimentConfig&)>;

class ConfigAssembler {
 public:
  ConfigAssembler() = default;
  ConfigAssembler(const ConfigAssembler&) = delete;  // fields_ point into config_
  ConfigAssembler& operator=(const ConfigAssembler&) = delete;

  // The next layer below those added before. `name` stands for it in messages.
  void AddLayer(const std::string& name, absl::string_view text);
  // The text of the entry `extends` of the lowest layer, "" when it has none. Reports one that is
  // no file name.
  std::string LowestExtends();
  // Reports about the entry `extends` of the lowest layer, or about the named file itself when
  // there is no layer yet; `message` is a clause. Afterwards fewer things can be checked.
  void ReportUnreadable(const std::string& message);
  // "a.yaml -> b.yaml", the layers so far.
  std::string ChainText() const;

  // Sets the fields from the layers, the lowest first.
  void ApplyLayers();
  // After ApplyLayers: an assembler, with its layers applied, for each entry of the first layer
  // that has `tasks`, in their order; none where no layer has.
  std::vector<std::unique_ptr<ConfigAssembler>> MakeTasks();
  // The name of its task; "" of the file.
  const std::string& task() const { return task_; }
  // Sets one field from "key.path=value", after ApplyLayers; `prefix` is what the user typed before
  // that.
  void ApplyOverride(const std::string& assignment, const std::string& prefix = "");
  // Reports an override that names no task.
  void ReportNoTask(const std::string& assignment);
  // Checks the rules between fields, and `extra_rule` (may be null). InvalidArgument with all
  // problems, a line each. With `tasks` each of them is checked, and what stands beside them is not
  // an experiment of its own.
  absl::StatusOr<LoadedConfig> Finish(
      const ConfigRule& extra_rule = nullptr,
      absl::Span<const std::unique_ptr<ConfigAssembler>> tasks = {});

 private:
  static constexpr int kOverrideRank = 1;
  static constexpr int kConsistencyRank = 2;
  static constexpr char kTasksKey[] = "tasks";

  struct Layer {
    std::string name;
    YamlTree tree;
    int rank = 0;  // 0: the named file, -1: what it extends, ...
    bool of_task = false;
  };
  struct Place {
    int rank = 0;  // later layers have a higher one
    TextPosition position;
    std::string where;     // "file:line:column", "command line: key=value"
    bool of_task = false;  // in an entry of `tasks`
  };
  struct Problem {
    Place place;
    std::string line;
  };

  bool IsSection(absl::string_view name) const;
  // The assembler of one entry of the `tasks` of `file`; null where it is no task.
  std::unique_ptr<ConfigAssembler> MakeTask(const Layer& file, const YamlNode& entry);
  // Reports what none of `tasks` reads of what stands beside them.
  void ReportUnreadBeside(absl::Span<const std::unique_ptr<ConfigAssembler>> tasks);
  // The rules between fields of this experiment and `extra_rule`.
  void CheckRules(const ConfigRule& extra_rule);
  LoadedConfig Loaded() const;
  void ApplyLayer(const Layer& layer);
  void ApplySection(const Layer& layer, const YamlEntry& section);
  void ApplyField(const Layer& layer, const ConfigField& field, const YamlNode& value);
  void ApplyMapEntry(const Layer& layer, const ConfigField& map, const YamlEntry& entry);
  // Records that `field`, all of it or an entry, was set at `place`, or reports `problem`.
  void Settle(const ConfigField& field, bool whole, const Place& place, absl::string_view prefix,
              const std::optional<std::string>& problem);
  void ReportUnknownKey(const Layer& layer, const std::string& path, const TextPosition& position);
  // "; did you mean ...". The key that it suggests is in doubt from then on.
  std::string HintAt(absl::string_view path);
  void Report(const Place& place, absl::string_view message);
  void ReportConsistency(const std::vector<ConsistencyError>& errors);
  // True when a key that takes part has no trustworthy value.
  bool InDoubt(const ConsistencyError& error) const;
  // For errors `only_if_set_after`: whether the first key was set no earlier than the second, in a
  // layer that sets less than half of all fields.
  bool IsSetAfter(const ConsistencyError& error) const;
  std::string JoinedProblems();
  static Place At(const Layer& layer, const TextPosition& position);

  std::string task_;
  std::vector<Layer> layers_;  // an entry of `tasks`, then the named file
  ExperimentConfig config_;
  const std::vector<ConfigField> fields_ = FieldsOf(config_);
  std::map<std::string, Place> settings_;  // key path -> where it was set last
  std::vector<Problem> problems_;
  std::set<std::string> doubtful_;  // keys and sections that were meant but not set
  bool complete_ = true;            // every layer could be read
  // What this task does not read of what stands beside the tasks.
  std::vector<ConsistencyError> unread_beside_;
};

}  // namespace lzero

#endif  // LZERO_CONFIG_ASSEMBLE_H_
