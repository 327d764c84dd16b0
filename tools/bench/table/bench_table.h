// One table for all benchmarks. A case is a value for each of its named axes; lists from the
// command line are swept against each other. Made ready it is a subject, which times itself in
// rounds that are interleaved over all cases, beside the machine's peaks. No torch, no parser.
// Measuring blocks; one caller at a time, or they measure each other.
#ifndef LZERO_TOOLS_BENCH_TABLE_BENCH_TABLE_H_
#define LZERO_TOOLS_BENCH_TABLE_BENCH_TABLE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace lzero {

using BenchValue = std::variant<int64_t, double, std::string, std::vector<double>>;

// Named values in the order in which they are printed: a case, or all that was measured of one.
class BenchCase {
 public:
  using Member = std::pair<std::string, BenchValue>;
  BenchCase(std::initializer_list<Member> members = {}) : members_(members) {}

  // The caller must ask for a name that is there, and for an integer.
  int64_t Int(absl::string_view name) const;
  // The value as the command line has it, an integer or a word. The caller must ask for a name that
  // is there.
  std::string Word(absl::string_view name) const;
  // nullptr: there is none.
  const BenchValue* Find(absl::string_view name) const;
  bool Has(absl::string_view name) const { return Find(name) != nullptr; }
  void Set(absl::string_view name, BenchValue value);
  void Add(const BenchCase& other);
  const std::vector<Member>& members() const { return members_; }

 private:
  std::vector<Member> members_;
};

struct BenchAxis {
  std::string name;  // in the JSON object; the option is --name
  std::string help;
  std::string defaults;      // as on the command line: "8,256"
  int64_t most = 0;          // integers up to this; 0: words
  int64_t least = 1;         // of integers
  std::string allowed = {};  // words, as "puct,gumbel"; empty: the config decides
  bool counts_up = false;    // the option is --names N, for the cases 1 .. N

  std::string option() const { return counts_up ? name + "s" : name; }
};

// Rows that are swept in place of several axes, unless the command line gives one of `unless`.
struct BenchPreset {
  std::string device;             // which it is for; empty: any
  std::string axes;               // those that a row sets, in the order of the table
  std::vector<std::string> rows;  // "64 2": a value for each of `axes`
  std::string unless = axes;      // "embed layers"
};

// What the command line gives, by the name of the option.
using BenchGiven = std::map<std::string, std::vector<std::string>>;

// Work of one timed run, and what bounds it.
struct BenchWork {
  int64_t flops = 0;
  int64_t read_bytes = 0;    // 0: not counted
  int64_t weight_bytes = 0;  // that have to fit a cache to be read from it
};

// A case made ready and warmed up.
struct BenchSubject {
  // One round: appends the seconds of one run or more. None where the metrics say all.
  std::function<absl::Status(std::vector<double>*)> run_round;
  BenchWork work = {};
  // What else was measured, after the last round; may be empty.
  std::function<BenchCase()> metrics = nullptr;
};

struct BenchTable {
  std::string verb;             // after "bench"
  std::string help = {};        // of the verb
  std::string kind = {};        // a member of the objects that tells tables of one verb apart
  std::string unit = {};        // of the times: "us", "ms_per_x"; empty: no times
  std::string last_line = {};   // the member that is printed below the table
  int64_t rounds = 5;           // interleaved, by default; 0: each case is run once
  std::vector<BenchAxis> axes;  // the last one is swept fastest
  std::vector<BenchPreset> presets = {};
  // Cases that are left out of a sweep, unless all are. May be empty.
  std::function<bool(const BenchCase&)> is_left_out = nullptr;
  std::function<absl::Status(const BenchCase&)> check = nullptr;  // may be empty
  std::function<absl::StatusOr<BenchSubject>(const BenchCase&)> prepare = nullptr;
};

// All cases. InvalidArgument, naming the option, for a value that cannot be.
absl::StatusOr<std::vector<BenchCase>> SweepCases(const BenchTable& table, const BenchGiven& given);

// The command line that asks for this case alone, also of a build that lacks newer axes: an axis
// that nobody gave and that has one default is left out.
std::vector<std::string> ArgumentsOf(const BenchTable& table, const BenchGiven& given,
                                     const BenchCase& bench);

struct BenchPeaks {
  double gflops = 0.0;
  double gbs = 0.0;
};

// What is measured on.
struct BenchMachine {
  std::string gpu = {};  // as its driver names it; empty where the CPU is measured
  // Measures a GPU, once a round. Empty: the peaks of the CPU, by a case's threads, dtype and
  // bytes.
  std::function<absl::StatusOr<BenchPeaks>()> measure_peaks = nullptr;
};

// Each case with its axes; the least and the median time; its metrics; gflops and gbs of the least
// time beside their peaks; the machine and its load. Errors are those of the subjects.
absl::StatusOr<std::vector<BenchCase>> MeasureCases(const BenchTable& table,
                                                    const std::vector<BenchCase>& cases,
                                                    int64_t rounds, const BenchMachine& machine);

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_TABLE_BENCH_TABLE_H_
