#include "lzero/env/python/worker_script.h"

#include "generated/worker_script_text.h"

namespace lzero {

absl::string_view WorkerScript() { return {kWorkerScriptText, sizeof(kWorkerScriptText) - 1}; }

}  // namespace lzero
