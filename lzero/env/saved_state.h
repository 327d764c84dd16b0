// The byte string behind Env::Save and Env::Load: the name of the environment, then plain values in
// order, little-endian. Not a file format: it lives inside checkpoints that carry their own check.
// Plain objects, no thread rule.
#ifndef LZERO_ENV_SAVED_STATE_H_
#define LZERO_ENV_SAVED_STATE_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace lzero {

class StateWriter {
 public:
  // `owner` is the name that StateReader will ask for.
  explicit StateWriter(absl::string_view owner) { WriteString(owner); }

  template <typename T>
  void Write(const T& value) {
    static_assert(std::is_arithmetic_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  template <typename List>
  void WriteVector(const List& values) {
    using T = typename List::value_type;
    static_assert(std::is_arithmetic_v<T>);
    Write(static_cast<uint64_t>(values.size()));
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }
  void WriteString(absl::string_view text) { WriteVector(text); }

  // Says that the state cannot be written: what was written is not to be used.
  void Refuse() { is_refused_ = true; }
  bool is_refused() const { return is_refused_; }

  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
  bool is_refused_ = false;
};

// Reading past the end fills with zeros and is remembered: ask Finish once, after the last value.
class StateReader {
 public:
  // `bytes` outlives the reader.
  StateReader(absl::string_view owner, absl::string_view bytes)
      : owner_(owner), rest_(bytes), size_(bytes.size()) {
    other_owner_ = ReadString() != owner_;
  }

  template <typename T>
  T Read() {
    static_assert(std::is_arithmetic_v<T>);
    if constexpr (std::is_same_v<T, bool>) {
      const uint8_t byte = Read<uint8_t>();
      if (byte > 1) damaged_ = true;
      return byte == 1;
    } else {
      T value = 0;
      if (rest_.size() < sizeof(T)) {
        damaged_ = true;
        return value;
      }
      std::memcpy(&value, rest_.data(), sizeof(T));
      rest_.remove_prefix(sizeof(T));
      return value;
    }
  }
  template <typename T>
  std::vector<T> ReadVector() {
    return ReadList<std::vector<T>>();
  }
  std::string ReadString() { return ReadList<std::string>(); }

  // InvalidArgument when the bytes were not written for `owner`, or are too short or too long.
  absl::Status Finish() const {
    if (other_owner_) {
      return absl::InvalidArgumentError(
          absl::StrCat("these ", size_, " bytes are not a saved state of '", owner_, "'"));
    }
    if (damaged_ || !rest_.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("saved state of '", owner_, "' is damaged (",
                                                     size_, " bytes, ", rest_.size(), " unread)"));
    }
    return absl::OkStatus();
  }
  // InvalidArgument for values that read well and make no sense, named by `what`.
  absl::Status Impossible(absl::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat("saved state of '", owner_, "' is impossible: ", what));
  }

 private:
  template <typename List>
  List ReadList() {
    constexpr size_t kBytes = sizeof(typename List::value_type);
    const uint64_t size = Read<uint64_t>();
    List values;
    if (size > rest_.size() / kBytes) {
      damaged_ = true;
      return values;
    }
    values.resize(size);
    rest_.copy(reinterpret_cast<char*>(values.data()), size * kBytes);
    rest_.remove_prefix(size * kBytes);
    return values;
  }

  std::string owner_;
  absl::string_view rest_;
  size_t size_;
  bool other_owner_ = false;
  bool damaged_ = false;
};

}  // namespace lzero

#endif  // LZERO_ENV_SAVED_STATE_H_
