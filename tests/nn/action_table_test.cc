#include "lzero/nn/action_table.h"

#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"

namespace lzero::action_table_test {
namespace {

TEST(ActionTable, DiscreteActionsAreRows) {
  const at::Tensor table = MakeActionTable(5, 0, 3, 0.02);
  EXPECT_EQ(table.sizes(), at::IntArrayRef({5, 3}));
  EXPECT_LT(table.abs().max().item<float>(), 0.2f);
  const at::Tensor rows = EmbedActions(table, 0, torch::tensor({{4, 0}}));
  EXPECT_TRUE(at::equal(rows, torch::stack({table[4], table[0]}).unsqueeze(0)));
}

TEST(ActionTable, BoxActionsAreALinearMap) {
  const at::Tensor table = torch::tensor({{1.0f, 2.0f}, {10.0f, 20.0f}, {100.0f, 200.0f}});
  const at::Tensor embedded = EmbedActions(table, 2, torch::tensor({{0.5f, -1.0f}}));
  // 0.5 (1, 2) - (10, 20) + (100, 200)
  EXPECT_TRUE(at::allclose(embedded, torch::tensor({{90.5f, 181.0f}})));
  EXPECT_EQ(MakeActionTable(0, 2, 7, 0.02).sizes(), at::IntArrayRef({3, 7}));
}

}  // namespace
}  // namespace lzero::action_table_test
