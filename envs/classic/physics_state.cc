#include "envs/classic/physics_state.h"

#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"

namespace lzero {

std::string PhysicsProblem(absl::Span<const PhysicsNumber> numbers,
                           absl::Span<const double> values) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto& [name, low, high] = numbers[i];
    if (!std::isfinite(values[i])) return absl::StrCat(name, " is not finite");
    if (values[i] < low || values[i] > high) {
      return absl::StrCat(name, " is ", values[i], ", outside ", low, " .. ", high);
    }
  }
  return "";
}

absl::Status CheckPhysics(absl::string_view id, absl::Span<const PhysicsNumber> numbers,
                          absl::Span<const double> values) {
  const bool fits = values.size() == numbers.size();
  const std::string problem = fits ? PhysicsProblem(numbers, values) : "";
  if (fits && problem.empty()) return absl::OkStatus();
  std::string names;
  for (const PhysicsNumber& number : numbers) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", number.name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("a state of '", id, "' is ", numbers.size(), " finite numbers (", names,
                   "), got ", values.size(), " numbers", fits ? "; " : "", problem));
}

[[gnu::noinline]] double RoundToFloat32(double value) { return static_cast<float>(value); }

}  // namespace lzero
