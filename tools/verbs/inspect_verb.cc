// `lzero inspect`: what is in a checkpoint: counters, files, tensors; whether every file is intact.
#include <cstdio>

#include "CLI/CLI.hpp"
#include "absl/strings/str_join.h"
#include "lzero/run/checkpoint_store.h"
#include "lzero/run/training_state.h"
#include "tools/verbs/agent_verbs.h"
#include "tools/verbs/support/interrupt.h"
#include "tools/verbs/support/verb_support.h"

namespace lzero {
namespace {

void PrintFile(const std::string& name, const std::vector<NamedArray>& arrays) {
  int64_t bytes = 0, numbers = 0;
  for (const NamedArray& array : arrays) {
    bytes += static_cast<int64_t>(array.bytes.size());
    numbers += array.num_elements();
  }
  std::printf("\n%s.safetensors: %d arrays, %lld numbers, %.2f MiB\n", name.c_str(),
              static_cast<int>(arrays.size()), static_cast<long long>(numbers),
              static_cast<double>(bytes) / (1 << 20));
  if (name != "model") return;
  for (const NamedArray& array : arrays) {
    std::printf("  %-44s %s [%s]\n", array.name.c_str(),
                std::string(ArrayTypeName(array.type)).c_str(),
                absl::StrJoin(array.shape, ", ").c_str());
  }
}

// `path`: a run folder (its latest checkpoint) or a checkpoint. Exit codes: 0 intact, 1 damaged,
// 2 not found.
int Inspect(const std::string& path) {
  const auto loaded = ReadCheckpoint(path);
  if (!loaded.ok()) {
    return PrintError(loaded.status(),
                      absl::IsNotFound(loaded.status()) ? kExitUsage : kExitFailure);
  }
  const auto state = TrainingStateFromJson(loaded->content.state_json);
  if (!state.ok()) return PrintError(state.status(), kExitFailure);
  std::printf("checkpoint    %s (every file intact)\n", loaded->path.c_str());
  std::printf("env steps     %lld\nupdates       %lld\nepisodes      %lld\nwall time     %.1f s\n",
              static_cast<long long>(state->env_steps), static_cast<long long>(state->updates),
              static_cast<long long>(state->episodes), state->wall_seconds);
  if (state->last_return.has_value()) std::printf("evaluation    last %.2f", *state->last_return);
  if (state->best_return.has_value()) std::printf(", best %.2f", *state->best_return);
  if (state->last_return.has_value()) std::printf("\n");
  for (const auto& [name, arrays] : loaded->content.files) PrintFile(name, arrays);
  return kExitOk;
}

}  // namespace

void AddInspect(CLI::App& app, VerbAction* action) {
  auto* path = Keep<std::string>();
  CLI::App* inspect =
      app.add_subcommand("inspect", "Show what is in a checkpoint and check every file");
  inspect->add_option("path", *path, "Run folder or checkpoint")->required();
  inspect->callback([=] { *action = [=] { return Inspect(*path); }; });
}

}  // namespace lzero
