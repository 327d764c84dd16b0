#include "lzero/kernels/loss_kernels.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lzero/kernels/vector_math.h"

namespace lzero {
namespace {

using simd::Floats;
using simd::KeepFirst;
using simd::kLanes;
using simd::Load;
using simd::LoadSome;
using simd::Store;
using simd::StoreSome;

constexpr float kIllegalLogit = -1e9f;
constexpr float kMinusInfinity = -__builtin_inff();

// 1 / the number of valid positions of a sample, of at least one.
float ShareOf(const float* mask, int64_t steps) {
  float valid = 0.0f;
  for (int64_t step = 0; step < steps; ++step) valid += mask[step];
  return 1.0f / std::max(valid, 1.0f);
}

// Logits of a row, -infinity behind its end up to whole registers, and what is computed of them.
struct PolicyRow {
  const float* logits;
  float* powers;  // exp(logit - largest)
  float largest, log_sum, inverse_sum;

  // log softmax of the logits from j on.
  template <int Bytes>
  LZ_INLINE Floats<Bytes> LogProbabilities(int64_t j) const {
    return Load<Bytes>(logits + j) - largest - log_sum;
  }

  template <int Bytes>
  LZ_INLINE Floats<Bytes> Probabilities(int64_t j) const {
    return Load<Bytes>(powers + j) * inverse_sum;
  }
};

template <int Bytes>
LZ_INLINE PolicyRow MakePolicyRow(const float* logits, int64_t actions, float* powers) {
  const auto [largest, sum] = simd::ExpOfRow<Bytes>(logits, actions, powers);
  return {logits, powers, largest, __builtin_logf(sum), 1.0f / sum};
}

int64_t PaddedActions(const PolicyTask& task) {
  constexpr int64_t kWidest = kLanes<64>;
  return (task.actions + kWidest - 1) / kWidest * kWidest;
}

struct PolicyLoss {
  // scratch: 5 rows of padded actions.
  template <int Bytes>
  LZ_INLINE static void Run(const PolicyTask* task, float* scratch, float* losses, float* entropies,
                            float* dlogits) {
    for (int64_t row = 0; row < task->rows; ++row) {
      RunRow<Bytes>(*task, row, scratch, losses, entropies, dlogits);
    }
  }

