// The numbers that make up the state of a MinAtar game, visited in order: one list in the game's
// source for saving as well as for loading. Plain object, no thread rule.
#ifndef LZERO_ENVS_MINATAR_MINATAR_FIELDS_H_
#define LZERO_ENVS_MINATAR_MINATAR_FIELDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lzero/env/saved_state.h"

namespace lzero {

class MinAtarFields {
 public:
  // Writes what is visited; or reads it. The other one outlives this.
  explicit MinAtarFields(StateWriter* writer) : writer_(writer) {}
  explicit MinAtarFields(StateReader* reader) : reader_(reader) {}

  // An integer, a truth value or an enumerator, in low .. high. One that is not is read as `low`,
  // and the first told by problem().
  template <typename T>
  void Number(T& value, int low, int high) {
    if (writer_ != nullptr) {
      writer_->Write(static_cast<int32_t>(value));
      return;
    }
    const int32_t number = reader_->Read<int32_t>();
    const bool is_possible = number >= low && number <= high;
    value = static_cast<T>(is_possible ? number : low);
    if (!is_possible && problem_.empty()) {
      problem_ =
          absl::StrCat("number ", num_visited_, " is ", number, ", not in ", low, " .. ", high);
    }
    ++num_visited_;
  }
  // A list of at most a thousand items, which visit their own numbers.
  template <typename T>
  void List(std::vector<T>& items) {
    size_t size = items.size();
    Number(size, 0, 1000);
    items.resize(size);
    for (T& item : items) item.VisitFields(*this);
  }

  // Empty when all that was read is possible.
  const std::string& problem() const { return problem_; }

 private:
  StateWriter* writer_ = nullptr;
  StateReader* reader_ = nullptr;
  int num_visited_ = 0;
  std::string problem_;
};

}  // namespace lzero

#endif  // LZERO_ENVS_MINATAR_MINATAR_FIELDS_H_
