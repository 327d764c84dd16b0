#include "lzero/world_model/loss_kernels.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lzero/nn/vector_math.h"

namespace lzero {
namespace {

using simd::Floats;
using simd::KeepFirst;
using simd::kLanes;
using simd::Load;
using simd::LoadOr;
using simd::LoadSome;
using simd::StoreSome;

constexpr float kIllegalLogit = -1e9f;
constexpr float kMinusInfinity = -__builtin_inff();

// 1 / the number of valid positions of a sample, of at least one.
float ShareOf(const float* mask, int64_t steps) {
  float valid = 0.0f;
  for (int64_t step = 0; step < steps; ++step) valid += mask[step];
  return 1.0f / std::max(valid, 1.0f);
}

// Softmax of a row: exp(x - largest) / sum.
struct RowSum {
  float largest, sum, log_sum;
};

// Some logits of a row, zeros not among them: behind its end is -infinity.
struct PolicyRow {
  const float* logits;
  const bool* illegal;  // null: every action counts
  int64_t actions;

  template <int Bytes>
  LZ_INLINE Floats<Bytes> Part(int64_t j) const {
    const int64_t count = actions - j;
    const Floats<Bytes> x = LoadOr<Bytes>(logits + j, count, kMinusInfinity);
    if (illegal == nullptr) return x;
    float masks[kLanes<Bytes>];
    for (int64_t i = 0; i < kLanes<Bytes>; ++i)
      masks[i] = i < count && illegal[j + i] ? 1.0f : 0.0f;
    return Load<Bytes>(masks) > 0.5f ? Floats<Bytes>{} + kIllegalLogit : x;
  }

  template <int Bytes>
  LZ_INLINE RowSum Sum() const {
    Floats<Bytes> lanes = Part<Bytes>(0);
    for (int64_t j = kLanes<Bytes>; j < actions; j += kLanes<Bytes>) {
      const Floats<Bytes> part = Part<Bytes>(j);
      lanes = part > lanes ? part : lanes;
    }
    const float largest = simd::Max<Bytes>(lanes);
    Floats<Bytes> sums = {};
    for (int64_t j = 0; j < actions; j += kLanes<Bytes>) {
      sums += KeepFirst<Bytes>(simd::Exp<Bytes>(Part<Bytes>(j) - largest), actions - j, 0.0f);
    }
    const float sum = simd::Sum<Bytes>(sums);
    return {largest, sum, __builtin_logf(sum)};
  }
};

struct PolicyLoss {
  template <int Bytes>
  LZ_INLINE static void Run(const PolicyTask* task, float* losses, float* entropies,
                            float* dlogits) {
    for (int64_t row = 0; row < task->rows; ++row) {
      RunRow<Bytes>(*task, row, losses, entropies, dlogits);
    }
  }

  template <int Bytes>
  LZ_INLINE static void RunRow(const PolicyTask& task, int64_t row, float* losses, float* entropies,
                               float* dlogits) {
    const int64_t actions = task.actions, begin = row * actions;
    const PolicyRow all = {task.logits + begin, nullptr, actions};
    const PolicyRow legal = {task.logits + begin, task.illegal + begin, actions};
    const float* policy = task.policies + begin;
    const RowSum sum = all.Sum<Bytes>(), legal_sum = legal.Sum<Bytes>();
    Floats<Bytes> mass = {}, cross = {}, mixed = {};
    for (int64_t j = 0; j < actions; j += kLanes<Bytes>) {
      const int64_t count = actions - j;
      const Floats<Bytes> p = LoadOr<Bytes>(policy + j, count, 0.0f);
      const Floats<Bytes> log_softmax = all.Part<Bytes>(j) - sum.largest - sum.log_sum;
      const Floats<Bytes> log_legal = legal.Part<Bytes>(j) - legal_sum.largest - legal_sum.log_sum;
      mass += p;
      cross += KeepFirst<Bytes>(p * log_softmax, count, 0.0f);
      mixed += KeepFirst<Bytes>(simd::Exp<Bytes>(log_legal) * log_legal, count, 0.0f);
    }
    const float entropy = -simd::Sum<Bytes>(mixed), total_mass = simd::Sum<Bytes>(mass);
    losses[row] = -simd::Sum<Bytes>(cross);
    entropies[row] = entropy;
    if (dlogits == nullptr) return;
    const float slope = task.slopes[row], entropy_slope = task.entropy_slopes[row];
    for (int64_t j = 0; j < actions; j += kLanes<Bytes>) {
      const int64_t count = actions - j;
      const Floats<Bytes> p = LoadOr<Bytes>(policy + j, count, 0.0f);
      const Floats<Bytes> softmax =
          simd::Exp<Bytes>(all.Part<Bytes>(j) - sum.largest - sum.log_sum);
      const Floats<Bytes> masked = legal.Part<Bytes>(j);
      const Floats<Bytes> log_legal = masked - legal_sum.largest - legal_sum.log_sum;
      // An illegal action's logit was replaced: no gradient.
      const Floats<Bytes> of_entropy = masked == kIllegalLogit
                                           ? Floats<Bytes>{}
                                           : -simd::Exp<Bytes>(log_legal) * (log_legal + entropy);
      StoreSome<Bytes, false>(slope * (softmax * total_mass - p) + entropy_slope * of_entropy,
                              dlogits + begin + j, count);
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
  simd::RunWidest<PolicyLoss>(&task, losses, entropies, dlogits);
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
