// Checks arriving frames: whether a frame belongs to the trial, and whether it is the frame that
// its number determines, as it must be after the gateway.
//
// The length is checked before anything is read. The checks have the order of spec::Misdelivered:
// the number is used only if the checksums are correct.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>

#include "flow/flow.hpp"
#include "frame/address_slots.hpp"
#include "frame/checksum.hpp"
#include "frame/layout.hpp"
#include "frame/stamp.hpp"

namespace natxy::frame {

enum class Defect : std::uint8_t {
  kNone,
  kMalformed,
  kChecksum,
  kNumber,
  kLength,
  kAddress,
  kPort,
  kHopLimit,
  kTrafficClass
};
inline constexpr std::size_t kDefects = 9;

// A frame with the trial's tag. It is long enough for all offsets of its layout.
struct Claimed {
  const std::uint8_t* frame;
  std::uint32_t size;
  const Layout* layout;  // null if the frame does not belong to the trial
  Stamp stamp;
};

[[nodiscard]] inline Claimed claim(const std::uint8_t* frame, std::uint32_t size,
                                   std::uint32_t tag) {
  Claimed none{.frame = frame, .size = size, .layout = nullptr, .stamp = {}};
  if (size < kIpv4Layout.min_octets()) return none;
  const auto type = load<std::uint16_t>(frame + 12);
  const auto* layout = type == kEtherTypeIpv6   ? &kIpv6Layout
                       : type == kEtherTypeIpv4 ? &kIpv4Layout
                                                : nullptr;
  if (layout == nullptr || size < layout->min_octets()) return none;
  const auto stamp = Stamp::read(frame + layout->stamp());
  if (stamp.tag() != tag) return none;
  return {.frame = frame, .size = size, .layout = layout, .stamp = stamp};
}

// Reads a big-endian 16-bit word.
[[nodiscard]] inline std::uint16_t read16(const std::uint8_t* from) {
  return swap16(load<std::uint16_t>(from));
}

// Returns false if the frame is malformed: not UDP in plain IPv4 or IPv6, or with lengths that
// contradict each other or the frame.
[[nodiscard]] inline bool well_formed(const Claimed& claimed) {
  const auto* frame = claimed.frame;
  const auto udp_octets = read16(frame + claimed.layout->udp + 4);
  if (claimed.layout->ip_version == spec::IpVersion::k4) {
    const auto fragment = load<std::uint16_t>(frame + 20) & ~0x0040U;  // all but DF
    return frame[14] == 0x45 && frame[23] == kProtocolUdp && fragment == 0 &&
           read16(frame + 16) == udp_octets + 20U && claimed.size == udp_octets + 34U;
  }
  return (frame[14] & 0xf0U) == 0x60 && frame[20] == kProtocolUdp &&
         read16(frame + 18) == udp_octets && claimed.size == udp_octets + 54U;
}

// Returns whether the checksums are correct. RFC 768: over IPv4, a UDP checksum of 0 means that
// there is none, which is accepted if udp_may_lack_it. Over IPv6, there must be one (RFC 8200 8.1).
[[nodiscard]] inline bool checksums_right(const Claimed& claimed, bool udp_may_lack_it) {
  const auto& layout = *claimed.layout;
  const auto* frame = claimed.frame;
  if (layout.ip_version == spec::IpVersion::k4 &&
      fold(sum_words(frame + kEthernetOctets, 20)) != 0xffffU) {
    return false;
  }
  if (load<std::uint16_t>(frame + layout.udp + 6) == 0)
    return udp_may_lack_it && layout.ip_version == spec::IpVersion::k4;
  const auto udp_octets = static_cast<std::uint16_t>(claimed.size - layout.udp);
  const auto sum = sum_words(frame + layout.source, claimed.size - layout.source) +
                   swap16(udp_octets) + swap16(kProtocolUdp);
  return fold(sum) == 0xffffU;
}

// Returns whether the frame is for the neighbour responder: ARP, or an ICMPv6 Neighbour
// Solicitation or Advertisement.
[[nodiscard]] inline bool concerns_neighbours(const std::uint8_t* frame, std::uint32_t size) {
  if (size < 42) return false;
  const auto type = read16(frame + 12);
  if (type == 0x0806) return true;
  return type == 0x86dd && size >= 78 && frame[20] == 58 && (frame[54] == 135 || frame[54] == 136);
}

// Claimed frames of one kind that arrived in one burst, with one array per member.
struct ArrivalLot {
  unsigned size = 0;
  std::array<const std::uint8_t*, flow::kMaxLot> frames;
  std::array<std::uint32_t, flow::kMaxLot> sizes;
  std::array<const Layout*, flow::kMaxLot> layouts;
  StampLot stamps;

