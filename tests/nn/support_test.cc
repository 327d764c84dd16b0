// Value transform and two-hot support against golden values of their definitions and against
// numbers worked out by hand.
#include "lzero/nn/support.h"

#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"

namespace lzero::support_test {
namespace {

struct Golden {
  double value;
  double transformed;
};

// h(x) = sign(x) (sqrt(|x| + 1) - 1) + 0.001 x, to six decimals.
const std::vector<Golden> kGolden = {{1.0, 0.415214},     {0.5, 0.225245},    {10.0, 2.326625},
                                     {200.0, 13.377447},  {-21.0, -3.711416}, {1000.0, 31.638584},
                                     {1e6, 1999.000488},  {0.0, 0.0},         {-1.0, -0.415214},
                                     {-1e6, -1999.000488}};

std::vector<float> Values(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.detach().contiguous();
  return std::vector<float>(flat.const_data_ptr<float>(),
                            flat.const_data_ptr<float>() + flat.numel());
}

void ExpectValues(const at::Tensor& actual, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(actual.numel(), static_cast<int64_t>(expected.size()));
  const std::vector<float> values = Values(actual);
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(values[i], expected[i], tolerance) << "element " << i;
  }
}

// Zero and both signs of powers of ten 1e-8 .. 1e6, nine values a decade.
std::vector<float> WideRange() {
  std::vector<float> values = {0.0f};
  for (int power = -8; power < 6; ++power) {
    for (int digit = 1; digit <= 9; ++digit) {
      const float value = static_cast<float>(digit * std::pow(10.0, power));
      values.push_back(value);
      values.push_back(-value);
    }
  }
  values.push_back(1e6f);
  values.push_back(-1e6f);
  return values;
}

TEST(TransformValues, GoldenValues) {
  for (const Golden& golden : kGolden) {
    const double tolerance = 1e-6 * std::max(1.0, std::abs(golden.transformed));
    EXPECT_NEAR(TransformValues(torch::tensor({golden.value}, at::kFloat)).item<double>(),
                golden.transformed, tolerance)
        << golden.value;
  }
}

// h in long double, without cancellation: sqrt(m + 1) - 1 = expm1(log1p(m) / 2).
double PreciseTransform(double value) {
  const long double magnitude = std::abs(static_cast<long double>(value));
  const long double squeezed = std::expm1(std::log1p(magnitude) / 2.0L) + 0.001L * magnitude;
  return static_cast<double>(value < 0 ? -squeezed : squeezed);
}

TEST(TransformValues, Float32KeepsRelativePrecisionDownToZero) {
  const std::vector<float> values = WideRange();
  const std::vector<float> transformed = Values(TransformValues(torch::tensor(values)));
  for (size_t i = 0; i < values.size(); ++i) {
    const double expected = PreciseTransform(values[i]);
    EXPECT_NEAR(transformed[i], expected, 4e-7 * std::abs(expected)) << values[i];
  }
}

TEST(InverseTransformValues, Float32RoundTripKeepsRelativePrecisionDownToZero) {
  const std::vector<float> values = WideRange();
  const at::Tensor inputs = torch::tensor(values);
  const std::vector<float> back = Values(InverseTransformValues(TransformValues(inputs)));
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(back[i], values[i], 2e-6 * std::abs(values[i])) << values[i];
  }
}

TEST(InverseTransformValues, KeepsShapeAndOrder) {
  const at::Tensor inputs = torch::tensor({{0.0f, 13.377447f}, {-3.711416f, 0.415214f}});
  const at::Tensor values = InverseTransformValues(inputs);
  EXPECT_EQ(values.sizes(), inputs.sizes());
  ExpectValues(values, {0.0, 200.0, -21.0, 1.0}, 1e-4);
}

TEST(SupportAtoms, CountFromMinusKToK) {
  ExpectValues(SupportAtoms(SqueezedSupport(3)), {-1, 0, 1}, 0.0);
  ExpectValues(SupportAtoms(SqueezedSupport(7)), {-3, -2, -1, 0, 1, 2, 3}, 0.0);
  const at::Tensor atoms = SupportAtoms(SqueezedSupport(101));
  EXPECT_EQ(atoms.numel(), 101);
  EXPECT_EQ(atoms.scalar_type(), at::kFloat);
  EXPECT_EQ(atoms[0].item<float>(), -50.0f);
  EXPECT_EQ(atoms[100].item<float>(), 50.0f);
}

// The two-hot encoding of values -> [..., S], by the gradient of the cross-entropy at
// equal logits: softmax minus encoding, which rounding leaves below 1e-6 where it should be 0.
at::Tensor TwoHot(const at::Tensor& values, const ValueSupport& support) {
  std::vector<int64_t> shape = values.sizes().vec();
  shape.push_back(support.size);
  const at::Tensor logits = torch::zeros(shape).requires_grad_();
  TwoHotCrossEntropy(logits, values, support).sum().backward();
  const at::Tensor encoded = 1.0 / static_cast<double>(support.size) - logits.grad();
  return at::where(encoded < 1e-6, 0.0, encoded);
}

