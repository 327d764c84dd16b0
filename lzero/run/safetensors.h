// Reads and writes the safetensors format: 8 bytes little-endian header length, a JSON header
// padded with spaces, then the raw arrays without holes. Knows no tensor library, so sanitizers and
// fuzzers cover it. Anything may be in a file that is read: every claim of the header is checked
// before it is used. Pure functions; the two that take a path block on the disk.
// [https://huggingface.co/docs/safetensors, "Format"]
#ifndef LZERO_RUN_SAFETENSORS_H_
#define LZERO_RUN_SAFETENSORS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "lzero/base/named_array.h"

namespace lzero {

using SafetensorsMetadata = std::map<std::string, std::string>;

struct SafetensorsContent {
  std::vector<NamedArray> arrays;  // in the order of the file
  SafetensorsMetadata metadata;
};

struct WrittenFile {
  uint64_t size = 0;    // bytes
  uint32_t crc32c = 0;  // of the whole file
};

// The bytes of a file with these arrays. Arrays are laid out by falling element size (otherwise in
// the given order), so that each is aligned. The caller must give names that are unique, not empty
// and not "__metadata__", and bytes that fit shape and type.
std::string SerializeSafetensors(absl::Span<const NamedArray> arrays,
                                 const SafetensorsMetadata& metadata = {});

// Writes the same bytes to `path` array by array, of arrays in parts part by part (no second copy
// in memory), and fsyncs the file. Not atomic: a killed process leaves half a file.
absl::StatusOr<WrittenFile> WriteSafetensors(const std::string& path,
                                             absl::Span<const NamedArray> arrays,
                                             const SafetensorsMetadata& metadata = {});

// The content of a file given as bytes. DataLoss, naming `file_name` and the tensor, when the bytes
// are not a well-formed file or hold an element type that lzero does not use.
absl::StatusOr<SafetensorsContent> ParseSafetensors(absl::string_view bytes,
                                                    absl::string_view file_name);

// Reads the file at `path` array by array. NotFound when it does not exist, else as above.
absl::StatusOr<SafetensorsContent> ReadSafetensors(const std::string& path);

}  // namespace lzero

#endif  // LZERO_RUN_SAFETENSORS_H_
