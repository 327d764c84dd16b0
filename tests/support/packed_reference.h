// The UniZero model computed plainly in double, from the definitions alone: nothing fused,
// folded, packed or kept from call to call. What the packed code is compared with. Shares with it
// only the types that say where weights lie. Pure functions; any thread.
#ifndef LZERO_TESTS_SUPPORT_PACKED_REFERENCE_H_
#define LZERO_TESTS_SUPPORT_PACKED_REFERENCE_H_

#include <cstdint>
#include <vector>

#include "lzero/family/unizero/packed/packed_weights.h"

namespace lzero::packed::reference {

using Row = std::vector<double>;

// `size` floats as a row.
Row RowOf(const float* numbers, int64_t size);

// x W^T + b.
Row Product(const LinearWeights& layer, const Row& x);
// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
double Gelu(double x);
Row Gelu(Row x);
// (x - mean) / sqrt(variance + 1e-5), without and with weight and bias.
Row Normalized(const Row& x);
Row Normalized(const Row& x, const NormWeights& norm);
Row Softmax(const Row& x);
Row SoftmaxInGroups(const Row& x, int64_t group);
// Expected value of softmax(logits) over the atoms -K .. K.
double ExpectedAtom(const Row& logits);
// The x with h(x) = y, h(x) = sign(x) (sqrt(|x| + 1) - 1) + 0.001 x, found by bisection.
double InverseTransform(double y);
// What a two-hot head of these atoms says.
double HeadValue(const ValueSupport& support, const Row& logits);

// Interleaved pairs (2i, 2i + 1) of x turned by distance * 10000^(-2i / D).
Row Turned(const Row& x, double distance);
// Attention of one token: the query [E] on keys before rotation and values [E], oldest first, the
// token's own last.
Row Attention(const Row& query, const std::vector<Row>& keys, const std::vector<Row>& values,
              int64_t num_heads);

// Keys before rotation and values of one token, one row [E] for each layer.
struct Token {
  std::vector<Row> keys;
  std::vector<Row> values;
};

// [L, 2, E] floats as a token, and the reverse as one row.
Token TokenOf(const NetworkShape& shape, const float* numbers);
Row Flat(const Token& token);

// x [E] through all blocks behind `tokens`, of which it sees the last W - 1; appends its own.
Row RunBlocks(const NetworkShape& shape, const NetworkWeights& weights, const Row& x,
              std::vector<Token>* tokens);
Row RunHead(const HeadWeights& head, const Row& x);
// The final norm of latents.
Row Latent(const NetworkShape& shape, const Row& x);
Row Encode(const NetworkShape& shape, const NetworkWeights& weights, const Row& observation);

struct StepOutputs {
  double reward;
  double value;
  Row prior_logits;  // [A]
  Row tokens;        // [2, L, 2, E]
};

// One row of a step: `context` [W - 1, L, 2, E], of which the last `length` tokens are valid.
StepOutputs Step(const NetworkShape& shape, const NetworkWeights& weights, const float* context,
                 int64_t length, int64_t action);

}  // namespace lzero::packed::reference

#endif  // LZERO_TESTS_SUPPORT_PACKED_REFERENCE_H_
