// ARP (RFC 826) and Neighbour Discovery (RFC 4861): reading what arrives, writing what the tester
// asks and answers. No DPDK here.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "port/ip_address.hpp"

namespace natxy::port {

struct NeighbourMessage {
  enum class Type : std::uint8_t { kQuestion, kAnswer };
  Type type = Type::kQuestion;
  IpAddress target;  // asked for, or told about
  IpAddress sender;  // IPv6: unspecified in duplicate address detection
  Mac mac{};         // of a question: where the answer goes; of an answer: the target's
};

// A frame on the wire without its FCS, at least the 60 octets that Ethernet asks for.
struct NeighbourFrame {
  std::array<std::uint8_t, 96> octets{};
  std::size_t size = 60;
  [[nodiscard]] std::span<const std::uint8_t> view() const { return {octets.data(), size}; }
};

struct Neighbour {
  IpAddress address;
  Mac mac{};
};

// Absent: neither, or one that the RFCs have a receiver discard.
[[nodiscard]] std::optional<NeighbourMessage> parse_neighbour_message(
    std::span<const std::uint8_t> frame);

[[nodiscard]] NeighbourFrame question(const Neighbour& from, const IpAddress& target);

// Tells the asker that the question's target has this MAC.
[[nodiscard]] NeighbourFrame answer(const NeighbourMessage& question, const Mac& mac);

}  // namespace natxy::port
