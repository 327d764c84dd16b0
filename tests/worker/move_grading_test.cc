#include "lzero/worker/move_grading.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"
#include "tests/worker/evaluator_testing.h"

namespace lzero::move_grading_test {
namespace {

// Grades whatever it is given by what it was told to expect: starts of many walks.
class WalkGrader : public Grader {
 public:
  explicit WalkGrader(size_t count) {
    for (size_t seed = 0; seed < count; ++seed) positions_.push_back(WalkEnv({}).Reset(seed));
  }
  absl::StatusOr<GradeReport> Grade(const BatchPolicy& policy) const override {
    const auto actions = policy(positions_);
    if (!actions.ok()) return actions.status();
    GradeReport report;
    report.num_positions = static_cast<int64_t>(actions->size());
    for (size_t i = 0; i < actions->size(); ++i) {
      report.num_optimal += (*actions)[i] == expected_[i] ? 1 : 0;
    }
    return report;
  }
  const std::vector<TimeStep>& positions() const { return positions_; }
  void Expect(std::vector<int32_t> actions) { expected_ = std::move(actions); }

 private:
  std::vector<TimeStep> positions_;
  std::vector<int32_t> expected_;
};

TEST(MoveGradingTest, GradesWhatTheEvaluatorChooses) {
  WalkGrader grader(150);  // in batches of 64
  for (const bool with_search : {true, false}) {
    Walks alone(4), walks(4);
    grader.Expect(alone.evaluator->ChooseActions(grader.positions(), with_search).value());
    const auto report = GradeMoves(grader, with_search, {}, walks.evaluator.get());
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(report->num_positions, 150);
    EXPECT_EQ(report->num_optimal, 150);
  }
}

TEST(MoveGradingTest, StopsBetweenBatches) {
  WalkGrader grader(150);
  Walks walks(4);
  int num_polls = 0;
  const auto report = GradeMoves(
      grader, false, [&] { return ++num_polls == 2; }, walks.evaluator.get());
  EXPECT_TRUE(absl::IsCancelled(report.status()));
  EXPECT_EQ(num_polls, 2);
}

}  // namespace
}  // namespace lzero::move_grading_test
