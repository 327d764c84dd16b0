// Running statistics beside those of all observations at once.
#include "lzero/nn/observation_norm.h"

#include "gtest/gtest.h"
#include "lzero/packed/observation_norm.h"
#include "lzero/tensor/torch.h"

namespace lzero::observation_norm_test {
namespace {

at::Tensor Statistic(const ObservationNorm& norm, const char* name) {
  return norm.named_parameters()[name];
}

TEST(ObservationNorm, MergesBatchesOfUnlikeSizes) {
  torch::manual_seed(1);
  const at::Tensor all = at::randn({70, 3}) * at::tensor({1.0f, 5.0f, 0.1f}) + 2.0;
  ObservationNorm norm(3, /*scales=*/true);
  norm.Observe(all.narrow(0, 0, 64), {});
  norm.Observe(all.narrow(0, 64, 6), at::zeros({}));
  EXPECT_TRUE(at::allclose(Statistic(norm, "mean"), all.mean(0), 1e-5, 1e-6));
  EXPECT_TRUE(at::allclose(Statistic(norm, "variance"), all.var(0, /*unbiased=*/false), 1e-4));
  EXPECT_EQ(Statistic(norm, "count").item<float>(), 70.0f);
  // An update that is left out changes nothing.
  const at::Tensor before = Statistic(norm, "mean").clone();
  norm.Observe(all + 100.0, at::ones({}));
  EXPECT_TRUE(at::equal(Statistic(norm, "mean"), before));
  EXPECT_EQ(Statistic(norm, "count").item<float>(), 70.0f);
}

TEST(ObservationNorm, ScalesVectorsAndCentresPictures) {
  const at::Tensor x = torch::tensor({{1.0f, -3.0f}, {3.0f, 5.0f}});  // means 2, 1; deviations 1, 4
  ObservationNorm vectors(2, /*scales=*/true), pictures(2, /*scales=*/false);
  EXPECT_TRUE(at::allclose(vectors.Forward(x), x, 1e-4)) << "nothing is known yet";
  vectors.Observe(x, {});
  pictures.Observe(x, {});
  EXPECT_TRUE(
      at::allclose(vectors.Forward(x), torch::tensor({{-1.0f, -1.0f}, {1.0f, 1.0f}}), 1e-3));
  EXPECT_TRUE(at::allclose(pictures.Forward(x), torch::tensor({{-1.0f, -4.0f}, {1.0f, 4.0f}})));
  const at::Tensor far = vectors.Forward(torch::tensor({{1e6f, -1e6f}}));
  EXPECT_TRUE(at::equal(far, torch::tensor({{10.0f, -10.0f}})));
}

}  // namespace
}  // namespace lzero::observation_norm_test
