// Measures the tester's cost per frame, in cycles of thread CPU time, and that of a reference in
// the same run.
//
//   natxy-bench [connections | handshakes [--count N]] --main-cpu A --cpus B,C
//   natxy-bench variant
//
// With `variant`, prints {"variant"} alone, the level that it is compiled for.
// Prints one JSON object per line: first {"tsc_hz"}, then {"name", "cycles_per_frame", "reference",
// "reference_cycles"}. reference_cycles is absent if tools/bench.py measures the reference.
//
// With `connections`, establishes 2 million connections instead, several times, and each time sends
// as many frames without connections: {"connections", "preparation_s", "per_second",
// "replies_per_second", "table_octets", "resident_octets", "page_bytes", "stateless_per_second"}.
// Then establishes N connections (default 100 million), without the last member.
//
// With `handshakes`, makes 2 million TCP connections instead, several times, and then N (default 10
// million): {"connections", "syn_per_second", "syn_ack_per_second", "ack_per_second",
// "handshakes_per_second"}.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "connections.hpp"
#include "loops.hpp"
#include "plumbing/dpdk.hpp"
#include "plumbing/options.hpp"
#include "port/machine.hpp"

namespace natxy::bench {
namespace {

void print(const std::string& name, double cycles, const std::string& reference,
           std::optional<double> reference_cycles = std::nullopt) {
  std::printf(R"({"name": "%s", "cycles_per_frame": %.2f, "reference": "%s")", name.c_str(), cycles,
              reference.c_str());
  if (reference_cycles) std::printf(R"(, "reference_cycles": %.2f)", *reference_cycles);
  std::puts("}");
}

constexpr const char* kTxonly = "dpdk-testpmd txonly, burst 32";
constexpr const char* kMultiFlow = "dpdk-testpmd txonly, multi-flow, burst 32";
constexpr const char* kTxonly1 = "dpdk-testpmd txonly, burst 1";
constexpr const char* kTxonly1Clock = "dpdk-testpmd txonly, burst 1, with its clock";

void senders_on_null(Bench& bench) {
  const auto random = bench.sender_on_null({.traffic = random_ports()});
  print("sender/net_null/random-ports", random, kTxonly);
  print("sender/net_null/random-ports", random, kMultiFlow);
  print("sender/net_null/random-ports-ipv4",
        bench.sender_on_null({.traffic = random_ports(spec::IpVersion::k4)}), kTxonly);
  print("sender/net_null/enumerated", bench.sender_on_null({.traffic = enumerated()}), kTxonly);
  constexpr std::uint16_t kFew = 63;  // gives slightly more port pairs than the benchmark's frames
  print("sender/net_null/enumerated-few-destinations",
        bench.sender_on_null({.traffic = enumerated(kFew)}), kTxonly);
  print("sender/net_null/networks-and-fields", bench.sender_on_null({.traffic = varied()}),
        kTxonly);
  print("sender/net_null/half-background",
        bench.sender_on_null({.traffic = random_ports(), .mix = {.n = 2, .m = 1}}), kTxonly);
  const auto paced = bench.sender_on_null({.traffic = random_ports(), .burst = 1});
  print("sender/net_null/random-ports-paced", paced, kTxonly1);
  print("sender/net_null/random-ports-paced", paced, kTxonly1Clock);
}

void over_rings(Bench& bench) {
  constexpr const char* kBareTx = "bare loop: mempool get, tx_burst";
  constexpr const char* kBareRx = "bare loop: rx_burst, free";
  const auto send = bench.sender_on_ring({.traffic = random_ports()});
  print("sender/net_ring/random-ports", send.ours, kBareTx, send.bare);
  auto long_frames = random_ports();
  long_frames.departure.frame_size_bytes = long_frames.arrival.frame_size_bytes = 1518;
  for (const auto& [name, traffic] :
       {std::pair{"receiver/net_ring/all-checks", random_ports()},
        {"receiver/net_ring/all-checks-ipv4", random_ports(spec::IpVersion::k4)},
        {"receiver/net_ring/all-checks-networks-and-fields", varied()},
        {"receiver/net_ring/all-checks-1518", long_frames}}) {
    const auto receive = bench.receiver_on_ring({.traffic = traffic});
    print(name, receive.ours, kBareRx, receive.bare);
  }
  const auto one = bench.receivers(1, {.traffic = random_ports()});
  print("receivers/net_ring/two-cores", bench.receivers(2, {.traffic = random_ports()}),
        "one receiver on one core", one);
  const auto across = bench.receiver_across_cores({.traffic = random_ports()});
  print("receiver/net_ring-across-cores/all-checks", across.ours, kBareRx, across.bare);
}

// Repeats a measurement that failed because a sender was kept from its core for a second.
template <class Measure>
auto in_some_attempt(Measure&& measure) {
  constexpr int kAttempts = 5;
  for (int attempt = 1;; ++attempt) {
    try {
      return measure(attempt);
    } catch (const std::runtime_error& error) {
      if (attempt == kAttempts) throw;
      std::fprintf(stderr, "%s; again\n", error.what());
    }
  }
}

void print(const Establishment& measured, std::optional<double> stateless_per_second) {
  std::printf(R"({"connections": %lu, "preparation_s": %.3f, "per_second": %.0f, )"
              R"("replies_per_second": %.0f, "table_octets": %.2f, "resident_octets": %.2f, )"
              R"("page_bytes": %lu)",
              static_cast<unsigned long>(measured.connections), measured.preparation_s,
              measured.per_second, measured.replies_per_second, measured.table_octets,
              measured.resident_octets, static_cast<unsigned long>(measured.page_bytes));
  if (stateless_per_second) std::printf(R"(, "stateless_per_second": %.0f)", *stateless_per_second);
  std::puts("}");
  std::fflush(stdout);
}

constexpr std::uint64_t kFew = 2'000'000;  // sent within 1 s, even at a quarter of the goal

// Returns a rate that can be kept even if other programs take a core away for a while: the median
// of those that were reached, and a part of it in later attempts.
std::uint64_t kept_rate(std::vector<double> reached, int attempt) {
  std::ranges::sort(reached);
  return static_cast<std::uint64_t>(reached[reached.size() / 2]) /
         (1 + static_cast<unsigned>(attempt));
}

// Measures as fast as possible, with all frames due at once; then with many connections, at a rate
// that can be kept.
void connections(std::uint64_t many, const std::vector<int>& cpus, run::TickRate ticks) {
  constexpr int kRounds = 9;
  ConnectionBench bench(cpus, ticks);
  std::vector<double> rates;
  for (int round = 0; round < kRounds; ++round) {
    const auto beside = in_some_attempt([&](int) { return bench.stateless(kFew); });
    const auto measured =
        in_some_attempt([&](int) { return bench.establish(kFew, spec::kMaxRateFps); });
    print(measured, beside);
    rates.push_back(measured.per_second);
  }
  print(in_some_attempt(
            [&](int attempt) { return bench.establish(many, kept_rate(rates, attempt)); }),
        std::nullopt);
}

void print(const Handshakes& measured) {
  const auto [syn, syn_ack, ack] = measured.phases_per_second;
  std::printf(R"({"connections": %lu, "syn_per_second": %.0f, "syn_ack_per_second": %.0f, )"
              R"("ack_per_second": %.0f, "handshakes_per_second": %.0f})"
              "\n",
              static_cast<unsigned long>(measured.connections), syn, syn_ack, ack,
              measured.per_second);
  std::fflush(stdout);
}

// Measures as fast as possible, and then with many connections, as connections() does.
void handshakes(std::uint64_t many, const std::vector<int>& cpus, run::TickRate ticks) {
  constexpr int kRounds = 5;
  ConnectionBench bench(cpus, ticks);
  std::vector<double> slowest;  // phase of each round
  for (int round = 0; round < kRounds; ++round) {
    const auto measured =
        in_some_attempt([&](int) { return bench.handshakes(kFew, spec::kMaxRateFps); });
    print(measured);
    slowest.push_back(std::ranges::min(measured.phases_per_second));
  }
  print(in_some_attempt(
      [&](int attempt) { return bench.handshakes(many, kept_rate(slowest, attempt)); }));
}

int run(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "variant") {
    std::puts(R"({"variant": ")" NATXY_VARIANT R"("})");
    return 0;
  }
  const auto option = [&](std::string_view name) -> std::string {
    for (int i = 1; i + 1 < argc; ++i) {
      if (name == argv[i]) return argv[i + 1];
    }
    return {};
  };
  const port::TscRate rate;
  const auto cpus = plumbing::parse_cpu_list(option("--cpus"));
  const plumbing::Eal eal({.file_prefix = "natxy-bench-" + std::to_string(getpid()),
                           .worker_cpus = cpus,
                           .main_cpus = plumbing::parse_cpu_list(option("--main-cpu")),
                           .pci_devices = {},
                           .huge_pages_allowed = false,
                           .memory_mb = 512});
  const run::TickRate ticks(rate.hz());
  Bench bench(cpus, ticks);
  std::printf("{\"tsc_hz\": %lu}\n", static_cast<unsigned long>(ticks.hz()));
  const auto count = option("--count");
  if (argc > 1 && std::string_view(argv[1]) == "handshakes") {
    handshakes(count.empty() ? 10'000'000 : std::stoull(count), cpus, ticks);
    return 0;
  }
  if (argc > 1 && std::string_view(argv[1]) == "connections") {
    connections(count.empty() ? 100'000'000 : std::stoull(count), cpus, ticks);
    return 0;
  }
  senders_on_null(bench);
  over_rings(bench);
  return 0;
}

}  // namespace
}  // namespace natxy::bench

int main(int argc, char** argv) {
  return natxy::bench::run(argc, argv);
}
