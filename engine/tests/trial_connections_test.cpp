// Tests trials of connections over fake ports: phases, workers, the touching of the table.
#include "run/trial_connections.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>
#include <utility>
#include <vector>

#include "fake_runner.hpp"
#include "reasons.hpp"
#include "trial_cases.hpp"

namespace natxy::run {
namespace {

using spec::IpVersion;
using tests::FakeDevice;
using tests::kGoOn;
using tests::kQuiet;
using Runner = tests::FakeRunner;

// Runs over a wire without translation: the external addresses are the inside ones. Phase 1,
// validation, and a phase 2 in which the tester learns the initiator's addresses again while the
// responder sends.
spec::TrialSpec of_connections(IpVersion version, std::uint64_t frames) {
  const auto of = [&](spec::Role role, spec::Order order) {
    const bool outward = role != spec::Role::kRespond;
    spec::Stream stream;
    stream.direction = outward ? spec::Direction::kForward : spec::Direction::kReverse;
    stream.segments = {{.frames = frames, .rate_fps = 100'000, .pause_ns = 0}};
    auto traffic = tests::traffic(version, version);
    if (!outward) {
      for (auto* pair : {&traffic.departure, &traffic.arrival}) {
        std::swap(pair->source, pair->destination);
      }
      std::swap(traffic.source_port, traffic.destination_port);
    }
    traffic.selection = spec::Selection::kEnumeratePseudorandom;
    traffic.connections = spec::Connections{.role = role, .order = order};
    stream.foreground = traffic;
    return stream;
  };
  using enum spec::Role;
  using enum spec::Order;
  auto spec = tests::both_ways(frames);
  spec.warm_up.mode = spec::WarmUpMode::kNeighbours;
  spec.phases = {
      {.name = "establish", .streams = {of(kEstablish, kLinear)}},
      {.name = "validate", .streams = {of(kRespond, kLinear)}},
      {.name = "test", .streams = {of(kInitiate, kPseudorandom), of(kRespond, kPseudorandom)}}};
  return spec;
}

class Connections : public testing::TestWithParam<std::pair<IpVersion, unsigned>> {};

TEST_P(Connections, AreLearnedByOneThreadAndUsedByAnother) {
  const auto [version, workers] = GetParam();
  FakeDevice device(workers, 2);
  Runner runner(device);
  for (std::uint32_t nonce = 20; nonce < 22;
       ++nonce) {  // the second trial reuses the table's memory
    auto spec = of_connections(version, 2000);
    spec.nonce = nonce;
    spec.drain_ns = tests::drain_ns(workers);
    spec.recording.mappings = nonce == 21;
    const auto result = runner.run(spec, kQuiet, kGoOn);
    EXPECT_TRUE(result.valid) << result.invalid_reasons.front();
    ASSERT_TRUE(result.connections);
    EXPECT_EQ(result.connections->stored, 2000U);
    EXPECT_EQ(result.connections->mappings.has_value(), nonce == 21);
    if (const auto& mappings = result.connections->mappings) {
      EXPECT_EQ(mappings->hosts, 1U);
      EXPECT_EQ(mappings->addresses, 1U);
      EXPECT_EQ(mappings->block_ports, 65'536U);
    }
    ASSERT_EQ(result.streams.size(), 4U);
    for (const auto& stream : result.streams) {
      EXPECT_EQ(stream.kinds[0]->received, 2000U) << stream.phase;
      EXPECT_EQ(stream.kinds[0]->misdelivered.total(), 0U);
      EXPECT_EQ(stream.connections->known, stream.phase == "establish" ? 0U : 2000U);
      EXPECT_EQ(stream.connections->changed + stream.connections->wrong, 0U);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Some, Connections,
                         testing::Values(std::pair{IpVersion::k4, 1U}, std::pair{IpVersion::k4, 2U},
                                         std::pair{IpVersion::k6, 2U},
                                         std::pair{IpVersion::k4, 4U}));

std::vector<std::string> senders_of(const spec::TrialResult& result) {
  std::vector<std::string> senders;
  for (const auto& worker : result.workers) {
    for (const auto& task : worker.tasks) {
      if (task.starts_with("send")) senders.push_back(task);
    }
  }
  return senders;
}

// Frames alternate between kinds: with two senders, one would have the whole foreground but only
// half of the connections.
TEST(Trial, ConnectionsBesideBackgroundHaveOneSender) {
  FakeDevice device(4, 2);
  auto spec = of_connections(IpVersion::k4, 2000);
  auto& streams = spec.phases.back().streams;
  streams[0].mix = {.n = 2, .m = 1};
  streams[0].background = tests::traffic(IpVersion::k6, IpVersion::k6);
  const auto mixed = senders_of(Runner(device).run(spec, kQuiet, kGoOn));
  EXPECT_EQ(std::ranges::count(mixed, "send forward 1/2"), 1) << "phase 1 has no background";
  EXPECT_EQ(std::ranges::count(mixed, "send forward 1/1"), 1);
}

// A device whose workers begin after the trial has polled a few times, as while they touch much
// memory.
class SlowDevice : public FakeDevice {
 public:
  using FakeDevice::FakeDevice;
  void launch(unsigned worker, std::function<void()> work, bool realtime) {
    const auto begin = [this, work = std::move(work)] {
      for (int ms = 0; polls < 4 && ms < 5000; ++ms) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      work();
    };
    FakeDevice::launch(worker, begin, realtime);
  }
  std::atomic<int> polls{0};
};

TEST(Trial, TellsThatItTouchesTheTable) {
  SlowDevice device(2);
  TrialConnections connections;
  const auto spec = of_connections(IpVersion::k4, 2000);
  connections.prepare(spec, device, [&] { ++device.polls; }, kGoOn);
  EXPECT_GE(device.polls, 4);
  EXPECT_EQ(connections.table().entries(), 2000U);
  const auto polls = device.polls.load();
  connections.prepare(spec, device, [&] { ++device.polls; }, kGoOn);
  EXPECT_EQ(device.polls, polls) << "it has been touched";
}

std::size_t resident_pages() {
  std::ifstream file("/proc/self/statm");
  std::size_t size = 0;
  std::size_t resident = 0;
  file >> size >> resident;
  return resident;
}

TEST(Trial, CancellingEndsTheTouchingOfTheTable) {
  FakeDevice device(2);
  std::atomic<bool> cancelled{false};
  auto spec = of_connections(IpVersion::k4, 2000);
  for (auto& phase : spec.phases) {
    for (auto& stream : phase.streams) stream.segments[0].frames = 1ULL << 27U;  // 1 GiB
  }
  Runner runner(device);
  const auto before = resident_pages();  // a sanitizer may free some of them meanwhile
  const Poll cancel = [&](const spec::Progress& progress) {
    cancelled = cancelled || progress.stage == spec::Stage::kTable;
  };
  try {
    (void)runner.run(spec, cancel, cancelled);
    FAIL() << "a cancelled trial went on";
  } catch (const spec::TrialError& error) {
    EXPECT_EQ(error.kind(), spec::ErrorKind::kCancelled);
  }
  EXPECT_EQ(device.resolved, 0);
  EXPECT_LT(resident_pages(), before + (1U << 28U) / 4096U);
}

TEST(Trial, WithoutAConnectionThereIsNoPhase2) {
  FakeDevice device(1);
  device.wires[1].cut = true;
  const auto result = Runner(device).run(of_connections(IpVersion::k4, 100), kQuiet, kGoOn);
  EXPECT_TRUE(result.incomplete);
  EXPECT_EQ(result.connections->stored, 0U);
  EXPECT_EQ(result.streams.size(), 1U);
}

}  // namespace
}  // namespace natxy::run
