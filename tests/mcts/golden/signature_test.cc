#include "lzero/mcts/golden/signature.h"

#include "gtest/gtest.h"

namespace lzero::signature_test {
namespace {

// A commit that changes this number changes what the search does, and says so.
TEST(SignatureTest, IsPinned) { EXPECT_EQ(SearchSignature(), 0x45ff73fc704cd4e0u); }

}  // namespace
}  // namespace lzero::signature_test
