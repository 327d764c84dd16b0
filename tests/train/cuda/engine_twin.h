// Two engines with the same weights, one of the CPU and one of a device, as one model: every call
// goes to both, whose numbers must be close, and returns the CPU's. So roles that search with it
// see the same trees, whatever the device's rounding. Models that sample actions are not for it.
#ifndef LZERO_TESTS_TRAIN_CUDA_ENGINE_TWIN_H_
#define LZERO_TESTS_TRAIN_CUDA_ENGINE_TWIN_H_

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/family/packed/families.h"
#include "lzero/family/tensor_families.h"
#include "lzero/inference/inference_engine.h"
#include "lzero/inference/tensor/network_weights.h"
#include "lzero/tensor/torch.h"
#include "lzero/train/build.h"

namespace lzero {

// A network whose weights all matter: fresh ones have zero last layers. The same on every device.
inline std::shared_ptr<Network> RandomNetwork(const EngineOptions& options, uint64_t seed,
                                              at::Device device) {
  auto network = TensorFamilyOf(options.model)
                     .make_network(options.model, options.shape, seed, at::kCPU)
                     .value();
  const torch::NoGradGuard no_grad;
  torch::manual_seed(seed);
  for (at::Tensor& weight : network->parameters()) weight.add_(at::randn_like(weight).mul_(0.1));
  if (!device.is_cpu()) network->to(device);
  return network;
}

class EngineTwin : public InferenceModel {
 public:
  // `options` as the device's engine has them. The caller must have loaded CUDA.
  EngineTwin(EngineOptions options, const EnvFactory& make_env, double tolerance)
      : options_(options), tolerance_(tolerance) {
    options.inference.device = Device::kCuda;
    device_ = MakeEngine(options, make_env).value();
    options.inference.device = Device::kCpu;
    options.inference.runner = Runner::kAuto;
    options.inference.graphs = Graphs::kPreferred;
    cpu_ = MakeEngine(options, make_env).value();
  }

  void TakeWeights(uint64_t seed) {
    ASSERT_TRUE(
        cpu_->CopyWeightsFrom(NetworkWeights(*RandomNetwork(options_, seed, at::kCPU))).ok());
    ASSERT_TRUE(
        device_->CopyWeightsFrom(NetworkWeights(*RandomNetwork(options_, seed, at::kCUDA))).ok());
  }
  InferenceEngine& device() { return *device_; }
  int64_t num_compared() const { return num_compared_; }

  int num_actions() const override { return cpu_->num_actions(); }
  int num_chance_outcomes() const override { return cpu_->num_chance_outcomes(); }
  bool NeedsState() const override { return cpu_->NeedsState(); }
  void BeginSearch(const SearchRequest& request) override {
    cpu_->BeginSearch(request);
    device_->BeginSearch(request);
  }
  void EndEpisode(EnvId env) override {
    cpu_->EndEpisode(env);
    device_->EndEpisode(env);
  }

  absl::Status InitialInference(absl::Span<const Root> roots, absl::Span<float> prior_logits,
                                absl::Span<float> value) override {
    std::vector<float> logits(prior_logits.size()), values(value.size());
    absl::Status status = cpu_->InitialInference(roots, prior_logits, value);
    status.Update(device_->InitialInference(roots, absl::MakeSpan(logits), absl::MakeSpan(values)));
    ExpectClose(logits, prior_logits, "prior logits of roots");
    ExpectClose(values, value, "values of roots");
    return status;
  }

  absl::Status RecurrentInference(absl::Span<const NodeId> parents,
                                  absl::Span<const int32_t> actions,
                                  absl::Span<const NodeId> children, absl::Span<float> rewards,
                                  absl::Span<float> discounts, absl::Span<float> values,
                                  absl::Span<float> prior_logits) override {
    std::vector<float> r(rewards.size()), d(discounts.size()), v(values.size()),
        p(prior_logits.size());
    absl::Status status = cpu_->RecurrentInference(parents, actions, children, rewards, discounts,
                                                   values, prior_logits);
    status.Update(device_->RecurrentInference(parents, actions, children, absl::MakeSpan(r),
                                              absl::MakeSpan(d), absl::MakeSpan(v),
                                              absl::MakeSpan(p)));
    ExpectClose(r, rewards, "rewards");
    ExpectClose(d, discounts, "discounts");
    ExpectClose(v, values, "values");
    ExpectClose(p, prior_logits, "prior logits");
    return status;
  }

 private:
  void ExpectClose(absl::Span<const float> got, absl::Span<const float> expected,
                   const char* what) {
    for (size_t i = 0; i < expected.size(); ++i) {
      if (got[i] == expected[i]) continue;  // -infinity, too
      const double scale = std::max(1.0, std::abs(static_cast<double>(expected[i])));
      ASSERT_NEAR(got[i], expected[i], tolerance_ * scale) << what << ", number " << i;
    }
    num_compared_ += static_cast<int64_t>(expected.size());
  }

  EngineOptions options_;
  double tolerance_;
  int64_t num_compared_ = 0;
  std::unique_ptr<InferenceEngine> cpu_, device_;
};

}  // namespace lzero

#endif  // LZERO_TESTS_TRAIN_CUDA_ENGINE_TWIN_H_
