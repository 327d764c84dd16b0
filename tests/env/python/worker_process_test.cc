#include "lzero/env/python/worker_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstring>
#include <thread>

#include "lzero/base/status_macros.h"
#include "lzero/base/stopwatch.h"
#include "tests/env/python/open_things.h"
#include "tests/env/python/python_tests.h"

namespace lzero::worker_process_test {
namespace {

using absl::StatusCode;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

// One step of slot 0.
absl::StatusOr<WorkerResult> StepOnce(WorkerProcess& process, int slot = 0) {
  process.memory().BeginRequest();
  process.memory().AskStep(slot, std::vector<int32_t>{0});
  process.Send();
  LZ_RETURN_IF_ERROR(process.Wait());
  return process.memory().Read(slot);
}

absl::Status ResetOnce(WorkerProcess& process, uint64_t seed = 0) {
  process.memory().BeginRequest();
  process.memory().AskReset(0, seed, false);
  process.Send();
  return process.Wait();
}

std::string StartError(const std::string& bad) {
  const auto process = WorkerProcess::Start(FakeCommand({{"bad", bad}}));
  EXPECT_FALSE(process.ok()) << bad;
  return process.ok() ? "" : std::string(process.status().message());
}

// An open process of two environments that has been reset.
std::unique_ptr<WorkerProcess> OpenFake(const EnvSettingTexts& settings, double step_timeout_s) {
  WorkerCommand command = FakeCommand(settings);
  command.step_timeout_s = step_timeout_s;
  auto process = WorkerProcess::Start(command);
  EXPECT_TRUE(process.ok()) << process.status();
  EXPECT_TRUE((*process)->Open(2, 1, 1).ok());
  EXPECT_TRUE(ResetOnce(**process).ok());
  return std::move(process).value();
}

std::vector<float> Floats(absl::Span<const uint8_t> bytes) {
  std::vector<float> numbers(bytes.size() / sizeof(float));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

TEST(WorkerProcessTest, StepsEnvironments) {
  LZ_NEEDS_FAKE_WORKER();
  const auto process = WorkerProcess::Start(FakeCommand());
  ASSERT_TRUE(process.ok()) << process.status();
  EXPECT_EQ((*process)->spec().action.num_actions, 3);
  ASSERT_TRUE((*process)->Open(3, 1, 1).ok());
  EXPECT_EQ((*process)->memory().layout().sizes.num_slots, 3);
  EXPECT_EQ((*process)->memory().layout().sizes.frame_bytes, 8);
  ASSERT_TRUE(ResetOnce(**process, 4321).ok());
  EXPECT_EQ(Floats((*process)->memory().Read(0)->frames), std::vector<float>({0, 321}));
  for (int i = 1; i <= 3; ++i) {
    const auto result = StepOnce(**process);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->reward, i * 0.5);
    EXPECT_EQ(Floats(result->frames), std::vector<float>({static_cast<float>(i), 321}));
  }
  EXPECT_TRUE((*process)->is_running());
}

TEST(WorkerProcessTest, NeedNotBeWaitedForWhenNothingWasAsked) {
  LZ_NEEDS_FAKE_WORKER();
  const auto process = OpenFake({}, 30.0);
  process->memory().BeginRequest();
  process->Send();
  EXPECT_TRUE(process->Wait().ok());
  EXPECT_EQ(StepOnce(*process)->reward, 0.5);
}

TEST(WorkerProcessTest, CanBeOpenedAgain) {
  LZ_NEEDS_FAKE_WORKER();
  const auto process = OpenFake({}, 30.0);
  EXPECT_EQ(StepOnce(*process)->reward, 0.5);
  const std::string pid = absl::StrCat(process->pid());
  const int descriptors = NumDescriptors(), of_worker = NumDescriptors(pid);
  for (int num_envs = 1; num_envs <= 5; ++num_envs) {
    ASSERT_TRUE(process->Open(num_envs, 1, 4).ok());
    ASSERT_TRUE(ResetOnce(*process, 5).ok());
    EXPECT_EQ(StepOnce(*process)->reward, 0.5);
  }
  EXPECT_EQ(absl::StrCat(process->pid()), pid);
  EXPECT_EQ(NumDescriptors(), descriptors);
  EXPECT_EQ(NumDescriptors(pid), of_worker);
  EXPECT_EQ(NumMappings("memfd:lzero_worker "), 1) << "the last memory alone";
}

TEST(WorkerProcessTest, SaysThatThereIsNoSuchInterpreter) {
  WorkerCommand command = FakeCommand();
  command.python = "/nowhere/python3";
  const int before = NumDescriptors();
  EXPECT_EQ(WorkerProcess::Start(command).status(),
            absl::NotFoundError("the Python of environments (env.python): cannot start "
                                "'/nowhere/python3': No such file or directory"));
  EXPECT_EQ(NumDescriptors(), before);
}

TEST(WorkerProcessTest, SaysHowAnInterpreterEndedThatIsNone) {
  WorkerCommand command = FakeCommand();
  command.python = "false";
  const auto process = WorkerProcess::Start(command);
  EXPECT_EQ(process.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(std::string(process.status().message()),
              MatchesRegex("Python is false: the worker process of 'gymnasium:Fake-v0' "
                           "\\([0-9]+\\) exited with status 1"));
}

TEST(WorkerProcessTest, RefusesBadAnswersAboutItsEnvironments) {
  LZ_NEEDS_FAKE_WORKER();
  const int before = NumDescriptors();
  EXPECT_THAT(
      StartError("make_garbage"),
      HasSubstr("answer of the worker process: broken JSON at byte 2, in 'this is no JSON'"));
  EXPECT_THAT(StartError("make_version"),
              HasSubstr("version is 99; allowed: 1, the version of the protocol here"));
  EXPECT_THAT(StartError("make_long"),
              HasSubstr("was killed by signal 9 (Killed) after an error: a message of 4294967295 "
                        "bytes; allowed: 16777216"));
  EXPECT_THAT(StartError("make_exit"),
              HasSubstr("exited with status 3; its last output:\na word before the end\n"));
  EXPECT_EQ(StartError("make_refuse"),
            "environment 'gymnasium:Fake-v0': ValueError: no\nTraceback of make");
  EXPECT_THAT(StartError("make_missing"), HasSubstr("-m pip install ale-py"));
  EXPECT_EQ(NumDescriptors(), before);
  EXPECT_TRUE(Children().empty());
}

TEST(WorkerProcessTest, EndsAProcessThatClosesItsSocket) {
  LZ_NEEDS_FAKE_WORKER();
  EXPECT_THAT(StartError("make_close"), HasSubstr("was killed by signal 9"));
  EXPECT_TRUE(Children().empty());
}

TEST(WorkerProcessTest, PassesOnThatItCannotBeOpened) {
  LZ_NEEDS_FAKE_WORKER();
  const auto open = [](const std::string& bad) {
    const auto process = WorkerProcess::Start(FakeCommand({{"bad", bad}}));
    EXPECT_TRUE(process.ok()) << process.status();
    return (*process)->Open(1, 1, 1);
  };
  EXPECT_THAT(std::string(open("open_exit").message()), HasSubstr("exited with status 4"));
  EXPECT_THAT(std::string(open("attach_exit").message()), HasSubstr("exited with status 5"));
  EXPECT_EQ(open("attach_refuse"), absl::InvalidArgumentError("not this memory"));
}

// A constructor that fails now and then: its second failure says as much as its first.
TEST(WorkerProcessTest, ShowsTheTracebackOfEnvironmentsThatCannotBeMadeAgain) {
  LZ_NEEDS_FAKE_WORKER();
  const auto process = WorkerProcess::Start(FakeCommand({{"bad", "open_refuse"}}));
  ASSERT_TRUE(process.ok());
  EXPECT_EQ((*process)->Open(1, 1, 1),
            absl::InvalidArgumentError(
                "environment 'gymnasium:Fake-v0': ValueError: no\nTraceback of open"));
}

TEST(WorkerProcessTest, TellsHowTheProcessEndedInAStep) {
  LZ_NEEDS_FAKE_WORKER();
  const std::vector<std::pair<std::string, std::string>> ends = {
      {"step_exit", "exited with status 8"},
      {"step_kill", "was killed by signal 9 (Killed)"},
      {"step_print", "exited with status 1; its last output:\nthe last words\n"},
      {"step_number",
       "was killed by signal 9 (Killed) after an error: an answer to another request"}};
  for (const auto& [bad, end] : ends) {
    const auto process = WorkerProcess::Start(FakeCommand({{"bad", bad}}));
    ASSERT_TRUE(process.ok());
    ASSERT_TRUE((*process)->Open(1, 1, 1).ok());
    (*process)->memory().BeginRequest();
    (*process)->memory().AskStep(0, std::vector<int32_t>{0});
    (*process)->Send();
    const absl::Status status = (*process)->Wait();
    EXPECT_EQ(status.code(), StatusCode::kUnavailable);
    EXPECT_EQ(status.message(), absl::StrCat("the worker process of 'gymnasium:Fake-v0' (",
                                             (*process)->pid(), ") ", end));
    EXPECT_FALSE((*process)->is_running());
  }
  EXPECT_TRUE(Children().empty());
}

TEST(WorkerProcessTest, EndsAProcessThatIsLate) {
  LZ_NEEDS_FAKE_WORKER();
  const auto process = OpenFake({{"bad", "step_hang"}}, 0.2);
  const double start = MonotonicSeconds();
  const absl::Status status = StepOnce(*process).status();
  const double waited = MonotonicSeconds() - start;
  EXPECT_THAT(std::string(status.message()), HasSubstr("(env.step_timeout_s) and was ended"));
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_GE(waited, 0.2);
  EXPECT_LT(waited, 10.0);
  EXPECT_FALSE(process->is_running());
  EXPECT_TRUE(Children().empty());
}

TEST(WorkerProcessTest, HearsOfADeathBetweenRequests) {
  LZ_NEEDS_FAKE_WORKER();
  const auto process = OpenFake({}, 30.0);
  kill(process->pid(), SIGTERM);
  const double start = MonotonicSeconds();
  const absl::Status status = StepOnce(*process).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("was killed by signal 15 (Terminated)"));
  EXPECT_LT(MonotonicSeconds() - start, 10.0);
}

TEST(WorkerProcessTest, GivesTracebacksOfItsSlots) {
  LZ_NEEDS_FAKE_WORKER();
  const auto process = OpenFake({{"bad", "step_fail"}, {"slot", "-1"}}, 30.0);
  EXPECT_TRUE(StepOnce(*process, 1)->failed);
  EXPECT_EQ(*process->Traceback(1), "Traceback of slot 1");
  EXPECT_EQ(*process->Traceback(0), "Traceback of slot 0");
  EXPECT_EQ(StepOnce(*process, 1)->reward, 1.0) << "it goes on";
}

TEST(WorkerProcessTest, HearsOfADeathWhileItAsks) {
  LZ_NEEDS_FAKE_WORKER();
  const auto process = OpenFake({{"bad", "error_exit"}}, 30.0);
  EXPECT_TRUE(StepOnce(*process)->failed);
  EXPECT_THAT(std::string(process->Traceback(0).status().message()),
              HasSubstr("exited with status 7"));
  EXPECT_FALSE(process->is_running());
}

// A process that the environment made has our socket, too, and keeps it open.
TEST(WorkerProcessTest, HearsOfADeathThoughTheSocketStaysOpen) {
  LZ_NEEDS_FAKE_WORKER();
  const auto process = OpenFake({{"bad", "render_fork_exit"}}, 20.0);
  const double start = MonotonicSeconds();
  EXPECT_THAT(std::string(process->Render(0).status().message()),
              HasSubstr("exited with status 6"));
  EXPECT_LT(MonotonicSeconds() - start, 10.0);
}

TEST(WorkerProcessTest, Draws) {
  LZ_NEEDS_FAKE_WORKER();
  const auto process = OpenFake({}, 30.0);
  ASSERT_TRUE(StepOnce(*process).ok());
  ASSERT_TRUE(StepOnce(*process).ok());
  const auto image = process->Render(0);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(image->width, 2);
  EXPECT_EQ(image->height, 1);
  EXPECT_EQ(image->pixels, std::vector<uint8_t>({2, 1, 2, 3, 4, 5}));
  EXPECT_EQ(process->Render(1)->pixels[0], 0);
  EXPECT_EQ(StepOnce(*process)->reward, 1.5);
}

TEST(WorkerProcessTest, RefusesPicturesThatAreNone) {
  LZ_NEEDS_FAKE_WORKER();
  EXPECT_EQ(OpenFake({{"bad", "render_refuse"}}, 30.0)->Render(0).status(),
            absl::UnimplementedError("the environment draws no picture"));
  const auto of_size = OpenFake({{"bad", "render_size"}}, 30.0);
  EXPECT_THAT(std::string(of_size->Render(0).status().message()),
              HasSubstr("bytes is 2; allowed: 6 = width * height * 3"));
  EXPECT_FALSE(of_size->is_running()) << "what comes next on the socket is not known";
  const auto of_part = OpenFake({{"bad", "render_short"}}, 0.2);
  EXPECT_THAT(std::string(of_part->Render(0).status().message()),
              HasSubstr("gave no answer in time and was ended"));
}

TEST(WorkerProcessTest, LeavesNothingBehind) {
  LZ_NEEDS_FAKE_WORKER();
  const int before = NumDescriptors();
  for (const char* bad : {"", "step_exit", "step_kill", "render_size"}) {
    const auto process = OpenFake({{"bad", bad}}, 30.0);
    (void)StepOnce(*process);
    if (process->is_running()) (void)process->Render(0);
  }
  EXPECT_EQ(NumDescriptors(), before);
  EXPECT_EQ(NumMappings("lzero_worker"), 0);
  EXPECT_TRUE(Children().empty());
}

TEST(WorkerProcessTest, ClosesInAMoment) {
  LZ_NEEDS_FAKE_WORKER();
  for (const char* bad : {"", "close_hang"}) {
    auto process = OpenFake({{"bad", bad}}, 30.0);
    const double start = MonotonicSeconds();
    process.reset();
    EXPECT_LT(MonotonicSeconds() - start, 10.0) << bad;
    EXPECT_TRUE(Children().empty());
  }
}

}  // namespace
}  // namespace lzero::worker_process_test
