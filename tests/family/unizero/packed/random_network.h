// Random models of the packed code with weights of their own, and the arrays of a step around
// random contexts. Not what they must give: that is reference.h. Belongs to one thread.
#ifndef LZERO_TESTS_FAMILY_UNIZERO_PACKED_RANDOM_NETWORK_H_
#define LZERO_TESTS_FAMILY_UNIZERO_PACKED_RANDOM_NETWORK_H_

#include <cstdint>
#include <list>
#include <random>
#include <string>
#include <vector>

#include "lzero/family/unizero/packed/packed_network.h"
#include "lzero/family/unizero/packed/packed_weights.h"

namespace lzero::packed {

// A small shape of everything, to change a field of.
NetworkShape SmallShape();
// 1-3 layers, 1-4 heads, W 1-9, both latent norms, A 1-20, S 3-101, E up to 48.
NetworkShape RandomShape(std::mt19937* random);
std::string Describe(const NetworkShape& shape);

// Weights that keep the size of what goes through them; norms and biases that matter.
class RandomNetwork {
 public:
  RandomNetwork(const NetworkShape& shape, uint32_t seed);
  RandomNetwork(const RandomNetwork&) = delete;
  RandomNetwork& operator=(const RandomNetwork&) = delete;

  const NetworkShape& shape() const { return shape_; }
  const NetworkWeights& weights() const { return weights_; }
  NetworkWeights& weights() { return weights_; }

 private:
  absl::Span<const float> Numbers(int64_t size, float middle, float width);
  LinearWeights Linear(int64_t in, int64_t out);
  NormWeights Norm(int64_t size);
  HeadWeights Head(int64_t out);

  NetworkShape shape_;
  std::mt19937 random_;
  std::list<std::vector<float>> numbers_;  // a list: spans stay
  NetworkWeights weights_;
};

// Arrays of a step of up to `num_rows` rows. Contexts are random where they are valid and NaN where
// they are not; outputs are NaN until a step writes them.
class StepMemory {
 public:
  StepMemory(const NetworkShape& shape, int64_t num_rows, uint32_t seed);

  StepArrays arrays();
  int64_t num_rows() const { return num_rows_; }
  // Takes action, length and context of a row of another memory of the same shape.
  void CopyInputs(const StepMemory& from, int64_t from_row, int64_t to_row);
  // NaN into the outputs.
  void Poison();
  // All outputs of a row, one after the other: reward, value, prior logits, tokens.
  std::vector<float> Outputs(int64_t row) const;
  // True when a row is as Poison left it.
  bool IsUntouched(int64_t row) const;

  float* context(int64_t row) { return contexts_.data() + row * context_size_; }
  const float* context(int64_t row) const { return contexts_.data() + row * context_size_; }
  std::vector<int64_t> lengths, actions;

 private:
  NetworkShape shape_;
  int64_t num_rows_;
  int64_t context_size_;
  std::vector<float> contexts_, rewards_, values_, prior_logits_, tokens_;
};

}  // namespace lzero::packed

#endif  // LZERO_TESTS_FAMILY_UNIZERO_PACKED_RANDOM_NETWORK_H_
