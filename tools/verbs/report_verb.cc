// `lzero report`: one HTML file about runs. Exit codes: 0 ok, 1 failure, 2 usage or runs that
// cannot be read, 130 interrupted.
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/files.h"
#include "lzero/base/machine.h"
#include "lzero/base/stopwatch.h"
#include "lzero/nn/threads.h"
#include "lzero/report/report_page.h"
#include "tools/verbs/agent_verbs.h"
#include "tools/verbs/plain/results_verbs.h"
#include "tools/verbs/report_pictures.h"
#include "tools/verbs/support/interrupt.h"
#include "tools/verbs/support/source_commit.h"
#include "tools/verbs/support/verb_support.h"

namespace lzero {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostPictureBytes = 200 << 10;   // of one
constexpr size_t kAllPicturesBytes = 1800 << 10;  // of a report
constexpr double kAllPicturesSeconds = 40.0;      // of play in a report

struct ReportOptions {
  std::vector<std::string> paths;
  std::string out_path;
  bool no_pictures = false;
};

// An earlier report is replaced, any other file is not: a mistyped --out must not cost one.
absl::Status CheckOut(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  if (!folder.empty() && !IsDirectory(folder.string())) {
    return absl::NotFoundError(absl::StrCat("--out: no folder ", folder.string()));
  }
  if (IsDirectory(path)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--out: ", path, " is a folder; allowed: a file"));
  }
  std::error_code code;
  if (!fs::is_regular_file(path, code) || fs::file_size(path, code) == 0) return absl::OkStatus();
  const auto text = ReadFile(path);
  if (text.ok() && absl::StrContains(text->substr(0, 400), kReportMark)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--out: ", path, " exists and is no report; it is left as it is"));
}

int Report(const ReportOptions& options) {
  const absl::Status usage = CheckOut(options.out_path);
  if (!usage.ok()) return PrintError(usage, kExitUsage);
  const std::atomic<bool>* stop = WatchInterrupts(kReportInterrupt);
  const double start = MonotonicSeconds();
  auto input = ReadReportInput(options.paths, MachineCores());
  if (!input.ok()) return PrintError(input.status(), kExitUsage);
  PrintSkipped(input->runs.skipped);
  input->program = ProgramCommand();
  input->version = absl::StrCat(LZERO_VERSION, " (", SourceCommit(), ")");
  if (!options.no_pictures) {
    SetTensorThreads(1);
    const size_t num_groups = input->runs.groups.size();
    const size_t most = std::min(kMostPictureBytes, kAllPicturesBytes / (3 * num_groups));
    const double end = MonotonicSeconds() + kAllPicturesSeconds;
    for (size_t i = 0; i < num_groups; ++i) {
      // What is left, in equal parts.
      const double seconds = (end - MonotonicSeconds()) / static_cast<double>(num_groups - i);
      input->pictures.push_back(PlayPictures(input->runs.groups[i], most, seconds, stop));
      const std::string& problem = input->pictures.back().problem;
      if (!problem.empty()) std::fprintf(stderr, "%s\n", problem.c_str());
    }
  }
  if (stop->load()) return kExitInterrupted;
  const std::string page = ReportPage(*input);
  const absl::Status written = WriteOutput(options.out_path, page);
  if (!written.ok()) return PrintError(written, kExitFailure);
  size_t num_runs = 0;
  for (const RunGroup& group : input->runs.groups) num_runs += group.runs.size();
  std::printf("report        %s: runs %d, groups %d, %.1f MB, in %.1f s\n",
              options.out_path.c_str(), static_cast<int>(num_runs),
              static_cast<int>(input->runs.groups.size()), static_cast<double>(page.size()) / 1e6,
              MonotonicSeconds() - start);
  return kExitOk;
}

}  // namespace

void AddReport(CLI::App& app, VerbAction* action) {
  auto* options = Keep<ReportOptions>();
  CLI::App* report =
      app.add_subcommand("report", "Write one HTML file about runs: curves, tables, episodes");
  report
      ->add_option("runs", options->paths,
                   "Run folders, and folders with run folders in them: a group for each config")
      ->required();
  report->add_option("--out", options->out_path, "The file; an earlier report in it is replaced")
      ->required()
      ->check(NotEmpty("a file"));
  report->add_flag("--no-pictures", options->no_pictures, "Play no episodes");
  report->callback([=] { *action = [=] { return Report(*options); }; });
}

}  // namespace lzero
