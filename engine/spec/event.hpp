// The events other than results, as plain values: hello, progress and errors.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "spec/members.hpp"
#include "spec/port_result.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::spec {

inline constexpr int kProtocol = 1;

// Who is the cause of a refused frame: the tester (a NIC's queue is full) or the gateway (a ring
// that the gateway empties is full).
enum class Refusal : std::uint8_t { kTester, kGateway };

struct PortInfo {
  Side side = Side::kLeft;
  std::string device;
  std::string driver;
  std::string interface;  // empty (JSON: null) if there is none
  std::string mac;
  std::uint16_t mtu_bytes = 0;
  std::uint32_t link_speed_mbps = 0;  // 0: the port has no link speed
  std::uint32_t rx_ring_frames = 0;
  Refusal refusal = Refusal::kTester;
  std::vector<std::string> offloads;
  int numa_node = -1;

  NATXY_MEMBERS(side, device, driver, mac, mtu_bytes, link_speed_mbps, rx_ring_frames, refusal,
                offloads, numa_node)
};

struct Hello {
  std::string engine_version;
  std::string dpdk_version;
  std::string variant;  // the level of x86-64 that the loops are compiled for
  std::uint64_t tsc_hz = 0;
  bool tsc_invariant = false;
  bool huge_pages = false;
  bool realtime_allowed = false;  // the engine may run under SCHED_FIFO
  std::string cpu_model;
  std::string kernel;
  std::vector<int> main_cpus;
  std::vector<int> worker_cpus;
  std::vector<PortInfo> ports;

  NATXY_MEMBERS(engine_version, dpdk_version, variant, tsc_hz, tsc_invariant, huge_pages,
                realtime_allowed, cpu_model, kernel, main_cpus, ports)
};

enum class Stage : std::uint8_t { kTable, kNeighbours, kWarmUp, kSending, kDraining };

struct Progress {
  Stage stage = Stage::kNeighbours;
  std::uint64_t elapsed_ns = 0;
  std::uint64_t duration_ns = 0;
  std::array<std::uint64_t, 2> sent{};  // by Direction
  std::array<std::uint64_t, 2> received{};

  NATXY_MEMBERS(stage, elapsed_ns, duration_ns)
};

enum class ErrorKind : std::uint8_t {
  kRequest,
  kSpec,
  kDevice,
  kDriver,  // a device that DPDK refused; its messages on standard error say why
  kNeighbour,
  kWarmUp,
  kCancelled,
  kInternal
};

using IcmpBySide = std::array<std::vector<IcmpErrorCount>, 2>;

// An error that ends a request; the message is one sentence.
class TrialError : public std::runtime_error {
 public:
  TrialError(ErrorKind kind, const std::string& sentence, IcmpBySide icmp = {})
      : std::runtime_error(sentence), kind_(kind), icmp_(std::move(icmp)) {}
  [[nodiscard]] ErrorKind kind() const { return kind_; }
  // The ICMP errors that the gateway sent about the probe frames, by side.
  [[nodiscard]] const IcmpBySide& icmp() const { return icmp_; }

 private:
  ErrorKind kind_;
  IcmpBySide icmp_;
};

struct ErrorEvent {
  std::optional<std::uint64_t> id;  // absent if no trial caused the error
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;
  IcmpBySide icmp{};

  NATXY_MEMBERS(kind, message)
};

}  // namespace natxy::spec
