#include "connections.hpp"

#include <unistd.h>

#include <fstream>
#include <stdexcept>
#include <string>

#include "loops.hpp"
#include "port/device.hpp"
#include "run/trial.hpp"

namespace natxy::bench {
namespace {

constexpr unsigned kRingSlots = 1024;

double resident_octets() {
  std::ifstream file("/proc/self/statm");
  double size = 0;
  double resident = 0;
  file >> size >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

std::unique_ptr<port::Port> port_between(spec::Side side, rte_ring* from, rte_ring* to) {
  // With the traits of net_null, a frame that the full ring refuses is sent again.
  return std::make_unique<port::Port>(
      port::PortOptions{
          .side = side, .device = port::parse_device("net_null0,no-rx=1"), .workers = 2},
      port::EthDevice::over_rings(from, to, 1));
}

constexpr std::uint64_t kReplies = 2'000'000;

// Returns a stream like that of phase 1, but without connections.
spec::Stream stateless_stream(std::uint64_t frames, std::uint64_t rate_fps) {
  spec::Stream stream;
  stream.direction = spec::Direction::kForward;
  stream.segments = {{.frames = frames, .rate_fps = rate_fps, .pause_ns = 0}};
  stream.foreground = random_ports(spec::IpVersion::k4);
  stream.foreground->selection = spec::Selection::kEnumeratePseudorandom;
  return stream;
}

spec::Stream establishing(std::uint64_t connections, std::uint64_t rate_fps) {
  auto stream = stateless_stream(connections, rate_fps);
  stream.foreground->connections = spec::Connections{.role = spec::Role::kEstablish};
  return stream;
}

spec::Stream replying() {
  auto stream = stateless_stream(kReplies, spec::kMaxRateFps);
  stream.direction = spec::Direction::kReverse;
  auto& traffic = *stream.foreground;
  for (auto* pair : {&traffic.departure, &traffic.arrival}) {
    std::swap(pair->source, pair->destination);
  }
  std::swap(traffic.source_port, traffic.destination_port);
  traffic.connections =
      spec::Connections{.role = spec::Role::kRespond, .order = spec::Order::kPseudorandom};
  return stream;
}

void expect_all(const char* what, std::uint64_t came, std::uint64_t expected) {
  if (came == expected) return;
  throw std::runtime_error(std::string(what) + ": " + std::to_string(came) + " came, not " +
                           std::to_string(expected));
}

double per_second(std::uint64_t frames, const spec::StreamResult& stream) {
  return static_cast<double>(frames) * 1e9 / stream.sending_ns;
}

}  // namespace

ConnectionBench::ConnectionBench(const std::vector<int>& cpus, run::TickRate ticks)
    : there_(port::make_ring(kRingSlots, port::Producers::kOne)),
      back_(port::make_ring(kRingSlots, port::Producers::kOne)),
      device_({port_between(spec::Side::kLeft, back_.get(), there_.get()),
               port_between(spec::Side::kRight, there_.get(), back_.get())},
              cpus, ticks) {}

Establishment ConnectionBench::establish(std::uint64_t connections, std::uint64_t rate_fps) {
  const auto before = resident_octets();
  Runner runner(device_);
  const auto result =
      run(runner, {{.name = "establish", .streams = {establishing(connections, rate_fps)}},
                   {.name = "reply", .streams = {replying()}}});
  const auto grown = resident_octets() - before;
  const auto& table = result.connections.value();
  expect_all("connections of phase 1", table.stored, connections);
  expect_all("replies in phase 2", result.streams[1].connections->known, kReplies);
  const auto count = static_cast<double>(connections);
  return {.connections = table.stored,
          .preparation_s = result.preparation_ns / 1e9,
          .per_second = per_second(connections, result.streams[0]),
          .replies_per_second = per_second(kReplies, result.streams[1]),
          .table_octets = static_cast<double>(table.bytes) / count,
          .resident_octets = grown / count,
          .page_bytes = table.page_bytes};
}

double ConnectionBench::stateless(std::uint64_t frames) {
  Runner runner(device_);
  const auto result = run(
      runner, {{.name = "stateless", .streams = {stateless_stream(frames, spec::kMaxRateFps)}}});
  expect_all("frames without connections", result.streams[0].kinds[0]->received, frames);
  return per_second(frames, result.streams[0]);
}

spec::TrialResult ConnectionBench::run(Runner& runner, const std::vector<spec::Phase>& phases) {
  spec::TrialSpec spec{.seed = 1, .nonce = ++nonce_, .drain_ns = 200'000'000};
  spec.lateness_tolerance_ns = spec::kMaxTrialNs;
  spec.warm_up.mode = spec::WarmUpMode::kNeighbours;
  for (auto& side : spec.sides) side.next_hop.mac = frame::Mac{2, 0, 0, 0, 0, 1};
  spec.phases = phases;
  const std::atomic<bool> go_on{false};
  return runner.run(spec, [](const spec::Progress&) {}, go_on);
}

}  // namespace natxy::bench
