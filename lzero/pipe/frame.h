// What travels between lzero and a program that uses it as a child: frames of bytes, and how arrays
// are read from and written into them. tools/python/PROTOCOL.md describes every frame. Bytes from
// the other side are not trusted. Pure functions and plain values, one thread.
#ifndef LZERO_PIPE_FRAME_H_
#define LZERO_PIPE_FRAME_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace lzero {

// Changes whenever a frame means something else.
inline constexpr int kPipeProtocolVersion = 2;
// The longest frame, without its length.
inline constexpr int64_t kMostFrameBytes = 64 << 20;

enum class FrameType : uint8_t {
  // To a policy.
  kPolicyReset = 1,
  kAct = 2,
  kSearch = 3,
  // To an environment.
  kEnvReset = 16,
  kStep = 17,
  kSave = 18,
  kText = 19,
  kPicture = 20,
  // From either.
  kHello = 128,
  kError = 129,
  kOk = 130,
  kDecision = 131,
  kTree = 132,
  kTimeStep = 133,
  kBytes = 134,
  kPixels = 135,
};

// Bits of Frame::flags in kAct and kSearch.
inline constexpr uint8_t kHasPlayed = 1;    // what was played since the last observation
inline constexpr uint8_t kHasLegal = 2;     // masks of legal actions
inline constexpr uint8_t kHasStates = 4;    // what the environments save of themselves
inline constexpr uint8_t kObserveOnly = 8;  // kAct: remember the observations, decide nothing
inline constexpr uint8_t kAlone = 16;       // kSearch: a position without a past

// A frame without its length: type, flags, two bytes 0, then the body.
struct Frame {
  FrameType type = FrameType::kOk;
  uint8_t flags = 0;
  absl::string_view body;  // points into what was read
};

// DataLoss for bytes that are no frame.
absl::StatusOr<Frame> ReadFrame(absl::string_view bytes);

// Reads arrays, little-endian, from the front of a body.
class BodyReader {
 public:
  explicit BodyReader(absl::string_view body) : rest_(body) {}

  // False, and nothing is read or allocated, where fewer than `count` elements are left.
  template <typename T>
  bool Read(size_t count, std::vector<T>* out) {
    if (count > rest_.size() / sizeof(T)) return false;
    out->resize(count);
    if (count > 0) std::memcpy(out->data(), rest_.data(), count * sizeof(T));
    rest_.remove_prefix(count * sizeof(T));
    return true;
  }
  template <typename T>
  bool Read(T* out) {
    if (rest_.size() < sizeof(T)) return false;
    std::memcpy(out, rest_.data(), sizeof(T));
    rest_.remove_prefix(sizeof(T));
    return true;
  }
  bool ReadText(size_t count, std::string* out) {
    if (count > rest_.size()) return false;
    out->assign(rest_.data(), count);
    rest_.remove_prefix(count);
    return true;
  }
  bool at_end() const { return rest_.empty(); }
  absl::string_view rest() const { return rest_; }

 private:
  absl::string_view rest_;
};

// Builds a frame.
class FrameWriter {
 public:
  explicit FrameWriter(FrameType type) : bytes_(4, '\0') { bytes_[0] = static_cast<char>(type); }

  template <typename T>
  FrameWriter& Add(absl::Span<const T> values) {
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    return *this;
  }
  template <typename T>
  FrameWriter& Add(const T& value) {
    return Add(absl::Span<const T>(&value, 1));
  }
  FrameWriter& AddText(absl::string_view text) {
    bytes_.append(text.data(), text.size());
    return *this;
  }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

}  // namespace lzero

#endif  // LZERO_PIPE_FRAME_H_
