#include "tools/bench_command.h"

#include <iostream>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "tools/bench_search.h"
#include "tools/bench_step.h"
#include "tools/bench_train.h"
#include "tools/interrupt.h"
#include "tools/verb_support.h"

namespace lzero {
namespace {

int PrintSearchBench(const SearchBenchOptions& options) {
  const auto lines = BenchSearch(options);
  if (!lines.ok()) return PrintError(lines.status(), kExitUsage);
  for (const std::string& line : *lines) std::cout << line << "\n";
  return kExitOk;
}

void AddBenchStep(CLI::App* bench, VerbAction* action) {
  auto* step = Keep<BenchStepOptions>();
  CLI::App* verb = bench->add_subcommand(
      "step",
      "The recurrent step beside the machine's peaks. Lists (8,32,128) are swept, every "
      "combination is a case; without sizes: the standard table");
  AddList(verb, "--embed", &step->embed, "Embedding sizes E (64 when other sizes are given)");
  AddList(verb, "--layers", &step->layers, "Transformer layers L (2)");
  AddList(verb, "--heads", &step->heads, "Attention heads H (2)");
  AddList(verb, "--batch", &step->batch, "Environments B (8)", 65536);
  AddList(verb, "--context", &step->context, "Context lengths W in tokens");
  AddList(verb, "--support", &step->support, "Support sizes S");
  AddList(verb, "--actions", &step->actions, "Actions A", 65536);
  AddList(verb, "--runner", &step->runners, "Runners; this build has eager");
  AddList(verb, "--dtype", &step->dtypes, "Numbers of the weights; this build has fp32");
  AddList(verb, "--threads", &step->threads, "Threads of the step, and of the peaks beside it",
          256);
  verb->add_option("--rounds", step->rounds, "Interleaved rounds")
      ->check(InRange(5, 1000))
      ->capture_default_str();
  verb->add_flag("--json", step->json_only, "Only the JSON lines, no table");
  verb->callback([=] { *action = [=] { return BenchStep(*step); }; });
}

void AddBenchTrain(CLI::App* bench, VerbAction* action) {
  auto* train = Keep<BenchTrainOptions>();
  CLI::App* verb = bench->add_subcommand(
      "train",
      "One update of the learner on a sampled batch. Lists (64,256) are swept, every combination "
      "is a case; without sizes: the standard table");
  AddList(verb, "--embed", &train->embed, "Embedding sizes E (64 when other sizes are given)");
  AddList(verb, "--layers", &train->layers, "Transformer layers L (2)");
  AddList(verb, "--heads", &train->heads, "Attention heads H (2)");
  AddList(verb, "--batch", &train->batch, "Samples of an update N (256)", 65536);
  AddList(verb, "--unroll", &train->unroll, "Unroll steps U (5)", 10000);
  AddList(verb, "--context", &train->context, "Context lengths W in tokens (8)");
  AddList(verb, "--support", &train->support, "Support sizes S (101)");
  AddList(verb, "--actions", &train->actions, "Actions A (2)", 65536);
  AddList(verb, "--encoder", &train->encoders, "Encoders: vector, board, image (vector)");
  AddList(verb, "--observation", &train->observations, "Observations, as 4 or 3x64x64 (4)");
  AddList(verb, "--threads", &train->threads, "Threads of the update and of the peak beside it (1)",
          256);
  verb->add_option("--rounds", train->rounds, "Interleaved rounds")
      ->check(InRange(5, 1000))
      ->capture_default_str();
  verb->add_flag("--json", train->json_only, "Only the JSON lines, no table");
  verb->callback([=] { *action = [=] { return BenchTrain(*train); }; });
}

}  // namespace

void AddBench(CLI::App& app, VerbAction* action) {
  CLI::App* bench = app.add_subcommand("bench", "Measure the speed of this build here");
  bench->require_subcommand(1);
  auto* tree = Keep<SearchBenchOptions>();
  CLI::App* verb = bench->add_subcommand(
      "search", "Tree work of a search, and its signature. Lists (8,256) are swept");
  AddList(verb, "--actions", &tree->actions, "Actions");
  AddList(verb, "--batch", &tree->batches, "Roots");
  AddList(verb, "--sims", &tree->simulations, "Simulations");
  AddList(verb, "--policy", &tree->policies, "puct, gumbel");
  verb->add_option("--rounds", tree->rounds, "Interleaved rounds")
      ->check(InRange(5, 1000))
      ->capture_default_str();
  verb->add_flag("--json", tree->json, "Only the JSON lines, no table");
  verb->callback([=] { *action = [=] { return PrintSearchBench(*tree); }; });
  AddBenchStep(bench, action);
  AddBenchTrain(bench, action);
}

}  // namespace lzero
