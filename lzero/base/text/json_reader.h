// Reads JSON that comes from outside, field by field. Every complaint says where, what was found
// and what is allowed: "golden tree: config.num_actions is 0; allowed: a whole number, 1 to
// 100000". A document keeps its first complaint: read the fields, then return status(). Until then
// a field that did not fit may hold anything. Not a writer. One thread a document.
#ifndef LZERO_BASE_TEXT_JSON_READER_H_
#define LZERO_BASE_TEXT_JSON_READER_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace lzero {

struct JsonSource {
  std::string name;  // where the text is from; begins every message
  absl::StatusCode code = absl::StatusCode::kInvalidArgument;  // of every error
};

// More than any text of ours.
inline constexpr int kMaxJsonDepth = 16;

// What a field may hold beyond its type. For a list: its size, and what each entry may hold.
struct JsonLimits {
  int64_t low = std::numeric_limits<int64_t>::min();  // whole numbers
  int64_t high = std::numeric_limits<int64_t>::max();
  double largest = std::numeric_limits<double>::max();  // other numbers, without their sign
  int64_t size = -1;                                    // -1: any
  const char* note = "";  // ends the message, but not that of an entry
};

// One object of a document. Copies share the document, which lives as long as one of them.
class JsonReader {
 public:
  // Refuses what is no JSON object, holds a name twice in one object, has a number that is not
  // finite as float64, or more than kMaxJsonDepth lists and objects open at once.
  static absl::StatusOr<JsonReader> Parse(absl::string_view text, JsonSource source);

  // Whether the field is there and not null.
  bool Has(absl::string_view key) const;
  // The names of all fields, sorted.
  std::vector<std::string> Names() const;

  // Reads a field that must be there. `T`: bool, int32_t, int64_t, uint64_t, float, double,
  // std::string, and some std::vector and std::optional (null: none) of them.
  template <typename T>
  void Read(absl::string_view key, T* out, const JsonLimits& limits = {}) const;
  // Likewise, but a field that is missing or null leaves `out` as it was.
  template <typename T>
  void MaybeRead(absl::string_view key, T* out, const JsonLimits& limits = {}) const {
    if (Has(key)) Read(key, out, limits);
  }
  // A single value as text: a string as it is, all else as JSON.
  void ReadAsText(absl::string_view key, std::string* out) const;
  // An object, or a list of objects; empty after a complaint.
  JsonReader Object(absl::string_view key) const;
  std::vector<JsonReader> Objects(absl::string_view key) const;

  // The caller complains about a field (Wrong), or with a sentence of its own (Fail). Both return
  // status().
  const absl::Status& Wrong(absl::string_view key, absl::string_view allowed) const;
  const absl::Status& Fail(absl::string_view what) const;
  // Where a field is, for messages: "nodes[3].path".
  std::string Place(absl::string_view key) const;
  // The first complaint of the document.
  const absl::Status& status() const;

 private:
  struct Document;
  // `object` is a nlohmann::json, which stays out of headers.
  JsonReader(std::shared_ptr<Document> document, const void* object)
      : document_(std::move(document)), object_(object) {}

  std::shared_ptr<Document> document_;
  const void* object_;
};

// Whether `text` is JSON of any kind that Parse would take as a field.
bool IsJson(absl::string_view text);

}  // namespace lzero

#endif  // LZERO_BASE_TEXT_JSON_READER_H_
