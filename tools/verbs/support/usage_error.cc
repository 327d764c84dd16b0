#include "tools/verbs/support/usage_error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "lzero/base/nearest.h"
#include "lzero/config/scalar_text.h"
#include "lzero/config/schema.h"
#include "lzero/config/synonyms.h"

namespace lzero {
namespace {

// What verbs of ours are called in other programs.
constexpr std::pair<const char*, const char*> kVerbsElsewhere[] = {
    {"evaluate", "eval"}, {"test", "eval"},    {"play", "eval"},      {"enjoy", "eval"},
    {"run", "train"},     {"learn", "train"},  {"fit", "train"},      {"continue", "resume"},
    {"show", "inspect"},  {"info", "inspect"}, {"benchmark", "bench"}};

std::string Prefix(const VerbSyntax& verb) {
  return verb.name.empty() ? "" : absl::StrCat(verb.name, ": ");
}

std::string VerbList(const VerbSyntax& verb) {
  const std::string of = verb.name.empty() ? "" : verb.name + " ";
  return absl::StrCat("the verbs are: ", of, absl::StrJoin(verb.verbs, ", " + of));
}

bool IsOption(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

// The value of an option that is not known: 3 of "--seed=3", and of "--seed" before "3".
std::string ValueOf(const std::string& option, absl::Span<const std::string> after) {
  const size_t equals = option.find('=');
  if (equals != option.npos) return option.substr(equals + 1);
  const bool has_value = !after.empty() && !IsOption(after[0]) && !absl::StrContains(after[0], '=');
  return has_value ? after[0] : "VALUE";
}

// What to type in place of an option that other programs have.
std::string InPlaceOf(const std::string& verb, const std::string& option,
                      const std::string& value) {
  const std::string word =
      absl::StrReplaceAll(absl::AsciiStrToLower(option.substr(2)), {{"-", "_"}});
  if (word == "config" && verb == "resume") return "; a run goes on with its own config";
  if (word == "config") return absl::StrCat("; the config follows the verb: ", verb, " ", value);
  if (word == "resume") return absl::StrCat("; that is a verb: resume ", value);
  ExperimentConfig defaults;
  std::string key = word;
  if (FindField(FieldsOf(defaults), word) == nullptr) {
    const std::string hint = NearestKeyHint(word, &key);
    const Synonyms* const synonym = FindSynonym(word);
    if (key.empty() && synonym != nullptr) return hint;
    if (key.empty()) key = word;
  }
  return absl::StrCat("; a setting of the config is given without dashes: ", key, "=", value);
}

std::string UnknownOptionText(const VerbSyntax& verb, const std::string& option,
                              absl::Span<const std::string> after) {
  const std::string name = option.substr(0, option.find('='));
  if (std::count(verb.options.begin(), verb.options.end(), name) > 0) {
    return absl::StrCat(Prefix(verb), "option ", QuotedForMessage(option),
                        " stands before the verb that takes it");
  }
  const std::string unknown =
      absl::StrCat(Prefix(verb), "unknown option ", QuotedForMessage(option));
  if (!verb.takes_settings && (name == "--run" || name == "--checkpoint" || name == "--config")) {
    return absl::StrCat(unknown, "; that word follows the verb, without an option");
  }
  const std::string nearest = DidYouMean(name, verb.options);
  if (!nearest.empty()) return unknown + nearest;
  if (verb.takes_settings && absl::StartsWith(option, "--") && option.size() > 2) {
    return unknown + InPlaceOf(verb.name, name, ValueOf(option, after));
  }
  return absl::StrCat(unknown, "; allowed: ", absl::StrJoin(verb.options, ", "));
}

}  // namespace

std::string UnknownVerbText(const VerbSyntax& verb, const std::string& word) {
  const std::string of = verb.name.empty() ? "" : verb.name + " ";
  std::string hint = DidYouMean(word, verb.verbs);
  for (const auto& [other, ours] : kVerbsElsewhere) {
    const bool is_here = std::count(verb.verbs.begin(), verb.verbs.end(), ours) > 0;
    if (word == other && is_here) hint = absl::StrCat("; did you mean '", ours, "'?");
  }
  return absl::StrCat("unknown verb ", QuotedForMessage(of + word), hint, "; ", VerbList(verb));
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
  return absl::StrCat(Prefix(verb), "unexpected argument ",
                      QuotedForMessage(first == command_line.end() ? unexpected[0] : *first));
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
    return absl::StrCat(Prefix(verb), rest.substr(0, rest.find(" = ")), ": cannot read ",
                        QuotedForMessage(message.substr(equals + 3)), help);
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
