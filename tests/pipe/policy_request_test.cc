#include "lzero/pipe/policy_request.h"

#include <limits>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::policy_request_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Observations of 2 numbers, 3 actions, 4 episodes, 2 players.
constexpr PolicyShape kShape = {4, 2, 3, 0, 2};
constexpr PolicyShape kBox = {4, 2, 0, 2, 1};

template <typename T>
std::string Bytes(std::vector<T> values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

// Two episodes, 3 and 1, without what flags announce.
std::string Plain() {
  return Bytes<uint32_t>({2}) + Bytes<int32_t>({3, 1}) + Bytes<int32_t>({0, 1}) +
         Bytes<float>({1, 2, 3, 4});
}

absl::StatusOr<PolicyRequest> Read(const std::string& body, uint8_t flags = 0,
                                   const PolicyShape& shape = kShape,
                                   FrameType type = FrameType::kAct) {
  return ReadPolicyRequest({type, flags, body}, shape);
}

std::string ErrorOf(const std::string& body, uint8_t flags = 0, const PolicyShape& shape = kShape) {
  const auto request = Read(body, flags, shape);
  EXPECT_TRUE(absl::IsInvalidArgument(request.status())) << request.status();
  return std::string(request.status().message());
}

TEST(PolicyRequestTest, RowsFollowTheEpisodes) {
  const auto request = Read(Plain());
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_THAT(request->ids, ElementsAre(3, 1));
  EXPECT_THAT(request->to_play, ElementsAre(0, 1));
  EXPECT_THAT(request->ObservationOf(1), ElementsAre(3.0f, 4.0f));
  EXPECT_THAT(request->LegalOf(0), ElementsAre(1, 1, 1));  // no masks: every action
  EXPECT_TRUE(request->played.empty());
  EXPECT_TRUE(request->states.empty());
}

TEST(PolicyRequestTest, FlagsAnnounceWhatWasPlayedMasksAndStatesInThisOrder) {
  const std::string body = Plain() + Bytes<int32_t>({2, 0}) + Bytes<uint8_t>({0, 7, 0, 1, 0, 1}) +
                           Bytes<uint32_t>({3}) + "abc" + Bytes<uint32_t>({0});
  const auto request = Read(body, kHasPlayed | kHasLegal | kHasStates | kObserveOnly);
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_THAT(request->played, ElementsAre(2, 0));
  EXPECT_THAT(request->LegalOf(0), ElementsAre(0, 1, 0));
  EXPECT_THAT(request->LegalOf(1), ElementsAre(1, 0, 1));
  EXPECT_THAT(request->states, ElementsAre("abc", ""));
}

TEST(PolicyRequestTest, ABoxHasNoMasksAndItsActionsAreNumbers) {
  const std::string row = Bytes<uint32_t>({1}) + Bytes<int32_t>({0, 0}) + Bytes<float>({1, 2});
  const auto request = Read(row + Bytes<float>({0.5f, -3.0f}), kHasPlayed, kBox);
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_THAT(request->PlayedValuesOf(0), ElementsAre(0.5f, -3.0f));
  EXPECT_TRUE(absl::IsDataLoss(Read(row, kHasLegal, kBox).status()));
}

TEST(PolicyRequestTest, ABodyThatIsTooShortOrTooLongIsMalformed) {
  const std::string body = Plain();
  for (size_t size = 0; size < body.size(); ++size) {
    EXPECT_TRUE(absl::IsDataLoss(Read(body.substr(0, size)).status())) << size;
  }
  EXPECT_TRUE(absl::IsDataLoss(Read(body + "x").status()));
  EXPECT_TRUE(absl::IsDataLoss(Read(body, kHasPlayed).status()));
  EXPECT_TRUE(absl::IsDataLoss(Read(body + Bytes<uint32_t>({1u << 31}), kHasStates).status()));
  EXPECT_TRUE(absl::IsDataLoss(Read(body, kAlone).status()));  // a flag of kSearch
  EXPECT_TRUE(absl::IsDataLoss(Read(body, 128).status()));
}

TEST(PolicyRequestTest, ANumberOfEpisodesIsCheckedBeforeAnythingIsRead) {
  EXPECT_EQ(ErrorOf(Bytes<uint32_t>({0})), "0 episodes; allowed: 1 .. 4");
  EXPECT_EQ(ErrorOf(Bytes<uint32_t>({0xffffffff})), "4294967295 episodes; allowed: 1 .. 4");
  EXPECT_EQ(Read(Plain(), 0, kShape, FrameType::kSearch).status().message(),
            "2 episodes; allowed: 1 .. 1");
}

TEST(PolicyRequestTest, NumbersThatAreNotAllowedAreTold) {
  const auto replaced = [](size_t at, const std::string& bytes) {
    return Plain().replace(at, bytes.size(), bytes);
  };
  EXPECT_EQ(ErrorOf(replaced(4, Bytes<int32_t>({4}))),
            "episode 4; allowed: 0 .. 3 (--max-batch 4)");
  EXPECT_THAT(ErrorOf(replaced(4, Bytes<int32_t>({-1}))), HasSubstr("episode -1; allowed"));
  EXPECT_EQ(ErrorOf(replaced(4, Bytes<int32_t>({1}))), "episode 1 is given twice");
  EXPECT_EQ(ErrorOf(replaced(12, Bytes<int32_t>({2}))), "player 2; allowed: 0 .. 1");
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(ErrorOf(replaced(20, Bytes<float>({kNan}))),
            "observations must be finite numbers; got nan");
  EXPECT_EQ(ErrorOf(Plain() + Bytes<int32_t>({3, 0}), kHasPlayed),
            "action 3 was played; allowed: 0 .. 2");
  EXPECT_EQ(ErrorOf(Plain() + Bytes<uint8_t>({1, 0, 0, 0, 0, 0}), kHasLegal),
            "episode 1 has no legal action");
}

TEST(ResetRequestTest, NamesEpisodesOrNone) {
  const auto read = [](const std::string& body, uint8_t flags = 0) {
    return ReadResetRequest({FrameType::kPolicyReset, flags, body}, kShape);
  };
  EXPECT_THAT(*read(""), ElementsAre());
  EXPECT_THAT(*read(Bytes<int32_t>({2, 0})), ElementsAre(2, 0));
  EXPECT_TRUE(absl::IsDataLoss(read("abcde").status()));
  EXPECT_TRUE(absl::IsDataLoss(read("", 1).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(read(Bytes<int32_t>({4})).status()));
}

}  // namespace
}  // namespace lzero::policy_request_test
