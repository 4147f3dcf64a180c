// Reads the configuration and requests, and writes events, as JSON (docs/reference/gateway.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gateway/config.hpp"
#include "gateway/frame.hpp"
#include "gateway/record.hpp"
#include "plumbing/json_error.hpp"

namespace natxy::gateway {

// An error in a request; one sentence: which member, what is wrong, and what was expected.
using ConfigError = plumbing::JsonError;

// Returns the configuration with the addresses and routes of docs/reference/gateway.md, without
// neighbours, translation and faults.
[[nodiscard]] Config default_config();

[[nodiscard]] Config parse_config(std::string_view json);

enum class Verb : std::uint8_t {
  kConfigure,
  kClear,
  kRecord,
  kMute,
  kRealtime,
  // About the table of the stateful translation:
  kFlush,
  kCount,
  kSetTimeout,
  kForget,
  kChange,
  kQuit
};

struct Request {
  Verb verb = Verb::kQuit;
  std::optional<Config> config{};  // to configure
  Nanoseconds ns = 0;              // for how long to be mute or under a real-time policy; a timeout
  std::uint64_t connection = 0;    // to forget or change; n: the n-th one that was created
};

[[nodiscard]] Request parse_request(std::string_view line);

struct PortDescription {
  Side side = Side::kLeft;
  std::string device;
  std::string driver;
  Mac mac{};
};

// Each returns one line without its newline.
[[nodiscard]] std::string hello_event(const std::array<PortDescription, 2>& ports);
[[nodiscard]] std::string flushed_event(std::uint64_t entries, Nanoseconds ns);
[[nodiscard]] std::string count_event(std::uint64_t entries);
// Returns an answer that contains only its name.
[[nodiscard]] std::string done_event(std::string_view name);
[[nodiscard]] std::string record_event(const Record& record);
[[nodiscard]] std::string error_event(std::string_view message);

}  // namespace natxy::gateway
