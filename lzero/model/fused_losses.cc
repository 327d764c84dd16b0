#include "lzero/model/fused_losses.h"

#include <numeric>

#include "lzero/base/check.h"
#include "lzero/kernels/support_kernels.h"
#include "lzero/nn/functional/fused_path.h"
#include "lzero/tensor/torch.h"
#include "torch/csrc/autograd/custom_function.h"

namespace lzero {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

const float* Data(const at::Tensor& tensor) { return tensor.const_data_ptr<float>(); }

// Everything that takes no gradient, contiguous.
struct Constants {
  at::Tensor value_targets, latent_targets, rewards, policies, illegal;
  TermsTask terms;
  ValueSupport value_support, reward_support;
  float* means;  // [kNumLossTerms] takes those of the terms
};

// A two-hot loss and, unless null, the gradient of its logits for these slopes.
void RunTwoHot(const at::Tensor& logits, const at::Tensor& values, const ValueSupport& support,
               const float* slopes, float* losses, float* dlogits) {
  const at::Tensor log_sums = at::empty_like(values);
  const TwoHotTask task = {values.numel(), support, Data(logits), Data(values),
                           log_sums.mutable_data_ptr<float>()};
  RunTwoHotLoss(task, losses);
  if (dlogits != nullptr) RunTwoHotLossBackward(task, slopes, dlogits);
}

class LossFunction : public torch::autograd::Function<LossFunction> {
 public:
  // Contiguous. The gradients are computed here, while the logits are in the cache.
  static Variable forward(AutogradContext* context, const Variable& value_logits,
                          const Variable& policy_logits, const Variable& reward_logits,
                          const Variable& next_latents, const Constants* constants,
                          bool needs_gradient) {
    const Constants& c = *constants;
    const int64_t rows = c.value_targets.numel();
    const at::Tensor slopes = at::empty({kNumLossTerms, rows}, value_logits.options());
    const at::Tensor losses = at::empty_like(slopes);
    float* slope = slopes.mutable_data_ptr<float>();
    float* loss = losses.mutable_data_ptr<float>();
    ComputeSlopes(c.terms, slope);
    variable_list gradients;
    float* to[4] = {};
    if (needs_gradient) {
      for (const at::Tensor& each : {value_logits, policy_logits, reward_logits, next_latents}) {
        gradients.push_back(at::empty_like(each));
        to[gradients.size() - 1] = gradients.back().mutable_data_ptr<float>();
      }
    }
    RunSquaredDistance(rows, next_latents.size(-1), Data(next_latents), Data(c.latent_targets),
                       slope, loss, to[3]);
    RunTwoHot(reward_logits, c.rewards, c.reward_support, slope + rows, loss + rows, to[2]);
    RunTwoHot(value_logits, c.value_targets, c.value_support, slope + 2 * rows, loss + 2 * rows,
              to[0]);
    PolicyTask policy = {rows,
                         policy_logits.size(-1),
                         Data(policy_logits),
                         Data(c.policies),
                         c.illegal.const_data_ptr<bool>(),
                         slope + 3 * rows,
                         slope + 4 * rows};
    RunPolicyLoss(policy, loss + 3 * rows, loss + 4 * rows, to[1]);
    context->save_for_backward(gradients);
    return at::full({}, SumTerms(c.terms, loss, c.means), value_logits.options());
  }

