// A game small enough to be solved in the head, for tests of what works on any Board: a heap, the
// players take one (action 0) or two (action 1) in turn; who takes the last one wins or, in misere
// play, loses. With normal play the mover loses exactly when 3 divides the heap; in misere play
// when it leaves a remainder of 1.
#ifndef LZERO_TESTS_ENVS_BOARDS_NIM_BOARD_H_
#define LZERO_TESTS_ENVS_BOARDS_NIM_BOARD_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "envs/boards/board.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"

namespace lzero {

class NimBoard : public Board {
 public:
  explicit NimBoard(int heap, bool misere = false) : heap_(heap), misere_(misere) {}

  int heap() const { return heap_; }

  std::unique_ptr<Board> Clone() const override { return std::make_unique<NimBoard>(*this); }
  void CopyFrom(const Board& other) override { *this = static_cast<const NimBoard&>(other); }
  int num_actions() const override { return 2; }
  int to_play() const override { return to_play_; }
  bool finished() const override { return heap_ == 0; }
  int winner() const override {
    if (heap_ > 0) return -1;
    return misere_ ? to_play_ : 1 - to_play_;
  }
  bool legal(int action) const override { return action >= 0 && action < 2 && action < heap_; }
  void Play(int action) override {
    LZ_CHECK(legal(action), "takes ", action + 1, " of ", heap_);
    heap_ -= action + 1;
    to_play_ = 1 - to_play_;
  }
  void FillLegalActions(absl::Span<uint8_t> mask) const override {
    for (int action = 0; action < 2; ++action) mask[action] = legal(action) ? 1 : 0;
  }
  void FillPlanes(absl::Span<float> planes) const override {
    planes[0] = static_cast<float>(heap_) / 64.0f;
    planes[1] = to_play_ == 0 ? 1.0f : 0.0f;
  }
  std::string ToText() const override {
    return absl::StrCat("heap ", heap_, ", player ", to_play_, " takes\n");
  }
  Image ToImage() const override { return Image(4, 4, Color{static_cast<uint8_t>(heap_), 0, 0}); }
  void Save(StateWriter& writer) const override {
    writer.Write(static_cast<int32_t>(heap_));
    writer.Write(static_cast<int32_t>(to_play_));
  }
  // Changes itself even where the reader turns out to have more bytes: its caller has to ask.
  absl::Status Load(StateReader& reader) override {
    const int32_t heap = reader.Read<int32_t>();
    const int32_t to_play = reader.Read<int32_t>();
    if (heap < 0 || heap > 64 || to_play < 0 || to_play > 1) {
      return reader.Impossible(absl::StrCat("heap ", heap, ", player ", to_play));
    }
    heap_ = heap;
    to_play_ = to_play;
    return absl::OkStatus();
  }

 private:
  int heap_;
  int to_play_ = 0;
  bool misere_;
};

}  // namespace lzero

#endif  // LZERO_TESTS_ENVS_BOARDS_NIM_BOARD_H_
