// Chooses the external address and port of a new mapping.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gateway/nat/connection_table.hpp"
#include "gateway/nat/nat_config.hpp"

namespace natxy::gateway {

// Returns the whole blocks in a range, each aligned to its size; with 0, the range is the block.
[[nodiscard]] std::vector<PortRange> blocks_of(const PortRange& ports, std::uint32_t size);

class ExternalEndpoints {
 public:
  explicit ExternalEndpoints(const NatConfig& config);

  // Returns the first free endpoint in the order of the port choice; absent if none is free. An
  // inside address uses one external address while that has free ports (RFC 4787, 4.1, "paired"),
  // and in blocks only those that no other inside address has.
  template <typename IsFree>
  [[nodiscard]] std::optional<Ipv4Endpoint> choose(const InsideEndpoint& inside, IsFree is_free) {
    const auto [first_address, first_place] = first_block(inside);
    for (std::size_t i = 0; i < addresses_.size(); ++i) {
      const auto address = (first_address + i) % addresses_.size();
      for (std::size_t j = 0; j < blocks_per_address_; ++j) {
        auto& block =
            block_at({.address = address, .place = (first_place + j) % blocks_per_address_});
        if (block.exhausted || !is_open(block, inside)) continue;
        if (const auto endpoint = choose_in(block, inside.port, is_free)) return endpoint;
      }
    }
    return std::nullopt;
  }

  // Notes that an external endpoint may be free again.
  void freed(const Ipv4Endpoint& external) {
    if (auto* block = block_of(external)) block->exhausted = false;
  }

  // Note that an inside address has got an external port, or has it no longer. In blocks, its first
  // port makes a block its own, and its last one gives it back.
  void take(const InsideEndpoint& inside, const Ipv4Endpoint& external);
  void give_back(const Ipv4Endpoint& external);

 private:
  // Neighbouring ports of an external address: all of them, or a block of RFC 7422.
  struct Block {
    std::uint32_t address;
    PortRange ports;
    std::uint32_t next = 0;  // offset of the next port
    // No port was free when all were last tried, and none has been freed since. Without this, each
    // new connection beyond the first block would try all of its ports again.
    bool exhausted = false;
    std::uint32_t taken = 0;  // ports that inside addresses have
    Uint128 owner = 0;        // the inside address that took the first of them
  };
  struct Position {
    std::size_t address;  // its index in the pool
    std::size_t place;    // of the block among those of the address
  };

  template <typename IsFree>
  std::optional<Ipv4Endpoint> choose_in(Block& block, std::uint16_t wanted, IsFree is_free) {
    if (choice_ == PortChoice::kPreserve && block.ports.contains(wanted)) {
      const Ipv4Endpoint same{.address = block.address, .port = wanted};
      if (is_free(same)) return same;
    }
    const auto count = block.ports.count();
    const auto start = choice_ == PortChoice::kPseudorandom ? random_offset(count) : block.next;
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto offset = (start + i) % count;
      const Ipv4Endpoint next{.address = block.address,
                              .port = static_cast<std::uint16_t>(block.ports.first + offset)};
      if (!is_free(next)) continue;
      block.next = (offset + 1) % count;
      return next;
    }
    block.exhausted = is_for_all_remotes_;
    return std::nullopt;
  }
  [[nodiscard]] bool is_open(const Block& block, const InsideEndpoint& inside) const {
    return block_ports_ == 0 || block.taken == 0 || block.owner == inside.address;
  }
  [[nodiscard]] std::uint32_t random_offset(std::uint32_t count);
  [[nodiscard]] Position first_block(const InsideEndpoint& inside) const;
  [[nodiscard]] Block& block_at(Position at) {
    return blocks_[at.address * blocks_per_address_ + at.place];
  }
  [[nodiscard]] Block* block_of(const Ipv4Endpoint& external);  // null: no block has this port

  std::vector<std::uint32_t> addresses_;
  std::uint32_t block_ports_;  // 0: each address has one block, with all ports
  std::size_t blocks_per_address_ = 1;
  std::vector<Block> blocks_;  // all of the first address, then those of the next one
  PortChoice choice_;
  bool is_for_all_remotes_;  // an endpoint that is not free for one remote is free for none
  std::uint64_t random_;
};

}  // namespace natxy::gateway
