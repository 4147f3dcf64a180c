#include "flow/flow.hpp"

namespace natxy::flow {
namespace {

bool has_field(const spec::AddressPair& pair) {
  return pair.source.field_byte || pair.destination.field_byte;
}

bool addresses_vary(const spec::Traffic& traffic) {
  return traffic.networks > 1 || has_field(traffic.departure) || has_field(traffic.arrival);
}

// In an enumeration a series gives its range alone; the order is the enumeration's.
Series16 as_range(const spec::Series& series) {
  const auto min = series.min;
  const auto max = series.mode == spec::SeriesMode::kFixed ? series.min : series.max;
  return {spec::SeriesMode::kIncreasing, min, max - min + 1U};
}

}  // namespace

Flow::Flow(const spec::Traffic& traffic, std::uint64_t seed)
    : selection_(traffic.selection),
      shape_{.addresses_vary = addresses_vary(traffic),
             .enumerated = traffic.selection != spec::Selection::kIndependent},
      port_key_(derive(seed, 0)),
      address_key_(derive(seed, 1)),
      network_(spec::SeriesMode::kPseudorandom, 0, traffic.networks) {
  const auto series = [this](const spec::Series& of) {
    return shape_.enumerated ? as_range(of) : Series16(of);
  };
  source_port_ = series(traffic.source_port);
  destination_port_ = series(traffic.destination_port);
  source_field_ = series(traffic.source_field);
  destination_field_ = series(traffic.destination_field);
  if (!shape_.enumerated) return;
  by_source_ports_ = Divider(source_port_.range());
  by_destination_ports_ = Divider(destination_port_.range());
  const auto sources = std::uint64_t{source_port_.range()} * source_field_.range();
  const auto destinations = std::uint64_t{destination_port_.range()} * destination_field_.range();
  combinations_ = sources * destinations;
  permuted_ = selection_ == spec::Selection::kEnumeratePseudorandom;
  permutation_ = Permutation(sources, destinations, derive(seed, 2));
}

}  // namespace natxy::flow
