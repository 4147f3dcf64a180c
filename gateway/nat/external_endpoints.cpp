#include "gateway/nat/external_endpoints.hpp"

namespace natxy::gateway {

ExternalEndpoints::ExternalEndpoints(const NatConfig& config)
    : ports_(config.ports),
      choice_(config.port_choice),
      is_for_all_remotes_(config.mapping == Dependence::kEndpointIndependent),
      random_(config.seed) {
  for (const auto& address : config.pool) {
    pool_.push_back({.value = static_cast<std::uint32_t>(address.value)});
  }
}

// Returns a value of SplitMix64, scaled to the port range by a product's high half.
std::uint32_t ExternalEndpoints::random_offset() {
  random_ += 0x9e3779b97f4a7c15U;
  return static_cast<std::uint32_t>(Uint128{scramble(random_)} * ports_.count() >> 64U);
}

}  // namespace natxy::gateway
