// Parses ICMP and ICMPv6 errors (RFC 792, RFC 1191, RFC 4443), in which a gateway quotes the
// beginning of a frame that it did not forward. The error may come through a tunnel, as the answer
// of a border relay to what it has taken out of a softwire.
//
// The length is checked before anything is read. The ICMP checksum is not checked: if a virtual
// interface leaves it to hardware that does not exist, it is wrong although the message is correct.
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
  std::uint32_t mtu = 0;  // 0 if the error names no MTU
  Address source{};
  std::span<const std::uint8_t> quoted;  // from an IP header on; may be truncated or empty
};

// Parses an ICMP error, also in one of the tunnels of spec::encapsulations(); absent if the frame
// is none. ICMP: types 3, 4, 11 and 12; ICMPv6: types 1 to 4.
[[nodiscard]] std::optional<IcmpError> parse_icmp_error(std::span<const std::uint8_t> frame);

// Recognizes the quotation of a frame of one kind of traffic in an ICMP error.
class Quotation {
 public:
  Quotation() = default;  // fits nothing
  Quotation(const spec::Traffic& traffic, std::uint32_t tag);

  // Returns whether the quoted octets can belong to a frame of this traffic: from its outer header
  // on, as a router on the path of the tunnel quotes it, or from its inner one on, as the end of
  // the tunnel does. Truncated parts are not judged, except for the addresses, which each error
  // contains.
  [[nodiscard]] bool fits(const IcmpError& error) const;

 private:
  [[nodiscard]] bool fits_packet(std::span<const std::uint8_t> quoted) const;
  [[nodiscard]] bool fits_addresses(const std::uint8_t* addresses) const;
  [[nodiscard]] bool fits_data(std::span<const std::uint8_t> upper) const;

  bool any_ = false;
  bool any_destination_ = false;  // replies go to the external address that the gateway chose
  spec::IpVersion ip_version_ = spec::IpVersion::k4;
  spec::IpVersion link_version_ = spec::IpVersion::k4;
  const spec::TunnelHeader* tunnel_ = nullptr;  // null without a tunnel
  std::uint8_t protocol_ = 0;
  std::uint8_t tag_at_ = 0;  // offset of the tag in the UDP or TCP header
  std::uint16_t address_octets_ = 0;
  std::array<std::uint8_t, 32> expected_{};  // source, then destination
  std::array<std::uint8_t, 32> mask_{};      // 0 where a bit varies
  spec::Series source_port_;
  spec::Series destination_port_;
  std::uint32_t tag_ = 0;
};

}  // namespace natxy::frame
