#include "lzero/inference/policy_engine.h"

namespace lzero {
namespace {

ActionSamplerOptions SamplerOptions(const EngineOptions& options) {
  ActionSamplerOptions sampler;
  sampler.num_actions = static_cast<int>(options.shape.num_actions);
  sampler.action_dim = static_cast<int>(options.shape.action_dim);
  sampler.num_slots = NumSlots(options.search, options.shape);
  sampler.max_roots = static_cast<int>(options.num_envs);
  sampler.nodes_per_root = static_cast<int>(options.search.NodesPerRoot());
  sampler.temperature = options.search.sample_temperature;
  sampler.uniform_fraction = options.search.uniform_sample_fraction;
  sampler.num_interior_slots = static_cast<int>(options.search.num_interior_samples.value_or(0));
  sampler.wide_fraction = options.search.root_wide_fraction;
  sampler.wide_scale = options.search.root_wide_scale;
  sampler.uniform_prior = options.search.sample_prior == SamplePrior::kUniform;
  return sampler;
}

std::unique_ptr<ActionSampler> MakeSampler(const EngineOptions& options) {
  if (!options.search.num_sampled_actions.has_value()) return nullptr;
  return std::make_unique<ActionSampler>(SamplerOptions(options));
}

}  // namespace

PolicyEngine::PolicyEngine(const EngineOptions& options)
    : options_(options), sampler_(MakeSampler(options)) {}

int64_t PolicyEngine::SamplerBytes(const EngineOptions& options) {
  if (!options.search.num_sampled_actions.has_value()) return 0;
  return ActionSampler::Bytes(SamplerOptions(options));
}

int PolicyEngine::num_actions() const { return NumSlots(options_.search, options_.shape); }

const SampledActions* PolicyEngine::sampled_actions() const {
  return sampler_ != nullptr ? &sampler_->roots() : nullptr;
}

int32_t PolicyEngine::ReadSlot(NodeId node, int32_t slot, absl::Span<float> values) const {
  if (sampler_ == nullptr) return slot;
  if (options_.shape.action_dim > 0) {
    sampler_->ReadValues({&node, 1}, {&slot, 1}, values);
    return slot;
  }
  int64_t index = 0;
  sampler_->ReadIndices({&node, 1}, {&slot, 1}, {&index, 1});
  return static_cast<int32_t>(index);
}

void PolicyEngine::BeginSearch(const SearchRequest& request) {
  if (sampler_ != nullptr) sampler_->BeginSearch(request);
}

double PolicyEngine::SignedDiscount() const {
  return options_.num_players == 2 ? -options_.discount : options_.discount;
}

absl::Span<float> PolicyEngine::PolicyOutputs(size_t num_rows, absl::Span<float> prior_logits) {
  if (sampler_ == nullptr) return prior_logits;
  policies_.resize(num_rows * static_cast<size_t>(options_.shape.policy_size()));
  return absl::MakeSpan(policies_);
}

void PolicyEngine::FinishRoots(absl::Span<const Root> roots, absl::Span<const float> policies,
                               absl::Span<float> prior_logits) {
  if (sampler_ != nullptr) sampler_->DrawRoots(roots, policies, prior_logits);
}

void PolicyEngine::FinishNodes(absl::Span<const NodeId> children, absl::Span<const float> policies,
                               absl::Span<float> prior_logits) {
  if (sampler_ != nullptr) sampler_->DrawNodes(children, policies, prior_logits);
}

ChosenActions PolicyEngine::ActionsOf(absl::Span<const NodeId> parents,
                                      absl::Span<const int32_t> actions) {
  if (options_.shape.action_dim > 0) {
    values_.resize(actions.size() * static_cast<size_t>(options_.shape.action_dim));
    sampler_->ReadValues(parents, actions, absl::MakeSpan(values_));
    return {{}, values_};
  }
  indices_.assign(actions.begin(), actions.end());
  if (sampler_ != nullptr) sampler_->ReadIndices(parents, actions, absl::MakeSpan(indices_));
  return {indices_, {}};
}

}  // namespace lzero
