// Maps an ordinal to a four-tuple: the ports, the address fields and the network of its frame.
//
// The ordinal counts the frames of one kind in one stream. Sender and receiver use the same object,
// so the frames that are sent and those that are expected cannot differ.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "flow/divider.hpp"
#include "flow/permutation.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::flow {

struct Values {
  std::uint16_t source_port;
  std::uint16_t destination_port;
  std::uint32_t source_field;
  std::uint32_t destination_field;
  std::uint8_t network;
  [[nodiscard]] constexpr Values swapped() const {
    return {destination_port, source_port, destination_field, source_field, network};
  }
  friend constexpr bool operator==(const Values&, const Values&) = default;
};

inline constexpr unsigned kMaxLot = 32;

// The values of up to kMaxLot frames, with one array per member.
struct ValueLot {
  template <class Value>
  using Lane = std::array<Value, kMaxLot>;
  Lane<std::uint16_t> source_port;
  Lane<std::uint16_t> destination_port;
  Lane<std::uint32_t> source_field;
  Lane<std::uint32_t> destination_field;
  Lane<std::uint8_t> network;

  void set(unsigned i, const Values& values) {
    source_port[i] = values.source_port;
    destination_port[i] = values.destination_port;
    source_field[i] = values.source_field;
    destination_field[i] = values.destination_field;
    network[i] = values.network;
  }
  // Exchanges source and destination, for frames in the other direction.
  void swap_ends() {
    std::swap(source_port, destination_port);
    std::swap(source_field, destination_field);
  }
  [[nodiscard]] Values at(unsigned i) const {
    return {source_port[i], destination_port[i], source_field[i], destination_field[i], network[i]};
  }
};

// What varies in a stream. A template argument of the hot loops.
struct Shape {
  bool addresses_vary = false;  // a field or the network of either address
  bool enumerated = false;
  bool connected = false;  // frames use connections of the state table; implies enumerated
  bool tcp = false;        // frames of connections are TCP; implies connected
};

// A value of at most 24 bits as a linear function of a 64-bit fraction. All modes use the same
// arithmetic, so that a loop over ordinals is vectorised: fraction = (random & mask) + ordinal *
// step; value = base +- floor(fraction * range). The fraction of a counter is less than 2^-24 above
// k / range for ordinals below 2^40, and 0 above it if the range is a power of 2. So its upper 32
// bits, rounded up, still give k: always for ranges up to 2^16, and for others as long as
// (ordinals * range) is below 2^63, which the spec's validation demands.
class Series {
 public:
  constexpr Series() = default;
  explicit constexpr Series(const spec::Series& series)
      : Series(series.mode, series.min,
               series.mode == spec::SeriesMode::kFixed ? 1U : series.max - series.min + 1U) {}
  constexpr Series(spec::SeriesMode mode, std::uint32_t min, std::uint32_t range)
      : range_(range), base_(min) {
    using enum spec::SeriesMode;
    if (mode == kPseudorandom) random_mask_ = ~std::uint64_t{0};
    if (mode == kIncreasing || mode == kDecreasing) {
      step_ = range == 1 ? 0 : ~std::uint64_t{0} / range + 1;
      round_up_ = range == 1 ? 0 : 1;
    }
    if (mode == kDecreasing) {
      base_ = min + range - 1;
      sign_ = ~std::uint32_t{0};
    }
  }

  [[nodiscard]] constexpr std::uint32_t at(std::uint64_t ordinal, std::uint64_t random) const {
    const auto fraction = (random & random_mask_) + ordinal * step_;
    const auto offset =
        static_cast<std::uint32_t>((((fraction >> 32U) + round_up_) * range_) >> 32U);
    return base_ + (offset ^ sign_) - sign_;
  }
  // Does the same for a pseudorandom series, with less arithmetic.
  [[nodiscard]] constexpr std::uint32_t at_random(std::uint64_t random) const {
    const auto fraction = static_cast<std::uint32_t>(random >> 32U);
    return base_ + static_cast<std::uint32_t>((std::uint64_t{fraction} * range()) >> 32U);
  }
  [[nodiscard]] constexpr bool pseudorandom() const { return random_mask_ != 0; }
  [[nodiscard]] constexpr std::uint32_t range() const { return static_cast<std::uint32_t>(range_); }
  [[nodiscard]] constexpr std::uint32_t first() const { return base_; }

