#include "lzero/replay/stored_fields.h"

#include <cstring>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::stored_fields_test {
namespace {

using testing::ElementsAre;

TEST(StoredFields, SizesFollowTheShape) {
  SegmentShape discrete;
  discrete.num_actions = 3;
  EXPECT_EQ(FieldOf(Stored::kPolicy).NumColumns(discrete), 3);
  EXPECT_EQ(FieldOf(Stored::kLegalActions).RowBytes(discrete), 3);
  EXPECT_EQ(FieldOf(Stored::kSampledActions).NumColumns(discrete), 0);
  EXPECT_EQ(FieldOf(Stored::kActionValues).NumColumns(discrete), 0);
  EXPECT_EQ(FieldOf(Stored::kChanceOutcome).NumColumns(discrete), 0);
  EXPECT_EQ(FieldOf(Stored::kSequence).RowBytes(discrete), 8);
  SegmentShape box = discrete;
  box.action_dim = 2;
  box.num_chance_outcomes = 5;
  EXPECT_EQ(FieldOf(Stored::kLegalActions).NumColumns(box), 0);
  EXPECT_EQ(FieldOf(Stored::kSampledActions).RowBytes(box), 3 * 2 * 4);
  EXPECT_THAT(FieldOf(Stored::kActionValues).ArrayShape(box, 7), ElementsAre(7, 2));
  EXPECT_THAT(FieldOf(Stored::kChanceOutcome).ArrayShape(box, 7), ElementsAre(7));
}

TEST(StoredFields, LargeElementsComeFirstAndNamesDiffer) {
  for (int i = 1; i < kNumStored; ++i) {
    EXPECT_LE(ArrayTypeSize(kStoredFields[i].type), ArrayTypeSize(kStoredFields[i - 1].type));
    for (int j = 0; j < i; ++j) {
      EXPECT_STRNE(kStoredFields[i].name, kStoredFields[j].name);
    }
  }
}

}  // namespace
}  // namespace lzero::stored_fields_test
