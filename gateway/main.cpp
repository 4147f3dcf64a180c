// natxy-gateway: the calibration gateway as a program (docs/reference/gateway.md).
#include <rte_version.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/clock.hpp"
#include "gateway/json.hpp"
#include "gateway/ring_gateway.hpp"
#include "plumbing/dpdk.hpp"
#include "plumbing/options.hpp"
#include "plumbing/requests.hpp"

namespace natxy::gateway {
namespace {

constexpr int kUnusable = 2;  // exit status for a wrong command line or an unusable device

using plumbing::UsageError;

// --- the command line ----------------------------------------------------------------------------

struct Options {
  std::string left;
  std::string right;
  std::vector<int> core;  // one CPU
  bool may_use_huge_pages = true;
  unsigned memory_mb = 256;
  std::size_t mtu_bytes = 1500;
  bool shows_version = false;
  bool shows_help = false;
};

unsigned whole_number(const std::string& text, unsigned min, unsigned max) {
  return plumbing::number(text, min, max, "a whole number from ");
}

void check(const Options& options) {
  if (options.left.empty() || options.right.empty()) {
    throw UsageError(
        "--left, --right: a device is missing (expected a device such as net_af_packet0,iface=d0)");
  }
  if (name_of_device(options.left) == name_of_device(options.right)) {
    throw UsageError("--left, --right: both name the same device (expected two devices)");
  }
  if (options.core.empty()) throw UsageError("--core: is missing (expected the number of a CPU)");
}

const char* usage() {
  return "natxy-gateway --left DEVICE --right DEVICE --core CPU [--huge-pages auto|never] "
         "[--memory-mb N] [--mtu BYTES] [--version]";
}

Options parse_options(int count, char* const* words) {
  Options options;
  using Text = const std::string&;
  plumbing::read_options(
      count, words,
      {{"left", [&](Text text) { options.left = text; }},
       {"right", [&](Text text) { options.right = text; }},
       {"core",
        [&](Text text) {
          (void)whole_number(text, 0, 1023);
          options.core = plumbing::usable_cpus(text);
        }},
       {"huge-pages",
        [&](Text text) { options.may_use_huge_pages = plumbing::is_auto(text, "never"); }},
       {"memory-mb", [&](Text text) { options.memory_mb = whole_number(text, 64, 1U << 20U); }},
       {"mtu",
        [&](Text text) {
          options.mtu_bytes = whole_number(text, 68, FrameStore::kMaxOctets - 64);
        }},
       {"version", [&](Text) { options.shows_version = true; }, false},
       {"help", [&](Text) { options.shows_help = true; }, false}},
      {.option = usage(), .word = usage()});
  if (!options.shows_version && !options.shows_help) check(options);
  return options;
}

// --- requests ------------------------------------------------------------------------------------

std::uint64_t use_sessions(RingGateway& gateway,
                           const std::function<std::uint64_t(Sessions&)>& use) {
  std::uint64_t result = 0;
  if (gateway.with_sessions([&](Sessions& sessions) { result = use(sessions); })) return result;
  throw ConfigError("request",
                    "there is no stateful translation (expected \"nat\" in the configuration)");
}

// Flushes the table. The time is measured in the forwarding loop, so it does not include the
// request's way.
std::string flush(RingGateway& gateway) {
  Nanoseconds took_ns = 0;
  const auto entries = use_sessions(gateway, [&](Sessions& sessions) {
    const auto start_ns = clock_ns();
    const auto count = sessions.flush(clock_ns);
    took_ns = clock_ns() - start_ns;
    return count;
  });
  return flushed_event(entries, took_ns);
}

std::string realtime(RingGateway& gateway, Nanoseconds for_ns) {
  if (gateway.realtime(for_ns)) return done_event("realtime");
  return error_event(
      "request: the system refuses a real-time policy (expected root or CAP_SYS_NICE)");
}

// Forgets or changes a connection.
std::string revise(RingGateway& gateway, const Request& request,
                   bool (Sessions::*change)(std::uint64_t), std::string_view done) {
  const auto known =
      use_sessions(gateway, [&](Sessions& s) { return (s.*change)(request.connection) ? 1U : 0U; });
  if (known != 0) return done_event(done);
  throw ConfigError("request",
                    "connection " + std::to_string(request.connection) +
                        " is not in the table (expected the ordinal of one that exists)");
}

// Returns the event that answers a request; empty for the last one.
std::string answer(RingGateway& gateway, const Request& request) {
  switch (request.verb) {
    case Verb::kConfigure:
      gateway.configure(*request.config);
      return done_event("configured");
    case Verb::kClear:
      gateway.clear();
      return done_event("cleared");
    case Verb::kRecord:
      return record_event(gateway.record());
    case Verb::kMute:
      gateway.mute(request.ns);
      return done_event("muted");
    case Verb::kRealtime:
      return realtime(gateway, request.ns);
    case Verb::kFlush:
      return flush(gateway);
    case Verb::kCount:
      return count_event(use_sessions(gateway, [](Sessions& s) { return s.count(); }));
    case Verb::kSetTimeout:
      use_sessions(gateway, [&](Sessions& s) {
        s.set_timeout(request.ns);
        return 0;
      });
      return done_event("timeout-set");
    case Verb::kForget:
      return revise(gateway, request, &Sessions::forget, "forgotten");
    case Verb::kChange:
      return revise(gateway, request, &Sessions::change, "changed");
    case Verb::kQuit:
      break;
  }
  return {};
}

std::string answer_line(RingGateway& gateway, const std::string& line) {
  try {
    return answer(gateway, parse_request(line));
  } catch (const ConfigError& error) {
    return error_event(error.what());
  } catch (const std::bad_alloc&) {
    return error_event("nat.entries: there is not enough memory for the table (expected fewer)");
  }
}

plumbing::EalOptions eal_options(const Options& options) {
  plumbing::EalOptions eal{.file_prefix = "natxy-gateway-" + std::to_string(getpid()),
                           .worker_cpus = options.core,
                           .main_cpus = plumbing::allowed_cpus(),
                           .pci_devices = {},
                           .huge_pages_allowed = options.may_use_huge_pages,
                           .memory_mb = options.memory_mb};
  for (const auto& device : {options.left, options.right}) {
    if (is_pci(device)) eal.pci_devices.push_back(device);
  }
  return eal;
}

void serve(const Options& options, plumbing::EventWriter& events) {
  constexpr unsigned kWorker = 1;  // lcore
  const int signals = plumbing::open_signals();
  const plumbing::Eal eal(eal_options(options));
  const auto left = port_of(Side::kLeft, options.left);
  const auto right = port_of(Side::kRight, options.right);
  RingGateway gateway({.left_port = left,
                       .right_port = right,
                       .config = default_config(),
                       .mtu_bytes = options.mtu_bytes});
  gateway.start_on_lcore(kWorker);
  const auto describe = [&](Side side, const std::string& device, std::uint16_t port_id) {
    return PortDescription{
        .side = side, .device = device, .driver = driver_of(port_id), .mac = gateway.mac(side)};
  };
  events.write(hello_event(
      {describe(Side::kLeft, options.left, left), describe(Side::kRight, options.right, right)}));
  plumbing::RequestLoop loop(STDIN_FILENO, signals, events);
  loop.run([&](const std::string& line) {
    const auto event = answer_line(gateway, line);
    event.empty() ? loop.end() : events.write(event);
  });
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
