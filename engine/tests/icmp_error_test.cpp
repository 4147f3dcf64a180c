// Tests that ICMP errors are read from frames of any length, and counted if they quote a sent
// frame.
#include "frame/icmp_error.hpp"

#include <gtest/gtest.h>

#include <set>

#include "fake_runner.hpp"
#include "frame/departure.hpp"
#include "run/receiver_report.hpp"
#include "traffic_cases.hpp"

namespace natxy::frame {
namespace {

using Octets = std::vector<std::uint8_t>;
using run::IcmpTally;
using spec::IpVersion;

constexpr std::uint32_t kTag = tag_of(77);
constexpr int kFrameSizeBytes = 128;

struct Error {
  IpVersion version = IpVersion::k4;
  std::uint8_t type = 3;
  std::uint8_t code = 4;
  std::uint16_t mtu = 1280;
};

void put16(Octets& octets, std::size_t at, std::size_t value) {
  octets[at] = static_cast<std::uint8_t>(value >> 8U);
  octets[at + 1] = static_cast<std::uint8_t>(value);
}

// Returns a frame as the stream's sender makes it, without the Ethernet header.
Octets sent(IpVersion version, std::uint64_t number = 5, std::uint32_t tag = kTag) {
  constexpr flow::Shape kShape{.addresses_vary = true};
  const auto traffic = tests::sized(tests::varied_traffic(version, version), kFrameSizeBytes);
  const flow::Flow flow(traffic, 3);
  const Departure departure(traffic, {});
  auto octets = departure.octets();
  flow::ValueLot values;
  flow.fill<kShape>(&number, 1, values);
  StampLot stamps;
  const std::uint32_t lateness = 0;
  stamps.fill(tag, StreamId(0), &number, &lateness, 1);
  auto* start = octets.data();
  departure.patch<kShape>(&start, 1, values, stamps);
  return {octets.begin() + 14, octets.end()};
}

Octets frame_of(const Error& error, const Octets& quoted) {
  const bool four = error.version == IpVersion::k4;
  Octets frame(four ? 42 : 62);
  put16(frame, 12, four ? 0x0800 : 0x86dd);
  frame[14] = four ? 0x45 : 0x60;
  put16(frame, four ? 16 : 18, quoted.size() + (four ? 28 : 8));
  frame[four ? 23 : 20] = four ? 1 : 58;
  const std::array<std::uint8_t, 4> source{198, 18, 0, 1};
  std::ranges::copy(source, frame.begin() + (four ? 26 : 22));
  const std::size_t icmp = four ? 34 : 54;
  frame[icmp] = error.type;
  frame[icmp + 1] = error.code;
  put16(frame, icmp + 6, error.mtu);
  frame.insert(frame.end(), quoted.begin(), quoted.end());
  return frame;
}

Quotation quotation(IpVersion version) {
  return {tests::varied_traffic(version, version), kTag};
}

spec::IcmpErrors tallied(const std::vector<Octets>& frames, IpVersion version) {
  const auto sent_here = quotation(version);
  IcmpTally tally;
  for (const auto& frame : frames) {
    tally.look_at(frame.data(), static_cast<std::uint32_t>(frame.size()), {&sent_here, nullptr});
  }
  return tally.result();
}

TEST(IcmpError, SaysWhatWhyAndWho) {
  const auto four = parse_icmp_error(frame_of({}, sent(IpVersion::k4)));
  ASSERT_TRUE(four);
  EXPECT_EQ(four->type, 3);
  EXPECT_EQ(four->code, 4);
  EXPECT_EQ(four->mtu, 1280U);
  EXPECT_EQ(four->source[0], 198);
  const Error too_big{.version = IpVersion::k6, .type = 2, .code = 0, .mtu = 1280};
  const auto six = parse_icmp_error(frame_of(too_big, sent(IpVersion::k6)));
  ASSERT_TRUE(six);
  EXPECT_EQ(six->mtu, 1280U);
}

// The octets of the MTU have no meaning in other errors (RFC 4884 puts a length there).
TEST(IcmpError, OnlyThoseOfTheMtuNameOne) {
  EXPECT_EQ(parse_icmp_error(frame_of({.code = 1}, {}))->mtu, 0U);
  EXPECT_EQ(parse_icmp_error(frame_of({.version = IpVersion::k6, .type = 3}, {}))->mtu, 0U);
}

TEST(IcmpError, OtherMessagesAreNone) {
  const std::set<int> errors4{3, 4, 11, 12};
  for (int type = 0; type < 256; ++type) {
    const auto number = static_cast<std::uint8_t>(type);
    EXPECT_EQ(parse_icmp_error(frame_of({.type = number}, {})).has_value(), errors4.contains(type));
    EXPECT_EQ(
        parse_icmp_error(frame_of({.version = IpVersion::k6, .type = number}, {})).has_value(),
        type >= 1 && type <= 4);
  }
}

class Quoted : public testing::TestWithParam<IpVersion> {};

TEST_P(Quoted, FramesOfTheTrialFitAndOthersDoNot) {
  const auto version = GetParam();
  const bool four = version == IpVersion::k4;
  const Error error{.version = version};
  const auto fits = [&](const Octets& quoted) {
    const auto frame = frame_of(error, quoted);
    return quotation(version).fits(*parse_icmp_error(frame));
  };
  for (std::uint64_t number = 0; number < 50; ++number) EXPECT_TRUE(fits(sent(version, number)));
  EXPECT_FALSE(fits(sent(version, 5, kTag + 1))) << "another trial";
  const std::vector<std::size_t> fixed = four ? std::vector<std::size_t>{9, 12, 16, 17, 19}
                                              : std::vector<std::size_t>{6, 8, 23, 24, 39};
  for (const auto at : fixed) {
    auto changed = sent(version);
    changed[at] ^= 0x55;
    EXPECT_FALSE(fits(changed)) << "octet " << at;
  }
  auto low_port = sent(version);
  put16(low_port, four ? 20 : 40, 1000);
  EXPECT_FALSE(fits(low_port)) << "a port beyond the range";
}

// RFC 792 quotes a header and 8 octets. A shorter quotation does not show whose frame it was.
TEST_P(Quoted, WhatIsCutOffIsNotJudged) {
  const auto version = GetParam();
  const auto header = version == IpVersion::k4 ? 20U : 40U;
  const auto whole = sent(version);
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const Octets quoted(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const auto frame = frame_of({.version = version}, quoted);
    const auto error = parse_icmp_error(frame);
    ASSERT_TRUE(error);
    EXPECT_EQ(quotation(version).fits(*error), size >= header) << size;
  }
}

// Each frame is in its own heap memory, so that a sanitizer sees a read beyond its end.
TEST_P(Quoted, FramesOfAnyLengthAreSurvived) {
  const auto whole = frame_of({.version = GetParam()}, sent(GetParam()));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Octets cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const auto error = parse_icmp_error(cut);
    EXPECT_EQ(error.has_value(), size >= (GetParam() == IpVersion::k4 ? 42U : 62U)) << size;
    if (error) (void)quotation(GetParam()).fits(*error);
  }
}

// Each encapsulation, IP version outside, and IP version inside.
class InTunnel
    : public testing::TestWithParam<std::tuple<const spec::Encapsulation*, IpVersion, IpVersion>> {
 protected:
  [[nodiscard]] static IpVersion outside() { return std::get<1>(GetParam()); }
  [[nodiscard]] static IpVersion inside() { return std::get<2>(GetParam()); }

  // Puts the packet of a frame into a tunnel.
  [[nodiscard]] static Octets tunnelled(const Octets& frame) {
    const auto& [protocol, header] = std::get<0>(GetParam())->before(inside());
    const bool four = outside() == IpVersion::k4;
    const auto data = header.size() + frame.size() - 14;
    Octets outer(four ? 34 : 54);
    put16(outer, 12, four ? 0x0800 : 0x86dd);
    outer[14] = four ? 0x45 : 0x60;
    put16(outer, four ? 16 : 18, data + (four ? 20 : 0));
    outer[four ? 23 : 20] = protocol;
    outer.insert(outer.end(), header.begin(), header.end());
    outer.insert(outer.end(), frame.begin() + 14, frame.end());
    return outer;
  }
  // An error of the tunnel's far end.
  [[nodiscard]] static Octets error_about(const Octets& quoted) {
    return tunnelled(frame_of({.version = inside()}, quoted));
  }
  [[nodiscard]] static spec::Traffic traffic() {
    auto traffic = tests::varied_traffic(inside(), inside());
    for (auto* format : {&traffic.departure, &traffic.arrival}) {
      format->tunnel =
          spec::Tunnel{.encapsulation = std::get<0>(GetParam()), .ip_version = outside()};
    }
    return traffic;
  }
};

TEST_P(InTunnel, AnErrorIsReadAndFits) {
  const Quotation of_tunnel(traffic(), kTag);
  const auto frame = error_about(sent(inside()));
  const auto error = parse_icmp_error(frame);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->ip_version, inside());
  EXPECT_EQ(error->source[0], 198);
  EXPECT_TRUE(of_tunnel.fits(*error));
  const auto others = error_about(sent(inside(), 5, kTag + 1));
  EXPECT_FALSE(of_tunnel.fits(*parse_icmp_error(others))) << "another trial";
}

