#include "tools/bench/table/tree_search.h"

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
  std::vector<float> logits_;
  std::vector<float> values_;
  std::vector<float> rewards_;
  std::vector<float> discounts_;
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

class TreeSubject final : public BenchSubject {
 public:
  explicit TreeSubject(const BenchCase& bench)
      : BenchSubject(bench),
        model_(static_cast<int>(bench.Int("actions")), static_cast<int>(bench.Int("batch"))) {}

  absl::Status Prepare() override {
    SearchConfig config;
    config.num_simulations = bench_.Int("sims");
    config.policy = bench_.Text("policy") == "puct" ? SearchPolicy::kPuct : SearchPolicy::kGumbel;
    LZ_ASSIGN_OR_RETURN(search_, Search::Create(config, model_.num_actions(),
                                                static_cast<int>(bench_.Int("batch"))));
    mask_.assign(static_cast<size_t>(bench_.Int("actions")), 1);
    roots_.resize(static_cast<size_t>(bench_.Int("batch")));
    for (size_t b = 0; b < roots_.size(); ++b) {
      roots_[b].env = EnvId(static_cast<int32_t>(b));
      roots_[b].legal_action_mask = mask_;
    }
    outputs_.resize(3 * roots_.size());
    logits_.resize(roots_.size() * mask_.size());
    return RunSearch();  // and the pages of the tree
  }

  absl::Status RunRound(std::vector<double>* seconds) override {
    LZ_ASSIGN_OR_RETURN(const double model, FastestRun([&] { return RunModel(); }));
    LZ_ASSIGN_OR_RETURN(const double search, FastestRun([&] { return RunSearch(); }));
    const int64_t num_steps = bench_.Int("batch") * bench_.Int("sims");
    seconds->push_back((search - model) / static_cast<double>(num_steps));
    return absl::OkStatus();
  }

  BenchCase Metrics() const override {
    static const uint64_t signature = SearchSignature();
    return {{"mean_depth", double{result_.mean_depth}},
            {"signature", absl::StrFormat("%016x", signature)}};
  }

 private:
  absl::Status RunSearch() { return search_->Run(model_, roots_, SearchRequest(), &result_); }

  // The model's part of one search.
  absl::Status RunModel() {
    const auto outputs = absl::MakeSpan(outputs_);
    const size_t n = roots_.size();
    const auto logits = absl::MakeSpan(logits_);
    LZ_RETURN_IF_ERROR(model_.InitialInference(roots_, logits, outputs.subspan(0, n)));
    for (int64_t s = 0; s < bench_.Int("sims"); ++s) {
      LZ_RETURN_IF_ERROR(model_.RecurrentInference({}, {}, {}, outputs.subspan(0, n),
                                                   outputs.subspan(n, n), outputs.subspan(2 * n, n),
                                                   logits));
    }
    return absl::OkStatus();
  }

  TableModel model_;
  std::unique_ptr<Search> search_;
  std::vector<uint8_t> mask_;
  std::vector<Root> roots_;
  std::vector<float> outputs_;  // [3, B] of the model alone: rewards, discounts, values
  std::vector<float> logits_;   // [B, A] likewise
  SearchResult result_;
};

}  // namespace

BenchTable TreeSearchTable() {
  BenchTable table;
  table.verb = "search";
  table.unit = "ns_per_root_sim";
  table.rounds = 7;
  table.last_line = "signature";
  table.axes = {{"policy", "Policies of the search", "puct,gumbel", 0, 1, "puct,gumbel"},
                {"actions", "Actions A", "2,6,18", 1000000000},
                {"batch", "Roots B", "8,256", 1000000000},
                {"sims", "Simulations", "25,50,200", 100000}};
  table.make = MakeSubject<TreeSubject>;
  return table;
}

}  // namespace lzero
