// Makes departing frames: a template, which the buffers of a pool hold, and a patch that turns it
// into the frame of one number.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "flow/flow.hpp"
#include "frame/address_slots.hpp"
#include "frame/checksum.hpp"
#include "frame/layout.hpp"
#include "frame/stamp.hpp"
#include "frame/tcp.hpp"

namespace natxy::frame {

// The destination addresses of a lot of replies, which the gateway chose, as they are in a frame:
// IPv4 addresses, or pointers to the 16 octets of IPv6 addresses.
struct LearnedLot {
  std::array<std::uint32_t, flow::kMaxLot> ipv4;
  std::array<const std::uint8_t*, flow::kMaxLot> ipv6;
};

// What is known of a lot of UDP frames before they are due: everything but their lateness.
struct EarlyLot {
  std::array<std::uint32_t, flow::kMaxLot> ports;
  std::array<std::uint64_t, flow::kMaxLot> first;   // of the stamp, see Stamp
  std::array<std::uint64_t, flow::kMaxLot> second;  // of the stamp
  std::array<std::uint64_t, flow::kMaxLot> sums;    // for the checksum
};

class Departure {
 public:
  Departure() = default;
  // numbers: of TCP.
  Departure(const spec::Traffic& traffic, const Link& link, const TcpNumbers& numbers = {});

  // Returns the template: the frame with zeros where frames differ. Its IPv4 header checksum is
  // correct if the addresses do not vary.
  [[nodiscard]] const std::vector<std::uint8_t>& octets() const { return octets_; }

  // Returns the offset of the UDP or TCP header; each patch writes the ports, the checksum and the
  // stamp there.
  [[nodiscard]] std::size_t patched_at() const { return upper_; }
  [[nodiscard]] bool is_tcp() const { return tcp_; }

  // Returns whether the spec asks for avoid_zero_checksum().
  [[nodiscard]] bool avoids_zero_checksum() const { return arrival_sum_ != 0; }

  // Changes the stamps of frames that would arrive with a UDP checksum of ffff, which represents 0
  // (RFC 768). A translator that ignores this rule, for example tayga 0.9.2, spoils one of 65,536
  // frames, so that its throughput without loss could not be found. The flows do not change.
  template <flow::Shape kShape>
  void avoid_zero_checksum(const flow::ValueLot& values, StampLot& stamps, unsigned n) const {
    for (unsigned i = 0; i < n; ++i) {
      auto sum = arrival_sum_ + stamps.sum(i) + swap16(values.source_port[i]) +
                 swap16(values.destination_port[i]);
      if constexpr (kShape.addresses_vary) {
        std::array<std::uint8_t, kArrivalBase + 32> scratch{};
        sum += arrival_slots_.write(scratch.data(), values.at(i));
      }
      if (fold(sum) == 0xffffU) [[unlikely]] {
        stamps.change_sum(i);
      }
    }
  }

  // Turns n buffers, which hold octets() with or without an earlier patch, into the frames of these
  // values. learned: the destinations of a stream that responds; else null.
  template <flow::Shape kShape>
  void patch(std::uint8_t* const* frames, unsigned n, const flow::ValueLot& values,
             const StampLot& stamps, const LearnedLot* learned = nullptr) const {
    constexpr bool kAddresses = kShape.addresses_vary || kShape.connected;
    std::array<std::uint64_t, flow::kMaxLot> address_sums;
    if constexpr (kAddresses) {
      for (unsigned i = 0; i < n; ++i) address_sums[i] = slots_.write(frames[i], values.at(i));
      if (tunnelled_) [[unlikely]]
        patch_tunnel(frames, n, values);
      if (kShape.connected && learned != nullptr) {
        for (unsigned i = 0; i < n; ++i) address_sums[i] += put_destination(frames[i], *learned, i);
      }
      if (ip_checksum_ != 0) {
        for (unsigned i = 0; i < n; ++i)
          put_checksum(frames[i], ip_checksum_, ip_sum_ + address_sums[i]);
      }
    }
    if (identified_) [[unlikely]]
      identify(frames, n, stamps);
    if constexpr (kShape.tcp) {
      if (tcp_) return patch_tcp(frames, n, values, stamps, address_sums);
    }
    std::array<std::uint32_t, flow::kMaxLot> ports;
    std::array<std::uint16_t, flow::kMaxLot> checksums;
    for (unsigned i = 0; i < n; ++i) {
      ports[i] = port_words(values, i);
      auto sum = upper_sum_ + stamps.sum(i) + ports[i];
      if constexpr (kAddresses) sum += address_sums[i];
      checksums[i] = udp_checksum(fold(sum));
    }
    for (unsigned i = 0; i < n; ++i) {
      auto* udp = frames[i] + upper_;
      store(udp, ports[i]);
      store(udp + 6, checksums[i]);
      stamps.write(i, udp + kUdpOctets);
    }
  }

