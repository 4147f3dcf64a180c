// Checks arriving frames: whether a frame belongs to the trial, and whether it is the frame that
// its number determines, as it must be after the gateway.
//
// The length is checked before anything is read. The checks have the order of spec::Misdelivered:
// the number is used only if the checksums are correct.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "flow/flow.hpp"
#include "frame/address_slots.hpp"
#include "frame/checksum.hpp"
#include "frame/layout.hpp"
#include "frame/stamp.hpp"
#include "frame/tcp.hpp"

namespace natxy::frame {

enum class Defect : std::uint8_t {
  kNone,
  kMalformed,
  kChecksum,
  kNumber,
  kLength,
  kTunnel,
  kAddress,
  kPort,
  kSequence,
  kHopLimit,
  kTrafficClass,
  kHeader
};
inline constexpr std::size_t kDefects = 12;

// A frame with the trial's tag. It is long enough for all offsets of its layout.
struct Claimed {
  const std::uint8_t* frame;
  std::uint32_t size;
  const Layout* layout;  // null if the frame does not belong to the trial
  Stamp stamp;

  [[nodiscard]] HopLimits hop_limits() const {
    const auto outer = layout->first + hop_limit_in(layout->link_version);
    return {.inner = frame[layout->hop_limit], .outer = frame[outer]};
  }
};

// The layouts that frames of a trial may have when they arrive at a port: those that are expected
// first, then those of frames that the gateway did not translate, without their tags, or as
// fragments.
class Layouts {
 public:
  // The layouts without VLAN tags and extension headers.
  Layouts() {
    add(layout_of(spec::IpVersion::k4));
    add(layout_of(spec::IpVersion::k6));
  }
  // vlan_tags: of the port.
  Layouts(const std::vector<const spec::Traffic*>& arriving, std::size_t vlan_tags);

  // Returns the frame with its layout if it has the trial's tag.
  [[nodiscard]] Claimed claim(const std::uint8_t* frame, std::uint32_t size,
                              std::uint32_t tag) const {
    for (unsigned i = 0; i < count_; ++i) {
      const auto* layout = layouts_[i];
      if (size < layout->min_octets() ||
          load<std::uint16_t>(frame + layout->first - 2) != ether_types_[i]) {
        continue;
      }
      const auto stamp = Stamp::read(frame + layout->stamp);
      if (stamp.tag() == tag) {
        return {.frame = frame, .size = size, .layout = layout, .stamp = stamp};
      }
    }
    return {.frame = frame, .size = size, .layout = nullptr, .stamp = {}};
  }

 private:
  static constexpr unsigned kMost = 10;

  // Adds a layout that is not in the list.
  void add(const Layout& layout);

  unsigned count_ = 0;
  std::array<const Layout*, kMost> layouts_{};
  std::array<std::uint16_t, kMost> ether_types_{};
};

// Returns what is wrong with a frame's form, whatever its number; kNone if nothing is. kMalformed:
// the packet is not UDP or TCP in IPv4, or in IPv6 with the extension headers of its layout, or its
// lengths contradict each other or the frame. kTunnel: the packet is well formed, but its outer
// headers do not lead to it, or their checksum is wrong.
[[nodiscard]] Defect defect_of_form(const Claimed& claimed, bool udp_may_lack_checksum);

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
  // link: of the port where the frames arrive. numbers: of TCP.
  Arrival(const spec::Traffic& traffic, const Link& link, const TcpNumbers& numbers = {});