  static variable_list backward(AutogradContext* context, variable_list dtotal) {
    CheckFirstDerivative("ComputeLosses");
    variable_list gradients = context->get_saved_variables();
    const float factor = *dtotal[0].const_data_ptr<float>();
    if (factor != 1.0f) {
      for (at::Tensor& gradient : gradients) gradient = gradient * factor;
    }
    gradients.resize(6);
    return gradients;
  }
};

TermsTask TaskFor(const BatchTensors& batch, const LossConfig& weights) {
  TermsTask task;
  task.samples = batch.rewards.size(0);
  task.steps = batch.rewards.size(1);
  const at::Tensor* const masks[] = {&batch.latent_mask, &batch.reward_mask, &batch.value_mask,
                                     &batch.policy_mask, &batch.policy_mask};
  for (int term = 0; term < kNumLossTerms; ++term) task.masks[term] = Data(*masks[term]);
  task.importance_weights = Data(batch.importance_weights);
  const std::array<double, kNumLossTerms> factors = LossTermFactors(weights);
  for (int term = 0; term < kNumLossTerms; ++term) {
    task.weights[term] = static_cast<float>(factors[term]);
  }
  return task;
}

// The value errors, and the numbers behind the means of the terms.
void ComputeStatistics(const Predictions& predictions, const BatchTensors& batch, LossSums* sums) {
  const int64_t num_samples = batch.rewards.size(0), num_steps = batch.rewards.size(1);
  sums->value_errors = at::empty({num_samples}, batch.rewards.options());
  float* errors = sums->value_errors.mutable_data_ptr<float>();
  float* numbers = sums->numbers.mutable_data_ptr<float>() + kNumLossTerms;
  numbers[0] = ComputeValueErrors(num_samples, num_steps, Data(predictions.values),
                                  Data(predictions.value_targets), Data(batch.value_mask), errors);
  const double sum = std::accumulate(errors, errors + num_samples, 0.0);
  numbers[1] = static_cast<float>(sum / static_cast<double>(num_samples));
  const at::Tensor latents = predictions.latents.contiguous();
  const int64_t size = latents.size(-1);
  ComputeLatentStatistics(latents.numel() / size, size, Data(latents), numbers + 2, numbers + 3);
}

}  // namespace

std::array<double, kNumLossTerms> LossTermFactors(const LossConfig& weights) {
  return {weights.latent_weight, weights.reward_weight, weights.value_weight, weights.policy_weight,
          -weights.policy_weight * weights.entropy_weight};
}

bool CanFuseLosses(const Predictions& predictions, const BatchTensors& batch,
                   const ModelConfig& config) {
  const Predictions& p = predictions;
  const BatchTensors& b = batch;
  const bool by_squares =
      config.latent_loss == LatentLoss::kMse || config.latent_loss == LatentLoss::kNone;
  if (!by_squares || b.sampled_actions.defined()) return false;
  for (const at::Tensor& mask : {b.latent_mask, b.reward_mask, b.value_mask, b.policy_mask,
                                 b.importance_weights, b.illegal, p.values, p.value_targets}) {
    if (!mask.is_contiguous()) return false;
  }
  return CanFuse({p.value_logits, p.policy_logits, p.reward_logits, p.next_latents, p.values,
                  p.value_targets, p.latent_targets, p.latents, b.rewards, b.policies,
                  b.latent_mask, b.reward_mask, b.value_mask, b.policy_mask, b.importance_weights});
}

LossSums ComputeFusedLosses(const Predictions& predictions, const BatchTensors& batch,
                            const LossConfig& weights, const ModelConfig& config) {
  const Predictions& p = predictions;
  LossSums sums;
  sums.numbers = at::empty({kNumLossTerms + 4}, batch.rewards.options());
  const Constants constants = {p.value_targets.contiguous(),
                               p.latent_targets.contiguous(),
                               batch.rewards.contiguous(),
                               batch.policies.contiguous(),
                               batch.illegal,
                               TaskFor(batch, weights),
                               SupportOf(config.value_range(), config.support_size),
                               SupportOf(config.reward_range(), config.support_size),
                               sums.numbers.mutable_data_ptr<float>()};
  LZ_CHECK(p.value_logits.size(-1) == constants.value_support.size &&
               p.reward_logits.size(-1) == constants.reward_support.size,
           "logits of other atoms than the config's");
  const bool needs_gradient =
      NeedsGradient({p.value_logits, p.policy_logits, p.reward_logits, p.next_latents});
  sums.total = LossFunction::apply(p.value_logits.contiguous(), p.policy_logits.contiguous(),
                                   p.reward_logits.contiguous(), p.next_latents.contiguous(),
                                   &constants, needs_gradient);
  const torch::NoGradGuard no_grad;
  ComputeStatistics(p, batch, &sums);
  return sums;
}

}  // namespace lzero
