// How both mountain cars look: a valley, the car in it and a flag at the goal; in characters and in
// pixels. Knows nothing of their rules. Positions are those of the rules, from -1.2 to 0.6. Pure
// functions, any thread.
#ifndef LZERO_ENVS_CLASSIC_MOUNTAIN_CAR_PICTURE_H_
#define LZERO_ENVS_CLASSIC_MOUNTAIN_CAR_PICTURE_H_

#include <string>

#include "lzero/base/picture/image.h"

namespace lzero {

// The valley with 'o' for the car and 'F' for the flag at `goal`, then both numbers.
std::string MountainCarText(double position, double velocity, double goal);

// 300 x 200 pixels.
Image MountainCarPicture(double position, double goal);

}  // namespace lzero

#endif  // LZERO_ENVS_CLASSIC_MOUNTAIN_CAR_PICTURE_H_
