// The loss terms at every position with their gradients, and the metrics of an update, as loops
// over float32 rows on the CPU: some dozens of small operations and as many nodes of a graph cost a
// small update more time than its losses. One after another in the caller's thread. No tensors
// here: see fused_losses.h.
#ifndef LZERO_KERNELS_LOSS_KERNELS_H_
#define LZERO_KERNELS_LOSS_KERNELS_H_

#include <cstdint>

namespace lzero {

constexpr int kNumLossTerms = 5;  // latent, reward, value, policy, entropy

// Axes: N samples, U steps; R = N U positions.
struct TermsTask {
  int64_t samples = 0;
  int64_t steps = 0;
  const float* masks[kNumLossTerms] = {};     // [N, U] of each term
  const float* importance_weights = nullptr;  // [N]
  float weights[kNumLossTerms] = {};          // of each term in the total
};

// What every loss counts in the total: slopes [5, N, U].
void ComputeSlopes(const TermsTask& task, float* slopes);

// means [5]: losses [5, N, U], as means over the valid positions of each sample, then over the
// samples. Returns the total: there each sample counts with its importance weight and each term
// with its own.
float SumTerms(const TermsTask& task, const float* losses, float* means);

// Axes: R rows, A actions.
struct PolicyTask {
  int64_t rows = 0;
  int64_t actions = 0;
  const float* logits = nullptr;          // [R, A]
  const float* policies = nullptr;        // [R, A]
  const bool* illegal = nullptr;          // [R, A]
  const float* slopes = nullptr;          // [R] of the losses in the total
  const float* entropy_slopes = nullptr;  // [R] likewise
};

// losses [R]: cross-entropy of the logits against the policies. entropies [R]: of the softmax over
// the legal actions, over all where none is. dlogits [R, A]: gradient of both, or null.
void RunPolicyLoss(const PolicyTask& task, float* losses, float* entropies, float* dlogits);

// losses [R]: mean squared distance of predicted and target [R, E]. dpredicted [R, E]: its gradient
// for slopes [R], or null.
void RunSquaredDistance(int64_t rows, int64_t size, const float* predicted, const float* target,
                        const float* slopes, float* losses, float* dpredicted);

// errors [N]: mean |values - targets| over the valid positions of each sample, all [N, U]. Returns
// the mean over the samples of the same mean of the values.
float ComputeValueErrors(int64_t samples, int64_t steps, const float* values, const float* targets,
                         const float* mask, float* errors);

// latents [R, E] -> the mean over E of the standard deviation over the rows, and the mean L2 norm
// of a row.
void ComputeLatentStatistics(int64_t rows, int64_t size, const float* latents, float* spread,
                             float* norm);

}  // namespace lzero

#endif  // LZERO_KERNELS_LOSS_KERNELS_H_
