// JSON in and out. The library that reads it stays inside json_read.cpp and json_write.cpp: it is
// slow to compile.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "spec/event.hpp"
#include "spec/request.hpp"
#include "spec/spec_error.hpp"
#include "spec/trial_result.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::spec {

// A line that is no request, or a trial whose spec is wrong; id where the line had one.
class RequestError : public std::runtime_error {
 public:
  RequestError(std::optional<std::uint64_t> id, ErrorKind kind, const std::string& sentence)
      : std::runtime_error(sentence), id_(id), kind_(kind) {}
  [[nodiscard]] ErrorEvent event() const { return {.id = id_, .kind = kind_, .message = what()}; }

 private:
  std::optional<std::uint64_t> id_;
  ErrorKind kind_;
};

// Any octets are allowed as input. Throw SpecError and RequestError and nothing else.
[[nodiscard]] TrialSpec parse_spec(std::string_view text);
[[nodiscard]] Request parse_request(std::string_view line);

// Each is one line, without its end.
[[nodiscard]] std::string hello_event(const Hello& hello);
[[nodiscard]] std::string progress_event(std::uint64_t id, const Progress& progress);
[[nodiscard]] std::string result_event(std::uint64_t id, const TrialResult& result);
[[nodiscard]] std::string error_event(const ErrorEvent& error);

}  // namespace natxy::spec
