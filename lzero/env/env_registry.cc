#include "lzero/env/env_registry.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/check.h"
#include "lzero/base/nearest.h"
#include "lzero/base/status_macros.h"

namespace lzero {

void EnvRegistry::Register(Entry entry) {
  LZ_CHECK(!entry.id.empty() && entry.factory != nullptr, "entry '", entry.id, "' is incomplete");
  const std::string id = entry.id;
  const bool inserted = entries_.emplace(id, std::move(entry)).second;
  LZ_CHECK(inserted, "environment '", id, "' is registered twice");
}

absl::StatusOr<const EnvRegistry::Entry*> EnvRegistry::Find(const std::string& id) const {
  const auto found = entries_.find(id);
  if (found != entries_.end()) return &found->second;
  std::vector<std::string> ids;
  for (const auto& [name, entry] : entries_) ids.push_back(name);
  return absl::NotFoundError(absl::StrCat("no environment '", id, "'", DidYouMean(id, ids),
                                          " (known: ", absl::StrJoin(ids, ", "), ")"));
}

absl::StatusOr<std::unique_ptr<Env>> EnvRegistry::Make(const std::string& id,
                                                       const EnvOptions& options) const {
  LZ_ASSIGN_OR_RETURN(const Entry* entry, Find(id));
  LZ_ASSIGN_OR_RETURN(std::unique_ptr<Env> env, entry->factory(options));
  if (env != nullptr && env->spec().id != id) {
    return absl::FailedPreconditionError(
        absl::StrCat("environment '", id, "': its spec() says id '", env->spec().id,
                     "'; allowed: the id that it is registered under, '", id, "'"));
  }
  return env;
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
  return absl::InvalidArgumentError(
      absl::StrCat("max_episode_steps of '", id, "' is ", options.max_episode_steps,
                   "; allowed: 0 (its own cap) or a positive number"));
}

absl::Status CheckNoStepCap(const std::string& id, const EnvOptions& options, int64_t longest) {
  if (options.max_episode_steps == 0 || options.max_episode_steps >= longest) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "max_episode_steps of '", id, "' is ", options.max_episode_steps, "; allowed: 0 or at least ",
      longest, ", since a game is over after at most ", longest, " steps and is never cut short"));
}

absl::Status CheckNoRandomOpenings(const std::string& id, const EnvOptions& options) {
  if (options.random_opening_fraction == 0.0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("random_opening_fraction of '", id, "' is ",
                                                 options.random_opening_fraction,
                                                 "; allowed: 0, random openings are for boards"));
}

}  // namespace lzero
