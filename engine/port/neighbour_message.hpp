// Reads and writes the messages of ARP (RFC 826) and Neighbour Discovery (RFC 4861). Does not use
// DPDK.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "port/ip_address.hpp"

namespace natxy::port {

struct NeighbourMessage {
  enum class Type : std::uint8_t { kQuestion, kAnswer };
  Type type = Type::kQuestion;
  IpAddress target;  // the address that is asked for, or that the answer is about
  IpAddress sender;  // IPv6: unspecified in duplicate address detection
  Mac mac{};         // in a question: where the answer goes; in an answer: the target's
};

// A frame without its FCS, with at least the 60 octets that Ethernet requires.
struct NeighbourFrame {
  std::array<std::uint8_t, 96> octets{};
  std::size_t size = 60;
  [[nodiscard]] std::span<const std::uint8_t> view() const { return {octets.data(), size}; }
};

struct Neighbour {
  IpAddress address;
  Mac mac{};
};

// Parses a message; absent if the frame is none, or if the RFCs require that it is discarded.
[[nodiscard]] std::optional<NeighbourMessage> parse_neighbour_message(
    std::span<const std::uint8_t> frame);

// Returns the frame without these VLAN tags; absent if it is of another VLAN.
[[nodiscard]] std::optional<std::vector<std::uint8_t>> untagged(
    std::span<const std::uint8_t> frame, std::span<const spec::VlanTag> tags);
// Returns the frame with these VLAN tags, outer tag first.
[[nodiscard]] NeighbourFrame tagged(const NeighbourFrame& frame,
                                    std::span<const spec::VlanTag> tags);

[[nodiscard]] NeighbourFrame question(const Neighbour& from, const IpAddress& target);

// Makes the answer to a question: its target has this MAC address.
[[nodiscard]] NeighbourFrame answer(const NeighbourMessage& question, const Mac& mac);

}  // namespace natxy::port
