// Chooses the external address and port of a new mapping.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gateway/nat/connection.hpp"
#include "gateway/nat/nat_config.hpp"

namespace natxy::gateway {

class ExternalEndpoints {
 public:
  explicit ExternalEndpoints(const NatConfig& config);

  // Returns the first free endpoint in the order of the port choice; absent if none is free. An
  // inside address uses one external address while that has free ports (RFC 4787, 4.1, "paired").
  template <typename IsFree>
  [[nodiscard]] std::optional<Ipv4Endpoint> choose(const InsideEndpoint& inside, IsFree is_free) {
    const auto first = static_cast<std::size_t>(inside.address % pool_.size());
    for (std::size_t i = 0; i < pool_.size(); ++i) {
      auto& address = pool_[(first + i) % pool_.size()];
      if (address.exhausted) continue;
      if (const auto found = choose_at(address, inside.port, is_free)) return found;
    }
    return std::nullopt;
  }

  // Notes that an external endpoint may be free again.
  void freed(const Ipv4Endpoint& external) {
    for (auto& address : pool_) {
      if (address.value == external.address) address.exhausted = false;
    }
  }

 private:
  struct Address {
    std::uint32_t value;
    std::uint32_t next = 0;  // offset of the next port in the range
    // No port was free when all were last tried, and none has been freed since. Without this, each
    // new connection beyond the first address would try all of its ports again.
    bool exhausted = false;
  };

  template <typename IsFree>
  std::optional<Ipv4Endpoint> choose_at(Address& address, std::uint16_t wanted, IsFree is_free) {
    if (choice_ == PortChoice::kPreserve && ports_.contains(wanted)) {
      const Ipv4Endpoint same{.address = address.value, .port = wanted};
      if (is_free(same)) return same;
    }
    const auto count = ports_.count();
    const auto start = choice_ == PortChoice::kPseudorandom ? random_offset() : address.next;
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto offset = (start + i) % count;
      const Ipv4Endpoint next{.address = address.value,
                              .port = static_cast<std::uint16_t>(ports_.first + offset)};
      if (!is_free(next)) continue;
      address.next = (offset + 1) % count;
      return next;
    }
    address.exhausted = is_for_all_remotes_;
    return std::nullopt;
  }
  [[nodiscard]] std::uint32_t random_offset();

  std::vector<Address> pool_;
  PortRange ports_;
  PortChoice choice_;
  bool is_for_all_remotes_;  // an endpoint that is not free for one remote is free for none
  std::uint64_t random_;
};

}  // namespace natxy::gateway
