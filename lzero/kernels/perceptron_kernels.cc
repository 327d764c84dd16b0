#include "lzero/kernels/perceptron_kernels.h"

#include <algorithm>
#include <vector>

#include "lzero/kernels/gradient_sums.h"
#include "lzero/kernels/norm_kernels.h"
#include "lzero/kernels/parallel.h"
#include "lzero/kernels/product/matrix_product.h"
#include "lzero/kernels/product/product_kernels.h"

namespace lzero {
namespace {

constexpr int64_t kBlockRows = 96;  // whole tiles of a product

MatrixView Rows(const float* values, int64_t row_size) { return {values, row_size, 1}; }

// Some rows of a task, and what a thread needs for them.
struct Block {
  int64_t first, rows;
  NormTask norm1, norm2;  // of these rows; no weight: no norm
};

struct Scratch {
  std::vector<float> normal, units, active, gradient, dnormal;  // [block rows, ...]
  PackedMatrix packed;

  void Resize(const PerceptronTask& task) {
    const auto fit = [](std::vector<float>& values, int64_t size) {
      if (static_cast<int64_t>(values.size()) < size) values.resize(static_cast<size_t>(size));
    };
    for (std::vector<float>* each : {&normal, &dnormal}) fit(*each, kBlockRows * task.in);
    for (std::vector<float>* each : {&units, &active, &gradient}) {
      fit(*each, kBlockRows * task.hidden);
    }
  }
};

Scratch& ThreadScratch(const PerceptronTask& task) {
  thread_local Scratch scratch;
  scratch.Resize(task);
  return scratch;
}

// The packed weights of a call, whose memory stays for the next.
struct PackedWeights {
  PackedMatrix weight1, weight2;
};

PackedWeights& ThreadWeights() {
  thread_local PackedWeights weights;
  return weights;
}

Block MakeBlock(const PerceptronTask& task, int64_t first, int64_t last) {
  Block block;
  block.first = first;
  block.rows = std::min(kBlockRows, last - first);
  block.norm1.rows = block.norm2.rows = block.rows;
  block.norm1.size = task.in;
  block.norm1.x = task.x + first * task.in;
  block.norm1.weight = task.norm_weight1;
  block.norm1.bias = task.norm_bias1;
  block.norm1.means = task.moments + first;
  block.norm1.inverse_deviations = task.moments + task.rows + first;
  block.norm2.size = task.hidden;
  block.norm2.weight = task.norm_weight2;
  block.norm2.bias = task.norm_bias2;
  block.norm2.gelu = true;
  block.norm2.means = task.moments + 2 * task.rows + first;
  block.norm2.inverse_deviations = task.moments + 3 * task.rows + first;
  return block;
}

// N1(x) of the block.
const float* NormalRows(const PerceptronTask& task, const Block& block, Scratch& scratch) {
  if (task.norm_weight1 == nullptr) return block.norm1.x;
  RunNorm(block.norm1, scratch.normal.data());
  return scratch.normal.data();
}

void RunBlock(const PerceptronTask& task, Block block, const PackedMatrix& weight1,
              const PackedMatrix& weight2, float* y, Scratch& scratch) {
  const float* normal = NormalRows(task, block, scratch);
  float* units =
      task.units == nullptr ? scratch.units.data() : task.units + block.first * task.hidden;
  MultiplyRows(Rows(normal, task.in), block.rows, weight1, task.bias1, nullptr, units, task.hidden);
  block.norm2.x = units;
  if (task.norm_weight2 != nullptr) {
    RunNorm(block.norm2, scratch.active.data());
  } else {
    RunGelu(block.rows * task.hidden, units, scratch.active.data());
  }
  MultiplyRows(Rows(scratch.active.data(), task.hidden), block.rows, weight2, task.bias2,
               task.residual ? block.norm1.x : nullptr, y + block.first * task.out, task.out);
}

void RunBlockBackward(const PerceptronTask& task, Block block, const PackedMatrix& weight1,
                      const PackedMatrix& weight2, const float* all_dy, Scratch& scratch,
                      const PerceptronGradients& sums) {
  const int64_t rows = block.rows;
  const float* dy = all_dy + block.first * task.out;
  float *active = scratch.active.data(), *gradient = scratch.gradient.data();
  MultiplyRows(Rows(dy, task.out), rows, weight2, nullptr, nullptr, gradient, task.hidden);
  block.norm2.x = task.units + block.first * task.hidden;
  block.norm2.again = active;
  if (task.norm_weight2 != nullptr) {
    AddNormBackward(block.norm2, gradient, gradient, sums.norm_weight2, sums.norm_bias2);
  } else {
    RunGeluBackward(rows * task.hidden, block.norm2.x, gradient, gradient, active);
  }
  AddTransposedProduct(dy, task.out, active, task.hidden, rows, scratch.packed, sums.weight2);
  AddColumnSums(dy, rows, task.out, sums.bias2);
  const float* normal = NormalRows(task, block, scratch);
  AddTransposedProduct(gradient, task.hidden, normal, task.in, rows, scratch.packed, sums.weight1);
  AddColumnSums(gradient, rows, task.hidden, sums.bias1);
  if (sums.dx == nullptr && task.norm_weight1 == nullptr) return;
  float* dx = sums.dx == nullptr ? scratch.dnormal.data() : sums.dx + block.first * task.in;
  const float* residual = task.residual ? dy : nullptr;
  if (task.norm_weight1 == nullptr) {
    MultiplyRows(Rows(gradient, task.hidden), rows, weight1, nullptr, residual, dx, task.in);
    return;
  }
  float* dnormal = scratch.dnormal.data();
  MultiplyRows(Rows(gradient, task.hidden), rows, weight1, nullptr, nullptr, dnormal, task.in);
  block.norm1.addend = residual;
  AddNormBackward(block.norm1, dnormal, dx, sums.norm_weight1, sums.norm_bias1);
}

}  // namespace

void RunPerceptron(const PerceptronTask& task, float* y) {
  PackedWeights& packed = ThreadWeights();
  packed.weight1.Pack(Rows(task.weight1, task.in).Transposed(), task.in, task.hidden);
  packed.weight2.Pack(Rows(task.weight2, task.hidden).Transposed(), task.hidden, task.out);
  const int64_t num_blocks = (task.rows + kBlockRows - 1) / kBlockRows;
  ParallelFor(0, num_blocks, 1, [&](int64_t begin, int64_t end) {
    Scratch& scratch = ThreadScratch(task);
    for (int64_t i = begin; i < end; ++i) {
      RunBlock(task, MakeBlock(task, i * kBlockRows, task.rows), packed.weight1, packed.weight2, y,
               scratch);
    }
  });
}

void RunPerceptronBackward(const PerceptronTask& task, const float* dy,
                           const PerceptronGradients& gradients) {
  PackedWeights& packed = ThreadWeights();
  packed.weight1.Pack(Rows(task.weight1, task.in), task.hidden, task.in);
  packed.weight2.Pack(Rows(task.weight2, task.hidden), task.out, task.hidden);
  const int64_t num_blocks = (task.rows + kBlockRows - 1) / kBlockRows;
  const PerceptronGradients& to = gradients;
  const GradientPlace places[] = {
      {to.norm_weight1, task.in},           {to.norm_bias1, task.in},
      {to.weight1, task.hidden * task.in},  {to.bias1, task.hidden},
      {to.norm_weight2, task.hidden},       {to.norm_bias2, task.hidden},
      {to.weight2, task.out * task.hidden}, {to.bias2, task.out}};
  SumOverBlocks(places, num_blocks, [&](float* const* sums, int64_t block) {
    RunBlockBackward(
        task, MakeBlock(task, block * kBlockRows, task.rows), packed.weight1, packed.weight2, dy,
        ThreadScratch(task),
        {to.dx, sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7]});
  });
}

}  // namespace lzero
