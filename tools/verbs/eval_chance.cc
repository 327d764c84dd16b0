#include "tools/verbs/eval_chance.h"

#include <atomic>
#include <cstdio>

#include "lzero/train/build.h"
#include "lzero/worker/chance_calibration.h"
#include "nlohmann/json.hpp"
#include "tools/verbs/support/interrupt.h"
#include "tools/verbs/support/usage_error.h"
#include "tools/verbs/support/verb_support.h"

namespace lzero {
namespace {

using OrderedJson = nlohmann::ordered_json;

void PrintTable(const LoadedAgent& agent, size_t num_episodes, const ChanceReport& report) {
  std::printf("checkpoint    %s\n", agent.checkpoint_path.c_str());
  std::printf("positions     %lld of %zu episodes, %d chance outcomes\n",
              static_cast<long long>(report.num_positions), num_episodes, report.num_outcomes);
  std::printf("log-loss      %.4f nats; the least possible %.4f, knowing nothing %.4f\n",
              report.cross_entropy, report.entropy, report.uniform_loss);
  std::printf("divergence    %.4f nats from the truth; %.2f %% given to what cannot come\n",
              report.divergence(), 100.0 * report.impossible);
  std::printf("calibration   error %.2f %%\n", 100.0 * report.calibration_error);
  std::printf("  predicted          pairs   mean predicted   mean true\n");
  for (const CalibrationBin& bin : report.bins) {
    if (bin.count == 0) continue;
    std::printf("  %.3f .. %.3f  %9lld          %7.4f     %7.4f\n", bin.lower, bin.upper,
                static_cast<long long>(bin.count), bin.mean_predicted, bin.mean_true);
  }
}

OrderedJson ReportToJson(const LoadedAgent& agent, size_t num_episodes,
                         const ChanceReport& report) {
  OrderedJson bins = OrderedJson::array();
  for (const CalibrationBin& bin : report.bins) {
    bins.push_back({{"lower", bin.lower},
                    {"upper", bin.upper},
                    {"pairs", bin.count},
                    {"mean_predicted", bin.mean_predicted},
                    {"mean_true", bin.mean_true}});
  }
  return {{"checkpoint", agent.checkpoint_path},
          {"env", agent.config.env.id},
          {"env_steps", agent.env_steps},
          {"episodes", num_episodes},
          {"positions", report.num_positions},
          {"outcomes", report.num_outcomes},
          {"log_loss", report.cross_entropy},
          {"entropy", report.entropy},
          {"uniform_loss", report.uniform_loss},
          {"divergence", report.divergence()},
          {"impossible", report.impossible},
          {"calibration_error", report.calibration_error},
          {"bins", bins}};
}

}  // namespace

int EvalChance(absl::Span<const uint64_t> seeds, bool json, LoadedAgent& agent,
               const std::atomic<bool>* stop) {
  const auto report =
      MeasureChance(*agent.role.evaluator, BuildEnvFactory(agent.config, agent.registry), seeds,
                    [stop] { return stop->load(); });
  if (absl::IsCancelled(report.status())) return kExitInterrupted;
  if (!report.ok()) {
    const bool is_usage =
        absl::IsFailedPrecondition(report.status()) || absl::IsUnimplemented(report.status());
    return PrintError(report.status(), is_usage ? kExitUsage : kExitFailure);
  }
  if (json) {
    const OrderedJson object = ReportToJson(agent, seeds.size(), *report);
    std::printf("%s\n", object.dump(-1, ' ', false, OrderedJson::error_handler_t::replace).c_str());
  } else {
    PrintTable(agent, seeds.size(), *report);
  }
  return kExitOk;
}

}  // namespace lzero
