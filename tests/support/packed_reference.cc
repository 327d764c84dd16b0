#include "tests/support/packed_reference.h"

#include <algorithm>
#include <cmath>

namespace lzero::packed::reference {

Row RowOf(const float* numbers, int64_t size) { return Row(numbers, numbers + size); }

Row Product(const LinearWeights& layer, const Row& x) {
  const size_t in = x.size();
  Row y(layer.bias.begin(), layer.bias.end());
  for (size_t n = 0; n < y.size(); ++n) {
    const float* weights = layer.weight.data() + n * in;
    double sum = 0.0;
    for (size_t k = 0; k < in; ++k) sum += x[k] * static_cast<double>(weights[k]);
    y[n] += sum;
  }
  return y;
}

double Gelu(double x) {
  const double root = std::sqrt(2.0 / std::acos(-1.0));
  return 0.5 * x * (1.0 + std::tanh(root * (x + 0.044715 * x * x * x)));
}

Row Gelu(Row x) {
  for (double& number : x) number = Gelu(number);
  return x;
}

Row Normalized(const Row& x) {
  const auto size = static_cast<double>(x.size());
  double mean = 0.0, variance = 0.0;
  for (const double number : x) mean += number / size;
  for (const double number : x) variance += (number - mean) * (number - mean) / size;
  Row y = x;
  for (double& number : y) number = (number - mean) / std::sqrt(variance + 1e-5);
  return y;
}

Row Normalized(const Row& x, const NormWeights& norm) {
  Row y = Normalized(x);
  for (size_t i = 0; i < y.size(); ++i) y[i] = y[i] * norm.weight[i] + norm.bias[i];
  return y;
}

Row Softmax(const Row& x) {
  const double largest = *std::max_element(x.begin(), x.end());
  Row y = x;
  double sum = 0.0;
  for (double& number : y) {
    number = std::exp(number - largest);
    sum += number;
  }
  for (double& number : y) number /= sum;
  return y;
}

Row SoftmaxInGroups(const Row& x, int64_t group) {
  Row y;
  for (auto first = x.begin(); first != x.end(); first += group) {
    const Row part = Softmax(Row(first, first + group));
    y.insert(y.end(), part.begin(), part.end());
  }
  return y;
}

double ExpectedAtom(const Row& logits) {
  const Row probabilities = Softmax(logits);
  double atom = -0.5 * static_cast<double>(logits.size() - 1), expected = 0.0;
  for (const double probability : probabilities) {
    expected += probability * atom;
    atom += 1.0;
  }
  return expected;
}

double InverseTransform(double y) {
  double low = 0.0, high = 1e9;
  for (int i = 0; i < 120; ++i) {
    const double middle = 0.5 * (low + high);
    const double transformed = std::sqrt(middle + 1.0) - 1.0 + 0.001 * middle;
    (transformed < std::abs(y) ? low : high) = middle;
  }
  return y < 0.0 ? -low : low;
}

double HeadValue(const ValueSupport& support, const Row& logits) {
  if (support.is_squeezed) return InverseTransform(ExpectedAtom(logits));
  // The middle of evenly spread values, and how far the mean atom is from it.
  const double half = 0.5 * static_cast<double>(support.size - 1);
  return (support.origin + half + ExpectedAtom(logits)) * support.step;
}

Row Turned(const Row& x, double distance) {
  const auto size = static_cast<double>(x.size());
  Row y = x;
  for (size_t i = 0; i < x.size(); i += 2) {
    const double angle = distance * std::pow(10000.0, -static_cast<double>(i) / size);
    y[i] = x[i] * std::cos(angle) - x[i + 1] * std::sin(angle);
    y[i + 1] = x[i] * std::sin(angle) + x[i + 1] * std::cos(angle);
  }
  return y;
}

Row Attention(const Row& query, const std::vector<Row>& keys, const std::vector<Row>& values,
              int64_t num_heads) {
  const auto head_size = static_cast<int64_t>(query.size()) / num_heads;
  Row y(query.size(), 0.0);
  for (int64_t first = 0; first < static_cast<int64_t>(query.size()); first += head_size) {
    Row scores;
    for (size_t j = 0; j < keys.size(); ++j) {
      const auto distance = static_cast<double>(keys.size() - 1 - j);
      const Row head(keys[j].begin() + first, keys[j].begin() + first + head_size);
      const Row key = Turned(head, -distance);
      double score = 0.0;
      for (int64_t i = 0; i < head_size; ++i) score += query[first + i] * key[i];
      scores.push_back(score / std::sqrt(static_cast<double>(head_size)));
    }
    const Row weights = Softmax(scores);
    for (size_t j = 0; j < keys.size(); ++j) {
      for (int64_t i = first; i < first + head_size; ++i) y[i] += weights[j] * values[j][i];
    }
  }
  return y;
}

Token TokenOf(const NetworkShape& shape, const float* numbers) {
  Token token;
  for (int64_t layer = 0; layer < shape.num_layers; ++layer) {
    token.keys.push_back(RowOf(numbers + 2 * layer * shape.embed_dim, shape.embed_dim));
    token.values.push_back(RowOf(numbers + (2 * layer + 1) * shape.embed_dim, shape.embed_dim));
  }
  return token;
}

Row Flat(const Token& token) {
  Row numbers;
  for (size_t layer = 0; layer < token.keys.size(); ++layer) {
    numbers.insert(numbers.end(), token.keys[layer].begin(), token.keys[layer].end());
    numbers.insert(numbers.end(), token.values[layer].begin(), token.values[layer].end());
  }
  return numbers;
}

Row RunBlocks(const NetworkShape& shape, const NetworkWeights& weights, const Row& x,
              std::vector<Token>* tokens) {
  const int64_t embed_dim = shape.embed_dim;
  const auto num_before = static_cast<int64_t>(tokens->size());
  const int64_t num_seen = std::min(num_before, shape.context_length - 1);
  Token own;
  Row y = x;
  const auto add = [&y](const Row& increase) {
    for (size_t i = 0; i < y.size(); ++i) y[i] += increase[i];
  };
  for (size_t layer = 0; layer < weights.blocks.size(); ++layer) {
    const BlockWeights& block = weights.blocks[layer];
    const Row parts = Product(block.query_key_value, Normalized(y, block.norm_attention));
    const auto part = [&](int64_t i) {
      return Row(parts.begin() + i * embed_dim, parts.begin() + (i + 1) * embed_dim);
    };
    own.keys.push_back(part(1));
    own.values.push_back(part(2));
    std::vector<Row> keys, values;
    for (int64_t j = num_before - num_seen; j < num_before; ++j) {
      keys.push_back((*tokens)[static_cast<size_t>(j)].keys[layer]);
      values.push_back((*tokens)[static_cast<size_t>(j)].values[layer]);
    }
    keys.push_back(own.keys.back());
    values.push_back(own.values.back());
    add(Product(block.projection, Attention(part(0), keys, values, shape.num_heads)));
    const Row hidden = Gelu(Product(block.expand, Normalized(y, block.norm_feed_forward)));
    add(Product(block.contract, hidden));
  }
  tokens->push_back(own);
  return y;
}

Row RunHead(const HeadWeights& head, const Row& x) {
  const Row hidden = Product(head.first, Normalized(x, head.norm_in));
  return Product(head.last, Gelu(Normalized(hidden, head.norm_hidden)));
}

Row Latent(const NetworkShape& shape, const Row& x) {
  return shape.latent_norm == LatentNorm::kLayerNorm ? Normalized(x)
                                                     : SoftmaxInGroups(x, shape.sim_norm_group);
}

Row Encode(const NetworkShape& shape, const NetworkWeights& weights, const Row& observation) {
  Row x = observation;
  for (size_t i = 0; i < weights.encoder.hidden.size(); ++i) {
    x = Gelu(Normalized(Product(weights.encoder.hidden[i], x), weights.encoder.norms[i]));
  }
  return Latent(shape, Product(weights.encoder.last, x));
}

StepOutputs Step(const NetworkShape& shape, const NetworkWeights& weights, const float* context,
                 int64_t length, int64_t action) {
  std::vector<Token> tokens;
  for (int64_t i = shape.context_length - 1 - length; i < shape.context_length - 1; ++i) {
    tokens.push_back(TokenOf(shape, context + i * shape.token_size()));
  }
  const float* embedding = weights.action_embedding.data() + action * shape.embed_dim;
  StepOutputs outputs;
  const Row after_action = RunBlocks(shape, weights, RowOf(embedding, shape.embed_dim), &tokens);
  outputs.tokens = Flat(tokens.back());
  outputs.reward = HeadValue(shape.reward_support, RunHead(weights.reward, after_action));
  const Row latent = Latent(shape, RunHead(weights.latent, after_action));
  const Row after_latent = RunBlocks(shape, weights, latent, &tokens);
  const Row latent_token = Flat(tokens.back());
  outputs.tokens.insert(outputs.tokens.end(), latent_token.begin(), latent_token.end());
  outputs.value = HeadValue(shape.value_support, RunHead(weights.value, after_latent));
  outputs.prior_logits = RunHead(weights.policy, after_latent);
  return outputs;
}

}  // namespace lzero::packed::reference