  // Returns which frames of a lot are correct in all checks, including checksums. For the others,
  // defect_of_form() and check() find the reason. Always inlined, because it is a
  // part of the receiver's hot loop.
  template <flow::Shape kShape>
  [[nodiscard, gnu::always_inline]] LotJudgement judge(const ArrivalLot& lot,
                                                       const flow::ValueLot& values,
                                                       HopLimits hop_limits) const {
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
        good[i] = headers_match(frame, hop_limits.inner) &&
                  destination_matches<kShape>(frame + layout_->source, values, i, sums[i]);
      } else {
        good[i] = headers_match(frame, hop_limits.inner) &&
                  addresses_match<kShape>(frame + layout_->source, values, i, sums[i]);
      }
      if (layout_->tunnelled()) [[unlikely]]
        good[i] = good[i] && tunnel_matches(frame, values.at(i), hop_limits.outer);
      if (octets_ > layout_->min_octets()) [[unlikely]] {
        sums[i] += sum_words(frame + layout_->min_octets(), octets_ - layout_->min_octets());
      }
      udp[i] = load<std::uint64_t>(frame + layout_->upper);
    }
    if constexpr (kShape.tcp) {
      if (layout_->tcp()) return judge_tcp(lot, values, sums, good);
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

  // Returns whether the frame has its parts where they are expected.
  [[nodiscard]] bool expects(const Layout* layout) const { return layout == layout_; }
  // Returns whether a UDP checksum of 0 is accepted.
  [[nodiscard]] bool may_lack_checksum() const { return may_lack_checksum_; }

  // Returns whether the gateway chooses the source, which is then read from the frame and not
  // checked.
  [[nodiscard]] bool learns_source() const { return learns_source_; }
  // Reads the source ports of a lot's frames, which the gateway chose.
  void read_source_ports(const ArrivalLot& lot, flow::ValueLot& values) const {
    for (unsigned i = 0; i < lot.size; ++i) {
      values.source_port[i] = read16(lot.frames[i] + lot.layouts[i]->upper);
    }
  }
  // Returns the values that give these addresses and ports; absent if the addresses cannot belong
  // to this kind of traffic.
  [[nodiscard]] std::optional<flow::Values> values_of(const Claimed& claimed) const {
    if (claimed.layout != layout_) return std::nullopt;
    const auto* seen = claimed.frame + layout_->source;
    auto values = slots_.read(seen, kBase);
    if (layout_->tunnelled()) {
      const auto outer = tunnel_slots_.read(claimed.frame + layout_->link_source(), kBase);
      values.source_field |= outer.source_field;
      values.destination_field |= outer.destination_field;
    }
    values.source_port = read16(claimed.frame + layout_->upper);
    values.destination_port = read16(claimed.frame + layout_->upper + 2);
    auto expected = addresses_;
    slots_.write(expected.data(), values);
    if (!same(seen, expected.data() + kBase)) return std::nullopt;
    return values;
  }

  // Returns the first that is wrong of length, outer addresses or outer hop limit, address, port,
  // hop limit, and the other octets of the headers that the gateway must keep.
  [[nodiscard]] Defect check(const Claimed& claimed, const flow::Values& values,
                             HopLimits hop_limits) const;

 private:
  static constexpr std::size_t kBase = 8;  // a slot's offset is never 0
  // Kind and length of the option with the stamp, as a 16-bit load from the frame.
  static constexpr std::uint16_t kTcpOption = kTcpStampOption | kTcpStampOptionOctets << 8U;

  using Sums = std::array<std::uint64_t, flow::kMaxLot>;
  using Flags = std::array<std::uint8_t, flow::kMaxLot>;

  // Judges the TCP headers of a lot. sums: of what is before and after the header; good: which
  // frames are correct so far. The others may be too short to be read.
  [[nodiscard]] LotJudgement judge_tcp(const ArrivalLot& lot, const flow::ValueLot& values,
                                       const Sums& sums, const Flags& good) const {
    LotJudgement judgement;
    for (unsigned i = 0; i < lot.size; ++i) {
      if (!good[i]) [[unlikely]]
        continue;
      const auto* tcp = lot.frames[i] + layout_->upper;
      const auto connection = lot.stamps.at(i).connection();
      const auto first = load<std::uint64_t>(tcp);
      const auto second = load<std::uint64_t>(tcp + 8);
      const auto expected_first = swap16(values.source_port[i]) |
                                  std::uint64_t{swap16(values.destination_port[i])} << 16U |
                                  std::uint64_t{numbers_.sequence(connection)} << 32U;
      const auto expected_second = numbers_.acknowledgement(connection) | std::uint64_t{tcp_fixed_}
                                                                              << 32U;
      const auto third = load<std::uint32_t>(tcp + 16);  // checksum and urgent pointer
      const auto option = load<std::uint16_t>(tcp + 20);
      const auto sum =
          sums[i] + halves(first) + halves(second) + third + option + lot.stamps.sum(i);
      const bool right = first == expected_first && second == expected_second &&
                         third >> 16U == 0 && option == kTcpOption && fold(sum) == 0xffffU;
      judgement.right |= std::uint32_t{right} << i;
    }
    return judgement;
  }
  [[nodiscard]] bool tcp_numbers_match(const Claimed& claimed) const {
    const auto* tcp = claimed.frame + layout_->upper;
    const auto connection = claimed.stamp.connection();
    return load<std::uint32_t>(tcp + 4) == numbers_.sequence(connection) &&
           load<std::uint32_t>(tcp + 8) == numbers_.acknowledgement(connection);
  }
  // Checks what is the same in all segments of a stream.
  [[nodiscard]] bool tcp_fixed_matches(const std::uint8_t* tcp) const {
    return load<std::uint32_t>(tcp + 12) == tcp_fixed_ && load<std::uint16_t>(tcp + 18) == 0 &&
           load<std::uint16_t>(tcp + 20) == kTcpOption;
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
  // Checks the addresses and the hop limit of the outer header, and its checksum if it is one of
  // IPv4. Pure, so that the loop that calls it need not read the layout again for each frame.
  [[nodiscard, gnu::noinline, gnu::pure]] bool tunnel_matches(const std::uint8_t* frame,
                                                              const flow::Values& values,
                                                              std::uint8_t hop_limit) const {
    if (frame[layout_->first + hop_limit_in(layout_->link_version)] != hop_limit) return false;
    auto expected = tunnel_addresses_;
    tunnel_slots_.write(expected.data(), values);
    const auto* seen = frame + layout_->link_source();
    if (layout_->link_version == spec::IpVersion::k4) {
      return std::memcmp(seen, expected.data() + kBase, 8) == 0 &&
             ipv4_checksum_right(frame + layout_->first);
    }
    return std::memcmp(seen, expected.data() + kBase, 32) == 0;
  }
  // Checks hop limit, IPv4 header checksum, and what HeaderMask names.
  [[nodiscard]] bool headers_match(const std::uint8_t* frame, std::uint8_t hop_limit) const {
    if (!headers_.matches(frame) || frame[layout_->hop_limit] != hop_limit) return false;
    if (!layout_->ipv4()) return true;
    return ipv4_checksum_right(frame + layout_->ip);
  }
  [[nodiscard]] bool same(const std::uint8_t* seen, const std::uint8_t* expected) const {
    if (layout_->ipv4()) {
      return load<std::uint64_t>(seen) == load<std::uint64_t>(expected);
    }
    return std::memcmp(seen, expected, 32) == 0;
  }

  const Layout* layout_ = nullptr;
  std::uint32_t octets_ = 0;
  bool learns_source_ = false;
  bool may_lack_checksum_ = false;
  HeaderMask headers_;
  HeaderMask own_headers_;  // without traffic class and flow label, which the gateway may change
  std::array<std::uint8_t, kBase + 32> addresses_{};  // source, then destination
  AddressSlots slots_;
  std::array<std::uint8_t, kBase + 32> tunnel_addresses_{};  // as addresses_
  AddressSlots tunnel_slots_;
  std::uint64_t pseudo_sum_ = 0;  // addresses without varying parts, length, protocol
  std::uint64_t udp_length_ = 0;  // at its position in the UDP header
  TcpNumbers numbers_;
  std::uint32_t tcp_fixed_ = 0;  // length of the header, flags and window of TCP
};

}  // namespace natxy::frame
