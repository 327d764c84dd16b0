#include "lzero/inference/action_sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lzero/base/check.h"
#include "lzero/kernels/squashed_gaussian.h"

namespace lzero {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

double LogSum(double a, double b) {
  const double most = std::max(a, b);
  if (most == -kInfinity) return most;
  return most + std::log(std::exp(a - most) + std::exp(b - most));
}

// Log of (1 - share) exp(a) + share exp(b).
double LogMix(double a, double b, double share) {
  return LogSum(std::log1p(-share) + a, std::log(share) + b);
}

}  // namespace

ActionSampler::ActionSampler(const ActionSamplerOptions& options) : options_(options) {
  LZ_CHECK(options.num_slots > 0 && options.max_roots > 0 && options.nodes_per_root > 0,
           options.num_slots, " slots, ", options.max_roots, " roots, ", options.nodes_per_root,
           " nodes");
  LZ_CHECK((options.num_actions > 0) != (options.action_dim > 0), options.num_actions,
           " actions of ", options.action_dim, " numbers");
  LZ_CHECK(options.action_dim > 0 || options.num_slots <= options.num_actions, options.num_slots,
           " slots for ", options.num_actions, " actions");
  const size_t slots =
      static_cast<size_t>(options.max_roots) * options.nodes_per_root * options.num_slots;
  if (options.action_dim > 0) {
    values_.resize(slots * options.action_dim);
  } else {
    indices_.resize(slots);
    scored_.resize(options.num_actions);
  }
  keys_.reserve(options.max_roots);
  roots_.num_slots = options.num_slots;
  roots_.action_dim = options.action_dim;
  const size_t root_slots = static_cast<size_t>(options.max_roots) * options.num_slots;
  roots_.slot_mask.reserve(root_slots);
  roots_.indices.reserve(options.action_dim > 0 ? 0 : root_slots);
  roots_.values.reserve(root_slots * options.action_dim);
}

int64_t ActionSampler::Bytes(const ActionSamplerOptions& options) {
  const int64_t slots = int64_t{options.max_roots} * options.nodes_per_root * options.num_slots;
  const int64_t root_slots = int64_t{options.max_roots} * options.num_slots;
  const int64_t words = std::max(1, options.action_dim);
  return (slots + root_slots) * words * static_cast<int64_t>(sizeof(float)) + root_slots +
         options.num_actions * static_cast<int64_t>(sizeof(Scored));
}

void ActionSampler::BeginSearch(const SearchRequest& request) {
  key_ = StreamKey(request.seed, "sampled actions", request.search_index);
  has_noise_ = request.add_noise;
}

float* ActionSampler::ValuesOf(size_t row, NodeId node) {
  const size_t at = row * options_.nodes_per_root + static_cast<size_t>(node.value);
  return values_.data() + at * options_.num_slots * options_.action_dim;
}

int32_t* ActionSampler::IndicesOf(size_t row, NodeId node) {
  const size_t at = row * options_.nodes_per_root + static_cast<size_t>(node.value);
  return indices_.data() + at * options_.num_slots;
}

RandomStream ActionSampler::StreamOf(size_t row, NodeId node) const {
  return RandomStream(keys_[row], "node", static_cast<uint64_t>(node.value));
}

int ActionSampler::SlotsAt(NodeId node) const {
  const bool all = node == kRootNode || options_.num_interior_slots == 0;
  return all ? options_.num_slots : options_.num_interior_slots;
}

