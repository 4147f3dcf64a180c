// Tests the engine against the example specs: the valid ones, and the patches (RFC 6902) that make
// invalid ones of them.
#include "spec_examples.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace natxy::spec {
namespace {

using Json = nlohmann::json;

// Returns the examples that the package refuses, too, and those that only the engine refuses.
std::vector<Json> invalid_examples() {
  std::vector<Json> all;
  for (const auto& list : Json::parse(contents(kExamples / "invalid.json"))) {
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

// Returns the sentence with which the engine refuses an invalid example.
std::string refusal_of(const Json& example) {
  const auto valid = Json::parse(valid_example(example.at("of").get<std::string>()));
  return refusal(valid.patch(example.at("patch")).dump());
}

Json invalid_example(const std::string& name) {
  for (const auto& example : invalid_examples()) {
    if (example.at("name") == name) return example;
  }
  ADD_FAILURE() << "there is no example " << name;
  return {};
}

TEST(SpecExamples, ValidOnesAreAccepted) {
  unsigned count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kExamples / "valid")) {
    EXPECT_EQ(refusal(contents(entry.path())), "accepted") << entry.path();
    ++count;
  }
  EXPECT_GE(count, 13U);
}

TEST(SpecExamples, InvalidOnesAreRefusedForTheMemberThatIsWrong) {
  unsigned count = 0;
  for (const auto& example : invalid_examples()) {
    const auto member = example.at("refused_for").get<std::string>();
    const auto sentence = refusal_of(example);
    EXPECT_EQ(sentence.substr(0, member.size() + 2), member + ": ")
        << example.at("name") << ": " << sentence;
    ++count;
  }
  EXPECT_GE(count, 84U);
}

TEST(SpecExamples, ErrorsSayWhatWasExpected) {
  EXPECT_EQ(refusal_of(invalid_example("burst-rate-below-the-mean")),
            "phases[0].streams[0].segments[2].burst_rate_fps: 499 is out of range (expected 500, "
            "the mean rate, to 8589934592)");
  EXPECT_EQ(refusal_of(invalid_example("rate-zero")),
            "phases[0].streams[0].segments[0].rate_fps: 0 is out of range (expected 1 to "
            "8589934592)");
}

TEST(SpecExamples, OptionalMembersMayBeAbsent) {
  auto json = Json::parse(valid_example("stateless-nat64"));
  auto& changed = json["phases"][0]["streams"][0];
  const auto remove = [](Json& from, const std::vector<std::string>& members) {
    for (const auto& member : members) EXPECT_EQ(from.erase(member), 1U) << member;
  };
  remove(json, {"early_end_ns", "link_may_fall", "burst_limit_frames", "watched", "recording"});
  remove(json["sides"]["left"]["next_hop"], {"ipv4", "mac"});
  remove(json["phases"][0], {"minimum_connections"});
  remove(changed, {"background"});
  remove(changed["segments"][0], {"burst_frames", "burst_rate_fps"});
  remove(changed["foreground"],
         {"hop_limit", "dont_fragment", "hop_limit_drop", "avoid_zero_checksum", "dscp_kept",
          "udp_checksum_required", "connections"});
  remove(changed["foreground"]["departure"]["source"], {"network_byte", "field"});
  const auto spec = parse_spec(json.dump());
  EXPECT_TRUE(spec.watched.empty());
  EXPECT_FALSE(spec.recording.tags);
  const auto& stream = spec.phases.at(0).streams.at(0);
  EXPECT_FALSE(stream.background);
  EXPECT_EQ(stream.segments.at(0).burst_frames, 1U);
  EXPECT_EQ(stream.segments.at(0).burst_rate_fps, 0U);
  EXPECT_EQ(stream.foreground->hop_limit, 64);
  EXPECT_TRUE(stream.foreground->dont_fragment);
  EXPECT_FALSE(stream.foreground->hop_limit_drop);
  EXPECT_FALSE(stream.foreground->connections);
}

}  // namespace
}  // namespace natxy::spec
