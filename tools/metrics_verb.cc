#include "tools/metrics_verb.h"

#include <cstdio>

#include "lzero/train/metric_guide.h"
#include "tools/interrupt.h"
#include "tools/verb_support.h"

namespace lzero {

int Metrics(const std::string& name) {
  const auto text = ExplainMetric(name);
  if (!text.ok()) return PrintError(text.status(), kExitUsage);
  std::printf("%s", text->c_str());
  return kExitOk;
}

}  // namespace lzero
