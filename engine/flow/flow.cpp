#include "flow/flow.hpp"

namespace natxy::flow {
namespace {

bool has_field(const spec::PacketFormat& format) {
  const auto varies = [](const spec::AddressPattern& pattern) { return !pattern.field.empty(); };
  const auto& tunnel = format.tunnel;
  return varies(format.source) || varies(format.destination) ||
         (tunnel && (varies(tunnel->source) || varies(tunnel->destination)));
}

bool addresses_vary(const spec::Traffic& traffic) {
  return traffic.networks > 1 || has_field(traffic.departure) || has_field(traffic.arrival);
}

// Returns the range of a series. In an enumeration, only the range counts, not the order.
Series as_range(const spec::Series& series) {
  const auto min = series.min;
  const auto max = series.mode == spec::SeriesMode::kFixed ? series.min : series.max;
  return {spec::SeriesMode::kIncreasing, min, max - min + 1U};
}

// Returns the position of a value in its range; absent if the value is outside.
std::optional<std::uint64_t> index_in(const Series& range, std::uint32_t value) {
  if (value < range.first() || value - range.first() >= range.range()) return std::nullopt;
  return value - range.first();
}

}  // namespace

Flow::Flow(const spec::Traffic& traffic, std::uint64_t seed)
    : selection_(traffic.selection),
      shape_{.addresses_vary = addresses_vary(traffic),
             .enumerated = traffic.selection != spec::Selection::kIndependent},
      series_{.port_key = derive(seed, 0),
              .address_key = derive(seed, 1),
              .network = {spec::SeriesMode::kPseudorandom, 0, traffic.networks}} {
  const auto series = [this](const spec::Series& source) {
    return shape_.enumerated ? as_range(source) : Series(source);
  };
  series_.source_port = series(traffic.source_port);
  series_.destination_port = series(traffic.destination_port);
  series_.source_field = series(traffic.source_field);
  series_.destination_field = series(traffic.destination_field);
  ports_are_random_ = series_.source_port.pseudorandom() && series_.destination_port.pseudorandom();
  ports_are_shared_ = traffic.source_port_set || traffic.destination_port_set;
  if (traffic.source_port_set) source_ports_ = SharedPorts(*traffic.source_port_set);
  if (traffic.destination_port_set) {
    destination_ports_ = SharedPorts(*traffic.destination_port_set);
  }
  if (!shape_.enumerated) return;
  by_ports_alone_ = NarrowDivider(series_.source_port.range());
  by_source_ports_ = Divider(series_.source_port.range());
  by_destination_ports_ = Divider(series_.destination_port.range());
  const auto sources = std::uint64_t{series_.source_port.range()} * series_.source_field.range();
  const auto destinations =
      std::uint64_t{series_.destination_port.range()} * series_.destination_field.range();
  combinations_ = sources * destinations;
  by_sources_ = Divider(sources);
  permuted_ = selection_ == spec::Selection::kEnumeratePseudorandom;
  permutation_ = Permutation(combinations_, derive(seed, 2));
}

std::optional<std::uint64_t> Flow::ordinal_of(const Values& values) const {
  const auto source_port = index_in(series_.source_port, values.source_port);
  const auto destination_port = index_in(series_.destination_port, values.destination_port);
  const auto source_field = index_in(series_.source_field, values.source_field);
  const auto destination_field = index_in(series_.destination_field, values.destination_field);
  if (!shape_.enumerated || !source_port || !destination_port || !source_field ||
      !destination_field)
    return std::nullopt;
  const auto source = *source_field * series_.source_port.range() + *source_port;
  const auto destination =
      *destination_field * series_.destination_port.range() + *destination_port;
  const auto place = destination * by_sources_.divisor() + source;
  const auto rank = permuted_ ? permutation_.rank_of(place) : place;
  return selection_ == spec::Selection::kEnumerateDecreasing ? combinations_ - 1 - rank : rank;
}

}  // namespace natxy::flow
