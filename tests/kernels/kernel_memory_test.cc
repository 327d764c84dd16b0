// Every kernel over sizes that fill registers, tiles and blocks or do not, in arrays of exactly
// their size, with one thread and with three: what it computes is tested elsewhere, here that it
// reads and writes nothing beside them. For the sanitizers, which run it without libtorch.
#include "tests/kernels/kernel_memory.h"

#include <vector>

#include "gtest/gtest.h"
#include "lzero/kernels/attention_branch_kernels.h"
#include "lzero/kernels/norm_kernels.h"
#include "lzero/kernels/perceptron_kernels.h"

namespace lzero::kernel_memory_test {
namespace {

TEST_P(KernelMemoryTest, NormsAndGelu) {
  for (int i = 0; i < 40; ++i) {
    const int64_t rows = Size(300), size = Size(70);
    const Floats x = Random(rows * size), weight = Random(size), bias = Random(size);
    const Floats dy = Random(rows * size);
    Floats means = Empty(rows), spreads = Empty(rows), y = Empty(rows * size);
    Floats dx = Empty(rows * size), dnorm_weight = Empty(size), dnorm_bias = Empty(size), again = y;
    NormTask task;
    task.rows = rows;
    task.size = size;
    task.x = x.data();
    task.means = means.data();
    task.inverse_deviations = spreads.data();
    if (i % 3 > 0) {
      task.weight = weight.data();
      task.bias = bias.data();
    }
    task.gelu = i % 3 == 2;
    RunNorm(task, y.data());
    ExpectAllSet(y);
    if (task.gelu) task.again = again.data();
    task.addend = dy.data();
    RunNormBackward(task, dy.data(), dx.data(), dnorm_weight.data(), dnorm_bias.data());
    ExpectAllSet(dx);
    RunGelu(rows * size, x.data(), y.data());
    RunGeluBackward(rows * size, x.data(), dy.data(), dx.data(), again.data());
    ExpectAllSet(again);
  }
}

TEST_P(KernelMemoryTest, Perceptrons) {
  for (int i = 0; i < 25; ++i) {
    PerceptronTask task;
    task.rows = Size(300);
    task.in = Size(40);
    task.hidden = Size(70);
    task.residual = i % 2 == 1;
    task.out = task.residual ? task.in : Size(40);
    const bool norm1 = i % 3 > 0, norm2 = i % 4 > 0;
    const Floats x = Random(task.rows * task.in), weight1 = Random(task.hidden * task.in);
    const Floats weight2 = Random(task.out * task.hidden), dy = Random(task.rows * task.out);
    const Floats of_in = Random(task.in), of_hidden = Random(task.hidden),
                 of_out = Random(task.out);
    Floats units = Empty(task.rows * task.hidden), moments = Empty(4 * task.rows);
    Floats y = Empty(task.rows * task.out);
    task.x = x.data();
    task.norm_weight1 = task.norm_bias1 = norm1 ? of_in.data() : nullptr;
    task.weight1 = weight1.data();
    task.bias1 = of_hidden.data();
    task.norm_weight2 = task.norm_bias2 = norm2 ? of_hidden.data() : nullptr;
    task.weight2 = weight2.data();
    task.bias2 = of_out.data();
    task.units = units.data();
    task.moments = moments.data();
    RunPerceptron(task, y.data());
    ExpectAllSet(y);
    Floats dx = Empty(task.rows * task.in), dnorm_weight1 = Empty(task.in),
           dnorm_bias1 = Empty(task.in);
    Floats dweight1 = Empty(task.hidden * task.in), dbias1 = Empty(task.hidden);
    Floats dnorm_weight2 = Empty(task.hidden), dnorm_bias2 = Empty(task.hidden);
    Floats dweight2 = Empty(task.out * task.hidden), dbias2 = Empty(task.out);
    RunPerceptronBackward(task, dy.data(),
                          {i % 5 == 0 ? nullptr : dx.data(), norm1 ? dnorm_weight1.data() : nullptr,
                           norm1 ? dnorm_bias1.data() : nullptr, dweight1.data(), dbias1.data(),
                           norm2 ? dnorm_weight2.data() : nullptr,
                           norm2 ? dnorm_bias2.data() : nullptr, dweight2.data(), dbias2.data()});
    for (const Floats* each : {&dweight1, &dbias1, &dweight2, &dbias2}) ExpectAllSet(*each);
  }
}

TEST_P(KernelMemoryTest, AttentionBranches) {
  for (int i = 0; i < 25; ++i) {
    AttentionBranchTask task;
    AttentionTask& attention = task.attention;
    attention.samples = Size(30);
    attention.tokens = 1 + Size(24);
    attention.heads = Size(3);
    attention.head_size = 2 * Size(20);
    attention.window = Size(30);
    const int64_t size = attention.heads * attention.head_size;
    const int64_t rows = attention.samples * attention.tokens;
    std::vector<int64_t> padding;
    for (int64_t sample = 0; sample < attention.samples; ++sample) {
      padding.push_back(Size(attention.tokens) - 1);
    }
    if (i % 2 == 0) attention.num_padding = padding.data();
    const Floats angles = Random(attention.tokens * attention.head_size);
    attention.cosines = attention.sines = angles.data();
    const Floats x = Random(rows * size), of_size = Random(size), of_qkv = Random(3 * size);
    const Floats weight_in = Random(3 * size * size), weight_out = Random(size * size);
    const Floats dy = Random(rows * size);
    Floats moments = Empty(2 * rows), qkv = Empty(3 * rows * size), mixed = Empty(rows * size);
    Floats probabilities = Empty(rows * attention.heads * NumKeys(attention)),
           y = Empty(rows * size);
    task.x = x.data();
    task.norm_weight = task.norm_bias = task.bias_out = of_size.data();
    task.weight_in = weight_in.data();
    task.bias_in = of_qkv.data();
    task.weight_out = weight_out.data();
    task.moments = moments.data();
    task.qkv = qkv.data();
    task.mixed = mixed.data();
    task.probabilities = probabilities.data();
    RunAttentionBranch(task, y.data());
    ExpectAllSet(y);
    Floats dx = Empty(rows * size), dnorm_weight = Empty(size), dnorm_bias = Empty(size);
    Floats dweight_in = Empty(3 * size * size), dbias_in = Empty(3 * size);
    Floats dweight_out = Empty(size * size), dbias_out = Empty(size);
    RunAttentionBranchBackward(
        task, dy.data(),
        {dx.data(), dnorm_weight.data(), dnorm_bias.data(), dweight_in.data(), dbias_in.data(),
         dweight_out.data(), dbias_out.data()});
    for (const Floats* each : {&dx, &dnorm_weight, &dweight_in, &dbias_in, &dweight_out}) {
      ExpectAllSet(*each);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, KernelMemoryTest, testing::Values(1, 3));

}  // namespace
}  // namespace lzero::kernel_memory_test
