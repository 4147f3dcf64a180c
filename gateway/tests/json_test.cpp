// Tests that errors in the configuration are refused with a sentence that names them.
#include "gateway/json.hpp"

#include <gtest/gtest.h>

#include <string>
#include <variant>

namespace natxy::gateway {
namespace {

std::string refusal(const std::string& text) {
  try {
    (void)parse_config(text);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Config, TheDefaultIsWhatNoMembersGive) {
  const auto config = parse_config("{}");
  ASSERT_EQ(config.routes.size(), 4U);
  EXPECT_EQ(to_text(config.sides[0].addresses.at(0)), "198.18.0.1");
  EXPECT_EQ(to_text(config.sides[1].addresses.at(1)), "2001:2:0:8000::1");
  EXPECT_TRUE(config.faults.empty());
  EXPECT_FALSE(config.translation);
}

TEST(Config, EveryFaultIsRead) {
  const auto config = parse_config(R"({"faults": [
    {"kind": "rate_limit", "direction": "both", "rate_fps": 10000, "depth": 10},
    {"kind": "loss", "direction": "forward", "every": 100},
    {"kind": "duplicate", "direction": "reverse", "every": 100},
    {"kind": "reorder", "every": 100, "by": 3},
    {"kind": "corrupt", "every": 100, "field": "source_address", "fix_checksum": false},
    {"kind": "delay", "pattern_ns": [1000, 500000, 20000]},
    {"kind": "delay", "uniform_ns": [0, 5000000], "seed": 18446744073709551615},
    {"kind": "buffer", "frames": 100, "drain_fps": 10000, "depth": 7},
    {"kind": "loss", "share_ppm": 20, "seed": 4},
    {"kind": "sulk", "rate_fps": 5, "depth": 6, "for_ns": 7},
    {"kind": "sulk", "every_ns": 50000, "for_ns": 7},
    {"kind": "sulk", "exponential_ns": 60000, "seed": 8, "for_ns": 7}]})");
  ASSERT_EQ(config.faults.size(), 12U);
  EXPECT_EQ(std::get<RateLimit>(config.faults[0].kind).depth, 10U);
  EXPECT_FALSE(config.faults[0].direction);
  EXPECT_EQ(config.faults[1].direction, Direction::kForward);
  EXPECT_EQ(std::get<Reorder>(config.faults[3].kind).by, 3U);
  EXPECT_FALSE(std::get<Corrupt>(config.faults[4].kind).fix_checksum);
  EXPECT_EQ(std::get<Delay>(config.faults[5].kind).pattern_ns.size(), 3U);
  EXPECT_EQ(std::get<Delay>(config.faults[6].kind).seed, UINT64_MAX);
  EXPECT_EQ(std::get<Buffer>(config.faults[7].kind).drain_fps, 10000U);
  EXPECT_EQ(std::get<Buffer>(config.faults[7].kind).depth, 7U);
  EXPECT_EQ(std::get<Loss>(config.faults[8].kind).share_ppm, 20U);
  const auto recurring = [&](std::size_t fault) {
    return std::get<Recurring>(std::get<Sulk>(config.faults[fault].kind).cause);
  };
  EXPECT_EQ(std::get<RateLimit>(std::get<Sulk>(config.faults[9].kind).cause).depth, 6U);
  EXPECT_EQ(recurring(10).every_ns, 50'000U);
  EXPECT_FALSE(recurring(10).is_exponential);
  EXPECT_EQ(recurring(11).every_ns, 60'000U);
  EXPECT_TRUE(recurring(11).is_exponential);
  EXPECT_EQ(recurring(11).seed, 8U);
}

TEST(Config, TagsAndSoftwiresAreRead) {
  const auto config = parse_config(R"({
    "left": {"vlans": [{"tpid": "802.1ad", "id": 100}, {"tpid": "802.1Q", "id": 7}]},
    "softwires": {"inside": "right", "address": "2001:2:0:1::1",
                  "explicit": [{"ipv4": "198.18.0.0/16", "ipv6": "2001:2::/112"}]}})");
  const VlanTags tags{{.type = 0x88a8, .id = 100}, {.type = 0x8100, .id = 7}};
  EXPECT_EQ(config.sides[0].vlans, tags);
  EXPECT_TRUE(config.sides[1].vlans.empty());
  ASSERT_TRUE(config.softwires);
  EXPECT_EQ(config.softwires->inside, Side::kRight);
  EXPECT_EQ(to_text(config.softwires->address), "2001:2:0:1::1");
  EXPECT_EQ(config.softwires->map.mappings.size(), 1U);
}

TEST(Config, WhatIsWrongIsNamed) {
  const std::string in_faults[][2] = {
      {R"({"kind": "lose", "every": 1})",
       "faults[0].kind: \"lose\" is unknown (expected one of buffer"},
      {R"({"kind": "loss", "every": 0})", "faults[0].every: 0 is out of range"},
      {R"({"kind": "loss", "every": -1})", "faults[0].every: -1 is out of range"},
      {R"({"kind": "loss", "every": 1.5})", "faults[0].every: 1.5 is not a whole number"},
      {R"({"kind": "loss"})", "faults[0].every: the loss is missing"},
      {R"({"kind": "loss", "every": 2, "share_ppm": 1})",
       "faults[0].every: the loss is missing or"},
      {R"({"kind": "loss", "share_ppm": 1000001})", "faults[0].share_ppm: 1000001 is out of"},
      {R"({"kind": "sulk", "for_ns": 1})", "faults[0].rate_fps: the cause is missing"},
      {R"({"kind": "sulk", "for_ns": 1, "every_ns": 9999})", "faults[0].every_ns: 9999 is out of"},
      {R"({"kind": "sulk", "for_ns": 1, "every_ns": 20000, "seed": 1})",
       "faults[0].seed: is unknown"},
      {R"({"kind": "loss", "every": 1, "evry": 2})",
       "faults[0].evry: is unknown (expected one of direction, every, kind, share_ppm)"},
      {R"({"kind": "loss", "every": 1, "direction": "up"})", "faults[0].direction: \"up\""},
      {R"({"kind": "reorder", "every": 3, "by": 3})", "faults[0].by: 3 is out of range"},
      {R"({"kind": "delay", "ns": 1, "pattern_ns": [1]})", "faults[0].ns: the delay is "},
      {R"({"kind": "delay"})", "faults[0].ns: the delay is "},
      {R"({"kind": "delay", "pattern_ns": []})", "faults[0].pattern_ns: is empty"},
      {R"({"kind": "delay", "uniform_ns": [2, 1]})",
       "faults[0].uniform_ns: is not a range of delays"},
      {R"({"kind": "delay", "ns": 3600000000001})", "faults[0].ns: 3600000000001 is out of range"},
      {R"({"kind": "corrupt", "every": 1, "field": "colour"})", "faults[0].field: \"colour\""},
      {R"({"kind": "buffer", "frames": 1, "drain_fps": 0})", "faults[0].drain_fps: 0 is out of"},
      {R"(7)", "faults[0]: 7 is not an object"}};
  for (const auto& [fault, message] : in_faults) {
    const auto said = refusal("{\"faults\": [" + fault + "]}");
    EXPECT_TRUE(said.starts_with(message)) << said;
  }
  const std::string others[][2] = {
      {"{", "line: is not JSON"},
      {"[]", "line: a list is not an object"},
      {R"({"fault": []})",
       "fault: is unknown (expected one of faults, idle_ns, left, nat, right, routes, sleep_ns"},
      {R"({"left": {"addresses": ["198.18.0"]}})", "left.addresses[0]: \"198.18.0\" is not an IP"},
      {R"({"left": {"neighbours": {"198.18.0.2": "x"}}})",
       "left.neighbours.198.18.0.2: \"x\" is not a MAC"},
      {R"({"left": {"neighbours": {"x": "02:00:00:00:00:01"}}})",
       "left.neighbours: \"x\" is not an IP"},
      {R"({"left": {"vlans": [{"tpid": "802.1Q", "id": 0}]}})",
       "left.vlans[0].id: 0 is out of range"},
      {R"({"left": {"vlans": [{"tpid": "802.1X", "id": 1}]}})",
       "left.vlans[0].tpid: \"802.1X\" is unknown"},
      {R"({"left": {"vlans": [0, 0, 0]}})", "left.vlans: 3 elements are out of range"},
      {R"({"softwires": {"inside": "left", "address": "198.18.0.1", "explicit": []}})",
       "softwires.address: \"198.18.0.1\" is not an IPv6 address"},
      {R"({"routes": [{"prefix": "198.18.0.0/16"}]})", "routes[0].side: is missing"},
      {R"({"routes": [{"prefix": "198.18.0.1/16", "side": "left"}]})", "routes[0].prefix: "},
      {R"({"translation": {"prefix": "64:ff9b::/95"}})",
       "translation.prefix: the prefix has a length of 95"},
      {R"({"translation": {"prefix": "2001:db8:0:0:ff00::/96"}})", "translation.prefix: bits 64"},
      {R"({"translation": {"explicit": [{"ipv4": "10.0.0.0/8", "ipv6": "::/105"}]}})",
       "translation.explicit[0]: the IPv6 prefix leaves fewer bits than"},
      {R"({"translation": {"explicit": [{"ipv4": "::/8", "ipv6": "::/8"}]}})",
       "translation.explicit[0].ipv4: the prefix is of the other IP version (expected an IPv4"}};
  for (const auto& [text, message] : others) {
    const auto said = refusal(text);
    EXPECT_TRUE(said.starts_with(message)) << said;
  }
}

TEST(Requests, AreTold) {
  EXPECT_EQ(parse_request(R"({"request": "clear"})").verb, Verb::kClear);
  EXPECT_EQ(parse_request(R"({"request": "record"})").verb, Verb::kRecord);
  EXPECT_EQ(parse_request(R"({"request": "quit"})").verb, Verb::kQuit);
  const auto request = parse_request(R"({"request": "configure", "config": {"idle_ns": 5}})");
  EXPECT_EQ(request.config.value().idle_ns, 5U);
  for (const auto* text : {R"({"request": "stop"})", R"({"request": "configure"})", R"({})", "",
                           R"({"request": "clear", "config": {}})"}) {
    EXPECT_THROW((void)parse_request(text), ConfigError) << text;
  }
}

TEST(Events, AreOneLineEach) {
  Record record{.directions = {}, .polls = {1000, 0}, .taken_ns = 5000};
  record.directions[0].received = 7;
  const auto line = record_event(record);
  EXPECT_NE(line.find(R"("forward":{"received":7,"forwarded":0)"), std::string::npos);
  EXPECT_NE(line.find(R"("since_ns":4000)"), std::string::npos);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(error_event("a \xff b").find('\n'), std::string::npos);
}

}  // namespace
}  // namespace natxy::gateway
