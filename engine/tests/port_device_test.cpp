#include <gtest/gtest.h>
#include <rte_ethdev.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "plumbing/dpdk.hpp"
#include "port/device.hpp"
#include "port_environment.hpp"
#include "port_ring.hpp"

namespace natxy::port {
namespace {

using spec::IpVersion;
using spec::Side;
using tests::Octets;
using tests::RingCable;

const Mac kGateway{2, 0, 0, 0, 0, 0x99};
const std::atomic<bool> kGoOn{false};
const std::function<void()> kQuiet = [] {};

Octets octets_of(const NeighbourFrame& frame) {
  return {frame.view().begin(), frame.view().end()};
}

spec::PacketFormat pair(const char* source, const char* destination) {
  return {.ip_version = parse_address(source).version,
          .source = {.octets = parse_address(source).octets, .network_byte = {}},
          .destination = {.octets = parse_address(destination).octets, .network_byte = {}}};
}

spec::TrialSpec nat64(std::uint64_t timeout_ns) {
  spec::Stream stream;
  stream.foreground.emplace();
  stream.foreground->departure = pair("2001:2::2", "64:ff9b::c613:2");
  stream.foreground->arrival = pair("198.18.0.2", "198.19.0.2");
  spec::TrialSpec spec;
  spec.warm_up.timeout_ns = timeout_ns;
  spec.sides[0].next_hop.ipv6 = parse_address("2001:2::1").octets;
  spec.sides[1].next_hop.ipv4 = {198, 19, 0, 1};
  spec.phases = {{.name = "test", .gap_ns = 0, .streams = {stream}}};
  return spec;
}

// Two cables, at whose far ends a gateway answers neighbour questions.
class DeviceTest : public testing::Test {
 protected:
  DeviceTest()
      : device_({cables_[0].port(Side::kLeft), cables_[1].port(Side::kRight)}, tests::worker_cpus(),
                run::TickRate(1'000'000'000)) {}

  // Answers all questions that wait. Returns how many there were.
  unsigned answer_all() {
    unsigned questions = 0;
    for (auto& cable : cables_) {
      for (auto frame = cable.take(); !frame.empty(); frame = cable.take()) {
        const auto message = parse_neighbour_message(frame);
        if (!message || message->type != NeighbourMessage::Type::kQuestion) continue;
        ++questions;
        cable.put(octets_of(answer(*message, kGateway)));
      }
    }
    return questions;
  }

  std::string complaint(const spec::TrialSpec& spec, spec::ErrorKind kind) {
    try {
      device_.resolve(spec, kQuiet, kGoOn);
    } catch (const spec::TrialError& error) {
      EXPECT_EQ(error.kind(), kind);
      return error.what();
    }
    return "accepted";
  }

  std::array<RingCable, 2> cables_;
  Device device_;
};

// A driver may announce time stamps and make none.
TEST(DeviceClock, ThatStampsNothingIsLeftAfterATrial) {
  const auto reads = [] { return std::optional<std::uint64_t>(run::TscClock::now()); };
  RingCable left;
  RingCable right;
  Device device(
      {left.port(Side::kLeft, 1, "ring", reads), right.port(Side::kRight, 1, "ring", reads)},
      tests::worker_cpus(), run::TickRate(TscRate().hz()));
  auto spec = nat64(0);
  for (auto& side : spec.sides) side.next_hop.mac = kGateway;
  left.put(Octets(60));
  rte_mbuf* frame = nullptr;
  ASSERT_EQ(device.rx_queue(Side::kLeft, 0).receive(&frame, 1), 1U);
  frame->ol_flags = 0;
  EXPECT_EQ(device.rx_queue(Side::kLeft, 0).waited(frame, run::TscClock::now()), 0U);
  device.rx_queue(Side::kLeft, 0).release(&frame, 1);
  EXPECT_EQ(device.arrival_clock(Side::kLeft).unstamped, 1U) << "its trial is invalid";
  device.resolve(spec, kQuiet, kGoOn);
  EXPECT_FALSE(device.rx_queue(Side::kLeft, 0).stamps());
  EXPECT_FALSE(device.arrival_clock(Side::kLeft).own);
  EXPECT_TRUE(device.rx_queue(Side::kRight, 0).stamps()) << "of it, nothing is known";
}

TEST_F(DeviceTest, FindsNextHopsOnceAndAgainWhenItHasForgotten) {
  const auto spec = nat64(10'000'000'000);
  const std::function<void()> gateway = [this] { answer_all(); };
  device_.resolve(spec, gateway, kGoOn);
  EXPECT_EQ(device_.link(Side::kLeft, IpVersion::k6).destination, kGateway);
  EXPECT_EQ(device_.link(Side::kLeft, IpVersion::k4).destination, Mac{});
  EXPECT_EQ(device_.link(Side::kRight, IpVersion::k4).destination, kGateway);
  EXPECT_NE(device_.link(Side::kRight, IpVersion::k4).source, Mac{});
  device_.resolve(spec, kQuiet, kGoOn);
  EXPECT_EQ(answer_all(), 0U) << "nothing changed, nothing is asked";
  device_.forget();
  device_.resolve(spec, gateway, kGoOn);
  EXPECT_EQ(device_.link(Side::kRight, IpVersion::k4).destination, kGateway);
}

TEST_F(DeviceTest, TakesAMacThatIsGivenAndAsksNobody) {
  auto spec = nat64(0);
  for (auto& side : spec.sides) side.next_hop.mac = kGateway;
  device_.resolve(spec, kQuiet, kGoOn);
  EXPECT_EQ(device_.link(Side::kLeft, IpVersion::k6).destination, kGateway);
  EXPECT_EQ(answer_all(), 0U);
}

TEST_F(DeviceTest, SaysWhoDoesNotAnswer) {
  EXPECT_EQ(complaint(nat64(250'000'000), spec::ErrorKind::kNeighbour),
            "left: next hop 2001:2::1 did not answer Neighbour Solicitations from 2001:2::2 within "
            "0.25 s (expected the address of a gateway that is up, or sides.left.next_hop.mac)");
}

TEST_F(DeviceTest, ACancelledResolutionEndsAtOnce) {
  std::atomic<bool> cancelled{false};
  const auto begin = std::chrono::steady_clock::now();
  device_.resolve(nat64(60'000'000'000), [&cancelled] { cancelled = true; }, cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
}

TEST_F(DeviceTest, RefusesAFrameBeyondTheMtu) {
  auto spec = nat64(0);
  auto& traffic = *spec.phases[0].streams[0].foreground;
  traffic.departure.frame_size_bytes = 1519;
  EXPECT_EQ(complaint(spec, spec::ErrorKind::kSpec),
            "phases[0].streams[0].foreground.departure.frame_size_bytes: 1519 is too large for the "
            "engine's --mtu 1500 (expected at most 1518)");
  for (auto& side : spec.sides) side.next_hop.mac = kGateway;
  traffic.departure.frame_size_bytes = 1518;
  device_.resolve(spec, kQuiet, kGoOn);
  traffic.arrival.frame_size_bytes = 1519;
  EXPECT_NE(complaint(spec, spec::ErrorKind::kSpec), "accepted");
}

NeighbourMessage question_from_gateway(const char* target) {
  const auto address = parse_address(target);
  return {.type = NeighbourMessage::Type::kQuestion,
          .target = address,
          .sender = parse_address(address.version == IpVersion::k4 ? "198.19.0.1" : "2001:2::1"),
          .mac = kGateway};
}

Octets asked(const char* target) {
  const auto message = question_from_gateway(target);
  return octets_of(question({.address = message.sender, .mac = message.mac}, message.target));
}

TEST_F(DeviceTest, AnswersForItsAddressesBetweenTrialsAndDuringThem) {
  const auto spec = nat64(10'000'000'000);
  device_.resolve(spec, [this] { answer_all(); }, kGoOn);
  cables_[1].put(asked("198.19.0.2"));
  cables_[1].put(asked("198.19.0.3"));
  device_.idle();
  const auto own = device_.link(Side::kRight, IpVersion::k4).source;
  EXPECT_EQ(cables_[1].take(), octets_of(answer(question_from_gateway("198.19.0.2"), own)));
  EXPECT_EQ(cables_[1].take(), Octets{}) << "another's address is not answered for";
  cables_[0].put(asked("2001:2::2"));
  rte_mbuf* frame = nullptr;
  ASSERT_EQ(device_.rx_queue(Side::kLeft).receive(&frame, 1), 1U);
  device_.rx_queue(Side::kLeft).defer(frame);
  device_.service(Side::kLeft).step(0);
  const auto parsed = parse_neighbour_message(cables_[0].take());
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->target, parse_address("2001:2::2"));
  EXPECT_EQ(parsed->mac, device_.link(Side::kLeft, IpVersion::k6).source);
}

TEST_F(DeviceTest, DropsWhatIsDeferredBeyondTheRingWithoutLosingBuffers) {
  const auto unused = cables_[0].unused();
  for (unsigned i = 0; i < 400; ++i) {
    cables_[0].put(Octets(60, 0));
    rte_mbuf* frame = nullptr;
    ASSERT_EQ(device_.rx_queue(Side::kLeft).receive(&frame, 1), 1U);
    device_.rx_queue(Side::kLeft).defer(frame);
  }
  for (unsigned i = 0; i < 100; ++i) device_.service(Side::kLeft).step(0);
  EXPECT_EQ(cables_[0].unused(), unused);
}

TEST_F(DeviceTest, WorkersRunOnTheirCpusAtOnce) {
  std::array<int, 2> cpus{-1, -1};
  std::atomic<int> arrived{0};
  for (unsigned worker = 0; worker < 2; ++worker) {
    device_.launch(
        worker,
        [&, worker] {
          cpus[worker] = sched_getcpu();
          ++arrived;
          while (arrived < 2) sched_yield();
        },
        false);
  }
  device_.join();
  EXPECT_FALSE(device_.running());
  EXPECT_EQ(cpus[0], device_.worker_cpu(0));
  EXPECT_EQ(cpus[1], device_.worker_cpu(1));
}

TEST_F(DeviceTest, WhatAWorkerThrowsComesOutOfJoin) {
  device_.launch(0, [] { throw std::runtime_error("broken"); }, false);
  EXPECT_THROW(device_.join(), std::runtime_error);
  bool ran = false;
  device_.launch(0, [&ran] { ran = true; }, false);
  device_.join();
  EXPECT_TRUE(ran);
}

int policy_on_worker(Device& device, bool realtime) {
  int policy = -1;
  device.launch(0, [&policy] { policy = sched_getscheduler(0); }, realtime);
  device.join();
  return policy;
}

TEST_F(DeviceTest, RealtimeLastsAsLongAsTheWork) {
  try {
    EXPECT_EQ(policy_on_worker(device_, true), SCHED_FIFO);
  } catch (const spec::TrialError& error) {
    GTEST_SKIP() << error.what();
  }
  EXPECT_EQ(policy_on_worker(device_, false), SCHED_OTHER);
  EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER) << "the main thread is as it was";
}

// A NIC negotiates for seconds after its start, and does not know its speed before.
TEST(DeviceSpeeds, AreAwaitedUntilTheLinkOfANicIsUp) {
  std::array<RingCable, 2> cables;
  std::array ports{cables[0].port(Side::kLeft, 1, "0000:01:00.0"), cables[1].port(Side::kRight)};
  const std::array ids{ports[0]->id(), ports[1]->id()};
  const Device device(std::move(ports), tests::worker_cpus(), run::TickRate(1'000'000'000));
  for (const auto id : ids) rte_eth_dev_set_link_down(id);
  const auto begin = std::chrono::steady_clock::now();
  device.await_speeds(std::chrono::milliseconds(50));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(50));

  std::jthread negotiation([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    rte_eth_dev_set_link_up(ids[0]);
  });
  device.await_speeds(std::chrono::minutes(10));  // the other port has no speed to wait for
  EXPECT_EQ(device.info(Side::kLeft).link_speed_mbps, 10'000U);
  EXPECT_EQ(device.info(Side::kRight).link_speed_mbps, 0U);
}

TEST(Eal, StartsOneWorkerACpuWithoutPciUnlessAsked) {
  plumbing::EalOptions options{.file_prefix = "natxy-1",
                               .worker_cpus = {3, 2},
                               .main_cpus = {0, 1},
                               .pci_devices = {},
                               .huge_pages_allowed = true,
                               .memory_mb = 64};
  const auto plain = plumbing::eal_arguments(options, false);
  const auto has = [](const std::vector<std::string>& arguments, const std::string& wanted) {
    return std::ranges::find(arguments, wanted) != arguments.end();
  };
  EXPECT_TRUE(has(plain, "--lcores=0@(0,1),1@3,2@2"));
  EXPECT_TRUE(has(plain, "--file-prefix=natxy-1"));
  EXPECT_TRUE(has(plain, "--no-pci"));
  EXPECT_TRUE(has(plain, "--no-huge"));
  EXPECT_FALSE(has(plain, "--in-memory"));
  options.pci_devices = {"0000:01:00.0"};
  const auto nic = plumbing::eal_arguments(options, true);
  EXPECT_TRUE(has(nic, "--allow=0000:01:00.0"));
  EXPECT_TRUE(has(nic, "--in-memory"));
  EXPECT_FALSE(has(nic, "--no-pci"));
  EXPECT_FALSE(has(nic, "--no-huge"));
}

TEST(Eal, HugePagesMustSuffice) {
  namespace fs = std::filesystem;
  const auto root = fs::path(testing::TempDir()) / ("natxy-sys-" + std::to_string(getpid()));
  const auto pages = root / "kernel/mm/hugepages/hugepages-2048kB";
  fs::create_directories(pages);
  std::ofstream(pages / "free_hugepages") << "256\n";
  EXPECT_TRUE(plumbing::enough_huge_pages(512, root));
  EXPECT_FALSE(plumbing::enough_huge_pages(513, root));
  EXPECT_FALSE(plumbing::enough_huge_pages(1, root / "nowhere"));
  fs::remove_all(root);
}

}  // namespace
}  // namespace natxy::port
