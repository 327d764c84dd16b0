// What is wrong with a command line, in the words of every other error: which verb, what was given,
// what is allowed. Knows no parser (main.cc does); pure functions.
#ifndef LZERO_TOOLS_VERBS_SUPPORT_USAGE_ERROR_H_
#define LZERO_TOOLS_VERBS_SUPPORT_USAGE_ERROR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace lzero {

// The verb that the command line got to, and what may follow it.
struct VerbSyntax {
  std::string name;                  // "envs check"; "" for the program itself
  std::vector<std::string> options;  // "--seed", "--steps"
  std::vector<std::string> verbs;    // those that may follow: "list", "check"
  bool takes_settings = false;       // words key.path=value
};

// For `word`, which stands where a verb must and is none.
std::string UnknownVerbText(const VerbSyntax& verb, const std::string& word);

// For the first of `unexpected` (words that fit nowhere) on the command line.
std::string UnexpectedWordText(const VerbSyntax& verb, absl::Span<const std::string> command_line,
                               absl::Span<const std::string> unexpected);

// For an error that CLI11 calls `error_name` and words as `message`; `program` is what the user
// types to run lzero.
std::string ParseErrorText(const VerbSyntax& verb, const std::string& error_name,
                           const std::string& message, const std::string& program);

// What is wrong with `text` as a number from `low` to `high`, for a parser to put behind the
// option's name; "" if nothing is. Numbers are those of configs: CLI11 alone takes 010 for eight,
// 1e400 and nan for numbers, and -1 for the largest seed.
std::string IntegerError(const std::string& text, int64_t low, int64_t high);
std::string NumberError(const std::string& text, double low, double high);  // may be infinite
std::string SeedError(const std::string& text);                             // 0 .. 2^64 - 1

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_SUPPORT_USAGE_ERROR_H_
