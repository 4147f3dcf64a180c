// Tests the summary of external addresses and ports with tables whose content is known.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "run/trial_connections.hpp"

namespace natxy::run {
namespace {

using enum spec::SeriesMode;

constexpr std::uint32_t kHosts = 20;
constexpr std::uint32_t kConnections = 50;  // of each host
constexpr std::uint32_t kFirstPort = 1000;

// The connections of a host follow each other, from as many source ports.
spec::Traffic hosts_with_connections(spec::Selection selection) {
  spec::Traffic traffic;
  traffic.selection = selection;
  traffic.source_port = {kIncreasing, kFirstPort, kFirstPort + kConnections - 1};
  traffic.destination_port = {kFixed, 53, 53};
  traffic.source_field = {kIncreasing, 0, kHosts - 1};
  traffic.destination_field = {kFixed, 0, 0};
  return traffic;
}

using Gateway = std::function<Entry(std::uint32_t host, std::uint32_t connection)>;

// Returns the summary of a table that a gateway has filled; without an entry where it gave none.
spec::Mappings summary(const Gateway& gateway,
                       spec::Selection selection = spec::Selection::kEnumerateIncreasing) {
  std::vector<std::uint64_t> words(std::size_t{kHosts} * kConnections, 0);
  StateTable table(words.data(), words.size(), 1);
  const flow::Flow flow(hosts_with_connections(selection), 1);
  std::uint64_t stored = 0;
  for (std::uint32_t host = 0; host < kHosts; ++host) {
    for (std::uint32_t i = 0; i < kConnections; ++i) {
      const auto entry = gateway(host, i);
      if (!entry.stored()) continue;
      const auto port = static_cast<std::uint16_t>(kFirstPort + i);
      table.learn(*flow.ordinal_of({port, 53, host, 0, 0}), entry);
      ++stored;
    }
  }
  return mappings_of(table, stored, flow);
}

Entry at(std::uint32_t address, std::uint32_t port) {
  return {address, static_cast<std::uint16_t>(port)};
}

void expect(const spec::CountSummary& found, std::uint64_t min, std::uint64_t max) {
  EXPECT_EQ(found.min, min);
  EXPECT_EQ(found.max, max);
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

TEST(Mappings, DoNotDependOnTheOrderOfTheConnections) {
  const auto gateway = [](auto host, auto i) { return at(host % 2, 1024 + host / 2 * 64 + i); };
  const auto found = summary(gateway, spec::Selection::kEnumeratePseudorandom);
  EXPECT_EQ(found.hosts, kHosts);
  EXPECT_EQ(found.block_ports, 64U);
  expect(found.ports_per_host, kConnections, kConnections);
  expect(found.hosts_per_address, 10, 10);
}

TEST(Mappings, OfPortsInTheOrderOfConnectionsHaveNoBlocks) {
  const auto found = summary([](auto host, auto i) { return at(7, 1024 + i * kHosts + host); });
  EXPECT_EQ(found.block_ports, 1U);
  expect(found.blocks_per_host, kConnections, kConnections);
  expect(found.hosts_per_address, kHosts, kHosts);
}

TEST(Mappings, OfAHostWithSeveralAddressesAndBlocks) {
  const auto found =
      summary([](auto host, auto i) { return at(host == 3 ? i % 2 : 0, 4096 + host * 64 + i); });
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

// Of an odd and of an even number of hosts: host n has the first n + 1 of its connections, and
// two of them share a port.
TEST(Mappings, HaveMedianAndPercentileOfTheirDistribution) {
  const auto of_hosts = [](std::uint32_t hosts) {
    return summary([hosts](auto host, auto i) {
      return host >= hosts || i > host ? Entry() : at(host % 3, host * 64 + (i == 1 ? 0 : i));
    });
  };
  const auto odd = of_hosts(5);  // 1, 2, 3, 4 and 5 connections
  expect(odd.connections_per_host, 1, 5);
  EXPECT_EQ(odd.connections_per_host.median, 3);
  EXPECT_EQ(odd.ports_per_host.median, 2);    // 1, 1, 2, 3, 4
  expect(odd.connections_per_address, 3, 7);  // 1 + 4, 2 + 5, 3
  EXPECT_EQ(odd.connections_per_address.median, 5);
  EXPECT_EQ(odd.ports_per_address.median, 4);  // 1 + 3, 1 + 4, 2
  EXPECT_EQ(odd.hosts_per_address.median, 2);
  const auto even = of_hosts(20);
  EXPECT_EQ(even.connections_per_host.median, 10.5);
  EXPECT_EQ(even.connections_per_host.p99, 20U);
  EXPECT_EQ(even.hosts_per_address.median, 7);  // 7, 7 and 6
}

TEST(Mappings, ThePercentileLeavesOutTheLargestHundredth) {
  const auto of_hosts = [](std::uint32_t hosts) {
    spec::Traffic traffic = hosts_with_connections(spec::Selection::kEnumerateIncreasing);
    traffic.source_field.max = hosts - 1;
    traffic.source_port.max = traffic.source_port.min + 1;
    std::vector<std::uint64_t> words(std::size_t{hosts} * 2, 0);
    StateTable table(words.data(), words.size(), 1);
    const flow::Flow flow(traffic, 1);
    for (std::uint32_t host = 0; host < hosts; ++host) {
      table.learn(*flow.ordinal_of({kFirstPort, 53, host, 0, 0}), at(host, 1));
    }
    table.learn(*flow.ordinal_of({kFirstPort + 1, 53, 0, 0, 0}), at(0, 2));  // the first has two
    return mappings_of(table, hosts + 1, flow).connections_per_host;
  };
  EXPECT_EQ(of_hosts(99).p99, 2U);
  EXPECT_EQ(of_hosts(100).p99, 1U);
  EXPECT_EQ(of_hosts(100).max, 2U);
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
  EXPECT_EQ(none.ports_per_host.median, 0);
}

}  // namespace
}  // namespace natxy::run
