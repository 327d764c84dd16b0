#include "lzero/kernels/loss_kernels.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lzero/kernels/instruction_set.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lzero/kernels/loss_kernels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "lzero/kernels/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace lzero::HWY_NAMESPACE {
namespace {

constexpr float kIllegalLogit = -1e9f;

// Logits of a row and what is computed of them.
struct PolicyRow {
  const float* logits;
  float* powers;  // exp(logit - largest)
  float largest, log_sum, inverse_sum;

  // log softmax of the logits from j on.
  template <class Lanes>
  HWY_INLINE Floats LogProbabilities(Lanes lanes, int64_t j) const {
    return hn::Sub(hn::Sub(Load(lanes, logits + j), Set(largest)), Set(log_sum));
  }

  template <class Lanes>
  HWY_INLINE Floats Probabilities(Lanes lanes, int64_t j) const {
    return hn::Mul(Load(lanes, powers + j), Set(inverse_sum));
  }
};

HWY_INLINE PolicyRow MakePolicyRow(const float* logits, int64_t actions, float* powers) {
  const auto [largest, sum] = SumExponentials(logits, actions,
                                              [&](int64_t j, auto lanes, Floats power)
                                                  HWY_ATTR { Store(lanes, power, powers + j); });
  return {logits, powers, largest, std::log(sum), 1.0f / sum};
}

HWY_INLINE void AddPolicyGradients(const PolicyTask& task, int64_t row, const PolicyRow& all,
                                   const PolicyRow& legal, float total_mass, float entropy,
                                   float* dlogits) {
  const int64_t begin = row * task.actions;
  ForEachVector(task.actions, [&](int64_t j, auto lanes) HWY_ATTR {
    const Floats of_loss = hn::MulSub(all.Probabilities(lanes, j), Set(total_mass),
                                      Load(lanes, task.policies + begin + j));
    // An illegal action's logit was replaced: no gradient.
    const auto replaced = hn::Eq(Load(lanes, legal.logits + j), Set(kIllegalLogit));
    const Floats share = hn::Mul(legal.Probabilities(lanes, j),
                                 hn::Add(legal.LogProbabilities(lanes, j), Set(entropy)));
    const Floats of_entropy = hn::IfThenZeroElse(replaced, hn::Neg(share));
    const Floats gradient = hn::MulAdd(Set(task.entropy_slopes[row]), of_entropy,
                                       hn::Mul(Set(task.slopes[row]), of_loss));
    Store(lanes, gradient, dlogits + begin + j);
  });
}

// scratch: 3 rows of actions.
void PolicyLoss(const PolicyTask& task, float* scratch, float* losses, float* entropies,
                float* dlogits) {
  const int64_t actions = task.actions;
  float* masked = scratch;
  for (int64_t row = 0; row < task.rows; ++row) {
    const int64_t begin = row * actions;
    const float* logits = task.logits + begin;
    bool any_illegal = false;
    for (int64_t j = 0; j < actions; ++j) {
      const bool illegal = task.illegal[begin + j];
      masked[j] = illegal ? kIllegalLogit : logits[j];
      any_illegal |= illegal;
    }
    const PolicyRow all = MakePolicyRow(logits, actions, scratch + actions);
    const PolicyRow legal =
        any_illegal ? MakePolicyRow(masked, actions, scratch + 2 * actions) : all;
    Floats mass = Zero(), cross = Zero(), mixed = Zero();
    ForEachVector(actions, [&](int64_t j, auto lanes) HWY_ATTR {
      const Floats p = Load(lanes, task.policies + begin + j);
      mass = hn::Add(mass, p);
      cross = hn::Add(cross, Keep(lanes, hn::Mul(p, all.LogProbabilities(lanes, j)), 0.0f));
      const Floats entropy =
          hn::Mul(legal.Probabilities(lanes, j), legal.LogProbabilities(lanes, j));
      mixed = hn::Add(mixed, Keep(lanes, entropy, 0.0f));
    });
    losses[row] = -Sum(cross);
    entropies[row] = -Sum(mixed);
    if (dlogits == nullptr) continue;
    AddPolicyGradients(task, row, all, legal, Sum(mass), entropies[row], dlogits);
  }
}

void SquaredDistance(int64_t rows, int64_t size, const float* predicted, const float* target,
                     const float* slopes, float* losses, float* dpredicted) {
  const float share = 1.0f / static_cast<float>(size);
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t begin = row * size;
    Floats sums = Zero();
    ForEachVector(size, [&](int64_t j, auto lanes) HWY_ATTR {
      const Floats distance =
          hn::Sub(Load(lanes, predicted + begin + j), Load(lanes, target + begin + j));
      sums = hn::MulAdd(distance, distance, sums);
      if (dpredicted == nullptr) return;
      Store(lanes, hn::Mul(Set(2.0f * share * slopes[row]), distance), dpredicted + begin + j);
    });
    losses[row] = share * Sum(sums);
  }
}

