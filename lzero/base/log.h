// Messages for the person at the terminal, kept in a log file too. spdlog does the work behind this
// header. Thread-safe. Results that a program may read go to stdout by the verb itself, never here.
#ifndef LZERO_BASE_LOG_H_
#define LZERO_BASE_LOG_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace lzero {

// kDetail: on the terminal only after ShowDetails; in the log file always.
enum class LogLevel { kDetail, kInfo, kWarning, kError };

// Writes one line to stderr and, when set, to the log file, fit for a terminal.
void LogLine(LogLevel level, absl::string_view message);

// From now on details are shown on the terminal too: what a user asks for with --verbose.
void ShowDetails();
bool ShowsDetails();

// From now on every line is appended to `path` as well, with a UTC time stamp.
absl::Status SetLogFile(const std::string& path);

}  // namespace lzero

// LZ_LOG_INFO("replay holds ", n, " steps"): the parts go through absl::StrCat.
#define LZ_LOG_DETAIL(...) ::lzero::LogLine(::lzero::LogLevel::kDetail, ::absl::StrCat(__VA_ARGS__))
#define LZ_LOG_INFO(...) ::lzero::LogLine(::lzero::LogLevel::kInfo, ::absl::StrCat(__VA_ARGS__))
#define LZ_LOG_WARNING(...) \
  ::lzero::LogLine(::lzero::LogLevel::kWarning, ::absl::StrCat(__VA_ARGS__))
#define LZ_LOG_ERROR(...) ::lzero::LogLine(::lzero::LogLevel::kError, ::absl::StrCat(__VA_ARGS__))

#endif  // LZERO_BASE_LOG_H_
