// Planes cut into tiles for 3x3 convolutions of stride 1 with a border of zeros: a tile of 4x4
// outputs reads 6x6 inputs, transforms of both turn the convolution into one product of channels at
// each of 36 places, a quarter of the multiplications. [Winograd's F(4x4, 3x3), Lavin and Gray
// 2016]
//
// Planes are [samples, height, width, channels], float32. Tiles are numbered sample by sample and
// row by row; those of one call are [36 places, count, channels], places apart by PlaceStride.
// Numbers of one tile do not depend on its neighbours in the call. No threads, no allocation. Any
// thread.
#ifndef LZERO_KERNELS_CONVOLUTION_TILE_KERNELS_H_
#define LZERO_KERNELS_CONVOLUTION_TILE_KERNELS_H_

#include <cstdint>

namespace lzero {

inline constexpr int64_t kTilePlaces = 36;
inline constexpr int64_t kMostTileChannels = 1024;

struct PlaneSizes {
  int64_t samples = 0, height = 0, width = 0;

  int64_t cells() const { return samples * height * width; }
  int64_t tiles_down() const { return (height + 3) / 4; }
  int64_t tiles_across() const { return (width + 3) / 4; }
  int64_t tiles() const { return samples * tiles_down() * tiles_across(); }
};

// Floats from one of the 36 places to the next for tiles of so many numbers a place: an odd number
// of cache lines, so that a tile's places do not push each other out of the first cache.
inline int64_t PlaceStride(int64_t numbers) {
  constexpr int64_t kLineFloats = 16;
  return ((numbers + kLineFloats - 1) / kLineFloats | 1) * kLineFloats;
}

// Tiles `first` to first + count - 1 of planes of at most kMostTileChannels channels.
struct TileRange {
  PlaneSizes planes;
  int64_t channels = 0;
  int64_t first = 0;
  int64_t count = 0;

  int64_t place_stride() const { return PlaceStride(count * channels); }
};

// tiles = B^T d B of the 6x6 inputs of each tile of x.
void TransformInputs(const TileRange& range, const float* x, float* tiles);

// The 4x4 outputs A^T m A of each tile into y, without what lies outside of the planes.
void TransformOutputs(const TileRange& range, const float* tiles, float* y);

// tiles = A dy A^T of the 4x4 gradients of each tile's outputs, zeros outside of the planes: what
// the gradient of the weights is a product of, with TransformInputs of x.
void TransformGradients(const TileRange& range, const float* dy, float* tiles);

// u [36, in, out] = G g G^T for each pair of channels of weight [out, in, 3, 3]. With `backward`
// the convolution that leads gradients back: u [36, out, in], the 3x3 turned around.
void TransformWeights(const float* weight, int64_t out, int64_t in, bool backward, float* u);

// Adds G^T du G to dweight [out, in, 3, 3], for du [36, in, out].
void AddWeightGradients(const float* du, int64_t out, int64_t in, float* dweight);

}  // namespace lzero

#endif  // LZERO_KERNELS_CONVOLUTION_TILE_KERNELS_H_
