// `lzero bench search` without a runner: how long the tree work of a search takes, without the
// model: the fastest search of each round, less what its model costs. The objects carry the
// signature of the search. Not a test: nothing fails by being slow.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/stopwatch.h"
#include "lzero/mcts/golden/signature.h"
#include "lzero/mcts/search.h"
#include "tools/bench/table/model_cases.h"

namespace lzero {
namespace {

constexpr int kMinRuns = 10;               // of one case in one round
constexpr double kMeasuredSeconds = 0.01;  // likewise

// Answers with rows of a fixed table, moved by one row a step: a few copies, so that what is left
// is tree work. What they cost is measured and subtracted.
class TableModel final : public InferenceModel {
 public:
  TableModel(int num_actions, int num_roots) : num_actions_(num_actions) {
    const size_t rows = static_cast<size_t>(num_roots) + kRows;
    RandomStream stream(/*seed=*/7, "bench search");
    for (size_t i = 0; i < rows * static_cast<size_t>(num_actions); ++i) {
      logits_.push_back(static_cast<float>(stream.Normal()));
    }
    for (size_t i = 0; i < rows; ++i) {
      values_.push_back(static_cast<float>(2.0 * stream.Uniform() - 1.0));
      rewards_.push_back(static_cast<float>(2.0 * stream.Uniform() - 1.0));
    }
    discounts_.assign(rows, 0.997f);
  }

  int num_actions() const override { return num_actions_; }

  absl::Status InitialInference(absl::Span<const Root> /*roots*/, absl::Span<float> prior_logits,
                                absl::Span<float> value) override {
    step_ = 0;
    Copy(logits_, num_actions_, prior_logits);
    Copy(values_, 1, value);
    return absl::OkStatus();
  }

  absl::Status RecurrentInference(absl::Span<const NodeId> /*parents*/,
                                  absl::Span<const int32_t> /*actions*/,
                                  absl::Span<const NodeId> /*children*/, absl::Span<float> rewards,
                                  absl::Span<float> discounts, absl::Span<float> values,
                                  absl::Span<float> prior_logits) override {
    step_ = (step_ + 1) % kRows;
    Copy(logits_, num_actions_, prior_logits);
    Copy(rewards_, 1, rewards);
    Copy(discounts_, 1, discounts);
    Copy(values_, 1, values);
    return absl::OkStatus();
  }

 private:
  static constexpr size_t kRows = 61;

  void Copy(const std::vector<float>& table, int width, absl::Span<float> out) const {
    const auto first = table.begin() + static_cast<ptrdiff_t>(step_) * width;
    std::copy(first, first + static_cast<ptrdiff_t>(out.size()), out.begin());
  }

  int num_actions_;
  size_t step_ = 0;
  std::vector<float> logits_, values_, rewards_, discounts_;
};

// Seconds of the fastest run: the others were interrupted by other programs.
template <typename Run>
absl::StatusOr<double> FastestRun(const Run& run) {
  double fastest = std::numeric_limits<double>::infinity();
  double total = 0.0;
  for (int i = 0; i < kMinRuns || total < kMeasuredSeconds; ++i) {
    const double start = MonotonicSeconds();
    LZ_RETURN_IF_ERROR(run());
    const double elapsed = MonotonicSeconds() - start;
    fastest = std::min(fastest, elapsed);
    total += elapsed;
  }
  return fastest;
}

// A search over the table model, and room for what the model alone is asked for.
struct TreeSearch {
  TableModel model;
  int64_t num_simulations;
  std::unique_ptr<Search> search;
  std::vector<uint8_t> mask = std::vector<uint8_t>(static_cast<size_t>(model.num_actions()), 1);
  std::vector<Root> roots = {};
  std::vector<float> outputs = {};  // [3, B] of the model alone: rewards, discounts, values
  std::vector<float> logits = {};   // [B, A] likewise
  SearchResult result = {};

  absl::Status Run() { return search->Run(model, roots, SearchRequest(), &result); }

  // The model's part of one search.
  absl::Status RunModel() {
    const size_t n = roots.size();
    const auto all = absl::MakeSpan(outputs);
    LZ_RETURN_IF_ERROR(model.InitialInference(roots, absl::MakeSpan(logits), all.subspan(0, n)));
    for (int64_t s = 0; s < num_simulations; ++s) {
      LZ_RETURN_IF_ERROR(model.RecurrentInference({}, {}, {}, all.subspan(0, n), all.subspan(n, n),
                                                  all.subspan(2 * n, n), absl::MakeSpan(logits)));
    }
    return absl::OkStatus();
  }
};

absl::StatusOr<BenchSubject> PrepareTreeSearch(const BenchCase& bench) {
  const int num_actions = static_cast<int>(bench.Int("actions"));
  const int num_roots = static_cast<int>(bench.Int("batch"));
  SearchConfig config;
  config.num_simulations = bench.Int("sims");
  config.policy = bench.Word("policy") == "puct" ? SearchPolicy::kPuct : SearchPolicy::kGumbel;
  LZ_ASSIGN_OR_RETURN(auto search, Search::Create(config, num_actions, num_roots));
  const auto tree = std::make_shared<TreeSearch>(
      TreeSearch{TableModel(num_actions, num_roots), config.num_simulations, std::move(search)});
  tree->roots.resize(static_cast<size_t>(num_roots));
  for (int b = 0; b < num_roots; ++b) {
    Root& root = tree->roots[static_cast<size_t>(b)];
    root.env = EnvId(b);
    root.legal_action_mask = tree->mask;
  }
  tree->outputs.resize(3 * tree->roots.size());
  tree->logits.resize(tree->roots.size() * tree->mask.size());
  LZ_RETURN_IF_ERROR(tree->Run());  // and the pages of the tree
  BenchSubject subject;
  subject.run_round = [=](std::vector<double>* seconds) -> absl::Status {
    LZ_ASSIGN_OR_RETURN(const double model, FastestRun([&] { return tree->RunModel(); }));
    LZ_ASSIGN_OR_RETURN(const double search, FastestRun([&] { return tree->Run(); }));
    seconds->push_back((search - model) / static_cast<double>(num_roots * tree->num_simulations));
    return absl::OkStatus();
  };
  subject.metrics = [=]() -> BenchCase {
    static const uint64_t signature = SearchSignature();
    return {{"mean_depth", tree->result.mean_depth},
            {"signature", absl::StrFormat("%016x", signature)}};
  };
  return subject;
}

}  // namespace

BenchTable TreeSearchTable() {
  BenchTable table;
  table.verb = "search";
  table.help =
      "Tree work of a search, and its signature; with --runner or a CUDA device whole searches of "
      "an engine";
  table.unit = "ns_per_root_sim";
  table.rounds = 7;
  table.last_line = "signature";
  table.axes = {{"policy", "Policies of the search", "puct,gumbel", 0, 1, "puct,gumbel"},
                {"actions", "Actions A", "2,6,18", 1000000000},
                {"batch", "Roots B", "8,256", 1000000000},
                {"sims", "Simulations", "25,50,200", 100000}};
  table.prepare = PrepareTreeSearch;
  return table;
}

}  // namespace lzero