TEST_P(InTunnel, ErrorsOfAnyLengthAreSurvived) {
  const auto whole = error_about(sent(inside()));
  const auto least = whole.size() - sent(inside()).size();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Octets cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const auto error = parse_icmp_error(cut);
    EXPECT_EQ(error.has_value(), size >= least) << size;
    if (error) (void)Quotation(traffic(), kTag).fits(*error);
  }
}

TEST_P(InTunnel, AnErrorIsNotLookedForInTwoTunnels) {
  if (inside() != outside()) return;  // the second tunnel would have another protocol
  EXPECT_FALSE(parse_icmp_error(tunnelled(error_about(sent(inside())))));
}

std::vector<const spec::Encapsulation*> encapsulations() {
  std::vector<const spec::Encapsulation*> all;
  for (const auto& each : spec::encapsulations()) all.push_back(&each);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Each, InTunnel,
                         testing::Combine(testing::ValuesIn(encapsulations()),
                                          testing::Values(IpVersion::k4, IpVersion::k6),
                                          testing::Values(IpVersion::k4, IpVersion::k6)));

INSTANTIATE_TEST_SUITE_P(Both, Quoted, testing::Values(IpVersion::k4, IpVersion::k6));

TEST(IcmpTally, CountsWhatIsAlikeTogether) {
  const auto needed = frame_of({}, sent(IpVersion::k4));
  const auto expired = frame_of({.type = 11, .code = 0, .mtu = 0}, sent(IpVersion::k4, 6));
  const auto strange = frame_of({}, Octets(28));
  const auto seen = tallied({needed, needed, expired, strange, needed}, IpVersion::k4);
  ASSERT_EQ(seen.listed.size(), 2U);
  EXPECT_EQ(seen.listed[0].count, 3U);
  EXPECT_EQ(seen.listed[0].mtu, 1280U);
  EXPECT_EQ(seen.listed[0].source, "198.18.0.1");
  ASSERT_GT(needed.size(), IcmpTally::kExampleOctets);
  EXPECT_EQ(seen.listed[0].example_hex.size(), 2 * IcmpTally::kExampleOctets);
  EXPECT_EQ(seen.listed[1].type, 11);
  EXPECT_EQ(seen.of_others, 1U);
}

