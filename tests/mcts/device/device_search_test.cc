// What DeviceSearch does beside searching; that it finds what Search finds is tested in
// device_search_equality_test.cc.
#include "lzero/mcts/device/device_search.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/mcts/search_testing.h"
#include "tests/support/plain_functions.h"

namespace lzero::device_search_test {
namespace {

using testing::HasSubstr;

TEST(DeviceSearchTest, RefusesSettingsAndSizesInWords) {
  SearchConfig config;
  EXPECT_TRUE(
      absl::IsInvalidArgument(DeviceSearch::Create(config, 0, 1, PlainFunctions()).status()));
  EXPECT_TRUE(
      absl::IsInvalidArgument(DeviceSearch::Create(config, 2, 0, PlainFunctions()).status()));
  config.num_simulations = 100000;
  const auto large = DeviceSearch::Create(config, 362, 1000, PlainFunctions());
  EXPECT_TRUE(absl::IsResourceExhausted(large.status()));
  EXPECT_THAT(std::string(large.status().message()), HasSubstr("GiB on the device: out of memory"));
  DeviceFunctions full = PlainFunctions();
  full.create = [](auto...) { return 2; };
  config.num_simulations = 50;
  EXPECT_THAT(std::string(DeviceSearch::Create(config, 6, 100, full).status().message()),
              HasSubstr("need 964.9 KiB on the device: "));
  config.num_simulations = 0;
  const auto none = DeviceSearch::Create(config, 2, 1, PlainFunctions());
  EXPECT_THAT(std::string(none.status().message()),
              HasSubstr("search.num_simulations: out of range; got '0'"));
  EXPECT_EQ(NumPlainMemories(), 0);
}

TEST(DeviceSearchTest, ModelsThatItCannotAskAreRefused) {
  EXPECT_TRUE(CheckDeviceCanSearch(HashModel({.num_actions = 2})).ok());
  EXPECT_EQ(CheckDeviceCanSearch(HashModel({.num_actions = 2, .num_chance_outcomes = 3})),
            absl::UnimplementedError("a search that runs inside the memory of a device knows no "
                                     "chance nodes; take a runner that searches on the host"));
}

TEST(DeviceSearchTest, ChecksTheRootsOfEachSearch) {
  const auto search = DeviceSearch::Create({}, 2, 1, PlainFunctions());
  ASSERT_TRUE(search.ok()) << search.status();
  EXPECT_EQ(NumPlainMemories(), 1);
  RootBatch two(2, 2);
  EXPECT_TRUE(absl::IsInvalidArgument((*search)->Prepare(two.roots(), {})));
  RootBatch one(1, 2);
  EXPECT_TRUE((*search)->Prepare(one.roots(), {}).ok());
  one.mask(0) = {0, 0};
  EXPECT_TRUE(absl::IsInvalidArgument((*search)->Prepare(one.roots(), {})));
}

TEST(DeviceSearchTest, GivesItsMemoryBack) {
  for (int i = 0; i < 3; ++i) {
    const auto search = DeviceSearch::Create({}, 2, 1, PlainFunctions());
    EXPECT_EQ(NumPlainMemories(), 1);
  }
  EXPECT_EQ(NumPlainMemories(), 0);
}

int Fail(const DeviceMemory*, DeviceStream) { return 7; }

TEST(DeviceSearchTest, AFailedLaunchIsAnErrorInTheWordsOfTheDevice) {
  DeviceFunctions failing = PlainFunctions();
  failing.upload = failing.download = Fail;
  const auto search = DeviceSearch::Create({}, 2, 1, failing);
  ASSERT_TRUE(search.ok()) << search.status();
  EXPECT_TRUE(absl::IsInternal((*search)->Download(nullptr)));
  const absl::Status status = (*search)->Upload(nullptr);
  EXPECT_EQ(std::string(status.message()), "the device search cannot copy its inputs in: unknown");
}

TEST(DeviceSearchDeathTest, MoreRowsThanRootsAreABug) {
  const auto search = DeviceSearch::Create({}, 2, 1, PlainFunctions());
  EXPECT_DEATH((void)(*search)->Finish(2, nullptr), "2 rows, at most 1");
}

}  // namespace
}  // namespace lzero::device_search_test