void ActionSampler::DrawBox(size_t row, NodeId node, const float* policy, float* prior_logits) {
  RandomStream stream = StreamOf(row, node);
  const int dim = options_.action_dim;
  const int num_slots = SlotsAt(node);
  const double widen = std::sqrt(options_.temperature);
  const double mix = options_.uniform_fraction;
  // The last slots of a root are wide ones.
  const int num_wide = node == kRootNode && has_noise_
                           ? static_cast<int>(std::lround(options_.wide_fraction * num_slots))
                           : 0;
  const double wide_share = static_cast<double>(num_wide) / num_slots;
  const double wider = widen * options_.wide_scale;
  const bool corrects =
      !options_.uniform_prior && (options_.temperature != 1.0 || mix > 0.0 || num_wide > 0);
  float* values = ValuesOf(row, node);
  std::fill(prior_logits + num_slots, prior_logits + options_.num_slots, -kInfinity);
  for (int k = 0; k < num_slots; ++k) {
    // Draw from the policy with its variance widened, or uniformly.
    const bool uniform = mix > 0.0 && stream.Uniform() < mix;
    const double drawn_scale = k < num_slots - num_wide ? widen : wider;
    double log_policy = 0.0, log_widened = 0.0, log_wider = 0.0;
    bool is_inside = true;  // where the uniform part has its mass
    for (int d = 0; d < dim; ++d) {
      const double mean = policy[d];
      const double sigma =
          std::exp(std::clamp<double>(policy[dim + d], kMinLogSigma, kMaxLogSigma));
      double u;
      if (uniform) {
        u = std::atanh(kLargestSquashed * (2.0 * stream.Uniform() - 1.0));
      } else {
        u = mean + drawn_scale * sigma * stream.Normal();
      }
      const double value = std::tanh(u);
      values[k * dim + d] = static_cast<float>(value);
      is_inside = is_inside && std::abs(value) <= kLargestSquashed + 1e-9;
      if (!corrects) continue;
      log_policy += LogSquashedDensity(u, mean, sigma);
      log_widened += LogSquashedDensity(u, mean, widen * sigma);
      if (num_wide > 0) log_wider += LogSquashedDensity(u, mean, wider * sigma);
    }
    // Its prior: policy over proposal.
    prior_logits[k] = 0.0f;
    if (!corrects) continue;
    double log_proposal = LogMix(log_widened, log_wider, wide_share);
    if (mix > 0.0) {
      const double log_uniform = is_inside ? -dim * std::log(2.0 * kLargestSquashed) : -kInfinity;
      log_proposal = LogMix(log_proposal, log_uniform, mix);
    }
    prior_logits[k] = static_cast<float>(log_policy - log_proposal);
  }
}

int ActionSampler::DrawDiscrete(size_t row, NodeId node, const float* policy, const uint8_t* legal,
                                float* prior_logits) {
  RandomStream stream = StreamOf(row, node);
  const int num_actions = options_.num_actions;
  // Score every legal action.
  const double inverse = 1.0 / options_.temperature;
  double log_sum = -kInfinity;
  int num_legal = 0;
  for (int32_t a = 0; a < num_actions; ++a) {
    // Drawn for illegal ones too: what an action gets does not depend on the others.
    const double noise = has_noise_ ? stream.Gumbel() : 0.0;
    const double scaled = inverse * policy[a];
    if ((legal != nullptr && legal[a] == 0) || std::isinf(scaled)) continue;
    log_sum = LogSum(log_sum, scaled);
    scored_[num_legal++] = {scaled + noise, scaled, a};
  }
  LZ_CHECK(num_legal > 0, "no legal action below root ", row);
  // Keep the best, in the order of the actions; kappa is the best of the rest.
  const int num_filled = std::min(SlotsAt(node), num_legal);
  double kappa = -kInfinity;
  if (num_filled < num_legal) {
    const auto better = [](const Scored& x, const Scored& y) {
      return x.score != y.score ? x.score > y.score : x.action < y.action;
    };
    std::nth_element(scored_.begin(), scored_.begin() + num_filled, scored_.begin() + num_legal,
                     better);
    kappa = scored_[num_filled].score - log_sum;
    std::sort(scored_.begin(), scored_.begin() + num_filled,
              [](const Scored& x, const Scored& y) { return x.action < y.action; });
  }
  // Their priors: policy over the probability of being drawn.
  int32_t* indices = IndicesOf(row, node);
  for (int k = 0; k < options_.num_slots; ++k) {
    indices[k] = k < num_filled ? scored_[k].action : -1;
    prior_logits[k] = -kInfinity;
    if (k >= num_filled) continue;
    if (options_.uniform_prior) {
      prior_logits[k] = 0.0f;
      continue;
    }
    const double log_beta = scored_[k].log_beta - log_sum;
    // log(1 - exp(-x)) for x = exp(log beta - kappa); kappa -infinity: certain to be drawn.
    const double log_included = num_filled == num_legal || !has_noise_
                                    ? 0.0
                                    : std::log(-std::expm1(-std::exp(log_beta - kappa)));
    prior_logits[k] = static_cast<float>(policy[scored_[k].action] - log_included);
  }
  return num_filled;
}

