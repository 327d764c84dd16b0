// Lanes: who shares the loops of a function that runs on the host and inside CUDA kernels. Such a
// function is a template of `Lanes` and is called by all of them; lane() says which one this is.
// What a lane writes others may read after the next Join only.
//   int lane(); static constexpr int count();
//   void Join()                  a barrier
//   T Sum(T), Max(T)             of all lanes, the same in each; int and float
//   T Read(T x, int lane)        the x of that lane; int, float and double
// A Max, Sum or Read orders no memory. Here is the one lane of the host, which has the whole loop;
// block_lanes.cuh has those of a device.
#ifndef LZERO_BASE_LANES_ONE_LANE_H_
#define LZERO_BASE_LANES_ONE_LANE_H_

namespace lzero {

struct OneLane {
  static constexpr int count() { return 1; }
  constexpr int lane() const { return 0; }
  void Join() const {}
  template <typename T>
  T Sum(T x) const {
    return x;
  }
  template <typename T>
  T Max(T x) const {
    return x;
  }
  template <typename T>
  T Read(T x, int /*lane*/) const {
    return x;
  }
};

}  // namespace lzero

#endif  // LZERO_BASE_LANES_ONE_LANE_H_
