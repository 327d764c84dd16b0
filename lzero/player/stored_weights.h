// The weights of a model file, as engines take them: those of one task, adapters merged. What is
// missing or has another shape is read as zeros and told afterwards. One thread.
#ifndef LZERO_PLAYER_STORED_WEIGHTS_H_
#define LZERO_PLAYER_STORED_WEIGHTS_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "lzero/base/named_array.h"
#include "lzero/config/experiment_config.h"
#include "lzero/packed/weight_source.h"

namespace lzero {

class StoredWeights : public packed::WeightSource {
 public:
  // The arrays of model.safetensors of a run, of which `task` is one of `num_tasks`. Both outlive
  // the object.
  StoredWeights(const ExperimentConfig& task, size_t num_tasks,
                absl::Span<const NamedArray> arrays);

  absl::Span<const float> Get(const std::string& name,
                              absl::Span<const int64_t> shape) const override;

  // InvalidArgument with a line for each weight that was asked for and does not fit.
  absl::Status Check() const;

 private:
  const NamedArray* Find(const std::string& name) const;
  // Numbers of this object.
  absl::Span<const float> Keep(std::vector<float> numbers) const;

  const ExperimentConfig& task_;
  size_t num_tasks_;
  std::map<std::string, const NamedArray*> arrays_;
  mutable std::list<std::vector<float>> kept_;
  mutable std::vector<std::string> misfits_;
};

}  // namespace lzero

#endif  // LZERO_PLAYER_STORED_WEIGHTS_H_
