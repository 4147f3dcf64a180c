// Tests routing, neighbours, the reasons of drops, and the record. tests/gateway compares
// translation with scapy.
#include "gateway/gateway.hpp"

#include <gtest/gtest.h>

#include "gateway/tests/bench_gateway.hpp"

namespace natxy::gateway::test {
namespace {

Mac destination_mac(const Seen& seen) {
  Mac mac{};
  std::copy_n(seen.frame.begin(), 6, mac.begin());
  return mac;
}

TEST(Routing, LowersTheHopLimitByOne) {
  for (const bool is_ipv6 : {false, true}) {
    BenchGateway bench(config_with(""));
    bench.receive(Side::kLeft,
                  is_ipv6 ? make_udp({.source = "2001:2::2", .destination = "2001:2:0:8000::2"})
                          : make_udp({}),
                  1);
    ASSERT_EQ(bench.departures().size(), 1U);
    const auto& [at_ns, side, frame] = bench.departures()[0];
    EXPECT_EQ(side, Side::kRight);
    EXPECT_EQ(destination_mac(frame), kOtherMac);
    EXPECT_EQ(frame.hop_limit(), 63);
    EXPECT_TRUE(frame.ip_checksum_is_right());
    EXPECT_TRUE(frame.udp_checksum_is_right());
  }
}

TEST(Routing, HopLimitsOfOneAndZeroEndHere) {
  BenchGateway bench(config_with(""));
  for (std::uint8_t hop_limit = 0; hop_limit <= 2; ++hop_limit) {
    bench.receive(Side::kLeft, make_udp({.hop_limit = hop_limit}), 1);
  }
  ASSERT_EQ(bench.departures().size(), 1U);
  EXPECT_EQ(bench.departures()[0].frame.hop_limit(), 1);
  EXPECT_EQ(dropped(bench, Drop::kHopLimit), 2U);
}

TEST(Routing, NoRouteAndARouteBackAreNoRoute) {
  BenchGateway bench(config_with(""));
  bench.receive(Side::kLeft, make_udp({.destination = "203.0.113.1"}), 1);
  bench.receive(Side::kLeft, make_udp({.destination = "198.18.7.7"}), 2);
  EXPECT_TRUE(bench.departures().empty());
  EXPECT_EQ(dropped(bench, Drop::kNoRoute), 2U);
}

TEST(Routing, TheLongestPrefixWinsAndViaIsTheNeighbour) {
  BenchGateway bench(config_with("", R"(, "routes": [{"prefix": "0.0.0.0/0", "side": "left"},
      {"prefix": "203.0.113.0/24", "side": "right", "via": "198.19.0.2"}])"));
  bench.receive(Side::kLeft, make_udp({.destination = "203.0.113.77"}), 1);
  ASSERT_EQ(bench.departures().size(), 1U);
  EXPECT_EQ(destination_mac(bench.departures()[0].frame), kOtherMac);
}

TEST(Routing, PaddingIsNotCarriedAlong) {
  BenchGateway bench(config_with(""));
  auto frame = make_udp({.data_octets = 4});
  const auto octets = frame.size();
  frame.resize(60, 0xee);
  bench.receive(Side::kLeft, frame, 1);
  EXPECT_EQ(bench.departures().at(0).frame.frame.size(), octets);
}

TEST(Routing, MalformedFramesAreCounted) {
  BenchGateway bench(config_with(""));
  auto wrong_checksum = make_udp({});
  wrong_checksum[24] ^= 1U;
  auto too_long = make_udp({});
  write16(too_long.data() + 16, 2000);
  auto wrong_version = make_udp({});
  wrong_version[14] = 0x65;
  auto cut = make_udp({.source = "2001:2::2", .destination = "2001:2:0:8000::2"});
  cut.resize(50);
  for (const auto& frame : {wrong_checksum, too_long, wrong_version, cut}) {
    bench.receive(Side::kLeft, frame, 1);
  }
  EXPECT_EQ(dropped(bench, Drop::kMalformed), 4U);
  EXPECT_EQ(bench.forward().received, 4U);
}

TEST(Routing, SurvivesEveryCutAndEveryFlippedOctet) {
  BenchGateway bench(config_with("", R"(, "translation": {"prefix": "64:ff9b::/96",
      "explicit": [{"ipv4": "198.18.0.0/24", "ipv6": "2001:2::/120"}]})"));
  for (const auto& whole :
       {make_udp({}), make_udp({.source = "2001:2::2", .destination = "64:ff9b::198.19.0.2"})}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      bench.receive(Side::kLeft, Bytes(whole.begin(), whole.begin() + static_cast<long>(size)), 1);
    }
    for (std::size_t i = 0; i < whole.size() * 256; ++i) {
      auto changed = whole;
      changed[i / 256] = static_cast<std::uint8_t>(i);
      bench.receive(Side::kLeft, changed, 1);
    }
  }
  const auto& record = bench.forward();
  std::uint64_t drops = 0;
  for (const auto count : record.dropped) drops += count;
  EXPECT_GE(record.received, record.forwarded + drops);  // the others wait for a neighbour
}

TEST(Routing, FramesThatAreNotForTheRouterAreIgnored) {
  BenchGateway bench(config_with(""));
  bench.receive(Side::kLeft, make_udp({.to = kOtherMac}), 1);
  bench.receive(Side::kLeft, make_udp({.destination = "198.19.0.1"}), 1);
  bench.receive(Side::kLeft, make_udp({.destination = "224.0.0.1"}), 1);
  bench.receive(Side::kLeft, make_udp({.source = "fe80::1", .destination = "ff02::2"}), 1);
  EXPECT_EQ(bench.forward().received, 0U);
  EXPECT_TRUE(bench.departures().empty());
}

TEST(Routing, AFrameBeyondTheMtuIsRefused) {
  BenchGateway bench(config_with("", R"(, "translation": {"prefix": "64:ff9b::/96",
      "explicit": [{"ipv4": "198.19.0.0/24", "ipv6": "2001:2:0:8000::/120"}]})"));
  bench.receive(Side::kLeft, make_udp({.data_octets = 1500 - 20 - 8}), 1);
  bench.receive(Side::kLeft, make_udp({.data_octets = 1500 - 40 - 8}), 1);
  EXPECT_EQ(dropped(bench, Drop::kTransmit), 1U);
  EXPECT_EQ(bench.departures().size(), 1U);
}

Bytes made(const FramePtr& frame) {
  const auto view = frame->view();
  return Bytes(view.begin(), view.end());
}

const Speaker kRightTester{kOtherMac, ip("198.19.0.2")};
const Speaker kRightTesterIpv6{kOtherMac, ip("2001:2:0:8000::2")};

TEST(NeighbourTable, AsksAndSendsWhatWaited) {
  for (const auto& tester : {kRightTester, kRightTesterIpv6}) {
    BenchGateway bench(parse_config("{}"));
    FrameStore store;
    const auto frame = make_udp({.source = tester.address.is_ipv6 ? "2001:2::2" : "198.18.0.2",
                                 .destination = to_text(tester.address)});
    bench.receive(Side::kLeft, frame, 1);
    bench.receive(Side::kLeft, frame, 2);
    ASSERT_EQ(bench.departures().size(), 1U);
    const auto question = bench.departures()[0].frame.frame;
    const auto message = tester.address.is_ipv6 ? parse_discovery(question) : parse_arp(question);
    ASSERT_TRUE(message);
    EXPECT_TRUE(message->is_request);
    EXPECT_EQ(message->target, tester.address);
    bench.departures().clear();

    bench.receive(Side::kRight, made(make_answer(store, tester, *message)), 5);
    ASSERT_EQ(bench.departures().size(), 2U);
    EXPECT_EQ(destination_mac(bench.departures()[0].frame), kOtherMac);
    EXPECT_EQ(bench.forward().delay_ns.max(), 4U);
    bench.receive(Side::kLeft, frame, 6);
    EXPECT_EQ(bench.departures().size(), 3U);
  }
}

TEST(NeighbourTable, GivesUpAfterASecond) {
  BenchGateway bench(parse_config("{}"));
  bench.receive(Side::kLeft, make_udp({}), 1);
  for (Nanoseconds at_ns = 1; at_ns < 1500 * kMillisecond; at_ns += 10 * kMillisecond) {
    bench.poll(at_ns);
  }
  EXPECT_EQ(bench.departures().size(), 5U);  // at 0, 200, 400, 600 and 800 ms
  EXPECT_EQ(dropped(bench, Drop::kNoNeighbour), 1U);
  EXPECT_EQ(bench.forward().forwarded, 0U);
}

TEST(NeighbourTable, OnlySoManyFramesWait) {
  BenchGateway bench(parse_config("{}"));
  for (std::size_t i = 0; i < Neighbours::kMaxWaitingFrames + 3; ++i) {
    bench.receive(Side::kLeft, make_udp({}), 1);
  }
  EXPECT_EQ(dropped(bench, Drop::kNoNeighbour), 3U);
}

TEST(NeighbourTable, AnswersForItsAddressesAndLearnsWhoAsked) {
  for (const bool is_ipv6 : {false, true}) {
    BenchGateway bench(parse_config("{}"));
    FrameStore store;
    const Speaker tester = is_ipv6 ? kRightTesterIpv6 : kRightTester;
    const auto own = ip(is_ipv6 ? "2001:2:0:8000::1" : "198.19.0.1");
    bench.receive(Side::kRight, made(make_request(store, tester, own)), 1);
    ASSERT_EQ(bench.departures().size(), 1U);
    const auto& answer = bench.departures()[0];
    EXPECT_EQ(answer.side, Side::kRight);
    EXPECT_EQ(destination_mac(answer.frame), kOtherMac);
    const auto message =
        is_ipv6 ? parse_discovery(answer.frame.frame) : parse_arp(answer.frame.frame);
    ASSERT_TRUE(message);
    EXPECT_FALSE(message->is_request);
    EXPECT_EQ(message->sender, own);
    EXPECT_EQ(message->sender_mac, kRightMac);

    bench.receive(Side::kLeft,
                  make_udp({.source = is_ipv6 ? "2001:2::2" : "198.18.0.2",
                            .destination = to_text(tester.address)}),
                  2);
    EXPECT_EQ(destination_mac(bench.departures().at(1).frame), kOtherMac);
  }
}

TEST(NeighbourTable, DoesNotAnswerForOthers) {
  BenchGateway bench(parse_config("{}"));
  FrameStore store;
  bench.receive(Side::kRight, made(make_request(store, kRightTester, ip("198.19.0.9"))), 1);
  bench.receive(Side::kRight, made(make_request(store, kRightTesterIpv6, ip("2001:2::1"))), 1);
  EXPECT_TRUE(bench.departures().empty());
}

TEST(NeighbourTable, AProbeIsAnsweredToAllAndTeachesNothing) {
  BenchGateway bench(parse_config("{}"));
  FrameStore store;
  const Speaker nobody{kOtherMac, IpAddress::ipv6(0)};
  bench.receive(Side::kRight, made(make_request(store, nobody, ip("2001:2:0:8000::1"))), 1);
  ASSERT_EQ(bench.departures().size(), 1U);
  const auto& answer = bench.departures()[0].frame;
  EXPECT_EQ(answer.destination(), ip("ff02::1"));
  EXPECT_EQ(destination_mac(answer), (Mac{0x33, 0x33, 0, 0, 0, 1}));
}

TEST(NeighbourTable, AWrongChecksumOrHopLimitIsIgnored) {
  FrameStore store;
  auto question = made(make_request(store, kRightTesterIpv6, ip("2001:2:0:8000::1")));
  ASSERT_TRUE(parse_discovery(question));
  auto far = question;
  far[14 + 7] = 254;
  EXPECT_FALSE(parse_discovery(far));
  question[80] ^= 1U;
  EXPECT_FALSE(parse_discovery(question));
}

TEST(NeighbourTable, WhatIsGivenIsNotOverwritten) {
  BenchGateway bench(config_with(""));
  FrameStore store;
  const Speaker liar{kTesterMac, ip("198.19.0.2")};
  bench.receive(Side::kRight, made(make_request(store, liar, ip("198.19.0.1"))), 1);
  bench.departures().clear();
  bench.receive(Side::kLeft, make_udp({}), 2);
  EXPECT_EQ(destination_mac(bench.departures().at(0).frame), kOtherMac);
}

TEST(Polls, TheWorstGapAndThoseOverIdleAreCounted) {
  BenchGateway bench(config_with("", R"(, "idle_ns": 1000)"));
  for (const Nanoseconds at_ns : {500'000U, 500'100U, 501'100U, 502'101U, 600'000U}) {
    bench.poll(at_ns);
  }
  const auto& polls = bench.record().polls;
  EXPECT_EQ(polls.polls(), 5U);
  EXPECT_EQ(polls.worst_gap_ns(), 97'899U);
  EXPECT_EQ(polls.gaps_over_idle(), 2U);
  bench.gateway().clear(600'500);
  bench.poll(700'000);
  EXPECT_EQ(bench.record().polls.worst_gap_ns(), 0U);
}

// A gap may be before or after a receive call.
TEST(Polls, AGapThatFramesHaveWaitedForIsAnAbsence) {
  BenchGateway bench(config_with(""));
  auto after_ns = [&bench, now_ns = Nanoseconds{1'000'000}](Nanoseconds gap_ns,
                                                            bool comes) mutable {
    now_ns += gap_ns;
    if (comes) bench.receive(Side::kLeft, make_udp({}), now_ns);
    bench.poll(now_ns);
    return bench.record().polls.away_ns();
  };
  EXPECT_EQ(after_ns(0, true), 0U);
  EXPECT_EQ(after_ns(90'000, true), 0U) << "its own work may take as long";
  EXPECT_EQ(after_ns(500'000, false), 0U) << "no frame is known to have waited";
  EXPECT_EQ(after_ns(1'000, true), 500'000U) << "it came during the gap, behind the receive call";
  EXPECT_EQ(after_ns(300'000, true), 800'000U);
  EXPECT_EQ(after_ns(700'000, false), 800'000U);
  EXPECT_EQ(after_ns(1'000, false), 800'000U) << "nobody came";
  EXPECT_EQ(after_ns(1'000, true), 800'000U);
  EXPECT_EQ(bench.record().polls.worst_gap_ns(), 700'000U);
}

TEST(Polls, EachGapBeyondItsOwnWorkIsAnAbsenceWithItsTimes) {
  BenchGateway bench(config_with(""));
  for (const Nanoseconds at_ns : {5'000'000U, 5'100'000U, 5'200'001U, 5'200'002U, 6'000'000U}) {
    bench.poll(at_ns);
  }
  const auto& record = bench.record();
  const auto found = record.polls.absences().intervals();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0], (Absences::Interval{5'100'000, 5'200'001}));
  EXPECT_EQ(found[1], (Absences::Interval{5'200'002, 6'000'000}));
  EXPECT_NE(record_event(record).find(R"("absences":[[5100000,5200001],[5200002,6000000]])"),
            std::string::npos);
  bench.gateway().clear(7'000'000);
  bench.poll(8'000'000);
  EXPECT_TRUE(bench.record().polls.absences().intervals().empty());
}

TEST(Polls, ASleepIsNoAbsenceButALateWakingIs) {
  BenchGateway bench(config_with(R"({"kind": "delay", "ns": 700000})", R"(, "sleep_ns": 500000)"));
  auto& gateway = bench.gateway();
  bench.poll(1'000'000);
  EXPECT_EQ(gateway.sleep_ns(), 500'000U);
  gateway.sleep(1'001'000, 1'501'000);
  bench.poll(1'502'000);
  EXPECT_EQ(bench.record().polls.worst_gap_ns(), 1000U);
  EXPECT_TRUE(bench.record().polls.absences().intervals().empty());
  gateway.sleep(1'802'000, 2'302'000);  // away before it slept
  bench.receive(Side::kLeft, make_udp({}), 3'000'000);
  bench.poll(3'000'000);
  const auto record = bench.record();
  const auto found = record.polls.absences().intervals();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0], (Absences::Interval{1'502'000, 1'802'000}));
  EXPECT_EQ(found[1], (Absences::Interval{2'302'000, 3'000'000}));
  EXPECT_EQ(record.polls.away_ns(), 300'000U + 698'000U);
  EXPECT_EQ(gateway.sleep_ns(), 0U) << "a frame came";
  bench.poll(3'001'000);
  EXPECT_EQ(gateway.sleep_ns(), 0U) << "a frame waits in a fault";
  bench.poll(3'700'000);
  EXPECT_EQ(gateway.sleep_ns(), 500'000U);
  BenchGateway awake(config_with(""));
  awake.poll(1'000'000);
  EXPECT_EQ(awake.gateway().sleep_ns(), 0U);
}

TEST(Absences, BeyondTheMostTheNearestNeighboursAreJoined) {
  Absences absences;
  // One every 1000 ns; the one at 7000 ns ends 10 ns before the next.
  for (Nanoseconds i = 1; i <= Absences::kMost; ++i) {
    absences.add({.from_ns = i * 1000, .until_ns = i * 1000 + (i == 7 ? 990 : 100)});
  }
  EXPECT_EQ(absences.intervals().size(), Absences::kMost);
  EXPECT_EQ(absences.intervals()[6], (Absences::Interval{7000, 7990}));
  absences.add({.from_ns = 9'000'000, .until_ns = 9'000'100});
  EXPECT_EQ(absences.intervals().size(), Absences::kMost);
  EXPECT_EQ(absences.intervals()[6], (Absences::Interval{7000, 8100}));
  EXPECT_EQ(absences.intervals()[7], (Absences::Interval{9000, 9100}));
  EXPECT_EQ(absences.intervals().back(), (Absences::Interval{9'000'000, 9'000'100}));
  absences.add({.from_ns = 9'000'150, .until_ns = 9'000'250});  // the last two are the nearest
  EXPECT_EQ(absences.intervals().back(), (Absences::Interval{9'000'000, 9'000'250}));
}

TEST(Record, EveryReceivedFrameIsAccountedFor) {
  BenchGateway bench(config_with(
      R"({"kind": "loss", "every": 7}, {"kind": "duplicate", "every": 5},
         {"kind": "rate_limit", "rate_fps": 100000, "depth": 3},
         {"kind": "buffer", "frames": 4, "drain_fps": 90000}, {"kind": "delay", "ns": 2000})"));
  for (unsigned i = 0; i < 1000; ++i) bench.receive(Side::kLeft, make_udp({}), 1000 + i * 7000);
  bench.poll(1'000 * kMillisecond);
  const auto& record = bench.forward();
  std::uint64_t drops = 0;
  for (const auto count : record.dropped) drops += count;
  EXPECT_GT(dropped(bench, Drop::kRateLimit), 0U);
  EXPECT_GT(dropped(bench, Drop::kBuffer), 0U);
  EXPECT_EQ(record.received + record.duplicated, record.forwarded + drops);
}

}  // namespace
}  // namespace natxy::gateway::test
