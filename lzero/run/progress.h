// The progress line: return, rates, time to the end, and where the time goes. Formats text only;
// the trainer logs it. One thread.
#ifndef LZERO_RUN_PROGRESS_H_
#define LZERO_RUN_PROGRESS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lzero {

// Seconds of work so far in this session, by part.
struct ProgressTimes {
  double env = 0.0;        // stepping environments
  double tree = 0.0;       // select and backup
  double network = 0.0;    // inference
  double copy = 0.0;       // caches, weights, batches
  double learn = 0.0;      // updates
  double reanalyze = 0.0;  // searching stored positions again
  double evaluate = 0.0;

  // (name, share of the sum) in this order; all 0 before any work.
  std::vector<std::pair<std::string, double>> Shares() const;
};

struct ProgressCounts {
  int64_t env_steps = 0;
  int64_t updates = 0;
  int64_t simulations = 0;
  bool operator==(const ProgressCounts&) const = default;
};

class Progress {
 public:
  // Rates are over the time since the last line (or the start).
  struct Rates {
    double env_steps_per_s = 0.0;
    double updates_per_s = 0.0;
    double sims_per_s = 0.0;
  };

  // The first line comes after two seconds at the latest.
  explicit Progress(double interval_seconds) : interval_seconds_(interval_seconds) {}

  // The session begins with these counts.
  void Start(const ProgressCounts& counts, double now);
  // True when `interval_seconds` have passed since the last line.
  bool IsDue(double now) const;
  // Rates since the last Mark; moves the mark.
  Rates Mark(const ProgressCounts& counts, double now);
  // False when these are the counts of the last Mark (or the start): there are no rates then.
  bool HasMoved(const ProgressCounts& counts) const { return counts != last_counts_; }
  // Rates since the start; nullopt when nothing has been done.
  std::optional<Rates> SessionRates(const ProgressCounts& counts, double now) const;

  // "12%  env step 2,400/20,000 | return 143.2 | eval 195.0 | 412 env steps/s ..."
  // `fraction` of the run that is over (0 .. 1) or nullopt when no limit is known. `evaluated`,
  // "eval 195.0", says what the last evaluation found.
  std::string Line(const ProgressCounts& counts, const Rates& rates,
                   std::optional<int64_t> max_env_steps, std::optional<double> fraction,
                   std::optional<double> collect_return, const std::string& evaluated,
                   const ProgressTimes& times, double now) const;

  // Seconds to the end at the pace of this session; nullopt before any progress.
  std::optional<double> EtaSeconds(std::optional<double> fraction, double now) const;
  void SetStartFraction(double fraction) { start_fraction_ = fraction; }

 private:
  double interval_seconds_;
  double start_time_ = 0.0;
  double start_fraction_ = 0.0;
  double last_time_ = 0.0;
  bool is_first_ = true;
  ProgressCounts start_counts_, last_counts_;
};

// Seconds between lines of progress: 2 where a person looks on (standard error is a terminal), else
// 10.
double ProgressSeconds();

// "1:05" or "2:00:13".
std::string FormatSeconds(double seconds);
// "195.0", "-1.00"
std::string FormatReturn(double value);
// "12,345"
std::string FormatCount(int64_t count);

}  // namespace lzero

#endif  // LZERO_RUN_PROGRESS_H_
