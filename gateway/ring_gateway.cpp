#include "gateway/ring_gateway.hpp"

#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "gateway/clock.hpp"

namespace natxy::gateway {

RingGateway::RingGateway(const RingGatewayOptions& options)
    : ports_{EthernetPort(Side::kLeft, options.left_port, options.mtu_bytes),
             EthernetPort(Side::kRight, options.right_port, options.mtu_bytes)},
      gateway_(options.config,
               {.macs = {ports_[0].mac(), ports_[1].mac()}, .mtu_bytes = options.mtu_bytes},
               clock_ns()) {
  if (ports_[0].unmaps_rings() || ports_[1].unmaps_rings()) interrupts_.emplace();
  set_tags(options.config);
}

void RingGateway::set_tags(const Config& config) {
  for (const auto side : kSides) {
    ports_[index_of(side)].set_tags(config.sides[index_of(side)].vlans);
  }
}

void RingGateway::step() {
  for (const auto side : kSides) receive(side);
  gateway_.poll(clock_ns());
  for (const auto side : kSides) send(side);
}

void RingGateway::receive(Side side) {
  // Read after the receive call, so that the recorded delay is never longer than the real one.
  std::optional<Nanoseconds> now_ns;
  ports_[index_of(side)].receive([&](Octets frame) {
    if (!now_ns) now_ns = clock_ns();
    gateway_.receive(side, frame, *now_ns);
  });
  if (now_ns) pauses_.frame_arrived(*now_ns);
}

void RingGateway::send(Side side) {
  auto& outbox = gateway_.outbox(side);
  if (outbox.empty()) return;
  for (std::span<const FramePtr> rest(outbox); !rest.empty();) {
    const auto burst = rest.first(std::min<std::size_t>(rest.size(), EthernetPort::kBurst));
    const auto now_ns = clock_ns();
    const auto taken = ports_[index_of(side)].send(burst);
    for (const auto& frame : burst.first(taken)) gateway_.sent(*frame, now_ns);
    for (const auto& frame : burst.subspan(taken)) gateway_.refused(*frame);
    rest = rest.subspan(burst.size());
  }
  outbox.clear();
}

void RingGateway::run() {
  constexpr unsigned kLookEvery = 256;  // turns between looks at the clock
  prctl(PR_SET_TIMERSLACK, 1UL);        // a sleep is no longer than the configuration says
  for (unsigned turn = 0; !is_stopping_.load(std::memory_order_relaxed); ++turn) {
    step();
    if (order_.load(std::memory_order_relaxed) != nullptr) obey();
    const bool has_slept = sleep();
    if ((!has_slept && turn % kLookEvery != 0) || (realtime_until_ns_ == 0 && !interrupts_))
      continue;
    const auto now_ns = clock_ns();
    if (realtime_until_ns_ != 0 && now_ns >= realtime_until_ns_) leave_realtime();
    if (interrupts_) let_interrupts_pass(now_ns);
  }
  if (realtime_until_ns_ != 0) leave_realtime();
}

// Sleeps if the configuration says so and no frame is there. Returns whether it has slept.
bool RingGateway::sleep() {
  const auto for_ns = gateway_.sleep_ns();
  if (for_ns == 0) return false;
  const auto now_ns = clock_ns();
  gateway_.sleep(now_ns, now_ns + for_ns);
  const timespec time{.tv_sec = 0, .tv_nsec = static_cast<long>(for_ns)};
  nanosleep(&time, nullptr);  // a signal ends it early, and the next turn comes sooner
  return true;
}

// Called in the loop's thread, which uses no port meanwhile.
void RingGateway::let_interrupts_pass(Nanoseconds now_ns) {
  const bool waits =
      std::ranges::any_of(ports_, [](const auto& port) { return port.waits_for_peer(); });
  if (!pauses_.is_due(now_ns, waits, realtime_until_ns_ != 0)) return;
  interrupts_->let_pass();
  pauses_.paused(now_ns);
}

int RingGateway::run_on_lcore(void* self) {
  static_cast<RingGateway*>(self)->run();
  return 0;
}

void RingGateway::start() {
  is_stopping_ = false;
  thread_ = std::thread([this] {
    rte_thread_register();  // gives the thread a cache in each mempool
    run();
    rte_thread_unregister();
  });
}

void RingGateway::start_on_lcore(unsigned lcore) {
  is_stopping_ = false;
  const auto status = rte_eal_remote_launch(run_on_lcore, this, lcore);
  if (status != 0) throw PortError("the gateway's worker is busy or does not exist");
  lcore_ = lcore;
}

void RingGateway::stop() {
  is_stopping_ = true;
  if (thread_.joinable()) thread_.join();
  if (!lcore_) return;
  rte_eal_wait_lcore(*lcore_);
  lcore_.reset();
}

void RingGateway::carry_out(const Order& order) {
  const std::lock_guard lock(order_mutex_);
  if (!thread_.joinable() && !lcore_) return order();
  order_.store(&order, std::memory_order_release);
  order_.wait(&order, std::memory_order_acquire);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void RingGateway::obey() {
  try {
    (*order_.load(std::memory_order_acquire))();
  } catch (...) {
    failure_ = std::current_exception();  // carry_out() rethrows it
  }
  order_.store(nullptr, std::memory_order_release);
  order_.notify_all();
}

void RingGateway::configure(const Config& config) {
  carry_out([&] {
    gateway_.configure(config, clock_ns());
    set_tags(config);
  });
}

void RingGateway::clear() {
  carry_out([&] {
    gateway_.clear(clock_ns());
    gateway_.poll(clock_ns());  // who waits for this may take the CPU: an absence begins here
  });
}

void RingGateway::mute(Nanoseconds for_ns) {
  carry_out([&] { gateway_.mute(for_ns, clock_ns()); });
}

bool RingGateway::realtime(Nanoseconds for_ns) {
  bool is_taken = false;
  carry_out([&] { is_taken = take_realtime(for_ns); });
  return is_taken;
}

// Called in the loop's thread.
bool RingGateway::take_realtime(Nanoseconds for_ns) {
  if (for_ns == 0) {
    leave_realtime();
    return true;
  }
  const sched_param priority{.sched_priority = 5};
  if (sched_setscheduler(0, SCHED_FIFO, &priority) != 0) return false;
  realtime_until_ns_ = clock_ns() + for_ns;
  return true;
}

void RingGateway::leave_realtime() {
  const sched_param none{.sched_priority = 0};
  sched_setscheduler(0, SCHED_OTHER, &none);
  realtime_until_ns_ = 0;
}

bool RingGateway::with_sessions(const std::function<void(Sessions&)>& use) {
  bool is_there = false;
  carry_out([&] {
    auto* sessions = gateway_.sessions(clock_ns());
    is_there = sessions != nullptr;
    if (is_there) use(*sessions);
  });
  return is_there;
}

Record RingGateway::record() {
  Record copy{.directions = {}, .polls = {0, 0}};
  carry_out([&] { copy = gateway_.record(clock_ns()); });
  return copy;
}

}  // namespace natxy::gateway
