// natxy-engine: a long-lived process that runs trials (docs/reference/engine-protocol.md).
#include <rte_version.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <optional>

#include "device_engine.hpp"
#include "options.hpp"
#include "plumbing/event_writer.hpp"
#include "plumbing/line_reader.hpp"
#include "port/device.hpp"
#include "port/eal.hpp"
#include "port/machine.hpp"
#include "record_writer.hpp"
#include "request_loop.hpp"

namespace natxy {
namespace {

constexpr int kUnusable = 2;  // exit status for a wrong command line or an unusable device

std::atomic<bool> stopped{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler stores it");

void on_signal(int) {
  stopped.store(true);
}

// Starts a session of its own, so that Ctrl-C reaches only the program that started the engine, and
// installs the signal handlers. When a shell starts the engine directly, setsid() fails, and the
// engine receives Ctrl-C too.
void settle_in() {
  setsid();
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  action.sa_handler = SIG_IGN;  // write() reports a reader that has gone
  sigaction(SIGPIPE, &action, nullptr);
}

std::array<port::DeviceString, 2> devices(const Options& options) {
  return {port::parse_device(options.left), port::parse_device(options.right)};
}

port::EalOptions eal_options(const Options& options) {
  port::EalOptions eal{.file_prefix = "natxy-" + std::to_string(getpid()),
                       .worker_cpus = options.cores,
                       .main_cpus = options.main_cores,
                       .pci_devices = {},
                       .huge_pages_allowed = options.huge_pages,
                       .memory_mb = options.memory_mb};
  for (const auto& device : devices(options)) {
    if (device.pci) eal.pci_devices.push_back(device.text);
  }
  return eal;
}

spec::Hello hello(const Options& options, const port::Eal& eal, const port::Device& device) {
  return {.engine_version = NATXY_VERSION,
          .dpdk_version = rte_version(),
          .variant = NATXY_VARIANT,
          .tsc_hz = device.ticks().hz(),
          .tsc_invariant = port::tsc_invariant(),
          .huge_pages = eal.huge_pages(),
          .realtime_allowed = port::realtime_status() == 0,
          .cpu_model = port::cpu_model(),
          .kernel = port::kernel(),
          .main_cpus = options.main_cores,
          .worker_cpus = options.cores,
          .ports = {device.info(spec::Side::kLeft), device.info(spec::Side::kRight)}};
}

void serve(const Options& options, plumbing::EventWriter& writer) {
  const port::TscRate tsc;
  const port::Eal eal(eal_options(options));
  port::Device device({.devices = devices(options),
                       .worker_cpus = options.cores,
                       .mtu_bytes = options.mtu_bytes,
                       .tx_queues = options.tx_queues,
                       .rx_queues = options.rx_queues,
                       .own_clocks = options.own_clocks},
                      tsc);
  device.await_speeds();
  writer.write(spec::hello_event(hello(options, eal, device)));
  plumbing::LineReader reader(STDIN_FILENO);
  std::optional<RecordWriter> records;
  if (options.records_fd) records.emplace(*options.records_fd, device.ticks());
  auto* rings = records ? &records->rings() : nullptr;
  RequestLoop(reader, writer, engine_over(device, rings), stopped).run();
}

int run_engine(int argc, char** argv) {
  const auto fail = [](plumbing::EventWriter& writer, spec::ErrorKind kind,
                       const std::string& message) {
    std::fprintf(stderr, "natxy-engine: %s\n", message.c_str());
    writer.write(spec::error_event({.id = std::nullopt, .kind = kind, .message = message}));
    return kUnusable;
  };
  auto writer = plumbing::EventWriter(STDOUT_FILENO);
  try {
    const auto options = parse_options(argc, argv);
    if (options.version) {
      writer.write(std::string("natxy-engine " NATXY_VERSION ", ") + rte_version() +
                   ", " NATXY_VARIANT);
      return 0;
    }
    writer = plumbing::EventWriter::take_standard_output();
    settle_in();
    serve(options, writer);
    return 0;
  } catch (const UsageError& error) {
    return fail(writer, spec::ErrorKind::kRequest, error.what());
  } catch (const spec::TrialError& error) {
    return fail(writer, error.kind(), error.what());
  } catch (const std::exception& error) {
    return fail(writer, spec::ErrorKind::kInternal, error.what());
  }
}

}  // namespace
}  // namespace natxy

int main(int argc, char** argv) {
  return natxy::run_engine(argc, argv);
}
