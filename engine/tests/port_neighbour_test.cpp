// The frames in hexadecimal were made with scapy.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "port/neighbour_message.hpp"
#include "port/resolution.hpp"
#include "spec/json.hpp"

namespace natxy::port {
namespace {

using spec::IpVersion;
using Type = NeighbourMessage::Type;

const Mac kOurs{2, 0, 0, 0, 0, 0x0a};
const Mac kTheirs{2, 0, 0, 0, 0, 0x0b};

constexpr const char* kSolicitation =  // 2001:2::2 asks for 2001:2::1
    "3333ff00000102000000000a86dd6000000000203aff20010002000000000000000000000002ff0200000000000000"
    "000001ff0000018700378b0000000020010002000000000000000000000001010102000000000a";
constexpr const char* kTheirSolicitation =  // fe80::1 asks for 2001:2::2
    "3333ff00000202000000000b86dd6000000000203afffe800000000000000000000000000001ff0200000000000000"
    "000001ff0000028700590b0000000020010002000000000000000000000002010102000000000b";
constexpr const char* kAdvertisement =  // the answer to kTheirSolicitation
    "02000000000b02000000000a86dd6000000000203aff20010002000000000000000000000002fe8000000000000000"
    "000000000000018800d50d6000000020010002000000000000000000000002020102000000000a";
constexpr const char* kBareAdvertisement =  // from 2001:2::1, without an option
    "02000000000a02000000000b86dd6000000000183aff20010002000000000000000000000001200100020000000000"
    "000000000000028800579fc000000020010002000000000000000000000001";
constexpr const char* kDuplicateDetection =  // duplicate address detection of 2001:2::2
    "3333ff00000202000000000b86dd6000000000183aff00000000000000000000000000000000ff0200000000000000"
    "000001ff00000287005aa10000000020010002000000000000000000000002";
constexpr const char* kArpRequest =  // 198.18.0.2 asks for 198.18.0.1
    "ffffffffffff02000000000a0806000108000604000102000000000ac6120002000000000000c6120001";
constexpr const char* kArpReply =  // 198.18.0.2 answers 198.18.0.1
    "02000000000b02000000000a0806000108000604000202000000000ac612000202000000000bc6120001";

std::vector<std::uint8_t> octets(const std::string& hex) {
  std::vector<std::uint8_t> octets;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    octets.push_back(static_cast<std::uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return octets;
}

std::vector<std::uint8_t> padded(const std::string& hex) {
  auto frame = octets(hex);
  frame.resize(std::max<std::size_t>(frame.size(), 60));
  return frame;
}

std::vector<std::uint8_t> written(const NeighbourFrame& frame) {
  return {frame.view().begin(), frame.view().end()};
}

IpAddress ip(const char* text) {
  return parse_address(text);
}

TEST(NeighbourMessage, AsksAsScapyDoes) {
  const Neighbour from4{.address = ip("198.18.0.2"), .mac = kOurs};
  const Neighbour from6{.address = ip("2001:2::2"), .mac = kOurs};
  EXPECT_EQ(written(question(from4, ip("198.18.0.1"))), padded(kArpRequest));
  EXPECT_EQ(written(question(from6, ip("2001:2::1"))), octets(kSolicitation));
}

TEST(NeighbourMessage, AnswersAsScapyDoes) {
  const auto asked = parse_neighbour_message(octets(kTheirSolicitation));
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->type, Type::kQuestion);
  EXPECT_EQ(asked->target, ip("2001:2::2"));
  EXPECT_EQ(asked->mac, kTheirs);
  EXPECT_EQ(written(answer(*asked, kOurs)), octets(kAdvertisement));
  const NeighbourMessage arp{.type = Type::kQuestion,
                             .target = ip("198.18.0.2"),
                             .sender = ip("198.18.0.1"),
                             .mac = kTheirs};
  EXPECT_EQ(written(answer(arp, kOurs)), padded(kArpReply));
}

TEST(NeighbourMessage, LearnsFromAnswers) {
  const auto reply = parse_neighbour_message(octets(kArpReply));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->type, Type::kAnswer);
  EXPECT_EQ(reply->target, ip("198.18.0.2"));
  EXPECT_EQ(reply->mac, kOurs);
  const auto bare = parse_neighbour_message(octets(kBareAdvertisement));
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare->target, ip("2001:2::1"));
  EXPECT_EQ(bare->mac, kTheirs) << "without the option the frame's source is meant";
}

TEST(NeighbourMessage, AnswersDuplicateDetectionToAllNodes) {
  const auto asked = parse_neighbour_message(octets(kDuplicateDetection));
  ASSERT_TRUE(asked);
  const auto told = written(answer(*asked, kOurs));
  EXPECT_EQ(told[0], 0x33);
  EXPECT_EQ(told[54 + 4], 0x20) << "override, but not solicited";
  EXPECT_TRUE(parse_neighbour_message(told)) << "its checksum is right";
}

