// Reads the configuration and requests, and writes events, as JSON (docs/reference/gateway.md).
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <variant>

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

struct ConfigureRequest {
  Config config;
};
struct ClearRequest {};
struct RecordRequest {};
struct RealtimeRequest {
  Nanoseconds for_ns = 0;
};
struct MuteRequest {
  Nanoseconds for_ns = 0;
};
// Requests about the table of the stateful translation.
struct FlushRequest {};
struct CountRequest {};
struct SetTimeoutRequest {
  Nanoseconds ns = 0;
};
struct ForgetRequest {
  std::uint64_t connection = 0;  // n: the n-th connection that was created
};
struct ChangeRequest {
  std::uint64_t connection = 0;
};
struct QuitRequest {};
using Request = std::variant<ConfigureRequest, ClearRequest, RecordRequest, MuteRequest,
                             RealtimeRequest, FlushRequest, CountRequest, SetTimeoutRequest,
                             ForgetRequest, ChangeRequest, QuitRequest>;

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
