#include "lzero/base/log.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "spdlog/pattern_formatter.h"
#include "spdlog/sinks/basic_file_sink.h"
#include "spdlog/sinks/dist_sink.h"
#include "spdlog/sinks/stdout_color_sinks.h"
#include "spdlog/spdlog.h"

namespace lzero {
namespace {

std::shared_ptr<spdlog::sinks::stderr_color_sink_mt> TerminalSink() {
  static auto sink = [] {
    auto made = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
    made->set_pattern("%^%v%$");
    return made;
  }();
  return sink;
}

// Terminal and log file behind one lock, so that a file can be set while other threads log.
std::shared_ptr<spdlog::sinks::dist_sink_mt> AllSinks() {
  static auto sinks =
      std::make_shared<spdlog::sinks::dist_sink_mt>(std::vector<spdlog::sink_ptr>{TerminalSink()});
  return sinks;
}

spdlog::logger& Logger() {
  static auto* logger = [] {
    auto* made = new spdlog::logger("lzero", AllSinks());
    made->set_level(spdlog::level::debug);
    made->flush_on(spdlog::level::info);
    TerminalSink()->set_level(spdlog::level::info);
    return made;
  }();
  return *logger;
}

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

absl::string_view Prefix(LogLevel level) {
  if (level == LogLevel::kWarning) return "warning: ";
  if (level == LogLevel::kError) return "error: ";
  return "";
}

}  // namespace

void LogLine(LogLevel level, absl::string_view message) {
  Logger().log(ToSpdlog(level), "{}", absl::StrCat(Prefix(level), message));
}

absl::Status SetLogFile(const std::string& path) {
  try {  // spdlog reports an unwritable file by an exception; it ends here
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path);
    sink->set_formatter(std::make_unique<spdlog::pattern_formatter>(
        "%Y-%m-%dT%H:%M:%S.%eZ %L %v", spdlog::pattern_time_type::utc));
    sink->set_level(spdlog::level::info);
    AllSinks()->set_sinks({TerminalSink(), std::move(sink)});
  } catch (const spdlog::spdlog_ex& error) {
    return absl::UnavailableError(absl::StrCat("cannot open log file ", path, ": ", error.what()));
  }
  return absl::OkStatus();
}

void SetLogLevel(LogLevel level) {
  Logger();  // sets the first level
  TerminalSink()->set_level(ToSpdlog(level));
}

}  // namespace lzero