// A gateway that sends a different error for each frame does not make the engine use more memory.
TEST(IcmpTally, IsBoundedAndLosesNoCount) {
  std::vector<Octets> frames;
  for (std::uint16_t mtu = 1; mtu <= 100; ++mtu) {
    frames.push_back(frame_of({.mtu = mtu}, sent(IpVersion::k4)));
  }
  const auto seen = tallied(frames, IpVersion::k4);
  EXPECT_EQ(seen.listed.size(), IcmpTally::kSorts);
  EXPECT_EQ(seen.unlisted, 100 - IcmpTally::kSorts);
}

TEST(IcmpTally, ThoseOfSeveralPhasesAreAdded) {
  const auto of = [](std::uint16_t first) {
    IcmpTally tally;
    const auto sent_here = quotation(IpVersion::k4);
    for (std::uint16_t mtu = first; mtu < first + 10; ++mtu) {
      const auto frame = frame_of({.mtu = mtu}, sent(IpVersion::k4));
      tally.look_at(frame.data(), static_cast<std::uint32_t>(frame.size()), {&sent_here, nullptr});
    }
    return tally;
  };
  auto both = of(1);
  both.merge(of(9));
  EXPECT_EQ(both.result().listed.size(), IcmpTally::kSorts);
  EXPECT_EQ(both.result().unlisted, 2U);
  EXPECT_EQ(both.result().listed[8].count, 2U);
}

