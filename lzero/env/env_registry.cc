#include "lzero/env/env_registry.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/check.h"
#include "lzero/base/nearest.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/scalar_text.h"

namespace lzero {
namespace {

constexpr char kBoardSizeSetting[] = "board_size";
constexpr char kGymnasiumFamily[] = "gymnasium:";

template <typename T>
absl::Status Refused(absl::string_view option, const std::string& id, T value,
                     absl::string_view allowed) {
  return absl::InvalidArgumentError(
      absl::StrCat(option, " of '", id, "' is ", value, "; allowed: ", allowed));
}

// "CartPole-v1", "ALE/Pong-v5", "my_module:MyEnv-v0": a name with a version.
bool LooksLikeGymnasium(const std::string& id) {
  const size_t version = id.rfind("-v");
  return version != std::string::npos && version > 0 && version + 2 < id.size() &&
         id.find_first_not_of("0123456789", version + 2) == std::string::npos;
}

}  // namespace

void EnvRegistry::Register(Entry entry) {
  LZ_CHECK(!entry.id.empty() && (entry.factory != nullptr || entry.group != nullptr), "entry '",
           entry.id, "' is incomplete");
  const std::string id = entry.id;
  const bool inserted = entries_.emplace(id, std::move(entry)).second;
  LZ_CHECK(inserted, "environment '", id, "' is registered twice");
}

absl::StatusOr<const EnvRegistry::Entry*> EnvRegistry::Find(const std::string& id) const {
  // The entry itself, or the family with the longest prefix: prefixes sort before what they begin.
  for (auto it = std::make_reverse_iterator(entries_.upper_bound(id)); it != entries_.rend();
       ++it) {
    const bool covers = it->second.is_family() && absl::StartsWith(id, it->first);
    if (covers || it->first == id) return &it->second;
  }
  // Not found: say what may have been meant.
  std::vector<std::string> ids;
  for (const auto& [name, entry] : entries_) ids.push_back(name);
  const bool lacks_plugin = absl::StartsWith(id, kPluginPrefix) &&
                            std::none_of(ids.begin(), ids.end(), [](const auto& known) {
                              return absl::StartsWith(known, kPluginPrefix);
                            });
  std::string hint;
  if (lacks_plugin) {
    hint = "; no plugin is loaded: a config names the library in `plugins`, `envs` with --plugin";
  } else if (LooksLikeGymnasium(id) && entries_.count(kGymnasiumFamily) > 0) {
    hint = absl::StrCat("; did you mean '", kGymnasiumFamily, id, "'?");
  } else {
    hint = DidYouMean(id, ids);
  }
  return absl::NotFoundError(absl::StrCat("no environment ", QuotedForMessage(id), hint,
                                          " (known: ", absl::StrJoin(ids, ", "), ")"));
}

absl::StatusOr<EnvOptions> EnvRegistry::Resolve(const Entry& entry, const std::string& id,
                                                const EnvOptions& options) const {
  EnvOptions resolved = options;
  resolved.id = id;
  if (options.board_size != 0) {
    const auto& settings = entry.settings;
    const bool has_size =
        std::any_of(settings.begin(), settings.end(),
                    [](const EnvSetting& setting) { return setting.name == kBoardSizeSetting; });
    if (!has_size) {
      return Refused("board_size", id, options.board_size, "0, it comes in one size");
    }
    if (!resolved.settings.emplace(kBoardSizeSetting, absl::StrCat(options.board_size)).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          "board_size of '", id, "' is given twice, by env.board_size and by env.settings"));
    }
    resolved.board_size = 0;
  }
  const WorkerOptions& workers = options.workers;
  if (entry.group == nullptr && !workers.wrappers.empty()) {
    return Refused("wrappers", id, absl::StrJoin(workers.wrappers, ", "),
                   "none, they are for gymnasium:<id>");
  }
  if (entry.group == nullptr && workers.observation != "auto") {
    return Refused("observation", id, workers.observation, "auto, others are for gymnasium:<id>");
  }
  if (!entry.takes_any_setting) {
    LZ_RETURN_IF_ERROR(EnvSettings::Create(id, entry.settings, resolved.settings).status());
  }
  return resolved;
}

absl::StatusOr<std::unique_ptr<Env>> EnvRegistry::Make(const std::string& id,
                                                       const EnvOptions& options) const {
  LZ_ASSIGN_OR_RETURN(std::vector<std::unique_ptr<Env>> envs, MakeGroup(id, options, 1));
  return std::move(envs[0]);
}

absl::StatusOr<std::vector<std::unique_ptr<Env>>> EnvRegistry::MakeGroup(const std::string& id,
                                                                         const EnvOptions& options,
                                                                         int count) const {
  LZ_CHECK(count >= 1, "a group of ", count);
  LZ_ASSIGN_OR_RETURN(const Entry* entry, Find(id));
  LZ_ASSIGN_OR_RETURN(const EnvOptions resolved, Resolve(*entry, id, options));
  std::vector<std::unique_ptr<Env>> envs;
  if (entry->group != nullptr) {
    LZ_ASSIGN_OR_RETURN(envs, entry->group(resolved, count));
    LZ_CHECK(static_cast<int>(envs.size()) == count, envs.size(), " environments of ", count);
  }
  while (static_cast<int>(envs.size()) < count) {
    LZ_ASSIGN_OR_RETURN(std::unique_ptr<Env> env, entry->factory(resolved));
    envs.push_back(std::move(env));
  }
  for (const auto& env : envs) {
    if (env == nullptr || env->spec().id == id) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("environment '", id, "': its spec() says id '", env->spec().id,
                     "'; allowed: the id that it is registered under, '", id, "'"));
  }
  return envs;
}

absl::StatusOr<std::unique_ptr<Grader>> EnvRegistry::MakeGrader(const std::string& id) const {
  LZ_ASSIGN_OR_RETURN(const Entry* entry, Find(id));
  if (entry->grader != nullptr) return entry->grader();
  std::vector<std::string> gradable;
  for (const auto& [name, other] : entries_) {
    if (other.grader != nullptr) gradable.push_back(name);
  }
  return absl::NotFoundError(
      absl::StrCat("environment '", id, "' has no exact grader; those with one: ",
                   gradable.empty() ? "none" : absl::StrJoin(gradable, ", ")));
}

std::vector<const EnvRegistry::Entry*> EnvRegistry::entries() const {
  std::vector<const Entry*> all;
  for (const auto& [id, entry] : entries_) all.push_back(&entry);
  return all;
}

absl::Status CheckStepCap(const std::string& id, const EnvOptions& options) {
  if (options.max_episode_steps >= 0) return absl::OkStatus();
  return Refused("max_episode_steps", id, options.max_episode_steps,
                 "0 (its own cap) or a positive number");
}

absl::Status CheckNoStepCap(const std::string& id, const EnvOptions& options, int64_t longest) {
  const int64_t cap = options.max_episode_steps;
  if (cap == 0 || cap >= longest) return absl::OkStatus();
  return Refused("max_episode_steps", id, cap,
                 absl::StrCat("0 or at least ", longest, ", since a game is over after at most ",
                              longest, " steps and is never cut short"));
}

absl::Status CheckNoRandomOpenings(const std::string& id, const EnvOptions& options) {
  if (options.random_opening_fraction == 0.0) return absl::OkStatus();
  return Refused("random_opening_fraction", id, options.random_opening_fraction,
                 "0, random openings are for boards");
}

}  // namespace lzero