 private:
  std::uint64_t range_ = 1;
  std::uint64_t random_mask_ = 0;
  std::uint64_t step_ = 0;
  std::uint64_t round_up_ = 0;
  std::uint32_t base_ = 0;
  std::uint32_t sign_ = 0;
};

// The ports of hosts that share an address, from the indices of their ports (spec::PortSet).
class SharedPorts {
 public:
  constexpr SharedPorts() = default;  // a port is its own index
  explicit constexpr SharedPorts(const spec::PortSet& set)
      : rest_bits_(16U - set.offset_bits - set.psid_bits),
        psid_bits_(set.psid_bits),
        first_block_(set.offset_bits == 0 ? 0 : 1) {}

  [[nodiscard]] constexpr std::uint16_t at(std::uint32_t index, std::uint32_t field) const {
    const auto block = (index >> rest_bits_) + first_block_;
    const auto psid = field & ((1U << psid_bits_) - 1);
    const auto rest = index & ((1U << rest_bits_) - 1);
    return static_cast<std::uint16_t>(((block << psid_bits_ | psid) << rest_bits_) | rest);
  }

 private:
  std::uint32_t rest_bits_ = 16;
  std::uint32_t psid_bits_ = 0;
  std::uint32_t first_block_ = 0;
};

// The series of a four-tuple, and what makes their random numbers differ.
struct AllSeries {
  std::uint64_t port_key = 0;
  std::uint64_t address_key = 0;
  Series source_port;
  Series destination_port;
  Series source_field;
  Series destination_field;
  Series network;

  // Returns the values of an ordinal if the series are independent of each other.
  template <Shape kShape, bool kRandomPorts>
  [[nodiscard]] Values at(std::uint64_t ordinal) const {
    const auto random = mix(ordinal ^ port_key);
    const auto port = [ordinal](const Series& series, std::uint64_t bits) {
      return static_cast<std::uint16_t>(kRandomPorts ? series.at_random(bits)
                                                     : series.at(ordinal, bits));
    };
    Values values{.source_port = port(source_port, random),
                  .destination_port = port(destination_port, random << 32U),
                  .source_field = 0,
                  .destination_field = 0,
                  .network = 0};
    if constexpr (kShape.addresses_vary) {
      const auto more = mix(random ^ address_key);
      values.source_field = source_field.at(ordinal, more);
      values.destination_field = destination_field.at(ordinal, more << 24U);
      values.network = static_cast<std::uint8_t>(network.at(ordinal, more << 48U));
    }
    return values;
  }
};

class Flow {
 public:
  Flow() = default;
  Flow(const spec::Traffic& traffic, std::uint64_t seed);

  template <Shape kShape>
  [[nodiscard]] Values at(std::uint64_t ordinal) const {
    ValueLot lot;
    fill<kShape>(&ordinal, 1, lot);
    return lot.at(0);
  }

  // Does the same for n ordinals at once, n <= kMaxLot, vectorised.
  template <Shape kShape>
  void fill(const std::uint64_t* ordinals, unsigned n, ValueLot& values) const {
    fill_without_sharing<kShape>(ordinals, n, values);
    if constexpr (kShape.addresses_vary) {
      if (ports_are_shared_) [[unlikely]]
        share_ports(n, values);
    }
  }

  // Returns the ordinal at which an enumeration has these values: the inverse of at(). Absent if
  // the enumeration does not have them. Too slow for the hot loops.
  [[nodiscard]] std::optional<std::uint64_t> ordinal_of(const Values& values) const;

  [[nodiscard]] Shape shape() const { return shape_; }
  // Returns the number of different four-tuples of an enumeration.
  [[nodiscard]] std::uint64_t combinations() const { return combinations_; }