  // Returns whether prepare() and patch_early() together do all that patch() does for frames whose
  // addresses do not vary.
  [[nodiscard]] bool can_be_early() const {
    return !avoids_zero_checksum() && !identified_ && !tcp_;
  }
  // Does the first part of patch(). The stamps have a lateness of 0.
  void prepare(const flow::ValueLot& values, const StampLot& stamps, unsigned n,
               EarlyLot& early) const {
    for (unsigned i = 0; i < n; ++i) {
      early.ports[i] = port_words(values, i);
      early.first[i] = stamps.at(i).first;
      early.second[i] = stamps.at(i).second;
      early.sums[i] = upper_sum_ + stamps.sum(i) + early.ports[i];
    }
  }
  // Does the second part for frame i of a lot. The checksum does not depend on which half of a word
  // a number is in, so the lateness is added as it is.
  void patch_early(std::uint8_t* frame, const EarlyLot& early, unsigned i,
                   std::uint32_t lateness) const {
    auto* udp = frame + upper_;
    store(udp, early.ports[i]);
    store(udp + 6, udp_checksum(fold(early.sums[i] + lateness)));
    Stamp{.first = early.first[i],
          .second = early.second[i] | std::uint64_t{lateness} << 48U,
          .third = static_cast<std::uint16_t>(lateness >> 16U)}
        .write(udp + kUdpOctets);
  }

 private:
  [[nodiscard]] static std::uint32_t port_words(const flow::ValueLot& values, unsigned i) {
    return static_cast<std::uint32_t>(swap16(values.source_port[i])) |
           static_cast<std::uint32_t>(swap16(values.destination_port[i])) << 16U;
  }

  using Sums = std::array<std::uint64_t, flow::kMaxLot>;

  // Writes the TCP headers of n frames.
  void patch_tcp(std::uint8_t* const* frames, unsigned n, const flow::ValueLot& values,
                 const StampLot& stamps, const Sums& address_sums) const {
    std::array<std::uint64_t, flow::kMaxLot> first;  // ports and sequence number
    std::array<std::uint32_t, flow::kMaxLot> acknowledgements;
    std::array<std::uint16_t, flow::kMaxLot> checksums;
    for (unsigned i = 0; i < n; ++i) {
      const auto connection = stamps.at(i).connection();
      first[i] = swap16(values.source_port[i]) |
                 std::uint64_t{swap16(values.destination_port[i])} << 16U |
                 std::uint64_t{numbers_.sequence(connection)} << 32U;
      acknowledgements[i] = numbers_.acknowledgement(connection);
      const auto sum = upper_sum_ + stamps.sum(i) + halves(first[i]) + acknowledgements[i] +
                       fold(address_sums[i]);
      checksums[i] = static_cast<std::uint16_t>(~fold(sum));
    }
    for (unsigned i = 0; i < n; ++i) {
      auto* tcp = frames[i] + upper_;
      store(tcp, first[i]);
      store(tcp + 8, acknowledgements[i]);
      store(tcp + 16, checksums[i]);
      stamps.write(i, tcp + kTcpStamp);
    }
  }
  // Puts the checksum of an IPv4 header at this offset. sum: of the header's words.
  static void put_checksum(std::uint8_t* frame, std::uint16_t at, std::uint64_t sum) {
    store(frame + at, static_cast<std::uint16_t>(~fold(sum)));
  }
  // Gives the IPv4 headers of n frames, which are complete but for this, the identifications that
  // datagrams without DF need (RFC 6864): the low 16 bits of the frames' numbers.
  void identify(std::uint8_t* const* frames, unsigned n, const StampLot& stamps) const;
  // Writes the outer addresses of n frames, and the outer checksum if there is one.
  void patch_tunnel(std::uint8_t* const* frames, unsigned n, const flow::ValueLot& values) const;
  // Prepares what is patched in an IPv4 header. Returns the offset of its checksum.
  std::uint16_t prepare_ipv4(std::size_t ip, std::uint64_t& sum);
  // Writes the destination address. Returns the sum of its words.
  std::uint64_t put_destination(std::uint8_t* frame, const LearnedLot& learned, unsigned i) const {
    auto* to = frame + destination_;
    if (ip_checksum_ != 0) {
      store(to, learned.ipv4[i]);
      return halves(learned.ipv4[i]);
    }
    std::copy_n(learned.ipv6[i], 16, to);
    return sum_words(to, 16);
  }

  // Computes arrival_sum_: UDP header, data and pseudo-header on arrival without varying parts. It
  // is never 0, because it contains the length.
  void prepare_arrival_sum(const spec::Traffic& traffic, std::uint64_t udp_words);

  static constexpr std::size_t kArrivalBase = 8;  // a slot's offset is never 0

  std::vector<std::uint8_t> octets_;
  AddressSlots slots_;
  AddressSlots arrival_slots_;
  AddressSlots tunnel_slots_;
  bool tunnelled_ = false;
  bool identified_ = false;
  std::uint64_t arrival_sum_ = 0;  // 0: zero checksums are not avoided
  bool tcp_ = false;
  TcpNumbers numbers_;
  std::uint64_t upper_sum_ = 0;   // pseudo-header, UDP or TCP header, data of the template, folded
  std::uint64_t ip_sum_ = 0;      // IPv4 header of the template without its checksum
  std::uint64_t tunnel_sum_ = 0;  // the same of the outer header
  std::uint16_t upper_ = 0;
  std::uint16_t destination_ = 0;  // offset of the destination address
  std::uint16_t ip_checksum_ = 0;  // offset; 0 for IPv6, which has none
  std::uint16_t tunnel_checksum_ = 0;
};

}  // namespace natxy::frame
