#include "lzero/train/model_family.h"

#include "gtest/gtest.h"
#include "lzero/inference/root_runner.h"
#include "lzero/inference/unizero_inference.h"
#include "lzero/tensor/torch.h"
#include "lzero/train/unizero_family.h"
#include "tests/train/train_testing.h"

namespace lzero {
namespace {

TEST(ModelFamily, EveryChoiceOfTheConfigHasOne) {
  ModelConfig config;
  EXPECT_NE(dynamic_cast<const UniZeroFamily*>(&FamilyOf(config)), nullptr);
}

}  // namespace
}  // namespace lzero
