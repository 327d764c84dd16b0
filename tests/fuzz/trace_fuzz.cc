// libFuzzer target of the trace reader: any bytes give a trace or an error, and what was read is
// written and read again to the same text.
#include <cstddef>
#include <cstdint>
#include <string>

#include "lzero/base/check.h"
#include "lzero/env/check/trace.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(bytes), size);
  const absl::StatusOr<lzero::Trace> trace = lzero::ParseTrace(text);
  if (!trace.ok()) return 0;
  const std::string written = lzero::TraceText(*trace);
  const absl::StatusOr<lzero::Trace> again = lzero::ParseTrace(written);
  LZ_CHECK(again.ok(), again.status().ToString());
  LZ_CHECK(lzero::TraceText(*again) == written, written);
  return 0;
}
