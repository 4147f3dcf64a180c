#include "gateway/nat/external_endpoints.hpp"

#include <algorithm>

namespace natxy::gateway {

std::vector<PortRange> blocks_of(const PortRange& ports, std::uint32_t size) {
  if (size == 0) return {ports};
  std::vector<PortRange> blocks;
  for (auto first = (ports.first + size - 1) / size * size; first + size - 1 <= ports.last;
       first += size) {
    blocks.push_back({.first = static_cast<std::uint16_t>(first),
                      .last = static_cast<std::uint16_t>(first + size - 1)});
  }
  return blocks;
}

namespace {

// Numbers the hosts of a subnet, or the subnets of a prefix, one after the other.
std::uint64_t number_of(const Uint128& address) {
  return static_cast<std::uint64_t>(address >> 64U) + static_cast<std::uint64_t>(address);
}

}  // namespace

ExternalEndpoints::ExternalEndpoints(const NatConfig& config)
    : block_ports_(config.block_ports),
      choice_(config.port_choice),
      is_for_all_remotes_(config.mapping == Dependence::kEndpointIndependent),
      random_(config.seed) {
  const auto blocks = blocks_of(config.ports, config.block_ports);
  blocks_per_address_ = blocks.size();
  for (const auto& address : config.pool) {
    addresses_.push_back(static_cast<std::uint32_t>(address.value));
    for (const auto& ports : blocks) {
      blocks_.push_back({.address = addresses_.back(), .ports = ports});
    }
  }
}

void ExternalEndpoints::take(const InsideEndpoint& inside, const Ipv4Endpoint& external) {
  auto* block = block_of(external);
  if (block != nullptr && block->taken++ == 0) block->owner = inside.address;
}

void ExternalEndpoints::give_back(const Ipv4Endpoint& external) {
  if (auto* block = block_of(external)) --block->taken;
}

// Returns the block that follows from the host's number (RFC 7422, 2): neighbours have blocks of
// different external addresses.
ExternalEndpoints::Position ExternalEndpoints::first_block(const InsideEndpoint& inside) const {
  const auto number = number_of(inside.address);
  return {.address = number % addresses_.size(),
          .place = number / addresses_.size() % blocks_per_address_};
}

ExternalEndpoints::Block* ExternalEndpoints::block_of(const Ipv4Endpoint& external) {
  const auto address = std::ranges::find(addresses_, external.address);
  if (address == addresses_.end()) return nullptr;
  auto* const first = &blocks_[(address - addresses_.begin()) * blocks_per_address_];
  if (external.port < first->ports.first) return nullptr;
  const auto place = (external.port - first->ports.first) / first->ports.count();
  return place < blocks_per_address_ ? first + place : nullptr;
}

// Returns a value of SplitMix64, scaled to the number of ports by a product's high half.
std::uint32_t ExternalEndpoints::random_offset(std::uint32_t count) {
  random_ += 0x9e3779b97f4a7c15U;
  return static_cast<std::uint32_t>(Uint128{scramble(random_)} * count >> 64U);
}

}  // namespace natxy::gateway