 private:
  template <Shape kShape>
  void fill_without_sharing(const std::uint64_t* ordinals, unsigned n, ValueLot& values) const {
    if constexpr (kShape.enumerated) {
      if (selection_ != spec::Selection::kIndependent)
        return fill_enumerated<kShape>(ordinals, n, values);
    }
    // A copy, because the compiler does not vectorise a loop whose stores might change the series.
    const auto series = series_;
    if (ports_are_random_) {
      for (unsigned i = 0; i < n; ++i) values.set(i, series.at<kShape, true>(ordinals[i]));
    } else {
      for (unsigned i = 0; i < n; ++i) values.set(i, series.at<kShape, false>(ordinals[i]));
    }
  }

  // Turns the indices of ports into ports.
  void share_ports(unsigned n, ValueLot& values) const {
    for (unsigned i = 0; i < n; ++i) {
      values.source_port[i] = source_ports_.at(values.source_port[i], values.source_field[i]);
      values.destination_port[i] =
          destination_ports_.at(values.destination_port[i], values.destination_field[i]);
    }
  }

  // Ports alone have at most 2^32 combinations.
  template <Shape kShape>
  using Rank = std::conditional_t<kShape.addresses_vary, std::uint64_t, std::uint32_t>;

  // Uses separate loops, which are vectorised; if addresses vary, all but the divisions are.
  template <Shape kShape>
  void fill_enumerated(const std::uint64_t* ordinals, unsigned n, ValueLot& values) const {
    std::array<Rank<kShape>, kMaxLot> ranks;
    for (unsigned i = 0; i < n; ++i) ranks[i] = rank<kShape>(ordinals[i]);
    if (permuted_) permutation_.permute(ranks.data(), n);
    for (unsigned i = 0; i < n; ++i) values.set(i, of_rank<kShape>(ranks[i]));
  }

  // Returns the position of an ordinal in increasing order. An ordinal beyond the enumeration,
  // which a corrupt frame may claim, gets the last position.
  template <Shape kShape>
  [[nodiscard]] Rank<kShape> rank(std::uint64_t ordinal) const {
    const auto last = static_cast<Rank<kShape>>(combinations_ - 1);
    const auto rank = std::min(static_cast<Rank<kShape>>(ordinal), last);
    return selection_ == spec::Selection::kEnumerateDecreasing ? last - rank : rank;
  }

  // Returns the values at a position. The source changes faster than the destination, and in each
  // of them, the port changes faster than the field.
  template <Shape kShape>
  [[nodiscard]] Values of_rank(Rank<kShape> rank) const {
    const auto port = [](const Series& series, std::uint64_t index) {
      return static_cast<std::uint16_t>(series.first() + index);
    };
    const auto field = [](const Series& series, std::uint64_t index) {
      return static_cast<std::uint32_t>(series.first() + index);
    };
    if constexpr (kShape.addresses_vary) {
      const auto half = by_sources_.divide(rank);
      const auto source = by_source_ports_.divide(half.remainder);
      const auto destination = by_destination_ports_.divide(half.quotient);
      return {.source_port = port(series_.source_port, source.remainder),
              .destination_port = port(series_.destination_port, destination.remainder),
              .source_field = field(series_.source_field, source.quotient),
              .destination_field = field(series_.destination_field, destination.quotient),
              .network = 0};
    } else {
      const auto half = by_ports_alone_.divide(rank);
      return {.source_port = port(series_.source_port, half.remainder),
              .destination_port = port(series_.destination_port, half.quotient),
              .source_field = field(series_.source_field, 0),
              .destination_field = field(series_.destination_field, 0),
              .network = 0};
    }
  }

  spec::Selection selection_ = spec::Selection::kIndependent;
  Shape shape_;
  AllSeries series_;
  bool ports_are_random_ = false;  // both pseudorandom, not enumerated
  bool ports_are_shared_ = false;
  SharedPorts source_ports_;
  SharedPorts destination_ports_;
  Permutation permutation_;
  bool permuted_ = false;
  Divider by_sources_;  // by the number of source ports times source fields
  NarrowDivider by_ports_alone_;
  Divider by_source_ports_;
  Divider by_destination_ports_;
  std::uint64_t combinations_ = 1;
};

}  // namespace natxy::flow
