#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "lzero/mcts/golden/golden.h"
#include "tools/verbs/plain/plain_verbs.h"
#include "tools/verbs/support/interrupt.h"
#include "tools/verbs/support/verb_support.h"

namespace lzero {

namespace {

constexpr size_t kMaxPrinted = 20;  // differences of one file

}  // namespace

int SearchReplay(const std::vector<std::string>& files) {
  if (files.empty()) {
    return PrintError(
        absl::InvalidArgumentError("search replay: no file given; allowed: one or more"),
        kExitUsage);
  }
  int exit_code = 0;
  for (const std::string& file : files) {
    const auto report = ReplayGoldenFile(file);
    if (!report.ok()) {
      exit_code = PrintError(report.status(), kExitUsage);
      continue;
    }
    // Report what differs.
    const auto& differences = report->differences;
    if (differences.empty()) {
      std::printf("ok  %s  nodes %d\n", file.c_str(), report->num_nodes);
      continue;
    }
    exit_code = std::max(exit_code, 1);
    std::printf("differs  %s  differences %zu\n", file.c_str(), differences.size());
    for (size_t i = 0; i < std::min(kMaxPrinted, differences.size()); ++i) {
      std::printf("  %s\n", differences[i].c_str());
    }
    if (differences.size() > kMaxPrinted) {
      std::printf("  and %zu more\n", differences.size() - kMaxPrinted);
    }
  }
  return exit_code;
}

}  // namespace lzero
