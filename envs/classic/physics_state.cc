#include "envs/classic/physics_state.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"

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

absl::Status LoadPhysics(StateReader& reader, absl::Span<const PhysicsNumber> numbers,
                         absl::Span<double> state) {
  std::vector<double> values(numbers.size());
  for (double& value : values) value = reader.Read<double>();
  LZ_RETURN_IF_ERROR(reader.Finish());
  const std::string problem = PhysicsProblem(numbers, values);
  if (!problem.empty()) return reader.Impossible(problem);
  std::copy(values.begin(), values.end(), state.begin());
  return absl::OkStatus();
}

[[gnu::noinline]] double RoundToFloat32(double value) { return static_cast<float>(value); }

}  // namespace lzero
