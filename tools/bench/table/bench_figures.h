// What every benchmark prints beside its own figures: the commit, how busy the machine was, and how
// numbers are rounded. Pure functions but for BeginConditions.
#ifndef LZERO_TOOLS_BENCH_TABLE_BENCH_FIGURES_H_
#define LZERO_TOOLS_BENCH_TABLE_BENCH_FIGURES_H_

#include <string>
#include <vector>

namespace lzero {

struct BenchConditions {
  std::string commit;
  double load_before = 0.0;
  double load_after = 0.0;
  std::string cpu;       // as the system names it
  std::string gpu = {};  // as its driver names it; empty where the CPU is measured
};

// Of this machine before anything is measured; `gpu` empty where the CPU is measured.
BenchConditions BeginConditions(const std::string& gpu = "");

// As members of a JSON object in one text without braces:
// "cpu":"...","commit":"...","load":[before, after], and "gpu" where one is measured.
std::string ConditionsJson(const BenchConditions& conditions);

struct BenchTimes {
  double min = 0.0;
  double median = 0.0;
};

// Of one measured time or more, in their unit.
BenchTimes TimesOf(std::vector<double> times);

// Five significant digits: more is noise.
double Rounded(double value);

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_TABLE_BENCH_FIGURES_H_
