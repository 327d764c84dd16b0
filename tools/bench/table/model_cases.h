// All tables of benchmarks, and what the cases of those with a model share: the axes, the config
// that a case stands for, the work of one step and of one update, and how far searches are apart.
// No torch, no clock; pure functions.
#ifndef LZERO_TOOLS_BENCH_TABLE_MODEL_CASES_H_
#define LZERO_TOOLS_BENCH_TABLE_MODEL_CASES_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lzero/config/experiment_config.h"
#include "lzero/mcts/search_request.h"
#include "tools/bench/table/bench_table.h"

namespace lzero {

// The tree work of a search (select, expand, back up), without its model (tree_search.cc).
BenchTable TreeSearchTable();
// The recurrent step of a runner, and one update of the learner on a batch sampled from a replay
// buffer of synthetic episodes (tools/bench/model_benches.cc).
BenchTable StepTable();
BenchTable TrainTable();
// Whole searches of an engine; engines loaded and unloaded again and again; the same searches on a
// runner as on eager (tools/bench/engine_benches.cc).
BenchTable EngineSearchTable();
BenchTable UnloadTable();
BenchTable ParityTable();

// What a config's run is made of, by its file (tools/bench/config_benches.cc).
BenchTable RunTable();

// The axes of these names, "embed runner=packed": in this order, with these defaults.
std::vector<BenchAxis> ModelAxes(absl::string_view names);
// The sizes to compare, small to large, for the CPU and for a GPU, and the runners beside each
// other: eager and packed on one thread and packed bf16 on two; on a GPU eager and cuda_graph.
std::vector<BenchPreset> StepPresets();
// Updates of the small model at three batch shapes, and of a net for images.
std::vector<BenchPreset> UpdatePresets();

// The config of a case, held to the rules of every other config. Graphs are required of a runner
// that is made of them, and off for eager, so that a case measures what it names.
absl::StatusOr<ExperimentConfig> BenchConfig(const BenchCase& bench);

// InvalidArgument for what no config can have, for a runner of graphs without a device, and for
// other numbers than fp32 of runner eager.
absl::Status CheckStepCase(const BenchCase& bench);
// That runner eager has fp32 alone.
bool LacksDtype(const BenchCase& bench);
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

// How far searches are from the same `expected` ones on another runner: the largest errors of
// values relative to the largest value, and shares of all roots and visits. What is not finite in a
// search is not finite here either.
BenchCase SearchDifferences(const std::vector<SearchResult>& got,
                            const std::vector<SearchResult>& expected);

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_TABLE_MODEL_CASES_H_
