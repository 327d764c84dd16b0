#include "lzero/worker/exploration.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"

namespace lzero {

namespace {

// At least one action is legal.
int32_t DrawLegal(absl::Span<const uint8_t> legal, RandomStream& stream) {
  const int64_t num_legal =
      static_cast<int64_t>(legal.size()) - std::count(legal.begin(), legal.end(), uint8_t{0});
  LZ_CHECK(num_legal > 0, "no legal action");
  int64_t rank = static_cast<int64_t>(stream.UniformInt(static_cast<int>(num_legal)));
  int32_t action = 0;
  while (legal[action] == 0 || rank-- > 0) ++action;
  return action;
}

}  // namespace

double EpsilonAt(const SearchConfig& config, int64_t env_steps) {
  const int64_t decay = config.epsilon_decay_env_steps;
  if (decay <= 0) return config.epsilon;
  const double share = std::min(1.0, static_cast<double>(env_steps) / static_cast<double>(decay));
  return config.epsilon + share * (config.epsilon_final - config.epsilon);
}

Exploration::Exploration(const SearchConfig& config, const ActionSpec& spec, uint64_t key)
    : spec_(spec), key_(key) {
  for (int64_t n = 1; n <= config.epsilon_max_hold; ++n) {
    weights_.push_back(1.0 / (static_cast<double>(n) * static_cast<double>(n)));
  }
}

void Exploration::Begin(uint64_t episode) {
  episode_ = episode;
  num_left_ = 0;
}

bool Exploration::Act(double epsilon, int64_t step, absl::Span<const uint8_t> legal,
                      Action* action) {
  const bool is_discrete = spec_.kind == ActionKind::kDiscrete;
  if (num_left_ > 0 && is_discrete && legal[held_.index] == 0) num_left_ = 0;
  if (num_left_ == 0) {
    if (epsilon <= 0.0) return false;
    RandomStream stream(StreamKey(key_, "exploration", episode_));
    constexpr uint64_t kWordsOfAStep = 1024;  // more than a step draws
    stream.set_state({stream.state().key, static_cast<uint64_t>(step) * kWordsOfAStep});
    if (stream.Uniform() >= epsilon) return false;
    num_left_ = 1 + stream.Categorical(weights_);
    if (is_discrete) {
      held_ = Action::Discrete(DrawLegal(legal, stream));
    } else {
      held_.values.resize(spec_.dim());
      for (float& value : held_.values) value = static_cast<float>(2.0 * stream.Uniform() - 1.0);
    }
  }
  --num_left_;
  *action = held_;
  return true;
}

void Exploration::Export(const std::string& prefix, std::vector<NamedArray>* arrays) const {
  if (num_left_ == 0) return;
  arrays->push_back(MakeNamedArray<int64_t>(prefix + "held", {num_left_, held_.index}));
  arrays->push_back(MakeNamedArray<float>(prefix + "held_values", held_.values));
}

absl::Status Exploration::Import(const std::string& prefix, absl::Span<const NamedArray> arrays) {
  num_left_ = 0;
  if (FindArray(arrays, prefix + "held") == nullptr) return absl::OkStatus();
  LZ_ASSIGN_OR_RETURN(const auto held, ReadArray<int64_t>(arrays, prefix + "held"));
  LZ_ASSIGN_OR_RETURN(auto values, ReadArray<float>(arrays, prefix + "held_values"));
  const bool is_discrete = spec_.kind == ActionKind::kDiscrete;
  const size_t dim = is_discrete ? 0 : static_cast<size_t>(spec_.dim());
  if (held.size() != 2 || held[0] < 1 || values.size() != dim || held[1] < 0 ||
      (is_discrete && held[1] >= spec_.num_actions)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the held action of ", prefix, " is none of this environment's"));
  }
  num_left_ = held[0];
  held_ = {static_cast<int32_t>(held[1]), std::move(values)};
  return absl::OkStatus();
}

}  // namespace lzero
