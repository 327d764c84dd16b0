// The words and tables of a report: verdict, final returns, comparison, runs, settings, commands,
// pictures. Each function gives HTML in which all that comes from files is escaped. Pure functions.
#ifndef LZERO_REPORT_PAGE_TABLES_H_
#define LZERO_REPORT_PAGE_TABLES_H_

#include <string>

#include "lzero/report/report_input.h"

namespace lzero {

// One card a group: solved or not, after how many env steps and seconds.
std::string Verdicts(const ReportInput& input);
// Runs that are not finished, and those that were left out; "" if there are none.
std::string Warnings(const ReportInput& input);
// Final and best returns, env steps to the target.
std::string ReturnTable(const ReportInput& input);
// Each pair of groups: probability of improvement, paired difference; settings that differ.
std::string PairTables(const ReportInput& input);
std::string RunTable(const ReportInput& input);
// What differs from the defaults of lzero, and how the runs were started.
std::string Settings(const ReportInput& input);
std::string Commands(const ReportInput& input);
std::string Pictures(const ReportInput& input);

}  // namespace lzero

#endif  // LZERO_REPORT_PAGE_TABLES_H_
