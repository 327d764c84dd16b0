#include "tools/bench/bench_command.h"

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tools/bench/bench_engine_search.h"
#include "tools/bench/bench_growth.h"
#include "tools/bench/bench_parity.h"
#include "tools/bench/bench_step.h"
#include "tools/bench/bench_train.h"
#include "tools/bench/table/bench_search.h"
#include "tools/verbs/support/interrupt.h"
#include "tools/verbs/support/verb_support.h"

namespace lzero {
namespace {

void AddOutput(CLI::App* verb, BenchOutputOptions* output) {
  verb->add_flag("--json", output->json_only, "Only the JSON lines, no table");
  verb->add_option("--against", output->against,
                   "Compare with a saved run: the output of the same verb in a file")
      ->check([](const std::string& text) {
        return text.empty() ? "got '', allowed: a file" : std::string();
      });
}

// The ranges of the config's settings.
constexpr int kMostEmbed = 65536, kMostLayers = 256, kMostHeads = 1024, kMostContext = 65536;
constexpr int kMostSupport = 100001;

void AddDevice(CLI::App* verb, std::string* device) {
  verb->add_option("--device", *device, "cpu or cuda")->capture_default_str();
}

template <typename T>
void AddRounds(CLI::App* verb, T* rounds) {
  verb->add_option("--rounds", *rounds, "Interleaved rounds")
      ->check(InRange(5, 1000))
      ->capture_default_str();
}

void AddBenchStep(CLI::App* bench, VerbAction* action) {
  auto* step = Keep<BenchStepOptions>();
  CLI::App* verb = bench->add_subcommand(
      "step",
      "The recurrent step beside the machine's peaks. Lists (8,32,128) are swept, every "
      "combination is a case; without sizes: the standard table");
  AddList(verb, "--embed", &step->embed, "Embedding sizes E (64 when other sizes are given)",
          kMostEmbed);
  AddList(verb, "--layers", &step->layers, "Transformer layers L (2)", kMostLayers);
  AddList(verb, "--heads", &step->heads, "Attention heads H (2)", kMostHeads);
  AddList(verb, "--batch", &step->batch, "Environments B (8)", 65536);
  AddList(verb, "--context", &step->context, "Context lengths W in tokens", kMostContext);
  AddList(verb, "--support", &step->support, "Support sizes S", kMostSupport);
  AddList(verb, "--actions", &step->actions, "Actions A", 65536);
  AddDevice(verb, &step->device);
  AddList(verb, "--runner", &step->runners,
          "Runners of the config: auto, eager, packed (eager and packed); on a CUDA device auto, "
          "eager, cuda_graph (the last two)");
  AddList(verb, "--dtype", &step->dtypes, "Numbers of the weights: fp32, bf16 for packed (fp32)");
  AddList(verb, "--threads", &step->threads, "Threads of the step, and of the peaks beside it (1)",
          256);
  AddRounds(verb, &step->rounds);
  AddOutput(verb, &step->output);
  verb->callback([=] { *action = [=] { return BenchStep(*step); }; });
}

void AddBenchTrain(CLI::App* bench, VerbAction* action) {
  auto* train = Keep<BenchTrainOptions>();
  CLI::App* verb = bench->add_subcommand(
      "train",
      "One update of the learner on a sampled batch. Lists (64,256) are swept, every combination "
      "is a case; without sizes: the standard table");
  AddList(verb, "--embed", &train->embed, "Embedding sizes E (64 when other sizes are given)",
          kMostEmbed);
  AddList(verb, "--layers", &train->layers, "Transformer layers L (2)", kMostLayers);
  AddList(verb, "--heads", &train->heads, "Attention heads H (2)", kMostHeads);
  AddList(verb, "--batch", &train->batch, "Samples of an update N (256)", 65536);
  AddList(verb, "--unroll", &train->unroll, "Unroll steps U (5)", 10000);
  AddList(verb, "--context", &train->context, "Context lengths W in tokens (8)", kMostContext);
  AddList(verb, "--support", &train->support, "Support sizes S (101)", kMostSupport);
  AddList(verb, "--actions", &train->actions, "Actions A (2)", 65536);
  AddList(verb, "--encoder", &train->encoders, "Encoders: vector, board, image (vector)");
  AddList(verb, "--observation", &train->observations, "Observations, as 4 or 3x64x64 (4)");
  AddList(verb, "--threads", &train->threads, "Threads of the update and of the peak beside it (1)",
          256);
  AddRounds(verb, &train->rounds);
  AddOutput(verb, &train->output);
  verb->callback([=] { *action = [=] { return BenchTrain(*train); }; });
}

void AddBenchGrowth(CLI::App* bench, VerbAction* action) {
  auto* growth = Keep<BenchGrowthOptions>();
  CLI::App* verb = bench->add_subcommand(
      "growth", "A search costs the same however many simulations or steps came before");
  AddList(verb, "--runner", &growth->runners, "Runners: eager, packed");
  verb->add_option("--embed", growth->embed, "Embedding size E")
      ->check(InRange(1, kMostEmbed))
      ->capture_default_str();
  verb->add_option("--batch", growth->batch, "Environments B")
      ->check(InRange(1, 4096))
      ->capture_default_str();
  verb->add_option("--sims", growth->simulations, "Simulations of the long search")
      ->check(InRange(201, 100000))
      ->capture_default_str();
  verb->add_option("--steps", growth->episode_steps, "Steps of the long episode")
      ->check(InRange(10, 10000000))
      ->capture_default_str();
  AddRounds(verb, &growth->rounds);
  AddOutput(verb, &growth->output);
  verb->callback([=] { *action = [=] { return BenchGrowth(*growth); }; });
}

void AddBenchUnload(CLI::App* bench, VerbAction* action) {
  auto* unload = Keep<BenchUnloadOptions>();
  CLI::App* verb = bench->add_subcommand(
      "unload", "Load, search and unload an engine again and again: memory after each cycle");
  AddDevice(verb, &unload->device);
  AddList(verb, "--runner", &unload->runners,
          "Runners of the config (packed; on a CUDA device eager, cuda_graph)");
  AddList(verb, "--embed", &unload->embed, "Embedding sizes E", 16384);
  verb->add_option("--batch", unload->batch, "Environments B")
      ->check(InRange(1, 4096))
      ->capture_default_str();
  verb->add_option("--sims", unload->simulations, "Simulations of a search")
      ->check(InRange(1, 100000))
      ->capture_default_str();
  verb->add_option("--cycles", unload->cycles, "Cycles")
      ->check(InRange(1, 10000))
      ->capture_default_str();
  verb->add_option("--dtype", unload->dtype, "Numbers of the weights: fp32, bf16 for packed")
      ->capture_default_str();
  verb->add_option("--threads", unload->threads, "Threads of the step")
      ->check(InRange(1, 256))
      ->capture_default_str();
  AddOutput(verb, &unload->output);
  verb->callback([=] { *action = [=] { return BenchUnload(*unload); }; });
}

void AddBenchParity(CLI::App* bench, VerbAction* action) {
  auto* parity = Keep<BenchParityOptions>();
  CLI::App* verb = bench->add_subcommand(
      "parity", "The same searches on another runner as on eager: what differs");
  AddDevice(verb, &parity->device);
  AddList(verb, "--runner", &parity->runners,
          "Runners of the config (packed, in fp32 and bf16; on a CUDA device cuda_graph)");
  verb->add_option("--embed", parity->embed, "Embedding size E")
      ->check(InRange(1, kMostEmbed))
      ->capture_default_str();
  verb->add_option("--batch", parity->batch, "Environments B")
      ->check(InRange(1, 4096))
      ->capture_default_str();
  verb->add_option("--actions", parity->actions, "Actions A")
      ->check(InRange(1, 1024))
      ->capture_default_str();
  verb->add_option("--sims", parity->simulations, "Simulations of a search")
      ->check(InRange(1, 100000))
      ->capture_default_str();
  verb->add_option("--searches", parity->searches, "Searches of B roots each")
      ->check(InRange(1, 100000))
      ->capture_default_str();
  AddOutput(verb, &parity->output);
  verb->callback([=] { *action = [=] { return BenchParity(*parity); }; });
}

// Without a runner the tree work alone.
void AddBenchSearch(CLI::App* bench, VerbAction* action) {
  auto* tree = Keep<SearchBenchOptions>();
  auto* engine = Keep<BenchEngineSearchOptions>();
  CLI::App* verb = bench->add_subcommand(
      "search",
      "Tree work of a search, and its signature; with --runner or a CUDA device whole searches of "
      "an engine. Lists (8,256) are swept");
  AddList(verb, "--actions", &tree->actions, "Actions (6 for an engine)");
  AddList(verb, "--batch", &tree->batches, "Roots (8 for an engine)");
  AddList(verb, "--sims", &tree->simulations, "Simulations (50 for an engine)", 100000);
  AddList(verb, "--policy", &tree->policies, "puct, gumbel (puct for an engine)");
  AddDevice(verb, &engine->step.device);
  AddList(verb, "--runner", &engine->step.runners, "Runners of the config, as for bench step");
  AddList(verb, "--embed", &engine->step.embed, "Of an engine: embedding sizes E (64)", kMostEmbed);
  AddList(verb, "--layers", &engine->step.layers, "Transformer layers L (2)", kMostLayers);
  AddList(verb, "--heads", &engine->step.heads, "Attention heads H (2)", kMostHeads);
  AddList(verb, "--dtype", &engine->step.dtypes, "Numbers of the weights (fp32)");
  AddList(verb, "--threads", &engine->step.threads, "Threads (1)", 256);
  AddRounds(verb, &tree->rounds);
  AddOutput(verb, &tree->output);
  verb->callback([=] {
    *action = [=] {
      if (engine->step.runners.empty() && engine->step.device == "cpu") {
        for (const char* name : {"--embed", "--layers", "--heads", "--dtype", "--threads"}) {
          if (verb->count(name) == 0) continue;
          return PrintError(absl::InvalidArgumentError(absl::StrCat(
                                name, " is of an engine's search; add --runner, as packed")),
                            kExitUsage);
        }
        return BenchSearch(*tree);
      }
      const auto given = [&](const char* name, const auto& values, auto* list) {
        if (verb->count(name) > 0) list->assign(values.begin(), values.end());
      };
      given("--actions", tree->actions, &engine->step.actions);
      given("--batch", tree->batches, &engine->step.batch);
      given("--sims", tree->simulations, &engine->simulations);
      given("--policy", tree->policies, &engine->policies);
      engine->step.rounds = tree->rounds;
      engine->step.output = tree->output;
      return BenchEngineSearch(*engine);
    };
  });
}

}  // namespace

void AddBench(CLI::App& app, VerbAction* action) {
  CLI::App* bench = app.add_subcommand("bench", "Measure the speed of this build here");
  bench->require_subcommand(1);
  AddBenchSearch(bench, action);
  AddBenchStep(bench, action);
  AddBenchTrain(bench, action);
  AddBenchGrowth(bench, action);
  AddBenchUnload(bench, action);
  AddBenchParity(bench, action);
}

}  // namespace lzero
