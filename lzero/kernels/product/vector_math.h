// Vectors of floats as wide as the CPU's registers, for the hand-written kernels of this folder:
// loads, sums, exp, and the choice of the instruction set while the program runs. A kernel is a
// struct with a static function template Run<Bytes>(arguments); RunWidest<Kernel>(arguments) calls
// the widest one that this CPU has. Everything here must be inlined into a kernel. No torch.
#ifndef LZERO_KERNELS_PRODUCT_VECTOR_MATH_H_
#define LZERO_KERNELS_PRODUCT_VECTOR_MATH_H_

#if defined(__x86_64__)
#include <immintrin.h>  // declares the builtins of instruction sets that this file is not built for
#endif

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

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

// Asks for the cache line that is 4 KiB behind this place: a kernel that goes through an array once
// finds it in the cache then. The processor fetches ahead by itself, but too late for short
// kernels.
LZ_INLINE void PrefetchAhead(const float* place) { __builtin_prefetch(place + 1024); }

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

// Exchanges the upper right and the lower left of every 2 Width x 2 Width numbers of two rows that
// are Width apart.
template <int Bytes, int Width, int... Lanes>
LZ_INLINE void ExchangeCorners(Floats<Bytes>& upper, Floats<Bytes>& lower,
                               std::integer_sequence<int, Lanes...>) {
  constexpr int kCount = static_cast<int>(kLanes<Bytes>);
  const Floats<Bytes> a = upper, b = lower;
  upper = __builtin_shufflevector(a, b, ((Lanes & Width) ? kCount + Lanes - Width : Lanes)...);
  lower = __builtin_shufflevector(a, b, ((Lanes & Width) ? kCount + Lanes : Lanes + Width)...);
}

// The transposed square of kLanes rows, in place.
template <int Bytes, int Width = static_cast<int>(kLanes<Bytes>) / 2>
LZ_INLINE void Transpose(Floats<Bytes>* rows) {
  constexpr int kCount = static_cast<int>(kLanes<Bytes>);
#pragma GCC unroll 16
  for (int row = 0; row < kCount; ++row) {
    if (row & Width) continue;
    ExchangeCorners<Bytes, Width>(rows[row], rows[row + Width],
                                  std::make_integer_sequence<int, kCount>());
  }
  if constexpr (Width > 1) Transpose<Bytes, Width / 2>(rows);
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

// Of a row: its largest number, and the sum of exp(x - largest).
struct ExponentialSum {
  float largest, sum;
};

// powers = exp(x - largest), zeros up to a whole register, for `count` numbers that -infinity
// follows up to a whole register. `powers` may be x. NaN anywhere makes the sum NaN.
template <int Bytes>
LZ_INLINE ExponentialSum ExpOfRow(const float* x, int64_t count, float* powers) {
  Floats<Bytes> lanes = Load<Bytes>(x);
  for (int64_t j = kLanes<Bytes>; j < count; j += kLanes<Bytes>) {
    const Floats<Bytes> part = Load<Bytes>(x + j);
    lanes = part > lanes ? part : lanes;
  }
  const float largest = Max<Bytes>(lanes);
  Floats<Bytes> sums = {};
  for (int64_t j = 0; j < count; j += kLanes<Bytes>) {
    const Floats<Bytes> part =
        KeepFirst<Bytes>(Exp<Bytes>(Load<Bytes>(x + j) - largest), count - j, 0.0f);
    Store<Bytes>(part, powers + j);
    sums += part;
  }
  return {largest, Sum<Bytes>(sums)};
}

// The polynomial of degree 5 nearest to 2^f on [-0.5, 0.5], relative error 7.5e-8.
template <int Bytes>
LZ_INLINE Floats<Bytes> FractionalPower(Floats<Bytes> f) {
  Floats<Bytes> p = Floats<Bytes>{} + 1.3276468627e-3f;
  p = p * f + 9.6755413538e-3f;
  p = p * f + 5.5507132891e-2f;
  p = p * f + 2.4022119727e-1f;
  p = p * f + 6.9314696705e-1f;
  return p * f + 1.0000000717f;
}

// 2^z, relative error below 3e-7 beside that of z (2.04e-7 without fused multiply-add). Where that
// is above 2^126, something that is at least 2^126; where it is below 2^-126, something from 0 to
// 2^-126. NaN stays NaN.
template <int Bytes>
LZ_INLINE Floats<Bytes> Exp2(Floats<Bytes> z) {
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
  // AVX-512 rounds, takes what is left (0 of an infinity), and scales by a power of two, in one
  // instruction each. As builtins, because intrinsics are not inlined before the kernel is.
  if constexpr (Bytes == 64) {
    constexpr auto kAll = static_cast<unsigned short>(-1);
    constexpr int kMode = 4;  // of the register that holds the rounding mode
    const Floats<Bytes> n = __builtin_ia32_rndscaleps_mask(z, 0, z, kAll, kMode);
    const Floats<Bytes> f = __builtin_ia32_reduceps512_mask_round(z, 0, z, kAll, kMode);
    return __builtin_ia32_scalefps512_mask(FractionalPower<Bytes>(f), n, z, kAll, kMode);
  }
#endif
  z = z < -126.0f ? Floats<Bytes>{} - 126.0f : z;
  z = z > 126.0f ? Floats<Bytes>{} + 126.0f : z;
  const Floats<Bytes> shifted = z + kRounder;
  const Floats<Bytes> f = z - (shifted - kRounder);
  return FractionalPower<Bytes>(f) * PowerOfTwo<Bytes>(shifted);
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

inline int WidestRegisterBytes() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return 64;
  }
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 32 : 16;
}

// Bytes of the widest register whose instructions this CPU has: 64, 32 or 16; 16 or 32 where the
// variable LZERO_REGISTER_BYTES of the environment says so, that a CPU can compute what a smaller
// one does.
inline int RegisterBytes() {
  static const int bytes = [] {
    const char* given = std::getenv("LZERO_REGISTER_BYTES");
    const int widest = WidestRegisterBytes(), most = given == nullptr ? widest : std::atoi(given);
    return most < widest && (most == 16 || most == 32) ? most : widest;
  }();
  return bytes;
}

template <typename Kernel, typename... Arguments>
void RunWithRegisters(int bytes, Arguments... arguments) {
  switch (bytes) {
    case 64:
      return RunAvx512<Kernel>(arguments...);
    case 32:
      return RunAvx2<Kernel>(arguments...);
    default:
      return RunSse<Kernel>(arguments...);
  }
}

// Arguments are passed by value: pointers and sizes.
template <typename Kernel, typename... Arguments>
void RunWidest(Arguments... arguments) {
  RunWithRegisters<Kernel>(RegisterBytes(), arguments...);
}

// With the narrowest registers that hold `count` floats, or the widest: for many short rows.
template <typename Kernel, typename... Arguments>
void RunFitting(int64_t count, Arguments... arguments) {
  const int fitting = count <= kLanes<16> ? 16 : count <= kLanes<32> ? 32 : 64;
  const int widest = RegisterBytes();
  RunWithRegisters<Kernel>(fitting < widest ? fitting : widest, arguments...);
}

}  // namespace lzero::simd

#endif  // LZERO_KERNELS_PRODUCT_VECTOR_MATH_H_
