// A bfloat16 number as kernels and the host write it: the upper half of a float32, rounded to the
// nearest, ties to even; a NaN stays one.
#ifndef LZERO_INFERENCE_DEVICE_BFLOAT16_H_
#define LZERO_INFERENCE_DEVICE_BFLOAT16_H_

#include <cstdint>
#include <cstring>

#include "lzero/base/host_device.h"

namespace lzero {

struct Bfloat16 {
  uint16_t bits;

  LZ_HOST_DEVICE explicit Bfloat16(float value) {
    uint32_t whole;
    memcpy(&whole, &value, sizeof(whole));
    const bool is_nan = (whole & 0x7fffffffu) > 0x7f800000u;
    whole = is_nan ? whole | 0x400000u : whole + 0x7fffu + ((whole >> 16) & 1u);
    bits = static_cast<uint16_t>(whole >> 16);
  }
  LZ_HOST_DEVICE explicit operator float() const {
    const uint32_t whole = static_cast<uint32_t>(bits) << 16;
    float value;
    memcpy(&value, &whole, sizeof(value));
    return value;
  }
};

}  // namespace lzero

#endif  // LZERO_INFERENCE_DEVICE_BFLOAT16_H_
