#include "lzero/config/scalar_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace lzero {
namespace {

// Digits with a point and an exponent, or not; nothing else.
struct Decimal {
  bool valid = false;
  bool in_range = false;  // of a float64
  bool negative = false;
  absl::string_view text;  // without the sign
  double value = 0.0;      // without the sign
};

bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }

Decimal ReadDecimal(absl::string_view text) {
  Decimal decimal;
  decimal.negative = absl::ConsumePrefix(&text, "-");
  if (!decimal.negative) absl::ConsumePrefix(&text, "+");
  decimal.text = text;
  if (text.empty() || (!IsDigit(text[0]) && text[0] != '.')) return decimal;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, decimal.value);
  decimal.valid = result.ptr == end && result.ec != std::errc::invalid_argument;
  decimal.in_range = result.ec == std::errc() && std::isfinite(decimal.value);
  return decimal;
}

bool HasLeadingZero(absl::string_view text) {
  return text.size() > 1 && text[0] == '0' && IsDigit(text[1]);
}

// What a person probably meant by a text that is no plain number: 1_000, 1,000 and 010.
std::string PlainNumberHint(absl::string_view text) {
  std::string plain = absl::StrReplaceAll(text, {{"_", ""}, {",", ""}});
  const bool negative = absl::StartsWith(plain, "-");
  if (negative || absl::StartsWith(plain, "+")) plain.erase(0, 1);
  if (absl::StartsWith(plain, "-") || absl::StartsWith(plain, "+")) return "";
  while (HasLeadingZero(plain)) plain.erase(0, 1);
  if (plain.size() > 30 || !ReadDecimal(plain).valid) return "";
  return absl::StrCat("; did you mean '", negative ? "-" : "", plain, "'?");
}

// 1e3 and 5.0 are integers written as floats.
std::string IntegerHint(absl::string_view text) {
  const absl::StatusOr<double> value = ParseFloat(text);
  if (!value.ok()) return PlainNumberHint(text);
  if (*value != std::floor(*value) || std::abs(*value) > 1e15) return "";
  return absl::StrCat("; did you mean '", static_cast<int64_t>(*value), "'?");
}

}  // namespace

absl::StatusOr<int64_t> ParseInt(absl::string_view text) {
  const Decimal decimal = ReadDecimal(text);
  if (!decimal.valid || !std::all_of(decimal.text.begin(), decimal.text.end(), IsDigit)) {
    return absl::InvalidArgumentError(absl::StrCat("not an integer", IntegerHint(text)));
  }
  if (HasLeadingZero(decimal.text)) {
    return absl::InvalidArgumentError(
        absl::StrCat("an integer with leading zeros", PlainNumberHint(text)));
  }
  int64_t value = 0;
  if (!absl::SimpleAtoi(decimal.text, &value)) {
    return absl::OutOfRangeError("too large for a 64-bit integer");
  }
  return decimal.negative ? -value : value;
}

absl::StatusOr<double> ParseFloat(absl::string_view text) {
  const Decimal decimal = ReadDecimal(text);
  if (!decimal.valid) {
    return absl::InvalidArgumentError(absl::StrCat("not a number", PlainNumberHint(text)));
  }
  if (HasLeadingZero(decimal.text)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a number with leading zeros", PlainNumberHint(text)));
  }
  if (!decimal.in_range) {
    return absl::OutOfRangeError("too large or too small for a 64-bit float");
  }
  return decimal.negative ? -decimal.value : decimal.value;
}

absl::StatusOr<bool> ParseBool(absl::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  const std::string lower = absl::AsciiStrToLower(text);
  std::string hint;
  if (lower == "on" || lower == "yes" || lower == "y" || lower == "1" || lower == "true") {
    hint = "; did you mean 'true'?";
  } else if (lower == "off" || lower == "no" || lower == "n" || lower == "0" || lower == "false") {
    hint = "; did you mean 'false'?";
  }
  return absl::InvalidArgumentError(absl::StrCat("not a truth value", hint));
}

std::string FloatText(double value) {
  const double magnitude = std::abs(value);
  const bool fixed = magnitude == 0.0 || (magnitude >= 1e-6 && magnitude < 1e15);
  char buffer[64];
  const auto result =
      std::to_chars(buffer, buffer + sizeof(buffer), value,
                    fixed ? std::chars_format::fixed : std::chars_format::scientific);
  return std::string(buffer, result.ptr);
}

std::string QuotedForMessage(absl::string_view text) {
  constexpr size_t kLongest = 60;
  const bool cut = text.size() > kLongest;
  text = text.substr(0, kLongest);
  return absl::StrCat("'", EscapedForMessage(text, ""), cut ? "..." : "", "'");
}

std::string YamlText(absl::string_view text) {
  bool plain = !text.empty() && absl::ascii_isalnum(static_cast<unsigned char>(text[0]));
  for (const char c : text) {
    plain = plain && (absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                      absl::StrContains("_-./:", absl::string_view(&c, 1)));
  }
  const std::string lower = absl::AsciiStrToLower(text);
  if (plain && lower != "null" && text.back() != ':') return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      absl::StrAppend(&quoted, "\\", absl::string_view(&c, 1));
    } else if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) {
      absl::StrAppend(&quoted, "\\x", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    } else {
      quoted.push_back(c);
    }
  }
  return quoted + "\"";
}

}  // namespace lzero
