#include "lzero/env/python/worker_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "absl/strings/str_cat.h"

namespace lzero::worker_memory_test {
namespace {

// The other side of the memory, mapped from its descriptor as a worker does, found by the layout
// that it is told.
class Worker {
 public:
  explicit Worker(const WorkerMemory& memory) : layout_(memory.layout()) {
    bytes_ =
        static_cast<uint8_t*>(mmap(nullptr, static_cast<size_t>(layout_.num_bytes),
                                   PROT_READ | PROT_WRITE, MAP_SHARED, memory.descriptor(), 0));
  }
  ~Worker() { munmap(bytes_, static_cast<size_t>(layout_.num_bytes)); }

  uint64_t* header() { return reinterpret_cast<uint64_t*>(bytes_); }
  uint64_t request() { return header()[2]; }
  void Answer() { header()[3] = request(); }

  // Field `name` of the buffer of the last request.
  template <typename T>
  T* At(const std::string& name, uint64_t request) {
    for (const WorkerField& field : layout_.fields) {
      if (field.name != name) continue;
      return reinterpret_cast<T*>(bytes_ + layout_.buffer_starts[request & 1] + field.offset);
    }
    return nullptr;
  }
  template <typename T>
  T* At(const std::string& name) {
    return At<T>(name, request());
  }

  // A sound answer of one slot.
  void AnswerStep(int slot, double reward, uint32_t flags, uint32_t num_frames = 1) {
    At<double>("rewards")[slot] = reward;
    At<uint32_t>("flags")[slot] = flags;
    At<int32_t>("lives")[slot] = 0;
    At<uint32_t>("num_frames")[slot] = num_frames;
  }

 private:
  const WorkerLayout layout_;
  uint8_t* bytes_;
};

WorkerSizes Sizes(int num_slots, int64_t frame_bytes = 12) {
  WorkerSizes sizes;
  sizes.num_slots = num_slots;
  sizes.frame_bytes = frame_bytes;
  return sizes;
}

std::unique_ptr<WorkerMemory> Memory(const WorkerSizes& sizes) {
  return *WorkerMemory::Create(sizes);
}

void AskAction(WorkerMemory& memory, int slot, int32_t action) {
  memory.AskStep(slot, std::vector<int32_t>{action});
}

TEST(WorkerLayoutTest, HoldsEveryFieldAtItsSize) {
  WorkerSizes sizes;
  sizes.num_slots = 5;
  sizes.num_frames = 2;
  sizes.max_repeat = 30;
  sizes.frame_bytes = 1000;
  sizes.action_size = 3;
  sizes.mask_size = 18;
  const WorkerLayout layout = WorkerLayout::Of(sizes);
  const std::map<std::string, int64_t> expected = {
      {"count", 4},       {"slots", 20},   {"ops", 20},
      {"seeds", 40},      {"repeats", 20}, {"actions", 5 * 30 * 3 * 4},
      {"rewards", 40},    {"flags", 20},   {"lives", 20},
      {"num_frames", 20}, {"masks", 90},   {"observations", 5 * 2 * 1000}};
  ASSERT_EQ(layout.fields.size(), expected.size());
  for (const WorkerField& field : layout.fields) {
    ASSERT_TRUE(expected.contains(field.name)) << field.name;
    EXPECT_EQ(field.num_bytes, expected.at(field.name)) << field.name;
  }
  sizes.action_size = 0;  // one index for each action
  for (const WorkerField& field : WorkerLayout::Of(sizes).fields) {
    if (field.name == "actions") {
      EXPECT_EQ(field.num_bytes, 5 * 30 * 4);
    }
  }
}

// Over odd sizes: nothing overlaps, everything is aligned for its numbers and lies inside.
TEST(WorkerLayoutTest, OverlapsNowhere) {
  for (const int slots : {1, 2, 3, 7, 64}) {
    for (const int64_t frame_bytes : {1, 3, 4, 63, 64, 65, 100800}) {
      for (const int mask : {0, 1, 18}) {
        WorkerSizes sizes = Sizes(slots, frame_bytes);
        sizes.num_frames = 1 + slots % 2;
        sizes.max_repeat = 1 + mask;
        sizes.mask_size = mask;
        const WorkerLayout layout = WorkerLayout::Of(sizes);
        std::vector<std::pair<int64_t, int64_t>> parts = {{0, 64}};
        for (const int64_t start : layout.buffer_starts) {
          for (const WorkerField& field : layout.fields) {
            const int64_t begin = start + field.offset;
            EXPECT_EQ(begin % 8, 0) << field.name;
            parts.push_back({begin, begin + field.num_bytes});
          }
        }
        std::sort(parts.begin(), parts.end());
        for (size_t i = 1; i < parts.size(); ++i) {
          EXPECT_LE(parts[i - 1].second, parts[i].first) << slots << " " << frame_bytes;
        }
        EXPECT_LE(parts.back().second, layout.num_bytes);
      }
    }
  }
}

TEST(WorkerMemoryTest, IsAFileThatTheWorkerSees) {
  const auto memory = Memory(Sizes(2));
  struct stat facts = {};
  ASSERT_EQ(fstat(memory->descriptor(), &facts), 0);
  EXPECT_EQ(facts.st_size, memory->layout().num_bytes);
  Worker worker(*memory);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(worker.header()), 8), "10_OREZL")
      << "the magic, little-endian";
  EXPECT_EQ(worker.header()[1], 1u) << "the version";
}

