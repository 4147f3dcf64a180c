#include "gateway/clock.hpp"

#include <gtest/gtest.h>

namespace natxy::gateway {
namespace {

constexpr Nanoseconds kBegin = 1'000'000'000;
constexpr Nanoseconds kSilence = InterruptPauses::kSilence;

TEST(InterruptPauses, BeginAfterASilence) {
  InterruptPauses pauses;
  pauses.frame_arrived(kBegin);
  EXPECT_FALSE(pauses.is_due(kBegin + kSilence - 1, false, false));
  EXPECT_TRUE(pauses.is_due(kBegin + kSilence, false, false));
}

TEST(InterruptPauses, AreNotOneBehindTheOther) {
  InterruptPauses pauses;
  pauses.paused(kBegin);
  EXPECT_FALSE(pauses.is_due(kBegin + kSilence - 1, false, false));
  EXPECT_TRUE(pauses.is_due(kBegin + kSilence, false, false));
}

TEST(InterruptPauses, NeverStopATrial) {
  const InterruptPauses pauses;
  EXPECT_TRUE(pauses.is_due(kBegin, false, false));
  EXPECT_FALSE(pauses.is_due(kBegin, false, true));
}

TEST(InterruptPauses, LetAPeerConnectAtOnce) {
  InterruptPauses pauses;
  pauses.frame_arrived(kBegin);
  EXPECT_TRUE(pauses.is_due(kBegin, true, false));
  EXPECT_TRUE(pauses.is_due(kBegin, true, true));
}

}  // namespace
}  // namespace natxy::gateway
