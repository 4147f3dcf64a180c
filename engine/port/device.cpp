#include "port/device.hpp"

#include <rte_mbuf_dyn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "spec/rules.hpp"

namespace natxy::port {
namespace {

using spec::IpVersion;
using spec::Side;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kConnectAgain{200};  // a memif's handshake takes some milliseconds
constexpr milliseconds kAskAgain{100};
constexpr milliseconds kTell{10};  // reporting progress also reads a cancel request
constexpr std::chrono::microseconds kNap{50};
constexpr unsigned kLoopFrames = 1024;
constexpr std::uint64_t kLongestWaitNs = 1'000'000'000;

const char* name_of(Side side) {
  return side == Side::kLeft ? "left" : "right";
}

PortOptions port_options(const DeviceOptions& options, Side side) {
  return {.side = side,
          .device = options.devices[static_cast<unsigned>(side)],
          .mtu_bytes = options.mtu_bytes,
          .workers = static_cast<unsigned>(options.worker_cpus.size()),
          .tx_queues = options.tx_queues,
          .rx_queues = options.rx_queues,
          .own_clock = options.own_clocks};
}

[[noreturn]] void refuse_silence(Side side, const Resolution& resolution,
                                 std::chrono::nanoseconds patience) {
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.3g", static_cast<double>(patience.count()) / 1e9);
  throw spec::TrialError(spec::ErrorKind::kNeighbour,
                         std::string(name_of(side)) + ": " + resolution.complaint() + " within " +
                             seconds +
                             " s (expected the address of a gateway that is up, or sides." +
                             name_of(side) + ".next_hop.mac)");
}

std::vector<rte_ring*> pointers(const std::vector<Ring>& rings) {
  std::vector<rte_ring*> all;
  for (const auto& ring : rings) all.push_back(ring.get());
  return all;
}

std::unique_ptr<Port> looped_port(const PortOptions& options, const std::vector<Ring>& rx,
                                  const std::vector<Ring>& tx) {
  const auto queues = options.tx_queues.value_or(options.workers);
  return std::make_unique<Port>(options, EthDevice::over_rings(pointers(rx), pointers(tx), queues));
}

}  // namespace

Device::Device(std::array<std::unique_ptr<Port>, 2> ports, const std::vector<int>& worker_cpus,
               run::TickRate ticks)
    : sides_{std::make_unique<SideState>(std::move(ports[0])),
             std::make_unique<SideState>(std::move(ports[1]))},
      workers_(worker_cpus),
      ticks_(ticks) {
  time_by_own_clocks();
  hold_interrupts();
}

Device::Device(const DeviceOptions& options, const TscRate& rate)
    : workers_(options.worker_cpus), ticks_(0) {
  if (options.devices[0].ring() != options.devices[1].ring()) {
    throw spec::TrialError(
        spec::ErrorKind::kDevice,
        "--left, --right: one is \"ring\" and the other is not (expected both or "
        "neither)");
  }
  const bool looped = options.devices[0].ring();
  if (looped) {
    for (auto& rings : loop_) {
      for (unsigned queue = 0; queue < options.rx_queues; ++queue) {
        rings.push_back(make_ring(kLoopFrames, Producers::kMany));
      }
    }
  }
  for (unsigned i = 0; i < 2; ++i) {
    const auto chosen = port_options(options, static_cast<Side>(i));
    sides_[i] = std::make_unique<SideState>(looped ? looped_port(chosen, loop_[i], loop_[1 - i])
                                                   : Port::open(chosen));
  }
  ticks_ = run::TickRate(rate.hz());
  time_by_own_clocks();
  hold_interrupts();
}

void Device::hold_interrupts() {
  for (const auto& side : sides_) {
    if (side->port->unmaps_rings() && !interrupts_) interrupts_.emplace();
  }
}

void Device::join() {
  workers_.join();
  if (!interrupts_) return;
  interrupts_->let_pass();
  watch_links();  // a peer that ended during the trial is noticed only now
}

void Device::time_by_own_clocks() {
  const StampLimits limits{
      .ahead = static_cast<std::int64_t>(ticks_.from_ns(spec::kClockErrorLimitNs)),
      .waits = static_cast<std::int64_t>(ticks_.from_ns(kLongestWaitNs))};
  if (rx_queues() > 1) return;  // a port's clock has one user
  for (const auto& side : sides_) {
    StampField field;
    auto reader = side->port->clock_reader();
    if (!reader || rte_mbuf_dyn_rx_timestamp_register(&field.offset, &field.flag) != 0) continue;
    side->clock = PortClock::of(std::move(reader), ticks_);
    if (side->clock) side->port->rx_queue().time_by(&*side->clock, field, limits);
  }
}

// The trial in which it shows is invalid; from the next one on, the processor's clock is used.
void Device::leave_useless_clocks() {
  for (const auto& side : sides_) {
    if (!side->clock || !side->port->rx_queue().stamps_fail()) continue;
    side->port->rx_queue().time_by(nullptr, {}, {});
    side->clock.reset();
  }
}

frame::Link Device::link(Side side, IpVersion version) const {
  const auto& macs = side_of(side).macs;
  return {.source = port(side).mac(),
          .destination = (version == IpVersion::k4 ? macs.ipv4 : macs.ipv6).value_or(Mac{}),
          .vlans = side_of(side).vlans};
}

spec::PortInfo Device::info(Side side) const {
  auto info = port(side).info();
  if (side_of(side).clock) info.offloads.emplace_back("rx_timestamp");
  return info;
}

void Device::await_speeds(milliseconds patience) const {
  const auto end = steady_clock::now() + patience;
  const auto known = [](const auto& side) { return side->port->speed_known(); };
  while (!std::ranges::all_of(sides_, known) && steady_clock::now() < end) {
    std::this_thread::sleep_for(kTell);
  }
}

spec::ArrivalClock Device::arrival_clock(Side side) {
  auto& clock = side_of(side).clock;
  if (!clock) return {};
  const auto& queue = port(side).rx_queue();
  return {.own = true,
          .error_ns = ticks_.to_ns(static_cast<double>(clock->take_error())),
          .unstamped = queue.unstamped(),
          .implausible = queue.implausible()};
}

void Device::idle() {
  if (interrupts_) interrupts_->let_pass();
  for (const auto& side : sides_) {
    if (side->port->started()) side->service.poll(nullptr);
  }
}

void Device::resolve(const spec::TrialSpec& spec, const std::function<void()>& progress,
                     const std::atomic<bool>& cancelled) {
  const Watch watch{.progress = progress, .cancelled = cancelled};
  check_frame_sizes(spec);
  leave_useless_clocks();
  if (interrupts_) interrupts_->let_pass();
  for (const auto side : {Side::kLeft, Side::kRight}) await_link(side, watch);
  std::array plans{neighbour_plan(spec, Side::kLeft), neighbour_plan(spec, Side::kRight)};
  // Both sides can answer before either asks, because a cable may connect them to each other.
  for (const auto side : {Side::kLeft, Side::kRight}) {
    set_vlans(side, spec.sides[static_cast<unsigned>(side)].vlans);
    side_of(side).service.set_own(std::move(plans[static_cast<unsigned>(side)].own));
  }
  for (const auto side : {Side::kLeft, Side::kRight}) {
    auto& questions = plans[static_cast<unsigned>(side)].questions;
    if (!cancelled.load()) resolve_side(side, spec, std::move(questions), watch);
    if (auto& clock = side_of(side).clock) clock->settle();
  }
}

void Device::forget() {
  for (const auto& side : sides_) side->answered.clear();
}

void Device::set_vlans(Side side, const std::vector<spec::VlanTag>& vlans) {
  auto& state = side_of(side);
  if (state.vlans != vlans) state.answered.clear();  // another VLAN has another gateway
  state.vlans = vlans;
  state.service.set_vlans(vlans);
}

void Device::check_frame_sizes(const spec::TrialSpec& spec) const {
  for (std::size_t p = 0; p < spec.phases.size(); ++p) {
    for (std::size_t s = 0; s < spec.phases[p].streams.size(); ++s) {
      const auto& stream = spec.phases[p].streams[s];
      const auto member = "phases[" + std::to_string(p) + "].streams[" + std::to_string(s) + "].";
      if (stream.foreground)
        check_frame_sizes(*stream.foreground, stream.direction, member + "foreground");
      if (stream.background)
        check_frame_sizes(*stream.background, stream.direction, member + "background");
    }
  }
}

void Device::check_frame_sizes(const spec::Traffic& traffic, spec::Direction direction,
                               const std::string& member) const {
  const auto check = [&](Side side, const spec::PacketFormat& format, const char* end) {
    const auto mtu = port(side).mtu_bytes();
    const auto largest = mtu + kEthernetOverhead;
    if (format.frame_size_bytes <= largest) return;
    throw spec::TrialError(spec::ErrorKind::kSpec,
                           member + end +
                               ".frame_size_bytes: " + std::to_string(format.frame_size_bytes) +
                               " is too large for the engine's --mtu " + std::to_string(mtu) +
                               " (expected at most " + std::to_string(largest) + ")");
  };
  check(spec::from_side(direction), traffic.departure, ".departure");
  check(spec::to_side(direction), traffic.arrival, ".arrival");
}

void Device::await_link(Side side, const Watch& watch) {
  const auto begin = steady_clock::now();
  auto connect_at = begin + kConnectAgain;
  while (!port(side).link_up() && !watch.cancelled.load()) {
    side_of(side).answered.clear();  // another gateway may be connected when the link comes up
    const auto now = steady_clock::now();
    if (now >= begin + kLinkPatience) {
      throw spec::TrialError(spec::ErrorKind::kDevice,
                             std::string(name_of(side)) + ": the link of \"" + port(side).device() +
                                 "\" is down (expected a peer that is connected and up)");
    }
    if (now >= connect_at) {
      port(side).reconnect();
      connect_at = now + kConnectAgain;
    }
    watch.progress();
    std::optional<plumbing::HeldInterrupts::Released> released;
    if (interrupts_) released.emplace(*interrupts_);
    std::this_thread::sleep_for(kTell);
  }
}

void Device::resolve_side(Side side, const spec::TrialSpec& spec,
                          std::vector<NeighbourQuestion> questions, const Watch& watch) {
  auto& state = side_of(side);
  if (const auto& mac = spec.sides[static_cast<unsigned>(side)].next_hop.mac) {
    state.macs = {.ipv4 = mac, .ipv6 = mac};
    state.answered.clear();
    return;
  }
  if (questions == state.answered) return;
  state.answered.clear();
  Resolution resolution(std::move(questions));
  ask(side, resolution, std::chrono::nanoseconds(spec.warm_up.timeout_ns), watch);
  if (!resolution.done()) return;  // cancelled
  state.macs = resolution.macs();
  state.answered = resolution.questions();
}

void Device::ask(Side side, Resolution& resolution, std::chrono::nanoseconds patience,
                 const Watch& watch) {
  const auto end = steady_clock::now() + patience;
  auto ask_at = steady_clock::now();
  auto tell_at = ask_at;
  bool questioned = false;
  while (!resolution.done() && !watch.cancelled.load()) {
    const auto now = steady_clock::now();
    if (now >= ask_at) {
      if (now >= end && questioned) refuse_silence(side, resolution, patience);
      send_all(side, resolution.open_questions(port(side).mac()));
      questioned = true;
      ask_at = now + kAskAgain;
    }
    if (now >= tell_at) {
      watch.progress();
      tell_at = now + kTell;
    }
    for (const auto polled : {Side::kLeft, Side::kRight}) {
      side_of(polled).service.poll(polled == side ? &resolution : nullptr);
    }
    std::this_thread::sleep_for(kNap);
  }
}

void Device::send_all(Side side, const std::vector<NeighbourFrame>& frames) {
  for (const auto& frame : frames) side_of(side).service.send(frame);
}

}  // namespace natxy::port
