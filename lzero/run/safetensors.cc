#include "lzero/run/safetensors.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/check.h"
#include "lzero/base/files.h"
#include "lzero/base/status_macros.h"
#include "nlohmann/json.hpp"

namespace lzero {
namespace {

using Json = nlohmann::json;

constexpr size_t kPieceSize = size_t{1} << 20;    // written at once
constexpr uint64_t kMaxHeaderSize = 100'000'000;  // the limit of the reference implementation
constexpr const char* kMetadataKey = "__metadata__";

// One array of the header: its bytes are [begin, end) of the data after the header.
struct Entry {
  std::string name;
  ArrayType type = ArrayType::kF32;
  std::vector<int64_t> shape;
  uint64_t begin = 0;
  uint64_t end = 0;
};

struct Header {
  std::vector<Entry> entries;  // in the order of their bytes
  SafetensorsMetadata metadata;
};

// Parses `text`; `duplicate` receives the first key that an object holds twice ("" if none does),
// which the JSON library would drop in silence.
Json ParseJson(absl::string_view text, std::string* duplicate) {
  std::vector<std::set<std::string>> open_objects;
  const auto watch = [&](int /*depth*/, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open_objects.emplace_back();
    if (event == Json::parse_event_t::object_end) open_objects.pop_back();
    if (event == Json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!open_objects.back().insert(key).second && duplicate->empty()) *duplicate = key;
    }
    return true;
  };
  return Json::parse(text.begin(), text.end(), watch, /*allow_exceptions=*/false);
}

// Sizes as the format has them: integers from 0 to 2^63 - 1.
absl::StatusOr<std::vector<int64_t>> ParseSizes(const Json& entry, const char* key) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_array()) {
    return absl::DataLossError(absl::StrCat("has no array '", key, "'"));
  }
  std::vector<int64_t> sizes;
  for (const Json& element : *found) {
    if (!element.is_number_unsigned() || element.get<uint64_t>() > uint64_t{INT64_MAX}) {
      return absl::DataLossError(absl::StrCat("'", key, "' holds ", element.type_name(),
                                              " values that are not sizes (0 to 2^63 - 1)"));
    }
    sizes.push_back(element.get<int64_t>());
  }
  return sizes;
}

absl::Status CheckSize(const Entry& entry, uint64_t data_size) {
  const uint64_t size = entry.end - entry.begin;
  if (entry.begin > entry.end || entry.end > data_size) {
    return absl::DataLossError(absl::StrCat("data_offsets [", entry.begin, ", ", entry.end,
                                            "] lie outside of the ", data_size,
                                            " bytes of data in the file"));
  }
  int64_t expected = ArrayTypeSize(entry.type);
  bool overflow = false;
  for (const int64_t length : entry.shape) {
    overflow |= __builtin_mul_overflow(expected, length, &expected);
  }
  if (overflow || static_cast<uint64_t>(expected) != size) {
    return absl::DataLossError(absl::StrCat(
        "shape [", absl::StrJoin(entry.shape, ", "), "] of ", ArrayTypeName(entry.type), " needs ",
        overflow ? "more than 2^63" : absl::StrCat(expected), " bytes, data_offsets [", entry.begin,
        ", ", entry.end, "] hold ", size));
  }
  return absl::OkStatus();
}

absl::StatusOr<Entry> ParseEntry(const std::string& name, const Json& json, uint64_t data_size) {
  if (!json.is_object()) return absl::DataLossError("its header entry is not a JSON object");
  Entry entry;
  entry.name = name;
  const auto type = json.find("dtype");
  if (type == json.end() || !type->is_string()) return absl::DataLossError("has no text 'dtype'");
  const absl::StatusOr<ArrayType> known = ParseArrayType(type->get_ref<const std::string&>());
  if (!known.ok()) return absl::DataLossError(known.status().message());
  entry.type = *known;
  LZ_ASSIGN_OR_RETURN(entry.shape, ParseSizes(json, "shape"));
  LZ_ASSIGN_OR_RETURN(const auto offsets, ParseSizes(json, "data_offsets"));
  if (offsets.size() != 2) {
    return absl::DataLossError(
        absl::StrCat("'data_offsets' holds ", offsets.size(), " numbers, expected 2"));
  }
  entry.begin = static_cast<uint64_t>(offsets[0]);
  entry.end = static_cast<uint64_t>(offsets[1]);
  LZ_RETURN_IF_ERROR(CheckSize(entry, data_size));
  return entry;
}

absl::StatusOr<SafetensorsMetadata> ParseMetadata(const Json& json) {
  SafetensorsMetadata metadata;
  if (!json.is_object()) return absl::DataLossError("is not a JSON object");
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) {
      return absl::DataLossError(absl::StrCat("'", key, "' is not text but ", value.type_name()));
    }
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

