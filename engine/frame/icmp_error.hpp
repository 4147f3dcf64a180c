// ICMP and ICMPv6 errors (RFC 792, RFC 1191, RFC 4443): what a gateway says of a frame that it did
// not forward, with the beginning of that frame.
//
// Nothing is read before the length is checked. The ICMP checksum is not read: where a gateway's
// interface leaves it to hardware that is not there, it is wrong and the message is not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "spec/trial_spec.hpp"

namespace natxy::frame {

using Address = std::array<std::uint8_t, 16>;  // an IPv4 address is in the first four octets

struct IcmpError {
  spec::IpVersion ip_version = spec::IpVersion::k4;
  std::uint8_t type = 0;
  std::uint8_t code = 0;
  std::uint32_t mtu = 0;  // 0: it names none
  Address source{};
  std::span<const std::uint8_t> quoted;  // from the IP header on; may be cut off, or empty
};

// Nothing: it is no ICMP error. ICMPv4: types 3, 4, 11 and 12; ICMPv6: types 1 to 4.
[[nodiscard]] std::optional<IcmpError> parse_icmp_error(std::span<const std::uint8_t> frame);

// What a port's sender sends of one kind, as an ICMP error that comes back to it quotes it.
class Quotation {
 public:
  Quotation() = default;  // fits nothing
  Quotation(const spec::Traffic& traffic, std::uint32_t tag);

  // Whether the quoted octets can be of a frame of this traffic. What was cut off is not judged,
  // but for the addresses, which no error is without.
  [[nodiscard]] bool fits(const IcmpError& error) const;

 private:
  [[nodiscard]] bool fits_addresses(const std::uint8_t* addresses) const;
  [[nodiscard]] bool fits_data(std::span<const std::uint8_t> udp) const;

  bool any_ = false;
  bool any_destination_ = false;  // replies go to where the gateway has the connection outside
  spec::IpVersion ip_version_ = spec::IpVersion::k4;
  std::uint8_t address_octets_ = 0;
  std::array<std::uint8_t, 32> expected_{};  // source, then destination
  std::array<std::uint8_t, 32> mask_{};      // 0 where an octet varies
  spec::Series source_port_;
  spec::Series destination_port_;
  std::uint32_t tag_ = 0;
};

}  // namespace natxy::frame
