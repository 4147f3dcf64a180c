#include "loops.hpp"

#include <arpa/inet.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include "run/receiver.hpp"
#include "run/sender.hpp"
#include "run/trial.hpp"

namespace natxy::bench {
namespace {

using port::RxQueue;
using port::TxQueue;
using run::TscClock;

constexpr std::uint64_t kSendFrames = 4'000'000;
constexpr unsigned kChunkBursts = 30;  // what the ring of 1,024 holds, and a burst to spare
constexpr std::uint64_t kChunkFrames = kChunkBursts * run::kMaxBurst;
constexpr std::uint64_t kRingFrames = 2'000 * kChunkFrames;

spec::AddressPattern address(spec::IpVersion version, const char* text) {
  spec::AddressPattern pattern;
  inet_pton(version == spec::IpVersion::k4 ? AF_INET : AF_INET6, text, pattern.octets.data());
  return pattern;
}

// Calls work with the stream's shape as a template argument, as a trial does.
template <class Work>
void with_shape(const run::StreamPlan& plan, Work&& work) {
  run::dispatch(plan.shape(), std::forward<Work>(work));
}

void fill(TxQueue& queue, const run::StreamPlan& plan) {
  for (unsigned kind = 0; kind < 2; ++kind) {
    const auto& departure = plan.kinds[kind].departure;
    if (!departure.octets().empty()) queue.fill(kind, departure.octets(), departure.patched_at());
  }
}

// Polls like the receiver, but without its checks.
unsigned receive_and_free(RxQueue& queue) {
  std::array<rte_mbuf*, run::kMaxBurst> frames;
  const auto n = queue.receive(frames.data(), run::kMaxBurst);
  queue.release(frames.data(), n);
  return n;
}

// Sends a burst of unpatched buffers and frees those that are refused. Returns how many were sent.
unsigned send_untouched(TxQueue& queue) {
  std::array<rte_mbuf*, run::kMaxBurst> frames;
  if (!queue.allocate(0, frames.data(), run::kMaxBurst)) return 0;
  const auto sent = queue.send(frames.data(), run::kMaxBurst);
  if (sent < run::kMaxBurst) queue.release(frames.data() + sent, run::kMaxBurst - sent);
  return sent;
}

void drain(RxQueue& queue) {
  while (receive_and_free(queue) > 0) {
  }
}

std::unique_ptr<port::Port> looped(rte_ring* ring) {
  return std::make_unique<port::Port>(
      port::PortOptions{
          .side = spec::Side::kRight, .device = port::parse_device("ring"), .workers = 2},
      port::EthDevice::over_rings({ring}, {ring}, 1));
}

}  // namespace

spec::Traffic random_ports(spec::IpVersion version) {
  const auto four = version == spec::IpVersion::k4;
  spec::Traffic traffic;
  traffic.departure = {.ip_version = version,
                       .source = address(version, four ? "198.18.0.2" : "2001:2::2"),
                       .destination = address(version, four ? "198.19.0.2" : "2001:2:0:8000::2"),
                       .frame_size_bytes = static_cast<std::uint16_t>(four ? 64 : 84)};
  traffic.arrival = traffic.departure;
  traffic.source_port = {spec::SeriesMode::kPseudorandom, 1024, 65535};
  traffic.destination_port = {spec::SeriesMode::kPseudorandom, 1, 49151};
  return traffic;
}

spec::Traffic enumerated(std::uint16_t destination_ports) {
  auto traffic = random_ports();
  traffic.destination_port.max = destination_ports;
  traffic.selection = spec::Selection::kEnumeratePseudorandom;
  return traffic;
}

spec::Traffic varied() {
  auto traffic = random_ports();
  traffic.networks = 256;
  traffic.source_field = {spec::SeriesMode::kPseudorandom, 0, 65535};
  for (auto* pair : {&traffic.departure, &traffic.arrival}) {
    pair->destination.network_byte = 7;
    pair->source.field = spec::field_at(12);
  }
  return traffic;
}

Bench::Bench(std::vector<int> cpus, run::TickRate ticks)
    : ticks_(ticks), workers_(std::move(cpus)) {
  null_ = port::Port::open(
      {.side = spec::Side::kLeft, .device = port::parse_device("net_null0,no-rx=1")});
  ring_ = port::make_ring(1024, port::Producers::kOne);
  loop_ = looped(ring_.get());
  second_ring_ = port::make_ring(1024, port::Producers::kOne);
  second_loop_ = looped(second_ring_.get());
}

run::StreamPlan Bench::plan(const Case& which, std::uint64_t frames) const {
  spec::Stream stream{.mix = which.mix};
  // At a rate above the clock's, several frames would be due at the same tick.
  const auto rate_fps = which.burst == 1 ? ticks_.hz() : spec::kMaxRateFps;
  stream.segments = {{.frames = frames, .rate_fps = rate_fps, .pause_ns = 0}};
  stream.foreground = which.traffic;
  stream.background = random_ports();
  return run::compile(stream, {.seed = 1, .nonce = 2, .phase = 0, .ticks = ticks_, .links = {}});
}

double Bench::cycles(double cpu_time_ns, std::uint64_t frames) const {
  return cpu_time_ns * static_cast<double>(ticks_.hz()) / 1e9 / static_cast<double>(frames);
}

// Sleeps, because EAL's own wait spins, and the main CPU may be a hardware thread of the worker's
// core.
void Bench::await() {
  while (workers_.running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  workers_.join();
}

void Bench::on_timed_worker(std::function<void()> work) {
  workers_.launch(0, std::move(work), false);
  await();
}

void Bench::on_both_workers(std::function<void()> timed, std::function<void()> peer) {
  workers_.launch(1, std::move(peer), false);
  workers_.launch(0, std::move(timed), false);
  await();
}

double Bench::sender_on_null(const Case& which) {
  const auto stream = plan(which, kSendFrames);
  auto& queue = null_->tx_queue(0);
  fill(queue, stream);
  double spent_ns = 0;
  std::uint64_t longest_burst = 0;
  with_shape(stream, [&]<flow::Shape kShape>() {
    on_timed_worker([&] {
      const std::atomic<bool> cancelled{false};
      run::Control control(1, 0, cancelled);
      run::Sender<kShape, TscClock, TxQueue> sender(stream, {}, queue, control,
                                                    {.give_up = run::kNever});
      const auto start = TscClock::now();
      sender.begin(start);
      const auto before = cpu_ns();
      if (which.burst == 1) {
        // One frame is due at each tick, so a time that advances by a tick makes each step send one
        // frame. The clock is read as well, as in a real sender.
        run::Ticks unused = 0;
        for (auto now = start; !control.draining(); ++now) {
          unused += TscClock::now();
          sender.step(now);
        }
        asm volatile("" : : "r"(unused));
      } else {
        for (auto now = start; !control.draining(); now = TscClock::now()) sender.step(now);
      }
      spent_ns = cpu_ns() - before;
      longest_burst = sender.report().largest_burst;
    });
  });
  if (which.burst == 1 && longest_burst != 1) {
    throw std::runtime_error("sender benchmark: a step sent " + std::to_string(longest_burst) +
                             " frames, not 1");
  }
  return cycles(spent_ns, kSendFrames);
}

// Times the sender while it sends a chunk; then the peer empties the ring, and so on.
Compared Bench::sender_on_ring(const Case& which) {
  const auto stream = plan(which, kRingFrames);
  auto& queue = loop_->tx_queue(0);
  fill(queue, stream);
  Compared result{};
  const auto timed = [&](double& spent, const auto& send_chunk) {
    Turns turns;
    on_both_workers(
        [&] {
          Stopwatch watch;
          for (std::uint64_t sent = 0; sent < kRingFrames; sent += kChunkFrames) {
            watch.measure(send_chunk);
            turns.hand_over();
          }
          turns.end();
          spent = cycles(watch.total_ns(), kRingFrames);
        },
        [&] { turns.follow([&] { drain(loop_->rx_queue()); }); });
  };
  timed(result.bare, [&] {
    for (unsigned i = 0; i < kChunkBursts; ++i) send_untouched(queue);
  });
  with_shape(stream, [&]<flow::Shape kShape>() {
    const std::atomic<bool> cancelled{false};
    run::Control control(1, 0, cancelled);
    run::Sender<kShape, TscClock, TxQueue> sender(stream, {}, queue, control,
                                                  {.give_up = run::kNever});
    sender.begin(TscClock::now());
    timed(result.ours, [&] {
      for (unsigned i = 0; i < kChunkBursts; ++i) sender.step(TscClock::now());
    });
    expect_all("sender", sender.report().sent[0] - sender.report().refused_by_gateway);
  });
  return result;
}

template <class InChunks>
Compared Bench::receiver(const Case& which, const InChunks& in_chunks) {
  const auto stream = plan(which, kRingFrames);
  auto& rx = loop_->rx_queue();
  fill(loop_->tx_queue(0), stream);
  Compared result{};
  with_shape(stream, [&]<flow::Shape kShape>() {
    const auto timed = [&](double& spent, const auto& receive_chunk) {
      const std::atomic<bool> cancelled{false};
      run::Control control(1, 0, cancelled);
      run::Sender<kShape, TscClock, TxQueue> sender(stream, {}, loop_->tx_queue(0), control,
                                                    {.give_up = run::kNever});
      sender.begin(TscClock::now());
      const auto send_chunk = [&] {
        for (unsigned i = 0; i < kChunkBursts; ++i) sender.step(TscClock::now());
        return !control.draining();
      };
      in_chunks(send_chunk, receive_chunk, spent);
      spent = cycles(spent, kRingFrames);
    };
    timed(result.bare, [&] { drain(rx); });
    run::Arrivals arrivals(kRingFrames);
    run::Receiver<kShape, TscClock, RxQueue> receiver(
        &stream, {.tag = stream.tag, .arrivals = &arrivals}, rx);
    receiver.begin(TscClock::now());
    timed(result.ours, [&] {  // one more poll, as in drain()
      for (unsigned i = 0; i < kChunkBursts + 1; ++i) receiver.step(TscClock::now());
    });
    expect_all("receiver", receiver.report().kinds[0].received);
  });
  return result;
}

double Bench::receivers(unsigned count, const Case& which) {
  const auto stream = plan(which, kRingFrames);
  std::array<double, 2> spent_ns{};
  std::array<std::uint64_t, 2> received{};
  with_shape(stream, [&]<flow::Shape kShape>() {
    const std::atomic<bool> cancelled{false};
    run::Control control(count, 0, cancelled);
    run::Arrivals arrivals(kRingFrames, count);
    const auto start = TscClock::now();
    const auto work = [&](unsigned index) {
      auto& port = index == 0 ? *loop_ : *second_loop_;
      run::Sender<kShape, TscClock, TxQueue> sender(stream, {.index = index, .count = count},
                                                    port.tx_queue(0), control,
                                                    {.give_up = run::kNever});
      run::Receiver<kShape, TscClock, RxQueue> receiver(
          &stream, {.tag = stream.tag, .arrivals = &arrivals, .receiver = index, .senders = count},
          port.rx_queue());
      sender.begin(start);
      receiver.begin(start);
      Stopwatch watch;
      for (std::uint64_t sent = 0; sent < kRingFrames / count; sent += kChunkFrames) {
        for (unsigned i = 0; i < kChunkBursts; ++i) sender.step(TscClock::now());
        watch.measure([&] {
          for (unsigned i = 0; i < kChunkBursts + 1; ++i) receiver.step(TscClock::now());
        });
      }
      spent_ns[index] = watch.total_ns();
      received[index] = receiver.report().kinds[0].received;
    };
    fill(loop_->tx_queue(0), stream);
    fill(second_loop_->tx_queue(0), stream);
    if (count == 1) {
      on_timed_worker([&] { work(0); });
    } else {
      on_both_workers([&] { work(0); }, [&] { work(1); });
    }
  });
  expect_all("receivers", received[0] + received[1]);
  return cycles(spent_ns[0] + spent_ns[1], kRingFrames) / count;
}

Compared Bench::receiver_on_ring(const Case& which) {
  return receiver(which, [this](const auto& send, const auto& receive, double& spent_ns) {
    on_timed_worker([&] {
      Stopwatch watch;
      for (bool more = true; more;) {
        more = send();
        watch.measure(receive);
      }
      spent_ns = watch.total_ns();
    });
  });
}

Compared Bench::receiver_across_cores(const Case& which) {
  return receiver(which, [this](const auto& send, const auto& receive, double& spent_ns) {
    Turns turns;
    on_both_workers(
        [&] {
          Stopwatch watch;
          turns.follow([&] { watch.measure(receive); });
          spent_ns = watch.total_ns();
        },
        [&] {
          for (bool more = true; more;) {
            more = send();
            turns.hand_over();
          }
          turns.end();
        });
  });
}

void Bench::expect_all(const char* who, std::uint64_t frames) {
  if (frames == kRingFrames) return;
  throw std::runtime_error(std::string(who) + " benchmark: " + std::to_string(frames) +
                           " frames were right, not " + std::to_string(kRingFrames));
}

}  // namespace natxy::bench
