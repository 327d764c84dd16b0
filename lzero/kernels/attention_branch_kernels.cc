#include "lzero/kernels/attention_branch_kernels.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "lzero/kernels/gradient_sums.h"
#include "lzero/kernels/norm_kernels.h"
#include "lzero/kernels/parallel.h"
#include "lzero/kernels/product/matrix_product.h"
#include "lzero/kernels/product/product_kernels.h"

namespace lzero {
namespace {

constexpr int64_t kBlockRows = 128;  // of a block, about
constexpr int64_t kTileRows = 12;    // of a product: whole tiles run fastest

MatrixView Rows(const float* values, int64_t row_size) { return {values, row_size, 1}; }

int64_t SizeOf(const AttentionBranchTask& task) {
  return task.attention.heads * task.attention.head_size;
}

// Whole sequences of about kBlockRows rows, whole tiles if that is possible.
int64_t SamplesABlock(int64_t tokens) {
  const int64_t even = kTileRows / std::gcd(tokens, kTileRows);
  const int64_t fitting = std::max<int64_t>(1, kBlockRows / tokens);
  return fitting >= even ? fitting - fitting % even : fitting;
}

struct PackedWeights {
  PackedMatrix in, out;
};

PackedWeights& ThreadWeights() {
  thread_local PackedWeights weights;
  return weights;
}

// What a thread needs for one block.
struct Scratch {
  std::vector<float> normal, dmixed, dqkv, dnormal;  // [block rows, E or 3 E]
  PackedMatrix packed;
};

Scratch& ThreadScratch(int64_t rows, int64_t size) {
  thread_local Scratch scratch;
  const auto fit = [](std::vector<float>& values, int64_t count) {
    if (static_cast<int64_t>(values.size()) < count) values.resize(static_cast<size_t>(count));
  };
  for (std::vector<float>* each : {&scratch.normal, &scratch.dmixed, &scratch.dnormal}) {
    fit(*each, rows * size);
  }
  fit(scratch.dqkv, 3 * rows * size);
  return scratch;
}

// Samples of a task.
struct Block {
  int64_t first_row, rows;
  NormTask norm;
  AttentionTask attention;
};

Block MakeBlock(const AttentionBranchTask& task, int64_t first, int64_t last) {
  const AttentionTask& all = task.attention;
  const int64_t size = SizeOf(task);
  Block block;
  block.first_row = first * all.tokens;
  block.rows = (last - first) * all.tokens;
  block.norm.rows = block.rows;
  block.norm.size = size;
  block.norm.x = task.x + block.first_row * size;
  block.norm.weight = task.norm_weight;
  block.norm.bias = task.norm_bias;
  block.norm.means = task.moments + block.first_row;
  block.norm.inverse_deviations = block.norm.means + all.samples * all.tokens;
  block.attention = all;
  block.attention.samples = last - first;
  block.attention.qkv = task.qkv + block.first_row * 3 * size;
  if (all.num_padding != nullptr) block.attention.num_padding = all.num_padding + first;
  block.attention.probabilities = task.probabilities + block.first_row * all.heads * NumKeys(all);
  return block;
}

void RunBlock(const AttentionBranchTask& task, const Block& block, const PackedWeights& packed,
              float* y, Scratch& scratch) {
  const int64_t size = SizeOf(task), begin = block.first_row * size;
  RunNorm(block.norm, scratch.normal.data());
  MultiplyRows(Rows(scratch.normal.data(), size), block.rows, packed.in, task.bias_in, nullptr,
               task.qkv + 3 * begin, 3 * size);
  RunAttention(block.attention, task.mixed + begin);
  MultiplyRows(Rows(task.mixed + begin, size), block.rows, packed.out, task.bias_out,
               task.x + begin, y + begin, size);
}

void RunBlockBackward(const AttentionBranchTask& task, Block block, const PackedWeights& packed,
                      const float* all_dy, Scratch& scratch, const AttentionBranchGradients& sums) {
  const int64_t size = SizeOf(task), rows = block.rows, begin = block.first_row * size;
  const float *dy = all_dy + begin, *mixed = task.mixed + begin;
  float *dmixed = scratch.dmixed.data(), *dqkv = scratch.dqkv.data();
  MultiplyRows(Rows(dy, size), rows, packed.out, nullptr, nullptr, dmixed, size);
  AddTransposedProduct(dy, size, mixed, size, rows, scratch.packed, sums.weight_out);
  AddColumnSums(dy, rows, size, sums.bias_out);
  RunAttentionBackward(block.attention, dmixed, dqkv);
  RunNorm(block.norm, scratch.normal.data());
  AddTransposedProduct(dqkv, 3 * size, scratch.normal.data(), size, rows, scratch.packed,
                       sums.weight_in);
  AddColumnSums(dqkv, rows, 3 * size, sums.bias_in);
  MultiplyRows(Rows(dqkv, 3 * size), rows, packed.in, nullptr, nullptr, scratch.dnormal.data(),
               size);
  block.norm.addend = dy;
  AddNormBackward(block.norm, scratch.dnormal.data(), sums.x + begin, sums.norm_weight,
                  sums.norm_bias);
}

}  // namespace

void RunAttentionBranch(const AttentionBranchTask& task, float* y) {
  const int64_t size = SizeOf(task), samples = task.attention.samples;
  PackedWeights& packed = ThreadWeights();
  packed.in.Pack(Rows(task.weight_in, size).Transposed(), size, 3 * size);
  packed.out.Pack(Rows(task.weight_out, size).Transposed(), size, size);
  const int64_t step = SamplesABlock(task.attention.tokens);
  ParallelFor(0, (samples + step - 1) / step, 1, [&](int64_t begin, int64_t end) {
    Scratch& scratch = ThreadScratch(step * task.attention.tokens, size);
    for (int64_t i = begin; i < end; ++i) {
      RunBlock(task, MakeBlock(task, i * step, std::min(samples, (i + 1) * step)), packed, y,
               scratch);
    }
  });
}

void RunAttentionBranchBackward(const AttentionBranchTask& task, const float* dy,
                                const AttentionBranchGradients& gradients) {
  const int64_t size = SizeOf(task), samples = task.attention.samples;
  PackedWeights& packed = ThreadWeights();
  packed.in.Pack(Rows(task.weight_in, size), 3 * size, size);
  packed.out.Pack(Rows(task.weight_out, size), size, size);
  const int64_t step = SamplesABlock(task.attention.tokens);
  const int64_t num_blocks = (samples + step - 1) / step;
  const AttentionBranchGradients& to = gradients;
  const GradientPlace places[] = {{to.norm_weight, size},          {to.norm_bias, size},
                                  {to.weight_in, 3 * size * size}, {to.bias_in, 3 * size},
                                  {to.weight_out, size * size},    {to.bias_out, size}};
  SumOverBlocks(places, num_blocks, [&](float* const* sums, int64_t block) {
    RunBlockBackward(task, MakeBlock(task, block * step, std::min(samples, (block + 1) * step)),
                     packed, dy, ThreadScratch(step * task.attention.tokens, size),
                     {to.x, sums[0], sums[1], sums[2], sums[3], sums[4], sums[5]});
  });
}

}  // namespace lzero
