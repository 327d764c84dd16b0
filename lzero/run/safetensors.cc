#include "lzero/run/safetensors.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/check.h"
#include "lzero/base/files.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/text/json_reader.h"
#include "nlohmann/json.hpp"

namespace lzero {
namespace {

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

absl::StatusOr<Entry> ParseEntry(const std::string& name, const JsonReader& json,
                                 uint64_t data_size) {
  Entry entry;
  entry.name = name;
  std::string type;
  std::vector<int64_t> offsets;
  json.Read("dtype", &type);
  json.Read("shape", &entry.shape, {.low = 0});
  json.Read("data_offsets", &offsets, {.low = 0, .size = 2});
  LZ_RETURN_IF_ERROR(json.status());
  const absl::StatusOr<ArrayType> known = ParseArrayType(type);
  absl::Status status = known.status();
  if (known.ok()) {
    entry.type = *known;
    entry.begin = static_cast<uint64_t>(offsets[0]);
    entry.end = static_cast<uint64_t>(offsets[1]);
    status = CheckSize(entry, data_size);
  }
  if (!status.ok()) return json.Fail(absl::StrCat("tensor '", name, "': ", status.message()));
  return entry;
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
  LZ_ASSIGN_OR_RETURN(
      const JsonReader json,
      JsonReader::Parse(text, {absl::StrCat(file_name, ": header"), absl::StatusCode::kDataLoss}));
  Header header;
  for (const std::string& name : json.Names()) {
    const JsonReader object = json.Object(name);
    if (name == kMetadataKey) {
      for (const std::string& key : object.Names()) object.Read(key, &header.metadata[key]);
    } else {
      LZ_ASSIGN_OR_RETURN(header.entries.emplace_back(), ParseEntry(name, object, data_size));
    }
  }
  LZ_RETURN_IF_ERROR(json.status());
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

// Puts the next `size` bytes of a file into the text, or says why it cannot.
using ByteSource = std::function<absl::Status(uint64_t size, std::string*)>;

absl::StatusOr<SafetensorsContent> ReadContent(const ByteSource& read, uint64_t file_size,
                                               absl::string_view file_name) {
  std::string text;
  LZ_RETURN_IF_ERROR(read(std::min<uint64_t>(8, file_size), &text));
  LZ_ASSIGN_OR_RETURN(const uint64_t header_size, ParseHeaderSize(text, file_size, file_name));
  LZ_RETURN_IF_ERROR(read(header_size, &text));
  LZ_ASSIGN_OR_RETURN(Header header, ParseHeader(text, file_size - 8 - header_size, file_name));
  SafetensorsContent content;
  content.metadata = std::move(header.metadata);
  for (Entry& entry : header.entries) {  // no holes: the arrays follow each other
    NamedArray array{std::move(entry.name), entry.type, std::move(entry.shape), {}};
    LZ_RETURN_IF_ERROR(read(entry.end - entry.begin, &array.bytes));
    content.arrays.push_back(std::move(array));
  }
  return content;
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
  LZ_ASSIGN_OR_RETURN(const OpenFile file,
                      OpenFile::Open(path, O_WRONLY | O_CREAT | O_TRUNC, "cannot create"));
  WrittenFile written;
  absl::Status status;
  const auto write = [&](absl::string_view piece) {
    written.size += piece.size();
    written.crc32c = Crc32c(piece, written.crc32c);
    if (status.ok()) status = file.Write(piece);
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
  LZ_RETURN_IF_ERROR(file.Sync());
  return written;
}

absl::StatusOr<SafetensorsContent> ParseSafetensors(absl::string_view bytes,
                                                    absl::string_view file_name) {
  const ByteSource take = [rest = bytes](uint64_t size, std::string* out) mutable {
    *out = std::string(rest.substr(0, size));
    rest.remove_prefix(size);
    return absl::OkStatus();
  };
  return ReadContent(take, bytes.size(), file_name);
}

absl::StatusOr<SafetensorsContent> ReadSafetensors(const std::string& path) {
  LZ_ASSIGN_OR_RETURN(const OpenFile file, OpenFile::Open(path, O_RDONLY));
  struct stat facts = {};
  if (::fstat(file.descriptor(), &facts) != 0) return SystemError("cannot read", path);
  if (!S_ISREG(facts.st_mode)) return DamagedFile(path, "is not a file");
  // Without trust that the file still has what it had.
  const ByteSource read = [&](uint64_t size, std::string* out) -> absl::Status {
    out->resize(size);
    LZ_ASSIGN_OR_RETURN(const size_t got, file.Read(absl::MakeSpan(*out)));
    return got == size ? absl::OkStatus() : DamagedFile(path, "became shorter while it was read");
  };
  return ReadContent(read, static_cast<uint64_t>(facts.st_size), path);
}

}  // namespace lzero