TEST(NeighbourMessage, DiscardsWhatTheRfcSays) {
  const auto good = octets(kTheirSolicitation);
  const auto spoilt = [&good](std::size_t at, std::uint8_t value) {
    auto frame = good;
    frame[at] = value;
    return parse_neighbour_message(frame).has_value();
  };
  EXPECT_TRUE(parse_neighbour_message(good));
  EXPECT_FALSE(spoilt(21, 64)) << "hop limit";
  EXPECT_FALSE(spoilt(55, 1)) << "code";
  EXPECT_FALSE(spoilt(56, 0x88)) << "checksum";
  EXPECT_FALSE(spoilt(79, 0)) << "an option without length";
  EXPECT_FALSE(spoilt(19, 255)) << "longer than the frame";
  EXPECT_FALSE(parse_neighbour_message({good.data(), good.size() - 1}));
}

TEST(NeighbourMessage, HasTheVlanTagsOfItsPort) {
  const std::vector<spec::VlanTag> tags{{.tpid = 0x88a8, .id = 0x123, .priority = 3},
                                        {.tpid = 0x8100, .id = 7}};
  const std::vector<spec::VlanTag> others{tags[0], {.tpid = 0x8100, .id = 8}};
  auto frame = octets(kSolicitation);
  const auto tagged_frame =
      written(tagged(question({.address = ip("2001:2::2"), .mac = kOurs}, ip("2001:2::1")), tags));
  const auto both = octets("88a8612381000007");
  frame.insert(frame.begin() + 12, both.begin(), both.end());
  EXPECT_EQ(tagged_frame, frame);
  EXPECT_EQ(untagged(tagged_frame, tags), octets(kSolicitation));
  EXPECT_FALSE(untagged(tagged_frame, others)) << "another VLAN";
  EXPECT_FALSE(untagged(octets(kSolicitation), tags)) << "no tag";
  EXPECT_EQ(untagged(octets(kSolicitation), {}), octets(kSolicitation));
  for (std::size_t size = 0; size < 12; ++size) {
    const std::vector<std::uint8_t> cut(frame.begin(),
                                        frame.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(untagged(cut, {})) << size;
    EXPECT_FALSE(untagged(cut, tags)) << size;
  }
}

// Tries each length and many contents; a sanitizer sees a read beyond the frame.
TEST(NeighbourMessage, SurvivesAnyOctets) {
  std::mt19937 random(1);  // NOLINT: repeatable on purpose
  unsigned understood = 0;
  for (unsigned round = 0; round < 20'000; ++round) {
    auto frame = octets(round % 2 == 0 ? kTheirSolicitation : kArpRequest);
    frame.resize(random() % (frame.size() + 1));
    for (unsigned change = random() % 4; change > 0 && !frame.empty(); --change) {
      frame[random() % frame.size()] = static_cast<std::uint8_t>(random());
    }
    const std::vector<std::uint8_t> exact(frame);
    understood += parse_neighbour_message(exact) ? 1U : 0U;
  }
  EXPECT_GT(understood, 0U);
}

TEST(AddressSet, NetworkAndFieldStandForEveryValue) {
  AddressSet set;
  set.add(IpVersion::k6, {.octets = ip("2001:2:0:8000::2").octets,
                          .network_byte = std::uint8_t{7},
                          .field = spec::field_at(14)});
  EXPECT_TRUE(set.contains(ip("2001:2:0:80ff::")));
  EXPECT_TRUE(set.contains(ip("2001:2:0:8000::ffff")));
  EXPECT_FALSE(set.contains(ip("2001:2:0:9000::2")));
  EXPECT_FALSE(set.contains(ip("2001:2:0:8000::1:2")));
  set.add(ip("198.18.0.2"));
  EXPECT_TRUE(set.contains(ip("198.18.0.2")));
  EXPECT_FALSE(set.contains(ip("198.18.0.3")));
  EXPECT_FALSE(set.contains({.version = IpVersion::k6, .octets = ip("198.18.0.2").octets}));
}

spec::PacketFormat pair(const char* source, const char* destination) {
  return {.ip_version = ip(source).version,
          .source = {.octets = ip(source).octets, .network_byte = {}},
          .destination = {.octets = ip(destination).octets, .network_byte = {}}};
}

spec::TrialSpec nat64() {
  spec::Stream stream;
  stream.foreground.emplace();
  stream.foreground->departure = pair("2001:2::2", "64:ff9b::c613:2");
  stream.foreground->arrival = pair("198.18.0.2", "198.19.0.2");
  spec::TrialSpec spec;
  spec.sides[0].next_hop.ipv6 = ip("2001:2::1").octets;
  spec.sides[1].next_hop.ipv4 = {198, 19, 0, 1};
  spec.phases = {{.name = "test", .gap_ns = 0, .streams = {stream}}};
  return spec;
}

TEST(NeighbourPlan, AsksFromSourcesWhereFramesLeaveAndFromDestinationsWhereTheyArrive) {
  const auto left = neighbour_plan(nat64(), spec::Side::kLeft);
  ASSERT_EQ(left.questions.size(), 1U);
  EXPECT_EQ(left.questions[0].from, ip("2001:2::2"));
  EXPECT_EQ(left.questions[0].next_hop, ip("2001:2::1"));
  const auto right = neighbour_plan(nat64(), spec::Side::kRight);
  ASSERT_EQ(right.questions.size(), 1U);
  EXPECT_EQ(right.questions[0].from, ip("198.19.0.2"));
  EXPECT_TRUE(right.own.contains(ip("198.19.0.2")));
  EXPECT_FALSE(right.own.contains(ip("198.18.0.2")));
}

TEST(NeighbourPlan, ReadsOwnAddressesAndAsksNothingWhereTheMacIsGiven) {
  auto spec = nat64();
  spec.sides[0].own_addresses = {"2001:2::9", "198.18.0.9"};
  const auto plan = neighbour_plan(spec, spec::Side::kLeft);
  EXPECT_TRUE(plan.own.contains(ip("198.18.0.9")));
  EXPECT_EQ(plan.questions.size(), 2U) << "there is no IPv4 next hop to ask for";
  spec.sides[0].next_hop.mac = kTheirs;
  EXPECT_TRUE(neighbour_plan(spec, spec::Side::kLeft).questions.empty());
}

TEST(NeighbourPlan, AsksFromEveryVariationUpToALimit) {
  auto spec = nat64();
  auto& traffic = *spec.phases[0].streams[0].foreground;
  traffic.departure.source.field = spec::field_at(14);
  traffic.source_field = {.mode = spec::SeriesMode::kIncreasing, .min = 2, .max = 11};
  const auto ten = neighbour_plan(spec, spec::Side::kLeft);
  ASSERT_EQ(ten.questions.size(), 10U);
  EXPECT_EQ(ten.questions[9].from, ip("2001:2::b"));
  traffic.arrival.destination.network_byte = 2;
  traffic.networks = 16;
  const auto networks = neighbour_plan(spec, spec::Side::kRight);
  ASSERT_EQ(networks.questions.size(), 16U);
  EXPECT_EQ(networks.questions[15].from, ip("198.19.15.2"));
  traffic.source_field.max = 65535;
  EXPECT_EQ(neighbour_plan(spec, spec::Side::kLeft).questions.size(), kMaxQuestions);
}

TEST(NeighbourPlan, AsksForEachNextHopWhateverTheOtherOneTakes) {
  auto spec = nat64();
  spec.sides[0].next_hop.ipv4 = {198, 18, 0, 1};
  auto& stream = spec.phases[0].streams[0];
  stream.foreground->departure = pair("198.18.0.2", "198.19.0.2");
  stream.foreground->departure.source.field = spec::field_at(2);
  stream.foreground->source_field = {.mode = spec::SeriesMode::kIncreasing, .min = 2, .max = 65535};
  stream.background.emplace();
  stream.background->departure = pair("2001:2::2", "2001:2:0:8000::2");
  const auto questions = neighbour_plan(spec, spec::Side::kLeft).questions;
  ASSERT_EQ(questions.size(), kMaxQuestions + 1);
  EXPECT_EQ(questions.back().next_hop, ip("2001:2::1"));
}

TEST(Resolution, IsDoneWhenEveryNextHopHasAnswered) {
  Resolution resolution({{.from = ip("198.18.0.2"), .next_hop = ip("198.18.0.1")},
                         {.from = ip("198.18.0.3"), .next_hop = ip("198.18.0.1")},
                         {.from = ip("2001:2::2"), .next_hop = ip("2001:2::1")}});
  EXPECT_EQ(resolution.open_questions(kOurs).size(), 3U);
  EXPECT_EQ(resolution.complaint(),
            "next hop 198.18.0.1 did not answer ARP requests from 198.18.0.2 and 1 more");
  resolution.take({.type = Type::kQuestion, .target = ip("198.18.0.1"), .sender = {}, .mac = {}});
  resolution.take({.type = Type::kAnswer, .target = ip("198.18.0.7"), .sender = {}, .mac = {}});
  EXPECT_EQ(resolution.open_questions(kOurs).size(), 3U);
  for (int answer = 0; answer < 2; ++answer) {  // to each of the two questions
    resolution.take(
        {.type = Type::kAnswer, .target = ip("198.18.0.1"), .sender = {}, .mac = kTheirs});
  }
  EXPECT_EQ(resolution.open_questions(kOurs).size(), 1U);
  EXPECT_EQ(resolution.complaint(),
            "next hop 2001:2::1 did not answer Neighbour Solicitations from 2001:2::2");
  EXPECT_FALSE(resolution.done());
  resolution.take({.type = Type::kAnswer, .target = ip("2001:2::1"), .sender = {}, .mac = kOurs});
  EXPECT_TRUE(resolution.done());
  EXPECT_EQ(resolution.macs().ipv4, kTheirs);
  EXPECT_EQ(resolution.macs().ipv6, kOurs);
}

TEST(Resolution, OfNothingIsDone) {
  EXPECT_TRUE(Resolution({}).done());
}

}  // namespace
}  // namespace natxy::port
