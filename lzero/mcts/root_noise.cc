#include "lzero/mcts/root_noise.h"

#include <algorithm>

#include "lzero/base/rng.h"

namespace lzero {

namespace {

RandomStream NoiseStream(const SearchRequest& request, EnvId env) {
  return RandomStream(StreamKey(request.seed, "root noise", request.search_index), "environment",
                      static_cast<uint64_t>(static_cast<uint32_t>(env.value)));
}

}  // namespace

bool HasRootNoise(const SearchConfig& config, const SearchRequest& request) {
  const bool is_given = config.policy == SearchPolicy::kGumbel && !request.root_gumbel.empty();
  return request.add_noise || is_given;
}

void ComputeRootNoise(const SearchConfig& config, const SearchRequest& request, EnvId env, int b,
                      absl::Span<const uint8_t> legal, absl::Span<double> noise) {
  if (config.policy == SearchPolicy::kPuct) {
    const auto num_illegal = std::count(legal.begin(), legal.end(), uint8_t{0});
    RandomStream stream = NoiseStream(request, env);
    stream.Dirichlet(config.root_noise_alpha,
                     noise.first(legal.size() - static_cast<size_t>(num_illegal)));
  } else if (!request.root_gumbel.empty()) {
    const auto given =
        request.root_gumbel.subspan(static_cast<size_t>(b) * noise.size(), noise.size());
    std::copy(given.begin(), given.end(), noise.begin());
  } else {
    RandomStream stream = NoiseStream(request, env);
    const double scale = config.gumbel_scale * request.gumbel_factor;
    for (double& number : noise) number = scale * stream.Gumbel();
  }
}

}  // namespace lzero
