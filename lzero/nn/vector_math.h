// Vectors of floats as wide as the CPU's registers, for the hand-written kernels of this folder:
// loads, sums, exp, and the choice of the instruction set while the program runs. A kernel is a
// struct with a static function template Run<Bytes>(arguments); RunWidest<Kernel>(arguments) calls
// the widest one that this CPU has. Everything here must be inlined into a kernel. No torch.
#ifndef LZERO_NN_VECTOR_MATH_H_
#define LZERO_NN_VECTOR_MATH_H_

#include <cstdint>
#include <cstring>

namespace lzero::simd {

#define LZ_INLINE [[gnu::always_inline]] inline

// A register of `Bytes` bytes.
template <int Bytes>
struct Register {
  typedef float Floats __attribute__((vector_size(Bytes)));
  typedef int32_t Ints __attribute__((vector_size(Bytes)));
  // The same numbers anywhere in an array of floats.
  typedef float InArray __attribute__((vector_size(Bytes), aligned(4), may_alias));
  static constexpr int64_t kLanes = Bytes / int64_t{sizeof(float)};
};

template <int Bytes>
using Floats = typename Register<Bytes>::Floats;
template <int Bytes>
constexpr int64_t kLanes = Register<Bytes>::kLanes;

template <int Bytes>
LZ_INLINE Floats<Bytes> Load(const float* values) {
  return *reinterpret_cast<const typename Register<Bytes>::InArray*>(values);
}

template <int Bytes>
LZ_INLINE void Store(Floats<Bytes> x, float* values) {
  *reinterpret_cast<typename Register<Bytes>::InArray*>(values) = x;
}

// The first `count` lanes, zeros behind them; more than there are lanes means all of them.
// Whole: there are always that many. Else the call for the rest takes the registers from the loop
// around it, so that a kernel has one loop for rows of whole registers and one for others.
template <int Bytes, bool Whole>
LZ_INLINE Floats<Bytes> LoadSome(const float* values, int64_t count) {
  if (Whole || count >= kLanes<Bytes>) return Load<Bytes>(values);
  Floats<Bytes> x = {};
  std::memcpy(&x, values, static_cast<size_t>(count) * sizeof(float));
  return x;
}

template <int Bytes, bool Whole>
LZ_INLINE void StoreSome(Floats<Bytes> x, float* values, int64_t count) {
  if (Whole || count >= kLanes<Bytes>) {
    Store<Bytes>(x, values);
  } else {
    std::memcpy(values, &x, static_cast<size_t>(count) * sizeof(float));
  }
}

// The first `count` lanes of x, the others `fill`.
template <int Bytes>
LZ_INLINE Floats<Bytes> KeepFirst(Floats<Bytes> x, int64_t count, float fill) {
  typename Register<Bytes>::Ints lanes = {};
  for (int i = 0; i < static_cast<int>(kLanes<Bytes>); ++i) lanes[i] = i;
  const int32_t kept = static_cast<int32_t>(count < kLanes<Bytes> ? count : kLanes<Bytes>);
  return lanes < kept ? x : Floats<Bytes>{} + fill;
}

// The first `count` of the values at most, `fill` in the lanes behind them.
template <int Bytes>
LZ_INLINE Floats<Bytes> LoadOr(const float* values, int64_t count, float fill) {
  if (count >= kLanes<Bytes>) return Load<Bytes>(values);
  float lanes[kLanes<Bytes>];
  for (int64_t i = 0; i < kLanes<Bytes>; ++i) lanes[i] = i < count ? values[i] : fill;
  return Load<Bytes>(lanes);
}

template <int Bytes>
LZ_INLINE float Sum(Floats<Bytes> x) {
  if constexpr (Bytes > 16) {
    Floats<Bytes / 2> low, high;
    std::memcpy(&low, &x, sizeof(low));
    std::memcpy(&high, reinterpret_cast<const char*>(&x) + sizeof(low), sizeof(high));
    return Sum<Bytes / 2>(low + high);
  } else {
    return (x[0] + x[2]) + (x[1] + x[3]);
  }
}

// NaN in a lane may stay unseen.
template <int Bytes>
LZ_INLINE float Max(Floats<Bytes> x) {
  if constexpr (Bytes > 16) {
    Floats<Bytes / 2> low, high;
    std::memcpy(&low, &x, sizeof(low));
    std::memcpy(&high, reinterpret_cast<const char*>(&x) + sizeof(low), sizeof(high));
    return Max<Bytes / 2>(low > high ? low : high);
  } else {
    const float even = x[0] > x[2] ? x[0] : x[2], odd = x[1] > x[3] ? x[1] : x[3];
    return even > odd ? even : odd;
  }
}

// Lane i is Sum(x[i]), for four of them: [4].
template <int Bytes>
LZ_INLINE Floats<16> SumFour(const Floats<Bytes>* x) {
  if constexpr (Bytes > 16) {
    Floats<Bytes / 2> halves[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      Floats<Bytes / 2> low, high;
      std::memcpy(&low, x + i, sizeof(low));
      std::memcpy(&high, reinterpret_cast<const char*>(x + i) + sizeof(low), sizeof(high));
      halves[i] = low + high;
    }
    return SumFour<Bytes / 2>(halves);
  } else {
    const Floats<16> ab = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5) +
                          __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7);
    const Floats<16> cd = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5) +
                          __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
    return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) +
           __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
  }
}

