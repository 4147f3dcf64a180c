// natxy-engine: a long-lived process that runs trials (docs/reference/engine-protocol.md).
#include <rte_version.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <optional>

#include "options.hpp"
#include "plumbing/dpdk.hpp"
#include "plumbing/requests.hpp"
#include "port/device.hpp"
#include "port/machine.hpp"
#include "record_writer.hpp"
#include "requests.hpp"

namespace natxy {
namespace {

constexpr int kUnusable = 2;  // exit status for a wrong command line or an unusable device

std::array<port::DeviceString, 2> devices(const Options& options) {
  return {port::parse_device(options.left), port::parse_device(options.right)};
}

plumbing::EalOptions eal_options(const Options& options) {
  plumbing::EalOptions eal{.file_prefix = "natxy-" + std::to_string(getpid()),
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

spec::Hello hello(const Options& options, const plumbing::Eal& eal, const port::Device& device) {
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

void serve(const Options& options, int signals, plumbing::EventWriter& writer) {
  const port::TscRate tsc;
  const plumbing::Eal eal(eal_options(options));
  port::Device device({.devices = devices(options),
                       .worker_cpus = options.cores,
                       .mtu_bytes = options.mtu_bytes,
                       .tx_queues = options.tx_queues,
                       .rx_queues = options.rx_queues,
                       .own_clocks = options.own_clocks},
                      tsc);
  device.await_speeds();
  writer.write(spec::hello_event(hello(options, eal, device)));
  std::optional<RecordWriter> records;
  if (options.records_fd) records.emplace(*options.records_fd, device.ticks());
  auto* rings = records ? &records->rings() : nullptr;
  plumbing::RequestLoop loop(STDIN_FILENO, signals, writer);
  TrialRequests(loop, engine_over(device, rings)).serve();
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
    // A session of its own, so that Ctrl-C reaches only the program that started the engine. When a
    // shell starts the engine directly, setsid() fails, and the engine receives Ctrl-C too.
    setsid();
    serve(options, plumbing::open_signals(), writer);
    return 0;
  } catch (const UsageError& error) {
    return fail(writer, spec::ErrorKind::kRequest, error.what());
  } catch (const plumbing::EalError& error) {
    return fail(writer, spec::ErrorKind::kDevice, error.what());
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
