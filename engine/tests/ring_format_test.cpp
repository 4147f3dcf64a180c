// Tests frames with VLAN tags, a DSCP, a flow label and extension headers through the calibration
// gateway, and that each change of them is counted by its own counter.
#include <gtest/gtest.h>

#include <cstring>

#include "lockstep_testbed.hpp"
#include "ring_counts.hpp"
#include "ring_trials.hpp"

namespace natxy::tests {
namespace {

using spec::Direction;
using spec::ExtensionHeader;

const std::string kAhead = "test forward foreground ";
constexpr std::uint64_t kEvery = 20;

struct Tagging {
  const char* name;
  Tags gateway;
  std::array<std::vector<spec::VlanTag>, 2> tester;  // by Side
};

std::vector<Tagging> all_taggings() {
  const std::string one = R"([{"tpid": "802.1Q", "id": 100}])";
  const std::string two = R"([{"tpid": "802.1ad", "id": 4094}, {"tpid": "802.1Q", "id": 1}])";
  const std::vector<spec::VlanTag> tag{{.tpid = 0x8100, .id = 100, .priority = 5}};
  const std::vector<spec::VlanTag> tags{{.tpid = 0x88a8, .id = 4094}, {.tpid = 0x8100, .id = 1}};
  return {{"left", {.left = one, .right = "[]"}, {tag, {}}},
          {"both", {.left = one, .right = one}, {tag, tag}},
          {"qinq", {.left = two, .right = one}, {tags, tag}}};
}

spec::TrialSpec with_tags(spec::TrialSpec spec, const Tagging& tagging) {
  for (std::size_t side = 0; side < 2; ++side) spec.sides[side].vlans = tagging.tester[side];
  return spec;
}

using NetAndTagging = std::tuple<Net, Tagging>;
class Tagged : public testing::TestWithParam<NetAndTagging> {};

TEST_P(Tagged, BothWaysAndAnotherVlanIsSeen) {
  const auto& [net, tagging] = GetParam();
  LockstepTestbed testbed(gateway_config(net, "", tagging.gateway));
  auto spec = with_tags(both_ways_trial(net, Varying::kFields), tagging);
  const auto seen = testbed.run(spec);
  EXPECT_EQ(wrongs(seen.result), Counts{});
  for (const auto direction : gateway::kDirections) {
    EXPECT_EQ(seen.record.of(direction).forwarded, kFrames);
  }
  testbed.configure(gateway_config(
      net, R"({"kind": "corrupt", "direction": "reverse", "every": 20, "field": "vlan"})",
      tagging.gateway));
  ++spec.nonce;
  constexpr auto kWrong = kFrames / kEvery;
  EXPECT_EQ(wrongs(testbed.run(spec).result), (Counts{{"test reverse foreground lost", kWrong},
                                                      {"test reverse foreground header", kWrong}}));
}

INSTANTIATE_TEST_SUITE_P(Each, Tagged,
                         testing::Combine(testing::ValuesIn(all_nets()),
                                          testing::ValuesIn(all_taggings())),
                         [](const auto& that) {
                           return std::get<0>(that.param).name + "_" + std::get<1>(that.param).name;
                         });

// A gateway that does not expect tags drops tagged frames; one that does not add them sends frames
// that are the trial's, and are wrong.
TEST(Untagged, FramesInATaggedVlanAreMisdelivered) {
  const auto net = route44();
  LockstepTestbed testbed(gateway_config(net));
  auto spec = forward_trial(net);
  spec.sides[1].vlans = {{.tpid = 0x8100, .id = 100}};
  EXPECT_EQ(wrongs(testbed.run(spec).result),
            (Counts{{kAhead + "lost", kFrames}, {kAhead + "malformed", kFrames}}));
}

// --- what only IPv6 has, and the DSCP ------------------------------------------------------------

class Marked : public testing::TestWithParam<Net> {};

// Returns the traffic with a DSCP and, in IPv6, a flow label and extension headers on departure. A
// translator removes what IPv4 does not have (RFC 7915), and gives an IPv6 frame none of it.
spec::Traffic marked(spec::Traffic traffic) {
  constexpr std::uint16_t kHeaderOctets = 8;
  const bool six = traffic.departure.ip_version == spec::IpVersion::k6;
  const bool both = six && traffic.arrival.ip_version == spec::IpVersion::k6;
  const std::vector all{ExtensionHeader::kHopByHop, ExtensionHeader::kRouting,
                        ExtensionHeader::kDestinationOptions};
  const auto mark = [&](spec::PacketFormat& format, bool has_more) {
    format.traffic_class = 0xb8;  // expedited forwarding (RFC 3246)
    if (!has_more) return;
    format.flow_label = 0xabcde;
    format.extension_headers = all;
    format.frame_size_bytes =
        static_cast<std::uint16_t>(format.frame_size_bytes + kHeaderOctets * all.size());
  };
  mark(traffic.departure, six);
  mark(traffic.arrival, both);
  traffic.dscp_kept = true;
  return traffic;
}

TEST_P(Marked, ArriveAndAChangeIsSeen) {
  const auto& net = GetParam();
  constexpr auto kWrong = kFrames / kEvery;
  LockstepTestbed testbed(gateway_config(net));
  auto spec = both_ways_trial(net, Varying::kFields);
  for (auto& stream : spec.phases[0].streams) stream.foreground = marked(*stream.foreground);
  EXPECT_EQ(wrongs(testbed.run(spec).result), Counts{});
  const auto run_with = [&](const std::string& field) {
    testbed.configure(gateway_config(
        net, R"({"kind": "corrupt", "direction": "forward", "every": 20, "field": ")" + field +
                 R"("})"));
    ++spec.nonce;
    return wrongs(testbed.run(spec).result);
  };
  EXPECT_EQ(run_with("traffic_class"),
            (Counts{{kAhead + "lost", kWrong}, {kAhead + "traffic_class", kWrong}}));
  for (auto& stream : spec.phases[0].streams) stream.foreground->dscp_kept = false;
  EXPECT_EQ(run_with("traffic_class"), Counts{});
  const bool extended = !spec.phases[0].streams[0].foreground->arrival.extension_headers.empty();
  const Counts wrong{{kAhead + "lost", kWrong}, {kAhead + "header", kWrong}};
  EXPECT_EQ(run_with("extension_header"), extended ? wrong : Counts{});
}

INSTANTIATE_TEST_SUITE_P(Through, Marked,
                         testing::Values(route44(), route66(), translate64(), translate46()),
                         [](const auto& that) { return "net_" + that.param.name; });

// --- IPv4 in IPv6 --------------------------------------------------------------------------------

constexpr const char* kOwnEnd = "2001:2:0:1::1";  // the gateway's end of all softwires

std::string softwire_config(const std::string& faults = "") {
  return R"({"left": {"addresses": []}, "right": {"addresses": []}, "routes": [)" +
         route("198.18.0.0/16", "left", "2001:2::2") + ", " +
         route("2001:2::/112", "left", "2001:2::2") + ", " +
         route("198.19.0.0/16", "right", "198.19.0.2") +
         R"(], "softwires": {"inside": "left", "address": ")" + kOwnEnd +
         R"(", "explicit": [{"ipv4": "198.18.0.0/16", "ipv6": "2001:2::/112"}]}, "faults": [)" +
         faults + "]}";
}

