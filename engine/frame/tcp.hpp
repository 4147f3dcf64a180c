// The TCP header of test frames (RFC 9293): the flags of each segment, and its numbers, which are
// functions of its connection (docs/decisions/0033).
#pragma once

#include <cstdint>

#include "flow/permutation.hpp"
#include "frame/checksum.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::frame {

inline constexpr std::size_t kTcpOctets = 40;         // with the option that holds the stamp
inline constexpr std::size_t kTcpStamp = 22;          // offset of the stamp in the header
inline constexpr std::uint16_t kTcpWindow = 0xffff;   // not scaled
inline constexpr std::uint8_t kTcpStampOption = 253;  // RFC 4727: for experiments
inline constexpr std::uint8_t kTcpStampOptionOctets = 20;

// Returns the flags of a segment, as an octet of the header. data: whether it has data.
[[nodiscard]] constexpr std::uint8_t tcp_flags(spec::Role role, spec::TcpSegment segment,
                                               bool data) {
  constexpr std::uint8_t kFin = 0x01;
  constexpr std::uint8_t kSyn = 0x02;
  constexpr std::uint8_t kRst = 0x04;
  constexpr std::uint8_t kPsh = 0x08;
  constexpr std::uint8_t kAck = 0x10;
  switch (segment) {
    case spec::TcpSegment::kSyn:
      return role == spec::Role::kRespond ? kSyn | kAck : kSyn;
    case spec::TcpSegment::kFin:
      return kFin | kAck;
    case spec::TcpSegment::kRst:
      return kRst | kAck;
    default:
      return data ? kPsh | kAck : kAck;
  }
}

// The sequence and acknowledgement numbers of the segments of one stream, as in a frame, that is in
// network byte order.
class TcpNumbers {
 public:
  TcpNumbers() = default;
  // seed: of the trial.
  TcpNumbers(const spec::Connections& connections, std::uint64_t seed) {
    using enum spec::TcpSegment;
    const bool responds = connections.role == spec::Role::kRespond;
    const auto segment = connections.segment.value_or(kSyn);
    own_key_ = key(seed, responds);
    peer_key_ = key(seed, !responds);
    // A SYN and a FIN take one number each. The initiator sends its FIN first.
    own_offset_ = segment == kSyn ? 0 : segment == kLastAck ? 2 : 1;
    const bool after_fin = segment == kLastAck || (segment == kFin && responds);
    peer_offset_ = after_fin ? 2 : 1;
    if (segment == kSyn && !responds) acknowledges_ = 0;
  }

  [[nodiscard]] std::uint32_t sequence(std::uint32_t connection) const {
    return __builtin_bswap32((connection * kFactor ^ own_key_) + own_offset_);
  }
  // Returns 0 for the initiator's SYN, which acknowledges nothing.
  [[nodiscard]] std::uint32_t acknowledgement(std::uint32_t connection) const {
    return __builtin_bswap32(((connection * kFactor ^ peer_key_) + peer_offset_) & acknowledges_);
  }

 private:
  // Odd, so that connections have different numbers; 2^32 divided by the golden ratio.
  static constexpr std::uint32_t kFactor = 0x9e3779b1;

  // Returns the key of one side; derived numbers below 4 are the keys of streams.
  [[nodiscard]] static std::uint32_t key(std::uint64_t seed, bool responder) {
    return static_cast<std::uint32_t>(flow::derive(seed, responder ? 5 : 4));
  }

  std::uint32_t own_key_ = 0;
  std::uint32_t peer_key_ = 0;
  std::uint32_t own_offset_ = 0;
  std::uint32_t peer_offset_ = 0;
  std::uint32_t acknowledges_ = ~0U;  // a mask
};

}  // namespace natxy::frame
