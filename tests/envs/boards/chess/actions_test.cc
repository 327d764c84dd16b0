#include "envs/boards/chess/actions.h"

#include <map>

#include "tests/envs/boards/chess/chess_testing.h"

namespace lzero::chess::actions_test {
namespace {

// Every move of queen and knight by its step, then what pawns become.
TEST(ChessActionsTest, EveryMoveHasItsNumber) {
  int next = 0;
  for (uint8_t from = 0; from < 64; ++from) {
    for (uint8_t to = 0; to < 64; ++to) {
      const int up = std::abs(to / 8 - from / 8), right = std::abs(to % 8 - from % 8);
      if (from == to || (up * right != 0 && up != right && up * right != 2)) continue;
      ASSERT_EQ(ActionOf({from, to}, kWhite), next) << int{from} << " " << int{to};
      ++next;
    }
  }
  EXPECT_EQ(next, 1792);
  for (int file = 0; file < 8; ++file) {
    for (int to = std::max(0, file - 1); to <= std::min(7, file + 1); ++to) {
      for (const Kind kind : {kKnight, kBishop, kRook}) {
        const Move move = {static_cast<uint8_t>(48 + file), static_cast<uint8_t>(56 + to), kind};
        ASSERT_EQ(ActionOf(move, kWhite), next++) << MoveText(move);
      }
    }
  }
  EXPECT_EQ(next, kNumActions);
  EXPECT_EQ(kNumActions, 1858);
}

TEST(ChessActionsTest, BlackSeesTheBoardTurned) {
  EXPECT_EQ(ActionOf(MoveOf("e7e5"), kBlack), ActionOf(MoveOf("e2e4"), kWhite));
  EXPECT_EQ(ActionOf(MoveOf("e8g8"), kBlack), ActionOf(MoveOf("e1g1"), kWhite));
  EXPECT_EQ(ActionOf(MoveOf("a2b1r"), kBlack), ActionOf(MoveOf("a7b8r"), kWhite));
}

// What moves alike has one kind, wherever it begins.
TEST(ChessActionsTest, ActionsStandOnTheSquareTheyLeave) {
  const std::vector<int32_t> places = ActionPlaces();
  ASSERT_EQ(places.size(), static_cast<size_t>(kNumActions));
  const auto place_of = [&](const char* text) { return places[ActionOf(MoveOf(text), kWhite)]; };
  EXPECT_EQ(place_of("a1a2"), 0 * 64 + 0);
  EXPECT_EQ(place_of("e2e4"), 1 * 64 + 12);
  EXPECT_EQ(place_of("a1h8"), 13 * 64 + 0);
  EXPECT_EQ(place_of("a1b1"), 14 * 64 + 0);
  EXPECT_EQ(place_of("h8g8"), 42 * 64 + 63);
  EXPECT_EQ(place_of("h1a8"), 55 * 64 + 7);
  EXPECT_EQ(place_of("b1c3"), 56 * 64 + 1);
  EXPECT_EQ(place_of("g1f3"), 63 * 64 + 6);
  EXPECT_EQ(place_of("b7a8n"), 64 * 64 + 49);
  EXPECT_EQ(place_of("b7c8r"), 72 * 64 + 49);
  std::map<int32_t, std::pair<int, int>> steps;  // of each kind
  for (uint8_t from = 0; from < 64; ++from) {
    for (uint8_t to = 0; to < 64; ++to) {
      const std::pair<int, int> step = {to / 8 - from / 8, to % 8 - from % 8};
      const int up = std::abs(step.first), right = std::abs(step.second);
      if (from == to || (up * right != 0 && up != right && up * right != 2)) continue;
      const int32_t place = places[ActionOf({from, to}, kWhite)];
      ASSERT_EQ(place % 64, from);
      ASSERT_LT(place / 64, 64);
      ASSERT_EQ(steps.try_emplace(place / 64, step).first->second, step);
    }
  }
  EXPECT_EQ(steps.size(), 64u);
  std::vector<int32_t> sorted = places;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(std::unique(sorted.begin(), sorted.end()), sorted.end());
  EXPECT_EQ(sorted.back() / 64, 72);
}

TEST(ChessActionsTest, AQueenIsThePlainMove) {
  EXPECT_EQ(ActionOf(MoveOf("b7b8q"), kWhite), ActionOf(MoveOf("b7b8"), kWhite));
}

TEST(ChessActionsTest, NamesAreThoseOfTheProtocol) {
  for (const char* text : {"e2e4", "e1c1", "e7e8n", "e7e8b", "e7e8r", "e7e8q", "h2g1q"}) {
    EXPECT_EQ(MoveText(MoveOf(text)), text);
  }
  // Those that `lzero envs info chess` shows.
  EXPECT_EQ(ActionOf(MoveOf("a1b1"), kWhite), 0);
  EXPECT_EQ(ActionOf(MoveOf("h8g8"), kWhite), 1791);
  EXPECT_EQ(ActionOf(MoveOf("a7a8n"), kWhite), 1792);
  EXPECT_EQ(ActionOf(MoveOf("h7h8r"), kWhite), 1857);
}

}  // namespace
}  // namespace lzero::chess::actions_test