  void add(const Claimed& claimed) {
    frames[size] = claimed.frame;
    sizes[size] = claimed.size;
    layouts[size] = claimed.layout;
    stamps.set(size++, claimed.stamp);
  }
  [[nodiscard]] Claimed at(unsigned i) const {
    return {.frame = frames[i], .size = sizes[i], .layout = layouts[i], .stamp = stamps.at(i)};
  }
};

// The judgement on a lot, with one bit per frame.
struct LotJudgement {
  std::uint32_t right = 0;             // correct in all checks
  std::uint32_t without_checksum = 0;  // the UDP checksum is 0, whether or not this is allowed
};

// The expected form of the frames of one kind when they arrive.
class Arrival {
 public:
  Arrival() = default;
  Arrival(const spec::Traffic& traffic, std::uint16_t frame_size_bytes);

  // Returns which frames of a lot are correct in all checks, including checksums. For the others,
  // well_formed(), checksums_right() and check() find the reason. Always inlined, because it is a
  // part of the receiver's hot loop.
  template <flow::Shape kShape>
  [[nodiscard, gnu::always_inline]] LotJudgement judge(const ArrivalLot& lot,
                                                       const flow::ValueLot& values,
                                                       std::uint8_t hop_limit) const {
    std::array<std::uint64_t, flow::kMaxLot> udp;
    std::array<std::uint64_t, flow::kMaxLot> sums;
    std::array<std::uint8_t, flow::kMaxLot> good;
    for (unsigned i = 0; i < lot.size; ++i) {
      const auto* frame = lot.frames[i];
      good[i] = lot.layouts[i] == layout_ && lot.sizes[i] == octets_;
      if (!good[i]) [[unlikely]] {
        udp[i] = sums[i] = 0;
        continue;
      }
      sums[i] = pseudo_sum_;
      if (kShape.connected && learns_source_) {
        good[i] = ip_matches(frame, hop_limit) &&
                  destination_matches<kShape>(frame + layout_->source, values, i, sums[i]);
      } else {
        good[i] = ip_matches(frame, hop_limit) &&
                  addresses_match<kShape>(frame + layout_->source, values, i, sums[i]);
      }
      if (octets_ > layout_->min_octets()) [[unlikely]] {
        sums[i] += sum_words(frame + layout_->min_octets(), octets_ - layout_->min_octets());
      }
      udp[i] = load<std::uint64_t>(frame + layout_->udp);
    }
    const bool may_lack_checksum = may_lack_checksum_;
    bool any_lacks_it = false;
    for (unsigned i = 0; i < lot.size; ++i) {
      const auto expected = udp_length_ | swap16(values.source_port[i]) |
                            std::uint64_t{swap16(values.destination_port[i])} << 16U;
      const auto sum = sums[i] + halves(udp[i]) + lot.stamps.sum(i);
      const bool lacks_it = (udp[i] >> 48U) == 0;
      const bool sum_right = lacks_it ? may_lack_checksum : fold(sum) == 0xffffU;
      any_lacks_it |= lacks_it;
      const bool same_udp = (udp[i] & 0xffffffffffffU) == expected;
      good[i] = good[i] & static_cast<std::uint8_t>(same_udp & sum_right);
    }
    LotJudgement judgement;
    for (unsigned i = 0; i < lot.size; ++i) judgement.right |= std::uint32_t{good[i]} << i;
    if (any_lacks_it) [[unlikely]] {
      for (unsigned i = 0; i < lot.size; ++i)
        judgement.without_checksum |= std::uint32_t{(udp[i] >> 48U) == 0} << i;
    }
    return judgement;
  }

  // Returns whether a UDP checksum of 0 is accepted.
  [[nodiscard]] bool may_lack_checksum() const { return may_lack_checksum_; }

  // Returns whether the gateway chooses the source, which is then read from the frame and not
  // checked.
  [[nodiscard]] bool learns_source() const { return learns_source_; }
  // Reads the source ports of a lot's frames, which the gateway chose.
  void read_source_ports(const ArrivalLot& lot, flow::ValueLot& values) const {
    for (unsigned i = 0; i < lot.size; ++i) {
      values.source_port[i] = read16(lot.frames[i] + lot.layouts[i]->udp);
    }
  }
  // Returns the values that give these addresses and ports; absent if the addresses cannot belong
  // to this kind of traffic.
  [[nodiscard]] std::optional<flow::Values> values_of(const Claimed& claimed) const {
    if (claimed.layout != layout_) return std::nullopt;
    const auto* seen = claimed.frame + layout_->source;
    auto values = slots_.read(seen, kBase);
    values.source_port = read16(claimed.frame + layout_->udp);
    values.destination_port = read16(claimed.frame + layout_->udp + 2);
    auto expected = addresses_;
    slots_.write(expected.data(), values);
    if (!same(seen, expected.data() + kBase)) return std::nullopt;
    return values;
  }