TEST(WorkerMemoryTest, RefusesMoreThanThereCanBe) {
  const auto memory = WorkerMemory::Create(Sizes(1 << 20, int64_t{1} << 40));
  ASSERT_FALSE(memory.ok());
  EXPECT_EQ(memory.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(memory.status().message().find("bytes with a worker process"), std::string::npos)
      << memory.status();
}

TEST(WorkerMemoryTest, TellsTheWorkerWhatIsAsked) {
  WorkerSizes sizes = Sizes(4);
  sizes.max_repeat = 3;
  const auto memory = Memory(sizes);
  Worker worker(*memory);
  memory->BeginRequest();
  EXPECT_EQ(memory->num_asked(), 0);
  memory->AskStep(2, std::vector<int32_t>{5, 6, 7});
  memory->AskReset(0, ~uint64_t{0}, false);
  memory->AskReset(3, 12, true);
  EXPECT_EQ(memory->num_asked(), 3);
  EXPECT_EQ(worker.request(), 0u) << "not before the request is whole";
  memory->EndRequest();
  EXPECT_EQ(worker.request(), 1u);
  EXPECT_EQ(*worker.At<uint32_t>("count"), 3u);
  const uint32_t* slots = worker.At<uint32_t>("slots");
  EXPECT_EQ(std::vector<uint32_t>(slots, slots + 3), std::vector<uint32_t>({2, 0, 3}));
  const uint32_t* ops = worker.At<uint32_t>("ops");
  EXPECT_EQ(ops[2], 1u);
  EXPECT_EQ(ops[0], 2u);
  EXPECT_EQ(ops[3], 3u);
  EXPECT_EQ(worker.At<uint64_t>("seeds")[0], ~uint64_t{0});
  EXPECT_EQ(worker.At<uint64_t>("seeds")[3], 12u);
  EXPECT_EQ(worker.At<uint32_t>("repeats")[2], 3u);
  const int32_t* actions = worker.At<int32_t>("actions") + 2 * 3;
  EXPECT_EQ(std::vector<int32_t>(actions, actions + 3), std::vector<int32_t>({5, 6, 7}));
}

TEST(WorkerMemoryTest, TellsTheWorkerNumbersOfBoxActions) {
  WorkerSizes sizes = Sizes(2);
  sizes.max_repeat = 2;
  sizes.action_size = 3;
  const auto memory = Memory(sizes);
  Worker worker(*memory);
  memory->BeginRequest();
  memory->AskStep(1, std::vector<float>{1, 2, 3, 4, 5, 6});
  memory->AskStep(0, std::vector<float>{-1, -2, -3});
  memory->EndRequest();
  const float* actions = worker.At<float>("actions");
  EXPECT_EQ(std::vector<float>(actions, actions + 3), std::vector<float>({-1, -2, -3}));
  EXPECT_EQ(std::vector<float>(actions + 6, actions + 12), std::vector<float>({1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(worker.At<uint32_t>("repeats")[0], 1u);
  EXPECT_EQ(worker.At<uint32_t>("repeats")[1], 2u);
}

TEST(WorkerMemoryTest, ReadsWhatTheWorkerAnswers) {
  WorkerSizes sizes = Sizes(3, 4);
  sizes.num_frames = 2;
  sizes.max_repeat = 4;
  sizes.mask_size = 3;
  const auto memory = Memory(sizes);
  Worker worker(*memory);
  memory->BeginRequest();
  memory->AskStep(1, std::vector<int32_t>{0, 0, 0});
  AskAction(*memory, 2, 0);
  memory->EndRequest();
  EXPECT_FALSE(memory->IsAnswered());
  worker.AnswerStep(1, -0.1, 1 | 8, 3);
  worker.At<int32_t>("lives")[1] = 4;
  std::memcpy(worker.At<uint8_t>("masks") + 3, "\1\0\1", 3);
  std::memcpy(worker.At<uint8_t>("observations") + 8, "olderNEW", 8);
  worker.AnswerStep(2, 2.5, 2);
  worker.Answer();
  EXPECT_TRUE(memory->IsAnswered());

  const auto first = memory->Read(1);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->reward, -0.1);
  EXPECT_TRUE(first->terminated);
  EXPECT_FALSE(first->truncated);
  EXPECT_FALSE(first->failed);
  EXPECT_EQ(first->lives, 4);
  EXPECT_EQ(first->num_frames, 3u);
  ASSERT_TRUE(first->has_mask);
  EXPECT_EQ(std::vector<uint8_t>(first->mask.begin(), first->mask.end()),
            std::vector<uint8_t>({1, 0, 1}));
  EXPECT_EQ(std::string(first->frames.begin(), first->frames.end()), "olderNEW");

  const auto second = memory->Read(2);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->reward, 2.5);
  EXPECT_FALSE(second->terminated);
  EXPECT_TRUE(second->truncated);
  EXPECT_FALSE(second->has_mask) << "none was given this time";
}

TEST(WorkerMemoryTest, CountsASlotAsFailedUntilItIsAnswered) {
  const auto memory = Memory(Sizes(1));
  Worker worker(*memory);
  for (int i = 0; i < 4; ++i) {  // both buffers, fresh and used
    memory->BeginRequest();
    AskAction(*memory, 0, 0);
    memory->EndRequest();
    ASSERT_TRUE(memory->Read(0).ok());
    EXPECT_TRUE(memory->Read(0)->failed);
    worker.AnswerStep(0, 1.0, 0);
    worker.Answer();
    EXPECT_FALSE(memory->Read(0)->failed);
  }
}

TEST(WorkerMemoryTest, TakesTurnsWithItsBuffers) {
  const auto memory = Memory(Sizes(1, 4));
  Worker worker(*memory);
  std::vector<absl::Span<const uint8_t>> frames;
  for (int i = 0; i < 3; ++i) {
    memory->BeginRequest();
    AskAction(*memory, 0, 10 + i);
    memory->EndRequest();
    EXPECT_EQ(worker.At<int32_t>("actions")[0], 10 + i);
    worker.AnswerStep(0, i, 0);
    std::memset(worker.At<uint8_t>("observations"), 'a' + i, 4);
    worker.Answer();
    frames.push_back(memory->Read(0)->frames);
    if (i > 0) {
      EXPECT_EQ(frames[i - 1][0], 'a' + i - 1) << "the answer before is still there";
    }
  }
  EXPECT_NE(frames[0].data(), frames[1].data());
  EXPECT_EQ(frames[0].data(), frames[2].data());
}

TEST(WorkerMemoryTest, IsAnsweredByTheNumberOfTheRequestAlone) {
  const auto memory = Memory(Sizes(1));
  Worker worker(*memory);
  memory->BeginRequest();
  AskAction(*memory, 0, 0);
  memory->EndRequest();
  for (const uint64_t wrong : {uint64_t{0}, uint64_t{2}, ~uint64_t{0}}) {
    worker.header()[3] = wrong;
    EXPECT_FALSE(memory->IsAnswered()) << wrong;
  }
  worker.Answer();
  EXPECT_TRUE(memory->IsAnswered());
  memory->BeginRequest();
  EXPECT_FALSE(memory->IsAnswered()) << "that was the one before";
}

TEST(WorkerMemoryTest, RefusesAnswersThatMakeNoSense) {
  WorkerSizes sizes = Sizes(1);
  sizes.max_repeat = 4;
  sizes.mask_size = 2;
  const auto memory = Memory(sizes);
  Worker worker(*memory);
  memory->BeginRequest();
  memory->AskStep(0, std::vector<int32_t>{0, 0, 0, 0});
  memory->EndRequest();
  const auto refusal = [&] { return std::string(memory->Read(0).status().message()); };
  worker.AnswerStep(0, 0.0, 16);
  EXPECT_EQ(refusal(), "the worker process answers flags 16");
  worker.AnswerStep(0, 0.0, 0xffffffff);
  EXPECT_EQ(refusal(), "the worker process answers flags 4294967295");
  worker.AnswerStep(0, std::nan(""), 0);
  EXPECT_EQ(refusal(), "the environment gives reward nan");
  worker.AnswerStep(0, std::numeric_limits<double>::infinity(), 0);
  EXPECT_EQ(refusal(), "the environment gives reward inf");
  worker.AnswerStep(0, 0.0, 0, 0);
  EXPECT_EQ(refusal(), "the worker process answers 0 frames of 4");
  worker.AnswerStep(0, 0.0, 0, 5);
  EXPECT_EQ(refusal(), "the worker process answers 5 frames of 4");
  worker.AnswerStep(0, 0.0, 8);
  worker.At<uint8_t>("masks")[1] = 2;
  EXPECT_EQ(refusal(), "the worker process answers a mask that holds 2");
  EXPECT_EQ(memory->Read(0).status().code(), absl::StatusCode::kInternal);
  worker.AnswerStep(0, 0.0, 0);
  EXPECT_TRUE(memory->Read(0).ok()) << "the mask is not meant";
  worker.AnswerStep(0, std::nan(""), 4, 99);
  ASSERT_TRUE(memory->Read(0).ok()) << "nothing else is meant after an exception";
  EXPECT_TRUE(memory->Read(0)->failed);
}

// A reward is a float32 on this side: one that does not fit would become infinite.
TEST(WorkerMemoryTest, RefusesARewardBeyondFloat) {
  const auto memory = Memory(Sizes(1));
  Worker worker(*memory);
  memory->BeginRequest();
  AskAction(*memory, 0, 0);
  memory->EndRequest();
  worker.AnswerStep(0, 1e300, 0);
  EXPECT_EQ(memory->Read(0).status().message(), "the environment gives reward 1e+300");
  worker.AnswerStep(0, -3e38, 0);
  EXPECT_TRUE(memory->Read(0).ok());
}

// The worker cannot take away what is mapped here: reading it would be a bus error.
TEST(WorkerMemoryTest, CannotBeMadeSmallerOrLarger) {
  const auto memory = Memory(Sizes(1));
  EXPECT_NE(ftruncate(memory->descriptor(), 0), 0);
  EXPECT_NE(ftruncate(memory->descriptor(), 1 << 20), 0);
}

TEST(WorkerMemoryDeathTest, StopsAtBugsOfOurs) {
  EXPECT_DEATH(Memory(Sizes(0)), "without slots");
  const auto memory = Memory(Sizes(2));
  memory->BeginRequest();
  EXPECT_DEATH(AskAction(*memory, 2, 0), "slot 2");
  EXPECT_DEATH(AskAction(*memory, -1, 0), "slot -1");
  EXPECT_DEATH(memory->AskReset(2, 0, false), "slot 2");
  EXPECT_DEATH(memory->AskStep(0, std::vector<int32_t>{}), "0 actions");
  EXPECT_DEATH(memory->AskStep(0, std::vector<int32_t>{1, 2}), "2 actions");
  EXPECT_DEATH(memory->AskStep(0, std::vector<float>{1.0f}), "1 numbers for actions of 0");
  EXPECT_DEATH((void)memory->Read(2), "slot 2");
  EXPECT_DEATH((void)memory->Read(-1), "slot -1");
  AskAction(*memory, 0, 0);
  AskAction(*memory, 1, 0);
  EXPECT_DEATH(AskAction(*memory, 1, 0), "asked twice");

  WorkerSizes sizes = Sizes(1);
  sizes.action_size = 2;
  const auto box = Memory(sizes);
  box->BeginRequest();
  EXPECT_DEATH(AskAction(*box, 0, 0), "1 actions");
  EXPECT_DEATH(box->AskStep(0, std::vector<float>{}), "0 numbers for actions of 2");
  EXPECT_DEATH(box->AskStep(0, std::vector<float>{1, 2, 3}), "3 numbers for actions of 2");
  EXPECT_DEATH(box->AskStep(0, std::vector<float>{1, 2, 3, 4}), "4 numbers for actions of 2");
}

}  // namespace
}  // namespace lzero::worker_memory_test
