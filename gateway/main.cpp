// natxy-gateway: the calibration gateway as a program (docs/reference/gateway.md).
#include <rte_version.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <new>
#include <string>
#include <variant>

#include "gateway/clock.hpp"
#include "gateway/eal.hpp"
#include "gateway/json.hpp"
#include "gateway/options.hpp"
#include "gateway/request_loop.hpp"
#include "gateway/ring_gateway.hpp"
#include "plumbing/event_writer.hpp"

namespace natxy::gateway {
namespace {

constexpr int kUnusable = 2;  // exit status for a wrong command line or an unusable device

std::string answer(RingGateway& gateway, const ConfigureRequest& request) {
  gateway.configure(request.config);
  return done_event("configured");
}

std::string answer(RingGateway& gateway, const ClearRequest& /*request*/) {
  gateway.clear();
  return done_event("cleared");
}

std::string answer(RingGateway& gateway, const RecordRequest& /*request*/) {
  return record_event(gateway.record());
}

std::string answer(RingGateway& gateway, const MuteRequest& request) {
  gateway.mute(request.for_ns);
  return done_event("muted");
}

std::string answer(RingGateway& gateway, const RealtimeRequest& request) {
  if (gateway.realtime(request.for_ns)) return done_event("realtime");
  return error_event(
      "request: the system refuses a real-time policy (expected root or CAP_SYS_NICE)");
}

void use_sessions(RingGateway& gateway, const std::function<void(Sessions&)>& use) {
  if (gateway.with_sessions(use)) return;
  throw ConfigError("request",
                    "there is no stateful translation (expected \"nat\" in the configuration)");
}

// Flushes the table. The time is measured in the forwarding loop, so it does not include the
// request's way.
std::string answer(RingGateway& gateway, const FlushRequest& /*request*/) {
  std::uint64_t entries = 0;
  Nanoseconds took_ns = 0;
  use_sessions(gateway, [&](Sessions& sessions) {
    const auto start_ns = clock_ns();
    entries = sessions.flush(clock_ns);
    took_ns = clock_ns() - start_ns;
  });
  return flushed_event(entries, took_ns);
}

std::string answer(RingGateway& gateway, const CountRequest& /*request*/) {
  std::uint64_t entries = 0;
  use_sessions(gateway, [&](const Sessions& sessions) { entries = sessions.count(); });
  return count_event(entries);
}

std::string answer(RingGateway& gateway, const SetTimeoutRequest& request) {
  use_sessions(gateway, [&](Sessions& sessions) { sessions.set_timeout(request.ns); });
  return done_event("timeout-set");
}

std::string answer_about(std::uint64_t connection, bool is_known, std::string_view done) {
  if (is_known) return done_event(done);
  throw ConfigError("request",
                    "connection " + std::to_string(connection) +
                        " is not in the table (expected the ordinal of one that exists)");
}

std::string answer(RingGateway& gateway, const ForgetRequest& request) {
  bool is_known = false;
  use_sessions(gateway, [&](Sessions& s) { is_known = s.forget(request.connection); });
  return answer_about(request.connection, is_known, "forgotten");
}

std::string answer(RingGateway& gateway, const ChangeRequest& request) {
  bool is_known = false;
  use_sessions(gateway, [&](Sessions& s) { is_known = s.change(request.connection); });
  return answer_about(request.connection, is_known, "changed");
}

std::string answer(RingGateway& /*gateway*/, const QuitRequest& /*request*/) {
  return {};
}

std::string answer_line(RingGateway& gateway, const std::string& line) {
  try {
    return std::visit([&](const auto& request) { return answer(gateway, request); },
                      parse_request(line));
  } catch (const ConfigError& error) {
    return error_event(error.what());
  } catch (const std::bad_alloc&) {
    return error_event("nat.entries: there is not enough memory for the table (expected fewer)");
  }
}

void serve(const Options& options, plumbing::EventWriter& events) {
  const int signals = open_signals();
  Eal eal(options);
  const auto left = eal.probe(Side::kLeft, options.left);
  const auto right = eal.probe(Side::kRight, options.right);
  RingGateway gateway({.left_port = left,
                       .right_port = right,
                       .config = default_config(),
                       .mtu_bytes = options.mtu_bytes});
  gateway.start_on_lcore(Eal::kWorker);
  const auto describe = [&](Side side, const std::string& device, std::uint16_t port_id) {
    return PortDescription{.side = side,
                           .device = device,
                           .driver = Eal::driver_of(port_id),
                           .mac = gateway.mac(side)};
  };
  const auto hello = hello_event(
      {describe(Side::kLeft, options.left, left), describe(Side::kRight, options.right, right)});
  events.write(hello);
  if (events.broken()) return;
  run_requests(signals, events,
               [&](const std::string& line) { return answer_line(gateway, line); });
}

void run(const Options& options, plumbing::EventWriter& events) {
  if (options.shows_help || options.shows_version) {
    std::puts(options.shows_help ? usage() : "natxy-gateway " NATXY_VERSION);
    if (options.shows_version) std::puts(rte_version());
    return;
  }
  events = plumbing::EventWriter::take_standard_output();
  serve(options, events);
}

}  // namespace
}  // namespace natxy::gateway

int main(int count, char** words) {
  using namespace natxy::gateway;
  natxy::plumbing::EventWriter events(STDOUT_FILENO);
  try {
    run(parse_options(count, words), events);
    return 0;
  } catch (const std::exception& error) {
    events.write(error_event(error.what()));
    std::fprintf(stderr, "natxy-gateway: %s\n", error.what());
    return kUnusable;
  }
}
