#include <gtest/gtest.h>

#include "port/kernel_interface.hpp"

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

}  // namespace
}  // namespace natxy::port