TEST(TwoHot, SplitsBetweenTheTwoNearestAtoms) {
  // h(0.5) = 0.225245 lies between atoms 0 and 1.
  ExpectValues(TwoHot(torch::tensor({0.5f}), SqueezedSupport(5)), {0, 0, 0.774755, 0.225245, 0},
               1e-6);
  // h(-21) = -3.711416 lies between atoms -4 and -3.
  ExpectValues(TwoHot(torch::tensor({-21.0f}), SqueezedSupport(11)),
               {0, 0.711416, 0.288584, 0, 0, 0, 0, 0, 0, 0, 0}, 2e-6);
  // h(1000) = 31.638584: atoms 31 and 32 of -50 .. 50.
  const at::Tensor wide = TwoHot(torch::tensor({1000.0f}), SqueezedSupport(101))[0];
  EXPECT_NEAR(wide[81].item<double>(), 0.361416, 5e-6);
  EXPECT_NEAR(wide[82].item<double>(), 0.638584, 5e-6);
  EXPECT_EQ(torch::count_nonzero(wide).item<int64_t>(), 2);
}

TEST(TwoHot, AtomKeepsAllItsMass) {
  ExpectValues(TwoHot(torch::tensor({0.0f}), SqueezedSupport(5)), {0, 0, 1, 0, 0}, 1e-6);
}

TEST(TwoHot, ClampsToTheAtomsAndTheMaximumKeepsAllItsMass) {
  ExpectValues(TwoHot(torch::tensor({1000.0f, -1000.0f}), SqueezedSupport(5)),
               {0, 0, 0, 0, 1, 1, 0, 0, 0, 0}, 1e-6);
  ExpectValues(TwoHot(torch::tensor({1e30f, -1e30f}), SqueezedSupport(3)), {0, 0, 1, 1, 0, 0},
               1e-6);
}

TEST(TwoHot, HoldsAtEveryFloatAroundTheMaximum) {
  // h(7.952349145) = 2, the last atom of five.
  float value = 7.952349145f;
  for (int i = 0; i < 8; ++i) value = std::nextafter(value, 0.0f);
  for (int i = 0; i < 16; ++i) {
    ExpectValues(TwoHot(torch::tensor({value}), SqueezedSupport(5)), {0, 0, 0, 0, 1}, 2e-6);
    ExpectValues(TwoHot(torch::tensor({-value}), SqueezedSupport(5)), {1, 0, 0, 0, 0}, 2e-6);
    value = std::nextafter(value, 100.0f);
  }
}

TEST(TwoHot, KeepsTheShapeOfItsInputAndSumsToOne) {
  const at::Tensor values = torch::tensor({{0.0f, 3.0f, -2.5f}, {90.0f, -1e5f, 7.0f}});
  const at::Tensor encoded = TwoHot(values, SqueezedSupport(21));
  EXPECT_EQ(encoded.sizes(), at::IntArrayRef({2, 3, 21}));
  EXPECT_TRUE(at::allclose(encoded.sum(-1), torch::ones({2, 3})));
  EXPECT_GE(encoded.min().item<float>(), 0.0f);
}

TEST(TwoHot, OfEvenAtomsSplitsTheValueItself) {
  // Loss, draw and win: a win is all the last atom's.
  ExpectValues(TwoHot(torch::tensor({1.0f, -1.0f, 0.5f, 7.0f}), EvenSupport(-1, 1, 3)),
               {0, 0, 1, 1, 0, 0, 0, 0.5, 0.5, 0, 0, 1}, 1e-6);
  // Atoms 1, 1.5, 2: an end that is not 0 and a step that is not 1.
  ExpectValues(TwoHot(torch::tensor({1.4f, 0.0f}), EvenSupport(1, 2, 3)), {0.2, 0.8, 0, 1, 0, 0},
               1e-6);
}

TEST(DecodeSupport, OfEvenAtomsIsTheirMean) {
  for (const ValueSupport& support : {EvenSupport(1, 2, 3), EvenSupport(-0.5, 0.25, 16)}) {
    const at::Tensor logits = at::randn({6, support.size});
    const at::Tensor values =
        at::softmax(logits.to(at::kDouble), -1)
            .matmul(at::linspace(support.size == 3 ? 1.0 : -0.5, support.size == 3 ? 2.0 : 0.25,
                                 support.size, at::kDouble));
    const at::Tensor decoded = DecodeSupport(logits, SupportAtoms(support), support);
    EXPECT_LT((decoded - values).abs().max().item<double>(), 1e-6);
  }
}

TEST(DecodeSupport, KnownDistributions) {
  const at::Tensor atoms = SupportAtoms(SqueezedSupport(5));
  const float low = -1e4f;
  const at::Tensor logits = torch::tensor({{0.0f, 0.0f, 0.0f, 0.0f, 0.0f},
                                           {low, low, low, low, 0.0f},
                                           {low, low, low, 3.0f, low},
                                           {low, low, 2.0f, low, 2.0f}});
  // h(7.952349145) = 2, h(2.988056702) = 1; the last row has mean (0 + 2) / 2 = 1.
  ExpectValues(DecodeSupport(logits, atoms, SqueezedSupport(5)),
               {0.0, 7.952349, 2.988057, 2.988057}, 5e-6);
}

