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

constexpr unsigned kRingFrames = 1024;

double resident_octets() {
  std::ifstream file("/proc/self/statm");
  double size = 0;
  double resident = 0;
  file >> size >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

std::unique_ptr<port::Port> port_between(spec::Side side, rte_ring* from, rte_ring* to) {
  // net_null's traits: a frame that the ring has no room for is tried again.
  return std::make_unique<port::Port>(
      port::PortOptions{
          .side = side, .device = port::parse_device("net_null0,no-rx=1"), .workers = 2},
      port::EthDevice::over_rings(from, to, 1));
}

constexpr std::uint64_t kReplies = 8'000'000;

spec::Stream stream_of(spec::Role role, std::uint64_t frames, std::uint64_t rate_fps) {
  const bool outward = role == spec::Role::kEstablish;
  auto traffic = random_ports(spec::IpVersion::k4);
  traffic.selection = spec::Selection::kEnumeratePseudorandom;
  if (!outward) {
    for (auto* pair : {&traffic.departure, &traffic.arrival}) {
      std::swap(pair->source, pair->destination);
    }
    std::swap(traffic.source_port, traffic.destination_port);
  }
  traffic.connections = spec::Connections{
      .role = role, .order = outward ? spec::Order::kLinear : spec::Order::kPseudorandom};
  spec::Stream stream;
  stream.direction = outward ? spec::Direction::kForward : spec::Direction::kReverse;
  stream.segments = {{.frames = frames, .rate_fps = rate_fps, .pause_ns = 0}};
  stream.foreground = traffic;
  return stream;
}

spec::TrialSpec trial_of(std::uint64_t connections, std::uint64_t rate_fps) {
  spec::TrialSpec spec{.seed = 1, .nonce = 2, .drain_ns = 200'000'000};
  spec.lateness_tolerance_ns = spec::kMaxTrialNs;
  spec.warm_up.mode = spec::WarmUpMode::kNeighbours;
  for (auto& side : spec.sides) side.next_hop.mac = frame::Mac{2, 0, 0, 0, 0, 1};
  spec.phases = {
      {.name = "establish", .streams = {stream_of(spec::Role::kEstablish, connections, rate_fps)}},
      {.name = "reply", .streams = {stream_of(spec::Role::kRespond, kReplies, spec::kMaxRateFps)}}};
  return spec;
}

}  // namespace

Establishment establish(std::uint64_t connections, std::uint64_t rate_fps,
                        const std::vector<int>& cpus, run::TickRate ticks) {
  const auto there = port::make_ring(kRingFrames, port::Producers::kOne);
  const auto back = port::make_ring(kRingFrames, port::Producers::kOne);
  port::Device device({port_between(spec::Side::kLeft, back.get(), there.get()),
                       port_between(spec::Side::kRight, there.get(), back.get())},
                      cpus, ticks);
  run::TrialRunner<run::TscClock, port::Device> runner(device);
  const std::atomic<bool> go_on{false};
  const auto before = resident_octets();
  const auto result =
      runner.run(trial_of(connections, rate_fps), [](const spec::Progress&) {}, go_on);
  const auto grown = resident_octets() - before;
  const auto& table = result.connections.value();
  if (table.stored != connections) {
    throw std::runtime_error("phase 1 benchmark: " + std::to_string(table.stored) +
                             " connections were stored, not " + std::to_string(connections));
  }
  const auto& replies = result.streams[1];
  if (replies.connections->known != kReplies) {
    throw std::runtime_error("phase 2 benchmark: " + std::to_string(replies.connections->known) +
                             " replies came back right, not " + std::to_string(kReplies));
  }
  const auto count = static_cast<double>(connections);
  return {.connections = table.stored,
          .per_second = count * 1e9 / result.streams[0].sending_ns,
          .replies_per_second = static_cast<double>(kReplies) * 1e9 / replies.sending_ns,
          .table_octets = static_cast<double>(table.bytes) / count,
          .resident_octets = grown / count,
          .page_bytes = table.page_bytes};
}

}  // namespace natxy::bench