// 1.5 * 2^23: adding it rounds to an integer and leaves that in the low bits.
constexpr float kRounder = 12582912.0f;

// 2^n for shifted = n + kRounder.
template <int Bytes>
LZ_INLINE Floats<Bytes> PowerOfTwo(Floats<Bytes> shifted) {
  typename Register<Bytes>::Ints bits;
  std::memcpy(&bits, &shifted, sizeof(bits));
  bits = (bits + (127 - 0x4B400000)) << 23;
  Floats<Bytes> power;
  std::memcpy(&power, &bits, sizeof(power));
  return power;
}

// exp(x), relative error below 2e-7; x is first brought into [-87, 88]. NaN stays NaN.
template <int Bytes>
LZ_INLINE Floats<Bytes> Exp(Floats<Bytes> x) {
  x = x < -87.0f ? Floats<Bytes>{} - 87.0f : x;
  x = x > 88.0f ? Floats<Bytes>{} + 88.0f : x;
  // x = n ln 2 + r
  const Floats<Bytes> shifted = x * 1.44269504089f + kRounder;
  const Floats<Bytes> n = shifted - kRounder;
  const Floats<Bytes> r = (x - n * 0.693145751953125f) - n * 1.42860682030941723e-6f;
  Floats<Bytes> p = Floats<Bytes>{} + 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  return p * PowerOfTwo<Bytes>(shifted);
}

// 2^z, relative error below 2e-7 beside that of z; z is first brought into [-126, 126]. NaN stays
// NaN.
template <int Bytes>
LZ_INLINE Floats<Bytes> Exp2(Floats<Bytes> z) {
  z = z < -126.0f ? Floats<Bytes>{} - 126.0f : z;
  z = z > 126.0f ? Floats<Bytes>{} + 126.0f : z;
  // z = n + f
  const Floats<Bytes> shifted = z + kRounder;
  const Floats<Bytes> f = z - (shifted - kRounder);
  // The polynomial of degree 5 nearest to 2^f on [-0.5, 0.5], relative error 7.5e-8.
  Floats<Bytes> p = Floats<Bytes>{} + 1.3276468627e-3f;
  p = p * f + 9.6755413538e-3f;
  p = p * f + 5.5507132891e-2f;
  p = p * f + 2.4022119727e-1f;
  p = p * f + 6.9314696705e-1f;
  p = p * f + 1.0000000717f;
  return p * PowerOfTwo<Bytes>(shifted);
}

// GELU in its tanh form is x s(x) with s(x) = 1 / (1 + exp(-2 u)), u = sqrt(2 / pi) (x + c x^3).
constexpr double kGeluRoot = 0.7978845608028654;
constexpr double kGeluCubic = 0.044715;

template <int Bytes>
LZ_INLINE Floats<Bytes> GeluGate(Floats<Bytes> x) {
  constexpr double kToBaseTwo = -2.0 * 1.4426950408889634 * kGeluRoot;
  constexpr auto kLinear = static_cast<float>(kToBaseTwo);
  constexpr auto kCubic = static_cast<float>(kToBaseTwo * kGeluCubic);
  return 1.0f / (1.0f + Exp2<Bytes>(x * (kLinear + kCubic * (x * x))));
}

// d gelu(x) / dx for the gate s = s(x): s + x s (1 - s) 2 u'(x).
template <int Bytes>
LZ_INLINE Floats<Bytes> GeluSlope(Floats<Bytes> x, Floats<Bytes> gate) {
  constexpr auto kConstant = static_cast<float>(2.0 * kGeluRoot);
  constexpr auto kSquare = static_cast<float>(6.0 * kGeluCubic * kGeluRoot);
  const Floats<Bytes> twice_du = kConstant + kSquare * (x * x);
  return gate + (x * gate) * (twice_du - gate * twice_du);
}

#define LZ_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))
#define LZ_AVX2 __attribute__((target("avx2,fma")))

template <typename Kernel, typename... Arguments>
LZ_AVX512 void RunAvx512(Arguments... arguments) {
  Kernel::template Run<64>(arguments...);
}
template <typename Kernel, typename... Arguments>
LZ_AVX2 void RunAvx2(Arguments... arguments) {
  Kernel::template Run<32>(arguments...);
}
template <typename Kernel, typename... Arguments>
void RunSse(Arguments... arguments) {
  Kernel::template Run<16>(arguments...);
}

// Bytes of the widest register whose instructions this CPU has: 64, 32 or 16.
inline int RegisterBytes() {
  static const int bytes = [] {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
      return 64;
    }
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 32 : 16;
  }();
  return bytes;
}

// Arguments are passed by value: pointers and sizes.
template <typename Kernel, typename... Arguments>
void RunWidest(Arguments... arguments) {
  switch (RegisterBytes()) {
    case 64:
      return RunAvx512<Kernel>(arguments...);
    case 32:
      return RunAvx2<Kernel>(arguments...);
    default:
      return RunSse<Kernel>(arguments...);
  }
}

}  // namespace lzero::simd

#endif  // LZERO_NN_VECTOR_MATH_H_
