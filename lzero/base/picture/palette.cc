#include "lzero/base/picture/palette.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "lzero/base/check.h"

namespace lzero {
namespace {

constexpr int kBinBits = 6;  // of each channel
constexpr size_t kNumBins = size_t{1} << (3 * kBinBits);

uint32_t KeyOf(Color color) {
  return static_cast<uint32_t>(color.red) << 16 | static_cast<uint32_t>(color.green) << 8 |
         color.blue;
}

size_t BinOf(Color color) {
  constexpr int kDropped = 8 - kBinBits;
  return static_cast<size_t>(color.red >> kDropped) << (2 * kBinBits) |
         static_cast<size_t>(color.green >> kDropped) << kBinBits |
         static_cast<size_t>(color.blue >> kDropped);
}

using Mean = std::array<double, 3>;

// The pixels of one bin.
struct Cluster {
  size_t bin = 0;
  double count = 0.0;
  Mean mean = {};
};

// Clusters [begin, end) of a list, to become one color.
struct Group {
  size_t begin = 0, end = 0;
  Mean mean = {};
  int widest = 0;      // channel of the largest squared error
  double error = 0.0;  // squared, of all channels
};

Group MakeGroup(const std::vector<Cluster>& clusters, size_t begin, size_t end) {
  Group group{begin, end};
  double count = 0.0;
  for (size_t i = begin; i < end; ++i) {
    count += clusters[i].count;
    for (int c = 0; c < 3; ++c) group.mean[c] += clusters[i].count * clusters[i].mean[c];
  }
  for (double& value : group.mean) value /= count;
  std::array<double, 3> errors = {};
  for (size_t i = begin; i < end; ++i) {
    for (int c = 0; c < 3; ++c) {
      const double difference = clusters[i].mean[c] - group.mean[c];
      errors[c] += clusters[i].count * difference * difference;
    }
  }
  group.widest = static_cast<int>(std::max_element(errors.begin(), errors.end()) - errors.begin());
  group.error = errors[0] + errors[1] + errors[2];
  return group;
}

// Splits one group after the other; reorders the clusters.
std::vector<Group> SplitIntoGroups(std::vector<Cluster>& clusters) {
  std::vector<Group> groups = {MakeGroup(clusters, 0, clusters.size())};
  while (groups.size() < Palette::kMostColors) {
    const auto worst =
        std::max_element(groups.begin(), groups.end(),
                         [](const Group& a, const Group& b) { return a.error < b.error; });
    if (worst->error <= 0.0) break;
    const int channel = worst->widest;
    const double limit = worst->mean[channel];
    const auto first = clusters.begin() + static_cast<std::ptrdiff_t>(worst->begin);
    const auto last = clusters.begin() + static_cast<std::ptrdiff_t>(worst->end);
    const auto middle = std::partition(
        first, last, [=](const Cluster& cluster) { return cluster.mean[channel] < limit; });
    if (middle == first || middle == last) {
      worst->error = 0.0;  // nothing but rounding sets them apart
      continue;
    }
    const size_t split = static_cast<size_t>(middle - clusters.begin());
    const size_t end = worst->end;
    *worst = MakeGroup(clusters, worst->begin, split);
    groups.push_back(MakeGroup(clusters, split, end));
  }
  return groups;
}

Color RoundedColor(const Mean& mean) {
  const auto rounded = [](double value) { return static_cast<uint8_t>(std::lround(value)); };
  return {rounded(mean[0]), rounded(mean[1]), rounded(mean[2])};
}

uint8_t NearestIndex(const std::vector<Color>& colors, const Mean& mean) {
  double least = std::numeric_limits<double>::infinity();
  size_t nearest = 0;
  for (size_t i = 0; i < colors.size(); ++i) {
    const double red = colors[i].red - mean[0];
    const double green = colors[i].green - mean[1];
    const double blue = colors[i].blue - mean[2];
    const double distance = red * red + green * green + blue * blue;
    if (distance < least) least = distance, nearest = i;
  }
  return static_cast<uint8_t>(nearest);
}

}  // namespace

Palette::Palette() : bins_(kNumBins) {}

uint8_t Palette::IndexOf(Color color) const {
  if (!is_exact()) return bins_[BinOf(color)].index;
  const auto found = exact_.find(KeyOf(color));
  LZ_CHECK(found != exact_.end(), "color ", KeyOf(color), " was not added to the palette");
  return found->second;
}

void Palette::Add(absl::Span<const uint8_t> pixels) {
  LZ_CHECK(pixels.size() % 3 == 0, "pixels have ", pixels.size(), " bytes");
  uint32_t last_key = ~uint32_t{0};  // the key of no color
  Bin* bin = nullptr;
  for (size_t i = 0; i < pixels.size(); i += 3) {
    const Color color = {pixels[i], pixels[i + 1], pixels[i + 2]};
    const uint32_t key = KeyOf(color);
    if (key != last_key) {
      last_key = key;
      bin = &bins_[BinOf(color)];
      if (is_exact()) {
        exact_.emplace(key, static_cast<uint8_t>(exact_.size()));
      }
    }
    ++bin->count;
    bin->sums[0] += color.red, bin->sums[1] += color.green, bin->sums[2] += color.blue;
  }
}

void Palette::Choose() {
  colors_.assign(is_exact() ? std::max<size_t>(1, exact_.size()) : 0, Color());
  if (is_exact()) {
    for (const auto& [key, index] : exact_) {
      colors_[index] = {static_cast<uint8_t>(key >> 16), static_cast<uint8_t>(key >> 8),
                        static_cast<uint8_t>(key)};
    }
    return;
  }
  std::vector<Cluster> clusters;
  for (size_t i = 0; i < kNumBins; ++i) {
    if (bins_[i].count == 0) continue;
    Cluster cluster{i, static_cast<double>(bins_[i].count)};
    for (int c = 0; c < 3; ++c) {
      cluster.mean[c] = static_cast<double>(bins_[i].sums[c]) / cluster.count;
    }
    clusters.push_back(cluster);
  }
  for (const Group& group : SplitIntoGroups(clusters)) {
    colors_.push_back(RoundedColor(group.mean));
  }
  for (const Cluster& cluster : clusters) {
    bins_[cluster.bin].index = NearestIndex(colors_, cluster.mean);
  }
}

}  // namespace lzero
