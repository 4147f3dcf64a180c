#include <gtest/gtest.h>

#include <cmath>

#include "port/kernel_interface.hpp"
#include "port/link_changes.hpp"
#include "port/tsc_rate.hpp"

namespace natxy::port {
namespace {

TEST(KernelInterface, KnowsTheLoopbackAndNothingThatIsNotThere) {
  EXPECT_TRUE(interface_counters("lo"));
  EXPECT_GE(interface_mtu_bytes("lo").value_or(0), 1280U);
  EXPECT_FALSE(interface_counters("natxy-nowhere"));
  EXPECT_FALSE(interface_mtu_bytes("natxy-nowhere"));
  EXPECT_FALSE(interface_mtu_bytes("a-name-longer-than-the-kernel-takes"));
  EXPECT_FALSE(interface_mtu_bytes(""));
}

TEST(KernelInterface, TellsHowOftenALinkWentDown) {
  EXPECT_EQ(link_downs("lo"), 0U);
  EXPECT_FALSE(link_downs("natxy-nowhere"));
  EXPECT_FALSE(link_downs(""));
}

TEST(LinkFalls, AreTheKernelsWhereItAnsweredBothTimes) {
  LinkFalls falls;
  EXPECT_EQ(falls.total(1000, 0), 0U);
  EXPECT_EQ(falls.total(1002, 1), 2U);
}

TEST(LinkFalls, AreThoseSeenWhereTheKernelDidNotAnswer) {
  LinkFalls falls;
  EXPECT_EQ(falls.total(1000, 0), 0U);
  EXPECT_EQ(falls.total(std::nullopt, 1), 1U);
  EXPECT_EQ(falls.total(1003, 1), 1U) << "it counts what was before its first answer as well";
  EXPECT_EQ(falls.total(1004, 2), 2U);
}

TEST(LinkFalls, OfAnInterfaceMadeAnewAreNotNegative) {
  LinkFalls falls;
  EXPECT_EQ(falls.total(1000, 0), 0U);
  EXPECT_EQ(falls.total(1, 0), 1U);
}

TEST(TscRate, TwoMeasurementsAgree) {
  const auto first = static_cast<double>(TscRate().hz());
  const auto second = static_cast<double>(TscRate().hz());
  EXPECT_GT(first, 1e7);
  EXPECT_LT(std::abs(first - second) / first, 1e-4);  // on an idle machine, it is 1e-6
}

}  // namespace
}  // namespace natxy::port
