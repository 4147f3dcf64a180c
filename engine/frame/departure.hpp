// A frame as it leaves: a template that a pool's buffers hold, and the patch that makes it the
// frame of one number.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "flow/flow.hpp"
#include "frame/address_slots.hpp"
#include "frame/checksum.hpp"
#include "frame/layout.hpp"
#include "frame/stamp.hpp"

namespace natxy::frame {

using Mac = std::array<std::uint8_t, 6>;

struct Link {
  Mac source{};
  Mac destination{};
};

class Departure {
 public:
  Departure() = default;
  Departure(const spec::Traffic& traffic, std::uint16_t frame_size_bytes, const Link& link);

  // The frame with zeros where each frame differs; the IPv4 header checksum is right where
  // addresses do not vary.
  [[nodiscard]] const std::vector<std::uint8_t>& octets() const { return octets_; }

  // Makes a buffer that holds octets() (patched before or not) the frame of these values.
  template <flow::Shape kShape>
  void patch(std::uint8_t* frame, const flow::Values& values, const Stamp& stamp) const {
    auto sum = udp_sum_ + stamp.sum();
    if constexpr (kShape.addresses_vary) {
      const auto address_sum = slots_.write(frame, values);
      sum += address_sum;
      if (ip_checksum_ != 0) {
        store(frame + ip_checksum_, static_cast<std::uint16_t>(~fold(ip_sum_ + address_sum)));
      }
    }
    const auto ports = static_cast<std::uint32_t>(swap16(values.source_port)) |
                       static_cast<std::uint32_t>(swap16(values.destination_port)) << 16U;
    auto* udp = frame + udp_;
    store(udp, ports);
    store(udp + 6, udp_checksum(fold(sum + ports)));
    stamp.write(udp + kUdpOctets);
  }

 private:
  std::vector<std::uint8_t> octets_;
  AddressSlots slots_;
  std::uint64_t udp_sum_ = 0;  // pseudo header, UDP header and data of the template
  std::uint64_t ip_sum_ = 0;   // IPv4 header of the template without its checksum
  std::uint16_t udp_ = 0;
  std::uint16_t ip_checksum_ = 0;  // offset; 0: IPv6, none
};

}  // namespace natxy::frame