// Returns the traffic of the subscribers on the left: their softwires have the field of their inner
// addresses.
spec::Traffic softwire_traffic(Direction direction) {
  constexpr std::uint16_t kOuterOctets = 40;
  auto traffic = traffic_in(route44(), direction, Varying::kFields);
  const bool forward = direction == Direction::kForward;
  auto subscriber = address("2001:2::");
  subscriber.field = spec::field_at(14);
  const auto own = address(kOwnEnd);
  auto& inside = forward ? traffic.departure : traffic.arrival;
  inside.tunnel = forward ? spec::Tunnel{.source = subscriber, .destination = own}
                          : spec::Tunnel{.source = own, .destination = subscriber};
  inside.frame_size_bytes = static_cast<std::uint16_t>(inside.frame_size_bytes + kOuterOctets);
  return traffic;
}

spec::TrialSpec softwire_trial() {
  auto spec = both_ways_trial(route44());
  for (auto& stream : spec.phases[0].streams) {
    stream.foreground = softwire_traffic(stream.direction);
  }
  return spec;
}

TEST(Softwires, CarryBothWays) {
  LockstepTestbed testbed(softwire_config());
  const auto seen = testbed.run(softwire_trial());
  EXPECT_EQ(wrongs(seen.result), Counts{});
  for (const auto direction : gateway::kDirections) {
    EXPECT_EQ(seen.record.of(direction).forwarded, kFrames);
  }
}

// Towards the subscribers, each change of a header is named, outer or inner.
TEST(Softwires, AFieldIsNamedByItsCounter) {
  const std::string back = "test reverse foreground ";
  constexpr auto kWrong = kFrames / kEvery;
  LockstepTestbed testbed(softwire_config());
  for (const auto& [field, counter] : {std::pair{"outer_source", "tunnel"},
                                       {"outer_destination", "tunnel"},
                                       {"source_address", "address"},
                                       {"destination_address", "address"},
                                       {"source_port", "port"},
                                       {"hop_limit", "hop_limit"},
                                       {"hop_limit_kept", "hop_limit"},
                                       {"outer_hop_limit", "tunnel"},
                                       {"softwire", "tunnel"},
                                       {"fragment", "malformed"},
                                       {"outer_fragment", "tunnel"},
                                       {"length", "length"}}) {
    SCOPED_TRACE(field);
    testbed.configure(softwire_config(
        std::string(R"({"kind": "corrupt", "direction": "reverse", "every": 20, "field": ")") +
        field + R"("})"));
    EXPECT_EQ(wrongs(testbed.run(softwire_trial()).result),
              (Counts{{back + "lost", kWrong}, {back + counter, kWrong}}));
  }
}

// A subscriber that uses the address of another one is refused (RFC 7597 8.1).
TEST(Softwires, TheInnerSourceMustBelongToTheOuterOne) {
  LockstepTestbed testbed(softwire_config());
  auto spec = softwire_trial();
  spec.phases[0].streams.resize(1);
  spec.phases[0].streams[0].foreground->departure.tunnel->source = address("2001:2::1:0:0");
  const auto seen = testbed.run(spec);
  EXPECT_EQ(seen.record.of(gateway::Direction::kForward)
                .dropped[gateway::index_of(gateway::Drop::kSoftwire)],
            kFrames);
  EXPECT_EQ(wrongs(seen.result), (Counts{{kAhead + "lost", kFrames}}));
}

}  // namespace
}  // namespace natxy::tests
