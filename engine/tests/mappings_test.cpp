// Tests the summary of external addresses and ports with tables whose content is known.
#include "run/mappings.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace natxy::run {
namespace {

using enum spec::SeriesMode;

constexpr std::uint32_t kHosts = 20;
constexpr std::uint32_t kConnections = 50;  // of each host

// The connections of a host follow each other, from as many source ports.
spec::Traffic hosts_with_connections() {
  spec::Traffic traffic;
  traffic.selection = spec::Selection::kEnumerateIncreasing;
  traffic.source_port = {kIncreasing, 1000, 1000 + kConnections - 1};
  traffic.destination_port = {kFixed, 53, 53};
  traffic.source_field = {kIncreasing, 0, kHosts - 1};
  traffic.destination_field = {kFixed, 0, 0};
  return traffic;
}

using Gateway = std::function<Entry(std::uint32_t host, std::uint32_t connection)>;

// Returns the summary of a table that a gateway has filled; without an entry where it gave none.
spec::Mappings summary(const Gateway& gateway) {
  std::vector<std::uint64_t> words(std::size_t{kHosts} * kConnections, 0);
  StateTable table(words.data(), words.size(), 1);
  for (std::uint32_t host = 0; host < kHosts; ++host) {
    for (std::uint32_t i = 0; i < kConnections; ++i) {
      const auto entry = gateway(host, i);
      if (entry.stored()) table.learn(std::uint64_t{host} * kConnections + i, entry);
    }
  }
  return mappings_of(table, flow::Flow(hosts_with_connections(), 1));
}

Entry at(std::uint32_t address, std::uint32_t port) {
  return {address, static_cast<std::uint16_t>(port)};
}

void expect(const spec::Range& range, std::uint64_t min, std::uint64_t max) {
  EXPECT_EQ(range.min, min);
  EXPECT_EQ(range.max, max);
}

TEST(Mappings, OfDeterministicBlocksAreThoseBlocks) {
  const auto found =
      summary([](auto host, auto i) { return at(host % 2, 1024 + host / 2 * 64 + i); });
  EXPECT_EQ(found.hosts, kHosts);
  EXPECT_EQ(found.addresses, 2U);
  EXPECT_EQ(found.ports, kHosts * kConnections);
  expect(found.hosts_per_address, 10, 10);
  expect(found.ports_per_address, 10 * kConnections, 10 * kConnections);
  expect(found.ports_per_host, kConnections, kConnections);
  expect(found.addresses_per_host, 1, 1);
  EXPECT_EQ(found.block_ports, 64U);
  expect(found.blocks_per_host, 1, 1);
}

TEST(Mappings, OfPortsInTheOrderOfConnectionsHaveNoBlocks) {
  const auto found = summary([](auto host, auto i) { return at(7, 1024 + i * kHosts + host); });
  EXPECT_EQ(found.block_ports, 1U);
  expect(found.blocks_per_host, kConnections, kConnections);
  expect(found.hosts_per_address, kHosts, kHosts);
}

TEST(Mappings, OfAHostWithSeveralAddressesAndBlocks) {
  const auto found = summary([](auto host, auto i) {
    const auto block = host * 2 + i / 32;  // 32 ports each
    return at(host == 3 ? i % 2 : 0, 4096 + block * 32 + i % 32);
  });
  expect(found.addresses_per_host, 1, 2);
  EXPECT_EQ(found.block_ports, 64U);
  expect(found.blocks_per_host, 1, 2);
  expect(found.hosts_per_address, 1, kHosts);
}

TEST(Mappings, OfAddressesThatNobodySharesAreNoBlocks) {
  const auto found = summary([](auto host, auto i) { return at(host, i); });
  EXPECT_EQ(found.addresses, kHosts);
  EXPECT_EQ(found.block_ports, 65536U);
  expect(found.hosts_per_address, 1, 1);
  expect(found.blocks_per_host, 1, 1);
}

TEST(Mappings, OfAPortThatTwoHostsHave) {
  const auto found = summary([](auto host, auto i) {  // to different destinations
    return at(0, host < 2 ? i : host * 100 + i);
  });
  EXPECT_EQ(found.block_ports, 0U);
  EXPECT_EQ(found.ports, (kHosts - 1) * kConnections);
}

TEST(Mappings, AreThoseOfConnectionsThatExist) {
  const auto found = summary([](auto host, auto i) {
    return host == 5 || (host == 6 && i > 0) ? Entry() : at(1, 1024 + host * 64 + i);
  });
  EXPECT_EQ(found.hosts, kHosts - 1);
  expect(found.ports_per_host, 1, kConnections);
  const auto none = summary([](auto, auto) { return Entry(); });
  EXPECT_EQ(none.hosts + none.addresses + none.ports, 0U);
  expect(none.ports_per_host, 0, 0);
}

}  // namespace
}  // namespace natxy::run