  template <int Bytes>
  LZ_INLINE static void RunRow(const PolicyTask& task, int64_t row, float* scratch, float* losses,
                               float* entropies, float* dlogits) {
    const int64_t actions = task.actions, begin = row * actions, padded = PaddedActions(task);
    float *logits = scratch, *masked = scratch + padded, *policy = scratch + 2 * padded;
    bool any_illegal = false;
    for (int64_t j = 0; j < actions; ++j) {
      const bool illegal = task.illegal[begin + j];
      logits[j] = task.logits[begin + j];
      masked[j] = illegal ? kIllegalLogit : logits[j];
      policy[j] = task.policies[begin + j];
      any_illegal |= illegal;
    }
    const PolicyRow all = MakePolicyRow<Bytes>(logits, actions, scratch + 3 * padded);
    const PolicyRow legal =
        any_illegal ? MakePolicyRow<Bytes>(masked, actions, scratch + 4 * padded) : all;
    Floats<Bytes> mass = {}, cross = {}, mixed = {};
    for (int64_t j = 0; j < actions; j += kLanes<Bytes>) {
      const int64_t count = actions - j;
      const Floats<Bytes> p = Load<Bytes>(policy + j);
      mass += p;
      cross += KeepFirst<Bytes>(p * all.LogProbabilities<Bytes>(j), count, 0.0f);
      mixed += KeepFirst<Bytes>(legal.Probabilities<Bytes>(j) * legal.LogProbabilities<Bytes>(j),
                                count, 0.0f);
    }
    losses[row] = -simd::Sum<Bytes>(cross);
    entropies[row] = -simd::Sum<Bytes>(mixed);
    if (dlogits == nullptr) return;
    const float total_mass = simd::Sum<Bytes>(mass), entropy = entropies[row];
    const float slope = task.slopes[row], entropy_slope = task.entropy_slopes[row];
    for (int64_t j = 0; j < actions; j += kLanes<Bytes>) {
      const Floats<Bytes> of_loss =
          all.Probabilities<Bytes>(j) * total_mass - Load<Bytes>(policy + j);
      // An illegal action's logit was replaced: no gradient.
      const Floats<Bytes> of_entropy =
          Load<Bytes>(legal.logits + j) == kIllegalLogit
              ? Floats<Bytes>{}
              : -legal.Probabilities<Bytes>(j) * (legal.LogProbabilities<Bytes>(j) + entropy);
      StoreSome<Bytes, false>(slope * of_loss + entropy_slope * of_entropy, dlogits + begin + j,
                              actions - j);
    }
  }
};

struct SquaredDistance {
  template <int Bytes>
  LZ_INLINE static void Run(int64_t rows, int64_t size, const float* predicted, const float* target,
                            const float* slopes, float* losses, float* dpredicted) {
    const float share = 1.0f / static_cast<float>(size);
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t begin = row * size;
      Floats<Bytes> sums = {};
      for (int64_t j = 0; j < size; j += kLanes<Bytes>) {
        const Floats<Bytes> distance = LoadSome<Bytes, false>(predicted + begin + j, size - j) -
                                       LoadSome<Bytes, false>(target + begin + j, size - j);
        sums += distance * distance;
        if (dpredicted == nullptr) continue;
        StoreSome<Bytes, false>(2.0f * share * slopes[row] * distance, dpredicted + begin + j,
                                size - j);
      }
      losses[row] = share * simd::Sum<Bytes>(sums);
    }
  }
};

struct LatentFigures {
  template <int Bytes>
  LZ_INLINE static void Run(int64_t rows, int64_t size, const float* latents, double* spread,
                            double* norm) {
    const float share = 1.0f / static_cast<float>(rows);
    for (int64_t j = 0; j < size; j += kLanes<Bytes>) {
      const int64_t count = size - j;
      Floats<Bytes> sums = {}, squares = {};
      for (int64_t row = 0; row < rows; ++row) {
        sums += LoadSome<Bytes, false>(latents + row * size + j, count);
      }
      const Floats<Bytes> means = share * sums;
      for (int64_t row = 0; row < rows; ++row) {
        const Floats<Bytes> distance =
            LoadSome<Bytes, false>(latents + row * size + j, count) - means;
        squares += distance * distance;
      }
      for (int64_t i = 0; i < kLanes<Bytes> && i < count; ++i) {
        *spread += __builtin_sqrtf(share * squares[i]);
      }
    }
    for (int64_t row = 0; row < rows; ++row) {
      Floats<Bytes> squares = {};
      for (int64_t j = 0; j < size; j += kLanes<Bytes>) {
        const Floats<Bytes> x = LoadSome<Bytes, false>(latents + row * size + j, size - j);
        squares += x * x;
      }
      *norm += __builtin_sqrtf(simd::Sum<Bytes>(squares));
    }
  }
};

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
  const int64_t padded = PaddedActions(task);
  scratch.assign(static_cast<size_t>(5 * padded), 0.0f);
  std::fill_n(scratch.begin(), 2 * padded, kMinusInfinity);
  simd::RunFitting<PolicyLoss>(task.actions, &task, scratch.data(), losses, entropies, dlogits);
}

void RunSquaredDistance(int64_t rows, int64_t size, const float* predicted, const float* target,
                        const float* slopes, float* losses, float* dpredicted) {
  simd::RunWidest<SquaredDistance>(rows, size, predicted, target, slopes, losses, dpredicted);
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

void ComputeLatentFigures(int64_t rows, int64_t size, const float* latents, float* spread,
                          float* norm) {
  double sum_of_spreads = 0.0, sum_of_norms = 0.0;
  simd::RunWidest<LatentFigures>(rows, size, latents, &sum_of_spreads, &sum_of_norms);
  *spread = static_cast<float>(sum_of_spreads / static_cast<double>(size));
  *norm = static_cast<float>(sum_of_norms / static_cast<double>(rows));
}

}  // namespace lzero
