// Number -> four-tuple: which ports, address fields and network the frame of an ordinal has.
//
// The ordinal counts frames within one kind of one stream. Sender and receiver ask the same
// object, so what is sent and what must arrive cannot differ.
#pragma once

#include <cstdint>

#include "flow/divider.hpp"
#include "flow/hash.hpp"
#include "flow/permutation.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::flow {

struct Values {
  std::uint16_t source_port;
  std::uint16_t destination_port;
  std::uint16_t source_field;
  std::uint16_t destination_field;
  std::uint8_t network;
  friend constexpr bool operator==(const Values&, const Values&) = default;
};

// What varies in a stream: template arguments of the hot loops.
struct Shape {
  bool addresses_vary = false;  // a field or the network of either address
  bool enumerated = false;
};

// A 16-bit value as a linear function of 64 fraction bits, so that every mode is the same
// arithmetic: fraction = (random & mask) + ordinal * step; value = base +- floor(fraction * range).
// Counters are exact for ordinals below 2^40 and ranges up to 2^16.
class Series16 {
 public:
  constexpr Series16() = default;
  explicit constexpr Series16(const spec::Series& series)
      : Series16(series.mode, series.min, series.mode == spec::SeriesMode::kFixed
                                              ? 1U
                                              : series.max - series.min + 1U) {}
  constexpr Series16(spec::SeriesMode mode, std::uint16_t min, std::uint32_t range)
      : range_(range), base_(min) {
    using enum spec::SeriesMode;
    if (mode == kPseudorandom) random_mask_ = ~std::uint64_t{0};
    if (mode == kIncreasing || mode == kDecreasing) {
      step_ = range == 1 ? 0 : ~std::uint64_t{0} / range + 1;
    }
    if (mode == kDecreasing) {
      base_ = min + range - 1;
      sign_ = ~std::uint32_t{0};
    }
  }

  [[nodiscard]] constexpr std::uint16_t at(std::uint64_t ordinal, std::uint64_t random) const {
    const auto fraction = (random & random_mask_) + ordinal * step_;
    const auto offset = static_cast<std::uint32_t>((Uint128{fraction} * range_) >> 64U);
    return static_cast<std::uint16_t>(base_ + (offset ^ sign_) - sign_);
  }
  [[nodiscard]] constexpr std::uint32_t range() const { return static_cast<std::uint32_t>(range_); }
  [[nodiscard]] constexpr std::uint32_t first() const { return base_; }

 private:
  std::uint64_t range_ = 1;
  std::uint64_t random_mask_ = 0;
  std::uint64_t step_ = 0;
  std::uint32_t base_ = 0;
  std::uint32_t sign_ = 0;
};

class Flow {
 public:
  Flow() = default;
  Flow(const spec::Traffic& traffic, std::uint64_t seed);

  template <Shape kShape>
  [[nodiscard]] Values at(std::uint64_t ordinal) const {
    if constexpr (kShape.enumerated) {
      if (selection_ != spec::Selection::kIndependent) return enumerated<kShape>(ordinal);
    }
    return independent<kShape>(ordinal);
  }

  [[nodiscard]] Shape shape() const { return shape_; }
  // How many different four-tuples an enumeration has.
  [[nodiscard]] std::uint64_t combinations() const { return combinations_; }

 private:
  template <Shape kShape>
  [[nodiscard]] Values independent(std::uint64_t ordinal) const {
    const auto random = mix(ordinal ^ port_key_);
    Values values{.source_port = source_port_.at(ordinal, random),
                  .destination_port = destination_port_.at(ordinal, random << 32U),
                  .source_field = 0,
                  .destination_field = 0,
                  .network = 0};
    if constexpr (kShape.addresses_vary) {
      const auto more = mix(random ^ address_key_);
      values.source_field = source_field_.at(ordinal, more);
      values.destination_field = destination_field_.at(ordinal, more << 21U);
      values.network = static_cast<std::uint8_t>(network_.at(ordinal, more << 42U));
    }
    return values;
  }

  template <Shape kShape>
  [[nodiscard]] Values enumerated(std::uint64_t ordinal) const {
    const auto cell = cell_of(ordinal);
    if constexpr (!kShape.addresses_vary) {
      return {.source_port = static_cast<std::uint16_t>(source_port_.first() + cell.x),
              .destination_port = static_cast<std::uint16_t>(destination_port_.first() + cell.y),
              .source_field = 0,
              .destination_field = 0,
              .network = 0};
    } else {
      const auto source = by_source_ports_.divide(cell.x);
      const auto destination = by_destination_ports_.divide(cell.y);
      const auto offset = [](const Series16& series, std::uint64_t index) {
        return static_cast<std::uint16_t>(series.first() + index);
      };
      return {.source_port = offset(source_port_, source.remainder),
              .destination_port = offset(destination_port_, destination.remainder),
              .source_field = offset(source_field_, source.quotient),
              .destination_field = offset(destination_field_, destination.quotient),
              .network = 0};
    }
  }

  [[nodiscard]] Cell cell_of(std::uint64_t ordinal) const {
    if (selection_ == spec::Selection::kEnumeratePseudorandom) return permutation_.at(ordinal);
    if (selection_ == spec::Selection::kEnumerateDecreasing) ordinal = combinations_ - 1 - ordinal;
    return permutation_.unpermuted(ordinal);
  }

  spec::Selection selection_ = spec::Selection::kIndependent;
  Shape shape_;
  std::uint64_t port_key_ = 0;
  std::uint64_t address_key_ = 0;
  Series16 source_port_;
  Series16 destination_port_;
  Series16 source_field_;
  Series16 destination_field_;
  Series16 network_;
  Permutation permutation_;
  Divider by_source_ports_;
  Divider by_destination_ports_;
  std::uint64_t combinations_ = 1;
};

}  // namespace natxy::flow
