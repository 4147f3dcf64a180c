// Reads requests and writes events as JSON. Does not include the JSON library, because it is slow
// to compile.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

#include "spec/event.hpp"
#include "spec/rules.hpp"
#include "spec/trial_result.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::spec {

// The requests to the engine; each is one line.
struct TrialRequest {
  std::uint64_t id = 0;
  TrialSpec spec;
};
struct CancelRequest {};
struct QuitRequest {};

using Request = std::variant<TrialRequest, CancelRequest, QuitRequest>;

// An error in a request or in the spec of a trial. Has the request's id if the line contains one.
class RequestError : public std::runtime_error {
 public:
  RequestError(std::optional<std::uint64_t> id, ErrorKind kind, const std::string& sentence)
      : std::runtime_error(sentence), id_(id), kind_(kind) {}
  [[nodiscard]] ErrorEvent event() const { return {.id = id_, .kind = kind_, .message = what()}; }

 private:
  std::optional<std::uint64_t> id_;
  ErrorKind kind_;
};

// Parse any sequence of octets. parse_spec() throws only SpecError, parse_request() only
// RequestError.
[[nodiscard]] TrialSpec parse_spec(std::string_view text);
[[nodiscard]] Request parse_request(std::string_view line);

// Each returns one line without its newline.
[[nodiscard]] std::string hello_event(const Hello& hello);
[[nodiscard]] std::string progress_event(std::uint64_t id, const Progress& progress);
[[nodiscard]] std::string result_event(std::uint64_t id, const TrialResult& result);
[[nodiscard]] std::string error_event(const ErrorEvent& error);

}  // namespace natxy::spec
