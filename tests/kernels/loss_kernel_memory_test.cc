// The kernels of the losses over random sizes, in arrays of exactly their size: see
// tests/kernels/kernel_memory_test.cc.
#include <memory>

#include "lzero/kernels/loss_kernels.h"
#include "lzero/kernels/support_kernels.h"
#include "tests/kernels/kernel_memory.h"

namespace lzero::loss_kernel_memory_test {
namespace {

using LossKernelMemoryTest = KernelMemoryTest;

TEST_P(LossKernelMemoryTest, Losses) {
  for (int i = 0; i < 40; ++i) {
    const int64_t rows = Size(50), atoms = 1 + 2 * Size(60), actions = Size(40), size = Size(70);
    const Floats logits = Random(rows * atoms), values = Random(rows), slopes = Random(rows);
    Floats log_sums = Empty(rows), losses = Empty(rows), dlogits = Empty(rows * atoms);
    const TwoHotTask two_hot = {rows, SqueezedSupport(atoms), logits.data(), values.data(),
                                log_sums.data()};
    RunTwoHotLoss(two_hot, losses.data());
    RunTwoHotLossBackward(two_hot, slopes.data(), dlogits.data());
    ExpectAllSet(losses);
    ExpectAllSet(dlogits);

    const Floats policy_logits = Random(rows * actions), policies = Random(rows * actions);
    const auto illegal = std::make_unique<bool[]>(static_cast<size_t>(rows * actions));
    for (int64_t j = 0; j < rows * actions; ++j) illegal[j] = i % 2 == 0 && random_() % 3 == 0;
    Floats entropies = Empty(rows), dpolicy = Empty(rows * actions);
    RunPolicyLoss({rows, actions, policy_logits.data(), policies.data(), illegal.get(),
                   slopes.data(), slopes.data()},
                  losses.data(), entropies.data(), dpolicy.data());
    ExpectAllSet(entropies);
    ExpectAllSet(dpolicy);

    const Floats predicted = Random(rows * size), target = Random(rows * size);
    Floats dpredicted = Empty(rows * size);
    RunSquaredDistance(rows, size, predicted.data(), target.data(), slopes.data(), losses.data(),
                       dpredicted.data());
    ExpectAllSet(dpredicted);
    float spread = kUnset, norm = kUnset;
    ComputeLatentStatistics(rows, size, predicted.data(), &spread, &norm);
    EXPECT_GE(spread, 0.0f);
    EXPECT_GT(norm, 0.0f);
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, LossKernelMemoryTest, testing::Values(1, 3));

}  // namespace
}  // namespace lzero::loss_kernel_memory_test
