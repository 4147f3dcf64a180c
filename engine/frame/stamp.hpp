// The stamp: 18 octets of data in each frame (docs/decisions: payload layout), little-endian:
//
//   0-3 tag   4 stream   5-9 number   10-13 connection   14-17 lateness in ticks
#pragma once

#include <array>
#include <cstdint>

#include "flow/flow.hpp"
#include "frame/checksum.hpp"
#include "frame/layout.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::frame {

// Returns the tag of the frames of a trial with this nonce. XOR with "NTXY" gives a mark also for a
// nonce of 0.
[[nodiscard]] constexpr std::uint32_t tag_of(std::uint32_t nonce) {
  return nonce ^ 0x5958544eU;
}

// One octet: direction in bit 0, kind in bit 1, phase in bits 2-4, warm-up probe in bit 7.
class StreamId {
 public:
  constexpr explicit StreamId(std::uint8_t octet = 0) : octet_(octet) {}
  constexpr StreamId(spec::Direction direction, spec::Kind kind, std::size_t phase, bool probe)
      : octet_(static_cast<std::uint8_t>(
            static_cast<unsigned>(direction) | static_cast<unsigned>(kind) << 1U |
            static_cast<unsigned>(phase & 7U) << 2U | static_cast<unsigned>(probe) << 7U)) {}
  [[nodiscard]] constexpr std::uint8_t octet() const { return octet_; }
  [[nodiscard]] constexpr bool probe() const { return (octet_ & 0x80U) != 0; }
  [[nodiscard]] constexpr spec::Kind kind() const {
    return static_cast<spec::Kind>((octet_ >> 1U) & 1U);
  }
  [[nodiscard]] constexpr spec::Direction direction() const {
    return static_cast<spec::Direction>(octet_ & 1U);
  }
  [[nodiscard]] constexpr std::size_t phase() const { return (octet_ >> 2U) & 7U; }
  [[nodiscard]] constexpr StreamId with(spec::Kind kind) const {
    return StreamId(static_cast<std::uint8_t>((octet_ & ~2U) | static_cast<unsigned>(kind) << 1U));
  }
  friend constexpr bool operator==(StreamId, StreamId) = default;

 private:
  std::uint8_t octet_;
};

// The stamp as the three words that are stored: two of 64 bits and one of 16.
struct Stamp {
  std::uint64_t first;   // tag, stream, number's low 24 bits
  std::uint64_t second;  // number's high 16 bits, connection, lateness' low 16 bits
  std::uint16_t third;   // lateness' high 16 bits

  [[nodiscard]] static constexpr Stamp make(std::uint32_t tag, StreamId stream,
                                            std::uint64_t number, std::uint32_t connection,
                                            std::uint32_t lateness) {
    return {.first = tag | std::uint64_t{stream.octet()} << 32U | number << 40U,
            .second =
                (number >> 24U) | std::uint64_t{connection} << 16U | std::uint64_t{lateness} << 48U,
            .third = static_cast<std::uint16_t>(lateness >> 16U)};
  }
  [[nodiscard]] static Stamp read(const std::uint8_t* data) {
    return {.first = load<std::uint64_t>(data),
            .second = load<std::uint64_t>(data + 8),
            .third = load<std::uint16_t>(data + 16)};
  }
  void write(std::uint8_t* data) const {
    store(data, first);
    store(data + 8, second);
    store(data + 16, third);
  }

  [[nodiscard]] constexpr std::uint64_t sum() const {
    return halves(first) + halves(second) + third;
  }
  [[nodiscard]] constexpr std::uint32_t tag() const { return static_cast<std::uint32_t>(first); }
  [[nodiscard]] constexpr StreamId stream() const {
    return StreamId(static_cast<std::uint8_t>(first >> 32U));
  }
  [[nodiscard]] constexpr std::uint64_t number() const {
    return (first >> 40U) | (second & 0xffffU) << 24U;
  }
  [[nodiscard]] constexpr std::uint32_t connection() const {
    return static_cast<std::uint32_t>(second >> 16U);
  }
  [[nodiscard]] constexpr std::uint32_t lateness() const {
    return static_cast<std::uint32_t>(second >> 48U) | std::uint32_t{third} << 16U;
  }
};

// The stamps of up to kMaxLot frames of one kind, with one array per word.
class StampLot {
 public:
  void fill(std::uint32_t tag, StreamId stream, const std::uint64_t* numbers,
            const std::uint32_t* lateness, unsigned n) {
    const auto same = Stamp::make(tag, stream, 0, 0, 0).first;
    for (unsigned i = 0; i < n; ++i) {
      first_[i] = same | numbers[i] << 40U;
      second_[i] = (numbers[i] >> 24U) | std::uint64_t{lateness[i]} << 48U;
      third_[i] = static_cast<std::uint16_t>(lateness[i] >> 16U);
    }
  }
  void set(unsigned i, const Stamp& stamp) {
    first_[i] = stamp.first;
    second_[i] = stamp.second;
    third_[i] = stamp.third;
  }
  // Adds the connections. Called after fill().
  void set_connections(const std::uint64_t* connections, unsigned n) {
    for (unsigned i = 0; i < n; ++i) second_[i] |= connections[i] << 16U;
  }
  // Changes the checksum: adds one tick to the lateness, or subtracts one if its low word is full.
  void change_sum(unsigned i) {
    constexpr auto kTick = std::uint64_t{1} << 48U;
    const bool full = second_[i] >> 48U == 0xffffU;
    second_[i] = full ? second_[i] - kTick : second_[i] + kTick;
  }
  [[nodiscard]] Stamp at(unsigned i) const { return {first_[i], second_[i], third_[i]}; }
  [[nodiscard]] std::uint64_t sum(unsigned i) const {
    return halves(first_[i]) + halves(second_[i]) + third_[i];
  }
  void write(unsigned i, std::uint8_t* data) const { at(i).write(data); }

 private:
  std::array<std::uint64_t, flow::kMaxLot> first_;
  std::array<std::uint64_t, flow::kMaxLot> second_;
  std::array<std::uint16_t, flow::kMaxLot> third_;
};

}  // namespace natxy::frame