void LatentStatistics(int64_t rows, int64_t size, const float* latents, double* spread,
                      double* norm) {
  const float share = 1.0f / static_cast<float>(rows);
  ForEachVector(size, [&](int64_t j, auto lanes) HWY_ATTR {
    Floats sums = Zero(), squares = Zero();
    for (int64_t row = 0; row < rows; ++row) {
      sums = hn::Add(sums, Load(lanes, latents + row * size + j));
    }
    const Floats means = hn::Mul(Set(share), sums);
    for (int64_t row = 0; row < rows; ++row) {
      const Floats distance = hn::Sub(Load(lanes, latents + row * size + j), means);
      squares = hn::MulAdd(distance, distance, squares);
    }
    float spreads[kLanes];
    Store(hn::Sqrt(hn::Mul(Set(share), squares)), spreads);
    for (int64_t i = 0; i < kLanes && j + i < size; ++i) *spread += static_cast<double>(spreads[i]);
  });
  for (int64_t row = 0; row < rows; ++row) {
    Floats squares = Zero();
    ForEachVector(size, [&](int64_t j, auto lanes) HWY_ATTR {
      const Floats x = Load(lanes, latents + row * size + j);
      squares = hn::MulAdd(x, x, squares);
    });
    *norm += static_cast<double>(std::sqrt(Sum(squares)));
  }
}

}  // namespace
}  // namespace lzero::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lzero {
namespace {

// 1 / the number of valid positions of a sample, of at least one.
float ShareOf(const float* mask, int64_t steps) {
  float valid = 0.0f;
  for (int64_t step = 0; step < steps; ++step) valid += mask[step];
  return 1.0f / std::max(valid, 1.0f);
}

}  // namespace

void ComputeSlopes(const TermsTask& task, float* slopes) {
  for (int term = 0; term < kNumLossTerms; ++term) {
    for (int64_t sample = 0; sample < task.samples; ++sample) {
      const float* mask = task.masks[term] + sample * task.steps;
      const float factor = task.weights[term] * task.importance_weights[sample] /
                           static_cast<float>(task.samples) * ShareOf(mask, task.steps);
      for (int64_t step = 0; step < task.steps; ++step) *slopes++ = factor * mask[step];
    }
  }
}

float SumTerms(const TermsTask& task, const float* losses, float* means) {
  double total = 0.0;
  for (int term = 0; term < kNumLossTerms; ++term) {
    double sum = 0.0;
    for (int64_t sample = 0; sample < task.samples; ++sample) {
      const float* mask = task.masks[term] + sample * task.steps;
      float mean = 0.0f;
      for (int64_t step = 0; step < task.steps; ++step) mean += *losses++ * mask[step];
      mean *= ShareOf(mask, task.steps);
      sum += mean;
      total += task.weights[term] * mean * task.importance_weights[sample];
    }
    means[term] = static_cast<float>(sum / static_cast<double>(task.samples));
  }
  return static_cast<float>(total / static_cast<double>(task.samples));
}

void RunPolicyLoss(const PolicyTask& task, float* losses, float* entropies, float* dlogits) {
  thread_local std::vector<float> scratch;  // its memory stays for the next call
  scratch.resize(static_cast<size_t>(3 * task.actions));
  LZ_KERNEL(PolicyLoss)(task, scratch.data(), losses, entropies, dlogits);
}

void RunSquaredDistance(int64_t rows, int64_t size, const float* predicted, const float* target,
                        const float* slopes, float* losses, float* dpredicted) {
  LZ_KERNEL(SquaredDistance)(rows, size, predicted, target, slopes, losses, dpredicted);
}

float ComputeValueErrors(int64_t samples, int64_t steps, const float* values, const float* targets,
                         const float* mask, float* errors) {
  double total = 0.0;
  for (int64_t sample = 0; sample < samples; ++sample) {
    const int64_t begin = sample * steps;
    const float share = ShareOf(mask + begin, steps);
    float error = 0.0f, value = 0.0f;
    for (int64_t i = begin; i < begin + steps; ++i) {
      error += std::abs(values[i] - targets[i]) * mask[i];
      value += values[i] * mask[i];
    }
    errors[sample] = share * error;
    total += share * value;
  }
  return static_cast<float>(total / static_cast<double>(samples));
}

void ComputeLatentStatistics(int64_t rows, int64_t size, const float* latents, float* spread,
                             float* norm) {
  double sum_of_spreads = 0.0, sum_of_norms = 0.0;
  LZ_KERNEL(LatentStatistics)(rows, size, latents, &sum_of_spreads, &sum_of_norms);
  *spread = static_cast<float>(sum_of_spreads / static_cast<double>(size));
  *norm = static_cast<float>(sum_of_norms / static_cast<double>(rows));
}

}  // namespace lzero
#endif