// A wire that answers the first 20 frames of a trial with an error, and also delivers them.
spec::TrialSpec trial(spec::WarmUpMode mode) {
  spec::Stream stream{.direction = spec::Direction::kForward};
  stream.segments = {{.frames = 2000, .rate_fps = 100'000, .pause_ns = 0}};
  stream.foreground = tests::varied_traffic(IpVersion::k4, IpVersion::k4);
  spec::TrialSpec spec{.seed = 1, .nonce = 77, .drain_ns = 100'000'000};
  spec.lateness_tolerance_ns = 10'000'000'000;
  spec.warm_up = {.mode = mode, .timeout_ns = 100'000'000};
  spec.phases = {{.name = "test", .gap_ns = 0, .streams = {stream}}};
  return spec;
}

using Runner = tests::FakeRunner;

spec::TrialResult run_trial(tests::FakeDevice& device, spec::WarmUpMode mode) {
  const std::atomic<bool> go_on{false};
  return Runner(device).run(trial(mode), [](const spec::Progress&) {}, go_on);
}

TEST(IcmpTrial, ErrorsStandAtThePortThatTheyCameTo) {
  tests::FakeDevice device(2, 1);
  for (int i = 0; i < 20; ++i) device.wires[0].put(frame_of({}, sent(IpVersion::k4)));
  const auto result = run_trial(device, spec::WarmUpMode::kNeighbours);
  ASSERT_EQ(result.ports[0].icmp.listed.size(), 1U);
  EXPECT_EQ(result.ports[0].icmp.listed[0].count, 20U);
  EXPECT_EQ(result.ports[0].foreign, 20U);
  EXPECT_TRUE(result.ports[1].icmp.listed.empty());
}

TEST(IcmpTrial, AWarmUpInVainTellsWhatCameInstead) {
  tests::FakeDevice device(1, 1);
  device.wires[1].cut = true;
  for (int i = 0; i < 20; ++i) device.wires[0].put(frame_of({}, sent(IpVersion::k4)));
  try {
    (void)run_trial(device, spec::WarmUpMode::kProbes);
    FAIL() << "no probe came through";
  } catch (const spec::TrialError& error) {
    ASSERT_EQ(error.icmp()[0].size(), 1U);
    EXPECT_EQ(error.icmp()[0][0].count, 20U);
    EXPECT_TRUE(error.icmp()[1].empty());
  }
}

}  // namespace
}  // namespace natxy::frame
