#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "lzero/kernels/convolution/convolution_gradients.h"
#include "lzero/kernels/convolution/packed_convolution.h"
using namespace lzero;
template <class F>
double best(F f) {
  double b = 1e9;
  for (int k = 0; k < 60; k++) {
    auto t = std::chrono::steady_clock::now();
    f();
    b = std::min(b, std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count());
  }
  return b * 1e6;
}
int main() {
  struct S {
    int64_t n, c, o, h, w, s;
  };
  for (S t : {S{32, 32, 32, 6, 7, 1}, S{256, 32, 32, 6, 7, 1}, S{8, 16, 16, 8, 8, 1},
              S{64, 16, 16, 16, 16, 1}, S{64, 4, 16, 64, 64, 2}, S{64, 16, 16, 32, 32, 2}}) {
    ConvolutionShape s{t.c, t.o, t.s};
    PlaneSizes p{t.n, t.h, t.w};
    auto q = s.OutputOf(p);
    std::vector<float> x(p.cells() * t.c, 1.f), y(q.cells() * t.o, 1.f), dx(p.cells() * t.c),
        w(s.weight_size(), .1f), dw(s.weight_size());
    PackedConvolution c;
    c.Pack(s, w.data());
    std::vector<float> sc(c.scratch_size(p) + 16);
    double f = best([&] { c.Run(p, x.data(), y.data(), sc.data()); }),
           fp = best([&] { c.Pack(s, w.data()); });
    ConvolutionGradients g;
    double b = best([&] {
      g.Pack(s, w.data());
      std::vector<float> sums(g.sums_size()), sg(g.scratch_size(p) + 16);
      g.RunInputs(p, y.data(), dx.data(), sg.data());
      g.AddWeights(p, x.data(), y.data(), sums.data(), sg.data());
      g.FinishWeights(sums.data(), dw.data());
    });
    printf("%ldx%ldx%ldx%ld->%ld s%ld: forward %.0f us, packing %.0f us, backward %.0f us\n", t.n,
           t.c, t.h, t.w, t.o, t.s, f, fp, b);
  }
}
