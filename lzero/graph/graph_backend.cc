#include "lzero/graph/graph_backend.h"

#include <algorithm>

#include "lzero/base/check.h"
#include "lzero/base/log.h"
#include "lzero/base/machine.h"

namespace lzero {

void LogRecorded(const std::string& owner, const GraphBackend& backend) {
  const RecordedWork recorded = backend.recorded();
  if (recorded.num_nodes == 0) return;
  LZ_LOG_DETAIL("graphs        ", owner, owner.empty() ? "" : ": ", recorded.num_nodes,
                " nodes recorded, with ", SizeText(recorded.used_bytes), " more of the device");
}

const std::vector<int64_t>& BatchBuckets() {
  static const auto& buckets = *new std::vector<int64_t>{2, 4, 8, 16, 32, 64, 96, 128, 192, 256};
  return buckets;
}

std::vector<int64_t> BucketsUpTo(int64_t max_batch) {
  LZ_CHECK(max_batch >= 1, "a batch of ", max_batch);
  std::vector<int64_t> buckets;
  for (const int64_t bucket : BatchBuckets()) {
    buckets.push_back(bucket);
    if (bucket >= max_batch) return buckets;
  }
  buckets.push_back(max_batch);
  return buckets;
}

size_t BucketOf(const std::vector<int64_t>& buckets, int64_t batch) {
  const auto found = std::lower_bound(buckets.begin(), buckets.end(), batch);
  LZ_CHECK(found != buckets.end(), "a batch of ", batch, ", the largest bucket is ",
           buckets.empty() ? 0 : buckets.back());
  return static_cast<size_t>(found - buckets.begin());
}

}  // namespace lzero