// The data must be covered from the first to the last byte, each byte once.
absl::Status CheckCover(const std::vector<Entry>& entries, uint64_t data_size) {
  uint64_t covered = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != covered) {
      return absl::DataLossError(
          absl::StrCat("tensor '", entry.name, "': begins at byte ", entry.begin, " of the data, ",
                       entry.begin < covered ? "inside" : "after a hole behind",
                       " the tensor that ends at ", covered));
    }
    covered = entry.end;
  }
  if (covered != data_size) {
    return absl::DataLossError(
        absl::StrCat("the tensors cover ", covered, " of the ", data_size, " bytes of data"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Header> ParseHeader(absl::string_view text, uint64_t data_size,
                                   absl::string_view file_name) {
  std::string duplicate;
  const Json json = ParseJson(text, &duplicate);
  if (!json.is_object()) return DamagedFile(file_name, "the header is not a JSON object");
  if (!duplicate.empty()) {
    return DamagedFile(file_name,
                       absl::StrCat("the header holds the name '", duplicate, "' twice"));
  }
  Header header;
  for (const auto& [name, value] : json.items()) {
    if (name == kMetadataKey) {
      absl::StatusOr<SafetensorsMetadata> metadata = ParseMetadata(value);
      if (!metadata.ok()) {
        return DamagedFile(file_name,
                           absl::StrCat(kMetadataKey, ": ", metadata.status().message()));
      }
      header.metadata = *std::move(metadata);
      continue;
    }
    absl::StatusOr<Entry> entry = ParseEntry(name, value, data_size);
    if (!entry.ok()) {
      return DamagedFile(file_name,
                         absl::StrCat("tensor '", name, "': ", entry.status().message()));
    }
    header.entries.push_back(*std::move(entry));
  }
  std::stable_sort(header.entries.begin(), header.entries.end(), [](const auto& a, const auto& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  const absl::Status cover = CheckCover(header.entries, data_size);
  if (!cover.ok()) return DamagedFile(file_name, cover.message());
  return header;
}

// Length of the header text, from the first 8 bytes (or fewer) of a file of `file_size` bytes.
absl::StatusOr<uint64_t> ParseHeaderSize(absl::string_view start, uint64_t file_size,
                                         absl::string_view file_name) {
  if (start.size() < 8) {
    return DamagedFile(file_name, absl::StrCat("truncated: ", file_size,
                                               " bytes, a safetensors file begins with 8"));
  }
  uint64_t size = 0;
  std::memcpy(&size, start.data(), 8);
  if (size > kMaxHeaderSize) {
    return DamagedFile(file_name, absl::StrCat("not a safetensors file: a header of ", size,
                                               " bytes (at most ", kMaxHeaderSize, ")"));
  }
  if (size > file_size - 8) {
    return DamagedFile(file_name, absl::StrCat("truncated: a header of ", size,
                                               " bytes in a file of ", file_size, " bytes"));
  }
  return size;
}

// Closes the descriptor it owns.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

// Appends exactly `size` bytes to `out`, without trusting that the file still has them.
absl::Status ReadExactly(const File& file, const std::string& path, uint64_t size,
                         std::string* out) {
  out->resize(size);
  uint64_t filled = 0;
  while (filled < size) {
    const ssize_t got = ::read(file.get(), out->data() + filled, size - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError("cannot read", path);
    if (got == 0) return DamagedFile(path, "became shorter while it was read");
    filled += static_cast<uint64_t>(got);
  }
  return absl::OkStatus();
}

absl::Status WriteAll(const File& file, const std::string& path, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return SystemError("cannot write", path);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

// Arrays in the order of the file.
std::vector<const NamedArray*> LayOut(absl::Span<const NamedArray> arrays) {
  std::vector<const NamedArray*> order;
  for (const NamedArray& array : arrays) order.push_back(&array);
  std::stable_sort(order.begin(), order.end(), [](const NamedArray* a, const NamedArray* b) {
    return ArrayTypeSize(a->type) > ArrayTypeSize(b->type);
  });
  return order;
}

// The first bytes of the file: length and padded header.
std::string SerializeHeader(const std::vector<const NamedArray*>& order,
                            const SafetensorsMetadata& metadata) {
  // The format gives no order to the header's names; writing them in the order of the bytes lets
  // people read it.
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header[kMetadataKey] = metadata;
  std::set<std::string> names;
  uint64_t offset = 0;
  for (const NamedArray* array : order) {
    LZ_CHECK(!array->name.empty() && array->name != kMetadataKey, "name '", array->name, "'");
    LZ_CHECK(names.insert(array->name).second, "two arrays are named '", array->name, "'");
    LZ_CHECK(array->num_bytes() == array->num_elements() * ArrayTypeSize(array->type), "array '",
             array->name, "' holds ", array->num_bytes(), " bytes, shape [",
             absl::StrJoin(array->shape, ", "), "] of ", ArrayTypeName(array->type));
    const uint64_t end = offset + static_cast<uint64_t>(array->num_bytes());
    header.emplace(array->name,
                   nlohmann::ordered_json{{"dtype", std::string(ArrayTypeName(array->type))},
                                          {"shape", array->shape},
                                          {"data_offsets", {offset, end}}});
    offset = end;
  }
  std::string text = header.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint64_t size = text.size();
  std::string start(8, '\0');
  std::memcpy(start.data(), &size, 8);
  return start + text;
}

}  // namespace

std::string SerializeSafetensors(absl::Span<const NamedArray> arrays,
                                 const SafetensorsMetadata& metadata) {
  const std::vector<const NamedArray*> order = LayOut(arrays);
  std::string bytes = SerializeHeader(order, metadata);
  const ByteSink append = [&bytes](absl::string_view part) {
    bytes.append(part.data(), part.size());
  };
  for (const NamedArray* array : order) array->GiveBytes(append);
  return bytes;
}

absl::StatusOr<WrittenFile> WriteSafetensors(const std::string& path,
                                             absl::Span<const NamedArray> arrays,
                                             const SafetensorsMetadata& metadata) {
  const std::vector<const NamedArray*> order = LayOut(arrays);
  const std::string header = SerializeHeader(order, metadata);
  const File file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (file.get() < 0) return SystemError("cannot create", path);
  WrittenFile written;
  absl::Status status;
  const auto write = [&](absl::string_view piece) {
    written.size += piece.size();
    written.crc32c = Crc32c(piece, written.crc32c);
    if (status.ok()) status = WriteAll(file, path, piece);
  };
  // Small parts are collected, large ones are not copied.
  std::string pending;
  const ByteSink append = [&](absl::string_view part) {
    if (pending.size() + part.size() > kPieceSize) {
      write(pending);
      pending.clear();
    }
    if (part.size() > kPieceSize) {
      write(part);
    } else {
      pending.append(part.data(), part.size());
    }
  };
  append(header);
  for (const NamedArray* array : order) array->GiveBytes(append);
  write(pending);
  LZ_RETURN_IF_ERROR(status);
  if (::fsync(file.get()) != 0) return SystemError("cannot sync", path);
  return written;
}

absl::StatusOr<SafetensorsContent> ParseSafetensors(absl::string_view bytes,
                                                    absl::string_view file_name) {
  LZ_ASSIGN_OR_RETURN(const uint64_t header_size,
                      ParseHeaderSize(bytes.substr(0, 8), bytes.size(), file_name));
  const absl::string_view values = bytes.substr(8 + header_size);
  LZ_ASSIGN_OR_RETURN(Header header,
                      ParseHeader(bytes.substr(8, header_size), values.size(), file_name));
  SafetensorsContent content;
  content.metadata = std::move(header.metadata);
  for (Entry& entry : header.entries) {
    content.arrays.push_back({std::move(entry.name), entry.type, std::move(entry.shape),
                              std::string(values.substr(entry.begin, entry.end - entry.begin))});
  }
  return content;
}

absl::StatusOr<SafetensorsContent> ReadSafetensors(const std::string& path) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return SystemError("cannot open", path);
  struct stat facts = {};
  if (::fstat(file.get(), &facts) != 0) return SystemError("cannot read", path);
  if (!S_ISREG(facts.st_mode)) return DamagedFile(path, "is not a file");
  const uint64_t file_size = static_cast<uint64_t>(facts.st_size);
  std::string text;
  LZ_RETURN_IF_ERROR(ReadExactly(file, path, std::min<uint64_t>(8, file_size), &text));
  LZ_ASSIGN_OR_RETURN(const uint64_t header_size, ParseHeaderSize(text, file_size, path));
  LZ_RETURN_IF_ERROR(ReadExactly(file, path, header_size, &text));
  LZ_ASSIGN_OR_RETURN(Header header, ParseHeader(text, file_size - 8 - header_size, path));
  SafetensorsContent content;
  content.metadata = std::move(header.metadata);
  for (Entry& entry : header.entries) {  // no holes: the arrays follow each other
    NamedArray array{std::move(entry.name), entry.type, std::move(entry.shape), {}};
    LZ_RETURN_IF_ERROR(ReadExactly(file, path, entry.end - entry.begin, &array.bytes));
    content.arrays.push_back(std::move(array));
  }
  return content;
}

}  // namespace lzero
