#include "lzero/base/text/printable.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace lzero {
namespace {

constexpr size_t kLongestWord = 300;
constexpr size_t kKept = 60;  // of a longer one, at either end

// Bytes of the control character that `text` begins with, 0 for any other. In UTF-8 those from 0x80
// to 0x9f have two.
size_t ControlLength(absl::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text[0] == '\n' || text[0] == '\t') return 0;
  if (absl::ascii_iscntrl(byte(0))) return 1;
  return byte(0) == 0xc2 && text.size() > 1 && byte(1) >= 0x80 && byte(1) < 0xa0 ? 2 : 0;
}

// Does not cut through a UTF-8 character.
std::string Shortened(absl::string_view word) {
  if (word.size() <= kLongestWord) return std::string(word);
  const auto is_inside = [word](size_t i) {
    return (static_cast<unsigned char>(word[i]) & 0xc0) == 0x80;
  };
  size_t head = kKept, tail = word.size() - kKept;
  while (head > 0 && is_inside(head)) --head;
  while (tail < word.size() && is_inside(tail)) ++tail;
  return absl::StrCat(word.substr(0, head), "...", word.substr(tail));
}

}  // namespace

std::string PrintableMessage(absl::string_view message) {
  std::string out;
  while (!message.empty()) {
    size_t length = message.find_first_of(" \n\t");
    if (length == message.npos) length = message.size();
    std::string word;
    for (absl::string_view rest = message.substr(0, length); !rest.empty();) {
      const size_t control = ControlLength(rest);
      for (size_t i = 0; i < control; ++i) {
        absl::StrAppend(&word, "\\x",
                        absl::Hex(static_cast<unsigned char>(rest[i]), absl::kZeroPad2));
      }
      if (control == 0) word += rest[0];
      rest.remove_prefix(control == 0 ? 1 : control);
    }
    out += Shortened(word);
    if (length < message.size()) out += message[length++];
    message.remove_prefix(length);
  }
  return out;
}

}  // namespace lzero
