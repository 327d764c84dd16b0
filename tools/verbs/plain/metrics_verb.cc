#include <cstdio>

#include "lzero/run/metric_guide.h"
#include "tools/verbs/plain/plain_verbs.h"
#include "tools/verbs/support/interrupt.h"
#include "tools/verbs/support/verb_support.h"

namespace lzero {

int Metrics(const std::string& name) {
  const auto text = ExplainMetric(name);
  if (!text.ok()) return PrintError(text.status(), kExitUsage);
  std::printf("%s", text->c_str());
  return kExitOk;
}

}  // namespace lzero
