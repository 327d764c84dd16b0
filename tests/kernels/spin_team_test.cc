#include "lzero/kernels/spin_team.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace lzero::spin_team_test {
namespace {

class SpinTeamTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(NumMembers, SpinTeamTest, testing::Values(1, 2, 3, 5));

// Members that share a core hand it over by going to sleep.
int ManyTimes(int num_members) { return num_members <= 2 ? 3000 : 60; }

// Long enough for waiting members to go to sleep.
void LetMembersSleep() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

TEST_P(SpinTeamTest, CallsEachMemberOnce) {
  SpinTeam team(GetParam());
  EXPECT_EQ(team.num_members(), GetParam());
  std::vector<int> calls(static_cast<size_t>(GetParam()));  // unguarded: each belongs to a member
  team.Run(GetParam(), [&](int member) { ++calls[static_cast<size_t>(member)]; });
  EXPECT_EQ(calls, std::vector<int>(calls.size(), 1));
}

TEST_P(SpinTeamTest, PartsThatMeetHaveThreadsOfTheirOwnAndTheFirstIsTheCallers) {
  SpinTeam team(GetParam());
  std::vector<std::thread::id> threads(static_cast<size_t>(GetParam()));
  for (int call = 0; call < 20; ++call) {
    team.Run(GetParam(), [&](int part) {
      threads[static_cast<size_t>(part)] = std::this_thread::get_id();
      team.Barrier();
    });
    EXPECT_EQ(threads[0], std::this_thread::get_id());
    EXPECT_EQ(std::set<std::thread::id>(threads.begin(), threads.end()).size(), threads.size());
  }
}

// A member that is held up, as by another program on its core, holds up its own part alone.
TEST(SpinTeamLateTest, TheCallerTakesThePartsOfMembersThatDoNotCome) {
  SpinTeam team(2);
  std::atomic<bool> is_held = false, go = false;
  std::vector<std::thread::id> threads(6);
  std::thread::id held;
  team.Run(6, [&](int part) {
    threads[static_cast<size_t>(part)] = std::this_thread::get_id();
    if (part == 0) {
      while (!is_held) std::this_thread::yield();  // the other member has taken a part
      return;
    }
    if (threads[static_cast<size_t>(part)] == threads[0]) {
      go = part == 5;
      return;
    }
    if (!is_held.exchange(true)) {
      held = std::this_thread::get_id();
      while (!go) std::this_thread::yield();
    }
  });
  EXPECT_EQ(threads[1], held);
  for (const size_t part : {0, 2, 3, 4, 5}) EXPECT_EQ(threads[part], std::this_thread::get_id());
}

TEST_P(SpinTeamTest, DoesMoreAndFewerPartsThanThereAreMembers) {
  SpinTeam team(GetParam());
  for (const int num_parts : {1, 2, 7, 100, SpinTeam::kMostParts}) {
    std::vector<int> calls(static_cast<size_t>(num_parts));
    team.Run(num_parts, [&](int part) { ++calls[static_cast<size_t>(part)]; });
    EXPECT_EQ(calls, std::vector<int>(calls.size(), 1));
  }
}

// The other's part ends ten times as late as the caller's; or before it, so that none is waited
// for.
TEST(SpinTeamGainTest, TellsWhatACallSavedOrLost) {
  using Clock = std::chrono::steady_clock;
  SpinTeam team(2);
  for (const bool is_late : {true, false}) {
    const Clock::time_point called = Clock::now();
    std::atomic<bool> has_begun{false}, has_ended{false}, is_caller_done{false};
    const int64_t saved = team.Run(2, [&](int part) {
      if (part == 1) {
        has_begun = true;
        while (is_late && !is_caller_done) std::this_thread::yield();
        if (is_late) std::this_thread::sleep_for(10 * (Clock::now() - called));
        has_ended = true;
        return;
      }
      while (is_late ? !has_begun : !has_ended) std::this_thread::yield();
      if (!is_late) std::this_thread::sleep_for(std::chrono::milliseconds(100));
      is_caller_done = true;
    });
    EXPECT_EQ(saved < 0, is_late) << saved;
  }
}

// Plain memory is passed to the members and back: the thread sanitizer sees whether that is
// ordered.
TEST_P(SpinTeamTest, HandsMemoryOverInManyCalls) {
  SpinTeam team(GetParam());
  const auto num_members = static_cast<size_t>(GetParam());
  std::vector<int64_t> results(num_members);
  for (int64_t call = 0; call < ManyTimes(GetParam()); ++call) {
    int64_t input = 7 * call;
    team.Run(GetParam(),
             [&](int member) { results[static_cast<size_t>(member)] = input + member; });
    for (size_t i = 0; i < num_members; ++i) {
      ASSERT_EQ(results[i], 7 * call + static_cast<int64_t>(i)) << "call " << call;
    }
  }
}

TEST_P(SpinTeamTest, ReturnsWhenTheSlowestHasReturned) {
  SpinTeam team(GetParam());
  for (int slow = 0; slow < GetParam(); ++slow) {
    std::vector<int> ended(static_cast<size_t>(GetParam()));
    team.Run(GetParam(), [&](int member) {
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
    team.Run(GetParam(), [&](int member) {
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
  team.Run(GetParam(), [&](int member) {
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
    team.Run(GetParam(), [&](int member) {
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

// How many other threads of this process run or could run.
int OthersAwake() {
  int num_awake = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == std::to_string(gettid())) continue;
    std::ifstream file(task.path() / "stat");
    std::string stat((std::istreambuf_iterator<char>(file)), {});  // "ID (NAME) STATE ..."
    num_awake += stat.substr(stat.rfind(')') + 2, 1) == "R" ? 1 : 0;
  }
  return num_awake;
}

TEST_P(SpinTeamTest, MembersThatWaitSleep) {
  SpinTeam team(GetParam());
  team.Run(GetParam(), [](int) {});
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (OthersAwake() > 0 && std::chrono::steady_clock::now() < end) LetMembersSleep();
  EXPECT_EQ(OthersAwake(), 0);
}

TEST_P(SpinTeamTest, WakesMembersThatSlept) {
  SpinTeam team(GetParam());
  std::atomic<int> num_calls = 0;
  for (int i = 0; i < 10; ++i) {
    LetMembersSleep();
    team.Run(GetParam(), [&](int) { ++num_calls; });
    team.Run(GetParam(), [&](int) { ++num_calls; });  // at once: they do not sleep yet
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
    awake.Run(GetParam(), [&](int) { ++num_calls; });
  }
  {
    SpinTeam used(GetParam());
    used.Run(GetParam(), [&](int) { ++num_calls; });
    LetMembersSleep();
  }
  EXPECT_EQ(num_calls, 21 * GetParam());
}

TEST_P(SpinTeamTest, TeamsDoNotDisturbEachOther) {
  SpinTeam first(GetParam()), second(2);
  std::atomic<int> num_first = 0, num_second = 0;
  for (int i = 0; i < 20; ++i) {
    first.Run(GetParam(), [&](int) {
      ++num_first;
      first.Barrier();
    });
    second.Run(2, [&](int) {
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
  team.Run(1, [&](int member) {
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
