// What the cases of `bench step`, `search`, `train`, `unload` and `parity` share: the axes of a
// world model, the config that a case stands for, and the work of one step and of one update. No
// torch, no clock; pure functions.
#ifndef LZERO_TOOLS_BENCH_TABLE_MODEL_CASES_H_
#define LZERO_TOOLS_BENCH_TABLE_MODEL_CASES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lzero/config/experiment_config.h"
#include "tools/bench/table/bench_table.h"

namespace lzero {

// device, embed, layers, heads, batch, context, support, actions, runner, dtype, threads.
// `runner`: its default.
std::vector<BenchAxis> StepAxes(const std::string& runner);
// encoder, observation, embed, layers, heads, batch, unroll, context, support, actions, threads.
std::vector<BenchAxis> UpdateAxes();

// The sizes of inference.md section 5, for the CPU and for a GPU, and the runners beside each
// other: eager and packed on one thread and packed bf16 on two; on a GPU eager and cuda_graph.
std::vector<BenchPreset> StepPresets();
// The table of training.md section 3, and a net for images.
std::vector<BenchPreset> UpdatePresets();

// The config of a case, held to the rules of every other config. Graphs are required of a runner
// that is made of them, and off for eager, so that a case measures what it names.
absl::StatusOr<ExperimentConfig> BenchConfig(const BenchCase& bench);

// InvalidArgument for what no config can have, for a runner of graphs without a device, and for
// bf16 of another runner than packed.
absl::Status CheckStepCase(const BenchCase& bench);
// That runner packed alone has bf16.
bool LacksBf16(const BenchCase& bench);
// InvalidArgument for what no config can have, and for observations that its encoder does not take.
absl::Status CheckUpdateCase(const BenchCase& bench);

// The lengths of the observation's axes; empty when the text is no such list.
std::vector<int64_t> ObservationShape(const BenchCase& bench);

// Products with weight matrices in one step: two tokens through all blocks, four heads, for every
// environment (attention is left out: at W = 8 it adds 2 %). Each block is read twice, because the
// second token waits for the first, and each head once, whatever the batch is.
BenchWork StepWork(const BenchCase& bench);

// Products with weight matrices and convolutions of one update: forward and both gradients of the
// sequences [batch, unroll]; forward alone of the target network (encodings of the next
// observations, and values of the bootstrap observations as sequences of one token). The first
// layer of the encoder has no gradient of its input. Attention, norms, losses and the optimiser are
// left out. Bytes are not counted.
BenchWork UpdateWork(const BenchCase& bench);

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_TABLE_MODEL_CASES_H_
