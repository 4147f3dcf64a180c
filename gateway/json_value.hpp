// Values that several parts of the configuration use: lists, addresses, prefixes, sides. Included
// only by files that read JSON.
#pragma once

#include <string>
#include <vector>

#include "gateway/address.hpp"
#include "gateway/json_object.hpp"
#include "gateway/side.hpp"

namespace natxy::gateway {

inline constexpr JsonObject::Range kDuration_ns{0, 3'600'000'000'000};
inline constexpr JsonObject::Range kTimeout_ns{1, 604'800'000'000'000};
inline constexpr JsonObject::Range kOrdinal{1, UINT64_MAX};

// Reads a list with `read(value, path)` for each member.
template <typename Read>
auto read_list(const nlohmann::json& value, const std::string& path, Read read) {
  if (!value.is_array()) throw ConfigError(path + ": is not a list (expected [...])");
  std::vector<decltype(read(value, path))> list;
  for (const auto& member : value) {
    list.push_back(read(member, path + "[" + std::to_string(list.size()) + "]"));
  }
  return list;
}

// Each throws ConfigError. path: the position of the value.
[[nodiscard]] IpAddress read_address(const nlohmann::json& value, const std::string& path);
[[nodiscard]] Prefix read_prefix(const nlohmann::json& value, const std::string& path);
[[nodiscard]] Prefix read_prefix(const nlohmann::json& value, const std::string& path,
                                 bool is_ipv6);
// Reads a prefix that RFC 6052 allows.
[[nodiscard]] Prefix read_translation_prefix(const nlohmann::json& value, const std::string& path);
[[nodiscard]] Side read_side(const nlohmann::json& value, const std::string& path);

}  // namespace natxy::gateway
