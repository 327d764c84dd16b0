#include "lzero/env/saved_state.h"

#include "absl/strings/str_cat.h"

namespace lzero {

StateWriter::StateWriter(absl::string_view owner) { WriteString(owner); }

void StateWriter::WriteString(absl::string_view text) {
  Write(static_cast<uint64_t>(text.size()));
  bytes_.append(text.data(), text.size());
}

StateReader::StateReader(absl::string_view owner, absl::string_view bytes)
    : owner_(owner), rest_(bytes), size_(bytes.size()) {
  other_owner_ = ReadString() != owner_;
}

std::string StateReader::ReadString() {
  const uint64_t size = Read<uint64_t>();
  if (size > rest_.size()) {
    damaged_ = true;
    return "";
  }
  const std::string text(rest_.substr(0, size));
  rest_.remove_prefix(size);
  return text;
}

absl::Status StateReader::Finish() const {
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

absl::Status StateReader::Impossible(absl::string_view what) const {
  return absl::InvalidArgumentError(
      absl::StrCat("saved state of '", owner_, "' is impossible: ", what));
}

}  // namespace lzero
