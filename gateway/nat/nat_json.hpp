// Reads the configuration of the stateful translation. Included only by files that read JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "gateway/nat/nat_config.hpp"

namespace natxy::gateway {

// Each throws ConfigError.
[[nodiscard]] NatConfig read_nat(const nlohmann::json& value);
[[nodiscard]] bool is_nat_fault(const nlohmann::json& value);
[[nodiscard]] NatFault read_nat_fault(const nlohmann::json& value, const std::string& path);

}  // namespace natxy::gateway
