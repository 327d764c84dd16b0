// Another program run as a child: started with named descriptors and nothing else open, watched,
// and ended. It has a process group of its own, so that Ctrl-C at the terminal does not reach it,
// and what it started itself in that group ends with it; its output goes to memory, where a crash
// can be read about. Not a shell. One thread at a time.
#ifndef LZERO_ENV_PYTHON_CHILD_PROCESS_H_
#define LZERO_ENV_PYTHON_CHILD_PROCESS_H_

#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace lzero {

// A descriptor of this process, closed with it; -1: none.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int get() const { return number_; }

 private:
  int number_;
};

class ChildProcess {
 public:
  // Runs command[0], looked up in PATH, with the descriptors given as 3, 4, ... of its own;
  // standard input is empty. NotFound or Internal when it cannot be started.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(
      const std::vector<std::string>& command, absl::Span<const int> descriptors);
  // Kills it if it still runs, and waits for its end.
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  // Becomes readable when the process has ended.
  int end_descriptor() const { return end_descriptor_.get(); }
  // Waits for its end, at most so long. True when it has ended.
  bool WaitForEnd(double seconds);
  // Kills its process group.
  void Kill();
  // How it ended: "exited with status 1", "was killed by signal 9 (Killed)". After WaitForEnd.
  const std::string& end_text() const { return end_text_; }
  // The last `max_bytes` of what it wrote to standard output and error, from the start of a line
  // but where the last line is longer than that; escaped as EscapedForMessage does.
  std::string OutputTail(size_t max_bytes) const;
  // Forgets the output when there is much of it.
  void TrimOutput();

 private:
  ChildProcess(pid_t pid, Descriptor end_descriptor, Descriptor output)
      : pid_(pid), end_descriptor_(std::move(end_descriptor)), output_(std::move(output)) {}

  const pid_t pid_;
  const Descriptor end_descriptor_;
  const Descriptor output_;
  bool has_ended_ = false;
  std::string end_text_;
};

}  // namespace lzero

#endif  // LZERO_ENV_PYTHON_CHILD_PROCESS_H_
