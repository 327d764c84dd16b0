// Any bytes go through the safetensors parser: it must neither crash nor accept what it cannot
// write again to the same content.
#include <cstddef>
#include <cstdint>

#include "lzero/base/check.h"
#include "lzero/run/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const absl::string_view input(reinterpret_cast<const char*>(bytes), size);
  const auto content = lzero::ParseSafetensors(input, "input");
  if (!content.ok()) return 0;
  for (const lzero::NamedArray& array : content->arrays) {
    if (array.name.empty()) return 0;  // the format allows it, lzero never writes it
    LZ_CHECK(static_cast<int64_t>(array.bytes.size()) ==
                 array.num_elements() * lzero::ArrayTypeSize(array.type),
             array.name);
  }
  const std::string written = lzero::SerializeSafetensors(content->arrays, content->metadata);
  const auto again = lzero::ParseSafetensors(written, "written");
  LZ_CHECK(again.ok(), again.status().message());
  LZ_CHECK(again->metadata == content->metadata, "metadata changed");
  LZ_CHECK(again->arrays.size() == content->arrays.size(), "arrays were lost");
  for (const lzero::NamedArray& array : content->arrays) {
    const lzero::NamedArray* same = lzero::FindArray(again->arrays, array.name);
    LZ_CHECK(same != nullptr && same->bytes == array.bytes && same->shape == array.shape &&
                 same->type == array.type,
             array.name);
  }
  return 0;
}
