#include <torch/torch.h>

#include <chrono>
#include <cstdio>
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
  at::set_num_threads(1);
  printf("mkldnn %d\n", (int)at::globalContext().userEnabledMkldnn());
  struct S {
    int64_t n, c, o, h, w, s;
  };
  for (S t : {S{32, 32, 32, 6, 7, 1}, S{256, 32, 32, 6, 7, 1}, S{8, 16, 16, 8, 8, 1},
              S{64, 16, 16, 16, 16, 1}, S{64, 4, 16, 64, 64, 2}, S{64, 16, 16, 32, 32, 2}}) {
    for (bool last : {true, false}) {
      auto f = last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
      auto x = torch::randn({t.n, t.c, t.h, t.w}).contiguous(f),
           w = torch::randn({t.o, t.c, 3, 3}).contiguous(f);
      double fwd;
      {
        torch::NoGradGuard g;
        fwd = best([&] { at::conv2d(x, w, {}, t.s, 1); });
      }
      double pk = 0;
      if (!last) {
        torch::NoGradGuard g;
        auto wm = w.to_mkldnn();
        auto wp = at::mkldnn_reorder_conv2d_weight(wm, {1, 1}, {t.s, t.s}, {1, 1}, 1,
                                                   at::OptionalIntArrayRef(x.sizes()));
        auto xm = x.to_mkldnn();
        pk = best([&] { at::mkldnn_convolution(xm, wp, {}, {1, 1}, {t.s, t.s}, {1, 1}, 1); });
      }
      auto xg = x.clone().requires_grad_(), wg = w.clone().requires_grad_();
      auto y = at::conv2d(xg, wg, {}, t.s, 1);
      auto g = torch::randn_like(y);
      double b = best([&] { torch::autograd::grad({y}, {xg, wg}, {g}, true); });
      printf(
          "%ldx%ldx%ldx%ld->%ld s%ld %s: forward %.0f us, packed weights and blocked planes %.0f "
          "us, backward %.0f us\n",
          t.n, t.c, t.h, t.w, t.o, t.s, last ? "channels last" : "planes", fwd, pk, b);
    }
  }
}
