#include "lzero/base/log.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lzero/base/text/printable.h"
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
    made->set_level(spdlog::level::info);
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

}  // namespace

void LogLine(LogLevel level, absl::string_view message) {
  static auto* const logger = [] {
    auto* made = new spdlog::logger("lzero", AllSinks());
    made->set_level(spdlog::level::debug);
    made->flush_on(spdlog::level::debug);
    return made;
  }();
  constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::debug, spdlog::level::info,
                                                   spdlog::level::warn, spdlog::level::err};
  constexpr const char* kPrefixes[] = {"", "", "warning: ", "error: "};
  const auto index = static_cast<size_t>(level);
  logger->log(kLevels[index], "{}{}", kPrefixes[index], PrintableMessage(message));
}

void ShowDetails() { TerminalSink()->set_level(spdlog::level::debug); }
bool ShowsDetails() { return TerminalSink()->should_log(spdlog::level::debug); }

absl::Status SetLogFile(const std::string& path) {
  try {  // spdlog reports an unwritable file by an exception; it ends here
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path);
    sink->set_formatter(std::make_unique<spdlog::pattern_formatter>(
        "%Y-%m-%dT%H:%M:%S.%eZ %L %v", spdlog::pattern_time_type::utc));
    AllSinks()->set_sinks({TerminalSink(), std::move(sink)});
  } catch (const spdlog::spdlog_ex& error) {
    return absl::UnavailableError(absl::StrCat("cannot open log file ", path, ": ", error.what()));
  }
  return absl::OkStatus();
}

}  // namespace lzero
