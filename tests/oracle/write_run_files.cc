// Writes one event file and one safetensors file into the folder given, for the oracles that read
// them with the Python packages of those formats. What is in them is said there.
#include <iostream>
#include <string>
#include <vector>

#include "lzero/base/files.h"
#include "lzero/base/status_macros.h"
#include "lzero/run/safetensors.h"
#include "lzero/run/tensorboard_writer.h"

namespace lzero {
namespace {

absl::Status WriteEvents(const std::string& folder) {
  LZ_ASSIGN_OR_RETURN(const auto writer,
                      TensorBoardWriter::Create(folder, [] { return 1700000000.5; }));
  writer->AddScalar("loss/total", 2.5, 100);
  writer->AddScalar("loss/total", -0.125, 1000000);
  writer->AddScalar("loss/total", 77.0, 2000000);
  writer->AddScalar("eval/return_mean", 195.0, 100);
  writer->AddRestart(1000001);  // the point at 2000000 is forgotten
  writer->AddScalar("loss/total", 0.5, 1500000);
  return writer->Flush();
}

absl::Status WriteArrays(const std::string& path) {
  const uint8_t bytes[] = {1, 2, 3};
  const float floats[] = {0.5f, -1.5f, 3.0f, 4.0f, 5.0f, 6.0f};
  const double doubles[] = {1e300};
  const int64_t integers[] = {INT64_MIN, 7};
  const int32_t small[] = {-5};
  const uint64_t keys[] = {UINT64_MAX};
  const uint32_t words[] = {UINT32_MAX};
  NamedArray scalar = MakeNamedArray<double>("scalar", doubles);
  scalar.shape = {};
  const std::vector<NamedArray> arrays = {MakeNamedArray<uint8_t>("bytes", bytes),
                                          MakeNamedArray<float>("floats", floats, {2, 3}),
                                          scalar,
                                          MakeNamedArray<int64_t>("integers", integers),
                                          MakeNamedArray<int32_t>("small", small),
                                          MakeNamedArray<uint64_t>("keys", keys),
                                          MakeNamedArray<uint32_t>("words", words),
                                          {"empty", ArrayType::kF32, {0, 4}, ""}};
  return WriteSafetensors(path, arrays, {{"producer", "lzero \"test\""}}).status();
}

// A file that the Python package wrote must hold "x" = [[1, 2], [3, 4]] as F32.
absl::Status CheckArrays(const std::string& path) {
  LZ_ASSIGN_OR_RETURN(const SafetensorsContent content, ReadSafetensors(path));
  LZ_ASSIGN_OR_RETURN(const auto values, ReadArray<float>(content.arrays, "x"));
  const bool same = values == std::vector<float>{1, 2, 3, 4} &&
                    content.arrays[0].shape == std::vector<int64_t>{2, 2} &&
                    content.metadata == SafetensorsMetadata{{"origin", "python"}};
  return same ? absl::OkStatus() : absl::DataLossError(path + " does not hold what was written");
}

}  // namespace
}  // namespace lzero

int main(int argc, char** argv) {
  const std::string verb = argc == 3 ? argv[1] : "";
  absl::Status status = absl::InvalidArgumentError(
      "usage: write_run_files events FOLDER | arrays FILE | check-arrays FILE");
  if (verb == "events") status = lzero::WriteEvents(argv[2]);
  if (verb == "arrays") status = lzero::WriteArrays(argv[2]);
  if (verb == "check-arrays") status = lzero::CheckArrays(argv[2]);
  if (status.ok()) return 0;
  std::cerr << status << "\n";
  return 1;
}