  // Returns the first of length, address, port, hop limit and traffic class that is wrong.
  [[nodiscard]] Defect check(const Claimed& claimed, const flow::Values& values,
                             std::uint8_t hop_limit) const {
    if (claimed.layout != layout_) return Defect::kMalformed;
    const auto* frame = claimed.frame;
    if (claimed.size != octets_) return Defect::kLength;
    auto expected = addresses_;
    slots_.write(expected.data(), values);
    const auto* seen = frame + layout_->source;
    const bool right_addresses = learns_source_ ? same_destination(seen, expected.data() + kBase)
                                                : same(seen, expected.data() + kBase);
    if (!right_addresses) return Defect::kAddress;
    const auto ports = static_cast<std::uint32_t>(swap16(values.source_port)) |
                       static_cast<std::uint32_t>(swap16(values.destination_port)) << 16U;
    if (load<std::uint32_t>(frame + layout_->udp) != ports) return Defect::kPort;
    if (frame[layout_->hop_limit] != hop_limit) return Defect::kHopLimit;
    const auto kept = load<std::uint64_t>(frame + kEthernetOctets) & kept_mask();
    return kept == (ip_first_ & kept_mask()) ? Defect::kNone : Defect::kTrafficClass;
  }

 private:
  static constexpr std::size_t kBase = 8;  // a slot's offset is never 0
  // Masks for octets 14-21 of a frame as a little-endian load reads them.
  static constexpr std::uint64_t kIpv4Mask = 0xffbf0000ffff00ffU;  // not TOS, identification, DF
  static constexpr std::uint64_t kIpv6Mask = 0xffffffff000000f0U;  // not traffic class, flow label
  // TOS in IPv4; traffic class and flow label in IPv6.
  static constexpr std::uint64_t kIpv4Kept = 0x000000000000ff00U;
  static constexpr std::uint64_t kIpv6Kept = 0x00000000ffffff0fU;

  // Returns the mask of TOS, traffic class and flow label if the gateway must keep them, else 0.
  [[nodiscard]] std::uint64_t kept_mask() const {
    return ip_mask_ & (layout_->ip_version == spec::IpVersion::k6 ? kIpv6Kept : kIpv4Kept);
  }

  // Returns whether the addresses are correct. Adds the sum of their varying parts to `sum`.
  template <flow::Shape kShape>
  [[nodiscard]] bool addresses_match(const std::uint8_t* seen, const flow::ValueLot& values,
                                     unsigned i, std::uint64_t& sum) const {
    if constexpr (kShape.addresses_vary) {
      auto expected = addresses_;
      sum += slots_.write(expected.data(), values.at(i));
      return same(seen, expected.data() + kBase);
    } else {
      return same(seen, addresses_.data() + kBase);
    }
  }
  // Does the same if the gateway chose the source.
  template <flow::Shape kShape>
  [[nodiscard]] bool destination_matches(const std::uint8_t* seen, const flow::ValueLot& values,
                                         unsigned i, std::uint64_t& sum) const {
    auto expected = addresses_;
    if constexpr (kShape.addresses_vary) sum += slots_.write(expected.data(), values.at(i));
    sum += sum_words(seen, layout_->address_octets);
    return same_destination(seen, expected.data() + kBase);
  }
  [[nodiscard]] bool same_destination(const std::uint8_t* seen,
                                      const std::uint8_t* expected) const {
    const auto octets = layout_->address_octets;
    return std::memcmp(seen + octets, expected + octets, octets) == 0;
  }
  // Checks version, lengths, protocol and hop limit. The gateway may change identification and DF,
  // and unless the spec asks for them to be kept, traffic class, flow label and TOS.
  [[nodiscard]] bool ip_matches(const std::uint8_t* frame, std::uint8_t hop_limit) const {
    const auto first = load<std::uint64_t>(frame + kEthernetOctets);
    if (layout_->ip_version == spec::IpVersion::k6) {
      return (first & ip_mask_) == (ip_first_ | std::uint64_t{hop_limit} << 56U);
    }
    const auto ttl_protocol = static_cast<std::uint16_t>(hop_limit | kProtocolUdp << 8U);
    const auto sum =
        halves(first) + halves(load<std::uint64_t>(frame + 22)) + load<std::uint32_t>(frame + 30);
    return (first & ip_mask_) == ip_first_ && load<std::uint16_t>(frame + 22) == ttl_protocol &&
           fold(sum) == 0xffffU;
  }
  [[nodiscard]] bool same(const std::uint8_t* seen, const std::uint8_t* expected) const {
    if (layout_->ip_version == spec::IpVersion::k4) {
      return load<std::uint64_t>(seen) == load<std::uint64_t>(expected);
    }
    return std::memcmp(seen, expected, 32) == 0;
  }

  const Layout* layout_ = &kIpv4Layout;
  std::uint32_t octets_ = 0;
  bool learns_source_ = false;
  bool may_lack_checksum_ = false;
  std::array<std::uint8_t, kBase + 32> addresses_{};  // source, then destination
  AddressSlots slots_;
  std::uint64_t pseudo_sum_ = 0;  // addresses without varying parts, UDP length, protocol
  std::uint64_t udp_length_ = 0;  // at its position in the UDP header
  std::uint64_t ip_first_ = 0;    // octets 14-21, masked, without the hop limit
  std::uint64_t ip_mask_ = 0;     // which bits of them are checked
};

}  // namespace natxy::frame
