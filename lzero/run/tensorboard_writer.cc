#include "lzero/run/tensorboard_writer.h"

#include <chrono>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lzero/base/files.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

// Wire types of protocol buffers.
constexpr int kVarint = 0;
constexpr int kFixed64 = 1;
constexpr int kBytes = 2;
constexpr int kFixed32 = 5;

template <typename T>
std::string Raw(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));  // little-endian machines only, as all of lzero
  return bytes;
}

std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
  return bytes;
}

std::string Key(int field, int wire_type) {
  return Varint(static_cast<uint64_t>(field << 3 | wire_type));
}

std::string Integer(int field, uint64_t value) { return Key(field, kVarint) + Varint(value); }
std::string Float(int field, float value) { return Key(field, kFixed32) + Raw(value); }
std::string Double(int field, double value) { return Key(field, kFixed64) + Raw(value); }
std::string Bytes(int field, absl::string_view value) {
  return absl::StrCat(Key(field, kBytes), Varint(value.size()), value);
}

// The CRC is stored rotated and shifted, so that a CRC of data that holds CRCs stays good.
std::string MaskedCrc(absl::string_view bytes) {
  const uint32_t crc = Crc32c(bytes);
  return Raw((crc >> 15 | crc << 17) + 0xa282ead8u);
}

}  // namespace

double SystemWallSeconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

absl::StatusOr<std::unique_ptr<TensorBoardWriter>> TensorBoardWriter::Create(
    const std::string& folder, WallClock clock) {
  LZ_RETURN_IF_ERROR(MakeDirectories(folder));
  const auto seconds = static_cast<int64_t>(std::floor(clock()));
  std::string path;
  int number = 0;
  do {
    path = JoinPath(folder, absl::StrFormat("events.out.tfevents.%010d.%d.lzero", seconds, number));
    ++number;
  } while (FileExists(path));
  std::unique_ptr<TensorBoardWriter> writer(new TensorBoardWriter(path, std::move(clock)));
  writer->AddEvent(0, Bytes(3, "brain.Event:2"));
  return writer;
}

TensorBoardWriter::TensorBoardWriter(std::string path, WallClock clock)
    : path_(std::move(path)), clock_(std::move(clock)) {}

// Event {wall_time = 1, step = 2, file_version = 3, summary = 5, session_log = 7}.
void TensorBoardWriter::AddEvent(int64_t step, absl::string_view payload) {
  const std::string event =
      absl::StrCat(Double(1, clock_()), Integer(2, static_cast<uint64_t>(step)), payload);
  const std::string length = Raw(static_cast<uint64_t>(event.size()));
  absl::StrAppend(&buffer_, length, MaskedCrc(length), event, MaskedCrc(event));
}

void TensorBoardWriter::AddScalar(absl::string_view tag, double value, int64_t step) {
  // Summary.Value {tag = 1, simple_value = 2}.
  const std::string scalar = absl::StrCat(Bytes(1, tag), Float(2, static_cast<float>(value)));
  AddEvent(step, Bytes(5, Bytes(1, scalar)));
}

void TensorBoardWriter::AddRestart(int64_t step) {
  constexpr uint64_t kStart = 1;  // SessionLog {status = 1: START}
  AddEvent(step, Bytes(7, Integer(1, kStart)));
}

absl::Status TensorBoardWriter::Flush() {
  const std::string events = std::exchange(buffer_, {});
  return AppendFile(path_, events);
}

}  // namespace lzero
