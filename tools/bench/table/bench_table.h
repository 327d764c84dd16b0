// One table for all benchmarks. A case is a value for each of its named axes; lists from the
// command line are swept against each other. A subject is a case made ready: it times itself in
// rounds and counts its work. No torch, no parser; pure functions.
#ifndef LZERO_TOOLS_BENCH_TABLE_BENCH_TABLE_H_
#define LZERO_TOOLS_BENCH_TABLE_BENCH_TABLE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace lzero {

using BenchValue = std::variant<int64_t, double, std::string>;

// Named values in the order in which they are printed: a case, or what was measured of one.
class BenchCase {
 public:
  using Member = std::pair<std::string, BenchValue>;
  BenchCase(std::initializer_list<Member> members = {}) : members_(members) {}

  // The caller must ask for a name that is there, and for its type.
  int64_t Int(absl::string_view name) const;
  const std::string& Text(absl::string_view name) const;
  // The value as the command line has it.
  std::string Word(absl::string_view name) const;
  bool Has(absl::string_view name) const;
  void Set(absl::string_view name, BenchValue value);
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
  std::string unless;             // "embed layers"
  std::string axes;               // those that a row sets
  std::vector<std::string> rows;  // "64 2": a value for each of `axes`
};

// What the command line gives, by the name of the option.
using BenchGiven = std::map<std::string, std::vector<std::string>>;

// Work of one timed run, and what bounds it.
struct BenchWork {
  int64_t flops = 0;
  int64_t read_bytes = 0;    // 0: not counted
  int64_t weight_bytes = 0;  // that have to fit a cache to be read from it
};

class BenchSubject {
 public:
  explicit BenchSubject(const BenchCase& bench) : bench_(bench) {}
  virtual ~BenchSubject() = default;
  // Makes what is timed and warms it up; after it every round does the same.
  virtual absl::Status Prepare() { return absl::OkStatus(); }
  // One round: appends the seconds of one run or more. None where the metrics say all.
  virtual absl::Status RunRound(std::vector<double>* seconds) = 0;
  virtual BenchWork Work() const { return {}; }
  // What else was measured, after the last round.
  virtual BenchCase Metrics() const { return {}; }

 protected:
  const BenchCase bench_;
};

template <typename Subject>
std::unique_ptr<BenchSubject> MakeSubject(const BenchCase& bench) {
  return std::make_unique<Subject>(bench);
}

struct BenchTable {
  std::string verb;             // after "bench"
  std::string kind = {};        // a member of the objects that tells tables of one verb apart
  std::string unit = {};        // of the times: "us", "ms_per_x"; empty: no times
  std::string last_line = {};   // the member that is printed below the table
  int64_t rounds = 5;           // interleaved, by default; 0: each case is run once
  std::vector<BenchAxis> axes;  // the last one is swept fastest
  std::vector<BenchPreset> presets = {};
  // Cases that are left out of a sweep, unless all are. May be empty.
  std::function<bool(const BenchCase&)> is_left_out = nullptr;
  std::function<absl::Status(const BenchCase&)> check = nullptr;  // may be empty
  std::function<std::unique_ptr<BenchSubject>(const BenchCase&)> make = nullptr;
};

// All cases. InvalidArgument, naming the option, for a value that cannot be.
absl::StatusOr<std::vector<BenchCase>> SweepCases(const BenchTable& table, const BenchGiven& given);

// The command line that asks for this case alone, also of a build that lacks newer axes: an axis
// that nobody gave and that has one default is left out.
std::vector<std::string> ArgumentsOf(const BenchTable& table, const BenchGiven& given,
                                     const BenchCase& bench);

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_TABLE_BENCH_TABLE_H_
