#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "spec/json.hpp"
#include "spec/rules.hpp"
#include "spec_examples.hpp"

namespace natxy::spec {
namespace {

TEST(SpecJson, ReadsEveryMember) {
  const auto spec = parse_spec(valid_example("background-and-segments"));
  EXPECT_EQ(spec.seed, 42U);
  EXPECT_EQ(spec.nonce, 305419896U);
  EXPECT_EQ(spec.drain_ns, 50'000'000U);
  EXPECT_EQ(spec.lateness_tolerance_ns, 1'000'000U);
  EXPECT_TRUE(spec.realtime);
  EXPECT_EQ(spec.warm_up.mode, WarmUpMode::kProbes);
  EXPECT_EQ(spec.warm_up.timeout_ns, 5'000'000'000U);
  EXPECT_EQ(spec.sides[0].next_hop.ipv6.value()[15], 1);
  EXPECT_FALSE(spec.sides[0].next_hop.ipv4);
  EXPECT_EQ(spec.sides[1].next_hop.ipv4, (std::array<std::uint8_t, 4>{198, 19, 0, 1}));
  EXPECT_EQ(spec.sides[1].own_addresses.at(1), "2001:2:0:8000::3");
  const auto& stream = spec.phases.at(0).streams.at(0);
  EXPECT_EQ(stream.direction, Direction::kForward);
  EXPECT_EQ(stream.foreground->departure.frame_size_bytes, 84);
  EXPECT_EQ(stream.foreground->arrival.frame_size_bytes, 64);
  EXPECT_EQ(stream.mix.n, 10U);
  EXPECT_EQ(stream.mix.m, 9U);
  EXPECT_EQ(stream.segments.at(1).pause_ns, 5'000'000U);
  EXPECT_EQ(stream.segments.at(2).rate_fps, 500U);
  EXPECT_EQ(stream.foreground->arrival.ip_version, IpVersion::k4);
  EXPECT_EQ(stream.foreground->arrival.source.octets[3], 2);
  EXPECT_EQ(stream.foreground->source_port.mode, SeriesMode::kPseudorandom);
  EXPECT_EQ(stream.foreground->destination_port.max, 49151);
  EXPECT_EQ(stream.background->departure.ip_version, IpVersion::k6);
}

TEST(SpecJson, ReadsBursts) {
  const auto spec = parse_spec(valid_example("bursts"));
  const auto& segments = spec.phases.at(0).streams.at(0).segments;
  EXPECT_EQ(segments.at(0).burst_frames, 1U);
  EXPECT_EQ(segments.at(0).burst_rate_fps, 0U);
  EXPECT_EQ(segments.at(2).burst_frames, 16U);
  EXPECT_EQ(segments.at(2).burst_rate_fps, 10'000U);
}

TEST(SpecJson, ReadsOffsetsAndMacs) {
  const auto fields = parse_spec(valid_example("ipv6-router-fields"));
  const auto& traffic = *fields.phases[0].streams[0].foreground;
  EXPECT_EQ(traffic.departure.destination.network_byte, 7);
  EXPECT_EQ(traffic.departure.destination.field, field_at(14));
  EXPECT_EQ(traffic.networks, 16);
  EXPECT_FALSE(traffic.hop_limit_drop);
  const auto macs = parse_spec(valid_example("macs-given"));
  EXPECT_EQ(macs.sides[1].next_hop.mac, (std::array<std::uint8_t, 6>{2, 0, 0, 0, 0, 0x0b}));
  EXPECT_EQ(macs.phases[0].streams[0].foreground->hop_limit_drop, 1);
}

TEST(SpecJson, ReadsHowTheHeaderLeaves) {
  const auto usual = parse_spec(valid_example("ipv6-router-fields"));
  EXPECT_EQ(usual.phases[0].streams[0].foreground->hop_limit, 64);
  EXPECT_TRUE(usual.phases[0].streams[0].foreground->dont_fragment);
  const auto other = parse_spec(valid_example("macs-given"));
  EXPECT_EQ(other.phases[0].streams[0].foreground->hop_limit, 10);
  EXPECT_FALSE(other.phases[0].streams[0].foreground->dont_fragment);
}

TEST(SpecJson, ReadsPacketFormats) {
  using enum ExtensionHeader;
  const auto spec = parse_spec(valid_example("packet-formats"));
  const std::vector<VlanTag> tags{{.tpid = 0x88a8, .id = 100},
                                  {.tpid = 0x8100, .id = 7, .priority = 3}};
  EXPECT_EQ(spec.sides[0].vlans, tags);
  const auto& stream = spec.phases.at(0).streams.at(0);
  const auto& inside = stream.foreground->departure;
  EXPECT_EQ(inside.traffic_class, 184);
  ASSERT_TRUE(inside.tunnel);
  EXPECT_EQ(inside.tunnel->source.field, field_at(14));
  EXPECT_EQ(inside.tunnel->encapsulation->name, "ip");
  EXPECT_EQ(inside.link_version(), IpVersion::k6);
  EXPECT_FALSE(stream.foreground->arrival.tunnel);
  const auto& extended = stream.background->arrival;
  EXPECT_EQ(extended.flow_label, kMaxFlowLabel);
  EXPECT_EQ(extended.link_version(), IpVersion::k4);
  EXPECT_EQ(extended.extension_headers, (std::vector{kHopByHop, kDestinationOptions, kRouting}));
}

TEST(SpecJson, WhatIsNoObjectIsRefused) {
  EXPECT_EQ(refusal("[]"), "spec: a list is not an object (expected {...})");
  EXPECT_EQ(refusal("{\"version\": 1"), "spec: is not JSON (expected an object)");
}

TEST(SpecJson, SurvivesAnyPrefixAndDeepNesting) {
  const auto text = valid_example("stateless-nat64");
  const auto end = text.find_last_of('}');
  for (std::size_t length = 0; length < end; length += 29) {
    EXPECT_NE(refusal(text.substr(0, length)), "accepted") << length;
  }
  EXPECT_NE(refusal(std::string(200'000, '[')), "accepted");
  EXPECT_NE(refusal(std::string(50'000, '[') + std::string(50'000, ']')), "accepted");
  const auto deep = std::string(50'000, '[') + std::string(50'000, ']');
  EXPECT_EQ(refusal("{\"version\": " + deep + "}").substr(0, 9), "version: ");
}

TEST(Validate, DurationIsExactAndSaturates) {
  auto spec = parse_spec(valid_example("background-and-segments"));
  EXPECT_EQ(duration_ns(spec), 100'000'000U + 5'000'000U + 100'000'000U + 50'000'000U);
  spec.phases[0].streams[0].segments = {{.frames = 1, .rate_fps = 3, .pause_ns = 0}};
  EXPECT_EQ(duration_ns(spec), 333'333'334U + 50'000'000U);
  spec.phases[0].streams[0].segments = {
      {.frames = kMaxFramesPerStream - 1, .rate_fps = 1, .pause_ns = kMaxTrialNs}};
  EXPECT_EQ(duration_ns(spec), kMaxTrialNs + 1);
}

// Bursts of 4 at 1,000,000 frames a second, one each 4 ms.
TEST(Validate, TheLastFrameOfBurstsIsDueInTheLastBurst) {
  auto spec = parse_spec(valid_example("bursts"));
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> last_due = {
      {1, 0}, {4, 3'000}, {5, 4'000'000}, {10, 8'001'000}};
  for (const auto& [frames, last_ns] : last_due) {
    spec.phases[0].streams[0].segments = {{.frames = frames,
                                           .rate_fps = 1000,
                                           .pause_ns = 7,
                                           .burst_frames = 4,
                                           .burst_rate_fps = 1'000'000}};
    spec.recording.tags = Tags{.after_ns = last_ns, .count = 1};
    EXPECT_NO_THROW(validate(spec)) << frames;
    spec.recording.tags->after_ns = last_ns + 1;
    EXPECT_THROW(validate(spec), SpecError) << frames;
  }
}

// The latency is that of phase 2, however short phase 1 is, which lasts 0.1 s here.
TEST(Validate, TagsMayStartLaterThanPhase1Lasts) {
  auto spec = parse_spec(valid_example("stateful-nat64"));
  spec.recording.tags = Tags{.after_ns = 150'000'000, .count = 5};
  for (auto& stream : spec.phases.back().streams) stream.segments[0].frames = 2000;
  EXPECT_NO_THROW(validate(spec));
  for (auto& stream : spec.phases.back().streams) stream.segments[0].frames = 1000;
  EXPECT_THROW(validate(spec), SpecError);
}

TEST(Validate, CountsFramesOfEachKindAsTheMixSaysForEachNumber) {
  Stream stream;
  for (const Mix mix : {Mix{10, 9}, Mix{1, 1}, Mix{1, 0}, Mix{7, 3}, Mix{4, 4}}) {
    stream.mix = mix;
    for (std::uint64_t frames = 1; frames < 40; ++frames) {
      stream.segments = {{.frames = frames, .rate_fps = 1, .pause_ns = 0}};
      std::uint64_t foreground = 0;
      for (std::uint64_t i = 0; i < frames; ++i) foreground += i % mix.n < mix.m ? 1 : 0;
      EXPECT_EQ(frames_of(stream, Kind::kForeground), foreground);
      EXPECT_EQ(frames_of(stream, Kind::kBackground), frames - foreground);
    }
  }
}

std::string without_newlines(std::string text) {
  std::erase(text, '\n');
  return text;
}

ErrorEvent refused(const std::string& line) {
  try {
    (void)parse_request(line);
  } catch (const RequestError& error) {
    return error.event();
  }
  ADD_FAILURE() << "accepted: " << line;
  return {};
}

TEST(Requests, AreToldApart) {
  const auto text = valid_example("stateless-nat64");
  const auto trial =
      parse_request(R"({"request": "trial", "id": 7, "spec": )" + without_newlines(text) + "}");
  EXPECT_EQ(std::get<TrialRequest>(trial).id, 7U);
  EXPECT_EQ(std::get<TrialRequest>(trial).spec.seed, 42U);
  EXPECT_TRUE(std::holds_alternative<CancelRequest>(parse_request(R"({"request": "cancel"})")));
  EXPECT_TRUE(std::holds_alternative<QuitRequest>(parse_request(R"({"request":"quit"})")));
}

TEST(Requests, WrongOnesAreRefusedWithTheirKindAndId) {
  EXPECT_EQ(refused("no").kind, ErrorKind::kRequest);
  EXPECT_EQ(refused("[1]").message, "line: a list is not an object (expected {...})");
  EXPECT_EQ(refused(R"({"request": "fly"})").message,
            "request: \"fly\" is unknown (expected one of trial, cancel, quit)");
  EXPECT_EQ(refused(R"({"request": "quit", "now": true})").message,
            "now: is unknown (expected one of request)");
  EXPECT_EQ(refused(R"({"request": "trial", "spec": {}})").message,
            "id: is missing (expected a value)");
  const auto no_spec = refused(R"({"request": "trial", "id": 3})");
  EXPECT_EQ(no_spec.id, 3U);
  EXPECT_EQ(no_spec.kind, ErrorKind::kRequest);
  const auto bad_spec = refused(R"({"request": "trial", "id": 4, "spec": {"version": 1}})");
  EXPECT_EQ(bad_spec.id, 4U);
  EXPECT_EQ(bad_spec.kind, ErrorKind::kSpec);
  EXPECT_EQ(bad_spec.message, "version: 1 is out of range (expected 3)");
}

TEST(Events, AreOneLineEach) {
  EXPECT_EQ(error_event({.id = 7, .kind = ErrorKind::kWarmUp, .message = "a\nb"}),
            R"({"event":"error","id":7,"kind":"warm-up","message":"a\nb"})");
  EXPECT_EQ(error_event({.id = std::nullopt, .kind = ErrorKind::kDevice, .message = "\xff"}),
            "{\"event\":\"error\",\"kind\":\"device\",\"message\":\"\xef\xbf\xbd\"}");
  EXPECT_EQ(progress_event(1, {.stage = Stage::kSending,
                               .elapsed_ns = 2,
                               .duration_ns = 3,
                               .sent = {4, 5},
                               .received = {6, 7}}),
            R"({"duration_ns":3,"elapsed_ns":2,"event":"progress","id":1,)"
            R"("received":{"forward":6,"reverse":7},"sent":{"forward":4,"reverse":5},)"
            R"("stage":"sending"})");
}

TEST(Events, HelloTellsPorts) {
  const Hello hello{.engine_version = "0",
                    .dpdk_version = "D",
                    .variant = "V",
                    .tsc_hz = 1,
                    .tsc_invariant = true,
                    .huge_pages = false,
                    .realtime_allowed = true,
                    .cpu_model = "C",
                    .kernel = "K",
                    .main_cpus = {0, 1},
                    .worker_cpus = {1},
                    .ports = {PortInfo{}}};
  EXPECT_EQ(
      hello_event(hello),
      R"({"cpu_model":"C","dpdk_version":"D","engine_version":"0","event":"hello","huge_pages":false,)"
      R"("kernel":"K","main_cpus":[0,1],"ports":[{"device":"","driver":"","interface":null,)"
      R"("link_speed_mbps":0,"mac":"","mtu_bytes":0,"numa_node":-1,"offloads":[],)"
      R"("refusal":"tester","rx_ring_frames":0,"side":"left"}],"protocol":1,"realtime_allowed":true,)"
      R"("tsc_hz":1,"tsc_invariant":true,"variant":"V","workers":[{"cpu":1}]})");
}

// Returns the example that the package is tested with too.
std::string icmp_example() {
  std::ifstream file(std::string(NATXY_EXAMPLES) + "/result/icmp-errors.json");
  std::string line;
  EXPECT_TRUE(std::getline(file, line));
  return line;
}

std::vector<IcmpErrorCount> icmp_errors() {
  return {{.ip_version = IpVersion::k4,
           .type = 3,
           .code = 4,
           .mtu = 1280,
           .source = "198.18.0.1",
           .count = 500,
           .example_hex = "0a"},
          {.ip_version = IpVersion::k6,
           .type = 1,
           .code = 1,
           .source = "2001:2::1",
           .count = 2,
           .example_hex = "0b0c"}};
}

TEST(Events, IcmpErrorsStandAtTheirPort) {
  TrialResult result;
  result.ports.resize(1);
  result.ports[0].icmp = {.listed = icmp_errors(), .unlisted = 2, .of_others = 3};
  const auto line = result_event(9, result);
  EXPECT_NE(line.find(R"("icmp_errors":)" + icmp_example()), std::string::npos) << line;
  EXPECT_NE(line.find(R"("icmp_errors_of_others":3,"icmp_errors_unlisted":2)"), std::string::npos);
}

TEST(Events, APortSaysHowManyFramesCameByEachOfItsQueues) {
  TrialResult result;
  result.ports.resize(1);
  result.ports[0].queue_received = {3, 4};
  EXPECT_NE(result_event(9, result).find(R"("queue_received":[3,4])"), std::string::npos);
}

TEST(Events, AnErrorHasTheIcmpErrorsThatCameInPlaceOfProbes) {
  const auto errors = icmp_errors();
  const auto line = error_event({.id = 7,
                                 .kind = ErrorKind::kWarmUp,
                                 .message = "deaf",
                                 .icmp = {{{errors[0]}, {errors[1]}}}});
  const auto all = icmp_example();
  const auto split = all.find("},{") + 1;
  const auto first = all.substr(1, split - 1);
  const auto second = all.substr(split + 1, all.size() - split - 2);
  EXPECT_EQ(line, R"({"event":"error","icmp_errors":[{"error":)" + first +
                      R"(,"side":"left"},{"error":)" + second +
                      R"(,"side":"right"}],"id":7,"kind":"warm-up","message":"deaf"})");
}

TEST(Events, RunsAreListsOfNumbers) {
  TrialResult result;
  result.streams.resize(1);
  auto& stream = result.streams[0];
  stream.lost_runs = {{3, 10, 4}};
  stream.late_runs = {{7, 9}};
  stream.low_delays = {{0, 800}, {50, 900}};
  stream.pauses.at = {{.before_number = 7, .ns = 300, .why = PauseReason::kPort}};
  result.workers.push_back({.away_at = {{1, 2}}});
  result.watched.push_back({.away_at = {{3, 4}}});
  const auto line = result_event(9, result);
  for (const auto* member :
       {R"("lost_runs":[[3,10,4]])", R"("late_runs":[[7,9]])", R"("low_delays":[[0,800],[50,900]])",
        R"("at":[[7,300,"port"]])", R"("away_at":[[1,2]])", R"("away_at":[[3,4]])"}) {
    EXPECT_NE(line.find(member), std::string::npos) << member;
  }
}

TEST(Events, ResultHasNullForAKindThatTheStreamHasNot) {
  TrialResult result;
  result.streams.resize(1);
  result.streams[0].kinds[0].emplace();
  result.streams[0].kinds[0]->misdelivered = {.checksum = 2, .port = 1};
  result.streams[0].kinds[0]->delay.buckets = {{0.5, 0.75, 3}};
  const auto line = result_event(9, result);
  EXPECT_NE(line.find(R"("background":null)"), std::string::npos) << line;
  EXPECT_NE(line.find(R"("buckets":[[0.5,0.75,3]])"), std::string::npos) << line;
  EXPECT_NE(line.find(R"("total":3)"), std::string::npos) << line;
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace natxy::spec
