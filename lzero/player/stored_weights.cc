#include "lzero/player/stored_weights.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/player/weight_names.h"

namespace lzero {
namespace {

std::string TypeText(ArrayType type, absl::Span<const int64_t> shape) {
  return absl::StrCat(ArrayTypeName(type), " [", absl::StrJoin(shape, ", "), "]");
}

const float* FloatsOf(const NamedArray& array) {
  return reinterpret_cast<const float*>(array.bytes.data());
}

// base [out, in] + up [out, rank] down [rank, in].
std::vector<float> Merged(const float* base, const NamedArray& up, const NamedArray& down) {
  const int64_t out = up.shape[0], rank = up.shape[1], in = down.shape[1];
  std::vector<float> merged(base, base + out * in);
  for (int64_t o = 0; o < out; ++o) {
    for (int64_t r = 0; r < rank; ++r) {
      const float factor = FloatsOf(up)[o * rank + r];
      for (int64_t i = 0; i < in; ++i) merged[o * in + i] += factor * FloatsOf(down)[r * in + i];
    }
  }
  return merged;
}

bool Is(const NamedArray* array, absl::Span<const int64_t> shape) {
  return array != nullptr && array->type == ArrayType::kF32 && array->shape == shape &&
         array->num_bytes() == static_cast<int64_t>(array->bytes.size());
}

}  // namespace

StoredWeights::StoredWeights(const ExperimentConfig& task, size_t num_tasks,
                             absl::Span<const NamedArray> arrays)
    : task_(task), num_tasks_(num_tasks) {
  for (const NamedArray& array : arrays) arrays_[array.name] = &array;
}

const NamedArray* StoredWeights::Find(const std::string& name) const {
  const auto found = arrays_.find(name);
  return found == arrays_.end() ? nullptr : found->second;
}

absl::Span<const float> StoredWeights::Keep(std::vector<float> numbers) const {
  kept_.push_back(std::move(numbers));
  return kept_.back();
}

absl::Span<const float> StoredWeights::Get(const std::string& name,
                                           absl::Span<const int64_t> shape) const {
  const WeightPlace place = PlaceOf(task_, num_tasks_, name);
  int64_t size = 1;
  for (const int64_t length : shape) size *= length;
  const NamedArray* base = Find(place.name);
  if (!Is(base, shape)) {
    misfits_.push_back(absl::StrCat(place.name, ": ",
                                    base == nullptr ? "missing" : TypeText(base->type, base->shape),
                                    ", must be ", TypeText(ArrayType::kF32, shape)));
    return Keep(std::vector<float>(static_cast<size_t>(size)));
  }
  const AdapterNames names = AdapterNamesOf(task_, num_tasks_, name);
  const NamedArray *down = Find(names.down), *up = Find(names.up);
  if (HasAdapter(task_, place, static_cast<int64_t>(shape.size())) && down != nullptr &&
      up != nullptr) {
    const int64_t rank = task_.multitask.adapter_rank;
    if (Is(up, {shape[0], rank}) && Is(down, {rank, shape[1]})) {
      return Keep(Merged(FloatsOf(*base), *up, *down));
    }
    misfits_.push_back(absl::StrCat(names.down, ", ", names.up, ": not of rank ", rank));
  }
  return {FloatsOf(*base), static_cast<size_t>(size)};
}

absl::Status StoredWeights::Check() const {
  if (misfits_.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(misfits_, "\n"));
}

}  // namespace lzero
