#include "lzero/kernels/spin_team.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

namespace lzero::spin_team_test {
namespace {

class SpinTeamTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(NumMembers, SpinTeamTest, testing::Values(1, 2, 3, 5));

// Members that share a core hand it over by yielding, which may cost a time slice each time.
int ManyTimes(int num_members) { return num_members <= 2 ? 3000 : 60; }

// Long enough for waiting members to go to sleep.
void LetMembersSleep() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

TEST_P(SpinTeamTest, CallsEachMemberOnce) {
  SpinTeam team(GetParam());
  EXPECT_EQ(team.num_members(), GetParam());
  std::vector<int> calls(static_cast<size_t>(GetParam()));  // unguarded: each belongs to a member
  team.Run([&](int member) { ++calls[static_cast<size_t>(member)]; });
  EXPECT_EQ(calls, std::vector<int>(calls.size(), 1));
}

TEST_P(SpinTeamTest, RunsMembersOnThreadsOfTheirOwnAndTheFirstOnTheCaller) {
  SpinTeam team(GetParam());
  std::vector<std::thread::id> first(static_cast<size_t>(GetParam())), second = first;
  team.Run([&](int member) { first[static_cast<size_t>(member)] = std::this_thread::get_id(); });
  team.Run([&](int member) { second[static_cast<size_t>(member)] = std::this_thread::get_id(); });
  EXPECT_EQ(first[0], std::this_thread::get_id());
  EXPECT_EQ(std::set<std::thread::id>(first.begin(), first.end()).size(), first.size());
  EXPECT_EQ(first, second) << "members keep their threads";
}

// Plain memory is passed to the members and back: the thread sanitizer sees whether that is
// ordered.
TEST_P(SpinTeamTest, HandsMemoryOverInManyCalls) {
  SpinTeam team(GetParam());
  const auto num_members = static_cast<size_t>(GetParam());
  std::vector<int64_t> results(num_members);
  for (int64_t call = 0; call < ManyTimes(GetParam()); ++call) {
    int64_t input = 7 * call;
    team.Run([&](int member) { results[static_cast<size_t>(member)] = input + member; });
    for (size_t i = 0; i < num_members; ++i) {
      ASSERT_EQ(results[i], 7 * call + static_cast<int64_t>(i)) << "call " << call;
    }
  }
}

TEST_P(SpinTeamTest, ReturnsWhenTheSlowestHasReturned) {
  SpinTeam team(GetParam());
  for (int slow = 0; slow < GetParam(); ++slow) {
    std::vector<int> ended(static_cast<size_t>(GetParam()));
    team.Run([&](int member) {
      if (member == slow) LetMembersSleep();
      ended[static_cast<size_t>(member)] = 1;
    });
    EXPECT_EQ(ended, std::vector<int>(ended.size(), 1)) << slow << " is slow";
  }
}

// Each member writes its phase, and behind the barrier reads that of all others; a second barrier
// keeps the next phase from being written before. Numbers are plain memory.
TEST_P(SpinTeamTest, BarriersOrderPhases) {
  SpinTeam team(GetParam());
  const auto num_members = static_cast<size_t>(GetParam());
  std::vector<int> phases(num_members, -1);
  std::atomic<int> num_wrong = 0;
  const int num_calls = 5, num_phases = ManyTimes(GetParam()) / 15;
  for (int call = 0; call < num_calls; ++call) {
    team.Run([&](int member) {
      for (int i = 0; i < num_phases; ++i) {
        const int phase = call * num_phases + i;
        phases[static_cast<size_t>(member)] = phase;
        team.Barrier();
        for (const int other : phases) num_wrong += other != phase;
        team.Barrier();
      }
    });
  }
  EXPECT_EQ(num_wrong, 0);
  EXPECT_EQ(phases, std::vector<int>(num_members, num_calls * num_phases - 1));
}

// A chain through all members: each takes what its neighbour wrote in the phase before.
TEST_P(SpinTeamTest, BarriersHandMemoryFromMemberToMember) {
  SpinTeam team(GetParam());
  const int num_members = GetParam();
  std::vector<int64_t> even(static_cast<size_t>(num_members)), odd = even;
  const int num_phases = ManyTimes(GetParam()) / 3;  // even
  team.Run([&](int member) {
    for (int i = 0; i < num_phases; ++i) {
      const std::vector<int64_t>& from = i % 2 == 0 ? even : odd;
      std::vector<int64_t>& to = i % 2 == 0 ? odd : even;
      to[static_cast<size_t>(member)] = from[static_cast<size_t>((member + 1) % num_members)] + 1;
      team.Barrier();
    }
  });
  EXPECT_EQ(even, std::vector<int64_t>(even.size(), num_phases));
}

TEST_P(SpinTeamTest, WaitsAtABarrierForALateMember) {
  SpinTeam team(GetParam());
  for (int late = 0; late < GetParam(); ++late) {
    int written = 0;
    std::atomic<int> num_seen = 0;
    team.Run([&](int member) {
      if (member == late) {
        LetMembersSleep();
        written = 1;
      }
      team.Barrier();
      num_seen += written;
    });
    EXPECT_EQ(num_seen, GetParam()) << late << " is late";
  }
}

TEST_P(SpinTeamTest, WakesMembersThatSlept) {
  SpinTeam team(GetParam());
  std::atomic<int> num_calls = 0;
  for (int i = 0; i < 10; ++i) {
    LetMembersSleep();
    team.Run([&](int) { ++num_calls; });
    team.Run([&](int) { ++num_calls; });  // at once: they do not sleep yet
  }
  EXPECT_EQ(num_calls, 20 * GetParam());
}

TEST_P(SpinTeamTest, EndsUnusedAwakeAndAsleep) {
  { const SpinTeam unused(GetParam()); }
  {
    const SpinTeam asleep(GetParam());
    LetMembersSleep();
  }
  std::atomic<int> num_calls = 0;
  for (int i = 0; i < 20; ++i) {
    SpinTeam awake(GetParam());
    awake.Run([&](int) { ++num_calls; });
  }
  {
    SpinTeam used(GetParam());
    used.Run([&](int) { ++num_calls; });
    LetMembersSleep();
  }
  EXPECT_EQ(num_calls, 21 * GetParam());
}

TEST_P(SpinTeamTest, TeamsDoNotDisturbEachOther) {
  SpinTeam first(GetParam()), second(2);
  std::atomic<int> num_first = 0, num_second = 0;
  for (int i = 0; i < 20; ++i) {
    first.Run([&](int) {
      ++num_first;
      first.Barrier();
    });
    second.Run([&](int) {
      ++num_second;
      second.Barrier();
    });
  }
  EXPECT_EQ(num_first, 20 * GetParam());
  EXPECT_EQ(num_second, 40);
}

TEST(SpinTeamSingleTest, ATeamOfOneIsACall) {
  SpinTeam team(1);
  int calls = 0;
  team.Run([&](int member) {
    EXPECT_EQ(member, 0);
    team.Barrier();
    team.Barrier();
    ++calls;
  });
  EXPECT_EQ(calls, 1);
}

TEST(SpinTeamDeathTest, NeedsAMember) {
  EXPECT_DEATH(SpinTeam(0), "a team of 0");
  EXPECT_DEATH(SpinTeam(-2), "a team of -2");
}

}  // namespace
}  // namespace lzero::spin_team_test