void ActionSampler::DrawRoots(absl::Span<const Root> roots, absl::Span<const float> policies,
                              absl::Span<float> prior_logits) {
  const size_t num_slots = static_cast<size_t>(options_.num_slots);
  const size_t policy_size = static_cast<size_t>(options_.policy_size());
  LZ_CHECK(roots.size() <= static_cast<size_t>(options_.max_roots), roots.size(), " roots");
  // Nothing is left of the roots before.
  keys_.clear();
  roots_.slot_mask.assign(roots.size() * num_slots, 1);
  roots_.indices.clear();
  roots_.values.clear();
  for (size_t row = 0; row < roots.size(); ++row) {
    keys_.push_back(StreamKey(key_, "environment",
                              static_cast<uint64_t>(static_cast<uint32_t>(roots[row].env.value))));
    const float* policy = policies.data() + row * policy_size;
    float* logits = prior_logits.data() + row * num_slots;
    // Box actions: all slots are filled.
    if (options_.action_dim > 0) {
      DrawBox(row, kRootNode, policy, logits);
      const float* values = ValuesOf(row, kRootNode);
      roots_.values.insert(roots_.values.end(), values, values + num_slots * options_.action_dim);
      continue;
    }
    // Discrete actions: the slots after the legal ones stay empty.
    const auto& legal = roots[row].legal_action_mask;
    LZ_CHECK(legal.size() == static_cast<size_t>(options_.num_actions), legal.size(), " entries");
    const auto num_filled =
        static_cast<size_t>(DrawDiscrete(row, kRootNode, policy, legal.data(), logits));
    std::fill(roots_.slot_mask.begin() + row * num_slots + num_filled,
              roots_.slot_mask.begin() + (row + 1) * num_slots, uint8_t{0});
    const int32_t* indices = IndicesOf(row, kRootNode);
    roots_.indices.insert(roots_.indices.end(), indices, indices + num_slots);
  }
}

void ActionSampler::DrawNodes(absl::Span<const NodeId> children, absl::Span<const float> policies,
                              absl::Span<float> prior_logits) {
  const size_t num_slots = static_cast<size_t>(options_.num_slots);
  const size_t policy_size = static_cast<size_t>(options_.policy_size());
  LZ_CHECK(children.size() == keys_.size(), children.size(), " nodes for ", keys_.size(), " roots");
  for (size_t row = 0; row < children.size(); ++row) {
    const float* policy = policies.data() + row * policy_size;
    float* logits = prior_logits.data() + row * num_slots;
    if (options_.action_dim > 0) {
      DrawBox(row, children[row], policy, logits);
    } else {
      DrawDiscrete(row, children[row], policy, nullptr, logits);
    }
  }
}

void ActionSampler::ReadValues(absl::Span<const NodeId> nodes, absl::Span<const int32_t> slots,
                               absl::Span<float> values) const {
  const size_t dim = static_cast<size_t>(options_.action_dim);
  for (size_t row = 0; row < nodes.size(); ++row) {
    const size_t at = row * options_.nodes_per_root + static_cast<size_t>(nodes[row].value);
    const float* from =
        values_.data() + (at * options_.num_slots + static_cast<size_t>(slots[row])) * dim;
    std::copy_n(from, dim, values.data() + row * dim);
  }
}

void ActionSampler::ReadIndices(absl::Span<const NodeId> nodes, absl::Span<const int32_t> slots,
                                absl::Span<int64_t> indices) const {
  for (size_t row = 0; row < nodes.size(); ++row) {
    const size_t at = row * options_.nodes_per_root + static_cast<size_t>(nodes[row].value);
    indices[row] = indices_[at * options_.num_slots + static_cast<size_t>(slots[row])];
    LZ_DCHECK(indices[row] >= 0, "slot ", slots[row], " of node ", nodes[row].value, " is empty");
  }
}

}  // namespace lzero
