#include "frame/arrival.hpp"

#include <algorithm>

namespace natxy::frame {

Arrival::Arrival(const spec::Traffic& traffic, std::uint16_t frame_size_bytes)
    : layout_(&layout_of(traffic.arrival.ip_version)),
      octets_(static_cast<std::uint32_t>(frame_octets(traffic.arrival.ip_version,
                                                      frame_size_bytes))),
      slots_(traffic.arrival, traffic.networks, kBase) {
  const auto size = layout_->address_octets;
  auto* to = addresses_.data() + kBase;
  std::copy_n(traffic.arrival.source.octets.begin(), size, to);
  std::copy_n(traffic.arrival.destination.octets.begin(), size, to + size);
}

}  // namespace natxy::frame
