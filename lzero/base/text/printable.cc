#include "lzero/base/text/printable.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace lzero {
namespace {

constexpr size_t kLongestWord = 300;
constexpr size_t kKept = 60;  // of a longer one, at either end

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

int Utf8Length(absl::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const int length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length == 0 || text.size() < static_cast<size_t>(length)) return 0;
  for (int i = 1; i < length; ++i) {
    if ((byte(static_cast<size_t>(i)) & 0xc0) != 0x80) return 0;
  }
  const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool surrogate = first == 0xed && byte(1) >= 0xa0;
  const bool beyond_unicode = first == 0xf4 && byte(1) >= 0x90;
  return overlong || surrogate || beyond_unicode ? 0 : length;
}

bool IsPrintableUtf8(absl::string_view text) {
  while (!text.empty()) {
    const int length = Utf8Length(text);
    if (length == 0) return false;
    if (length == 1 && absl::ascii_iscntrl(static_cast<unsigned char>(text[0]))) return false;
    text.remove_prefix(static_cast<size_t>(length));
  }
  return true;
}

std::string EscapedForMessage(absl::string_view text, absl::string_view kept) {
  std::string escaped;
  while (!text.empty()) {
    const size_t length = static_cast<size_t>(Utf8Length(text));
    const absl::string_view character = text.substr(0, std::max<size_t>(1, length));
    const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
    const bool is_control = (absl::ascii_iscntrl(byte(0)) && !absl::StrContains(kept, text[0])) ||
                            (length == 2 && byte(0) == 0xc2 && byte(1) < 0xa0);
    for (size_t i = 0; i < character.size(); ++i) {
      if (length == 0 || is_control) {
        absl::StrAppend(&escaped, "\\x", absl::Hex(byte(i), absl::kZeroPad2));
      } else {
        escaped += character[i];
      }
    }
    text.remove_prefix(character.size());
  }
  return escaped;
}

std::string PrintableMessage(absl::string_view message) {
  std::string out;
  while (!message.empty()) {
    const size_t length = std::min(message.find_first_of(" \n\t"), message.size());
    absl::StrAppend(&out, Shortened(EscapedForMessage(message.substr(0, length))),
                    message.substr(length, 1));
    message.remove_prefix(std::min(length + 1, message.size()));
  }
  return out;
}

std::string ShellQuoted(absl::string_view word) {
  if (!IsPrintableUtf8(word)) {
    const std::string text = absl::StrReplaceAll(word, {{"\\", "\\\\"}, {"'", "\\'"}});
    return absl::StrCat("$'", EscapedForMessage(text, ""), "'");
  }
  const bool is_plain =
      !word.empty() &&
      word.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=,:@%+-") == word.npos;
  return is_plain ? std::string(word)
                  : absl::StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'");
}

}  // namespace lzero