TEST(DecodeSupport, TwoHotTargetsDecodeToTheirValue) {
  // Label smoothing of 0.1 would decode 200 as 165.
  const std::vector<float> values = {200.0f, -21.0f, 0.5f, 0.0f, -0.01f, 1000.0f, 2364.0f};
  const at::Tensor logits = at::log(TwoHot(torch::tensor(values), SqueezedSupport(101)));
  const std::vector<float> decoded =
      Values(DecodeSupport(logits, SupportAtoms(SqueezedSupport(101)), SqueezedSupport(101)));
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(decoded[i], values[i], 5e-5 * std::max(1.0f, std::abs(values[i])));
  }
}

TEST(DecodeSupport, ClampedValuesDecodeToTheEdge) {
  const at::Tensor logits = at::log(TwoHot(torch::tensor({1e6f, -1e6f}), SqueezedSupport(101)));
  // h(2364.41967) = 50.
  ExpectValues(DecodeSupport(logits, SupportAtoms(SqueezedSupport(101)), SqueezedSupport(101)),
               {2364.41967, -2364.41967}, 0.05);
}

TEST(TwoHotCrossEntropy, NumbersByHand) {
  // Probabilities 1/7, 2/7, 4/7; h(0.5) = 0.22524487 between atoms 0 and 1:
  // -(0.77475513 ln(2/7) + 0.22524487 ln(4/7)) = 1.09663512
  const at::Tensor logits = torch::tensor({0.0f, 0.69314718f, 1.38629436f}).expand({4, 3});
  const at::Tensor values = torch::tensor({0.5f, 0.0f, 50.0f, -50.0f});
  // Atom 0 alone: -ln(2/7); clamped to the maximum: -ln(4/7); to the minimum: -ln(1/7).
  ExpectValues(TwoHotCrossEntropy(logits, values, SqueezedSupport(3)),
               {1.09663512, 1.25276297, 0.55961579, 1.94591015}, 2e-6);
}

TEST(TwoHotCrossEntropy, FiveAtoms) {
  const at::Tensor logits = torch::tensor({{0.3f, -1.2f, 2.0f, 0.5f, -0.7f}}).expand({2, 5});
  // Value 10: the last atom, log-sum-exp(logits) + 0.7. Value -1.5: h = -0.58263883, atom -1 with
  // 0.58263883 and atom 0 with 0.41736117.
  ExpectValues(TwoHotCrossEntropy(logits, torch::tensor({10.0f, -1.5f}), SqueezedSupport(5)),
               {3.11461076, 2.27905502}, 3e-6);
}

TEST(TwoHotCrossEntropy, UniformLogitsCostLogOfTheAtoms) {
  const at::Tensor values = torch::tensor({{0.0f, 3.3f}, {-7.0f, 1e5f}});
  const at::Tensor losses =
      TwoHotCrossEntropy(torch::zeros({2, 2, 101}), values, SqueezedSupport(101));
  EXPECT_EQ(losses.sizes(), values.sizes());
  ExpectValues(losses, std::vector<double>(4, std::log(101.0)), 2e-6);
}

TEST(TwoHotCrossEntropy, GradientIsSoftmaxMinusTarget) {
  at::Tensor logits = torch::tensor({{0.0f, 0.69314718f, 1.38629436f}}).requires_grad_();
  TwoHotCrossEntropy(logits, torch::tensor({0.5f}), SqueezedSupport(3)).sum().backward();
  ExpectValues(logits.grad(), {1.0 / 7, 2.0 / 7 - 0.77475513, 4.0 / 7 - 0.22524487}, 1e-6);
}

TEST(TwoHotCrossEntropy, NotANumberGivesALossThatIsNotANumber) {
  // The learner stops on such a loss with the batch in hand; it must not die on the way there.
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> losses = Values(
      TwoHotCrossEntropy(torch::zeros({2, 5}), torch::tensor({nan, 0.0f}), SqueezedSupport(5)));
  EXPECT_TRUE(std::isnan(losses[0]));
  EXPECT_NEAR(losses[1], std::log(5.0), 1e-6);
}

// As a forward pass in bfloat16 gives them: the values keep their digits.
TEST(DecodeSupport, LogitsOfBfloat16BecomeValuesOfFloat32) {
  const at::Tensor logits = at::randn({5, 21}).to(at::kBFloat16),
                   atoms = SupportAtoms(SqueezedSupport(21));
  const at::Tensor values = DecodeSupport(logits, atoms, SqueezedSupport(21));
  EXPECT_EQ(values.scalar_type(), at::kFloat);
  const at::Tensor expected =
      DecodeSupport(logits.to(at::kDouble), atoms.to(at::kDouble), SqueezedSupport(21));
  EXPECT_LT((values - expected).abs().max().item<double>(), 1e-3);
}

}  // namespace
}  // namespace lzero::support_test
