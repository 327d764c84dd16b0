#include "lzero/base/symmetry.h"

#include "absl/strings/str_cat.h"

namespace lzero {
namespace {

std::string PermutationProblem(const char* name, const std::vector<int32_t>& map, int64_t size) {
  if (static_cast<int64_t>(map.size()) != size) {
    return absl::StrCat(name, " has ", map.size(), " entries instead of ", size);
  }
  std::vector<bool> seen(map.size(), false);
  for (size_t i = 0; i < map.size(); ++i) {
    if (map[i] < 0 || map[i] >= size || seen[static_cast<size_t>(map[i])]) {
      return absl::StrCat(name, " is no permutation: entry ", i, " is ", map[i]);
    }
    seen[static_cast<size_t>(map[i])] = true;
  }
  return "";
}

}  // namespace

std::string SymmetryProblem(const Symmetry& symmetry, int64_t observation_size, int64_t num_actions,
                            int64_t num_chance_outcomes) {
  std::string problem =
      PermutationProblem("observation_source", symmetry.observation_source, observation_size);
  if (problem.empty()) {
    problem = PermutationProblem("action_image", symmetry.action_image, num_actions);
  }
  if (!problem.empty()) return problem;
  return PermutationProblem("chance_image", symmetry.chance_image, num_chance_outcomes);
}

}  // namespace lzero
