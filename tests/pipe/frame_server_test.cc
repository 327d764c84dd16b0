#include "lzero/pipe/frame_server.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::frame_server_test {
namespace {

using ::testing::ElementsAre;

struct Pipe {
  Pipe() { EXPECT_EQ(pipe(ends), 0); }
  ~Pipe() {
    CloseInput();
    close(ends[0]);
  }
  void CloseInput() {
    if (ends[1] >= 0) close(ends[1]);
    ends[1] = -1;
  }
  void Put(const std::string& bytes) {
    EXPECT_EQ(write(ends[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  int ends[2] = {-1, -1};
};

// Its length in front, by hand.
std::string Sent(const std::string& frame) {
  std::string bytes(4, '\0');
  for (int i = 0; i < 4; ++i) bytes[i] = static_cast<char>(frame.size() >> (8 * i));
  return bytes + frame;
}

const std::string kRequest("\x01\0\0\0?", 5);

TEST(FramePipeTest, ReadsFramesThatComeInPieces) {
  Pipe pipe;
  FramePipe frames(pipe.ends[0], -1);
  const std::string large(300'000, 'x');
  std::thread writer([&] {
    const std::string bytes = Sent("first") + Sent("") + Sent(large);
    for (size_t begin = 0; begin < bytes.size(); begin += 7001) {
      pipe.Put(bytes.substr(begin, 7001));
    }
    pipe.CloseInput();
  });
  std::vector<std::string> read;
  while (true) {
    const auto frame = frames.Read();
    ASSERT_TRUE(frame.ok()) << frame.status();
    if (!frame->has_value()) break;
    read.emplace_back(**frame);
  }
  writer.join();
  EXPECT_THAT(read, ElementsAre("first", "", large));
}

TEST(FramePipeTest, AnEndWithinAFrameIsAnError) {
  for (const std::string& bytes :
       {std::string("\x05\0", 2), Sent("whole") + Sent("half").substr(0, 6)}) {
    Pipe pipe;
    pipe.Put(bytes);
    pipe.CloseInput();
    FramePipe frames(pipe.ends[0], -1);
    if (bytes.size() > 2) {
      EXPECT_TRUE(frames.Read().ok());
    }
    EXPECT_TRUE(absl::IsDataLoss(frames.Read().status()));
  }
}

TEST(FramePipeTest, AnAnnouncedLengthIsCheckedBeforeItsBytesCome) {
  Pipe pipe;
  pipe.Put(std::string("\x01\0\0\x04", 4));  // 64 MiB and a byte
  FramePipe frames(pipe.ends[0], -1);
  const auto frame = frames.Read();
  EXPECT_EQ(frame.status().message(), "a frame of 67108865 bytes; allowed: at most 67108864");
}

// What the server writes to these requests, and how it ends.
struct Served {
  absl::Status status;
  std::string written;
};

Served Serve(const std::string& requests, const FrameAnswerer& answer) {
  Pipe in, out;
  in.Put(requests);
  in.CloseInput();
  FramePipe frames(in.ends[0], out.ends[1]);
  Served served;
  served.status = ServeFrames(frames, "hello", answer);
  out.CloseInput();
  char byte = 0;
  while (read(out.ends[0], &byte, 1) == 1) served.written += byte;
  return served;
}

TEST(ServeFramesTest, AnswersUntilTheInputEnds) {
  const Served served = Serve(Sent(kRequest) + Sent(kRequest), [](const Frame& frame) {
    return std::string("to ") + std::string(frame.body);
  });
  EXPECT_TRUE(served.status.ok()) << served.status;
  EXPECT_EQ(served.written, Sent("hello") + Sent("to ?") + Sent("to ?"));
}

TEST(ServeFramesTest, GoesOnAfterARefusal) {
  int num_asked = 0;
  const Served served =
      Serve(Sent(kRequest) + Sent(kRequest), [&](const Frame&) -> absl::StatusOr<std::string> {
        if (num_asked++ == 0) return absl::InvalidArgumentError("not that");
        return "yes";
      });
  EXPECT_TRUE(served.status.ok()) << served.status;
  EXPECT_EQ(served.written,
            Sent("hello") + Sent(std::string("\x81\0\0\0\x01\0\0\0not that", 16)) + Sent("yes"));
}

TEST(ServeFramesTest, EndsAfterAMalformedFrameOrAFailureAndSaysSo) {
  const auto fails = [](const Frame&) { return absl::InternalError("the search"); };
  const Served failed = Serve(Sent(kRequest) + Sent(kRequest), fails);
  EXPECT_TRUE(absl::IsInternal(failed.status));
  EXPECT_EQ(failed.written,
            Sent("hello") + Sent(std::string("\x81\0\0\0\x03\0\0\0the search", 18)));
  const Served malformed = Serve(Sent("no") + Sent(kRequest), fails);
  EXPECT_TRUE(absl::IsDataLoss(malformed.status));
  EXPECT_TRUE(absl::StartsWith(malformed.written.substr(9 + 4),
                               absl::string_view("\x81\0\0\0\x02\0\0\0", 8)));
}

TEST(ServeFramesTest, AReaderThatIsGoneIsAnError) {
  std::signal(SIGPIPE, SIG_IGN);
  Pipe in, out;
  close(out.ends[0]);
  FramePipe frames(in.ends[0], out.ends[1]);
  EXPECT_TRUE(absl::IsUnavailable(ServeFrames(frames, "hello", nullptr)));
  out.ends[0] = dup(in.ends[0]);
}

}  // namespace
}  // namespace lzero::frame_server_test
