// Tests the gateway over net_ring, with the tester's ends in the same process.
#include "gateway/ring_gateway.hpp"

#include <gtest/gtest.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gateway/clock.hpp"
#include "gateway/frame.hpp"
#include "gateway/json.hpp"
#include "gateway/tests/bench_gateway.hpp"
#include "gateway/tests/frame_maker.hpp"
#include "plumbing/dpdk.hpp"
#include "plumbing/options.hpp"

namespace natxy::gateway::test {
namespace {

constexpr unsigned kRingFrames = 1024;

std::string unique(const std::string& stem) {
  static unsigned made = 0;
  return stem + std::to_string(made++);
}

// A link of two rings: one end a DPDK port for the gateway, the other the rings themselves.
class RingLink {
 public:
  RingLink() {
    for (auto& ring : rings_) {
      ring = rte_ring_create(unique("gw-test-").c_str(), kRingFrames, 0, 0);
    }
    const auto port = rte_eth_from_rings(unique("gwlink").c_str(), &rings_[0], 1, &rings_[1], 1, 0);
    if (port < 0) throw std::runtime_error("no port over rings");
    port_id_ = static_cast<std::uint16_t>(port);
  }
  ~RingLink() {
    while (receive()) continue;
    rte_eth_dev_close(port_id_);
    for (auto* ring : rings_) rte_ring_free(ring);
  }
  RingLink(const RingLink&) = delete;
  RingLink& operator=(const RingLink&) = delete;

  [[nodiscard]] std::uint16_t port_id() const { return port_id_; }
  [[nodiscard]] bool send(rte_mbuf* buffer) { return rte_ring_enqueue(rings_[0], buffer) == 0; }
  [[nodiscard]] std::optional<Bytes> receive() {
    void* taken = nullptr;
    if (rte_ring_dequeue(rings_[1], &taken) != 0) return std::nullopt;
    auto* buffer = static_cast<rte_mbuf*>(taken);
    const auto* octets = rte_pktmbuf_mtod(buffer, const std::uint8_t*);
    Bytes frame(octets, octets + buffer->data_len);
    rte_pktmbuf_free(buffer);
    return frame;
  }

 private:
  std::array<rte_ring*, 2> rings_{};  // to the gateway, and from it
  std::uint16_t port_id_ = 0;
};

class RingGatewayTest : public testing::Test {
 protected:
  RingGatewayTest()
      : pool_(rte_pktmbuf_pool_create(unique("gw-test-pool-").c_str(), 2047, 0, 0,
                                      RTE_MBUF_DEFAULT_BUF_SIZE, 0)) {
    configure_gateway("");
  }
  ~RingGatewayTest() override {
    gateway_.reset();
    left_.reset();
    right_.reset();
    EXPECT_EQ(rte_mempool_full(pool_), 1) << "the gateway kept buffers of the tester";
    rte_mempool_free(pool_);
  }

  void configure_gateway(const std::string& faults) {
    if (!gateway_) {
      gateway_.emplace(RingGatewayOptions{.left_port = left_->port_id(),
                                          .right_port = right_->port_id(),
                                          .config = config_with(faults)});
    }
    gateway_->configure(config_with(faults));
  }
  rte_mbuf* buffer_of(const Bytes& frame) {
    auto* buffer = rte_pktmbuf_alloc(pool_);
    if (buffer == nullptr) return nullptr;
    std::ranges::copy(frame, rte_pktmbuf_mtod(buffer, std::uint8_t*));
    buffer->data_len = static_cast<std::uint16_t>(frame.size());
    buffer->pkt_len = static_cast<std::uint32_t>(frame.size());
    return buffer;
  }
  Bytes to_the_right(std::uint8_t first_octet = 0) {
    return make_udp({.to = gateway_->mac(Side::kLeft), .first_octet = first_octet});
  }

