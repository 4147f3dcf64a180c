// The headers of the frames of one kind at one end: everything but what varies between frames.
// They are the same in departing frames and in what is expected of arriving ones, so one function
// makes both.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "frame/checksum.hpp"
#include "frame/layout.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::frame {

using Mac = std::array<std::uint8_t, 6>;

struct Link {
  Mac source{};
  Mac destination{};
  std::vector<spec::VlanTag> vlans;  // outer tag first
};

// Returns a frame of this kind at one end, without FCS: zeros where frames differ and in the
// checksums, and data that increase from 0 after the stamp (RFC 2544 C.2.6.4).
[[nodiscard]] std::vector<std::uint8_t> make_frame(const spec::PacketFormat& format,
                                                   const spec::Traffic& traffic, const Link& link);

// What the gateway must keep of the headers, compared as words of 64 bits: VLAN tags (but not their
// priority), version, lengths and protocol, also of a tunnel's header, and extension headers; if
// the spec asks for it, traffic class and flow label too. Addresses and hop limit are compared
// elsewhere.
class HeaderMask {
 public:
  HeaderMask() = default;
  // frame: as make_frame() returns it.
  HeaderMask(const Layout& layout, const spec::Traffic& traffic,
             const std::vector<std::uint8_t>& frame);

  // The frame must be as long as its layout's min_octets().
  [[nodiscard]] bool matches(const std::uint8_t* frame) const {
    // Plain IPv4 has two words and plain IPv6 one, so a loop would cost more than it does.
    auto different = differences(frame, 0) | differences(frame, 1);
    if (words_ > 2) [[unlikely]] {
      for (unsigned i = 2; i < words_; ++i) different |= differences(frame, i);
    }
    return different == 0;
  }

 private:
  [[nodiscard]] std::uint64_t differences(const std::uint8_t* frame, unsigned word) const {
    const auto seen = load<std::uint64_t>(frame + from_ + std::size_t{8} * word);
    return (seen ^ expected_[word]) & mask_[word];
  }

  // From the first VLAN tag to the UDP header there are at most 8 octets of tags, an EtherType, 40
  // octets of IPv6 and 64 of extension headers, and before them a tunnel's header: 40 octets of
  // IPv6, and at most 6 of an encapsulation (the test of all forms has the longest).
  static constexpr std::size_t kMaxWords = 20;

  unsigned words_ = 0;
  std::uint16_t from_ = 0;  // offset of the first word
  std::array<std::uint64_t, kMaxWords> expected_{};
  std::array<std::uint64_t, kMaxWords> mask_{};
};

}  // namespace natxy::frame
