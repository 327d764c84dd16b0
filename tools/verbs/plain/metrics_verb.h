// `lzero metrics`: what the numbers of a run mean.
#ifndef LZERO_TOOLS_VERBS_PLAIN_METRICS_VERB_H_
#define LZERO_TOOLS_VERBS_PLAIN_METRICS_VERB_H_

#include <string>

namespace lzero {

// Prints the explanation of a metric, a group of them or, for "", of all. 2 for an unknown name.
int Metrics(const std::string& name);

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_PLAIN_METRICS_VERB_H_