  rte_mempool* pool_;
  std::unique_ptr<RingLink> left_ = std::make_unique<RingLink>();
  std::unique_ptr<RingLink> right_ = std::make_unique<RingLink>();
  std::optional<RingGateway> gateway_;
};

TEST_F(RingGatewayTest, ForwardsInOneStep) {
  ASSERT_TRUE(left_->send(buffer_of(to_the_right(7))));
  gateway_->step();
  const auto frame = right_->receive();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->size(), 60U);
  EXPECT_EQ(Seen(*frame).first_octet(), 7);
  EXPECT_EQ(Seen(*frame).hop_limit(), 63);
  EXPECT_FALSE(right_->receive());
  EXPECT_EQ(gateway_->record().of(Direction::kForward).forwarded, 1U);
}

// The tester may read a buffer while it has a reference to it.
TEST_F(RingGatewayTest, NeverWritesIntoWhatItReceived) {
  const auto sent = to_the_right();
  auto* buffer = buffer_of(sent);
  rte_mbuf_refcnt_update(buffer, 1);
  ASSERT_TRUE(left_->send(buffer));
  gateway_->step();
  const auto* octets = rte_pktmbuf_mtod(buffer, const std::uint8_t*);
  EXPECT_EQ(Bytes(octets, octets + buffer->data_len), sent);
  EXPECT_EQ(rte_mbuf_refcnt_read(buffer), 1);
  rte_pktmbuf_free(buffer);
  EXPECT_TRUE(right_->receive());
}

TEST_F(RingGatewayTest, TakesFramesInSeveralSegments) {
  const auto sent = to_the_right(9);
  auto* head = buffer_of(Bytes(sent.begin(), sent.begin() + 33));
  auto* tail = buffer_of(Bytes(sent.begin() + 33, sent.end()));
  ASSERT_EQ(rte_pktmbuf_chain(head, tail), 0);
  ASSERT_TRUE(left_->send(head));
  gateway_->step();
  const auto frame = right_->receive();
  ASSERT_TRUE(frame);
  EXPECT_EQ(Seen(*frame).first_octet(), 9);
}

TEST_F(RingGatewayTest, PadsShortFrames) {
  ASSERT_TRUE(
      left_->send(buffer_of(make_udp({.data_octets = 4, .to = gateway_->mac(Side::kLeft)}))));
  gateway_->step();
  const auto frame = right_->receive();
  ASSERT_TRUE(frame);
  ASSERT_EQ(frame->size(), 60U);
  for (std::size_t i = 46; i < 60; ++i) EXPECT_EQ((*frame)[i], 0);
}

const VlanTags kLeftTags{{.type = 0x8100, .id = 100}};
const VlanTags kRightTags{{.type = 0x88a8, .id = 7}, {.type = 0x8100, .id = 8}};

Config tagged(Config config) {
  config.sides[index_of(Side::kLeft)].vlans = kLeftTags;
  config.sides[index_of(Side::kRight)].vlans = kRightTags;
  return config;
}

Bytes with_tags(Octets frame, const VlanTags& tags) {
  Bytes octets(frame.size() + tags.size() * kVlanTagOctets);
  (void)write_with_tags(octets.data(), frame, tags);
  return octets;
}

// Returns the frame without its tags; empty if they are others.
Bytes untagged(const std::optional<Bytes>& frame, const VlanTags& tags) {
  Bytes scratch;
  const auto octets = without_tags(frame.value_or(Bytes{}), tags, scratch);
  return octets ? scratch : Bytes{};
}

TEST_F(RingGatewayTest, EachSideHasItsTags) {
  gateway_->configure(tagged(config_with("")));
  const auto sent = to_the_right(7);
  ASSERT_TRUE(left_->send(buffer_of(sent)));  // not of the VLAN
  ASSERT_TRUE(left_->send(buffer_of(with_tags(sent, kLeftTags))));
  gateway_->step();
  const auto frame = untagged(right_->receive(), kRightTags);
  ASSERT_EQ(frame.size(), 60U);
  EXPECT_EQ(Seen(frame).first_octet(), 7);
  EXPECT_FALSE(right_->receive());
}

TEST_F(RingGatewayTest, TheFaultVlanChangesTheInnerTag) {
  gateway_->configure(tagged(config_with(R"({"kind": "corrupt", "every": 1, "field": "vlan"})")));
  ASSERT_TRUE(left_->send(buffer_of(with_tags(to_the_right(), kLeftTags))));
  gateway_->step();
  auto changed = kRightTags;
  changed.back().id = 9;
  EXPECT_EQ(untagged(right_->receive(), changed).size(), 60U);
}

TEST_F(RingGatewayTest, AddressResolutionIsTagged) {
  gateway_->configure(tagged(default_config()));  // knows no neighbours
  ASSERT_TRUE(left_->send(buffer_of(with_tags(to_the_right(7), kLeftTags))));
  gateway_->step();
  const auto question = parse_arp(untagged(right_->receive(), kRightTags));
  ASSERT_TRUE(question);
  FrameStore store;
  const auto answer = make_answer(store, {kOtherMac, ip("198.19.0.2")}, *question);
  ASSERT_TRUE(right_->send(buffer_of(with_tags(answer->view(), kRightTags))));
  gateway_->step();
  const auto frame = untagged(right_->receive(), kRightTags);
  ASSERT_EQ(frame.size(), 60U);
  EXPECT_EQ(Seen(frame).first_octet(), 7);
}

TEST_F(RingGatewayTest, AFullRingIsCountedAsTransmit) {
  constexpr unsigned kSent = 2 * kRingFrames;
  for (unsigned i = 0; i < kSent; ++i) {
    ASSERT_TRUE(left_->send(buffer_of(to_the_right())));
    gateway_->step();
  }
  const auto record = gateway_->record();
  const auto& forward = record.of(Direction::kForward);
  EXPECT_EQ(forward.forwarded, kRingFrames - 1);
  EXPECT_EQ(forward.dropped[index_of(Drop::kTransmit)], kSent - forward.forwarded);
}

TEST_F(RingGatewayTest, ItsRecordIsTakenWhileItRuns) {
  configure_gateway(R"({"kind": "loss", "every": 10}, {"kind": "delay", "ns": 300000})");
  gateway_->start();
  constexpr unsigned kFrames = 1000;
  unsigned sent = 0;
  unsigned arrived = 0;
  const auto deadline_ns = clock_ns() + 100'000'000'000U;
  while (arrived < kFrames - kFrames / 10 && clock_ns() < deadline_ns) {
    if (auto* buffer = sent < kFrames ? buffer_of(to_the_right()) : nullptr) {
      ++sent;
      ASSERT_TRUE(left_->send(buffer));
      if (sent % 100 == 0) (void)gateway_->record();
    }
    while (right_->receive()) ++arrived;
    std::this_thread::yield();
  }
  const auto record = gateway_->record();
  const auto& forward = record.of(Direction::kForward);
  EXPECT_EQ(arrived, kFrames - kFrames / 10);
  EXPECT_EQ(forward.dropped[index_of(Drop::kLoss)], kFrames / 10);
  EXPECT_EQ(forward.delay_ns.count(), arrived);
  EXPECT_GE(forward.delay_ns.min(), 300'000U);
  EXPECT_GT(record.polls.polls(), 0U);
  gateway_->clear();
  EXPECT_EQ(gateway_->record().of(Direction::kForward).forwarded, 0U);
  gateway_->stop();
}

TEST_F(RingGatewayTest, AnAbsenceRightAfterAClearIsInItsRecord) {
  gateway_->clear();
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  gateway_->step();
  const auto record = gateway_->record();
  const auto absences = record.polls.absences().intervals();
  ASSERT_EQ(absences.size(), 1U);
  EXPECT_GE(absences[0].until_ns - absences[0].from_ns, 1'000'000U);
}

TEST_F(RingGatewayTest, SleepsAfterEachTurnWithoutFrames) {
  gateway_->configure(config_with("", R"(, "sleep_ns": 1000000)"));
  gateway_->start();
  ASSERT_TRUE(left_->send(buffer_of(to_the_right())));
  const auto deadline_ns = clock_ns() + 20'000'000'000U;
  auto record = gateway_->record();
  while (record.polls.polls() < 10 && clock_ns() < deadline_ns) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    record = gateway_->record();
  }
  gateway_->stop();
  EXPECT_TRUE(right_->receive());
  const auto age_ns = record.taken_ns - record.polls.since_ns();
  EXPECT_GE(record.polls.polls(), 10U);
  EXPECT_LE(record.polls.polls(), age_ns / 1'000'000U + 3) << "one had a frame, one is the first";
}

TEST_F(RingGatewayTest, MayBeStartedAgain) {
  gateway_->start();
  gateway_->stop();
  gateway_->start();
  const auto polls = gateway_->record().polls.polls();
  const auto deadline_ns = clock_ns() + 20'000'000'000U;  // long, because the thread may run seldom
  while (gateway_->record().polls.polls() <= polls && clock_ns() < deadline_ns) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_GT(gateway_->record().polls.polls(), polls);
  gateway_->stop();
}

}  // namespace
}  // namespace natxy::gateway::test

int main(int count, char** words) {
  testing::InitGoogleTest(&count, words);
  if (testing::GTEST_FLAG(list_tests))
    return RUN_ALL_TESTS();  // CMake asks for names: needs no EAL
  const natxy::plumbing::Eal eal({.file_prefix = "natxy-gateway-tests-" + std::to_string(getpid()),
                                  .worker_cpus = {},
                                  .main_cpus = natxy::plumbing::allowed_cpus(),
                                  .pci_devices = {},
                                  .huge_pages_allowed = false,
                                  .memory_mb = 128});
  return RUN_ALL_TESTS();
}
