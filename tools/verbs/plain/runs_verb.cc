// `lzero runs`: a table of the runs in a folder, or JSON.
#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lzero/base/text/natural_order.h"
#include "lzero/base/text/printable.h"
#include "lzero/results/run_record.h"
#include "lzero/run/progress.h"
#include "nlohmann/json.hpp"
#include "tools/verbs/plain/results_verbs.h"
#include "tools/verbs/support/interrupt.h"
#include "tools/verbs/support/text_table.h"
#include "tools/verbs/support/verb_support.h"

namespace lzero {
namespace {

struct RunsOptions {
  std::string folder = "runs";
  bool json = false;
};

// A run folder and what is in it, or why that cannot be read.
struct ListedRun {
  std::string path;
  absl::StatusOr<RunRecord> run;
};

std::string ReturnText(const RunRecord& run, double (*score)(const RunRecord&)) {
  return run.evaluations.empty() ? "-" : absl::StrFormat("%.2f", score(run));
}

std::string MessageOf(const ListedRun& listed) {
  return listed.run.ok() ? listed.run->message : std::string(listed.run.status().message());
}

std::string GroupName(const RunRecord& run) {
  return absl::StrCat(EnvironmentOf(run.config), "\n", run.name);
}

void PrintTable(const std::vector<ListedRun>& runs) {
  TextTable table("llrlrrrrl", {"config", "environment", "seed", "state", "env steps", "best",
                                "last", "minutes", "path"});
  for (const ListedRun& listed : runs) {
    if (!listed.run.ok()) {
      table.Add({"?", "?", "-", "broken", "-", "-", "-", "-", listed.path});
      continue;
    }
    const RunRecord& run = *listed.run;
    table.Add({run.name, EnvironmentOf(run.config), absl::StrCat(run.config.seed), run.state,
               FormatCount(run.env_steps), ReturnText(run, BestReturn),
               ReturnText(run, FinalReturn), absl::StrFormat("%.1f", run.wall_seconds / 60.0),
               run.path});
  }
  std::printf("%s", table.Text().c_str());
  for (const ListedRun& listed : runs) {
    const std::string why = MessageOf(listed);
    if (why.empty()) continue;
    // A traceback has its place in the run's log.
    std::printf(
        "%s\n",
        PrintableMessage(absl::StrCat(listed.path, ": ", why.substr(0, why.find('\n')))).c_str());
  }
}

void PrintJson(const std::vector<ListedRun>& runs) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const ListedRun& listed : runs) {
    Json row;
    row["path"] = listed.path;
    row["state"] = listed.run.ok() ? listed.run->state : "broken";
    row["message"] = MessageOf(listed);
    if (listed.run.ok()) {
      const RunRecord& run = *listed.run;
      row["name"] = run.name;
      row["environment"] = EnvironmentOf(run.config);
      row["seed"] = run.config.seed;
      row["env_steps"] = run.env_steps;
      row["num_evaluations"] = run.evaluations.size();
      row["best_return"] = run.evaluations.empty() ? Json(nullptr) : Json(BestReturn(run));
      row["last_return"] = run.evaluations.empty() ? Json(nullptr) : Json(FinalReturn(run));
      row["wall_seconds"] = run.wall_seconds;
      row["start_time"] = run.start_time;
    }
    list.push_back(std::move(row));
  }
  std::printf("%s\n", list.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

int Runs(const RunsOptions& options) {
  const auto paths = FindRuns(options.folder);
  if (!paths.ok()) return PrintError(paths.status(), kExitUsage);
  std::vector<ListedRun> runs;
  for (const std::string& path : *paths) runs.push_back({path, ReadRun(path)});
  // By environment, config, seed and path, so that what belongs together stands together.
  std::stable_sort(runs.begin(), runs.end(), [](const ListedRun& a, const ListedRun& b) {
    if (!a.run.ok() || !b.run.ok()) return a.run.ok() && !b.run.ok();
    const std::string first = GroupName(*a.run), second = GroupName(*b.run);
    return first == second ? a.run->config.seed < b.run->config.seed : NaturalLess(first, second);
  });
  if (options.json) {
    PrintJson(runs);
  } else if (runs.empty()) {
    std::printf("no runs in %s\n", options.folder.c_str());
  } else {
    PrintTable(runs);
  }
  return kExitOk;
}

}  // namespace

void AddRuns(CLI::App& app, VerbAction* action) {
  auto* options = Keep<RunsOptions>();
  CLI::App* runs = app.add_subcommand("runs", "List the runs in a folder: state, returns, time");
  runs->add_option("folder", options->folder, "Where to look, at any depth")->capture_default_str();
  runs->add_flag("--json", options->json, "A JSON list instead of the table");
  runs->callback([=] { *action = [=] { return Runs(*options); }; });
}

}  // namespace lzero
