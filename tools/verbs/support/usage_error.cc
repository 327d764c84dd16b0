#include "tools/verbs/support/usage_error.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "lzero/base/nearest.h"
#include "lzero/config/scalar_text.h"

namespace lzero {
namespace {

std::string Prefix(const VerbSyntax& verb) {
  return verb.name.empty() ? "" : absl::StrCat(verb.name, ": ");
}

std::string VerbList(const VerbSyntax& verb) {
  const std::string of = verb.name.empty() ? "" : verb.name + " ";
  return absl::StrCat("the verbs are: ", of, absl::StrJoin(verb.verbs, ", " + of));
}

bool IsOption(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

// "--seed=3", or "--seed" before "3", as the setting seed=3.
std::string AsSetting(const std::string& option, absl::Span<const std::string> after) {
  const std::string setting = option.substr(option.find_first_not_of('-'));
  if (absl::StrContains(setting, '=')) return setting;
  const bool has_value = !after.empty() && !IsOption(after[0]) && !absl::StrContains(after[0], '=');
  return absl::StrCat(setting, "=", has_value ? after[0] : "VALUE");
}

std::string UnknownOptionText(const VerbSyntax& verb, const std::string& option,
                              absl::Span<const std::string> after) {
  const std::string name = option.substr(0, option.find('='));
  if (std::count(verb.options.begin(), verb.options.end(), name) > 0) {
    return absl::StrCat(Prefix(verb), "option '", option, "' stands before the verb that takes it");
  }
  const std::string unknown = absl::StrCat(Prefix(verb), "unknown option '", option, "'");
  const std::string nearest = DidYouMean(name, verb.options);
  if (!nearest.empty()) return unknown + nearest;
  if (verb.takes_settings && absl::StartsWith(option, "--") && option.size() > 2) {
    return absl::StrCat(
        unknown, "; a setting of the config is given without dashes: ", AsSetting(option, after));
  }
  return absl::StrCat(unknown, "; allowed: ", absl::StrJoin(verb.options, ", "));
}

}  // namespace

std::string UnknownVerbText(const VerbSyntax& verb, const std::string& word) {
  const std::string of = verb.name.empty() ? "" : verb.name + " ";
  return absl::StrCat("unknown verb '", of, word, "'", DidYouMean(word, verb.verbs), "; ",
                      VerbList(verb));
}

std::string UnexpectedWordText(const VerbSyntax& verb, absl::Span<const std::string> command_line,
                               absl::Span<const std::string> unexpected) {
  const auto is_unexpected = [&](const std::string& word) {
    return std::count(unexpected.begin(), unexpected.end(), word) > 0;
  };
  // An option that is not known drags the value behind it along: it comes first.
  for (size_t i = 1; i < command_line.size(); ++i) {
    if (is_unexpected(command_line[i]) && IsOption(command_line[i])) {
      return UnknownOptionText(verb, command_line[i], command_line.subspan(i + 1));
    }
  }
  const auto first = std::find_if(command_line.begin(), command_line.end(), is_unexpected);
  return absl::StrCat(Prefix(verb), "unexpected argument '",
                      first == command_line.end() ? unexpected[0] : *first, "'");
}

std::string ParseErrorText(const VerbSyntax& verb, const std::string& error_name,
                           const std::string& message, const std::string& program) {
  const std::string help =
      absl::StrCat("; see: ", program, verb.name.empty() ? "" : " ", verb.name, " --help");
  if (error_name == "RequiredError") {
    if (!verb.verbs.empty())
      return absl::StrCat(Prefix(verb), "a verb is needed; ", VerbList(verb));
    return absl::StrCat(Prefix(verb), absl::StripSuffix(message, " is required"), " is needed",
                        help);
  }
  if (error_name == "ArgumentMismatch") {
    return absl::StrCat(Prefix(verb), message.substr(0, message.find(':')), " needs a value", help);
  }
  // "Could not convert: --batch = 8,many"
  absl::string_view rest = message;
  const size_t equals = message.find(" = ");
  if (absl::ConsumePrefix(&rest, "Could not convert: ") && equals != std::string::npos) {
    return absl::StrCat(Prefix(verb), rest.substr(0, rest.find(" = ")), ": cannot read '",
                        message.substr(equals + 3), "'", help);
  }
  return absl::StrCat(Prefix(verb), message);
}

std::string IntegerError(const std::string& text, int64_t low, int64_t high) {
  const auto value = ParseInt(text);
  if (value.ok() && low <= *value && *value <= high) return "";
  return absl::StrCat("got ", QuotedForMessage(text), ", allowed: an integer from ", low, " to ",
                      high);
}

std::string NumberError(const std::string& text, double low, double high) {
  const auto value = ParseFloat(text);
  if (value.ok() && low <= *value && *value <= high) return "";
  std::string range;
  if (std::isfinite(low)) absl::StrAppend(&range, " from ", low);
  if (std::isfinite(high)) absl::StrAppend(&range, " to ", high);
  return absl::StrCat("got ", QuotedForMessage(text), ", allowed: a number", range);
}

std::string SeedError(const std::string& text) {
  const bool is_plain = text == "0" || text.find_first_of("123456789") == 0;
  uint64_t seed = 0;
  if (is_plain && absl::SimpleAtoi(text, &seed)) return "";
  return absl::StrCat("got ", QuotedForMessage(text), ", allowed: an integer from 0 to ",
                      std::numeric_limits<uint64_t>::max());
}

}  // namespace lzero
