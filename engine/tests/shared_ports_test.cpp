// The ports of hosts that share an IPv4 address (RFC 7597 section 5.1).
#include <gtest/gtest.h>

#include <set>

#include "flow/flow.hpp"

namespace natxy::flow {
namespace {

using enum spec::SeriesMode;

// RFC 7597 appendix A, example 1: 63 ranges, 1232-1235 to 64720-64723.
TEST(SharedPorts, AreThoseOfTheRfcsExample) {
  const SharedPorts ports(spec::PortSet{.offset_bits = 6, .psid_bits = 8});
  EXPECT_EQ(ports.at(0, 0x34), 1232);
  EXPECT_EQ(ports.at(3, 0x1234), 1235);  // the upper bits of the field are not the PSID's
  EXPECT_EQ(ports.at(4, 0x34), 2256);
  EXPECT_EQ(ports.at(63 * 4 - 1, 0x34), 64723);
}

TEST(SharedPorts, OfOneAddressDoNotOverlap) {
  struct Case {
    spec::PortSet set;
    std::uint32_t ports;  // of one host
  };
  for (const auto& [set, count] : {Case{{.offset_bits = 0, .psid_bits = 6}, 1024},
                                   Case{{.offset_bits = 6, .psid_bits = 8}, 252},
                                   Case{{.offset_bits = 1, .psid_bits = 15}, 1}}) {
    const SharedPorts ports(set);
    std::set<std::uint16_t> seen;
    for (std::uint32_t psid = 0; psid < 1U << set.psid_bits; ++psid) {
      for (std::uint32_t index = 0; index < count; ++index) seen.insert(ports.at(index, psid));
    }
    EXPECT_EQ(seen.size(), std::size_t{count} << set.psid_bits);
  }
}

TEST(SharedPorts, FollowTheFieldInAStream) {
  spec::Traffic traffic;
  traffic.departure.source.field = spec::field_at(2);
  traffic.source_port = {kPseudorandom, 0, 251};
  traffic.source_field = {kPseudorandom, 0, 65535};
  traffic.source_port_set = spec::PortSet{.offset_bits = 6, .psid_bits = 8};
  const Flow flow(traffic, 7);
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    const auto values = flow.at<Shape{.addresses_vary = true}>(i);
    ASSERT_EQ(values.source_port >> 2U & 0xffU, values.source_field & 0xffU);
    ASSERT_GE(values.source_port, 1024);
  }
}

}  // namespace
}  // namespace natxy::flow
