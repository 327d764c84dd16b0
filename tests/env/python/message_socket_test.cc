#include "lzero/env/python/message_socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <thread>

#include "lzero/base/stopwatch.h"
#include "tests/env/python/open_things.h"

namespace lzero::message_socket_test {
namespace {

using absl::StatusCode;

std::pair<MessageSocket, MessageSocket> Ends() { return *MessageSocket::Pair(); }

void SendRaw(const MessageSocket& socket, const std::string& bytes) {
  ASSERT_EQ(send(socket.descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
}

TEST(MessageSocketTest, CarriesTextsInTheirOrder) {
  auto [a, b] = Ends();
  const std::string binary("\0\1\xff text", 8);
  for (const std::string& text : {std::string("first"), std::string(), binary}) {
    ASSERT_TRUE(a.Send(text, 1.0).ok());
  }
  EXPECT_EQ(*b.Receive(100, 1.0), "first");
  EXPECT_EQ(*b.Receive(100, 1.0), "");
  EXPECT_EQ(*b.Receive(100, 1.0), binary);
  ASSERT_TRUE(b.Send("back", 1.0).ok());
  EXPECT_EQ(*a.Receive(100, 1.0), "back");
}

TEST(MessageSocketTest, PutsFourBytesOfLengthBeforeAText) {
  auto [a, b] = Ends();
  ASSERT_TRUE(a.Send(std::string(258, 'x'), 1.0).ok());
  EXPECT_EQ(*b.ReceiveBytes(5, 1.0), std::string("\2\1\0\0x", 5));
  EXPECT_EQ(*b.ReceiveBytes(257, 1.0), std::string(257, 'x'));
  EXPECT_EQ(*b.ReceiveBytes(0, 0.0), "");
}

TEST(MessageSocketTest, CarriesMoreThanFitsIntoItsBuffer) {
  auto [a, b] = Ends();
  std::string large(9 << 20, '\0');
  for (size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 131 >> 7);
  MessageSocket& sender = a;
  absl::Status sent;
  std::thread thread([&] { sent = sender.Send(large, 20.0); });
  const auto received = b.Receive(16 << 20, 20.0);
  thread.join();
  EXPECT_TRUE(sent.ok()) << sent;
  ASSERT_TRUE(received.ok()) << received.status();
  EXPECT_EQ(*received, large);
}

TEST(MessageSocketTest, WaitsForTheRestOfAMessage) {
  auto [a, b] = Ends();
  const MessageSocket& sender = a;
  std::thread thread([&] {
    for (const char byte : std::string("\3\0\0\0abc", 7)) {
      SendRaw(sender, std::string(1, byte));
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
  EXPECT_EQ(*b.Receive(100, 10.0), "abc");
  thread.join();
}

TEST(MessageSocketTest, GivesUpAtItsDeadline) {
  auto [a, b] = Ends();
  const double start = MonotonicSeconds();
  EXPECT_EQ(b.Receive(100, 0.05).status(), absl::DeadlineExceededError("in time"));
  const double waited = MonotonicSeconds() - start;
  EXPECT_GE(waited, 0.05);
  EXPECT_LT(waited, 5.0);
  EXPECT_EQ(b.Receive(100, 0.0).status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(b.Receive(100, -1.0).status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(b.ReceiveBytes(1, 0.01).status().code(), StatusCode::kDeadlineExceeded);
}

// A peer that sends a byte now and then does not push the deadline.
TEST(MessageSocketTest, HasOneDeadlineForAWholeMessage) {
  auto [a, b] = Ends();
  const MessageSocket& sender = a;
  SendRaw(sender, std::string("\x40\0\0\0", 4));
  std::thread thread([&] {
    for (int i = 0; i < 20; ++i) {
      SendRaw(sender, "x");
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
  EXPECT_EQ(b.Receive(100, 0.05).status().code(), StatusCode::kDeadlineExceeded);
  thread.join();
}

TEST(MessageSocketTest, GivesUpSendingToAPeerThatDoesNotRead) {
  auto [a, b] = Ends();
  EXPECT_EQ(a.Send(std::string(16 << 20, 'x'), 0.05).code(), StatusCode::kDeadlineExceeded);
}

TEST(MessageSocketTest, TakesWhatIsThereThoughTheTimeIsUp) {
  auto [a, b] = Ends();
  ASSERT_TRUE(a.Send("there", 1.0).ok());
  EXPECT_EQ(*b.Receive(100, 0.0), "there");
}

TEST(MessageSocketTest, SaysThatTheOtherEndIsClosed) {
  const absl::Status closed = absl::UnavailableError("the other end of the socket is closed");
  auto [a, b] = Ends();
  ASSERT_TRUE(a.Send("last words", 1.0).ok());
  SendRaw(a, std::string("\5\0\0\0ab", 6));
  a = MessageSocket(-1);
  EXPECT_EQ(*b.Receive(100, 1.0), "last words");
  EXPECT_EQ(b.Receive(100, 1.0).status(), closed) << "in the midst of a text";
  EXPECT_EQ(b.Receive(100, 1.0).status(), closed);
  EXPECT_EQ(b.ReceiveBytes(1, 1.0).status(), closed);
  // SIGPIPE would end this program.
  EXPECT_EQ(b.Send("hello", 1.0), closed);
  EXPECT_EQ(b.SendDescriptors({0, 1}, 1.0), closed);
}

TEST(MessageSocketTest, HearsOfAnEndWhileItWaits) {
  auto [a, b] = Ends();
  std::thread thread([closing = std::move(a)]() mutable {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    closing = MessageSocket(-1);
  });
  const double start = MonotonicSeconds();
  EXPECT_EQ(b.Receive(100, 30.0).status().code(), StatusCode::kUnavailable);
  EXPECT_LT(MonotonicSeconds() - start, 20.0);
  thread.join();
}

TEST(MessageSocketTest, TakesAnotherDescriptorForTheEnd) {
  auto [a, b] = Ends();
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe(ends), 0);
  b.set_end_descriptor(ends[0]);
  MessageSocket moved(std::move(b));
  ASSERT_TRUE(a.Send("first", 1.0).ok());
  EXPECT_EQ(*moved.Receive(100, 1.0), "first");
  EXPECT_EQ(moved.Receive(100, 0.0).status().code(), StatusCode::kDeadlineExceeded);
  ASSERT_TRUE(a.Send("last", 1.0).ok());
  close(ends[1]);
  EXPECT_EQ(*moved.Receive(100, 1.0), "last") << "what is there is read";
  EXPECT_EQ(moved.Receive(100, 20.0).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(moved.Send(std::string(16 << 20, 'x'), 20.0).code(), StatusCode::kUnavailable);
  close(ends[0]);
}

TEST(MessageSocketTest, RefusesLongTexts) {
  auto [a, b] = Ends();
  ASSERT_TRUE(a.Send("12345", 1.0).ok());
  EXPECT_EQ(b.Receive(4, 1.0).status(), absl::InternalError("a message of 5 bytes; allowed: 4"));
  SendRaw(a, "\xff\xff\xff\xff");
  auto [c, d] = Ends();
  SendRaw(c, "\xff\xff\xff\xff");
  EXPECT_EQ(d.Receive(16 << 20, 1.0).status(),
            absl::InternalError("a message of 4294967295 bytes; allowed: 16777216"));
}

TEST(MessageSocketTest, CarriesDescriptors) {
  auto [a, b] = Ends();
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_TRUE(a.SendDescriptors({ends[1]}, 1.0).ok());
  char byte = 1;
  iovec payload = {&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(8 * sizeof(int))> control = {};
  msghdr message = {};
  message.msg_iov = &payload;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ASSERT_EQ(recvmsg(b.descriptor(), &message, 0), 1) << "one byte of its own";
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  ASSERT_NE(header, nullptr);
  ASSERT_EQ(header->cmsg_len, CMSG_LEN(sizeof(int)));
  int received = -1;
  std::memcpy(&received, CMSG_DATA(header), sizeof(int));
  EXPECT_NE(received, ends[1]);
  ASSERT_EQ(write(received, "x", 1), 1);
  ASSERT_EQ(read(ends[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'x');
  for (const int descriptor : {received, ends[0], ends[1]}) close(descriptor);
}

TEST(MessageSocketTest, LeavesNothingOpen) {
  const int before = NumDescriptors();
  for (int i = 0; i < 20; ++i) {
    auto [a, b] = Ends();
    EXPECT_NE(fcntl(a.descriptor(), F_GETFD) & FD_CLOEXEC, 0);
    EXPECT_NE(fcntl(b.descriptor(), F_GETFD) & FD_CLOEXEC, 0);
    MessageSocket moved(std::move(a));
    EXPECT_EQ(a.descriptor(), -1);
    b = std::move(moved);
  }
  EXPECT_EQ(NumDescriptors(), before);
}

// Signals that have a handler end system calls before their time.
TEST(MessageSocketTest, WaitsOnAfterSignals) {
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  sigaction(SIGALRM, &action, nullptr);
  const itimerval every_millisecond = {{0, 1000}, {0, 1000}};
  setitimer(ITIMER_REAL, &every_millisecond, nullptr);
  auto [a, b] = Ends();
  EXPECT_EQ(b.Receive(100, 0.05).status().code(), StatusCode::kDeadlineExceeded);
  const MessageSocket& sender = a;
  std::thread thread([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    SendRaw(sender, std::string("\2\0\0\0ok", 6));
  });
  EXPECT_EQ(*b.Receive(100, 10.0), "ok");
  thread.join();
  const itimerval never = {};
  setitimer(ITIMER_REAL, &never, nullptr);
}

TEST(MessageSocketDeathTest, SendsAtMostEightDescriptors) {
  auto [a, b] = Ends();
  const std::vector<int> descriptors(9, 0);
  EXPECT_DEATH(a.SendDescriptors(descriptors, 1.0).IgnoreError(), "9 descriptors");
}

}  // namespace
}  // namespace lzero::message_socket_test
