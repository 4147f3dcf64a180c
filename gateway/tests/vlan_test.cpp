// Tests that tags are written, compared and removed.
#include <gtest/gtest.h>

#include "gateway/frame.hpp"
#include "gateway/tests/frame_maker.hpp"

namespace natxy::gateway::test {
namespace {

const VlanTags kOneTag{{.type = 0x8100, .id = 100}};
const VlanTags kTwoTags{{.type = 0x88a8, .id = 4094}, {.type = 0x8100, .id = 1}};

Bytes with_tags(const Bytes& frame, const VlanTags& tags) {
  Bytes octets(frame.size() + tags.size() * kVlanTagOctets);
  EXPECT_EQ(write_with_tags(octets.data(), frame, tags), octets.size());
  return octets;
}

TEST(Vlan, TagsAreBetweenAddressesAndType) {
  const auto frame = make_udp({});
  EXPECT_EQ(with_tags(frame, VlanTags{}), frame);
  const auto octets = with_tags(frame, kTwoTags);
  EXPECT_TRUE(std::equal(octets.begin(), octets.begin() + 12, frame.begin()));
  EXPECT_EQ(read32(octets.data() + 12), 0x88a80ffeU);
  EXPECT_EQ(read32(octets.data() + 16), 0x81000001U);
  EXPECT_TRUE(std::equal(octets.begin() + 20, octets.end(), frame.begin() + 12, frame.end()));
}

TEST(Vlan, TheOwnTagsAreRemoved) {
  const auto frame = make_udp({});
  Bytes scratch;
  for (const auto& tags : {VlanTags{}, kOneTag, kTwoTags}) {
    const auto octets = with_tags(frame, tags);
    const auto without = without_tags(octets, tags, scratch);
    ASSERT_TRUE(without);
    EXPECT_EQ(Bytes(without->begin(), without->end()), frame);
  }
}

TEST(Vlan, ThePriorityDoesNotMatter) {
  auto octets = with_tags(make_udp({}), kOneTag);
  octets[14] = 0x60;
  Bytes scratch;
  EXPECT_TRUE(without_tags(octets, kOneTag, scratch));
}

TEST(Vlan, OtherFramesAreOfAnotherVlan) {
  const auto frame = make_udp({});
  const VlanTags other_id{{.type = 0x8100, .id = 101}};
  const VlanTags other_type{{.type = 0x88a8, .id = 100}};
  Bytes scratch;
  EXPECT_FALSE(without_tags(frame, kOneTag, scratch));
  EXPECT_FALSE(without_tags(with_tags(frame, other_id), kOneTag, scratch));
  EXPECT_FALSE(without_tags(with_tags(frame, other_type), kOneTag, scratch));
  EXPECT_FALSE(without_tags(with_tags(frame, kOneTag), kTwoTags, scratch));
  const auto octets = with_tags(frame, kOneTag);
  EXPECT_FALSE(without_tags(Octets(octets).first(15), kOneTag, scratch));
}

}  // namespace
}  // namespace natxy::gateway::test
